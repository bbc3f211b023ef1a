"""The compile service: hands out imported modules and compiled cells, from a tree of processes per environment."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from portcheck.compiler import devices, scratch
from portcheck.compiler.attempt import Attempt, OnFront, follow
from portcheck.compiler.guard import Guard, kill_session
from portcheck.compiler.job import Job, Unit
from portcheck.compiler.tree import SAFE, Imported, Interrupted, Process, Root
from portcheck.target import Target
from portcheck.toolchain.model import Toolchain

# Idle processes that hold something imported. The least recently used goes first; it would be imported again, so those
# that took long stay: packages, of which modules are only forks.
_IDLE_LIMIT = 24
_EXPENSIVE = 0.3  # seconds


@dataclass(slots=True, eq=False)
class _Host:
    """A process that holds an imported unit, or the failure to import it."""

    process: Process | None
    imported: Imported
    parent: _Host | None  # the one it was forked from, unless that is the root
    users: int = 0  # who are about to fork from it, and what was forked from it and lives


class Service:
    """Imports and compiles with one toolchain. Thread-safe; close it when done."""

    def __init__(
        self,
        toolchain: Toolchain,
        folder: Path,
        isolation: str,
        backends: Iterable[str],
        inherited: Sequence[str] = (),
    ) -> None:
        """`inherited`: folders of site-packages that its processes fall back on."""
        self._toolchain, self._folder, self._isolation, self._inherited = toolchain, folder, isolation, inherited
        self._prime = [SAFE[b] for b in sorted(set(backends))]
        self._guard = Guard()
        self._scratch = scratch.make()
        self._lock = threading.RLock()
        self._locks: defaultdict[Any, threading.Lock] = defaultdict(threading.Lock)
        self._roots: dict[tuple[tuple[str, str], ...], Root] = {}
        self._hosts: OrderedDict[tuple[Unit, Target | None], _Host] = OrderedDict()
        self._alive: set[int] = set()
        self._stopped = False

    def load(self, unit: Unit, target: Target) -> Imported:
        """Import a unit as on `target`, once, and describe the kernels wanted from it."""
        with self._unless_stopped():
            if self._isolation == "spawn":
                with self._spawned(unit, target) as (_, imported):
                    return imported
            with self._host(unit, target) as host:
                return host.imported

    def compile(self, job: Job, on_front: OnFront) -> Attempt | Imported:
        """Compile one cell in a process of its own; or say why its module cannot be imported there."""
        run = self._compile_spawned if self._isolation == "spawn" else self._compile_forked
        with self._unless_stopped():
            work = Path(tempfile.mkdtemp(dir=self._scratch))
            try:
                return run(job, work, on_front)
            finally:
                shutil.rmtree(work, ignore_errors=True)

    def stop(self) -> None:
        """Kill every process at once. Whoever waits for one gets `Interrupted`. Safe in a signal handler."""
        self._stopped = True
        for pid in list(self._alive):
            kill_session(pid)
        shutil.rmtree(self._scratch, ignore_errors=True)

    def close(self) -> None:
        """End all processes and wait for them."""
        with self._lock:
            for host in self._hosts.values():
                if host.process:
                    host.process.close()
            for root in self._roots.values():
                root.close()
            self._hosts.clear()
            self._roots.clear()
        self._guard.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _compile_forked(self, job: Job, work: Path, on_front: OnFront) -> Attempt | Imported:
        for last in (False, True):
            with self._host(job.unit, job.target) as host:
                if host.process is None:
                    return host.imported
                try:
                    cell = host.process.fork({"do": "cell", **_request(job, work)})
                except OSError:  # the kernel may have killed it for its memory, once; user code may end it every time
                    self._check()
                    self._forget(host)
                    if last:
                        return replace(host.imported, death="its process ended after the import")
                    continue
                with self._tracked(cell):
                    return self._follow(cell, job, work, on_front)
        raise AssertionError("the loop returns or raises")

    def _forget(self, lost: _Host) -> None:
        """Drop a host whose process is gone, so that the next who needs it imports anew."""
        with self._lock:
            for key in [key for key, host in self._hosts.items() if host is lost]:
                self._end(self._hosts.pop(key))

    def _compile_spawned(self, job: Job, work: Path, on_front: OnFront) -> Attempt | Imported:
        with self._spawned(job.unit, job.target) as (root, imported):
            if imported.failed:
                return imported
            root.request({"do": "here", **_request(job, work)})
            return self._follow(root, job, work, on_front)

    @contextlib.contextmanager
    def _spawned(self, unit: Unit, target: Target) -> Iterator[tuple[Root, Imported]]:
        """A fresh interpreter with `unit` imported as on `target`; nothing is forked."""
        root = Root.start(self._toolchain, self._folder, dict(unit.env), (), self._inherited)
        with self._tracked(root):
            yield root, self._import(root, unit, target)

    def _follow(self, cell: Process, job: Job, work: Path, on_front: OnFront) -> Attempt:
        attempt = follow(cell.sock, cell.pid, work, self._guard, job.timeout, job.max_rss, on_front)
        self._check()
        return attempt

    @contextlib.contextmanager
    def _host(self, unit: Unit, target: Target) -> Iterator[_Host]:
        """The process that holds `unit` as imported on `target`, made if need be, and kept while in use."""
        with self._lock_of(unit):
            host = self._find(unit, target) or self._make(unit, target)
        try:
            yield host
        finally:
            with self._lock:
                host.users -= 1
                self._thin_out()

    def _lock_of(self, what: Any) -> threading.Lock:
        with self._lock:  # hashing runs Python code, so two threads could make two locks
            return self._locks[what]

    def _find(self, unit: Unit, target: Target) -> _Host | None:
        """The host that is there already, taken into use before anybody can thin it out."""
        with self._lock:
            for key in ((unit, None), (unit, target)):
                if key in self._hosts:
                    self._hosts.move_to_end(key)
                    self._hosts[key].users += 1
                    return self._hosts[key]
        return None

    def _make(self, unit: Unit, target: Target) -> _Host:
        """Import `unit` in a process forked from its package's, or from the root."""
        if unit.parent:
            with self._host(unit.parent, target) as host:
                # A package that fails is imported again as part of its module, for a traceback of that module.
                if host.process:
                    try:
                        return self._grow(host.process, unit, target, host)
                    except OSError:  # the package's process was killed; what was forked from it went with it
                        self._check()
                        self._forget(host)
        return self._grow(self._root(unit), unit, target, None)

    def _grow(self, source: Process, unit: Unit, target: Target, parent: _Host | None) -> _Host:
        self._check()
        process = source.fork({"do": "fork"})
        self._alive.add(process.pid)
        above = parent.imported if parent else Imported()
        before = (*above.before, above.inputs) if above.inputs else above.before
        imported = self._import(process, unit, target)
        began = min(imported.began, above.began) if parent else imported.began
        imported = replace(imported, before=before, began=began)
        host = _Host(process, imported, parent, users=1)
        with self._lock:
            if parent:
                parent.users += 1
            if imported.failed:
                self._end(host)
            self._hosts[unit, target if imported.asked or above.asked else None] = host
        return host

    def _end(self, host: _Host) -> None:
        """End the process of a host, which nothing was forked from."""
        if host.process:
            host.process.close()
            self._alive.discard(host.process.pid)
            host.process = None
            if host.parent:
                host.parent.users -= 1

    def _import(self, process: Process, unit: Unit, target: Target) -> Imported:
        process.request({"do": "become", **_target(target)})
        imported = process.import_units(unit.request(), self._scratch, self._guard, unit.timeout)
        self._check()
        return imported

    def _root(self, unit: Unit) -> Root:
        with self._lock_of(("root", unit.env)):
            known = self._roots.get(unit.env)
            if known is None or (known.popen is not None and known.popen.poll() is not None):
                self._check()
                root = Root.start(self._toolchain, self._folder, dict(unit.env), self._prime, self._inherited)
                self._alive.add(root.pid)
                self._roots[unit.env] = root
            return self._roots[unit.env]

    def _thin_out(self) -> None:
        idle = [
            key
            for key, host in self._hosts.items()
            if host.process and not host.users and host.imported.seconds < _EXPENSIVE
        ]
        for key in idle[: max(0, len(idle) - _IDLE_LIMIT)]:
            self._end(self._hosts.pop(key))

    @contextlib.contextmanager
    def _tracked(self, process: Process) -> Iterator[None]:
        self._alive.add(process.pid)
        try:
            self._check()
            yield
        finally:
            self._alive.discard(process.pid)
            process.close()

    @contextlib.contextmanager
    def _unless_stopped(self) -> Iterator[None]:
        """A file or process that is missing is no trouble if it was `stop` that took it away."""
        try:
            yield
        except OSError:
            self._check()
            raise

    def _check(self) -> None:
        if self._stopped:
            raise Interrupted


def _target(target: Target) -> dict[str, Any]:
    return {
        "target": {"backend": target.backend, "arch": target.arch, "warp_size": target.warp_size},
        "device": devices.properties(target),
    }


def _request(job: Job, work: Path) -> dict[str, Any]:
    main = job.unit.request()["units"][0]
    return {"work": str(work), "unit": main, "function": job.function, "spec": dict(job.spec), **_target(job.target)}
