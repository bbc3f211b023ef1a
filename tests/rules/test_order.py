"""The order of releases: one after the other, without a task for what nobody asked for."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from portcheck.rules import run as module
from portcheck.rules.order import release_by_release
from portcheck.rules.run import Run
from portcheck.rules.tasks import compile_tasks, toolchain_tasks
from portcheck.suite import Selection
from portcheck.verdicts import Outcome, Result

MakeRun = Callable[..., Run]


@pytest.fixture
def run(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run of two releases with three rows each, for two workers."""
    monkeypatch.setattr(module, "release_of", lambda name, locked: str(name))
    return make_run(selection=Selection(targets=("cuda:90",), triton=("3.8.0", "3.9.0")), jobs=2)


def test_a_release_waits_until_fewer_cells_are_left_than_workers(run: Run) -> None:
    cells = [f"compile:{task['name']}" for task in compile_tasks(run, run.cells.values()) if task["name"]]
    toolchains = [f"toolchain:{task['name']}" for task in toolchain_tasks(run) if task["name"]]
    tasks = {name: SimpleNamespace(task_dep=[]) for name in (*toolchains, *cells)}

    release_by_release(run, tasks)

    assert [name.rpartition("@")[2] for name in cells] == ["3.8.0"] * 3 + ["3.9.0"] * 3
    waits = {name: task.task_dep for name, task in tasks.items() if task.task_dep}
    assert waits == {"toolchain:3.9.0": cells[:2]}


def test_the_processes_of_a_release_end_with_its_last_cell(run: Run) -> None:
    events: list[str] = []

    def judge(cell: object, force: bool) -> Result:
        events.append("cell")
        return Result(Outcome(), "compiled")

    run._workshop = SimpleNamespace(  # type: ignore[assignment]
        judge=lambda cell: SimpleNamespace(judge=judge), end=lambda release: events.append(f"end of {release}")
    )
    for task in compile_tasks(run, run.cells.values()):
        if task["name"]:
            run.compile(task["name"])

    assert events == [*["cell"] * 3, "end of 3.8.0", *["cell"] * 3, "end of 3.9.0"]


def test_a_release_of_which_no_cell_is_kept_ends_at_once_and_the_other_with_its_last_one(run: Run) -> None:
    events: list[str] = []
    judge = SimpleNamespace(judge=lambda cell, force: Result(Outcome(), "compiled"))
    run._workshop = SimpleNamespace(judge=lambda cell: judge, end=events.append)  # type: ignore[assignment]

    run.keep({name: cell for name, cell in run.cells.items() if name in ("copy@cuda:90@3.9.0", "scale@cuda:90@3.9.0")})
    assert events == ["3.8.0"]
    run.compile("copy@cuda:90@3.9.0")
    assert events == ["3.8.0"]
    run.compile("scale@cuda:90@3.9.0")

    assert events == ["3.8.0", "3.9.0"]
    assert run.releases == ["3.9.0"]
