"""The tasks that a run becomes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from portcheck.cells import Cell
from portcheck.report.formats import FORMATS
from portcheck.rules.run import Run
from portcheck.rules.tasks import (
    audit_task,
    compile_tasks,
    creators,
    format_task,
    is_ours,
    portcheck_task,
    resolve_tasks,
    toolchain_tasks,
)

MakeRun = Callable[..., Run]


def names(tasks: Iterable[dict[str, Any]]) -> list[str]:
    """The names of a group's members; the group itself has none."""
    return [task["name"] for task in tasks if task["name"]]


def test_every_cell_has_a_task_behind_its_unit_s_and_its_toolchain_s(make_run: MakeRun) -> None:
    run = make_run()
    cells = list(run.cells.values())

    assert names(toolchain_tasks(run)) == ["9.8.7"]
    assert names(resolve_tasks(run, cells)) == ["kernels.py@9.8.7", "package.kernels@9.8.7"]
    assert names(compile_tasks(run, cells)) == [
        "copy@cuda:90@9.8.7",
        "copy@hip:gfx942@9.8.7",
        "copy[fp16]@cuda:90@9.8.7",
        "copy[fp16]@hip:gfx942@9.8.7",
        "scale@cuda:90@9.8.7",
        "scale@hip:gfx942@9.8.7",
    ]
    depends = {task["name"]: task.get("task_dep") for task in (*resolve_tasks(run, cells), *compile_tasks(run, cells))}
    assert depends["kernels.py@9.8.7"] == ["toolchain:9.8.7"]
    assert depends["scale@cuda:90@9.8.7"] == ["resolve:package.kernels@9.8.7"]
    assert audit_task(run)["task_dep"] == ["compile"]
    assert [format_task(run, form)["task_dep"] for form in FORMATS] == [["audit"]] * len(FORMATS)
    assert portcheck_task(run)["task_dep"] == [form.task for form in FORMATS]


def test_only_cells_that_are_given_get_a_task(make_run: MakeRun) -> None:
    run = make_run()
    cell = run.cells["scale@cuda:90@9.8.7"]

    assert names(resolve_tasks(run, [cell])) == ["package.kernels@9.8.7"]
    assert names(compile_tasks(run, [cell])) == ["scale@cuda:90@9.8.7"]
    assert names(compile_tasks(run, [])) == []


def test_the_longest_of_last_time_goes_first(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run()
    monkeypatch.setattr(Run, "expected_seconds", {"scale@cuda:90@9.8.7": 7.0, "copy@hip:gfx942@9.8.7": 90.0})

    assert names(compile_tasks(run, run.cells.values()))[:3] == [
        "copy@hip:gfx942@9.8.7",
        "scale@cuda:90@9.8.7",
        "copy@cuda:90@9.8.7",
    ]


def test_every_task_says_whether_it_is_up_to_date_and_none_is_captured(make_run: MakeRun) -> None:
    run = make_run()
    cells: Callable[[], Iterable[Cell]] = run.cells.values
    made = [create() for name, create in creators(run, cells).items() if name != "task_diff"]
    tasks = [task for one in made for task in ([one] if isinstance(one, dict) else one) if task.get("actions")]

    assert len(tasks) == 1 + 2 + 6 + 4 + len(FORMATS)
    for task in tasks:
        assert len(task["uptodate"]) == 1
        assert task["io"] == {"capture": False}
        assert task.get("doc") or task["basename"].startswith("_")


@pytest.mark.parametrize(
    ("name", "ours"),
    [("compile:copy@cuda:90@3.9.0", True), ("portcheck", True), ("report", True), ("compiler", False), ("test", False)],
)
def test_which_tasks_are_ours(name: str, ours: bool) -> None:
    assert is_ours(name) == ours
