"""Which user code has to be imported for which rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from portcheck.compiler.job import Unit
from portcheck.manifest.model import Row

_Where = tuple[str, bool, tuple[tuple[str, str], ...], str | None]


def units_of(rows: Iterable[Row]) -> dict[str, Unit]:
    """Row name → its unit. Rows with one module, environment and setup share it, so it is imported once."""
    shared: defaultdict[_Where, list[Row]] = defaultdict(list)
    for row in rows:
        shared[_where(row)].append(row)
    units = {where: _unit(where, group) for where, group in shared.items()}
    return {row.name: units[where] for where, group in shared.items() for row in group}


def _where(row: Row) -> _Where:
    env = tuple(sorted(row.settings.env.items()))
    return (row.ref.unit, row.ref.file is not None, env, row.settings.setup)


def _unit(where: _Where, rows: Iterable[Row]) -> Unit:
    name, is_file, env, setup = where
    rows = list(rows)
    return Unit(
        name=name,
        is_file=is_file,
        functions=tuple(sorted({row.ref.function for row in rows})),
        references=tuple(sorted({reference for row in rows for reference in references(row)})),
        env=env,
        setup=setup,
        timeout=max(row.settings.timeout for row in rows),
    )


def references(row: Row) -> Iterator[str]:
    """The `jit` constants of a row, however deep they lie."""
    yield from _tagged({"constants": dict(row.constants), "options": dict(row.options)})
    yield from _tagged({name: dict(options) for name, options in row.backend_options.items()})


def _tagged(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        if set(value) == {"jit"}:
            yield value["jit"]
            return
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _tagged(item)
