"""Progress: what a log, a terminal and a quiet run see."""

from __future__ import annotations

import io
import os
import pty
import signal
import subprocess
import sys
import threading

import pytest

from portcheck.report.pace import Pace
from portcheck.report.progress import PlainProgress, Progress, make_progress


class Clock:
    """A clock that is set by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_log_gets_a_line_for_each_failure() -> None:
    stream = io.StringIO()
    progress = make_progress(stream, quiet=False, verbose=False)
    progress.start(3)
    progress.cell_started("a@cuda:80@3.9.0")
    progress.cell_finished("a@cuda:80@3.9.0", "ok", "compiled")
    progress.cell_finished("a@cuda:90@3.9.0", "assembler-error", "compiled")
    progress.cell_finished("b@cuda:90@3.9.0", "assembler-error", "cached")
    progress.note("the remote does not answer")

    assert stream.getvalue() == "a@cuda:90@3.9.0: assembler-error\nthe remote does not answer\n"


def test_verbose_names_every_cell_and_where_it_came_from() -> None:
    stream = io.StringIO()
    progress = make_progress(stream, quiet=False, verbose=True)
    progress.start(1)
    progress.cell_finished("a@cuda:80@3.9.0", "ok", "cutoff")

    assert stream.getvalue() == "a@cuda:80@3.9.0: ok (cutoff)\n"


def test_quiet_says_nothing() -> None:
    stream = io.StringIO()
    progress = make_progress(stream, quiet=True, verbose=True)
    progress.start(1)
    progress.cell_finished("a", "crash", "compiled")
    progress.note("x")
    progress.stop()

    assert stream.getvalue() == ""


def test_a_log_hears_of_the_whole_at_most_every_ten_seconds() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = PlainProgress(stream, verbose=False, expected_seconds={}, clock=clock)
    progress.start(100)
    for second in range(25):
        clock.now = 101.0 + second
        progress.cell_finished(f"k{second}", "ok", "compiled")

    assert stream.getvalue().splitlines() == [
        "10 of 100 cells, 0 failed, about 90 s left",
        "20 of 100 cells, 0 failed, about 80 s left",
    ]


def test_nothing_is_said_after_stop() -> None:
    stream = io.StringIO()
    progress = make_progress(stream, quiet=False, verbose=True)
    progress.start(1)
    progress.stop()
    progress.stop()
    progress.cell_finished("a", "crash", "compiled")

    assert stream.getvalue() == ""


def test_many_threads_may_report() -> None:
    stream = io.StringIO()
    progress = make_progress(stream, quiet=False, verbose=False)
    progress.start(400)

    def work(worker: int) -> None:
        for n in range(100):
            progress.cell_finished(f"k{worker}.{n}", "crash", "compiled")

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(stream.getvalue().splitlines()) == sorted(f"k{w}.{n}: crash" for w in range(4) for n in range(100))


PACES = [
    ("at the rate so far", {}, ["a"], 2.0, 6.0),
    ("by recorded seconds", {"a": 1.0, "b": 7.0, "c": 1.0, "d": 1.0}, ["a"], 2.0, 18.0),
    ("unknown cells are average", {"a": 1.0, "b": 3.0}, ["a"], 2.0, 14.0),
    ("nothing known yet", {}, [], 2.0, None),
    ("all done", {}, ["a", "b", "c", "d"], 2.0, None),
    ("more recorded than planned", dict.fromkeys("abcdefgh", 1.0), ["a"], 2.0, 14.0),
]


@pytest.mark.parametrize(("what", "expected", "done", "elapsed", "left"), PACES, ids=[case[0] for case in PACES])
def test_the_estimate(
    what: str, expected: dict[str, float], done: list[str], elapsed: float, left: float | None
) -> None:
    pace = Pace(4, expected, 100.0)
    for name in done:
        pace.finish(name)

    assert pace.remaining(100.0 + elapsed) == left


def on_a_terminal(script: str, interrupt: bool = False, columns: int = 120) -> tuple[str, int]:
    """Run `script` with a terminal as its fd 2; returns what the terminal saw, and the exit status."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stderr=theirs,
        stdout=subprocess.PIPE,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns), "NO_COLOR": "1"},
    )
    os.close(theirs)
    if interrupt:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
    seen = b""
    try:
        while chunk := os.read(ours, 4096):
            seen += chunk
    except OSError:  # Linux: EIO once the other side is closed
        pass
    os.close(ours)
    process.communicate(timeout=30)
    return seen.decode(), process.returncode


BEGIN = """
import sys, signal, time
from portcheck.report.progress import make_progress
progress = make_progress(sys.stderr, quiet=False, verbose=False, expected_seconds={"a[fp16]@cuda:80@3.9.0": 1.0})
progress.start(3)
progress.cell_started("a[fp16]@cuda:80@3.9.0")
progress.cell_started("b@cuda:80@3.9.0")
"""


def test_a_terminal_shows_a_bar_and_the_running_cells() -> None:
    seen, status = on_a_terminal(
        BEGIN
        + """
time.sleep(0.5)
progress.cell_finished("b@cuda:80@3.9.0", "mlir-error", "compiled")
progress.note("a note [with brackets]")
progress.stop()
progress.stop()
"""
    )

    assert status == 0
    assert "0/3" in seen
    assert "a[fp16]@cuda:80@3.9.0 b@cuda:80@3.9.0" in seen
    assert "b@cuda:80@3.9.0: mlir-error\r\n" in seen
    assert "a note [with brackets]\r\n" in seen
    assert "\x1b[?25h" in seen  # the cursor is back


@pytest.mark.parametrize("columns", [80, 60])
def test_a_narrow_terminal_cuts_off_names_and_no_count(columns: int) -> None:
    seen, _ = on_a_terminal(
        BEGIN
        + """
progress.cell_finished("b@cuda:80@3.9.0", "mlir-error", "compiled")
progress.cell_started("a_kernel_with_a_very_long_name[and-a-variant]@hip:gfx942@3.9.0")
time.sleep(0.5)
progress.stop()
""",
        columns=columns,
    )

    assert "1/3 1 failed about " in seen
    assert "…" in seen
    assert "\n\r" not in seen


def test_there_is_no_bar_where_nothing_is_to_be_compiled() -> None:
    seen, _ = on_a_terminal(BEGIN.replace("start(3)", "start(0)") + 'progress.note("a note")\nprogress.stop()\n')

    assert seen.replace("\x1b[?25h", "").strip() == "a note"


def test_the_bar_stops_from_a_signal_handler_in_the_midst_of_reporting() -> None:
    seen, status = on_a_terminal(
        BEGIN
        + """
def stop(*_):
    progress.stop()
    sys.exit(130)
signal.signal(signal.SIGINT, stop)
print("ready", flush=True)
while True:
    progress.cell_started("c@cuda:80@3.9.0")
    progress.cell_finished("c@cuda:80@3.9.0", "ok", "compiled")
""",
        interrupt=True,
    )

    assert status == 130
    assert "\x1b[?25h" in seen


def test_rich_is_imported_for_a_terminal_only() -> None:
    script = """
import io, sys
from portcheck.report.progress import make_progress
make_progress(io.StringIO(), False, False, {}); make_progress(io.StringIO(), True, False, {})
sys.exit("rich" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_the_quiet_one_is_the_interface() -> None:
    assert type(make_progress(io.StringIO(), quiet=True, verbose=False)) is Progress
