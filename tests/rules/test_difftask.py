"""The task `diff`: two releases, shown again only when what it shows has changed. No Triton is asked here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from doit.exceptions import TaskError, TaskFailed

from portcheck.rules import difftask
from portcheck.rules import run as module
from portcheck.rules.reporter import PortcheckReporter
from portcheck.rules.run import Run
from portcheck.rules.tasks import diff_task
from portcheck.verdicts import Failure, Outcome, Result

MakeRun = Callable[..., Run]

RED = Outcome(Failure("mlir-error", "ttgir", "no layout"))


@pytest.fixture
def verdicts() -> dict[str, Outcome]:
    """Cell → what is recorded of it; those that are not named are ok."""
    return {}


@pytest.fixture
def suite(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch, verdicts: dict[str, Outcome]) -> Run:
    """A suite of one release, in a world where every release is there and all cells are recorded."""
    monkeypatch.setattr(module, "release_of", lambda name, locked: "9.8.7" if name == "current" else name)
    monkeypatch.setattr(module, "is_ready", lambda release, store, locked: True)
    monkeypatch.setattr(PortcheckReporter, "runs", [])

    def look_up(cell: Any) -> Result:
        return Result(verdicts.get(cell.name, Outcome()), "cached")

    judge = SimpleNamespace(look_up=look_up, predict=lambda cell: None)
    nothing = {"close": lambda: None, "stop": lambda: None, "end": lambda release: None}
    workshop = SimpleNamespace(judge=lambda cell: judge, toolchains=(), **nothing)
    monkeypatch.setattr(module, "Workshop", lambda *arguments, **options: workshop)
    return make_run()


def options(**given: Any) -> dict[str, Any]:
    """The options of the task as doit gives them."""
    return {param["name"]: param["default"] for param in difftask.PARAMS} | given


def show(run: Run, **given: Any) -> Any:
    """Do what the task does."""
    (action,) = diff_task(run)["actions"]
    return action(**options(**given))


def is_shown(run: Run, **given: Any) -> bool:
    """Does doit take the task for up to date?"""
    (uptodate,) = diff_task(run)["uptodate"]
    task = SimpleNamespace(options=options(**given), meta=None, init_options=lambda: None)
    return bool(uptodate(task))


def test_two_releases_are_compared_even_if_the_suite_is_checked_with_others(
    suite: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert show(suite, old="9.0.0", new="9.1.0") is True

    out = capsys.readouterr().out
    assert " · 9.0.0 -> 9.1.0\n" in out
    assert "6 cells: 0 regressed, 0 fixed, 0 fail differently, 6 unchanged" in out


def test_a_regression_fails_the_task_each_time(suite: Run, verdicts: dict[str, Outcome]) -> None:
    verdicts["copy@cuda:90@9.1.0"] = RED

    assert isinstance(show(suite, old="9.0.0", new="9.1.0"), TaskFailed)
    assert not is_shown(suite, old="9.0.0", new="9.1.0")


def test_what_was_shown_is_not_shown_again_until_a_record_changes(suite: Run, verdicts: dict[str, Outcome]) -> None:
    asked = {"old": "9.0.0", "new": "9.1.0"}
    assert not is_shown(suite, **asked)
    show(suite, **asked)

    assert is_shown(suite, **asked)
    assert not is_shown(suite, old="9.1.0", new="9.0.0")
    assert not is_shown(suite, **asked, slower=10.0)

    verdicts["copy@cuda:90@9.0.0"] = RED
    assert not is_shown(suite, **asked)


def test_what_was_written_is_written_again_if_it_is_gone_or_changed(suite: Run, tmp_path: Path) -> None:
    asked = {"old": "9.0.0", "new": "9.1.0", "json": str(tmp_path / "d.json"), "markdown": str(tmp_path / "d.md")}
    show(suite, **asked)
    assert is_shown(suite, **asked)

    (tmp_path / "d.md").write_text("mine")
    assert not is_shown(suite, **asked)
    show(suite, **asked)
    (tmp_path / "d.json").unlink()
    assert not is_shown(suite, **asked)


def test_no_environment_is_created_to_tell_whether_it_was_shown(suite: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"old": "9.0.0", "new": "9.1.0"}
    show(suite, **asked)
    monkeypatch.setattr(module, "is_ready", lambda release, store, locked: False)
    monkeypatch.setattr(module, "Workshop", lambda *arguments, **options: pytest.fail("it would be created"))

    assert not is_shown(suite, **asked)


def test_the_releases_of_a_suite_with_two_need_no_names(
    suite: Run, make_run: MakeRun, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    manifest = tmp_path / "portcheck.toml"
    manifest.write_text(manifest.read_text().replace("[defaults]", '[defaults]\ntriton = ["9.0.0", "9.1.0"]'))
    two = Run(suite.request)

    assert show(two) is True
    assert " · 9.0.0 -> 9.1.0\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "diff: name two releases with --old and --new: this suite is checked with 9.8.7"),
        ({"old": "9.0.0"}, "diff: name two releases"),
        ({"old": "9.8.7", "new": "current"}, "9.8.7 and current are the same release"),
        ({"old": "9.0.0", "new": "9.1.0", "json": "/proc/no/d.json"}, "/proc/no/d.json: cannot write"),
    ],
)
def test_mistakes_are_told_in_one_line(
    suite: Run, capsys: pytest.CaptureFixture[str], asked: dict[str, str], said: str
) -> None:
    assert isinstance(show(suite, **asked), TaskError)
    assert not is_shown(suite, **asked)

    err = capsys.readouterr().err
    assert err.startswith(f"portcheck: {said}")
    assert err.count("\n") == 1
