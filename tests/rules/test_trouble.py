"""What goes wrong in a run is kept, and told once."""

from __future__ import annotations

import pytest

from portcheck.compiler.tree import Interrupted
from portcheck.errors import EnvironmentProblem, UsageError
from portcheck.rules.trouble import Trouble


def raising(error: Exception) -> None:
    raise error


def test_what_several_cells_have_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    trouble = Trouble()
    for _ in range(3):
        trouble.guarded(lambda: raising(UsageError("the row does not fit\nanother does not")))

    trouble.tell()
    trouble.tell()

    assert capsys.readouterr().err == "portcheck: the row does not fit\nportcheck: another does not\n"


def test_what_comes_after_it_was_told_is_told_too(capsys: pytest.CaptureFixture[str]) -> None:
    trouble = Trouble()
    trouble.note(UsageError("one"))
    trouble.tell()
    trouble.write_aside(lambda: raising(UsageError("two")))
    trouble.tell()

    assert capsys.readouterr().err == "portcheck: one\nportcheck: two\n"


def test_the_worst_decides_the_status() -> None:
    trouble = Trouble()
    assert trouble.status == 0
    assert not trouble.write_aside(lambda: raising(UsageError("no such folder")))
    assert (trouble.status, trouble.problems) == (2, [])

    trouble.note(EnvironmentProblem("no Triton"))

    assert trouble.status == 3


def test_being_interrupted_is_no_trouble() -> None:
    trouble = Trouble()

    assert trouble.guarded(lambda: raising(Interrupted()))
    assert trouble.status == 0
