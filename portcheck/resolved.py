"""What is known of the units of one run: looked up in records, or imported where it has to be, once for each target."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from portcheck import fit
from portcheck.cells import Cell
from portcheck.compiler.job import Unit
from portcheck.compiler.service import Service
from portcheck.compiler.tree import Imported
from portcheck.errors import UsageError
from portcheck.manifest.model import Row
from portcheck.resolution import Resolution, Resolver
from portcheck.target import Target
from portcheck.units import references


class Resolved:
    """The resolutions of one toolchain's units. Thread-safe."""

    def __init__(self, units: Mapping[str, Unit], resolver: Resolver, service: Callable[[], Service]) -> None:
        """`units`: row name → what to import for it; `service` starts the compile service when it is first called."""
        self._units, self._resolver, self._service = units, resolver, service
        self._found: dict[tuple[Unit, Target], Resolution] = {}
        self._locks: defaultdict[Unit, threading.Lock] = defaultdict(threading.Lock)
        self._lock = threading.Lock()

    def unit(self, cell: Cell) -> Unit:
        """What has to be imported for a cell."""
        return self._units[cell.row.name]

    def known(self, cell: Cell) -> Resolution | None:
        """What was found in this run, if anything."""
        with self._lock:
            return self._found.get((self.unit(cell), cell.target))

    def look_up(self, cell: Cell) -> Resolution | None:
        """What records say of a cell's unit, with no import and no child process.

        Raises:
            UsageError: the row does not fit its kernel.
        """
        return self._checked(cell, self._find(cell, importing=False))

    def resolve(self, cell: Cell) -> Resolution:
        """The resolution of a cell's unit; imports it if need be, and then says why it cannot be imported.

        Raises:
            UsageError: the row does not fit its kernel, or names a module that does not exist.
        """
        found = self._checked(cell, self._find(cell, importing=True))
        assert found is not None  # importing always gives one
        return found

    def _find(self, cell: Cell, *, importing: bool) -> Resolution | None:
        unit = self.unit(cell)
        with self._lock:
            lock = self._locks[unit]
        with lock:
            found = self._found.get((unit, cell.target)) or self._resolver.look_up(unit, cell.target)
            if found is None and importing:
                found = self._resolver.record(unit, cell.target, self._import(unit, cell.target))
            if found:
                self._found[unit, cell.target] = found
        return found

    def _checked(self, cell: Cell, found: Resolution | None) -> Resolution | None:
        if found:
            _check(cell, found)
        return found

    def _import(self, unit: Unit, target: Target) -> Imported:
        """Import a unit; if it sets variables that Triton reads early, anew where they are set from the start."""
        imported = self._service().load(unit, target)
        early = {name: value for name, value in imported.set_early.items() if value is not None}
        if imported.failed or not early:
            return imported
        again = self._service().load(replace(unit, env=tuple(sorted({**dict(unit.env), **early}.items()))), target)
        return replace(again, env=early, asked=(*imported.asked, *again.asked))


def _check(cell: Cell, resolution: Resolution) -> None:
    row, failed = cell.row, resolution.failed
    if failed is None:
        if mistakes := fit.mistakes(cell, resolution.kernels[row.ref.function]):
            raise UsageError("\n".join(mistakes))
    elif failed.error and (absent := next(_absent(row, failed.error["text"]), None)):
        raise UsageError(f"{row.where}: constants: {absent}: correct the name, or where it is")
    elif failed.error and (missing := failed.error["missing_module"]) and f"{row.ref.unit}.".startswith(f"{missing}."):
        raise UsageError(f'{row.where}: target: no module "{missing}": install it, or put it beside the manifest')


def _absent(row: Row, said: str) -> Iterator[str]:
    """Which of the row's `jit` constants is not there, if that is what an import `said`."""
    for reference in references(row):
        unit, _, function = reference.rpartition(":")
        if said.startswith(f"{unit} has no {function}, which a jit constant names"):
            yield said
