"""The line about predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from portcheck.report.freeze import freeze
from portcheck.report.jsonreport import as_dict
from portcheck.report.matrix import render
from portcheck.report.model import MISSING, PREDICTED, UNTOLD, Report, build, exit_status
from portcheck.report.static import static_lines
from portcheck.toolchain.model import Toolchain
from portcheck.verdicts import Failure

MakeReport = Callable[..., Report]

A, B = "a@hip:gfx942@3.9.0", "b@hip:gfx942@3.9.0"


@pytest.fixture
def report(judge: Any, toolchain: Callable[[str], Toolchain]) -> MakeReport:
    """`report(predicted, judge's arguments…)`."""

    def make(predicted: list[str], *cells: tuple[Any, ...]) -> Report:
        judged = [judge(*cell) for cell in cells]
        return build(judged, [toolchain("3.9.0")], 1.0, lambda cell: None, predicted=predicted)

    return make


def test_how_many_came_true_is_said(report: MakeReport, tgamma: Failure) -> None:
    made = report([A], (A, tgamma), (B,))

    assert list(static_lines(made)) == [
        "static: predicted 1 failing cell before compiling; 1 of them did fail",
    ]
    assert as_dict(made)["summary"]["static"] == {"predicted": 1, "came_true": 1}


def test_a_prediction_that_was_wrong_is_named(report: MakeReport, tgamma: Failure) -> None:
    made = report([A, B], (A, tgamma), (B,))

    said, wrong = static_lines(made)

    assert said == "static: predicted 2 failing cells before compiling; 1 of them did fail"
    assert wrong.startswith("Predicted to fail, but compiled") and wrong.endswith(f"   {B}")


def test_what_was_not_compiled_came_to_nothing(report: MakeReport, tgamma: Failure) -> None:
    made = report([A], (A, tgamma, PREDICTED), (B,))

    assert list(static_lines(made)) == ["static: predicted 1 failing cell, which was not compiled"]
    assert as_dict(made)["summary"]["static"] == {"predicted": 1, "came_true": 0}
    assert as_dict(made)["cells"][0]["from"] == "predicted"


def test_a_cell_without_a_verdict_was_not_put_to_the_test(report: MakeReport) -> None:
    (said,) = static_lines(report([A], (A, None, MISSING)))

    assert said == "static: predicted 1 failing cell, which was not compiled"


def test_some_may_be_known(report: MakeReport, tgamma: Failure) -> None:
    (said,) = static_lines(report([A, B], (A, tgamma, PREDICTED), (B, tgamma, "cached")))

    assert said == "static: predicted 2 failing cells before compiling; 1 of them did fail; 1 not compiled"


def test_where_nothing_was_compiled_nothing_is_green(report: MakeReport) -> None:
    made = report([], (A, None, UNTOLD), (B, None, UNTOLD))
    text = render(made, color=False, width=None)

    assert "predicted 0 failing cells; nothing was compiled, so 2 cells have no verdict and may fail" in text
    assert "2 cells: 0 ok, 0 failed · 2 not compiled" in text
    assert [line.split() for line in text.splitlines() if line[:2] in ("a ", "b ")] == [["a", "?"], ["b", "?"]]
    assert exit_status(made, lambda cell: False) == 1
    assert made.summary["skipped"] == 2


def test_nothing_is_said_where_there_is_nothing_to_predict(report: MakeReport) -> None:
    assert list(static_lines(report([], (A,)))) == []


def test_a_prediction_is_no_failure_to_freeze(report: MakeReport, tgamma: Failure) -> None:
    before = freeze({}, report([], (A, tgamma), (B, tgamma)))

    after = freeze(before, report([A], (A, tgamma, PREDICTED), (B,)))

    assert after == {A: before[A]}
    assert freeze({}, report([A], (A, tgamma, PREDICTED))) == {}
