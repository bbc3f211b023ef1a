"""doit's reporter for runs of portcheck: no line a task, a progress display instead, and Ctrl-C that stops at once."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable, Mapping
from types import FrameType
from typing import Any

from doit.reporter import ConsoleReporter

from portcheck.rules.names import doit_name, own_name
from portcheck.rules.order import release_by_release
from portcheck.rules.run import Run
from portcheck.rules.tasks import is_ours
from portcheck.rules.uptodate import SKIPPED


class PortcheckReporter(ConsoleReporter):  # type: ignore[misc]
    """Quiet about portcheck's own tasks; other tasks of a user's dodo.py are told as doit tells them."""

    desc = "portcheck's progress and matrix"
    runs: list[Run] = []  # noqa: RUF012 - doit makes the reporter; this is where it finds the run

    def initialize(self, tasks: Mapping[str, Any], selected: list[str]) -> None:
        """Start the progress, and take the signals that end a run."""
        super().initialize(tasks, selected)
        wanted = _closure(tasks, selected)
        for run in self.runs:
            if "portcheck" in wanted:
                release_by_release(run, tasks)
            run.start_progress(sys.stderr, sum(name.startswith("compile:") for name in wanted))
        # Another suite of the dodo.py, or this one while `diff` has a run of its own.
        self._idle = [
            run for run in self.runs if not (run.results or any(f"compile:{doit_name(n)}" in wanted for n in run.cells))
        ]
        self._handlers = {number: signal.signal(number, self._stop) for number in (signal.SIGINT, signal.SIGTERM)}

    def execute_task(self, task: Any) -> None:
        """Say that a task starts, if it is not one of ours."""
        if not is_ours(task.name):
            super().execute_task(task)

    def add_failure(self, task: Any, fail: Any) -> None:
        """Say that a task failed; a red matrix has said it already."""
        if not is_ours(task.name):
            super().add_failure(task, fail)

    def skip_uptodate(self, task: Any) -> None:
        """Say that a task is up to date: of ours, what writes or shows something; cells get the known verdict."""
        if not is_ours(task.name):
            super().skip_uptodate(task)
            return
        kind, _, name = task.name.partition(":")
        for run in self.runs:
            if kind == "compile" and (cell := name if name in run.cells else own_name(name)) in run.cells:
                run.take(cell)
            for line in (task.meta or {}).get(SKIPPED, ()):
                run.warn(line)

    def complete_run(self) -> None:
        """End the progress and every process."""
        for run in self.runs:
            run.close()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        super().complete_run()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Kill the children and leave. doit would wait for its threads; what is finished is in the cache already."""
        for run in self.runs:
            run.interrupt()
        busy = [run for run in self.runs if run not in self._idle]
        finished, cells = sum(len(run.results) for run in busy), sum(len(run.cells) for run in busy)
        kept = f"; {finished} of {cells} cells are finished and kept" if busy else ""
        os.write(2, f"\nportcheck: interrupted{kept}\n".encode())
        os._exit(130)


def _closure(tasks: Mapping[str, Any], selected: Iterable[str]) -> set[str]:
    """The selected tasks and all that they depend on."""
    wanted: set[str] = set()
    waiting = list(selected)
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting += tasks[name].task_dep if name in tasks else []
    return wanted
