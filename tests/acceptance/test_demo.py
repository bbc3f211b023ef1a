"""The bundled demo: the table that the reference tool gives on Triton 3.9.0, cell by cell, and a second run."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from portcheck.demo import MANIFEST

if TYPE_CHECKING:
    from tests.conftest import Project, Ran

# row → 75, 80, 90, 100, 120, gfx942, gfx950, gfx1100, gfx1250
TABLE = """
axpy                 ok     ok     ok    ok     ok    ok     ok     ok     ok
gamma_ratio          ok     ok     ok    ok     ok    front  front  front  front
gamma_ratio_guarded  ok     ok     ok    ok     ok    ok     ok     ok     ok
quantize_fp8         front  front  ok    ok     ok    ok     ok     ok     ok
scatter_rows         ok     ok     asm   ok     asm   ok     ok     ok     ok
dot_small[fp16]      ok     ok     ok    ok     ok    ok     ok     ok     ok
dot_small[int8]      mlir   ok     ok    ok     ok    ok     ok     ok     ok
rowsum_blockptr      front  front  front front  front front  front  front  front
poll_flags           ok     ok     ok    ok     ok    ok     ok     ok     ok
"""
TARGETS = (
    *("cuda:75", "cuda:80", "cuda:90", "cuda:100", "cuda:120"),
    *("hip:gfx942", "hip:gfx950", "hip:gfx1100", "hip:gfx1250"),
)
MEANING = {
    "ok": ("ok", None),
    "front": ("frontend-error", "frontend"),
    "mlir": ("mlir-error", "ttgir"),
    "asm": ("assembler-error", "cubin"),
}
DODO = """
    from portcheck.demo import MANIFEST
    from portcheck.rules import DOIT_CONFIG, portcheck_suite
    globals().update(portcheck_suite(manifest=MANIFEST))
"""
# A run of the command in which starting a process is fatal, and which says which foreign modules it imported.
WITHOUT_PROCESSES = """
import os, sys
FATAL = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system"}
sys.addaudithook(lambda event, _: event in FATAL and (os.write(2, event.encode()), os._exit(99)))
from portcheck.cli.main import main
status = main()
print("imported:", sorted({"triton", "torch", "kernels"} & set(sys.modules)), file=sys.stderr)
sys.exit(status)
"""


@pytest.fixture(scope="module")
def demo(make_project: Callable[[], Project]) -> Project:
    """A project whose cache a first run of the demo has filled; `first` has that run."""
    return make_project()


@pytest.fixture(scope="module")
def first(demo: Project) -> Ran:
    """The first run of the demo, with an empty cache."""
    return demo.check("--demo")


def test_every_cell_has_the_verdict_and_stage_of_the_table(first: Ran) -> None:
    rows = [line.split() for line in TABLE.strip().splitlines()]
    expected = {
        f"{row}@{target}": MEANING[short]
        for row, *shorts in rows
        for target, short in zip(TARGETS, shorts, strict=True)
    }

    assert first.verdicts == expected


def test_the_first_run_compiles_everything_and_fails(first: Ran) -> None:
    assert first.status == 1
    assert first.report is not None
    counts = {name: first.report["summary"][name] for name in ("cells", "ok", "failed", "new", "compiled", "cached")}
    assert counts == {"cells": 81, "ok": 63, "failed": 18, "new": 18, "compiled": 81, "cached": 0}


def test_failures_carry_the_compiler_s_words_and_the_kernel_s_line(first: Ran) -> None:
    lines = (MANIFEST.parent / "kernels.py").read_text().splitlines()
    said = {
        "gamma_ratio@hip:gfx942": ("tgamma", "libdevice.tgamma"),
        "quantize_fp8@cuda:75": ("fp8e4nv not supported in this architecture", "def quantize_fp8"),
        "scatter_rows@cuda:90": ("'.tile::scatter4' not supported on .target 'sm_90a'", "target.scatter("),
        "dot_small[int8]@cuda:75": ("'arith.extf' op operand #0 must be floating-point-like", "tl.dot("),
        "rowsum_blockptr@cuda:90": ("Block pointers have been removed", "tl.make_block_ptr("),
    }
    for cell, (message, code) in said.items():
        assert message in first.failure(cell)["message"]
        (line,) = {
            int(text.rpartition("kernels.py:")[2].split(":")[0])
            for text in first.out.splitlines()
            if text.strip().startswith("at kernels.py:") and _follows(first.out, message, text)
        }
        assert code in lines[line - 1]


def _follows(out: str, message: str, line: str) -> bool:
    """Is `line` the one after `message` in the printed groups?"""
    return message in out and out.partition(message)[2].splitlines()[1:2] == [line]


def test_the_matrix_names_stages_and_letters(first: Ran) -> None:
    rows = {line.split()[0]: line.split()[1:] for line in first.out.splitlines() if line and not line.startswith(" ")}
    assert rows["gamma_ratio"] == ["ok"] * 5 + ["front:A"] * 4
    assert rows["dot_small[int8]"] == ["mlir:D"] + ["ok"] * 8
    assert "81 cells: 63 ok, 18 failed (18 new)" in first.out
    assert "Compile-only check" in first.out


def test_no_process_outlives_the_run(demo: Project, first: Ran) -> None:
    assert demo.left_behind() == []


def test_a_second_run_starts_no_process_and_reports_the_same(demo: Project, first: Ran) -> None:
    second = demo.folder / "second.json"
    ran = subprocess.run(
        [sys.executable, "-P", "-c", WITHOUT_PROCESSES, "check", "--demo", "--json", str(second)],
        cwd=demo.folder,
        env=demo.environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 1, ran.stderr
    assert "imported: []" in ran.stderr
    again = json.loads(second.read_text())
    assert (again["summary"]["compiled"], again["summary"]["cached"]) == (0, 81)
    assert _timeless(again) == _timeless(first.report)


def _timeless(report: dict[str, Any] | None) -> dict[str, Any]:
    """A report without what a second run may change: times, and where cells came from."""
    assert report is not None
    counts = ("seconds", "compiled", "cached", "cutoff", "remote")
    return {
        **report,
        "summary": {name: value for name, value in report["summary"].items() if name not in counts},
        "cells": [
            {name: value for name, value in cell.items() if name not in ("from", "seconds", "stages")}
            for cell in report["cells"]
        ],
    }


def test_resources_come_from_the_compiler(first: Ran) -> None:
    nvidia, amd = (first.cells[f"dot_small[fp16]@{target}"]["resources"] for target in ("cuda:90", "hip:gfx942"))
    assert nvidia["shared"] and nvidia["registers"] and nvidia["spills"] == 0
    assert amd["shared"] and amd["registers"] and amd["spills"] == 0
    assert (nvidia["num_warps"], nvidia["threads"]) == (4, 128)
    assert (amd["num_warps"], amd["threads"]) == (4, 256)


def test_every_stage_leaves_an_artifact_and_a_time(first: Ran) -> None:
    nvidia, amd = (first.cells[f"axpy@{target}"] for target in ("cuda:90", "hip:gfx942"))
    assert {"ttir", "ttgir", "llir", "ptx", "cubin"} <= set(nvidia["artifacts"])
    assert {"ttir", "ttgir", "llir", "amdgcn", "hsaco"} <= set(amd["artifacts"])
    assert {"frontend", "ttir", "ttgir", "llir", "ptx", "cubin"} <= set(nvidia["stages"])


def test_doit_prints_the_same_matrix(demo: Project, first: Ran) -> None:
    demo.write({"dodo.py": DODO})

    status, out, err = demo.doit("portcheck")

    assert status != 0
    assert "Traceback" not in err
    assert _without_summary(out) == _without_summary(first.out)


def _without_summary(out: str) -> list[str]:
    """The lines of a matrix, without the one that says where cells came from and how long they took."""
    lines = out.splitlines()
    assert sum("81 cells: 63 ok, 18 failed (18 new)" in line for line in lines) == 1
    return [line for line in lines if "81 cells" not in line]
