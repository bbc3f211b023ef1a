"""The end of a run: its report assembled, written and printed. No action here raises; doit would swallow it."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from doit.exceptions import TaskError

from portcheck.baseline import Baseline, stale
from portcheck.errors import EnvironmentProblem, UsageError
from portcheck.ir import kept
from portcheck.report import github, matrix
from portcheck.report.formats import FORMATS, Format
from portcheck.report.model import MISSING, Report, build
from portcheck.report.model import SKIPPED as NOT_REACHED
from portcheck.report.places import in_repository
from portcheck.rules.names import doit_name
from portcheck.rules.run import Run
from portcheck.rules.uptodate import SKIPPED, Written, unchanged
from portcheck.streams import tell, write_out
from portcheck.suite import expectation
from portcheck.verdicts import Outcome, Result


def write_report(run: Run, form: Format, output: str = "") -> bool:
    """Action of a format's task: write the file that was asked for. What goes wrong is told by the task that prints."""
    path = _path(run, form, output)
    if path and not run.problems:
        run.trouble.guarded(partial(_write, run, form, path))
    return True


def write_reports(run: Run) -> None:
    """Write every file that was asked for."""
    for form in FORMATS:
        write_report(run, form)


def is_written(form: Format, run: Run, task: Any) -> bool:
    """Would the task of a format write what is there already? `task` learns what is told then."""
    task.init_options()
    path = _path(run, form, task.options["output"])
    if path is None:
        return True  # nothing is asked for
    if run.request.rewrite or not run.is_judged():
        return False
    task.meta = {SKIPPED: [unchanged(path)]}
    return Written(run.store).is_current(path, form.shown(_whole(run)))


def print_report(run: Run) -> Any:
    """Action of `portcheck`: print the matrix of all cells. Fails if the run did."""
    return _conclude(run, run.cells)


def print_selected(run: Run, task: Any) -> Any:
    """Action after tasks that were asked for by name, without `portcheck`: the matrix of their cells."""
    if not task.task_dep:
        return True
    asked = set(task.task_dep)
    everything = bool(asked & {"compile", "audit", *(form.task for form in FORMATS)})
    return _conclude(run, [name for name in run.cells if everything or f"compile:{doit_name(name)}" in asked])


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
    report = _whole(run)
    for form in FORMATS:
        path = _path(run, form)
        if path and Written(run.store).is_current(path, form.shown(report)):
            run.warn(unchanged(path))
        else:
            write_report(run, form)
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
    report = build(
        judged,
        run.workshop.toolchains,
        time.monotonic() - run.began,
        expectation,
        lambda cell: known.get(cell.name),
        stale(known, run.manifest, run.cells),
        in_repository(run.request.manifest),
        run.excuse,
        [cell.name for cell, _ in judged if run.is_predicted(cell)],
    )
    return replace(report, output=partial(kept.find, run.store))


def _path(run: Run, form: Format, output: str = "") -> Path | None:
    """Where a format goes: where its task is told to, or else the request says; None if it is not asked for."""
    return Path(output) if output else run.request.reports.get(form.name)


def _whole(run: Run) -> Report:
    """The report of all cells. Every format shows it, so it is assembled once."""
    if run.report is None or len(run.report.cells) != len(run.cells):
        run.report = assemble(run)
    return run.report


def _write(run: Run, form: Format, path: Path) -> None:
    report = _whole(run)
    if run.trouble.write_aside(partial(form.write, report, path)) and not run.request.rewrite:
        Written(run.store).remember(path, form.shown(report))


def _conclude(run: Run, names: Collection[str]) -> Any:
    run.trouble.guarded(partial(_print, run, names))
    run.trouble.guarded(run.close)
    run.trouble.tell()
    status = run.status if names or run.problems else 0
    return status == 0 if status < UsageError.status else TaskError("told already")  # doit: False is 1, an error 2


def _print(run: Run, names: Collection[str]) -> None:
    run.progress.stop()
    if run.problems or not (names or run.excuse):
        return
    if run.report is None or len(run.report.cells) != len(names):
        run.report = assemble(run, names)
    shows = bool(names) and run.request.matrix and not run.request.quiet
    text = matrix.render(run.report, color=run.request.color, width=run.request.width) if shows else ""
    if shows and run.request.audit:
        text += f"\naudit: {run.audited} verdicts from records agree with their front ends\n"
    if shows:
        text += "".join(f"\n{remark}\n" for remark in run.remarks)
    if run.request.github:
        text = (github.quoted(text) if text else "") + github.commands(run.report)
        run.trouble.write_aside(partial(github.write_summary, run.report))
    if text and (unwritable := write_out(text)):
        raise unwritable


_SKIPPED = Result(Outcome(), NOT_REACHED)
