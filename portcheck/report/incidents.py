"""Failures as code hosts show them: one for each cause and kernel, however many cells there are of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from portcheck.report.groups import written_rows
from portcheck.report.model import Group, Report, ReportCell
from portcheck.report.places import place
from portcheck.report.text import one_line
from portcheck.verdicts import Position

WORST_FIRST = ("new", "known", "xfail")  # statuses of cells that fail


@dataclass(frozen=True, slots=True)
class Incident:
    """One kernel, with its variants, that fails for one cause."""

    group: Group
    kernel: str
    cells: tuple[ReportCell, ...]
    status: str  # the worst of its cells'
    place: Position  # in the repository
    others: tuple[Position, ...]  # further places where it fails

    @property
    def title(self) -> str:
        """What kind of failure it is, in a few words."""
        return f"{one_line(self.kernel)}: {self.group.failure.verdict} in {self.group.failure.stage}"


def incidents(report: Report) -> list[Incident]:
    """Worst first; of one status in the order of the groups and of their kernels."""
    found = [_incident(report, group, kernel, cells) for group in report.groups for kernel, cells in _kernels(group)]
    return sorted(found, key=lambda incident: WORST_FIRST.index(incident.status))


def sentence(incident: Incident, *, releases: bool) -> str:
    """What fails where, and the compiler's message, in one line. With `releases`, cells say of which one they are."""
    rows = "; ".join(map(one_line, written_rows(incident.cells, releases)))
    return f"{rows}: {one_line(incident.group.failure.message)}"


def causes(group: Group) -> list[str]:
    """What is known of a cause beside the compiler's message, a line each."""
    return [f"pass {one_line(group.failure.pass_name)}"] if group.failure.pass_name else []


def _kernels(group: Group) -> Iterator[tuple[str, tuple[ReportCell, ...]]]:
    kernels: dict[str, list[ReportCell]] = {}
    for member in group.cells:
        kernels.setdefault(member.cell.row.kernel, []).append(member)
    yield from ((kernel, tuple(members)) for kernel, members in kernels.items())


def _incident(report: Report, group: Group, kernel: str, cells: tuple[ReportCell, ...]) -> Incident:
    statuses = {member.status for member in cells}
    status = next(status for status in WORST_FIRST if status in statuses)
    first, *others = dict.fromkeys(place(report, member) for member in cells)
    return Incident(group, kernel, cells, status, first, tuple(others))
