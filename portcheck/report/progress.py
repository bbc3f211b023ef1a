"""What a run tells while it runs: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from typing import TextIO

from portcheck.report.pace import Pace
from portcheck.verdicts import OK

INTERVAL = 10.0  # seconds between two lines about the whole where there is no terminal


class Progress:
    """The quiet progress, and the interface of the others. Every method may be called from any thread."""

    def start(self, total: int) -> None:
        """The run begins; `total` cells are to be judged."""

    def cell_started(self, name: str) -> None:
        """A cell began to compile."""

    def cell_finished(self, name: str, verdict: str, origin: str, why: str = "") -> None:
        """A cell is judged; one that was never started counts as well."""

    def note(self, text: str) -> None:
        """Something worth a line of its own happened."""

    def stop(self) -> None:
        """The run is over or interrupted. May be called more than once, and from a signal handler."""


class PlainProgress(Progress):
    """Lines for a log: every failure, and how far the run is at most every ten seconds."""

    def __init__(
        self,
        stream: TextIO,
        verbose: bool,
        expected_seconds: Mapping[str, float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._verbose = verbose
        self._expected = expected_seconds
        self._clock = clock
        # Reentrant: stop() may interrupt a method of the same thread.
        self._lock = threading.RLock()
        self._pace: Pace | None = None
        self._failed = 0
        self._said = 0.0

    def start(self, total: int) -> None:
        with self._lock:
            self._said = self._clock()
            self._pace = Pace(total, self._expected, self._said)

    def cell_finished(self, name: str, verdict: str, origin: str, why: str = "") -> None:
        with self._lock:
            if self._pace is None:
                return
            self._pace.finish(name)
            self._failed += verdict != OK
            if self._verbose or (verdict != OK and origin == "compiled"):
                self._print(f"{name}: {verdict}" + (f" ({told_origin(origin, why)})" if self._verbose else ""))
            now = self._clock()
            if now - self._said >= INTERVAL:
                self._said = now
                self._print(self._state(self._pace, now))

    def note(self, text: str) -> None:
        with self._lock:
            self._print(text)

    def stop(self) -> None:
        self._pace = None

    def _state(self, pace: Pace, now: float) -> str:
        left = pace.remaining(now)
        return f"{pace.done} of {pace.total} cells, {self._failed} failed" + (
            f", about {left:.0f} s left" if left else ""
        )

    def _print(self, text: str) -> None:
        with contextlib.suppress(OSError):  # verdicts do not need a progress that can be written
            self._stream.write(text + "\n")
            self._stream.flush()


def told_origin(origin: str, why: str) -> str:
    """Where a verdict came from, and why from there."""
    return f"{origin}: {why}" if why else origin


def make_progress(
    stream: TextIO,
    quiet: bool,
    verbose: bool,
    expected_seconds: Mapping[str, float] | None = None,
    color: bool = True,
) -> Progress:
    """The progress that fits `stream`.

    `expected_seconds` gives the recorded seconds of cells by name, for the estimate of what is left; cells that
    it lacks are taken for average. Without `color` a terminal is written to without colours, too.
    """
    if quiet:
        return Progress()
    if stream.isatty():
        from portcheck.report.live import LiveProgress  # rich takes 0.1 s to import

        return LiveProgress(stream, verbose, expected_seconds or {}, color)
    return PlainProgress(stream, verbose, expected_seconds or {})
