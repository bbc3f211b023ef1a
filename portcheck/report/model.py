"""A report: every cell with its status, and the failures grouped by cause. What all formats write from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from portcheck.baseline import Entry
from portcheck.cells import Cell
from portcheck.diagnose.fingerprint import fingerprint
from portcheck.diagnose.signatures import Advice, advise
from portcheck.manifest.model import Expectation
from portcheck.report.neighbours import Neighbours
from portcheck.target import Target
from portcheck.toolchain.model import Toolchain
from portcheck.verdicts import Artifact, Failure, Result

ORIGINS = ("compiled", "cached", "cutoff", "remote", "predicted", "skipped")
SKIPPED = "skipped"
PREDICTED = "predicted"
MISSING = "missing"  # no record answers for the cell, and it was not to be compiled; counted as skipped
UNTOLD = "untold"  # nothing was to be compiled, and no prediction says that the cell fails; counted as skipped
NO_VERDICT = frozenset({SKIPPED, MISSING, UNTOLD})

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ReportCell:
    """One cell as reported."""

    cell: Cell
    result: Result
    status: str | None  # ok, new, known, xfail, xpass; None: skipped, it has no verdict
    fingerprint: str | None  # None unless it failed
    letter: str | None  # of its failure group
    expectation: Expectation | None
    entry: Entry | None = None  # of the baseline, whether the cell fails as it says or not

    @property
    def failure(self) -> Failure | None:
        """What is wrong with the cell; None if it is ok or was skipped."""
        return self.result.outcome.failure if self.status else None

    @property
    def warning(self) -> Failure | None:
        """What will fail on the device although the cell is ok."""
        return self.result.warning if self.status else None


@dataclass(frozen=True, slots=True)
class Group:
    """The cells that failed for one cause, and the first one's failure."""

    letter: str
    fingerprint: str
    failure: Failure
    cells: tuple[ReportCell, ...]
    advice: Advice | None = None  # what is known about such failures
    notes: tuple[str, ...] = ()  # sentences about these cells: who is not to blame, what compiles beside them
    everywhere: frozenset[tuple[str, str]] = frozenset()  # row and release of cells that one of the notes stands for


def _not_kept(back_key: str | None, artifact: Artifact) -> bytes | None:
    return None


@dataclass(frozen=True, slots=True)
class Report:
    """One run. Cells are in row-major order: row, release, target."""

    toolchains: tuple[Toolchain, ...]
    targets: tuple[Target, ...]
    cells: tuple[ReportCell, ...]
    groups: tuple[Group, ...]
    summary: Mapping[str, int]  # cells, ok, failed; new, known, xfail, xpass; one count an origin
    seconds: float  # wall clock of the run
    stale: tuple[str, ...] = ()  # cells in the baseline that the manifest no longer has
    manifest: str = "portcheck.toml"  # its path in the repository; positions are relative to its folder
    excuse: str = ""  # why there are no cells; without it a report that has none is not green
    predicted: tuple[ReportCell, ...] = ()  # those that were certain to fail before anything was compiled
    # What a stage made, by the cell's back key; None: it is no longer kept.
    output: Callable[[str | None, Artifact], bytes | None] = field(default=_not_kept, compare=False, repr=False)

    @property
    def fixed(self) -> tuple[ReportCell, ...]:
        """Cells in the baseline that no longer fail."""
        return tuple(reported for reported in self.cells if reported.entry and reported.status in ("ok", "xpass"))

    @property
    def covered(self) -> tuple[ReportCell, ...]:
        """Cells in the baseline whose failure `xfail` expects, which says why: the baseline need not."""
        return tuple(reported for reported in self.cells if reported.entry and reported.status == "xfail")

    @property
    def missing(self) -> tuple[ReportCell, ...]:
        """Cells that no record answers for."""
        return tuple(reported for reported in self.cells if reported.result.origin == MISSING)

    @property
    def untold(self) -> tuple[ReportCell, ...]:
        """Cells of which nothing is known, since nothing was to be compiled."""
        return tuple(reported for reported in self.cells if reported.result.origin == UNTOLD)

    @property
    def came_true(self) -> tuple[ReportCell, ...]:
        """Predicted cells that did fail when they were compiled."""
        tried = (reported for reported in self.predicted if reported.result.origin != PREDICTED)
        return tuple(reported for reported in tried if reported.failure)


def build(
    judged: Sequence[tuple[Cell, Result]],
    toolchains: Sequence[Toolchain],
    seconds: float,
    expectation: Callable[[Cell], Expectation | None],
    known: Callable[[Cell], Entry | None] = lambda cell: None,
    stale: Sequence[str] = (),
    manifest: str = "portcheck.toml",
    excuse: str = "",
    predicted: Collection[str] = (),
) -> Report:
    """Assemble a report.

    Rows and targets are shown in the order in which `judged` first names them, releases in that of `toolchains`; the
    order in which cells of one row come does not matter. `expectation` gives the `xfail` entry that covers a cell,
    `known` that of the baseline, `stale` names the cells of the baseline that the manifest no longer has, `manifest` is
    its path in the repository, and `excuse` says why there are no cells, where that is fine. `predicted` names
    the cells that were certain to fail.
    """
    rows = _ranks(cell.row.name for cell, _ in judged)
    releases = _ranks(toolchain.release for toolchain in toolchains)
    targets = _target_ranks([cell for cell, _ in judged])
    ordered = sorted(
        judged,
        key=lambda pair: (
            rows[pair[0].row.name],
            releases.get(pair[0].release, len(releases)),
            targets[pair[0].target],
        ),
    )
    letters: dict[str, str] = {}
    cells = tuple(_reported(cell, result, expectation(cell), known(cell), letters) for cell, result in ordered)
    return Report(
        toolchains=tuple(toolchains),
        targets=tuple(targets),
        cells=cells,
        groups=tuple(_groups(letters, cells)),
        summary=_summary(cells),
        seconds=seconds,
        stale=tuple(stale),
        manifest=manifest,
        excuse=excuse,
        predicted=tuple(reported for reported in cells if reported.cell.name in predicted),
    )


def status_of(failure: Failure | None, expected: Expectation | None, entry: Entry | None) -> str:
    """`ok`, `new`, `known`, `xfail` or `xpass`. What the manifest expects wins over a baseline."""
    if failure is None:
        return "ok" if expected is None else "xpass"
    if expected is not None:
        return "xfail"
    return "known" if entry and entry.is_of(failure) else "new"


def exit_status(report: Report, xfail_strict: Callable[[Cell], bool]) -> int:
    """0: nothing new; 1: new failures, an unexpected pass where `xfail_strict`, or cells that were not to be compiled.

    3: a tool is missing, which wins.
    """
    new = {reported.result.outcome.verdict for reported in report.cells if reported.status == "new"}
    if "toolchain-error" in new:
        return 3
    passed = any(reported.status == "xpass" and xfail_strict(reported.cell) for reported in report.cells)
    return 1 if new or passed or report.untold else 0


def _reported(
    cell: Cell, result: Result, expected: Expectation | None, entry: Entry | None, letters: dict[str, str]
) -> ReportCell:
    if result.origin in NO_VERDICT:
        return ReportCell(cell, result, None, None, None, expected, entry)
    failure = result.outcome.failure
    status = status_of(failure, expected, entry)
    if failure is None:
        return ReportCell(cell, result, status, None, None, expected, entry)
    print_ = fingerprint(failure)
    letter = letters.setdefault(print_, _letter(len(letters)))
    return ReportCell(cell, result, status, print_, letter, expected, entry)


def _groups(letters: Mapping[str, str], cells: Sequence[ReportCell]) -> Iterator[Group]:
    neighbours = Neighbours(cells)
    compares = not any(reported.result.origin == UNTOLD for reported in cells)  # else nothing can pass beside a failure
    members: dict[str, list[ReportCell]] = {print_: [] for print_ in letters}
    for reported in cells:
        if reported.fingerprint:
            members[reported.fingerprint].append(reported)
    for print_, letter in letters.items():
        of = tuple(members[print_])
        failure = of[0].failure
        assert failure is not None  # it has a fingerprint
        group = Group(letter, print_, failure, of, advise(failure))
        yield replace(group, notes=neighbours.notes(of), everywhere=neighbours.everywhere(of)) if compares else group


def _summary(cells: Sequence[ReportCell]) -> dict[str, int]:
    statuses = Counter(reported.status for reported in cells)
    origins = Counter(SKIPPED if reported.status is None else reported.result.origin for reported in cells)
    failed = sum(reported.failure is not None for reported in cells)
    return {
        "cells": len(cells),
        "ok": len(cells) - failed - origins[SKIPPED],
        "failed": failed,
        **{status: statuses[status] for status in ("new", "known", "xfail", "xpass")},
        **{origin: origins[origin] for origin in ORIGINS},
    }


def _target_ranks(cells: Sequence[Cell]) -> dict[Target, int]:
    """Order of the columns: as the row with the most targets has them, so that a row with few does not reorder them."""
    by_row: dict[str, dict[Target, None]] = {}
    for cell in cells:
        by_row.setdefault(cell.row.name, {})[cell.target] = None
    widest_first = sorted(by_row.values(), key=len, reverse=True)
    return _ranks(target for row in widest_first for target in row)


def _ranks(names: Iterable[T]) -> dict[T, int]:
    return {name: rank for rank, name in enumerate(dict.fromkeys(names))}


def _letter(index: int) -> str:
    """A … Z, AA, AB …"""
    letter = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letter = chr(ord("A") + rest) + letter
    return letter
