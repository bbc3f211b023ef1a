"""The task `baseline`: today's failures frozen into a file, or what a file no longer needs taken out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from doit.exceptions import TaskError

from portcheck.baseline import Baseline, dump, load
from portcheck.errors import EnvironmentProblem, UsageError
from portcheck.report.freeze import freeze, is_unfrozen, prune, told
from portcheck.report.model import Report
from portcheck.report.output import write_file
from portcheck.rules.reports import assemble
from portcheck.rules.request import SHOW
from portcheck.rules.run import Run
from portcheck.rules.uptodate import SKIPPED, has_text, unchanged
from portcheck.streams import write_out


@dataclass(frozen=True, slots=True)
class _Plan:
    """What becomes of a baseline file."""

    path: Path
    prunes: bool
    before: Baseline
    after: Baseline
    report: Report  # compared with `before`


def write_baseline(run: Run, output: str, prune: bool) -> Any:
    """Action of `baseline`: write the file, and say what changed in it."""
    if not run.problems:
        run.trouble.guarded(partial(_write, run, output, prune))
    run.trouble.tell()
    return TaskError("told already") if run.trouble.status else True


def is_frozen(run: Run, task: Any) -> bool:
    """Does the file hold already what `baseline` would write? `task` learns what is told then."""
    task.init_options()
    if not run.is_judged():
        return False
    plan = _plan(run, task.options["output"], task.options["prune"])
    task.meta = {SKIPPED: [unchanged(plan.path), *_hints(plan)]}
    return has_text(plan.path, dump(plan.after)) and not _unfrozen(plan.report)


def _write(run: Run, output: str, prune: bool) -> None:
    plan = _plan(run, output, prune)
    run.progress.stop()
    text = dump(plan.after)
    if has_text(plan.path, text):
        lines = [unchanged(plan.path)]
    else:
        write_file(plan.path, [text], "baseline")
        changes = told(plan.before, plan.after) or "written anew"
        lines = [f"{plan.path}: {_count(len(plan.after), 'known failure')} ({changes})"]
    if not run.request.quiet and (unwritable := write_out("\n".join([*lines, *_hints(plan)]) + "\n")):
        raise unwritable
    if missing := _unfrozen(plan.report):
        raise EnvironmentProblem(f"{_count(len(missing), 'cell')} not frozen, since a tool is missing: {missing[0]}")


def _plan(run: Run, output: str, prune_only: bool) -> _Plan:
    path = Path(output) if output else run.request.baseline
    if run.request.static != SHOW:
        given = f"static={run.request.static}"
        raise UsageError(f"{given}: a baseline is made of verdicts, and predictions are none: leave it out")
    if path is None:
        raise UsageError("name the file of the baseline: -o FILE, or portcheck_suite(baseline=…) in the dodo.py")
    before = load(path) if path.is_file() or prune_only else {}
    report = assemble(run, baseline=before)
    after = (prune if prune_only else freeze)(before, report)
    return _Plan(path, prune_only, before, after, report)


def _hints(plan: _Plan) -> list[str]:
    """What the file leaves to be done."""
    new = [reported for reported in plan.report.cells if reported.status == "new"]
    if plan.prunes and new:
        return [f"{_count(len(new), 'new failure')} not added: --prune only takes out"]
    if plan.report.stale and not plan.prunes:
        return [f"{_count(len(plan.report.stale), 'cell')} of it no longer in the manifest: --prune takes them out"]
    return []


def _unfrozen(report: Report) -> list[str]:
    """What the missing tools are, a message a cell."""
    return [reported.failure.message for reported in report.cells if reported.failure and is_unfrozen(reported.failure)]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number != 1 else ''}"
