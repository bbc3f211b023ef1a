"""Reproducers: written by the command, then run where there is nothing but Triton."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from portcheck.reproducer.alone import make_environment

if TYPE_CHECKING:
    from portcheck.toolchain.model import Toolchain
    from tests.conftest import Project

CASES = Path(__file__).parent / "signatures"
KERNELS = """
    import os
    import triton
    import triton.language as tl
    import enum
    from helpers import fails

    class Mode(enum.IntEnum):
        FAST = 1

    MODE = tl.constexpr(Mode.FAST)

    @triton.jit
    def calls(x, y):
        tl.store(y, fails(tl.load(x)))

    @triton.jit
    def has_a_mode(x, y):
        tl.static_assert(MODE == 2, "only mode 2 works")

    @triton.jit
    def copy(x, y, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        tl.store(y + i, tl.load(x + i))
"""
HELPERS = """
    import triton
    import triton.language as tl

    LIMIT = tl.constexpr(4)

    @triton.constexpr_function
    def twice(n):
        return 2 * n

    @triton.jit
    def fails(x):
        tl.static_assert(twice(LIMIT) > 10, "the limit is too low")
        return x
"""
ROW = '[[kernel]]\nname = "{0}"\ntarget = "kernels.py:{1}"\nsignature = {{ x = "*fp32:16", y = "*fp32:16" }}\n{2}\n'
MANIFEST = '[defaults]\ntargets = ["cuda:80"]\n' + "".join(
    ROW.format(*row)
    for row in (
        ("calls", "calls", ""),
        ("has-a-mode", "has_a_mode", ""),
        ("fine", "copy", "constants = { BLOCK = 128 }"),
        ("too-many-threads", "copy", "constants = { BLOCK = 128 }\noptions = { num_warps = 64 }"),
    )
)
# Cell of tests/acceptance/signatures, or of the above → its verdict, and what the reproducer consists of.
KINDS = {
    "libdevice-on-amd@hip:gfx942": ("frontend-error", {"kernel.py"}),
    "fp8e4nv-before-ada@cuda:80": ("frontend-error", {"kernel.py"}),
    "calls@cuda:80": ("frontend-error", {"kernel.py"}),
    "has-a-mode@cuda:80": ("frontend-error", {"kernel.py", "source"}),
    "warps-not-power-of-two@cuda:80": ("options-error", set()),
    "fp8-arithmetic@cuda:90": ("mlir-error", {"input.ttgir", "kernel.py"}),
    "asm-unknown-to-ptxas@cuda:80": ("assembler-error", {"input.ptx", "kernel.py"}),
    "asm-ptx-on-amd@hip:gfx942": ("assembler-error", {"input.amdgcn", "kernel.py"}),
    "asm-constraint@hip:gfx942": ("unraised-error", {"input.llir", "kernel.py"}),
    "unsupported-by-amd-backend@hip:gfx900": ("unsupported-target", {"input.ttgir", "kernel.py"}),
    "ptx-version@cuda:88": ("crash", {"input.ttgir", "kernel.py"}),
    "too-many-threads@cuda:80": ("launch-limit", {"input.ttir", "kernel.py"}),
}


@pytest.fixture(scope="module")
def cases(make_project: Callable[[], Project]) -> Project:
    """The cases of signatures, and some more."""
    project = make_project()
    shutil.copytree(CASES, project.folder / "signatures")
    project.write({"kernels.py": KERNELS, "helpers.py": HELPERS, "portcheck.toml": MANIFEST})
    return project


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory, toolchain: Toolchain) -> str:
    """An interpreter that has Triton, and no portcheck."""
    python = make_environment(tmp_path_factory.mktemp("alone"), toolchain)
    lacks = subprocess.run([python, "-I", "-c", "import portcheck"], check=False, capture_output=True, text=True)
    assert "No module named 'portcheck'" in lacks.stderr
    return python


def explain(project: Project, cell: str, folder: Path | str) -> tuple[int, str]:
    """`portcheck explain CELL --reproducer FOLDER`: its status, and all that it says."""
    manifest = "portcheck.toml" if f'name = "{cell.partition("@")[0]}"' in MANIFEST else "signatures/portcheck.toml"
    with project.start("explain", cell, manifest, "--reproducer", str(folder)) as process:
        out, err = process.communicate(timeout=120)
    return process.returncode, out + err


def run(python: str, script: Path) -> tuple[int, str]:
    """The status of a script, run from elsewhere, and what it prints."""
    command = [python, "-I", str(script)]
    ran = subprocess.run(
        command, check=False, cwd="/", env={"PATH": os.environ["PATH"]}, capture_output=True, text=True
    )
    return ran.returncode, ran.stdout + ran.stderr


@pytest.mark.parametrize("cell", KINDS)
def test_a_reproducer_fails_alone_as_recorded(cases: Project, alone: str, tmp_path: Path, cell: str) -> None:
    verdict, beside = KINDS[cell]
    folder = tmp_path / "bug"

    status, said = explain(cases, cell, folder)
    script_status, printed = run(alone, folder / "reproduce.py")

    assert (status, script_status) == (0, 0), said + printed
    assert f"recorded: {verdict} in stage " in printed
    assert {path.name for path in folder.iterdir()} - {"__pycache__"} == {*beside, "reproduce.py", "README.md"}
    written = "".join(path.read_text() for path in folder.rglob("*") if path.suffix != ".pyc" and path.is_file())
    assert str(cases.folder) not in written and sys.prefix not in written


def test_a_script_says_so_when_it_does_not_fail_as_recorded(cases: Project, alone: str, tmp_path: Path) -> None:
    explain(cases, "calls@cuda:80", tmp_path)
    kernel = tmp_path / "kernel.py"
    kernel.write_text(kernel.read_text().replace("the limit is too low", "something else"))

    status, printed = run(alone, tmp_path / "reproduce.py")

    assert status == 1
    assert printed.splitlines()[-1] == "NOT REPRODUCED: it did not say: the limit is too low"


def test_an_older_reproducer_is_replaced_and_anything_else_is_left_alone(cases: Project, tmp_path: Path) -> None:
    notes, bug = tmp_path / "notes", tmp_path / "bug"
    notes.mkdir()
    (notes / "mine.txt").write_text("mine")

    refused, said = explain(cases, "warps-not-power-of-two@cuda:80", notes)
    first, _ = explain(cases, "calls@cuda:80", bug)
    second, _ = explain(cases, "warps-not-power-of-two@cuda:80", bug)

    assert (refused, first, second) == (2, 0, 0)
    assert said.count("\n") == 1 and "is not empty" in said
    assert {path.name for path in bug.iterdir()} == {"reproduce.py", "README.md"}


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        ("fine@cuda:80", "is ok, so there is no failure to reproduce"),
        ("import-raised@cuda:80", "ends in import-error: it is raised before Triton is asked for anything"),
    ],
)
def test_where_there_is_nothing_to_show_it_says_why(cases: Project, tmp_path: Path, cell: str, why: str) -> None:
    status, said = explain(cases, cell, tmp_path / "bug")

    assert status == 2
    assert why in said and "Traceback" not in said.splitlines()[-1]
    assert not (tmp_path / "bug").exists()
