"""For people: cells that pass although they were known to fail, and what a baseline no longer needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from portcheck.report.groups import written_rows
from portcheck.report.model import Report, ReportCell
from portcheck.report.style import Style

_MOST = 20  # names of one kind; more is no reading matter


def render_passed(report: Report, style: Style, *, releases: bool) -> Iterator[str]:
    """One paragraph for each kind of surprise that there is."""
    for title, lines in surprises(report, releases=releases):
        if lines:
            yield "\n".join([style("bold", title), *(f"   {line}" for line in at_most(lines))])


def at_most(lines: list[str]) -> list[str]:
    """As many lines as one reads."""
    return lines if len(lines) <= _MOST else [*lines[:_MOST], f"and {len(lines) - _MOST} more"]


def surprises(report: Report, *, releases: bool) -> Iterator[tuple[str, list[str]]]:
    """A title for each kind of surprise, and a line for each; no lines if there is none."""
    for title, strict in (
        ("Passed unexpectedly, which xfail_strict forbids: take them out of xfail", True),
        ("Passed unexpectedly: take them out of xfail", False),
    ):
        cells = [reported for reported in report.cells if reported.status == "xpass"]
        yield title, _with_reasons([c for c in cells if c.cell.row.settings.xfail_strict == strict], releases)
    prune = "portcheck baseline --prune takes them out"
    yield f"In the baseline, but no longer failing: {prune}", list(written_rows(report.fixed, releases))
    yield f"In the baseline, but expected by xfail anyway: {prune}", list(written_rows(report.covered, releases))
    yield f"In the baseline, but no longer in the manifest: {prune}", list(report.stale)
    yield "Missing, no record answers: portcheck check compiles them", list(written_rows(report.missing, releases))


def _with_reasons(cells: Sequence[ReportCell], releases: bool) -> list[str]:
    by_reason: dict[str, list[ReportCell]] = {}
    for reported in cells:
        reason = reported.expectation.reason if reported.expectation else None
        by_reason.setdefault(reason or "", []).append(reported)
    return [
        line + (f": {reason}" if reason else "")
        for reason, alike in by_reason.items()
        for line in written_rows(alike, releases)
    ]
