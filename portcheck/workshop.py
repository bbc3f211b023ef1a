"""The workshop of a run: toolchains, judges and compile services, made from a manifest and its cells."""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
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
from portcheck.installed import Installed, StandIns
from portcheck.judge import Judge
from portcheck.lock import NOTHING, Locked, check_lock, missing
from portcheck.manifest.model import Manifest
from portcheck.observer import Observer
from portcheck.toolchain import imports
from portcheck.toolchain.find import find
from portcheck.toolchain.model import Toolchain
from portcheck.units import units_of


class Workshop:
    """Everything that judging the cells of one run needs."""

    def __init__(
        self,
        manifest: Manifest,
        cells: Sequence[Cell],
        store: Store,
        isolation: str,
        locked: Locked = NOTHING,
        *,
        inherit_site: bool = True,
        create: bool = True,
        jobs: int = 1,
        compiles: bool = True,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Find the toolchains.

        Args:
            manifest: where the kernels are.
            cells: those of the run.
            store: where records are.
            isolation: fork or spawn.
            locked: what the manifest's lock says of this platform.
            inherit_site: in an environment, import what it lacks from the invoking interpreter's site-packages.
            create: create environments that are missing.
            jobs: compiles at a time with each toolchain.
            compiles: will anything be compiled?
            say: gets a line when one is created.

        Raises:
            EnvironmentProblem: a toolchain that is not there or cannot be read, or a lock that says something else.
        """
        self._manifest, self._isolation, self._jobs = manifest, isolation, jobs
        self._primed = sorted({cell.target.backend for cell in cells}) if compiles else []
        self.toolchains = tuple(
            find(release, store, say, locked=locked, create=create)
            for release in dict.fromkeys(c.release for c in cells)
        )
        self._imports = {t.release: imports.of(t, manifest.folder, inherit_site) for t in self.toolchains}
        units, base = _units(manifest, cells), {**os.environ, **ONE_THREAD}
        self._digests, lists = Digests(store, manifest.folder), InputLists(store)
        here = Installed(imports.of_this().site, self._digests, store)
        check_lock(locked, {t.release: t.digest for t in self.toolchains if t.package}, here.distribution)
        known = locked.known if inherit_site else StandIns()
        installed = {
            t.release: Installed(self._imports[t.release].site, self._digests, store, known) for t in self.toolchains
        }
        self._missing = {
            t.release: missing(known, installed[t.release].distribution, t, locked.current) for t in self.toolchains
        }
        self.distributions = {
            t.release: locked.toolchains[t.release].installed
            if self._missing[t.release] and t.release in locked.toolchains
            else environment.distributions(self._imports[t.release].path)
            for t in self.toolchains
        }
        self._services: dict[str, Service] = {}
        self._lock = threading.RLock()
        self._judges = {
            toolchain.release: Judge(
                toolchain,
                units,
                store,
                Observer(
                    manifest.folder,
                    toolchain.package,
                    lists,
                    installed[toolchain.release],
                    self._imports[toolchain.release],
                ),
                base,
                manifest.cache.salt,
                self.distributions[toolchain.release],
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

    def end(self, release: str) -> None:
        """End the processes of a release, of which no cell is left; one that comes after all starts them anew."""
        with self._lock:
            service = self._services.pop(release, None)
        if service:
            service.close()

    def close(self) -> None:
        """End all processes and wait for them."""
        with self._lock:
            for service in self._services.values():
                service.close()
            self._services.clear()
        self._digests.save()

    def _service(self, toolchain: Toolchain) -> Service:
        if install := self._missing[toolchain.release]:
            raise EnvironmentProblem(
                f"not everything is recorded, and to compile the rest something has to be installed: {install}"
            )
        with self._lock:
            if toolchain.release not in self._services:
                inherited = self._imports[toolchain.release].inherited
                self._services[toolchain.release] = Service(
                    toolchain, self._manifest.folder, self._isolation, self._primed, inherited, self._jobs
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
