"""Rows of one kernel that differ in one thing: a constant, an option or an argument's type."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from portcheck.manifest.model import Row


@dataclass(frozen=True, slots=True)
class Variant:
    """A row that differs from another one in one thing."""

    row: Row
    name: str  # of what differs
    value: str  # its value in `row`, in words


class Variants:
    """The rows of a report as one backend gets them, found by all but one of their values."""

    def __init__(self, rows: Iterable[Row], backend: str) -> None:
        self._rows = list(rows)
        self._said = {row.name: _said(row, backend) for row in self._rows}  # row → name → value, as it is
        # and with values that can be compared and hashed
        self._items = {row: {(n, repr(v)) for n, v in values.items()} for row, values in self._said.items()}
        self._names: dict[str, dict[str, None]] = defaultdict(dict)  # kernel → everything that some row of it says
        for row in self._rows:
            self._names[str(row.ref)].update(dict.fromkeys(self._said[row.name]))
        self._alike: dict[Any, list[Row]] = defaultdict(list)
        for row in self._rows:
            for name in self._names[str(row.ref)]:
                self._alike[self._rest(row, name)].append(row)

    def beside(self, row: Row) -> Iterator[Variant]:
        """The rows that differ from `row` in one thing; by what differs, constants first."""
        for name in self._names[str(row.ref)]:
            mine = repr(self._said[row.name].get(name))
            for other in self._alike[self._rest(row, name)]:
                theirs = self._said[other.name].get(name)
                if repr(theirs) != mine:
                    yield Variant(other, name, _written(theirs))

    def _rest(self, row: Row, name: str) -> tuple[str, str, frozenset[tuple[str, str]]]:
        return str(row.ref), name, frozenset(item for item in self._items[row.name] if item[0] != name)


def _said(row: Row, backend: str) -> dict[str, Any]:
    return {**row.constants, **row.options_for(backend), **row.signature}


def _written(value: Any) -> str:
    if value is None:
        return "its default"
    if isinstance(value, dict) and len(value) == 1:
        return str(next(iter(value.values())))
    return str(getattr(value, "type", value))
