"""The suite: a manifest and what the user selects of it become the cells of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from portcheck.cells import Cell
from portcheck.errors import UsageError
from portcheck.manifest.model import Expectation, Manifest, Row
from portcheck.manifest.releases import is_path, parse_release, release_matches
from portcheck.patterns import is_wild, matches, suggestion
from portcheck.target import Target, check_pattern, parse_target


@dataclass(frozen=True, slots=True)
class Selection:
    """What a user asks for on the command line or in a dodo.py; what is empty or None leaves it to the manifest."""

    targets: tuple[str, ...] = ()  # targets replace the manifest's lists, wildcards filter them
    triton: tuple[str, ...] = ()  # releases, as a manifest writes them; they replace the manifest's lists
    kernels: tuple[str, ...] = ()  # patterns on row names
    timeout: float | None = None  # seconds a cell
    max_rss: int | None = None  # bytes a cell


def select(manifest: Manifest, selection: Selection, releases: Callable[[str], str]) -> tuple[Cell, ...]:
    """The cells of a run: by row, then target in the order of the selection or the defaults, then release.

    `releases` says which release `current`, `3.9.0` or an absolute path is; names for one release give one cell.

    Raises:
        UsageError: a name or pattern is malformed or matches nothing, a row has no targets, or nothing is selected.
    """
    asked = tuple(_absolute(Path.cwd(), parse_release(name)) for name in selection.triton)
    rows = _rows(manifest, selection)
    columns = _columns(manifest, selection.targets)
    # Asking what `current` is may start an interpreter: once for each name.
    release_of = cache(releases)
    named = {row.name: asked or tuple(_absolute(manifest.folder, n) for n in row.settings.triton) for row in rows}
    for name in sorted(dict.fromkeys(name for names in named.values() for name in names), key=is_path):
        release_of(name)  # paths last: what is called by its version keeps it, and a path with the same gets a suffix
    cells = tuple(
        Cell(row, target, release)
        for row in rows
        for target in _targets(row, columns, selection.targets)
        for release in dict.fromkeys(map(release_of, named[row.name]))
    )
    if not cells:
        raise UsageError(f"nothing is selected: {_why_empty(rows, columns)}")
    return cells


def expectation(cell: Cell) -> Expectation | None:
    """The `xfail` entry that expects `cell` to fail, if there is one; the first that matches counts."""
    for expected in cell.row.xfail:
        in_release = expected.triton is None or release_matches(expected.triton, cell.release)
        if in_release and cell.target.matches(expected.target):
            return expected
    return None


def _absolute(folder: Path, release: str) -> str:
    return str(Path(folder, Path(release).expanduser()).absolute()) if is_path(release) else release


def _rows(manifest: Manifest, selection: Selection) -> list[Row]:
    for pattern in selection.kernels:
        if not any(matches(pattern, row.name) for row in manifest.rows):
            near = suggestion(pattern, [row.name for row in manifest.rows])
            raise UsageError(
                f'no row of {manifest.path.name} matches "{pattern}"{near}: a pattern covers the whole name'
            )
    limits: dict[str, Any] = {"timeout": selection.timeout, "max_rss": selection.max_rss}
    limits = {name: limit for name, limit in limits.items() if limit is not None}
    return [
        replace(row, settings=replace(row.settings, **limits))
        for row in manifest.rows
        if not selection.kernels or any(matches(pattern, row.name) for pattern in selection.kernels)
    ]


def _columns(manifest: Manifest, patterns: Sequence[str]) -> list[Target]:
    """Every target that a row may be compiled for, in the order in which reports show them."""
    own = [target for row in manifest.rows for target in row.settings.targets]
    listed = list(dict.fromkeys([*manifest.defaults.targets, *own]))
    if not patterns:
        return listed
    columns: list[Target] = []
    for pattern in patterns:
        if not is_wild(pattern):
            columns.append(parse_target(pattern))
            continue
        found = [target for target in listed if target.matches(check_pattern(pattern))]
        if not found:
            near = suggestion(pattern, map(str, listed))
            raise UsageError(
                f'no target of {manifest.path.name} matches "{pattern}"{near}: name the targets themselves'
            )
        columns += found
    return list(dict.fromkeys(columns))


def _targets(row: Row, columns: Sequence[Target], patterns: Sequence[str]) -> list[Target]:
    named = {parse_target(pattern) for pattern in patterns if not is_wild(pattern)}
    if not row.settings.targets and not named:
        raise UsageError(f"{row.where}: no targets: give them here, in [defaults] or with -t")
    return [target for target in columns if (target in named or target in row.targets) and not row.skips(target)]


def _why_empty(rows: Sequence[Row], columns: Sequence[Target]) -> str:
    if not rows:
        return "the manifest has no [[kernel]]"
    return f"no selected row keeps {' or '.join(map(str, columns))}: its own targets or its skip leave them out"
