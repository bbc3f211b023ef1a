"""The tool's end of the tree of processes: starting a root, forking from it, importing, asking."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from portcheck.compiler.child import wire
from portcheck.compiler.child.wire import Message
from portcheck.compiler.guard import Guard, kill_session
from portcheck.errors import EnvironmentProblem
from portcheck.target import Target
from portcheck.toolchain.model import Toolchain

# One target a backend that every supported release compiles for: some abort the process, and a root must live.
SAFE = {"cuda": Target("cuda", "90"), "hip": Target("hip", "gfx942")}

CHILD = Path(__file__).parent / "child"
_BIRTH = 60.0  # seconds that a fork may take
_START = 120.0  # seconds that importing Triton may take
# Forking a process whose OpenMP or BLAS has threads can hang the child: keep them to one.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class Interrupted(Exception):
    """The run is being stopped; nothing more is started."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What importing gave: an error, or the descriptions of what was asked for; and what it read and changed."""

    error: Message | None = None  # the exception: type, text, traceback, place
    kernels: Mapping[str, Message] = field(default_factory=dict)
    references: Mapping[str, Message] = field(default_factory=dict)  # what the functions of `jit` constants are made of
    before: tuple[tuple[tuple[str, str], ...], ...] = ()  # what importing the packages above it read, one by one
    inputs: tuple[tuple[str, str], ...] = ()  # (kind, name) of everything else read
    began: float = 0.0  # time.time() before anything of it, or of the packages above it, was read
    seconds: float = 0.0
    unfit: tuple[str, ...] = ()  # why no record may be made of it
    asked: tuple[str, ...] = ()  # questions to the fake device
    settings: Message = field(default_factory=dict)  # Triton's
    patched: tuple[str, ...] = ()  # what was replaced in Triton
    set_early: Mapping[str, str | None] = field(default_factory=dict)  # variables that Triton should have seen
    env: Mapping[str, str] = field(default_factory=dict)  # those of another import that it was given beforehand
    output: str = ""  # what it printed
    death: str | None = None  # how the process ended, if it did
    breach: str | None = None  # timeout, if it was killed for that

    @property
    def failed(self) -> bool:
        """Is there no module to compile from?"""
        return self.error is not None or self.death is not None


@dataclass(eq=False)
class Process:
    """A process of the tree that serves requests, or a cell. One request at a time."""

    sock: socket.socket
    pid: int
    lock: threading.Lock = field(default_factory=threading.Lock)

    def fork(self, request: Message) -> Process:
        """Fork a child that serves (`do: fork`) or compiles (`do: cell`). Raises OSError when this one is gone."""
        ours, theirs = wire.pair()
        try:
            with self.lock:
                wire.send(self.sock, request, [theirs.fileno()])
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        ours.settimeout(_BIRTH)  # user code may run in a fork, before anybody watches it
        try:
            born, _ = wire.receive(ours)
        except TimeoutError:
            born = None
        ours.settimeout(None)
        if not born or born["event"] != "alive":
            ours.close()
            raise ConnectionError("the process to fork from is gone")
        return Process(ours, born["pid"])

    def request(self, request: Message) -> None:
        """Send a request that has no answer of its own. Raises OSError when the process is gone."""
        with self.lock:
            wire.send(self.sock, request)

    def close(self) -> None:
        """Let it end: it sees its socket close, and ends what it started."""
        with contextlib.suppress(OSError):
            self.sock.close()

    def run_front(self, request: Message, guard: Guard, timeout: float, max_rss: int) -> bool:
        """Run a front end in this process, for the cells that will be forked from it; False if that ended it.

        `timeout` in seconds, `max_rss` in bytes.
        """
        watched = guard.watch(self.pid, timeout, max_rss)
        try:
            with self.lock:
                wire.send(self.sock, {"do": "front", **request})
                reply, _ = wire.receive(self.sock)
        except OSError:
            return False
        finally:
            guard.release(watched)
        return bool(reply and reply["event"] == "front")

    def import_units(self, request: Message, scratch: Path, guard: Guard, timeout: float) -> Imported:
        """Import user code in this process, killing it after `timeout` seconds. Files go through `scratch`."""
        imported = self._imported("import", request, scratch, guard, timeout)
        assert imported is not None  # only `describe` is answered with a no
        return imported

    def describe(self, request: Message, scratch: Path, guard: Guard, timeout: float) -> Imported | None:
        """As `import_units`, of what this process has imported already; None if any code would have to run for it.

        Raises OSError when the process is gone.
        """
        described = self._imported("describe", request, scratch, guard, timeout)
        if described and described.death:
            raise ConnectionError(described.death)
        return described

    def _imported(self, do: str, request: Message, scratch: Path, guard: Guard, timeout: float) -> Imported | None:
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            answer, output = Path(folder, "answer.json"), Path(folder, "output")
            output.touch()
            watched = guard.watch(self.pid, timeout, None)
            asked, began = False, time.time()
            try:
                with self.lock:
                    wire.send(self.sock, {"do": do, "answer": str(answer), "output": str(output), **request})
                    reply, _ = wire.receive(self.sock)
                    while reply and reply["event"] == "asked":
                        asked = True
                        reply, _ = wire.receive(self.sock)
            except OSError:
                reply = None
            finally:
                guard.release(watched)
            if reply and reply["event"] == "elsewhere":
                return None
            printed = output.read_text(errors="replace")[-8000:]
            if reply and reply["event"] == "imported":
                return replace(_imported(json.loads(answer.read_text()), printed), began=began)
            breach = watched.breach if watched else None
            questions = ("it asked",) if asked else ()
            return Imported(asked=questions, began=began, output=printed, death=describe_exit(reply), breach=breach)


def _imported(data: Message, printed: str) -> Imported:
    return Imported(
        error=data["error"],
        kernels=data["kernels"],
        references=data["references"],
        inputs=tuple((kind, name) for kind, name in data["inputs"]),
        unfit=tuple(data["unfit"]),
        asked=tuple(data["asked"]),
        settings=data["settings"],
        patched=tuple(data.get("patched", ())),
        set_early=data["set_early"],
        seconds=data["seconds"],
        output=printed,
    )


def describe_exit(reply: Message | None) -> str:
    """How a process ended, in words."""
    if reply is None or "status" not in reply:
        return "its process ended"
    status = int(reply["status"])
    return f"its process was killed by signal {-status}" if status < 0 else f"its process exited with status {status}"


def as_triton_has_it(target: Target) -> list[Any]:
    """The arguments of Triton's GPUTarget."""
    return [target.backend, int(target.arch) if target.arch.isdigit() else target.arch, target.warp_size]


@dataclass(eq=False)
class Root(Process):
    """A root process: Triton imported, nothing of the user's."""

    popen: subprocess.Popen[bytes] | None = None

    @classmethod
    def start(
        cls,
        toolchain: Toolchain,
        folder: Path,
        env: Mapping[str, str],
        prime: Sequence[Target],
        inherited: Sequence[str] = (),
    ) -> Root:
        """Start an interpreter and have it import Triton. `inherited`: folders of site-packages that it falls back on.

        Raises:
            EnvironmentProblem: Triton cannot be imported there.
        """
        ours, theirs = wire.pair()
        with tempfile.TemporaryFile() as log, theirs:
            popen = subprocess.Popen(
                [toolchain.executable, str(CHILD), str(theirs.fileno()), *inherited],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=folder,
                env={**os.environ, **ONE_THREAD, **env},
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
            theirs.close()
            setup = {
                "folder": str(folder),
                "digest": toolchain.digest,
                "package": str(toolchain.package),
                "prime": [as_triton_has_it(target) for target in prime],
                "targets": [as_triton_has_it(target) for target in SAFE.values()],
            }
            reply: Message | None = None
            with contextlib.suppress(OSError):
                wire.send(ours, setup)
                if select.select([ours], [], [], _START)[0]:
                    reply, _ = wire.receive(ours)
            if reply and reply["event"] == "alive":
                return cls(ours, popen.pid, popen=popen)
            kill_session(popen.pid)
            popen.wait()
            log.seek(0)
            said = reply["error"] if reply else log.read().decode(errors="replace")
        last = said.strip().splitlines()[-1:] or [f"it ended with status {popen.returncode}"]
        raise EnvironmentProblem(
            f"Triton {toolchain.release} cannot be imported by {toolchain.executable}: {last[0]}; "
            f"reinstall it with: {toolchain.executable} -m pip install --force-reinstall triton=={toolchain.release}"
        )

    def supports(self, targets: Sequence[Message], scratch: Path) -> list[Message]:
        """What its Triton says of some targets. Raises OSError when the process is gone."""
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            answer = Path(folder, "answer.json")
            with self.lock:
                wire.send(self.sock, {"do": "support", "answer": str(answer), "targets": list(targets)})
                wire.receive(self.sock)
            found: list[Message] = json.loads(answer.read_text())["supports"]
            return found

    def close(self) -> None:
        """End the process and what it started; wait for it."""
        super().close()
        if self.popen is not None:
            try:
                self.popen.wait(timeout=2)
            except subprocess.TimeoutExpired:
                kill_session(self.popen.pid)
                self.popen.wait()
