"""The standard streams of a command: usable whatever the shell made of them, and never silently lossy."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import TextIO

from portcheck.errors import EnvironmentProblem

_FLAGS = (os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)  # of the stand-ins for fd 0, 1 and 2


def repair() -> None:
    """Give closed streams their fd and their object back, and write what an encoding lacks as an escape.

    A free fd would go to the next file that is opened, and the output into it. Standard output stays unwritable, since
    somebody would miss what is written there.
    """
    for number, flags in enumerate(_FLAGS):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)  # gets the lowest free number, which is this one
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115 - open as long as the process
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def write_out(text: str = "") -> EnvironmentProblem | None:
    """Write text to standard output, and all that it holds back; returns what is wrong if that fails.

    A reader who has seen enough and left is no problem; the rest goes nowhere.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        _discard(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            return EnvironmentProblem(f"cannot write to standard output: {error.strerror or error}")
    return None


def tell(*lines: str) -> None:
    """Write lines to standard error, if that can be written."""
    try:
        for line in lines:
            print(line, file=sys.stderr)
        sys.stderr.flush()
    except OSError:
        _discard(sys.stderr)


def _discard(stream: TextIO) -> None:
    """Let go nowhere what the stream holds and gets: Python would complain once more when it closes it."""
    with contextlib.suppress(OSError, ValueError):  # a stream without an fd
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
