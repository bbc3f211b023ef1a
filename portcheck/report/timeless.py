"""A report without what may differ between two runs over the same records: times, and where verdicts came from."""

from __future__ import annotations

from dataclasses import replace

from portcheck.report.model import NO_VERDICT, ORIGINS, PREDICTED, Report, ReportCell


def timeless(report: Report) -> Report:
    """All that is left decides whether a file that was written from the report shows something else now."""
    cells = tuple(map(_timeless_cell, report.cells))
    predicted = tuple(map(_timeless_cell, report.predicted))
    summary = {**report.summary, **dict.fromkeys(ORIGINS, 0)}
    return replace(report, cells=cells, predicted=predicted, seconds=0.0, summary=summary)


def _timeless_cell(reported: ReportCell) -> ReportCell:
    result = reported.result
    outcome = replace(result.outcome, seconds=0.0, stages={})
    origin = result.origin if result.origin in (*NO_VERDICT, PREDICTED) else ""
    return replace(reported, result=replace(result, outcome=outcome, origin=origin))
