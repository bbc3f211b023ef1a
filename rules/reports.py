"""The end of a run: its report assembled, written and printed."""

from __future__ import annotations

import time
from functools import partial

from portcheck.errors import EnvironmentProblem
from portcheck.report import jsonreport, matrix
from portcheck.report.model import SKIPPED, build
from portcheck.rules.run import Run
from portcheck.streams import write_out
from portcheck.suite import expectation
from portcheck.verdicts import Outcome, Result


def write_report(run: Run) -> bool:
    """Action of `report`: assemble the report and write the formats that were asked for.

    Fails only where no task `portcheck` comes after it: that one says what the trouble was.
    """
    if not run.problems:
        run.trouble.guarded(partial(_write, run))
    return run.gated or not (run.problems or run.unwritten)


def print_report(run: Run) -> bool:
    """Action of `portcheck`: print the matrix. False if the run failed.

    doit would swallow what an action raises.
    """
    run.trouble.guarded(partial(_print, run))
    run.trouble.guarded(run.close)
    run.trouble.tell()
    return run.status == 0


def _write(run: Run) -> None:
    run.prepare()
    if run.gated and len(run.results) < len(run.cells) and not run.is_over():
        count = f"{len(run.results)} of {len(run.cells)}"
        raise EnvironmentProblem(f"internal error: only {count} cells reported; please report it")
    wanted = (name for name in run.cells if run.gated or name in run.results)
    judged = [(run.cells[name], run.results.get(name, _SKIPPED)) for name in wanted]
    run.report = build(judged, run.workshop.toolchains, time.monotonic() - run.began, expectation)
    if run.request.json:
        run.trouble.write_aside(partial(jsonreport.write, run.report, run.request.json))


def _print(run: Run) -> None:
    run.progress.stop()
    if run.report is None or run.request.quiet:
        return
    text = matrix.render(run.report, color=run.request.color, width=run.request.width)
    if run.request.audit:
        text += f"\naudit: {run.audited} verdicts from records agree with their front ends\n"
    if unwritable := write_out(text):
        raise unwritable


_SKIPPED = Result(Outcome(), SKIPPED)
