"""The command line's outside: help, versions, and how errors become statuses."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Callable, Iterator

import pytest

from portcheck import __version__
from portcheck.cli import check
from portcheck.cli.main import main
from portcheck.errors import EnvironmentProblem, UsageError


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """What the command makes of SIGTERM ends with the test."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """`fail(error)`: the command `check` raises it."""

    def fail(error: BaseException) -> None:
        def run(args: argparse.Namespace) -> int:
            raise error

        monkeypatch.setattr(check, "run", run)

    return fail


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (UsageError("a mistake: put it right"), 2, "portcheck: a mistake: put it right\n"),
        (UsageError("one\ntwo"), 2, "portcheck: one\nportcheck: two\n"),
        (EnvironmentProblem("no Triton: install it"), 3, "portcheck: no Triton: install it\n"),
        (KeyboardInterrupt(), 130, "portcheck: interrupted\n"),
    ],
)
def test_errors_are_one_line_and_a_status(
    fail: Callable[[BaseException], None],
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    status: int,
    said: str,
) -> None:
    fail(error)

    assert main(["check"]) == status
    assert capsys.readouterr().err == said


def test_sigterm_ends_like_ctrl_c_before_there_is_a_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check, "run", lambda args: signal.raise_signal(signal.SIGTERM))

    assert main(["check"]) == 130
    assert capsys.readouterr().err == "portcheck: interrupted\n"


@pytest.mark.parametrize(
    "arguments", [[], ["chekc"], ["check", "--isolation", "thread"], ["check", "-q", "-v"], ["check", "-j", "many"]]
)
def test_arguments_that_are_none_are_status_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)

    assert caught.value.code == 2
    assert "usage: portcheck" in capsys.readouterr().err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])

    assert capsys.readouterr().out == f"portcheck {__version__}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["check", "--help"]])
def test_help_ends_with_examples(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)

    assert caught.value.code == 0
    assert "portcheck check" in capsys.readouterr().out.partition("examples:")[2]
