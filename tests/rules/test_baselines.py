"""The task that freezes failures. The judge is a stand-in here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from doit.exceptions import TaskError

from portcheck.baseline import dump, entry_of, load
from portcheck.errors import EnvironmentProblem
from portcheck.rules.baselines import is_frozen, write_baseline
from portcheck.rules.run import Run
from portcheck.rules.uptodate import SKIPPED
from portcheck.verdicts import Failure, Outcome, Result
from tests.rules.test_run import RED, prepared

MakeRun = Callable[..., Run]

TOOL = Result(Outcome(Failure("toolchain-error", "hsaco", "no ld.lld: install it")), "compiled")


def judged(run: Run, **results: Result) -> Run:
    """A run whose rows on cuda:90 came out like this, all other cells ok."""
    run = prepared(run, {f"{row}@cuda:90@9.8.7": result for row, result in results.items()})
    for name in run.cells:
        run.compile(name)
    return run


def asked(path: Path, prune: bool = False) -> SimpleNamespace:
    """The task as doit has it."""
    return SimpleNamespace(init_options=lambda: None, options={"output": str(path), "prune": prune}, meta=None)


def test_failures_are_frozen_and_then_there_is_nothing_to_do(make_run: MakeRun, tmp_path: Path) -> None:
    run, path, task = judged(make_run(), copy=RED), tmp_path / "baseline.toml", asked(tmp_path / "baseline.toml")

    assert not is_frozen(run, task)
    assert write_baseline(run, str(path), False) is True
    assert list(load(path)) == ["copy@cuda:90@9.8.7"]
    assert is_frozen(run, task)
    assert task.meta == {SKIPPED: [f"{path}: unchanged, not written again"]}


def test_what_was_left_to_be_done_is_told_again(make_run: MakeRun, tmp_path: Path) -> None:
    path = tmp_path / "baseline.toml"
    assert RED.outcome.failure
    path.write_text(dump({"gone@cuda:90@9.8.7": entry_of(RED.outcome.failure)}))
    freezing, pruning = asked(path), asked(path, prune=True)
    run = judged(make_run(), copy=RED)

    assert not is_frozen(run, pruning)
    write_baseline(run, str(path), False)
    assert is_frozen(run, freezing)
    assert freezing.meta[SKIPPED][1:] == ["1 cell of it no longer in the manifest: --prune takes them out"]
    write_baseline(run, str(path), True)
    assert is_frozen(run, pruning)
    assert pruning.meta[SKIPPED][1:] == []


def test_a_missing_tool_is_not_frozen_and_an_error(
    make_run: MakeRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, path = judged(make_run(), copy=RED, scale=TOOL), tmp_path / "baseline.toml"

    ended = write_baseline(run, str(path), False)

    assert isinstance(ended, TaskError)
    assert run.trouble.status == EnvironmentProblem.status
    assert list(load(path)) == ["copy@cuda:90@9.8.7"]
    said = "portcheck: 1 cell not frozen, since a tool is missing: no ld.lld: install it\n"
    assert capsys.readouterr().err == said
    assert not is_frozen(run, asked(path))


def test_pruning_what_is_not_there_is_an_error(
    make_run: MakeRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = judged(make_run())

    assert isinstance(write_baseline(run, str(tmp_path / "none.toml"), True), TaskError)
    assert "there is no such baseline" in capsys.readouterr().err


def test_trouble_is_told_once(make_run: MakeRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = judged(make_run(), copy=RED)
    run.trouble.note(EnvironmentProblem("Triton is broken"))

    write_baseline(run, str(tmp_path / "baseline.toml"), False)
    run.trouble.tell()

    assert capsys.readouterr().err == "portcheck: Triton is broken\n"
    assert not (tmp_path / "baseline.toml").exists()
