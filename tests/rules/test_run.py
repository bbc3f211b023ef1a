"""What the tasks of a run act on: results, trouble and the exit status. The judge is a stand-in here."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from portcheck.baseline import dump, entry_of
from portcheck.cells import Cell
from portcheck.compiler.tree import Interrupted
from portcheck.errors import EnvironmentProblem, UsageError
from portcheck.report.progress import Progress
from portcheck.rules.reports import print_report, write_reports
from portcheck.rules.run import Run
from portcheck.verdicts import Failure, Outcome, Result

MakeRun = Callable[..., Run]

RED = Result(Outcome(Failure("mlir-error", "ttgir", "no")), "compiled")
GREEN = Result(Outcome(), "compiled")


def prepared(run: Run, results: dict[str, Any]) -> Run:
    """A run whose judge gives `results` by the cell's name, or raises them."""

    def judge(cell: Any, force: bool = False) -> Result:
        found = results.get(cell.name, GREEN)
        if isinstance(found, Exception):
            raise found
        return found

    workshop = SimpleNamespace(
        judge=lambda cell: SimpleNamespace(judge=judge, predict=lambda cell: None),
        toolchains=(),
        end=lambda release: None,
        close=lambda: None,
        stop=lambda: None,
    )
    run._workshop = workshop  # type: ignore[assignment]
    return run


def compile_all(run: Run) -> None:
    """Run the actions that doit would run."""
    for name in run.cells:
        run.compile(name)
    write_reports(run)
    print_report(run)


def test_all_green_is_0(make_run: MakeRun, capsys: pytest.CaptureFixture[str]) -> None:
    run = prepared(make_run(), {})
    compile_all(run)

    assert run.status == 0
    assert "6 cells: 6 ok" in capsys.readouterr().out


def test_a_new_failure_is_1_and_an_expected_one_0(make_run: MakeRun) -> None:
    new = prepared(make_run(), {"copy@cuda:90@9.8.7": RED})
    compile_all(new)
    expected = prepared(make_run(), {"scale@hip:gfx942@9.8.7": RED})
    compile_all(expected)

    assert (new.status, expected.status) == (1, 0)


def test_a_toolchain_error_wins_over_a_new_failure(make_run: MakeRun) -> None:
    broken = Result(Outcome(Failure("toolchain-error", "hsaco", "no ld.lld")), "compiled")
    run = prepared(make_run(), {"copy@cuda:90@9.8.7": RED, "copy@hip:gfx942@9.8.7": broken})
    compile_all(run)

    assert run.status == 3


@pytest.mark.parametrize(
    ("trouble", "status", "said"),
    [
        (UsageError("portcheck.toml: a mistake"), 2, "portcheck: portcheck.toml: a mistake\n"),
        (EnvironmentProblem("Triton cannot be imported"), 3, "portcheck: Triton cannot be imported\n"),
    ],
)
def test_trouble_is_said_once_and_ends_the_run(
    make_run: MakeRun, capsys: pytest.CaptureFixture[str], trouble: Exception, status: int, said: str
) -> None:
    run = prepared(make_run(), dict.fromkeys(make_run().cells, trouble))
    compile_all(run)

    assert run.status == status
    assert capsys.readouterr() == ("", said)
    assert len(run.problems) == 1


def test_a_bug_is_one_line_that_says_what_to_report(
    make_run: MakeRun, capsys: pytest.CaptureFixture[str], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = prepared(make_run(), {"copy@cuda:90@9.8.7": ZeroDivisionError("division by zero")})
    compile_all(run)

    (line,) = capsys.readouterr().err.splitlines()
    assert run.status == 3
    assert line.startswith("portcheck: internal error in test_run.py:")
    log = tmp_path / "portcheck-internal-error.txt"
    assert line.endswith(f"please report it with {log}")
    assert "ZeroDivisionError" in log.read_text()


def test_a_run_that_lost_cells_is_not_green(make_run: MakeRun, capsys: pytest.CaptureFixture[str]) -> None:
    run = prepared(make_run(), {})
    run.compile("copy@cuda:90@9.8.7")
    write_reports(run)
    print_report(run)

    assert run.status == 3
    assert capsys.readouterr().err == "portcheck: internal error: only 1 of 6 cells reported; please report it\n"


def test_an_interrupted_cell_is_nobody_s_fault(make_run: MakeRun) -> None:
    run = prepared(make_run(), {"copy@cuda:90@9.8.7": Interrupted()})
    run.compile("copy@cuda:90@9.8.7")

    assert run.problems == []
    assert run.results == {}


def test_after_enough_new_failures_nothing_is_started(make_run: MakeRun) -> None:
    run = prepared(make_run(max_failures=2), {**dict.fromkeys(make_run().cells, RED)})
    compile_all(run)

    assert list(run.results) == ["copy@cuda:90@9.8.7", "copy@hip:gfx942@9.8.7"]
    assert run.status == 1


def test_expected_failures_do_not_count_towards_the_limit(make_run: MakeRun) -> None:
    run = prepared(make_run(max_failures=1), {"scale@hip:gfx942@9.8.7": RED})
    run.compile("scale@hip:gfx942@9.8.7")
    run.compile("copy@cuda:90@9.8.7")

    assert len(run.results) == 2


def test_a_matrix_that_cannot_be_written_is_3(
    make_run: MakeRun, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = prepared(make_run(), {"copy@cuda:90@9.8.7": RED})
    with open("/dev/full", "w") as full:
        monkeypatch.setattr("sys.stdout", full)
        compile_all(run)

    assert run.status == 3
    assert capsys.readouterr().err == "portcheck: cannot write to standard output: No space left on device\n"


def test_a_report_that_cannot_be_written_takes_no_matrix_away(
    make_run: MakeRun, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    (tmp_path / "file").touch()
    run = prepared(make_run(reports={"json": tmp_path / "file" / "report.json"}), {})
    compile_all(run)

    printed = capsys.readouterr()
    assert run.status == 2
    assert "6 cells: 6 ok" in printed.out
    assert "cannot write the report" in printed.err


def test_a_slow_import_is_named(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    said, noted = [], threading.Event()

    class Noted(Progress):
        def note(self, text: str) -> None:
            said.append(text)
            noted.set()

    monkeypatch.setattr("portcheck.rules.run.INTERVAL", 0.0)
    run = prepared(make_run(), {})
    run.workshop.judge = lambda cell: SimpleNamespace(resolve=lambda cell: noted.wait(60))  # type: ignore
    run.progress = Noted()
    run.resolve(["scale@cuda:90@9.8.7"])

    assert said == ["importing package.kernels …"]


def test_why_a_cell_is_compiled(make_run: MakeRun) -> None:
    assert make_run(force=True).why(next(iter(make_run().cells.values()))) == "forced"


def test_a_known_failure_is_0_and_does_not_count_towards_the_limit(make_run: MakeRun, tmp_path: Path) -> None:
    known = entry_of(RED.outcome.failure)  # type: ignore[arg-type]
    (tmp_path / "baseline.toml").write_text(dump({"copy@cuda:90@9.8.7": known}))
    run = prepared(
        make_run(baseline=tmp_path / "baseline.toml", max_failures=1),
        {"copy@cuda:90@9.8.7": RED, "scale@hip:gfx942@9.8.7": RED},
    )
    compile_all(run)

    assert run.status == 0
    assert run.report is not None
    assert (run.report.summary["known"], run.report.summary["xfail"], run.report.summary["skipped"]) == (1, 1, 0)


def test_a_baseline_that_is_not_there_is_an_error_unless_it_may_be_made_later(
    make_run: MakeRun, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="there is no such baseline"):
        make_run(baseline=tmp_path / "baseline.toml")

    assert make_run(baseline=tmp_path / "baseline.toml", baseline_may_be_missing=True).baseline == {}


def test_an_unexpected_pass_fails_only_where_it_is_to(make_run: MakeRun, tmp_path: Path) -> None:
    lax = prepared(make_run(), {})
    manifest = tmp_path / "portcheck.toml"
    manifest.write_text(manifest.read_text() + "xfail_strict = true\n")
    strict = prepared(Run(lax.request), {})
    for run in (lax, strict):
        compile_all(run)

    assert (lax.status, strict.status) == (0, 1)


def test_the_state_of_a_cell_is_that_of_its_verdict(make_run: MakeRun) -> None:
    run = prepared(make_run(), {})
    run.known = {"copy@cuda:90@9.8.7": GREEN}

    assert run.is_known("copy@cuda:90@9.8.7")
    assert not run.is_known("copy@hip:gfx942@9.8.7")
    assert not run.is_judged()


def test_a_row_that_does_not_fit_its_kernel_is_not_resolved(make_run: MakeRun) -> None:
    def misfit(cell: Cell) -> bool:
        raise UsageError(f"{cell.name}: no such parameter")

    run = prepared(make_run(force=True), {})
    run.workshop.judge = lambda cell: SimpleNamespace(is_resolved=misfit)  # type: ignore

    assert not run.is_resolved(["copy@cuda:90@9.8.7"])


def test_asking_for_states_never_raises(make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run()
    monkeypatch.setattr(run, "prepare", lambda: 1 / 0)
    monkeypatch.chdir(tmp_path)

    assert not run.is_known("copy@cuda:90@9.8.7")
    assert not run.is_resolved(["copy@cuda:90@9.8.7"])
    assert not run.is_prepared()
    assert not run.is_judged()
