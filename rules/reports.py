"""The end of a run: its report assembled, written and printed. No action here raises; doit would swallow it."""

from __future__ import annotations

import time
from collections.abc import Collection
from functools import partial
from typing import Any

from doit.exceptions import TaskError

from portcheck.baseline import Baseline, stale
from portcheck.errors import EnvironmentProblem, UsageError
from portcheck.report import jsonreport, matrix
from portcheck.report.model import MISSING, Report, build
from portcheck.report.model import SKIPPED as NOT_REACHED
from portcheck.rules.run import Run
from portcheck.rules.uptodate import SKIPPED, Written, unchanged
from portcheck.streams import tell, write_out
from portcheck.suite import expectation
from portcheck.verdicts import Outcome, Result


def write_report(run: Run) -> bool:
    """Action of `report`: write the formats that were asked for. What goes wrong is told by the task that prints."""
    if not run.problems:
        run.trouble.guarded(partial(_write, run))
    return True


def is_written(run: Run, task: Any) -> bool:
    """Would `report` write what is there already? `task` learns what is told then."""
    path = run.request.json
    if path is None:
        return True  # nothing is asked for
    if run.request.rewrite or not run.is_judged():
        return False
    task.meta = {SKIPPED: [unchanged(path)]}
    return Written(run.store).is_current(path, _shown(assemble(run)))


def print_report(run: Run) -> Any:
    """Action of `portcheck`: print the matrix of all cells. Fails if the run did."""
    return _conclude(run, run.cells)


def print_selected(run: Run, task: Any) -> Any:
    """Action after tasks that were asked for by name, without `portcheck`: the matrix of their cells."""
    if not task.task_dep:
        return True
    asked = set(task.task_dep)
    everything = bool(asked & {"compile", "audit", "report"})
    return _conclude(run, [name for name in run.cells if everything or f"compile:{name}" in asked])


def report_from_cache(run: Run) -> int:
    """What `portcheck report` does: the report of what is recorded, and nothing compiled.

    Returns:
        The exit status: as of a run, and 1 if cells are missing, since nobody knows how those would end.

    Raises:
        UsageError, EnvironmentProblem: nothing can be said of the cells.
    """
    run.prepare()
    run.settle()
    missing = {name: Result(Outcome(), MISSING) for name in run.cells if name not in run.results}
    run.results.update(missing)
    run.report = assemble(run)
    path = run.request.json
    if path and Written(run.store).is_current(path, _shown(run.report)):
        run.warn(unchanged(path))
    else:
        write_report(run)
    print_report(run)
    if missing:
        tell(f"portcheck: {len(missing)} of {len(run.cells)} cells have no record: portcheck check compiles them")
    return run.status or (1 if missing else 0)


def assemble(run: Run, names: Collection[str] | None = None, baseline: Baseline | None = None) -> Report:
    """The report of some cells, or of all, compared with the run's baseline or with another one.

    Raises:
        EnvironmentProblem: a bug lost cells.
    """
    run.prepare()
    run.settle()
    names = run.cells if names is None else names
    known = run.baseline if baseline is None else baseline
    reported = [name for name in names if name in run.results]
    if len(reported) < len(names) and not run.is_over():
        raise EnvironmentProblem(
            f"internal error: only {len(reported)} of {len(names)} cells reported; please report it"
        )
    judged = [(run.cells[name], run.results.get(name, _SKIPPED)) for name in names]
    return build(
        judged,
        run.workshop.toolchains,
        time.monotonic() - run.began,
        expectation,
        lambda cell: known.get(cell.name),
        stale(known, run.manifest, run.cells),
    )


def _write(run: Run) -> None:
    run.report = assemble(run)
    if path := run.request.json:
        run.trouble.write_aside(partial(jsonreport.write, run.report, path))
        if not run.unwritten and not run.request.rewrite:
            Written(run.store).remember(path, _shown(run.report))


def _shown(report: Report) -> dict[str, Any]:
    """What decides the content of the JSON report, but for times and for where verdicts came from."""
    shown = jsonreport.as_dict(report)
    cells = [{k: v for k, v in cell.items() if k not in ("from", "seconds", "stages")} for cell in shown["cells"]]
    return {"format": "json", **shown, "cells": cells, "summary": None}


def _conclude(run: Run, names: Collection[str]) -> Any:
    run.trouble.guarded(partial(_print, run, names))
    run.trouble.guarded(run.close)
    run.trouble.tell()
    status = run.status if names or run.problems else 0
    return status == 0 if status < UsageError.status else TaskError("told already")  # doit: False is 1, an error 2


def _print(run: Run, names: Collection[str]) -> None:
    run.progress.stop()
    if run.problems or not names:
        return
    if run.report is None or len(run.report.cells) != len(names):
        run.report = assemble(run, names)
    if run.request.quiet or not run.request.matrix:
        return
    text = matrix.render(run.report, color=run.request.color, width=run.request.width)
    if run.request.audit:
        text += f"\naudit: {run.audited} verdicts from records agree with their front ends\n"
    text += "".join(f"\n{remark}\n" for remark in run.remarks)
    if unwritable := write_out(text):
        raise unwritable


_SKIPPED = Result(Outcome(), NOT_REACHED)
