"""`portcheck check` from the command line: selections, flags and exit statuses."""

from __future__ import annotations

import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.copies import KERNELS

if TYPE_CHECKING:
    from tests.conftest import Project

MANIFEST = """
    [defaults]
    targets = ["cuda:80", "cuda:90", "hip:gfx942"]

    [[kernel]]
    name = "copy"
    target = "kernels.py:copy"
    signature = { x = "*fp32", y = "*fp32" }

    [[kernel.variant]]
    name = "fp16"
    signature = { x = "*fp16", y = "*fp16" }

    [[kernel]]
    name = "tgamma"
    target = "kernels.py:tgamma"
    signature = { x = "*fp32" }
"""


@pytest.fixture(scope="module")
def warm(make_project: Callable[[], Project]) -> Project:
    """A project of nine cells, one of them red, whose cache is filled."""
    project = make_project()
    project.write({"portcheck.toml": MANIFEST, "kernels.py": KERNELS})
    assert project.check().status == 1
    return project


@pytest.mark.parametrize(
    ("arguments", "cells"),
    [
        (["-t", "cuda:90", "-k", "copy"], ["copy@cuda:90"]),
        (["-t", "hip:*", "-k", "copy*"], ["copy@hip:gfx942", "copy[fp16]@hip:gfx942"]),
        (["-k", "copy[fp16]", "-t", "cuda:80,cuda:90"], ["copy[fp16]@cuda:80", "copy[fp16]@cuda:90"]),
        (["-k", "copy[fp16]", "-k", "tgamma", "-t", "cuda:90"], ["copy[fp16]@cuda:90", "tgamma@cuda:90"]),
        (["-k", "copy", "--triton", "current", "-t", "cuda:90"], ["copy@cuda:90"]),
    ],
)
def test_selections(warm: Project, arguments: list[str], cells: list[str]) -> None:
    ran = warm.check(*arguments)

    assert (ran.status, list(ran.cells)) == (0, cells)


def test_a_new_failure_is_status_1(warm: Project) -> None:
    ran = warm.check("-k", "tgamma")

    assert ran.status == 1
    assert ran.cells["tgamma@hip:gfx942"]["status"] == "new"


def test_an_expected_failure_is_status_0(make_project: Callable[[], Project], warm: Project) -> None:
    project = make_project()
    project.cache = warm.cache
    project.write({"portcheck.toml": MANIFEST + '    xfail = ["hip:*"]\n', "kernels.py": KERNELS})

    ran = project.check()

    assert ran.status == 0
    assert ran.cells["tgamma@hip:gfx942"]["status"] == "xfail"
    assert set(ran.origins.values()) == {"cached"}  # another folder, the same keys


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-k", "cpoy"], 'no row of portcheck.toml matches "cpoy" (did you mean copy?)'),
        (["-t", "cuad:90"], 'unknown target "cuad:90" (did you mean cuda?)'),
        (["-t", "rocm:gfx942"], 'unknown target "rocm:gfx942"'),
        (["-t", "sm_90"], "write cuda:90"),
        (["--triton", "3.9"], "write current, a release such as 3.8.0"),
        (["-t", "cuda:9x"], 'malformed target "cuda:9x"'),
        (["-t", "hip:gfx12*"], 'no target of portcheck.toml matches "hip:gfx12*"'),
        (["other.toml"], "other.toml"),
        (["--max-rss", "much"], "much"),
        (["--timeout", "0"], "--timeout 0"),
        (["-j", "0"], "--jobs 0"),
    ],
)
def test_a_mistake_on_the_command_line_is_status_2(warm: Project, arguments: list[str], said: str) -> None:
    ran = warm.check(*arguments)

    assert (ran.status, ran.out, ran.report) == (2, "", None)
    (line,) = ran.err.splitlines()
    assert said in line
    assert line.startswith("portcheck: ")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("target = 'kernels.py:cpoy'", "kernels.py has no cpoy (did you mean copy?)"),
        ("target = 'kernels.py:libdevice'", "kernels.py:libdevice is a module, no @triton.jit function"),
        ("target = 'nowhere.py:copy'", "nowhere.py"),
        ("target = 'no_such_module:copy'", 'no module "no_such_module"'),
        ("target = 'kernels.py:copy'\noptions = { num_wraps = 8 }", "num_wraps"),
        ("target = 'kernels.py:copy'\nconstants = { BLOCK = 64 }", 'constants: no parameter "BLOCK"'),
        ("target = 'kernels.py:tgamma'", 'signature: no parameter "y"'),
    ],
)
def test_a_row_that_does_not_fit_is_status_2(warm: Project, row: str, said: str) -> None:
    manifest = "[[kernel]]\nname = 'k'\ntargets = ['cuda:90']\nsignature = { x = '*fp32', y = '*fp32' }\n"
    warm.write({"mistake.toml": manifest + row})

    ran = warm.check("mistake.toml")

    assert (ran.status, ran.report) == (2, None)
    (line,) = ran.err.splitlines()
    assert said in line
    assert line.startswith('portcheck: mistake.toml: kernel "k"')


def test_nothing_to_do_is_status_2(project: Project) -> None:
    assert "no portcheck.toml" in project.check().err

    project.write({"portcheck.toml": ""})
    ran = project.check()

    assert ran.status == 2
    assert "nothing is selected" in ran.err


def test_force_compiles_what_is_known(warm: Project) -> None:
    ran = warm.check("--force", "-k", "copy", "-t", "cuda:90")

    assert ran.origins == {"copy@cuda:90": "compiled"}


def test_dry_run_says_what_would_be_compiled_and_compiles_nothing(project: Project) -> None:
    project.write({"portcheck.toml": MANIFEST, "kernels.py": KERNELS})
    before = project.check("--dry-run")
    assert (before.status, before.report) == (0, None)
    assert "copy[fp16]@hip:gfx942@" in before.out
    assert "9 of 9 cells would be compiled" in before.out
    assert list((project.cache / "1").glob("front/*/*")) == []

    project.check("-k", "copy", "-t", "cuda:90")

    assert "8 of 9 cells would be compiled" in project.check("--dry-run").out


def test_x_stops_at_the_first_new_failure(project: Project) -> None:
    project.write({"portcheck.toml": MANIFEST, "kernels.py": KERNELS})

    ran = project.check("-x", "-j1", "-k", "tgamma", "-k", "copy[fp16]", "-t", "hip:gfx942,cuda:80")

    assert ran.status == 1
    assert ran.report is not None
    summary = ran.report["summary"]
    assert summary["failed"] == 1
    assert summary["skipped"] + summary["compiled"] == summary["cells"] == 4


def test_save_ir_writes_every_stage_of_every_cell(warm: Project) -> None:
    ran = warm.check("--save-ir", "ir", "-k", "copy[fp16]", "-t", "cuda:90,hip:gfx942")

    assert ran.status == 0
    names = [cell["cell"] for cell in ran.cells.values()]
    nvidia, amd = ({stage.name for stage in (warm.folder / "ir" / name).iterdir()} for name in names)
    assert {"ttir", "ttgir", "llir", "ptx", "cubin"} <= nvidia
    assert {"ttir", "ttgir", "llir", "amdgcn", "hsaco"} <= amd
    artifacts = ran.cells["copy[fp16]@cuda:90"]["artifacts"]
    assert (warm.folder / "ir" / names[0] / "cubin").stat().st_size == artifacts["cubin"]["size"]


def test_save_ir_compiles_again_what_the_cache_has_lost(project: Project) -> None:
    project.write({"portcheck.toml": MANIFEST, "kernels.py": KERNELS})
    arguments = ("-k", "copy", "-t", "cuda:90", "--save-ir", "ir")
    project.check(*arguments)
    (artifacts,) = (path for path in (project.folder / "ir").iterdir())
    kept = {path.name: path.read_bytes() for path in artifacts.iterdir()}
    for blob in (project.cache / "1" / "blob").glob("*/*"):
        blob.unlink()
    for path in artifacts.iterdir():
        path.unlink()

    ran = project.check(*arguments)

    assert ran.verdicts == {"copy@cuda:90": ("ok", None)}
    assert {path.name: path.read_bytes() for path in artifacts.iterdir()} == kept


def _venv(folder: Path, without: str) -> str:
    """A virtual environment with everything that is installed here but one package; returns its interpreter."""
    venv.create(folder, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not path.name.startswith((without, "__pycache__")) and not (packages / path.name).exists():
            (packages / path.name).symlink_to(path)
    return str(folder / "bin" / "python")


def test_without_triton_it_is_status_3_and_says_how_to_install_it(project: Project, tmp_path: Path) -> None:
    project.write({"portcheck.toml": MANIFEST, "kernels.py": KERNELS})
    project.python = _venv(tmp_path / "venv", without="triton")

    ran = project.check()

    assert (ran.status, ran.report) == (3, None)
    (line,) = ran.err.splitlines()
    assert line.endswith(f"install it with: {project.python} -m pip install triton")


def test_another_release_than_the_installed_one_is_status_3(warm: Project) -> None:
    ran = warm.check("--triton", "2.1.0")

    assert ran.status == 3
    assert "Triton 2.1.0 is too old: portcheck compiles with 3.0.0 and newer" in ran.err


def test_a_triton_that_cannot_be_imported_is_status_3(project: Project, tmp_path: Path) -> None:
    project.write({"portcheck.toml": MANIFEST, "kernels.py": KERNELS})
    project.python = _venv(tmp_path / "venv", without="triton")
    broken = Path(sysconfig.get_path("purelib", vars={"base": str(tmp_path / "venv")}), "triton")
    broken.mkdir()
    (broken / "__init__.py").write_text("__version__ = '3.9.0'\nraise ImportError('libtriton.so is damaged')\n")

    ran = project.check()

    assert (ran.status, ran.report) == (3, None)
    (line,) = ran.err.splitlines()
    assert "ImportError: libtriton.so is damaged; reinstall it with: " in line
    assert project.left_behind() == []


def test_the_tool_does_not_take_the_user_s_modules_for_its_own(project: Project) -> None:
    project.write({"portcheck.toml": MANIFEST, "kernels.py": KERNELS})
    project.write({"cache.py": "1 / 0", "rules/__init__.py": "1 / 0", "json.py": "1 / 0", "wire.py": "1 / 0"})

    assert project.check("-k", "copy", "-t", "cuda:90").verdicts == {"copy@cuda:90": ("ok", None)}
