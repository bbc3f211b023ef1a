"""What compiles right beside a failure: another target, another release, a row that differs in one thing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from portcheck.cells import Cell
from portcheck.diagnose import limits
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
        self._passed = {_place(reported.cell) for reported in reached if reported.failure is None}
        self._rows = {reported.cell.row.name: reported.cell.row for reported in reached}
        self._variants = {backend: Variants(self._rows.values(), backend) for backend in _backends(self._reached)}

    def notes(self, cells: Sequence[ReportCell]) -> tuple[str, ...]:
        """What there is to say about the cells of one failure group, a sentence each."""
        return tuple(dict.fromkeys([*self._alike(cells), *self._beside(cells)]))

    def everywhere(self, cells: Sequence[ReportCell]) -> frozenset[tuple[str, str]]:
        """Row and release of those of the cells that fail alike for NVIDIA and AMD, wherever the row goes."""
        if _is_device_limit(cells):
            return frozenset()
        return frozenset(
            (row, release)
            for row, by_release in by_row(cells).items()
            for release, targets in by_release.items()
            if targets == self._reached[row][release] and _blameless(targets)
        )

    def _alike(self, cells: Sequence[ReportCell]) -> Iterator[str]:
        """Rows that fail alike on all their targets.

        Where these are of one backend, the target may be to blame: a type may be missing on all that were asked for.
        """
        if _is_device_limit(cells):
            return  # what a device grants is the target's
        found: dict[tuple[int, str, bool], list[str]] = {}
        for row, by_release in by_row(cells).items():
            alike: dict[tuple[Target, ...], list[str]] = {}
            for release, targets in by_release.items():
                if len(targets) > 1 and targets == self._reached[row][release]:
                    alike.setdefault(tuple(targets), []).append(release)
            for every, releases in alike.items():
                found.setdefault((len(every), self._with(row, releases), _blameless(every)), []).append(row)
        for (count, releases_, clear), rows in found.items():
            verb, whose = ("fails", "its") if len(rows) == 1 else ("fail", "their")
            verdict = ": the target is not to blame" if clear else ""
            yield f"{', '.join(rows)} {verb} alike on all {whose} {count} targets{releases_}{verdict}"

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
        alike: dict[str, list[str]] = {}
        for release, failed in by_release.items():
            passed = [target for target in self._reached[row][release] if (row, target, release) in self._passed]
            near = [target for target in passed if target.backend in {failing.backend for failing in failed}]
            if passed:
                alike.setdefault(_some(near or passed), []).append(release)
        yield from (f"for {targets}{self._with(row, releases)}" for targets, releases in alike.items())

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
                        said = f"{change}{_where(passed, failed)}{self._with(name, [release])}"
                        best[variant.name] = len(passed), said
        yield from (said for _, said in best.values())

    def _with(self, row: str, releases: Sequence[str]) -> str:
        """The releases that something is true of, unless it is of all."""
        return "" if len(releases) == len(self._reached[row]) else f" with Triton {', '.join(releases)}"


def by_row(cells: Iterable[ReportCell]) -> Rows:
    """row → release → targets, each in the order of the report."""
    rows: Rows = {}
    for reported in cells:
        cell = reported.cell
        rows.setdefault(cell.row.name, {}).setdefault(cell.release, []).append(cell.target)
    return rows


def _place(cell: Cell) -> tuple[str, Target, str]:
    return cell.row.name, cell.target, cell.release


def _is_device_limit(cells: Sequence[ReportCell]) -> bool:
    return any(one.failure and one.failure.verdict == limits.VERDICT for one in cells)


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
