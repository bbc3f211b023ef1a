"""A process of the tree: waits for requests on its socket, imports, forks children, and tells how they end.

Root, package and module processes are the same loop; they differ in what they have imported. A cell is a fork that
compiles and ends. Each child has a socket to the tool; its parent keeps a copy, over which it reports the child's
exit, since only a parent can know it.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from . import compile as cell
from . import configurations, fronts, importing, supports, wire
from .world import World

# What a process of its own is started for, by the name of the job.
_JOBS = {"cell": cell.run, "configurations": configurations.run}

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_GRACE = 0.3  # seconds that child processes get to end their own cells once the tool is gone


class Server:
    """The state of one process: what it imported, on behalf of which target, and its living children."""

    def __init__(self, sock: socket.socket, world: World) -> None:
        self.sock, self.world = sock, world
        self.children: dict[int, tuple[socket.socket, bool]] = {}  # pid → (socket, serves others itself)
        self.exits: tuple[int, ...] = ()  # the pipe that SIGCHLD writes to

    def serve(self) -> NoReturn:
        """Answer requests until the tool closes its end; then end every child and this process."""
        wake = self._listen_for_exits()
        sources: list[Any] = [self.sock, wake]
        while True:
            ready, _, _ = select.select(sources, [], [])
            if wake in ready:
                os.read(wake, 4096)
            self._reap()
            if self.sock in ready:
                message, fds = wire.receive(self.sock)
                if message is None:
                    self._end()
                getattr(self, "do_" + message["do"])(message, fds)

    def do_become(self, message: wire.Message, fds: list[int]) -> None:
        """Stand for a target from now on."""
        self._become(message["target"], message["device"])

    def do_import(self, message: wire.Message, fds: list[int]) -> None:
        """Import user code."""
        device = self.world.device
        device.on_first = lambda: wire.send(self.sock, {"event": "asked"})  # in case the import never ends
        began = time.perf_counter()
        with self._output_to(message["output"], message["output"]):
            found = importing.answer(message, self.world)
        device.on_first = None
        self._listen_for_exits()
        self._answer(message, {**found, "seconds": time.perf_counter() - began})

    def do_describe(self, message: wire.Message, fds: list[int]) -> None:
        """Describe what is imported here already, if it is."""
        if importing.is_here(message):
            self._answer(message, {**importing.description(message, self.world), "seconds": 0.0})
        else:
            wire.send(self.sock, {"event": "elsewhere"})

    def do_support(self, message: wire.Message, fds: list[int]) -> None:
        """Say what this Triton says of some targets."""
        found = [supports.of(_target(target), self.world.device) for target in message["targets"]]
        self._answer(message, {"supports": found})

    def _answer(self, message: wire.Message, found: wire.Message) -> None:
        """The answer to an import may be long, so it goes through a file."""
        with open(message["answer"], "w") as f:
            json.dump(found, f)
        wire.send(self.sock, {"event": "imported"})

    def do_fork(self, message: wire.Message, fds: list[int]) -> None:
        """Fork a process that serves, over the socket that came along."""
        if self._fork(fds[0], serves=True) == 0:
            self.world.inputs.forget()  # the tool has heard of what was read so far
            self.serve()

    def do_front(self, message: wire.Message, fds: list[int]) -> None:
        """Run a front end in this process, for the cells that will be forked from it."""
        with self._output_to(os.path.join(message["work"], "out"), os.path.join(message["work"], "err")):
            self._become(message["target"], message["device"])
            self.world.front = fronts.keep(message, self.world)
        wire.send(self.sock, {"event": "front"})

    def do_job(self, message: wire.Message, fds: list[int]) -> None:
        """Fork a process that does one job."""
        if self._fork(fds[0], serves=False) == 0:
            self._work(message)

    def do_here(self, message: wire.Message, fds: list[int]) -> None:
        """Do one job in this very process, which ends with it: for platforms where fork is unsafe."""
        _die_with_parent()
        self._work(message)

    def _work(self, message: wire.Message) -> NoReturn:
        gc.disable()
        with open(os.devnull) as null:
            os.dup2(null.fileno(), 0)
        for fd, name in ((1, "out"), (2, "err")):
            with open(os.path.join(message["work"], name), "wb") as f:
                os.dup2(f.fileno(), fd)
        self._become(message["target"], message["device"])
        try:
            _JOBS[message["job"]](message, self.sock, self.world)
        except BaseException as error:  # a full disk, for example: it can still be said, if not be written
            with contextlib.suppress(Exception):
                wire.send(self.sock, {"event": "broken", "error": "%s: %s" % (type(error).__name__, error)})
            os._exit(70)
        os._exit(0)

    def _become(self, target: Mapping[str, Any], properties: Mapping[str, Any]) -> None:
        self.world.device.become(_target(target), properties)

    def _fork(self, fd: int, serves: bool) -> int:
        """Fork; in the child (0) `sock` is its own socket and it leads a session of its own."""
        gc.freeze()  # a collection in a child would copy every page of the parent
        pid = os.fork()
        if pid:
            self.children[pid] = (socket.socket(fileno=fd), serves)
            return pid
        os.setsid()
        _die_with_parent()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for sock, _ in self.children.values():
            sock.close()
        self.sock.close()
        for end in self.exits:
            os.close(end)
        self.children, self.exits = {}, ()
        self.sock = socket.socket(fileno=fd)
        wire.send(self.sock, {"event": "alive", "pid": os.getpid()})
        return 0

    @contextlib.contextmanager
    def _output_to(self, out: str, err: str) -> Iterator[None]:
        """fd 1 and 2 go to files meanwhile, which may be one."""
        kept = os.dup(1), os.dup(2)
        for fd, path in ((1, out), (2, err)):
            with open(path, "ab") as f:
                os.dup2(f.fileno(), fd)
        try:
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for fd, old in zip((1, 2), kept):
                os.dup2(old, fd)
                os.close(old)

    def _listen_for_exits(self) -> int:
        """SIGCHLD writes to a pipe, so that select wakes up. User code may have taken the signal: take it again."""
        if not self.exits:
            self.exits = os.pipe()
            for end in self.exits:
                os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self.exits[1], warn_on_full_buffer=False)
        return self.exits[0]

    def _reap(self) -> None:
        for pid in list(self.children):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                sock, _ = self.children.pop(pid)
                _kill_session(pid)  # whatever it had started
                with contextlib.suppress(OSError):
                    wire.send(sock, {"event": "exit", "status": os.waitstatus_to_exitcode(status)})
                sock.close()

    def _end(self) -> NoReturn:
        """The tool is gone: kill the sessions of all cells; processes that serve see it themselves and do the same."""
        for pid, (_, serves) in self.children.items():
            if not serves:
                _kill_session(pid)
        deadline = time.monotonic() + _GRACE
        while self.children and time.monotonic() < deadline:
            self._reap()
            time.sleep(0.01)
        for pid in self.children:
            _kill_session(pid)
        os.killpg(0, signal.SIGKILL)  # this process, and what user code started in its session
        os._exit(0)


def _target(target: Mapping[str, Any]) -> Any:
    from triton.backends.compiler import GPUTarget

    arch = int(target["arch"]) if target["arch"].isdigit() else target["arch"]
    return GPUTarget(target["backend"], arch, target["warp_size"])


def _die_with_parent() -> None:
    """On Linux: be killed when the parent ends, since user code or the compiler may never come back to the socket."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _kill_session(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
