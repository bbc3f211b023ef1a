"""What is derived from a manifest's abstract facts is what Triton's binder derives from a launch's arguments."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from portcheck.compiler.attempt import Attempt
from portcheck.compiler.job import Job, Unit
from portcheck.compiler.service import Service
from portcheck.manifest.canonical import row_specialisation
from portcheck.manifest.loader import load
from portcheck.target import Target, parse_target

KERNELS = """
    import triton
    import triton.language as tl

    @triton.jit
    def plain(x):
        pass

    @triton.jit
    def constant_memory(x: tl.const):
        pass

    @triton.jit
    def annotated_i64(x: tl.int64):
        pass

    @triton.jit
    def annotated_i16(x: "i16"):
        pass

    @triton.jit
    def annotated_fp16(x: "fp16"):
        pass

    @triton.jit(do_not_specialize=["x"])
    def not_specialised(x):
        pass

    @triton.jit(do_not_specialize_on_alignment=["x"])
    def not_specialised_on_alignment(x):
        pass

    @triton.jit
    def constant(x, N: tl.constexpr):
        pass

    @triton.jit
    def with_default(x, N: tl.constexpr = 64):
        pass
"""

# launch in launch_attributes.py → what a manifest says of it
ROWS = {
    "aligned pointer": 'plain"\nsignature = { x = "*fp32:16" }',
    "unaligned pointer": 'plain"\nsignature = { x = "*fp32" }',
    "aligned pointer to more than 2 GiB": 'plain"\nsignature = { x = "*fp32:16:large" }',
    "unaligned pointer to more than 2 GiB": 'plain"\nsignature = { x = "*bf16:large" }',
    "pointer to constants": 'constant_memory"\nsignature = { x = "*ki8" }',
    "fp8 pointer": 'plain"\nsignature = { x = "*fp8e4nv:16" }',
    "i32": 'plain"\nsignature = { x = "i32" }',
    "i32 divisible by 16": 'plain"\nsignature = { x = "i32:16" }',
    "i64": 'plain"\nsignature = { x = "i64" }',
    "i64 divisible by 16": 'plain"\nsignature = { x = "i64:16" }',
    "u64": 'plain"\nsignature = { x = "u64" }',
    "negative i32": 'plain"\nsignature = { x = "i32" }',
    "bool": 'plain"\nsignature = { x = "u1" }',
    "float": 'plain"\nsignature = { x = "fp32" }',
    "none": 'plain"\nsignature = {}\nconstants = { x = { none = true } }',
    "tuple": 'plain"\nsignature = { x = ["*fp16:16", "i32", "i32:16"] }',
    "tuple with a constant": 'plain"\nsignature = { x = ["*fp16", 1] }',
    "descriptor": 'plain"\nsignature = { x = "tensordesc<fp16[64, 64]>" }',
    "i32 for an i64 parameter": 'annotated_i64"\nsignature = { x = "i64" }',
    "i16 by annotation, divisible": 'annotated_i16"\nsignature = { x = "i16:16" }',
    "fp16 by annotation": 'annotated_fp16"\nsignature = { x = "fp16" }',
    "not specialised": 'not_specialised"\nsignature = { x = "i32:16" }',
    "not specialised on alignment": 'not_specialised_on_alignment"\nsignature = { x = "*fp32:16" }',
    "constant parameter": 'constant"\nsignature = { x = "*fp32:16" }\nconstants = { N = 64 }',
    "default": 'with_default"\nsignature = { x = "*fp32" }',
}
TARGETS = ("cuda:90", "hip:gfx942")

Launched = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def launched(write: Callable[[str, str], str], folder: Path) -> Launched:
    """Target → launch → [signature, attributes], as Triton's binder makes them."""
    write("attributes.py", KERNELS)
    script = Path(__file__).with_name("launch_attributes.py")
    plain = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_")}
    found = {}
    for target in TARGETS:
        command = [sys.executable, script, *target.split(":"), folder / "attributes.py"]
        found[target] = json.loads(subprocess.run(command, env=plain, check=True, stdout=subprocess.PIPE).stdout)
    return found


@pytest.fixture(scope="module")
def specs(write: Callable[[str, str], str], folder: Path) -> Callable[[str, Target], tuple[str, dict[str, Any]]]:
    """`specs(launch, target)`: the kernel's name, and the specialisation that the manifest's row asks for."""
    rows = (f'[[kernel]]\nname = "{name}"\ntarget = "attributes.py:{row}\n' for name, row in ROWS.items())
    write("attributes.py", KERNELS)
    write("attributes.toml", "[defaults]\ntargets = ['cuda:90']\n" + "\n".join(rows))
    parsed = {row.name: row for row in load(folder / "attributes.toml").rows}
    return lambda name, target: (parsed[name].ref.function, row_specialisation(parsed[name], target.backend))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ROWS)
def test_signature_and_attributes_are_those_of_a_launch(
    service: Service, launched: Launched, specs: Callable[..., Any], name: str, target: str
) -> None:
    parsed = parse_target(target)
    function, spec = specs(name, parsed)

    attempt = service.compile(
        Job(Unit("attributes.py", True, (function,)), function, spec, parsed, 60, 4 << 30), lambda front: False
    )

    assert isinstance(attempt, Attempt) and attempt.result is not None
    assert attempt.result["verdict"] == "cutoff", attempt.result
    derived = attempt.result["derived"]
    assert [derived["signature"], sorted(derived["attrs"])] == launched[target][name]


def test_the_table_has_every_launch(launched: Launched) -> None:
    assert all(found.keys() == ROWS.keys() for found in launched.values())
    pointers = {target: found["aligned pointer"][1] for target, found in launched.items()}
    assert "tt.pointer_range" not in str(pointers["cuda:90"])
    assert "tt.pointer_range" in str(pointers["hip:gfx942"])
