"""The failure groups for people: the compiler's message once, and the cells that it concerns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from portcheck.report.model import Group, Report, ReportCell
from portcheck.report.style import Style
from portcheck.target import Target
from portcheck.verdicts import Position

# row → release → its targets
_Rows = dict[str, dict[str, list[Target]]]


def render_groups(report: Report, style: Style, *, releases: bool) -> Iterator[str]:
    """One paragraph a group. With `releases`, cells say which release they are of."""
    reached = _by_row([reported for reported in report.cells if reported.status])
    for group in report.groups:
        body = [
            group.failure.message,
            *_places(group),
            *_rows(group, releases),
            *_reasons(group),
            *_blame(group, reached),
        ]
        yield "\n".join([_heading(group, style), *(f"   {line}" for line in body)])


def _heading(group: Group, style: Style) -> str:
    failure = group.failure
    parts = [f"{failure.verdict} in {failure.stage}"]
    if failure.pass_name:
        parts.append(f"pass {failure.pass_name}")
    if all(member.status == "xfail" for member in group.cells):
        parts.append("expected")
    return style("bold", f"{group.letter}  {' · '.join(parts)}")


def _places(group: Group) -> Iterator[str]:
    places = list(dict.fromkeys(at for member in group.cells if member.failure and (at := member.failure.position)))
    if places:
        more = len(places) - 1
        yield f"at {_written(places[0])}" + (f" and {more} more place{'s' if more > 1 else ''}" if more else "")


def _rows(group: Group, releases: bool) -> Iterator[str]:
    for row, by_release in _by_row(group.cells).items():
        alike: dict[str, list[str]] = {}
        for release, targets in by_release.items():
            alike.setdefault(", ".join(map(str, targets)), []).append(release)
        for shown, of in alike.items():
            yield f"{row} on {shown}" + (f" (Triton {', '.join(of)})" if releases else "")


def _reasons(group: Group) -> Iterator[str]:
    """Why the manifest expects these failures."""
    expected = [member.expectation for member in group.cells if member.status == "xfail" and member.expectation]
    for reason in dict.fromkeys(expectation.reason for expectation in expected if expectation.reason):
        yield f"expected: {reason}"


def _blame(group: Group, reached: _Rows) -> Iterator[str]:
    """A row that fails alike for NVIDIA and AMD, wherever it goes, has itself to blame.

    With one backend only that does not follow: a type may be missing on all the targets that were asked for.
    """
    for row, by_release in _by_row(group.cells).items():
        for release, targets in by_release.items():
            if len(targets) > 1 and targets == reached[row][release]:
                verdict = ": the target is not to blame" if len({target.backend for target in targets}) > 1 else ""
                yield f"{row} fails alike on all its {len(targets)} targets{verdict}"
                break


def _by_row(cells: Sequence[ReportCell]) -> _Rows:
    rows: _Rows = {}
    for reported in cells:
        cell = reported.cell
        rows.setdefault(cell.row.name, {}).setdefault(cell.release, []).append(cell.target)
    return rows


def _written(at: Position) -> str:
    return f"{at.file}:{at.line}" + (f":{at.column}" if at.column is not None else "")
