"""Which two sides a command line means: two releases or targets of one report, or two reports."""

from __future__ import annotations

from collections.abc import Sequence

from portcheck.diff.model import Diff, compare
from portcheck.diff.snapshot import Snapshot
from portcheck.errors import UsageError
from portcheck.patterns import matches, suggestion

_NOUNS = {"triton": "release", "target": "target"}


def within(report: Snapshot, axis: str, old: str, new: str, slower: float) -> Diff:
    """Two releases (`axis` triton) or two targets (`axis` target) of one report, compared.

    Raises:
        UsageError: the report has no such side, or both are the same.
    """
    if old == new:
        raise UsageError(f"{old} and {new} are the same {_NOUNS[axis]}: name two that differ")
    sides = [_side(report, axis, value) for value in (old, new)]
    return compare(*sides, axis=axis, slower=slower)


def kept(snapshot: Snapshot, kernels: Sequence[str], targets: Sequence[str]) -> Snapshot:
    """The cells whose row and target match any of the patterns given for them."""
    cells = (
        cell
        for cell in snapshot.cells
        if (not kernels or any(matches(pattern, cell.row) for pattern in kernels))
        and (not targets or any(matches(pattern, cell.target) for pattern in targets))
    )
    return Snapshot(snapshot.label, tuple(cells))


def _side(report: Snapshot, axis: str, value: str) -> Snapshot:
    cells = tuple(cell for cell in report.cells if getattr(cell, axis) == value)
    if not cells:
        known = list(dict.fromkeys(getattr(cell, axis) for cell in report.cells))
        has = ", ".join(known) or "no cells"
        raise UsageError(f"{report.label}: no {_NOUNS[axis]} {value}{suggestion(value, known)}: it has {has}")
    return Snapshot(value, cells)
