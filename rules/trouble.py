"""What goes wrong in a run: kept and told at its end, since doit would swallow what an action raises."""

from __future__ import annotations

import threading
from collections.abc import Callable

from portcheck.compiler.tree import Interrupted
from portcheck.errors import PortcheckError, UsageError, internal_error
from portcheck.streams import tell


class Trouble:
    """The problems of one run. Thread-safe."""

    def __init__(self) -> None:
        self.problems: list[PortcheckError] = []  # they end the run
        self.unwritten: list[PortcheckError] = []  # files that could not be written, which ends nothing
        self._told: list[PortcheckError] = []
        self._lock = threading.Lock()

    @property
    def status(self) -> int:
        """The exit status that the problems ask for; 0 if there are none."""
        return max((problem.status for problem in self.problems + self.unwritten), default=0)

    def guarded(self, action: Callable[[], None]) -> bool:
        """Run an action; its trouble becomes a problem of the run, and the tasks after it go on to say so."""
        try:
            action()
        except Interrupted:
            pass
        except PortcheckError as error:
            self.note(error)
        except Exception as error:
            self.note(internal_error(error))
        return True

    def write_aside(self, write: Callable[[], None]) -> bool:
        """Write a file beside the matrix, and return whether it was; the verdicts stand even if that fails."""
        try:
            write()
        except UsageError as error:
            with self._lock:
                self.unwritten.append(error)
            return False
        return True

    def note(self, problem: PortcheckError) -> None:
        """Keep a problem; one that several cells have is told once."""
        with self._lock:
            if str(problem) not in map(str, self.problems):
                self.problems.append(problem)

    def tell(self) -> None:
        """Write to standard error what was not told yet."""
        with self._lock:
            untold = [problem for problem in self.problems + self.unwritten if problem not in self._told]
            self._told += untold
        tell(*(f"portcheck: {line}" for problem in untold for line in str(problem).splitlines()))
