"""Reproducers, written by the command, and run where there is nothing but Triton."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from portcheck.toolchain.model import Toolchain
    from tests.conftest import Project

CASES = Path(__file__).parent / "signatures"
# Cell → the verdict and stage that its script has to show, and what lies beside it.
KINDS = [
    ("libdevice-on-amd@hip:gfx942", "frontend-error", "frontend", ["kernel.py"]),
    ("fp8e4nv-before-ada@cuda:80", "frontend-error", "frontend", ["kernel.py"]),
    ("warps-not-power-of-two@cuda:80", "options-error", "options", []),
    ("dot-int8-on-turing@cuda:75", "mlir-error", "ttgir", ["input.ttir", "kernel.py"]),
    ("fp8-reduction@cuda:90", "mlir-error", "llir", ["input.ttgir", "kernel.py"]),
    ("scatter4@cuda:120", "assembler-error", "cubin", ["input.ptx", "kernel.py"]),
    ("asm-amd-rejected@hip:gfx942", "assembler-error", "hsaco", ["input.amdgcn", "kernel.py"]),
    ("asm-constraint@hip:gfx942", "unraised-error", "amdgcn", ["input.llir", "kernel.py"]),
    ("limit-tensor-memory@cuda:100", "launch-limit", "launch", ["input.ttir", "kernel.py"]),
    ("cannot-select@hip:gfx942", "crash", "amdgcn", ["input.llir", "kernel.py"]),
    ("unsupported-by-ptxas@cuda:20", "unsupported-target", "cubin", ["input.ptx", "kernel.py"]),
    ("memory-limit@cuda:80", "memory-limit", "frontend", ["kernel.py"]),
]


@pytest.fixture(scope="module")
def cases(make_project: Callable[[], Project]) -> Project:
    """The kernels whose failures have a name."""
    project = make_project()
    shutil.copytree(CASES, project.folder, dirs_exist_ok=True)
    return project


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory, toolchain: Toolchain) -> str:
    """The interpreter of an environment that has Triton, and nothing else."""
    assert toolchain.package is not None
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for part in (toolchain.package, *toolchain.package.parent.glob("triton-*.dist-info")):  # which names the backends
        (site / part.name).symlink_to(part)
    return str(folder / "bin/python")


def run(python: str, script: Path) -> tuple[int, str]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(script.parent)}
    ran = subprocess.run([python, "-I", script], env=environ, cwd="/", capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout + ran.stderr


@pytest.mark.parametrize(("cell", "verdict", "stage", "beside"), KINDS, ids=[kind[0] for kind in KINDS])
def test_a_failure_is_shown_with_nothing_but_triton(
    cases: Project, bare_python: str, cell: str, verdict: str, stage: str, beside: list[str]
) -> None:
    folder = cases.folder / "out" / cell.partition("@")[0]

    status, _, err = cases.portcheck("explain", cell, "--reproducer", str(folder))

    assert status == 0, err
    assert sorted(path.name for path in folder.iterdir()) == sorted([*beside, "README.md", "reproduce.py"])
    texts = {path: path.read_text() for path in folder.iterdir()}
    assert not [path for path, text in texts.items() if str(cases.folder) in text or sys.prefix in text]
    assert f"# {verdict} in stage {stage} on " in texts[folder / "README.md"]
    told, said = run(bare_python, folder / "reproduce.py")
    assert told == 0, said
    assert "\nREPRODUCED: it " in said


def test_what_fails_in_another_way_is_not_reproduced(cases: Project, bare_python: str) -> None:
    folder = cases.folder / "out/changed"
    cases.portcheck("explain", "libdevice-on-amd@hip:gfx942", "--reproducer", str(folder))
    kernel = folder / "kernel.py"
    kernel.write_text(kernel.read_text().replace("tgamma", "cbrt"))

    status, said = run(bare_python, folder / "reproduce.py")

    assert status == 1
    assert "NOT REPRODUCED: " in said


def test_without_triton_it_says_what_to_install(cases: Project, tmp_path: Path) -> None:
    folder = cases.folder / "out/nothing"
    cases.portcheck("explain", "warps-not-power-of-two@cuda:80", "--reproducer", str(folder))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "empty")], check=True)

    status, said = run(str(tmp_path / "empty/bin/python"), folder / "reproduce.py")

    assert status == 2
    assert "install Triton first: pip install triton==" in said


def test_a_reproducer_is_written_over_an_older_one_and_over_nothing_else(cases: Project) -> None:
    folder, other = cases.folder / "out/again", cases.folder / "out/other"
    other.mkdir(parents=True)
    (other / "thesis.txt").write_text("all of it")
    cell = "warps-not-power-of-two@cuda:80"

    first = cases.portcheck("explain", cell, "--reproducer", str(folder))[0]
    second = cases.portcheck("explain", cell, "--reproducer", str(folder))[0]
    status, _, err = cases.portcheck("explain", cell, "--reproducer", str(other))

    assert (first, second, status) == (0, 0, 2)
    assert "is not empty: name a folder that is new, empty, or an older reproducer" in err
    assert [path.name for path in other.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("module-not-found@cuda:80", "ends in import-error: it is raised before Triton is asked for anything"),
        ("dot-int8-on-turing@cuda:80", "is ok, so there is no failure to reproduce"),
        ("*-on-amd@hip:gfx942", "--reproducer is for one cell; these are "),
    ],
)
def test_where_there_is_nothing_to_show_it_says_so(cases: Project, cell: str, said: str) -> None:
    status, _, err = cases.portcheck("explain", cell, "--reproducer", str(cases.folder / "out/none"))

    assert status == 2
    assert said in err.splitlines()[-1]
    assert not (cases.folder / "out/none").exists()
