"""The keys of cells: what decides a cell's front end and back end, gathered from its row and its resolution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from portcheck import fit
from portcheck.cells import Cell
from portcheck.chain import Observe
from portcheck.compiler import devices
from portcheck.filing import CellKeys
from portcheck.keys import Key, canonical, digest
from portcheck.reasons import flatten
from portcheck.resolution import Resolution
from portcheck.units import references


def open_reasons(cell: Cell, resolution: Resolution) -> tuple[str, ...]:
    """What makes the cell's kernel open: keyed on everything that importing its module read."""
    described = [resolution.kernels[cell.row.ref.function]]
    described += [resolution.references[reference] for reference in references(cell.row)]
    patched = [f"{name} was replaced" for name in resolution.patched]
    return (*patched, *(reason for one in described for reason in one.get("open", ["it could not be walked"])))


def made_of(cell: Cell, resolution: Resolution) -> dict[str, Any]:
    """What decides the kernel: what it and its `jit` constants reach; for an open one everything there is."""
    found: dict[str, Any] = {
        "kernel": resolution.kernels[cell.row.ref.function].get("parts"),
        "references": {ref: resolution.references[ref].get("parts") for ref in references(cell.row)},
    }
    if open_reasons(cell, resolution):
        found["everything"] = [resolution.wide, devices.properties(cell.target)]
    return found


class KeyMaker:
    """Makes the keys of cells for one toolchain."""

    def __init__(self, toolchain: str, make: Callable[..., Key], observe: Callable[[Resolution], Observe]) -> None:
        """`toolchain` is its digest, `make` makes a key of a kind, `observe` observes the inputs of a unit."""
        self._toolchain, self._make, self._observe = toolchain, make, observe
        self._hashes: dict[tuple[Any, ...], tuple[Resolution, str]] = {}
        self._settings: dict[int, tuple[Resolution, str]] = {}

    def of(self, cell: Cell, resolution: Resolution) -> CellKeys:
        """The keys of a cell."""
        return CellKeys(
            make=self._make,
            front_parts={
                "kernel": self._kernel_hash(cell, resolution),
                "specialisation": fit.specialisation(cell, resolution.kernels[cell.row.ref.function]),
                "target": str(cell.target),
                "triton": self._settings_digest(resolution),
            },
            # A changed compiler is not in the IR that it is given.
            back_parts={"target": str(cell.target), "patched": resolution.wide if resolution.patched else None},
            observe=self._observe(resolution),
        )

    def parts(self, cell: Cell, resolution: Resolution) -> dict[str, str]:
        """What the front key covers, in words."""
        spec = fit.specialisation(cell, resolution.kernels[cell.row.ref.function])
        return flatten(self._toolchain, made_of(cell, resolution), spec, resolution.settings)

    def _kernel_hash(self, cell: Cell, resolution: Resolution) -> str:
        """Memorised: the rows of a kernel share it. The resolution is kept, since an id is only good while it lives."""
        names = (cell.row.ref.function, *references(cell.row))
        by = (id(resolution), names, cell.target if open_reasons(cell, resolution) else None)
        if by not in self._hashes:
            self._hashes[by] = (resolution, digest(canonical(made_of(cell, resolution))))
        return self._hashes[by][1]

    def _settings_digest(self, resolution: Resolution) -> str:
        if id(resolution) not in self._settings:
            self._settings[id(resolution)] = (resolution, digest(canonical(dict(resolution.settings))))
        return self._settings[id(resolution)][1]
