"""For people: what will not launch although its cell is ok, and where nobody knows."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.diagnose import limits
from portcheck.diagnose.fingerprint import fingerprint
from portcheck.report.groups import written_rows
from portcheck.report.model import Report, ReportCell
from portcheck.report.style import Style


def render_launches(report: Report, style: Style, *, releases: bool) -> Iterator[str]:
    """A paragraph for the warnings, if there are any, and one for the targets whose limits are not known."""
    warned: dict[str, list[ReportCell]] = {}
    for reported in report.cells:
        if reported.warning:
            warned.setdefault(fingerprint(reported.warning), []).append(reported)
    if warned:
        lines = [style("bold", 'Compiled, but no launch will succeed (launch_limits = "warn")')]
        for cells in warned.values():
            assert cells[0].warning is not None  # that is why it is here
            lines += [f"   {cells[0].warning.message}", *(f"   {line}" for line in written_rows(cells, releases))]
        yield "\n".join(lines)
    unknown = dict.fromkeys(str(r.cell.target) for r in report.cells if _is_unknown(r))
    if unknown:
        yield f"Launch limits of {', '.join(unknown)} are not known: whether a device there takes these kernels is open"


def _is_unknown(reported: ReportCell) -> bool:
    asked = reported.cell.row.settings.launch_limits != "off"
    return asked and reported.status in ("ok", "xpass") and reported.cell.target not in limits.table()
