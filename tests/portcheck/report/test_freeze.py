"""Freezing a report into a baseline, and pruning one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from portcheck.baseline import Entry, entry_of
from portcheck.cells import Cell
from portcheck.manifest.model import Expectation
from portcheck.report.freeze import freeze, prune, told
from portcheck.report.model import MISSING, SKIPPED, Report, build
from portcheck.toolchain.model import Toolchain
from portcheck.verdicts import Failure, Result

Judge = Callable[..., tuple[Cell, Result]]

BAD = Failure("mlir-error", "ttgir", "bad")
WORSE = Failure("mlir-error", "ttgir", "worse")
TOOL = Failure("toolchain-error", "hsaco", "no linker")


def report(judged: list[tuple[Cell, Result]], known: Mapping[str, Entry], stale: list[str] | None = None) -> Report:
    """Compared with a baseline; rows that begin with `x` are expected to fail."""
    expected = Expectation("*")
    return build(
        judged,
        list[Toolchain](),
        0,
        lambda cell: expected if cell.row.name.startswith("x") else None,
        lambda cell: known.get(cell.name),
        stale or [],
    )


def test_what_fails_today_is_frozen(judge: Judge) -> None:
    judged = [judge("a@cuda:80@3.9.0"), judge("b@cuda:80@3.9.0", BAD), judge("x@cuda:80@3.9.0", BAD)]

    assert freeze({}, report(judged, {})) == {"b@cuda:80@3.9.0": entry_of(BAD)}


def test_what_no_longer_fails_is_out_and_what_fails_differently_is_changed(judge: Judge) -> None:
    before = {"a@cuda:80@3.9.0": entry_of(BAD), "b@cuda:80@3.9.0": entry_of(BAD)}
    judged = [judge("a@cuda:80@3.9.0"), judge("b@cuda:80@3.9.0", WORSE)]

    after = freeze(before, report(judged, before))

    assert after == {"b@cuda:80@3.9.0": entry_of(WORSE)}
    assert told(before, after) == "1 changed, 1 taken out"


def test_cells_that_were_not_judged_keep_their_entries(judge: Judge) -> None:
    names = ("other@cuda:80@3.9.0", "a@cuda:80@3.9.0", "b@cuda:80@3.9.0", "c@cuda:80@3.9.0")
    before = dict.fromkeys(names, entry_of(BAD))
    judged = [
        judge("a@cuda:80@3.9.0", origin=SKIPPED),
        judge("b@cuda:80@3.9.0", origin=MISSING),
        judge("c@cuda:80@3.9.0", TOOL),
    ]

    assert freeze(before, report(judged, before)) == before
    assert prune(before, report(judged, before)) == before


def test_a_missing_tool_is_not_frozen(judge: Judge) -> None:
    assert freeze({}, report([judge("a@cuda:80@3.9.0", TOOL)], {})) == {}


def test_pruning_takes_out_what_is_not_needed_and_adds_nothing(judge: Judge) -> None:
    names = ("fixed@cuda:80@3.9.0", "x@cuda:80@3.9.0", "gone@cuda:80@3.9.0", "b@cuda:80@3.9.0", "d@cuda:80@3.9.0")
    before = dict.fromkeys(names, entry_of(BAD))
    judged = [
        judge("fixed@cuda:80@3.9.0"),
        judge("x@cuda:80@3.9.0", BAD),
        judge("b@cuda:80@3.9.0", BAD),
        judge("d@cuda:80@3.9.0", WORSE),
        judge("new@cuda:80@3.9.0", BAD),
    ]

    after = prune(before, report(judged, before, ["gone@cuda:80@3.9.0"]))

    assert after == dict.fromkeys(("b@cuda:80@3.9.0", "d@cuda:80@3.9.0"), entry_of(BAD))
