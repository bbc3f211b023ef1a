"""What reading a kernel finds that not every target has, and when the compiler comes there; with the real Triton."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from portcheck.compiler.job import Unit
from portcheck.compiler.service import Service
from portcheck.target import Target

Write = Callable[[str, str], str]

HEAD = """
import triton
import triton.language as tl
from triton.language import target_info
from triton.language.extra import libdevice
from triton.language.extra.cuda import libdevice as nvidia

FP8 = tl.constexpr(tl.float8e4nv)
ON = tl.constexpr(True)
OFF = tl.constexpr(False)

@triton.jit
def gamma(x):
    return libdevice.tgamma(x)

@triton.jit
def where(x, WANTED: tl.constexpr):
    if WANTED:
        x = gamma(x)
    return x

@triton.jit
def turn(x):
    return where(x, False)
"""
HIP = ["guard", "is_hip", []]
# Kernel → its body between loading `v` and storing it, and the conditions of each use of libdevice in it.
BODIES: dict[str, tuple[str, list[Any]]] = {
    "plain": ("v = libdevice.tgamma(v)", [[]]),
    "helper": ("v = gamma(v)", [[]]),
    "given": ("v = where(v, True)", [[]]),
    "not_given": ("v = turn(v)", []),
    "on": ("if ON:\n    v = gamma(v)", [[]]),
    "off": ("if OFF:\n    v = gamma(v)", []),
    # An argument in most rows, and a constant in others: the row decides.
    "argument": ("if n > 3:\n    v = gamma(v)", [[[["compare", "Gt", ["param", "n"], ["value", 3]], True]]]),
    "run_time": (
        "if tl.program_id(0) > 3:\n    v = gamma(v)",
        [[[["compare", "Gt", ["runtime"], ["value", 3]], True]]],
    ),
    "flag": ("if FLAG:\n    v = gamma(v)", [[[["param", "FLAG"], True]]]),
    "off_hip": ("if not target_info.is_hip():\n    v = gamma(v)", [[[["not", HIP], True]]]),
    "other_branch": ("if target_info.is_hip():\n    v = v\nelse:\n    v = gamma(v)", [[[HIP, False]]]),
    "unknown": ("if len([n]) > FLAG:\n    v = gamma(v)", []),
    "everywhere": ("v = libdevice.exp(v)", []),
    "of_nvidia": ("v = nvidia.tgamma(v)", []),  # Triton takes it on AMD, too
}


@pytest.fixture(scope="session")
def uses(service: Service, write: Write) -> dict[str, list[dict[str, Any]]]:
    """Kernel → what it uses."""
    parts = [HEAD]
    for name, (body, _) in BODIES.items():
        lines = "\n".join(f"    {line}" for line in body.splitlines())
        parts.append(
            f"\n@triton.jit\ndef {name}(x, n, FLAG: tl.constexpr):\n"
            f"    at = tl.arange(0, 64)\n    v = tl.load(x + at)\n{lines}\n    tl.store(x + at, v)\n"
        )
    parts.append("\n@triton.jit\ndef types(x):\n    tl.store(x, tl.load(x).to(FP8).to(tl.float8e5).to(tl.float32))\n")
    unit = Unit(write("uses.py", "".join(parts)), True, (*BODIES, "types"))
    return {name: kernel["uses"] for name, kernel in service.load(unit, Target("cuda", "90")).kernels.items()}


@pytest.mark.parametrize("name", BODIES)
def test_under_which_conditions_the_compiler_comes_to_a_function(
    uses: dict[str, list[dict[str, Any]]], name: str
) -> None:
    assert [use["when"] for use in uses[name]] == BODIES[name][1]


def test_what_is_missing_is_told_in_triton_s_words_and_where(uses: dict[str, list[dict[str, Any]]]) -> None:
    (use,) = uses["plain"]

    assert use["refused"] == {"hip": "module 'triton.language.extra.hip.libdevice' has no attribute 'tgamma'"}
    assert use["at"][0] == "uses.py"


def test_types_are_left_to_the_target(uses: dict[str, list[dict[str, Any]]]) -> None:
    assert [use["dtype"] for use in uses["types"]] == [["dtype", "fp8e4nv"], ["dtype", "fp8e5"]]
