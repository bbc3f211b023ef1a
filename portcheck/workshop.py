"""The workshop of a run: toolchains, judges and compile services, made from a manifest and its cells."""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from portcheck.cache import Store, Zones, remote_at, resolve_cache_dir
from portcheck.cells import Cell
from portcheck.compiler.job import Unit
from portcheck.compiler.service import Service
from portcheck.compiler.tree import ONE_THREAD
from portcheck.digests import Digests
from portcheck.inputlists import InputLists
from portcheck.judge import Judge
from portcheck.manifest.model import Manifest
from portcheck.observer import Observer
from portcheck.toolchain.find import find
from portcheck.toolchain.model import Toolchain
from portcheck.units import units_of


class Workshop:
    """Everything that judging the cells of one run needs."""

    def __init__(self, manifest: Manifest, cells: Sequence[Cell], store: Store, isolation: str) -> None:
        """`isolation`: fork or spawn.

        Raises:
            EnvironmentProblem: a toolchain that is not there or cannot be read.
        """
        self._manifest, self._isolation = manifest, isolation
        self._backends = sorted({cell.target.backend for cell in cells})
        self.toolchains = tuple(find(release, store) for release in dict.fromkeys(c.release for c in cells))
        units, base = _units(manifest, cells), {**os.environ, **ONE_THREAD}
        self._digests, lists = Digests(store, manifest.folder), InputLists(store)
        self._services: dict[str, Service] = {}
        self._lock = threading.RLock()
        self._judges = {
            toolchain.release: Judge(
                toolchain,
                units,
                store,
                Observer(manifest.folder, toolchain.package, self._digests, lists),
                base,
                manifest.cache.salt,
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
        with self._lock:
            if toolchain.release not in self._services:
                self._services[toolchain.release] = Service(
                    toolchain, self._manifest.folder, self._isolation, self._backends
                )
            return self._services[toolchain.release]


def open_store(manifest: Manifest, remote: str | None, warn: Callable[[str], None]) -> Store:
    """The store that a manifest leads to. `remote`: a URL that replaces the manifest's; `warn` gets lines for the user.

    Raises:
        UsageError: nothing says where the cache could be, or the remote's URL is malformed.
    """
    settings = manifest.cache
    url = remote or settings.remote
    zones = None
    if url:
        read = tuple(remote_at(url, zone) for zone in settings.read)
        zones = Zones(read, remote_at(url, settings.write) if settings.write else None, warn)
    return Store(cache_dir(manifest), warn=warn, remote=zones)


def cache_dir(manifest: Manifest) -> Path:
    """The cache directory that a manifest leads to.

    Raises:
        UsageError: nothing says where it could be.
    """
    given = manifest.cache.dir
    inside = str(manifest.folder / given) if given and not given.startswith("~") else given
    return resolve_cache_dir(inside, os.environ)


def _units(manifest: Manifest, cells: Sequence[Cell]) -> dict[str, Unit]:
    """Row name → what to import for it; that may take as long as any of the unit's cells in this run may."""
    units = units_of(manifest.rows)
    limits: defaultdict[Unit, list[float]] = defaultdict(list)
    for cell in cells:
        limits[units[cell.row.name]].append(cell.row.settings.timeout)
    limited = {unit: replace(unit, timeout=max(limits[unit])) for unit in limits}
    return {name: limited.get(unit, unit) for name, unit in units.items()}
