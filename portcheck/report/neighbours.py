"""What compiles right beside a failure: another target, another release, a row that differs in one thing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from portcheck.cells import Cell
from portcheck.report.variants import Variants
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
        self._several = len({reported.cell.release for reported in reached}) > 1
        self._passed = {_place(reported.cell) for reported in reached if reported.failure is None}
        self._rows = {reported.cell.row.name: reported.cell.row for reported in reached}
        self._variants = {backend: Variants(self._rows.values(), backend) for backend in _backends(self._reached)}

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
                *self._other_rows(row, by_release),
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

    def _other_rows(self, name: str, by_release: Mapping[str, list[Target]]) -> Iterator[str]:
        """A row of the same kernel for each constant, option or type in which alone it differs and compiles."""
        best: dict[str, tuple[int, str]] = {}  # what differs → on how many of the targets that row compiles, in words
        for backend in _backends({name: by_release}):
            for variant in self._variants[backend].beside(self._rows[name]):
                for release, failed in by_release.items():
                    near = (target for target in failed if target.backend == backend)
                    passed = [target for target in near if (variant.row.name, target, release) in self._passed]
                    if len(passed) > best.get(variant.name, (0, ""))[0]:
                        change = f"with {variant.name} = {variant.value} ({variant.row.name})"
                        said = f"{change}{_where(passed, failed)}{self._with(release)}"
                        best[variant.name] = len(passed), said
        yield from (said for _, said in best.values())

    def _with(self, release: str) -> str:
        return f" with Triton {release}" if self._several else ""


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


def _backends(rows: Mapping[str, Mapping[str, list[Target]]]) -> dict[str, None]:
    every = (target for by_release in rows.values() for targets in by_release.values() for target in targets)
    return dict.fromkeys(target.backend for target in every)


def _where(passed: Sequence[Target], failed: Sequence[Target]) -> str:
    return "" if len(passed) == len(failed) else f" for {_some(passed)}"


def _some(things: Sequence[Target | str]) -> str:
    if len(things) <= _MOST:
        return ", ".join(map(str, things))
    return f"{', '.join(map(str, things[:_MOST]))} and {len(things) - _MOST} more"
