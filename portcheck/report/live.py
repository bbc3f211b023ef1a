"""The progress on a terminal: a bar, the cells that are running, and what is left."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Mapping
from typing import TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn
from rich.progress import Progress as Bar
from rich.table import Column

from portcheck.report.pace import Pace
from portcheck.report.progress import Progress, told_origin
from portcheck.verdicts import OK

_COUNTS = 56  # columns that all but the bar may need, with little of the names
_NAMED = 2  # running cells that are named; the others are counted


class LiveProgress(Progress):
    """A bar that rich redraws; failures scroll by above it."""

    def __init__(self, stream: TextIO, verbose: bool, expected_seconds: Mapping[str, float], color: bool) -> None:
        self._verbose = verbose
        self._expected = expected_seconds
        # Reentrant: stop() may interrupt a method of the same thread.
        self._lock = threading.RLock()
        self._running: dict[str, None] = {}
        self._failed = 0
        self._pace: Pace | None = None
        self._task: TaskID | None = None
        console = Console(file=stream, highlight=False, color_system="auto" if color else None)
        self._bar = Bar(
            BarColumn(bar_width=max(4, min(24, console.width - _COUNTS))),
            MofNCompleteColumn(),
            TextColumn("{task.fields[failed]}"),
            TextColumn("{task.fields[left]}"),
            # Names take the room that is left, so that they are what a narrow terminal cuts off.
            TextColumn(
                "{task.fields[running]}", style="dim", table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")
            ),
            expand=True,
            console=console,
            refresh_per_second=4,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def start(self, total: int) -> None:
        with self._lock:
            self._pace = Pace(total, self._expected, time.monotonic())
            self._task = self._bar.add_task("", total=total, failed="", left="", running="")
            if total:
                self._bar.start()

    def cell_started(self, name: str) -> None:
        with self._lock:
            self._running[name] = None
            self._update()

    def cell_finished(self, name: str, verdict: str, origin: str, why: str = "") -> None:
        with self._lock:
            self._running.pop(name, None)
            if self._pace is None:
                return
            self._pace.finish(name)
            self._failed += verdict != OK
            if self._verbose or verdict != OK:
                shown = verdict if verdict == OK else f"[red]{verdict}[/red]"
                self._bar.console.print(
                    f"{escape(name)}: {shown}" + (f" ({told_origin(origin, why)})" if self._verbose else "")
                )
            self._update()

    def note(self, text: str) -> None:
        self._bar.console.print(escape(text))

    def stop(self) -> None:
        self._pace = None
        with contextlib.suppress(RuntimeError):  # a signal came while this very thread was writing to the terminal
            self._bar.stop()

    def _update(self) -> None:
        if self._pace is None or self._task is None:
            return
        left = self._pace.remaining(time.monotonic())
        names = list(self._running)
        more = [f"+{len(names) - _NAMED}"] if len(names) > _NAMED else []
        self._bar.update(
            self._task,
            completed=self._pace.done,
            failed=f"[red]{self._failed} failed[/red]" if self._failed else "",
            left=f"about {left:.0f} s left" if left is not None else "",
            running=escape(" ".join(names[:_NAMED] + more)),
        )
