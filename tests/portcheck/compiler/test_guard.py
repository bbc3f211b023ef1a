"""The guard, over real processes."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest

from portcheck.compiler.guard import Guard, kill_session

SPAWN_SLEEPER = "import subprocess; subprocess.Popen(['sleep', '600']); "
EAT = "kept = bytearray(b'x') * (300 << 20); import time; time.sleep(600)"


@pytest.fixture
def guard() -> Iterator[Guard]:
    """A guard that is closed at the end."""
    guard = Guard()
    yield guard
    guard.close()


@pytest.fixture
def lead() -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    """`lead(code)`: a Python process that leads a session of its own."""
    started: list[subprocess.Popen[bytes]] = []

    def lead(code: str) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen([sys.executable, "-c", code], start_new_session=True))
        return started[-1]

    yield lead
    for process in started:
        kill_session(process.pid)
        process.wait()


def test_a_process_past_its_time_is_killed_with_its_children(
    guard: Guard, lead: Callable[[str], subprocess.Popen[bytes]], until: Callable[[Callable[[], Any]], None]
) -> None:
    process = lead(SPAWN_SLEEPER + "import time; time.sleep(600)")
    until(psutil.Process(process.pid).children)
    (child,) = psutil.Process(process.pid).children()

    watched = guard.watch(process.pid, timeout=0.2, max_rss=None)
    process.wait(timeout=30)

    assert watched is not None and watched.breach == "timeout"
    until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)


def test_a_process_that_eats_memory_is_killed(guard: Guard, lead: Callable[[str], subprocess.Popen[bytes]]) -> None:
    process = lead(f"import time; time.sleep(0.3); {EAT}")

    watched = guard.watch(process.pid, timeout=60, max_rss=200 << 20)
    process.wait(timeout=30)

    assert watched is not None and watched.breach == "memory-limit"


def test_the_memory_of_children_counts(guard: Guard, lead: Callable[[str], subprocess.Popen[bytes]]) -> None:
    process = lead(f"import subprocess, sys; subprocess.run([sys.executable, '-c', {EAT!r}])")

    watched = guard.watch(process.pid, timeout=60, max_rss=200 << 20)
    process.wait(timeout=30)

    assert watched is not None and watched.breach == "memory-limit"


def test_memory_that_it_was_born_with_does_not_count(
    guard: Guard, lead: Callable[[str], subprocess.Popen[bytes]], until: Callable[[Callable[[], Any]], None]
) -> None:
    process = lead(EAT)
    until(lambda: psutil.Process(process.pid).memory_info().rss > 300 << 20)

    watched = guard.watch(process.pid, timeout=60, max_rss=200 << 20)
    time.sleep(0.5)

    assert watched is not None and watched.breach is None
    assert process.poll() is None


def test_whoever_is_released_is_left_alone(guard: Guard, lead: Callable[[str], subprocess.Popen[bytes]]) -> None:
    process = lead("import time; time.sleep(600)")
    watched = guard.watch(process.pid, timeout=0.3, max_rss=None)
    guard.release(watched)
    time.sleep(0.6)

    assert process.poll() is None
    guard.release(None)


def test_a_process_that_has_ended_is_not_watched(guard: Guard, lead: Callable[[str], subprocess.Popen[bytes]]) -> None:
    process = lead("pass")
    process.wait()

    assert guard.watch(process.pid, timeout=60, max_rss=None) is None
    kill_session(process.pid)  # no error either
