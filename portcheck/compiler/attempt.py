"""One compilation, followed from its first stage to its end, whatever that is."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from portcheck.compiler.child import wire
from portcheck.compiler.child.wire import Message
from portcheck.compiler.guard import Guard
from portcheck.compiler.tree import describe_exit

# What the tool answers when the front end is done: go on, or stop since the verdict is known.
OnFront = Callable[[Mapping[str, Any]], bool]

KEPT = "kept"  # the folder in a cell's work folder that `child/keeping.py` writes to


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a cell's process did, before anybody judges it."""

    stage: str  # the last one entered
    result: Mapping[str, Any] | None  # what the child wrote at its end; None: it did not get there
    death: str | None  # how the process ended, if it did not report
    breach: str | None  # timeout or memory-limit
    seconds: float  # until it was over, when the child did not say
    out: str  # fd 1
    err: str  # fd 2
    marks: tuple[tuple[str, int], ...]  # (stage, length of fd 2 in bytes when it began)
    read: tuple[tuple[str, str], ...] = ()  # inputs that only compiling read: (kind, name)
    files: Mapping[str, bytes] = field(default_factory=dict)  # stage → its output; `json` is Triton's metadata
    broken: str | None = None  # why the child could not report, if it could say that much
    raw: bytes = b""  # fd 2 as it was written, which the marks count in
    kept: Mapping[str, bytes] = field(default_factory=dict)  # what every step was given, if the job asked to keep that


def follow(
    sock: socket.socket, pid: int, work: Path, guard: Guard, timeout: float, max_rss: int, on_front: OnFront
) -> Attempt:
    """Read a cell's messages until it is done or dead. `timeout` in seconds, `max_rss` in bytes."""
    watched = guard.watch(pid, timeout, max_rss)
    marks: list[tuple[str, int]] = []
    read: list[tuple[str, str]] = []
    death: str | None = None
    broken: str | None = None
    try:
        while True:
            message, _ = wire.receive(sock)
            if message is None or message["event"] == "exit":
                death = describe_exit(message)
                break
            if message["event"] == "stage":
                marks.append((message["stage"], message["printed"]))
            elif message["event"] == "read":
                read.append((message["kind"], message["name"]))
            elif message["event"] == "front":
                _answer(sock, {"go": on_front(message)})
            elif message["event"] == "done":
                break
            elif message["event"] == "broken":
                death = broken = message["error"]
                break
    except OSError:
        death = describe_exit(None)
    finally:
        guard.release(watched)
    result = None if death else json.loads((work / "result.json").read_text())
    return Attempt(
        stage=marks[-1][0] if marks else "options",
        result=result,
        death=death,
        breach=watched.breach if watched and death else None,
        seconds=timeout if watched and watched.breach == "timeout" else 0.0,
        out=_read(work / "out"),
        err=_read(work / "err"),
        marks=tuple(marks),
        read=tuple(read),
        raw=_bytes(work / "err"),
        broken=broken,
        files=_outputs(work),
        kept={path.name: path.read_bytes() for path in sorted((work / KEPT).glob("*"))},
    )


def _answer(sock: socket.socket, answer: Message) -> None:
    try:
        wire.send(sock, answer)
    except OSError:
        return  # it died meanwhile; its exit says so


def _read(path: Path) -> str:
    return _bytes(path).decode(errors="replace")


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _outputs(work: Path) -> dict[str, bytes]:
    """What Triton left in its private cache folder: one file a finished stage."""
    files = (path for path in sorted((work / "triton").glob("*/*")) if ".tmp." not in path.name)
    return {
        path.suffix[1:]: path.read_bytes()
        for path in files
        if path.is_file() and path.suffix and not path.name.startswith("__grp__")
    }
