"""What `portcheck targets` shows, made by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from portcheck.compiler.tables import Tables, TargetTable
from portcheck.diagnose import limits
from portcheck.report.supported import as_dict, render
from portcheck.target import parse_target
from portcheck.toolchain.model import Toolchain


@pytest.fixture
def tables(toolchain: Callable[[str], Toolchain]) -> Tables:
    def target(name: str, trouble: str | None, *fp8: str) -> TargetTable:
        parsed = parse_target(name)
        return TargetTable(parsed, trouble, parsed.warp_size, fp8, limits.table().get(parsed))

    return Tables(
        toolchain("3.9.0"),
        "24.0.0git",
        "6bc4aaf6641c56ee104f",
        {"ptxas": "12.9.86", "ptxas-blackwell": "13.4.59"},
        {"cuda": ("cbrt", "tgamma"), "hip": ("floor",)},
        (
            target("cuda:87", None, "fp8e4b15", "fp8e5"),
            target("cuda:100", None, "fp8e5"),
            target("hip:gfx1030", "unsupported target: 'gfx1030'"),
            target("hip:gfx900", "unsupported target: 'gfx1030'"),
            target("hip:gfx950", None),
        ),
    )


def test_the_text(tables: Tables) -> None:
    text = render(tables)

    assert text.startswith(
        """\
Triton 3.9.0 (Python 3.11.7) · LLVM 24.0.0git · for AMD LLVM 6bc4aaf6641c · ptxas 12.9.86 · ptxas-blackwell 13.4.59
libdevice: 2 functions for cuda, 1 function for hip

target       compiles  warp  fp8 types       shared  tmem  threads  registers
cuda:87      yes       32    fp8e4b15 fp8e5  ?       ?     ?        ?
cuda:100     yes       32    fp8e5           232448  512   1024     255
hip:gfx1030  no        32    -               ?       ?     ?        ?
hip:gfx900   no        64    -               ?       ?     ?        ?
hip:gfx950   yes       64    -               163840  -     1024     512

Does not compile
   hip:gfx1030, hip:gfx900: unsupported target: 'gfx1030'

Limits are from
   NVIDIA/cccl, arch_traits.h: """
    )
    assert "\nNot verified\n   cuda:100: " in text


def test_what_a_release_does_not_have_is_left_out(tables: Tables) -> None:
    text = render(replace(tables, amd_llvm=None, llvm=None, targets=tables.targets[:1]))

    assert text.startswith("Triton 3.9.0 (Python 3.11.7) · LLVM of unknown version · ptxas 12.9.86 · ")
    assert "Does not compile" not in text
    assert "Not verified" not in text
    assert "Limits are from" not in text


def test_the_data(tables: Tables) -> None:
    told = as_dict(tables)

    assert told["schema"] == "portcheck-targets/1"
    assert told["libdevice"]["cuda"] == {"count": 2, "functions": ["cbrt", "tgamma"]}
    orin, b200, navi, _, _ = told["targets"]
    assert (orin["target"], orin["compiles"], orin["limits"]) == ("cuda:87", True, None)
    assert (navi["compiles"], navi["trouble"]) == (False, "unsupported target: 'gfx1030'")
    assert b200["limits"]["tmem"] == 512
    assert b200["limits"]["sources"]["tmem"]["link"].startswith("https://")
