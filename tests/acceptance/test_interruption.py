"""Ctrl-C, SIGTERM and a tool that is killed: nothing outlives it, and what was finished is kept."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Project

Until = Callable[[Callable[[], Any]], None]

MANIFEST = """
    [defaults]
    targets = ["cuda:90"]

    [[kernel]]
    name = "quick"
    target = "quick.py:copy"
    signature = { x = "*fp32", y = "*fp32" }
    targets = ["cuda:80", "cuda:90", "hip:gfx942"]

    [[kernel]]
    name = "endless"
    target = "endless.py:spin"
    signature = { x = "*fp32" }
"""
QUICK = """
    import triton
    import triton.language as tl

    @triton.jit
    def copy(x, y):
        tl.store(y, tl.load(x))
"""
ENDLESS = """
    import pathlib, triton, triton.language as tl

    @triton.constexpr_function
    def forever():
        pathlib.Path("running").touch()
        while True:
            pass

    @triton.jit
    def spin(x):
        tl.store(x, forever())
"""
HANGING_IMPORT = {
    "portcheck.toml": """
        [[kernel]]
        name = "hangs"
        target = "package.kernels:kernel"
        signature = {}
        targets = ["cuda:90"]
    """,
    "package/__init__.py": "",
    "package/kernels.py": "import pathlib\npathlib.Path('running').touch()\nwhile True: pass\n",
}
DODO = """
    from portcheck.rules import DOIT_CONFIG, portcheck_suite
    globals().update(portcheck_suite())
"""


@pytest.fixture
def endless(project: Project) -> Project:
    """Three cells that take no time, and one that never ends."""
    project.write({"portcheck.toml": MANIFEST, "quick.py": QUICK, "endless.py": ENDLESS, "dodo.py": DODO})
    return project


def _is_half_done(project: Project) -> bool:
    """Is the endless cell running, and are the others in the cache?"""
    return (project.folder / "running").exists() and len(list((project.cache / "1" / "front").glob("*/*"))) == 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("isolation", ["fork", "spawn"])
def test_an_interrupted_run_keeps_what_is_finished(
    endless: Project, until: Until, number: signal.Signals, isolation: str
) -> None:
    with endless.start("check", "-j2", "--isolation", isolation) as process:
        until(lambda: _is_half_done(endless))
        process.send_signal(number)
        _, err = process.communicate(timeout=30)

    assert process.returncode == 130
    assert "interrupted; 3 of 4 cells are finished and kept" in err
    assert "Traceback" not in err
    assert endless.left_behind(seconds=1) == []
    assert set(endless.check("-k", "quick").origins.values()) == {"cached"}


def test_doit_is_interrupted_alike(endless: Project, until: Until) -> None:
    with endless.start_doit("-n", "2", "portcheck") as process:
        until(lambda: _is_half_done(endless))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)

    assert process.returncode == 130
    assert endless.left_behind(seconds=1) == []


@pytest.mark.parametrize("isolation", ["fork", "spawn"])
def test_no_cell_outlives_a_tool_that_is_killed(endless: Project, until: Until, isolation: str) -> None:
    with endless.start("check", "-j2", "--isolation", isolation) as process:
        until(lambda: _is_half_done(endless))
        process.kill()

    assert endless.left_behind() == []


def test_no_import_outlives_a_tool_that_is_killed(project: Project, until: Until) -> None:
    project.write(HANGING_IMPORT)
    with project.start("check") as process:
        until((project.folder / "running").exists)
        process.kill()

    assert project.left_behind() == []


@pytest.mark.parametrize("command", [["check"], ["explain", "hangs@cuda:90"]])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_import_ends(
    project: Project, until: Until, tmp_path: Path, command: list[str], number: signal.Signals
) -> None:
    project.write(HANGING_IMPORT)
    project.env["TMPDIR"] = str(tmp_path)
    with project.start(*command) as process:
        until((project.folder / "running").exists)
        process.send_signal(number)
        _, err = process.communicate(timeout=30)

    assert process.returncode == 130
    assert "portcheck: interrupted" in err
    assert project.left_behind(seconds=1) == []
    assert list(tmp_path.iterdir()) == []
    assert not (project.folder / "portcheck-internal-error.txt").exists()
