"""The compile service: hands out imported modules and compiled cells, from a tree of processes per environment."""

from __future__ import annotations

import contextlib
import itertools
import shutil
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from portcheck.compiler import devices, scratch
from portcheck.compiler.attempt import Attempt, OnFront, follow
from portcheck.compiler.guard import Guard, kill_session
from portcheck.compiler.job import Job, Unit
from portcheck.compiler.slots import Slots
from portcheck.compiler.tree import SAFE, Imported, Interrupted, Process, Root
from portcheck.target import Target
from portcheck.toolchain.model import Toolchain

# Idle processes that hold something imported. The least recently used goes first; it would be imported again, so those
# that took long stay: packages, of which modules are only forks.
_IDLE_LIMIT = 24
_EXPENSIVE = 0.3  # seconds
_NO_UNIT = Unit("", is_file=False, functions=())  # for a root of no variables of anybody's

AnyProcess = TypeVar("AnyProcess", bound=Process)


@dataclass(slots=True, eq=False)
class _Host:
    """A process that holds imported units: the one it was made for, and those that came along with it."""

    process: Process | None  # None: it failed to import, or has ended
    parent: _Host | None  # the one it was forked from, unless that is the root
    seconds: float  # that its import took
    users: int = 0  # who are about to fork from it, and what was forked from it and lives
    used: int = 0  # when it was last taken into use, as a number that grows


@dataclass(frozen=True, slots=True)
class _Held:
    """A unit in a process, or the failure to import it."""

    host: _Host
    imported: Imported


class Service:
    """Imports and compiles with one toolchain. Thread-safe; close it when done."""

    def __init__(
        self,
        toolchain: Toolchain,
        folder: Path,
        isolation: str,
        backends: Iterable[str],
        inherited: Sequence[str] = (),
        slots: int = 1,
    ) -> None:
        """Start nothing yet.

        Args:
            toolchain: the Triton to compile with.
            folder: the manifest's.
            isolation: fork or spawn.
            backends: those that root processes make ready.
            inherited: folders of site-packages that its processes fall back on.
            slots: compiles at a time for which helpers are started.
        """
        self.slots = Slots(slots)
        self._toolchain, self._folder, self._isolation, self._inherited = toolchain, folder, isolation, inherited
        self._prime = [SAFE[b] for b in sorted(set(backends))]
        self._guard = Guard()
        self._scratch = scratch.make()
        self._lock = threading.RLock()
        self._locks: defaultdict[Any, threading.Lock] = defaultdict(threading.Lock)
        self._roots: dict[tuple[tuple[str, str], ...], Root] = {}
        self._held: dict[tuple[Unit, Target | None], _Held] = {}
        self._hosts: set[_Host] = set()  # of what is held
        self._uses = itertools.count()
        self._alive: set[int] = set()
        self._stopped = False

    def load(self, unit: Unit, target: Target) -> Imported:
        """Import a unit as on `target`, once, and describe the kernels wanted from it."""
        with self._unless_stopped():
            if self._isolation == "spawn":
                with self._spawned(unit, target) as (_, imported):
                    return imported
            with self._holding(unit, target) as held:
                return held.imported

    def supports(self, targets: Sequence[Target]) -> list[dict[str, Any]]:
        """What Triton says of some targets, in the same order. Raises OSError when its process ended."""
        asked = [_target(target)["target"] for target in targets]
        with self._unless_stopped():
            if self._isolation == "fork":
                with self._lock:
                    root = next(iter(self._roots.values()), None)
                return (root or self._root(_NO_UNIT)).supports(asked, self._scratch)
            root = Root.start(self._toolchain, self._folder, {}, (), self._inherited)
            with self._tracked(root):
                return root.supports(asked, self._scratch)

    def compile(self, job: Job, on_front: OnFront = lambda _: True, front: Process | None = None) -> Attempt | Imported:
        """Do one job in a process of its own; or say why its module cannot be imported there.

        `front`: from `shared_front`, a process in which the job's front end has run.
        """
        with self.slots.taken(), self._unless_stopped(), self._work_folder() as work:
            self._check()
            if self._isolation == "spawn":
                return self._compile_spawned(job, work, on_front)
            if front:
                with contextlib.suppress(OSError):  # it may be gone; there is another way
                    return self._compile_in(front, job, work, on_front)
                self._check()
            return self._compile_forked(job, work, on_front)

    @contextlib.contextmanager
    def shared_front(self, job: Job) -> Iterator[Process | None]:
        """A process in which the job's front end has run, for jobs that differ in options; None where there is none."""
        if self._isolation == "spawn":
            yield None
            return
        with self._unless_stopped(), self._work_folder() as work, self._holding(job.unit, job.target) as held:
            try:
                process = _process_of(held.host).fork({"do": "fork"}) if not held.imported.failed else None
            except OSError:
                process = None
            if process is None:
                yield None
                return
            with self._tracked(process):
                with self.slots.taken():
                    ran = process.run_front(_request(job, work), self._guard, job.timeout, job.max_rss)
                self._check()
                yield process if ran else None

    @contextlib.contextmanager
    def _work_folder(self) -> Iterator[Path]:
        work = Path(tempfile.mkdtemp(dir=self._scratch))
        try:
            yield work
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
            for host in self._hosts:
                if host.process:
                    host.process.close()
            for root in self._roots.values():
                root.close()
            self._held.clear()
            self._hosts.clear()
            self._roots.clear()
        self._guard.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _compile_forked(self, job: Job, work: Path, on_front: OnFront) -> Attempt | Imported:
        for last in (False, True):
            with self._holding(job.unit, job.target) as held:
                if held.imported.failed:
                    return held.imported
                try:
                    return self._compile_in(_process_of(held.host), job, work, on_front)
                except OSError:  # the kernel may have killed it for its memory, once; user code may end it every time
                    self._check()
                    self._forget(held.host)
                    if last:
                        return replace(held.imported, death="its process ended after the import")
        raise AssertionError("the loop returns or raises")

    def _compile_in(self, process: Process, job: Job, work: Path, on_front: OnFront) -> Attempt:
        """Do a job in a fork of `process`. Raises OSError when there is nothing to fork from."""
        with self._tracked(process.fork({"do": "job", **_request(job, work)})) as cell:
            return self._follow(cell, job, work, on_front)

    def _forget(self, lost: _Host) -> None:
        """Drop a host with all that it holds, so that the next who needs any of it imports anew."""
        with self._lock:
            self._held = {key: held for key, held in self._held.items() if held.host is not lost}
            self._hosts.discard(lost)
            self._end(lost)

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
    def _holding(self, unit: Unit, target: Target) -> Iterator[_Held]:
        """`unit` as imported on `target` in a process, made if need be, and kept while in use."""
        with self._lock_of(unit):
            held = self._find(unit, target) or self._make(unit, target)
        try:
            yield held
        finally:
            with self._lock:
                held.host.users -= 1
                self._thin_out()

    def _lock_of(self, what: Any) -> threading.Lock:
        with self._lock:  # hashing runs Python code, so two threads could make two locks
            return self._locks[what]

    def _find(self, unit: Unit, target: Target) -> _Held | None:
        """What is held already, its process taken into use before anybody can thin it out."""
        with self._lock:
            held = self._held.get((unit, None)) or self._held.get((unit, target))
            return self._use(held) if held else None

    def _use(self, held: _Held) -> _Held:
        held.host.users += 1
        held.host.used = next(self._uses)
        return held

    def _make(self, unit: Unit, target: Target) -> _Held:
        """Import `unit` in a process forked from its package's, or from the root."""
        if unit.parent:
            with self._holding(unit.parent, target) as package:
                # A package that fails is imported again as part of its module, for a traceback of that module.
                if package.host.process:
                    try:
                        return self._share(unit, target, package) or self._grow(unit, target, package)
                    except OSError:  # the package's process was killed; what was forked from it went with it
                        self._check()
                        self._forget(package.host)
        return self._grow(unit, target, None)

    def _share(self, unit: Unit, target: Target, package: _Held) -> _Held | None:
        """Leave `unit` in the process of its package, if importing that has imported it as well. Raises OSError."""
        process = _process_of(package.host)
        imported = process.describe(unit.request(), self._scratch, self._guard, unit.timeout)
        self._check()
        return None if imported is None else self._hold(unit, target, package.host, imported, package.imported)

    def _grow(self, unit: Unit, target: Target, package: _Held | None) -> _Held:
        """Import `unit` in a process of its own. Raises OSError when there is nothing to fork it from."""
        self._check()
        parent = package.host if package else None
        process = (_process_of(parent) if parent else self._root(unit)).fork({"do": "fork"})
        self._alive.add(process.pid)
        imported = self._import(process, unit, target)
        host = _Host(process, parent, imported.seconds)
        with self._lock:
            if parent:
                parent.users += 1
            if imported.failed:
                self._end(host)
        return self._hold(unit, target, host, imported, package.imported if package else Imported())

    def _hold(self, unit: Unit, target: Target, host: _Host, imported: Imported, above: Imported) -> _Held:
        """Note what `host` holds; what importing the package `above` did is part of how the unit was imported."""
        imported = replace(
            imported,
            before=(*above.before, above.inputs) if above.inputs else above.before,
            began=min(imported.began, above.began or imported.began),
            unfit=tuple(sorted({*above.unfit, *imported.unfit})),
        )
        with self._lock:
            self._hosts.add(host)
            held = _Held(host, imported)
            self._held[unit, target if imported.asked or above.asked else None] = held
            return self._use(held)

    def _end(self, host: _Host) -> None:
        """End the process of a host that nothing was forked from."""
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
        idle = [host for host in self._hosts if host.process and not host.users and host.seconds < _EXPENSIVE]
        idle.sort(key=lambda host: host.used)
        for host in idle[: max(0, len(idle) - _IDLE_LIMIT)]:
            self._forget(host)

    @contextlib.contextmanager
    def _tracked(self, process: AnyProcess) -> Iterator[AnyProcess]:
        self._alive.add(process.pid)
        try:
            self._check()
            yield process
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


def _process_of(host: _Host) -> Process:
    """The process of a host that imported something. Raises OSError if another thread has found it gone meanwhile."""
    process = host.process
    if process is None:
        raise ConnectionError("its process ended after the import")
    return process


def _target(target: Target) -> dict[str, Any]:
    return {
        "target": {"backend": target.backend, "arch": target.arch, "warp_size": target.warp_size},
        "device": devices.properties(target),
    }


def _request(job: Job, work: Path) -> dict[str, Any]:
    return {
        "job": job.kind,
        "keep": job.keep,
        "work": str(work),
        "unit": job.unit.request()["units"][0],
        "function": job.function,
        "spec": dict(job.spec),
        **_target(job.target),
    }
