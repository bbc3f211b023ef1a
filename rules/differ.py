"""Comparing the present tree with another revision."""

from __future__ import annotations

from dataclasses import replace

from portcheck.diff.model import Diff, compare
from portcheck.diff.snapshot import Snapshot, read_cells
from portcheck.report.jsonreport import as_dict
from portcheck.report.model import ORIGINS, Report
from portcheck.rules.execute import execute
from portcheck.rules.reports import assemble
from portcheck.rules.request import Request
from portcheck.rules.revision import run_at, warn_of_escapes
from portcheck.rules.run import Run
from portcheck.streams import tell

PRESENT = "the present tree"


def compare_with_revision(request: Request, revision: str, slower: float) -> Diff:
    """Judge the suite as it was at `revision` and as it is now, through one cache, and compare.

    Raises:
        UsageError, EnvironmentProblem: before anything ran.
        SystemExit: a run could not come to its end, and has said why.
    """
    present = Run(replace(request, matrix=False))
    with run_at(request, revision, present.locked) as (run, tree):
        old = snapshot(run, str(tree))
        if not request.quiet:
            warn_of_escapes(run, tree)
    return compare(old, snapshot(present, PRESENT), slower=slower)


def snapshot(run: Run, label: str) -> Snapshot:
    """Run the graph of a run; its cells.

    Raises:
        SystemExit: it could not come to its end, and has said why.
    """
    status = execute(run)
    if run.problems:
        tell(f"portcheck: that was in {label}: nothing is compared")
        raise SystemExit(status)
    report = assemble(run)
    if not run.request.quiet:
        tell(f"portcheck: {label}: {_origins(report)}")
    return Snapshot(label, read_cells(as_dict(report)))


def _origins(report: Report) -> str:
    count = report.summary
    came = ", ".join(f"{count[origin]} {origin}" for origin in ORIGINS if count[origin])
    return f"{count['cells']} cells: {came}" if came else "no cells"
