"""For people: what became of the configurations of autotuned rows, where the matrix says only that one survives."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.configurations import is_passed_over
from portcheck.diagnose.fingerprint import fingerprint
from portcheck.report.model import Report, ReportCell
from portcheck.report.style import Style
from portcheck.verdicts import Failed

_LABELS = 3  # configurations that are named for each cell
_RAISED = "Triton's autotuner does not pass over this: a launch that tunes raises it, so take the configuration out"


def render_tuned(report: Report, style: Style, *, releases: bool) -> Iterator[str]:
    """A paragraph for configurations that fail in rows that are ok, and one for rows of which not all were compiled."""
    failing: dict[str, list[tuple[ReportCell, list[Failed]]]] = {}
    for reported in report.cells:
        by_cause: dict[str, list[Failed]] = {}
        for failed in failed_beside(reported):
            by_cause.setdefault(fingerprint(failed.failure), []).append(failed)
        for cause, of_cause in by_cause.items():
            failing.setdefault(cause, []).append((reported, of_cause))
    if failing:
        lines = [style("bold", "Configurations that fail, in rows where another one does not")]
        for cells in failing.values():
            failure = cells[0][1][0].failure
            lines.append(f"   {failure.verdict} in {failure.stage}: {failure.message}")
            lines += [] if is_passed_over(failure) else [f"      {_RAISED}"]
            lines += [f"      {_told(reported, failed, releases)}" for reported, failed in cells]
        yield "\n".join(lines)
    partly = [one for one in report.cells if one.result.configs and one.result.configs.of < one.result.configs.total]
    if partly:
        compiled = sum(one.result.configs.of for one in partly if one.result.configs)
        total = sum(one.result.configs.total for one in partly if one.result.configs)
        of = f"{len(partly)} cell{'s' if len(partly) != 1 else ''}"
        yield f"Autotuned: {compiled} of {total} configurations of {of} were compiled (configs in the manifest)"


def failed_beside(reported: ReportCell) -> tuple[Failed, ...]:
    """The configurations that failed in a cell that is ok all the same."""
    configs = reported.result.configs
    return configs.failed if configs and reported.status in ("ok", "xpass") else ()


def _told(reported: ReportCell, failed: list[Failed], releases: bool) -> str:
    cell, configs = reported.cell, reported.result.configs
    assert configs is not None  # it has failed ones
    where = f"{cell.row.name} on {cell.target}" + (f" with {cell.release}" if releases else "")
    more = f"; and {len(failed) - _LABELS} more" if len(failed) > _LABELS else ""
    return f"{where}: {len(failed)} of {configs.of}: {'; '.join(one.label for one in failed[:_LABELS])}{more}"
