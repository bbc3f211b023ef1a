"""One thread that watches every running process: wall clock, and memory over the whole process tree."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from dataclasses import dataclass, field

import psutil

_TICK = 0.1  # seconds between looks at the leaders
_TREE_TICKS = 10  # whole trees are looked at every so many ticks: a walk reads the machine's process table


@dataclass(slots=True, eq=False)
class Watched:
    """One process that leads a session, and its limits."""

    process: psutil.Process
    deadline: float  # time.monotonic()
    max_rss: int | None  # bytes above what it was born with; None: no limit
    born_rss: int
    breach: str | None = None  # timeout or memory-limit, once it was killed for that
    children_rss: int = field(default=0)


class Guard:
    """Kills the session of whatever exceeds its limits."""

    def __init__(self) -> None:
        self._watched: set[Watched] = set()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self, pid: int, timeout: float, max_rss: int | None) -> Watched | None:
        """Start watching a session leader. `timeout` in seconds, `max_rss` in bytes. None: it has ended already."""
        try:
            process = psutil.Process(pid)
            watched = Watched(process, time.monotonic() + timeout, max_rss, process.memory_info().rss)
        except psutil.Error:
            return None
        with self._lock:
            self._watched.add(watched)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="portcheck-guard", daemon=True)
                self._thread.start()
        return watched

    def release(self, watched: Watched | None) -> None:
        """Stop watching."""
        if watched is not None:
            with self._lock:
                self._watched.discard(watched)

    def close(self) -> None:
        """End the thread."""
        self._wake.set()

    def _run(self) -> None:
        tick = 0
        while not self._wake.wait(_TICK):
            tick += 1
            with self._lock:
                watched = list(self._watched)
            for one in watched:
                self._look(one, whole_tree=tick % _TREE_TICKS == 0)

    def _look(self, one: Watched, *, whole_tree: bool) -> None:
        try:
            if time.monotonic() > one.deadline:
                one.breach = "timeout"
            elif one.max_rss is not None and _used(one, whole_tree=whole_tree) > one.max_rss:
                one.breach = "memory-limit"
            if one.breach and one.process.is_running():
                kill_session(one.process.pid)
        except (psutil.Error, OSError):
            return  # it has ended, or the system refuses an answer just now; this thread must live


def _used(one: Watched, *, whole_tree: bool) -> int:
    """Bytes above what the process was born with; of its children, what they had when they were last looked at."""
    if whole_tree:
        one.children_rss = sum(_rss(child) for child in one.process.children(recursive=True))
    return int(one.process.memory_info().rss) - one.born_rss + one.children_rss


def kill_session(pid: int) -> None:
    """Kill a session leader and everything in its process group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _rss(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0
