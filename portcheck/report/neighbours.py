"""What compiles right beside a failure: another target, another release, a row that differs in one thing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from portcheck.cells import Cell
from portcheck.manifest.model import Row
from portcheck.target import Target

if TYPE_CHECKING:
    from portcheck.report.model import ReportCell

_MOST = 4  # targets or rows are named; of more it is said how many there are

# row → release → its targets
Rows = dict[str, dict[str, list[Target]]]


class Neighbours:
    """The cells of a report that passed, to be asked for those beside a failure."""

    def __init__(self, cells: Iterable[ReportCell]) -> None:
        reached = [reported for reported in cells if reported.status]
        self._reached = by_row(reached)
        self._passed = {_place(reported.cell) for reported in reached if reported.failure is None}
        self._rows: dict[str, dict[str, Row]] = {}  # kernel → its rows by name
        for reported in reached:
            row = reported.cell.row
            self._rows.setdefault(str(row.ref), {})[row.name] = row

    def notes(self, cells: Sequence[ReportCell]) -> tuple[str, ...]:
        """What there is to say about the cells of one failure group, a sentence each."""
        return tuple(dict.fromkeys([*self._alike(cells), *self._beside(cells)]))

    def everywhere(self, cells: Sequence[ReportCell]) -> tuple[str, ...]:
        """Of these cells' rows, those that fail so for NVIDIA and AMD, wherever they go, with every release."""
        of = by_row(cells)
        return tuple(row for row in of if of[row] == self._reached[row] and all(map(_blameless, of[row].values())))

    def _alike(self, cells: Sequence[ReportCell]) -> Iterator[str]:
        """Rows that fail alike on all their targets.

        Where these are of one backend, the target may be to blame: a type may be missing on all that were asked for.
        """
        clear: dict[int, list[str]] = {}
        for row, by_release in by_row(cells).items():
            for release, targets in by_release.items():
                if len(targets) > 1 and targets == self._reached[row][release]:
                    if _blameless(targets):
                        clear.setdefault(len(targets), []).append(row)
                    else:
                        yield f"{row} fails alike on all its {len(targets)} targets"
                    break
        for count, rows in clear.items():
            verb, whose = ("fails", "its") if len(rows) == 1 else ("fail", "their")
            yield f"{_some(rows)} {verb} alike on all {whose} {count} targets: the target is not to blame"

    def _beside(self, cells: Sequence[ReportCell]) -> Iterator[str]:
        """What compiles beside each row; rows of which the same is to be said share a sentence."""
        rows: dict[str, list[str]] = {}
        for row, by_release in by_row(cells).items():
            for said in (
                *self._other_targets(row, by_release),
                *self._other_releases(row, by_release),
                *self._other_rows(row, by_release, cells),
            ):
                rows.setdefault(said, []).append(row)
        for said, of in rows.items():
            yield f"{_some(of)} {'compiles' if len(of) == 1 else 'compile'} {said}"

    def _other_targets(self, row: str, by_release: Mapping[str, list[Target]]) -> Iterator[str]:
        """Targets of the same backend are the nearer neighbours; those of another one are named if there are none."""
        for release, failed in by_release.items():
            passed = [target for target in self._reached[row][release] if (row, target, release) in self._passed]
            near = [target for target in passed if target.backend in {failing.backend for failing in failed}]
            if passed:
                yield f"for {_some(near or passed)}{self._with(release)}"

    def _other_releases(self, row: str, by_release: Mapping[str, list[Target]]) -> Iterator[str]:
        failed = list(dict.fromkeys(target for targets in by_release.values() for target in targets))
        for other in self._reached[row]:
            passed = [target for target in failed if (row, target, other) in self._passed]
            if passed:
                yield f"with Triton {other}{_where(passed, failed)}"

    def _other_rows(
        self, name: str, by_release: Mapping[str, list[Target]], cells: Sequence[ReportCell]
    ) -> Iterator[str]:
        """Rows of the same kernel that differ in one constant, option or type, and compile where this one fails."""
        row = next(reported.cell.row for reported in cells if reported.cell.row.name == name)
        for other in self._rows[str(row.ref)].values():
            for release, failed in by_release.items():
                passed = [target for target in failed if (other.name, target, release) in self._passed]
                changes = {_only_difference(row, other, target.backend) for target in passed}
                if len(changes) == 1 and (change := changes.pop()):
                    yield f"with {change} ({other.name}){_where(passed, failed)}{self._with(release)}"

    def _with(self, release: str) -> str:
        several = len({release for by_release in self._reached.values() for release in by_release}) > 1
        return f" with Triton {release}" if several else ""


def by_row(cells: Iterable[ReportCell]) -> Rows:
    """row → release → targets, each in the order of the report."""
    rows: Rows = {}
    for reported in cells:
        cell = reported.cell
        rows.setdefault(cell.row.name, {}).setdefault(cell.release, []).append(cell.target)
    return rows


def _place(cell: Cell) -> tuple[str, Target, str]:
    return cell.row.name, cell.target, cell.release


def _blameless(targets: Sequence[Target]) -> bool:
    return len({target.backend for target in targets}) > 1


def _only_difference(row: Row, other: Row, backend: str) -> str | None:
    """`num_stages = 2`, if that is all in which `other` is different; None if it is more, less, or not a value."""
    found = [
        (name, theirs.get(name))
        for mine, theirs in (
            (row.constants, other.constants),
            (row.options_for(backend), other.options_for(backend)),
            (row.signature, other.signature),
        )
        for name in {**mine, **theirs}
        if mine.get(name) != theirs.get(name)
    ]
    return f"{found[0][0]} = {_written(found[0][1])}" if len(found) == 1 else None


def _written(value: Any) -> str:
    if value is None:
        return "its default"
    if isinstance(value, dict) and len(value) == 1:
        return str(next(iter(value.values())))
    return str(getattr(value, "type", value))


def _where(passed: Sequence[Target], failed: Sequence[Target]) -> str:
    return "" if len(passed) == len(failed) else f" for {_some(passed)}"


def _some(things: Sequence[Target | str]) -> str:
    if len(things) <= _MOST:
        return ", ".join(map(str, things))
    return f"{', '.join(map(str, things[:_MOST]))} and {len(things) - _MOST} more"
