"""A file that is saved while portcheck runs: whatever the moment, nothing is filed under a source that it is not of."""

from __future__ import annotations

import pytest

from portcheck.rules.request import Request
from portcheck.rules.run import Run
from tests.conftest import Project

GOOD = """
import triton
import triton.language as tl

@triton.jit
def store(x_ptr):
    tl.store(x_ptr, 1)
"""
BROKEN = GOOD.replace("tl.store(x_ptr, 1)", "tl.no_such_thing(x_ptr)")
OTHER = GOOD.replace("tl.store(x_ptr, 1)", "tl.store(x_ptr, tl.neither_this(1))")
MANIFEST = """
[defaults]
targets = ["cuda:80", "cuda:90"]

[[kernel]]
name = "store"
target = "kernels.py:store"
signature = { x_ptr = "*i32:16" }
"""


@pytest.fixture
def saved(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project whose cache is used in this process, too."""
    project.write({"kernels.py": GOOD, "portcheck.toml": MANIFEST})
    monkeypatch.setenv("PORTCHECK_CACHE", str(project.cache))
    return project


def judge_all(run: Run) -> None:
    """Resolve and compile what the look-up left, as the tasks do."""
    for cell in run.settle():
        run.resolve([cell.name])
        run.compile(cell.name)
    run.close()


def test_an_edit_between_the_look_up_and_a_late_import(saved: Project) -> None:
    saved.check("-t", "cuda:80")  # so that the unit is resolved from records, and imported only for cuda:90
    run = Run(Request(saved.folder / "portcheck.toml", quiet=True))
    run.prepare()
    saved.write({"kernels.py": BROKEN})
    judge_all(run)

    saved.write({"kernels.py": GOOD})

    assert {verdict for verdict, _ in saved.check().verdicts.values()} == {"ok"}


def test_an_edit_between_a_look_up_that_missed_and_the_import(saved: Project) -> None:
    saved.check()
    saved.write({"kernels.py": BROKEN})
    run = Run(Request(saved.folder / "portcheck.toml", quiet=True))
    run.prepare()
    saved.write({"kernels.py": OTHER})
    judge_all(run)

    saved.write({"kernels.py": BROKEN})
    after = saved.check()

    assert "no_such_thing" in after.failure("store@cuda:80")["message"]
    assert "no_such_thing" in after.failure("store@cuda:90")["message"]


def test_an_edit_during_the_import(saved: Project) -> None:
    slow = "import time\ntime.sleep(2)\n"
    saved.write({"kernels.py": slow + BROKEN})
    with saved.start("check") as process:
        while not saved.processes() or len(saved.processes()) < 3:  # the tool, the root, the module's process
            assert process.poll() is None
        saved.write({"kernels.py": slow + GOOD})
        process.communicate(timeout=120)

    assert {verdict for verdict, _ in saved.check().verdicts.values()} == {"ok"}
