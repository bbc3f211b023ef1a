"""doit's reporter: what is told when a run is interrupted."""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Iterator

import pytest

from portcheck.rules.reporter import PortcheckReporter
from portcheck.rules.run import Run
from portcheck.verdicts import Outcome, Result
from tests.rules.conftest import MakeRun


@pytest.fixture(autouse=True)
def no_end(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Interrupting does not end the process of the tests, which gets its handlers of signals back."""

    def end(status: int) -> None:
        raise SystemExit(status)

    monkeypatch.setattr(os, "_exit", end)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    runs = list(PortcheckReporter.runs)
    yield
    PortcheckReporter.runs[:] = runs
    for number, handler in handlers.items():
        signal.signal(number, handler)


def interrupted(capfd: pytest.CaptureFixture[str], wanted: list[str], *runs: Run, later: Run | None = None) -> str:
    """What is told on Ctrl-C while these tasks run; the run `later` begins on their way."""
    PortcheckReporter.runs[:] = runs
    reporter = PortcheckReporter(io.StringIO(), {})
    tasks = {name: type("Task", (), {"task_dep": []}) for name in wanted}
    reporter.initialize(tasks, wanted)
    PortcheckReporter.runs.extend([later] if later else [])
    with pytest.raises(SystemExit) as ended:
        reporter._stop(signal.SIGINT, None)
    assert ended.value.code == 130
    return capfd.readouterr().err


def test_how_many_cells_are_kept(make_run: MakeRun, capfd: pytest.CaptureFixture[str]) -> None:
    run = make_run(quiet=True)
    name = next(iter(run.cells))
    run.results[name] = Result(Outcome(), "compiled")

    said = interrupted(capfd, [f"compile:{name}"], run)

    assert said == "\nportcheck: interrupted; 1 of 6 cells are finished and kept\n"


def test_a_diff_in_a_run_of_its_own_is_told_once(make_run: MakeRun, capfd: pytest.CaptureFixture[str]) -> None:
    suite, compared = make_run(quiet=True), make_run(quiet=True)
    compared.results = dict.fromkeys(list(compared.cells)[:2], Result(Outcome(), "compiled"))

    said = interrupted(capfd, ["diff"], suite, later=compared)

    assert said == "\nportcheck: interrupted; 2 of 6 cells are finished and kept\n"


def test_where_no_cell_was_to_be_judged_none_is_counted(make_run: MakeRun, capfd: pytest.CaptureFixture[str]) -> None:
    assert interrupted(capfd, ["toolchain:9.8.7"], make_run(quiet=True)) == "\nportcheck: interrupted\n"
