"""A report made into a baseline: what is kept, what is added, what is taken out."""

from __future__ import annotations

from portcheck.baseline import UNFROZEN, Baseline, Entry, entry_of
from portcheck.report.model import PREDICTED, Report, ReportCell
from portcheck.verdicts import Failure


def freeze(before: Baseline, report: Report) -> dict[str, Entry]:
    """Today's failures. What `before` has of cells that this run did not judge stays as it is."""
    judged = {reported.cell.name for reported in report.cells if _is_judged(reported)}
    kept = {cell: entry for cell, entry in before.items() if cell not in judged}
    failing = (reported for reported in report.cells if reported.status in ("new", "known"))
    frozen = {
        reported.cell.name: entry_of(reported.failure)
        for reported in failing
        if reported.failure and _is_judged(reported)
    }
    return {**kept, **frozen}


def prune(before: Baseline, report: Report) -> dict[str, Entry]:
    """`before` without what it no longer needs; nothing is added. `report` was made with `before`."""
    gone = {reported.cell.name for reported in (*report.fixed, *report.covered)} | set(report.stale)
    return {cell: entry for cell, entry in before.items() if cell not in gone}


def is_unfrozen(failure: Failure | None) -> bool:
    """Is it a failure that no baseline takes as known?"""
    return failure is not None and failure.verdict in UNFROZEN


def _is_judged(reported: ReportCell) -> bool:
    """Is there a verdict to freeze? A prediction is none, however certain."""
    return bool(reported.status) and reported.result.origin != PREDICTED and not is_unfrozen(reported.failure)


def told(before: Baseline, after: Baseline) -> str:
    """How two baselines differ, in words; empty if they do not."""
    counts = {
        "added": len(after.keys() - before.keys()),
        "changed": sum(after[cell] != before[cell] for cell in after.keys() & before.keys()),
        "taken out": len(before.keys() - after.keys()),
    }
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count)
