"""Triton releases other than the one of the invoking interpreter, and what user code finds beside them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

from tests.conftest import Project

KERNELS = """
    import helper
    import triton
    import triton.language as tl

    SIZE = tl.constexpr(helper.SIZE)

    @triton.jit
    def fill(x_ptr):
        tl.store(x_ptr + tl.arange(0, SIZE), 1.0)
"""
MANIFEST = """
    [defaults]
    targets = ["cuda:90"]

    [[kernel]]
    name = "fill"
    target = "kernels.py:fill"
    signature = { x_ptr = "*fp32:16" }
"""
CELL = "fill@cuda:90"


def site_of(venv: Path) -> Path:
    """The site-packages of a virtual environment."""
    return next(venv.glob("lib/python*/site-packages"))


def make_venv(folder: Path) -> Path:
    """An empty virtual environment."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder


@pytest.fixture
def user(project: Project, tmp_path: Path) -> Project:
    """A project that is checked from a virtual environment of its own."""
    venv = make_venv(tmp_path / "user")
    installed = {entry for entry in sys.path if Path(entry).name == "site-packages"}
    lines = "".join(f"import site; site.addsitedir({entry!r})\n" for entry in installed)
    (site_of(venv) / "tests.pth").write_text(lines)
    project.write({"kernels.py": KERNELS, "portcheck.toml": MANIFEST})
    project.python = str(venv / "bin" / "python")
    return project


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    """A virtual environment that somebody installed the Triton of the tests in, and nothing else."""
    venv = make_venv(tmp_path / "nightly")
    found = distribution("triton")
    source = Path(str(found.locate_file("")))
    ignore = shutil.ignore_patterns("__pycache__")
    for name in ("triton", f"triton-{found.version}.dist-info"):
        shutil.copytree(source / name, site_of(venv) / name, copy_function=link, ignore=ignore)
    return venv


def link(source: str, target: str) -> None:
    """Spare the disk a gigabyte, where it can be done."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def install(venv: Path, size: int) -> Path:
    """Put a package `helper` into a virtual environment."""
    package = site_of(venv) / "helper"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").write_text(f"SIZE = {size}\n")
    return package


def user_venv(user: Project) -> Path:
    """The virtual environment that a project is checked from."""
    return Path(user.python).parent.parent


def test_what_the_venv_lacks_comes_from_the_invoking_interpreter(user: Project, venv: Path) -> None:
    install(user_venv(user), 64)

    ran = user.check("--triton", str(venv))
    again = user.check("--triton", str(venv))
    alone = user.check("--triton", str(venv), "--no-inherit-site")

    assert ran.verdicts == {CELL: ("ok", None)}, ran.err
    assert again.origins == {CELL: "cached"}
    assert alone.verdicts == {CELL: ("import-error", "import")}
    assert "No module named 'helper'" in alone.out


def test_what_the_venv_holds_wins_and_what_takes_its_place_is_no_hit(user: Project, venv: Path) -> None:
    install(user_venv(user), 64)
    own = install(venv, 128)

    first = user.check("--triton", str(venv))
    shutil.rmtree(own)
    second = user.check("--triton", str(venv))
    install(user_venv(user), 32)
    third = user.check("--triton", str(venv))

    assert [ran.origins[CELL] for ran in (first, second, third)] == ["compiled"] * 3
    assert len({ran.cells[CELL]["artifacts"]["ttir"]["digest"] for ran in (first, second, third)}) == 3


def test_an_editable_install_of_the_invoking_interpreter_is_found_after_all_else(user: Project, venv: Path) -> None:
    source = user.folder.parent / "source"
    (source / "helper").mkdir(parents=True)
    (source / "helper" / "__init__.py").write_text("SIZE = 64\n")
    site = site_of(user_venv(user))
    (site / "__editable___helper_finder.py").write_text(FINDER.format(source=source))
    (site / "__editable__.helper.pth").write_text("import __editable___helper_finder as f; f.install()")

    inherited = user.check("--triton", str(venv))
    (source / "helper" / "__init__.py").write_text("SIZE = 32\n")
    edited = user.check("--triton", str(venv))
    install(venv, 128)
    own = user.check("--triton", str(venv))
    again = user.check("--triton", str(venv))

    assert [ran.origins[CELL] for ran in (inherited, edited, own, again)] == [*["compiled"] * 3, "cached"]
    assert len({ran.cells[CELL]["artifacts"]["ttir"]["digest"] for ran in (inherited, edited, own)}) == 3


FINDER = """
import sys
from importlib.util import spec_from_file_location

class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name == "helper":
            place = "{source}/helper"
            return spec_from_file_location(name, place + "/__init__.py", submodule_search_locations=[place])

def install():
    sys.meta_path.insert(0, Finder)
"""


def test_a_triton_on_pythonpath_is_not_the_one_of_the_venv(user: Project, venv: Path) -> None:
    install(user_venv(user), 64)
    broken = user.folder.parent / "broken"
    (broken / "triton").mkdir(parents=True)
    (broken / "triton" / "__init__.py").write_text("__version__ = '1.2.3'\nraise ImportError('the wrong one')\n")
    user.env["PYTHONPATH"] = str(broken)

    ran = user.check("--triton", str(venv))

    assert ran.verdicts == {CELL: ("ok", None)}, ran.err
    assert ran.report is not None
    assert [toolchain["triton"] for toolchain in ran.report["toolchains"]] == [distribution("triton").version]


@pytest.mark.download
def test_a_release_gets_an_environment_and_one_line_says_so(project: Project) -> None:
    rows = [flag for row in ("axpy", "rowsum_blockptr", "poll_flags") for flag in ("-k", row)]
    asked = ("--demo", "-t", "cuda:80", "--triton", "3.8.0,3.9.0", *rows)

    dry = project.start("check", *asked, "--dry-run")
    out, err = dry.communicate()
    assert (dry.returncode, out) == (3, "")
    assert "make it with: portcheck env add 3.8.0" in err
    ran, again = project.check(*asked), project.check(*asked)

    assert ran.report is not None and again.report is not None
    verdicts = {cell["cell"]: cell["verdict"] for cell in ran.report["cells"]}
    assert verdicts == {
        "axpy@cuda:80@3.8.0": "ok",
        "axpy@cuda:80@3.9.0": "ok",
        "rowsum_blockptr@cuda:80@3.8.0": "ok",
        "rowsum_blockptr@cuda:80@3.9.0": "frontend-error",
        "poll_flags@cuda:80@3.8.0": "frontend-error",
        "poll_flags@cuda:80@3.9.0": "ok",
    }
    assert ran.err.count("creating the environment of Triton 3.8.0") == 1
    assert "environment" not in again.err
    assert again.report["summary"]["cached"] == 6
    assert again.report["toolchains"] == ran.report["toolchains"]
    assert len({toolchain["digest"] for toolchain in ran.report["toolchains"]}) == 2
