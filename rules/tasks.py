"""The build rules: a run becomes doit tasks. Each function here yields the tasks of one kind.

doit 0.37 has traps, and every task is written around them: captured output is mixed up between threads, so nothing is
captured; a task that depends on a failed one never runs, so a verdict is never a failure; doit's memory is written only
at the end of a run, so the cache is the memory and every task always runs, which is cheap.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from portcheck.cells import Cell
from portcheck.rules.difftask import diff_task
from portcheck.rules.run import Run

Task = dict[str, Any]

KINDS = ("toolchain", "resolve", "compile", "audit", "report", "diff", "portcheck")
GROUPS = KINDS[:3]  # those with a task for each release, unit or cell
_ALWAYS: Task = {"uptodate": [False], "io": {"capture": False}, "verbosity": 2}


def is_ours(name: str) -> bool:
    """Is `name` that of a task made here, or a pattern over such names?"""
    return name.partition(":")[0] in KINDS


def toolchain_tasks(run: Run) -> Iterator[Task]:
    """`toolchain:RELEASE`: find the installation and digest it."""
    yield _group("Triton installations")
    for release in dict.fromkeys(cell.release for cell in run.cells.values()):
        yield {**_ALWAYS, "name": release, "actions": [run.toolchain], "doc": f"find and digest Triton {release}"}


def resolve_tasks(run: Run, cells: Iterable[Cell]) -> Iterator[Task]:
    """`resolve:UNIT@RELEASE`: import user code; its kernels and what they are made of."""
    yield _group("modules with kernels, imported")
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for cell in cells:
        groups[_resolved_by(cell)].append(cell.name)
    for name, names in groups.items():
        release = name.rpartition("@")[2]
        yield {
            **_ALWAYS,
            "name": name,
            "actions": [(run.resolve, [names])],
            "task_dep": [f"toolchain:{release}"],
            "doc": "import it, unless nothing that it reads has changed",
        }


def compile_tasks(run: Run, cells: Iterable[Cell]) -> Iterator[Task]:
    """`compile:ROW@TARGET@RELEASE`: one cell, the longest of last time first."""
    yield _group("cells")
    seconds = run.expected_seconds
    for cell in sorted(cells, key=lambda cell: -seconds.get(cell.name, 0.0)):
        yield {
            **_ALWAYS,
            "name": cell.name,
            "actions": [(run.compile, [cell.name])],
            "task_dep": [f"resolve:{_resolved_by(cell)}"],
            "doc": f"compile {cell.row.ref} for {cell.target} with Triton {cell.release}",
        }


def audit_task(run: Run) -> Task:
    """`audit`: run the front ends of some hits, where that is asked for."""
    return {**_ALWAYS, "actions": [run.audit], "task_dep": ["compile"], "doc": "compare records with their front ends"}


def report_task(run: Run) -> Task:
    """`report`: assemble the report and write its files."""
    return {**_ALWAYS, "actions": [run.write_report], "task_dep": ["audit"], "doc": "write the reports asked for"}


def portcheck_task(run: Run) -> Task:
    """`portcheck`: print the matrix, and fail if there is a new failure."""
    return {
        **_ALWAYS,
        "actions": [run.print_report],
        "task_dep": ["report"],
        "doc": "check all kernels and print the matrix",
    }


def creators(run: Run, cells: Callable[[], Iterable[Cell]]) -> dict[str, Callable[[], Any]]:
    """doit's task creators by name, for a dodo.py's namespace or a loader. `cells` gives those that get a task."""
    return {
        "task_toolchain": lambda: toolchain_tasks(run),
        "task_resolve": lambda: resolve_tasks(run, cells()),
        "task_compile": lambda: compile_tasks(run, cells()),
        "task_audit": lambda: audit_task(run),
        "task_report": lambda: report_task(run),
        "task_diff": lambda: diff_task(run),
        "task_portcheck": lambda: portcheck_task(run),
    }


def _resolved_by(cell: Cell) -> str:
    return f"{cell.row.ref.unit}@{cell.release}"


def _group(doc: str) -> Task:
    return {"name": None, "doc": doc}
