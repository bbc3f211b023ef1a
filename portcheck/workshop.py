"""The workshop of a run: toolchains, judges and compile services, made from a manifest and its cells."""

from __future__ import annotations

import os
import sys
import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from portcheck import environment
from portcheck.cache import Store
from portcheck.cells import Cell
from portcheck.compiler.job import Unit
from portcheck.compiler.service import Service
from portcheck.compiler.tree import ONE_THREAD
from portcheck.digests import Digests
from portcheck.errors import EnvironmentProblem
from portcheck.inputlists import InputLists
from portcheck.installed import Installed, site_folders
from portcheck.judge import Judge
from portcheck.lock import Locked, check_lock, missing
from portcheck.manifest.model import Manifest
from portcheck.observer import Observer
from portcheck.toolchain.find import find
from portcheck.toolchain.model import Toolchain
from portcheck.units import units_of


class Workshop:
    """Everything that judging the cells of one run needs."""

    def __init__(self, manifest: Manifest, cells: Sequence[Cell], store: Store, isolation: str, locked: Locked) -> None:
        """`isolation`: fork or spawn; `locked`: what the manifest's lock says of this platform.

        Raises:
            EnvironmentProblem: a toolchain that is not there or cannot be read, or a lock that says something else.
        """
        self._manifest, self._isolation = manifest, isolation
        self._backends = sorted({cell.target.backend for cell in cells})
        self.toolchains = tuple(find(release, store, locked) for release in dict.fromkeys(c.release for c in cells))
        units, base = _units(manifest, cells), {**os.environ, **ONE_THREAD}
        self._digests, lists = Digests(store, manifest.folder), InputLists(store)
        installed = Installed(site_folders(), self._digests, store, locked.known)
        there = {one.release: one.digest for one in self.toolchains if one.package}
        check_lock(locked, there, installed.distribution)
        self._missing = missing(locked, installed.distribution)
        stands_in = locked.installed if self._missing or len(there) < len(self.toolchains) else None
        self._services: dict[str, Service] = {}
        self._lock = threading.RLock()
        self._judges = {
            toolchain.release: Judge(
                toolchain,
                units,
                store,
                Observer(manifest.folder, toolchain.package, lists, installed),
                base,
                manifest.cache.salt,
                stands_in or environment.distributions(),
                lambda toolchain=toolchain: self._service(toolchain),  # type: ignore[misc]
            )
            for toolchain in self.toolchains
        }

    def judge(self, cell: Cell) -> Judge:
        """The judge of a cell's release."""
        return self._judges[cell.release]

    def stop(self) -> None:
        """Kill every process at once; safe in a signal handler."""
        for service in list(self._services.values()):
            service.stop()

    def close(self) -> None:
        """End all processes and wait for them."""
        with self._lock:
            for service in self._services.values():
                service.close()
            self._services.clear()
        self._digests.save()

    def _service(self, toolchain: Toolchain) -> Service:
        needed = [*([] if toolchain.package else [f"triton=={toolchain.release}"]), *self._missing]
        if needed:
            raise EnvironmentProblem(
                f"not everything is recorded, and to compile the rest {', '.join(needed)} must be installed: "
                f"{sys.executable} -m pip install {' '.join(needed)}"
            )
        with self._lock:
            if toolchain.release not in self._services:
                self._services[toolchain.release] = Service(
                    toolchain, self._manifest.folder, self._isolation, self._backends
                )
            return self._services[toolchain.release]


def _units(manifest: Manifest, cells: Sequence[Cell]) -> dict[str, Unit]:
    """Row name → what to import for it; that may take as long as any of the unit's cells in this run may."""
    units = units_of(manifest.rows)
    limits: defaultdict[Unit, list[float]] = defaultdict(list)
    for cell in cells:
        limits[units[cell.row.name]].append(cell.row.settings.timeout)
    limited = {unit: replace(unit, timeout=max(limits[unit])) for unit in limits}
    return {name: limited.get(unit, unit) for name, unit in units.items()}
