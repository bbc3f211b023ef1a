"""The build rules: a run becomes doit tasks. Each function here yields the tasks of one kind.

doit 0.37 has traps, and every task is written around them: captured output is mixed up between threads, so nothing is
captured; a task that depends on a failed one never runs, so a verdict is never a failure; doit's memory is written only
at the end of a run, so the cache is the memory: it says which tasks are up to date. An exception while doit asks for
that would end the run, so what it asks never raises.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from portcheck.cells import Cell
from portcheck.report.formats import FORMATS, Format
from portcheck.rules import difftask
from portcheck.rules.baselines import is_frozen, write_baseline
from portcheck.rules.difftask import is_shown, show_diff
from portcheck.rules.names import doit_name
from portcheck.rules.reports import is_written, print_report, print_selected, write_report
from portcheck.rules.run import Run

Task = dict[str, Any]

WRITERS = tuple(form.task for form in FORMATS)
KINDS = ("toolchain", "resolve", "compile", "audit", *WRITERS, "diff", "baseline", "portcheck")
GROUPS = KINDS[:3]  # those with a task for each release, unit or cell
MATRIX = "_matrix"  # comes after tasks of the kinds below, where `portcheck` does not
_OUTPUT = {"name": "output", "short": "o", "long": "output", "default": "", "help": "the file"}
PARAMS: dict[str, list[dict[str, Any]]] = {  # what tasks take on doit's command line
    **{writer: [_OUTPUT] for writer in WRITERS},
    "diff": difftask.PARAMS,
    "baseline": [
        _OUTPUT,
        {"name": "prune", "long": "prune", "type": bool, "default": False, "help": "only take out, add nothing"},
    ],
}
SHOWN = frozenset({*GROUPS, "audit", *WRITERS})
_TASK: Task = {"io": {"capture": False}, "verbosity": 2}


def is_ours(name: str) -> bool:
    """Is `name` that of a task made here, or a pattern over such names?"""
    return name.partition(":")[0] in (*KINDS, MATRIX)


def toolchain_tasks(run: Run) -> Iterator[Task]:
    """`toolchain:RELEASE`: find the installation and digest it."""
    yield _group("Triton installations", run.is_prepared)
    for release in run.releases:
        yield {
            **_TASK,
            "name": release,
            "actions": [run.toolchain],
            "uptodate": [run.is_prepared],
            "doc": f"find and digest Triton {release}",
        }


def resolve_tasks(run: Run, cells: Iterable[Cell]) -> Iterator[Task]:
    """`resolve:UNIT@RELEASE`: import user code; its kernels and what they are made of."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for cell in cells:
        groups[_resolved_by(cell)].append(cell.name)
    everything = [name for names in groups.values() for name in names]
    yield _group("modules with kernels, imported", (run.is_resolved, [everything]))
    for name, names in groups.items():
        release = name.rpartition("@")[2]
        yield {
            **_TASK,
            "name": name,
            "actions": [(run.resolve, [names])],
            "uptodate": [(run.is_resolved, [names])],
            "task_dep": [f"toolchain:{release}"],
            "doc": "import it, unless nothing that it reads has changed",
        }


def compile_tasks(run: Run, cells: Iterable[Cell]) -> Iterator[Task]:
    """`compile:ROW@TARGET@RELEASE`: one cell; release by release, and the longest of last time first."""
    cells = list(cells)
    yield _group("cells", lambda: all(run.is_known(cell.name) for cell in cells))
    seconds, place = run.expected_seconds, {release: index for index, release in enumerate(run.releases)}
    for cell in sorted(cells, key=lambda cell: (place[cell.release], -seconds.get(cell.name, 0.0))):
        yield {
            **_TASK,
            "name": doit_name(cell.name),
            "actions": [(run.compile, [cell.name])],
            "uptodate": [(run.is_known, [cell.name])],
            "task_dep": [f"resolve:{_resolved_by(cell)}"],
            "doc": f"compile {cell.row.ref} for {cell.target} with Triton {cell.release}",
        }


def audit_task(run: Run) -> Task:
    """`audit`: run the front ends of some hits, where that is asked for."""
    return {
        **_TASK,
        "actions": [run.audit],
        "uptodate": [run.request.audit is None],
        "task_dep": ["compile"],
        "doc": "compare records with their front ends",
    }


def format_task(run: Run, form: Format) -> Task:
    """`report`, `junit` …: write the file of one format if it is asked for, unless it shows the same already."""
    return {
        **_TASK,
        "actions": [partial(write_report, run, form)],
        "uptodate": [partial(_asked, partial(is_written, form), run)],
        "params": PARAMS[form.task],
        "task_dep": ["audit"],
        "doc": f"write {form.what}",
    }


def diff_task(run: Run) -> Task:
    """`diff`: compare two releases, unless the same was shown last time.

    It depends on no cell's task: those are of the releases that the suite is checked with.
    """
    return {
        **_TASK,
        "actions": [partial(show_diff, run)],
        "params": PARAMS["diff"],
        "uptodate": [partial(_asked, is_shown, run)],
        "doc": "compare two releases: doit diff --old 3.8.0 --new 3.9.0",
    }


def baseline_task(run: Run) -> Task:
    """`baseline`: freeze today's failures into a file."""
    return {
        **_TASK,
        "actions": [partial(write_baseline, run)],
        "uptodate": [partial(_asked, is_frozen, run)],
        "params": PARAMS["baseline"],
        "task_dep": ["audit"],
        "doc": "freeze today's failures, so that only new ones fail",
    }


def portcheck_task(run: Run) -> Task:
    """`portcheck`: print the matrix, and fail if there is a new failure."""
    return {
        **_TASK,
        "actions": [(print_report, [run])],
        "uptodate": [False],
        "task_dep": [*WRITERS],
        "doc": "check all kernels and print the matrix",
    }


def matrix_task(run: Run) -> Task:
    """The matrix of what was asked for by name: `wildcards` knows what. It is private, so doit does not list it."""
    return {**_TASK, "basename": MATRIX, "actions": [(print_selected, [run])], "uptodate": [False]}


def creators(run: Run, cells: Callable[[], Iterable[Cell]]) -> dict[str, Callable[[], Any]]:
    """doit's task creators by name, for a dodo.py's namespace or a loader. `cells` gives those that get a task."""
    return {
        "task_toolchain": lambda: toolchain_tasks(run),
        "task_resolve": lambda: resolve_tasks(run, cells()),
        "task_compile": lambda: compile_tasks(run, cells()),
        "task_audit": lambda: audit_task(run),
        **{f"task_{form.task}": _writer(run, form) for form in FORMATS},
        "task_diff": lambda: diff_task(run),
        "task_baseline": lambda: baseline_task(run),
        "task_portcheck": lambda: portcheck_task(run),
        f"task_{MATRIX}": lambda: matrix_task(run),
    }


def _writer(run: Run, form: Format) -> Callable[[], Task]:
    return lambda: format_task(run, form)


def _resolved_by(cell: Cell) -> str:
    return doit_name(f"{cell.row.ref.unit}@{cell.release}")


def _group(doc: str, uptodate: Any) -> Task:
    return {"name": None, "doc": doc, "uptodate": [uptodate]}


def _asked(is_current: Callable[[Run, Any], bool], run: Run, task: Any) -> bool:
    """What doit asks of a task that writes a file. Where there is trouble the task has to run: it says what it is."""
    try:
        return is_current(run, task)
    except Exception:
        return False
