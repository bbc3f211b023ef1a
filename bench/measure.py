"""What a command costs: CPU seconds of it and of everything that it starts, wall seconds, and memory."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h

# What is set where the benchmark runs must not decide what it measures.
_FOREIGN = ("PORTCHECK_", "TRITON_", "MLIR_", "LLVM_", "AMDGCN_", "PYTHON")


@dataclass(frozen=True, slots=True)
class Usage:
    """The cost of one command."""

    cpu: float  # seconds, user and system, of the command and all its descendants
    wall: float  # seconds until the command ended
    peak: int  # bytes, of the largest process among those the command waited for
    out: str  # what it printed


def run(command: Sequence[str], env: Mapping[str, str] | None = None, statuses: Sequence[int] = (0, 1)) -> Usage:
    """Run a command with `env` on top of the environment, in an empty folder.

    Raises:
        RuntimeError: it ended with a status that is not among `statuses`.
    """
    _adopt_orphans()
    plain = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as printed:
        began = time.perf_counter()
        child = subprocess.Popen(
            command, cwd=folder, env={**plain, **(env or {})}, stdin=subprocess.DEVNULL, stdout=printed, stderr=printed
        )
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        cpu = usage.ru_utime + usage.ru_stime + _orphans()
        printed.seek(0)
        out = printed.read().decode(errors="replace")
    if child.returncode not in statuses:
        raise RuntimeError(f"{' '.join(command)} ended with status {child.returncode}:\n{out[-2000:]}")
    return Usage(cpu, wall, usage.ru_maxrss << 10, out)


def portcheck(*arguments: str | Path, cache: Path, env: Mapping[str, str] | None = None) -> Usage:
    """The cost of `portcheck ARGUMENTS` with the cache in `cache`."""
    command = [sys.executable, "-m", "portcheck", *map(str, arguments)]
    return run(command, {"PORTCHECK_CACHE": str(cache), **(env or {})})


def _adopt_orphans() -> None:
    """A process that is killed leaves its children to the nearest that asked for them: here they are still counted."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _orphans() -> float:
    """CPU seconds of what the command left to us; waits until all of it has ended."""
    total = 0.0
    while True:
        try:
            _, _, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return total
        total += usage.ru_utime + usage.ru_stime
