"""Statuses, groups, counts and the exit status."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from portcheck.baseline import Entry, entry_of
from portcheck.cells import Cell
from portcheck.manifest.model import Expectation
from portcheck.report.model import build, exit_status, status_of
from portcheck.toolchain.model import Toolchain
from portcheck.verdicts import Failure, Result

Judge = Callable[..., tuple[Cell, Result]]
Tool = Callable[[str], Toolchain]


TOOL = Failure("toolchain-error", "hsaco", "ROCm linker not found")
BAD = Failure("mlir-error", "ttgir", "bad")


def expect(*names: str) -> Callable[[Cell], Expectation | None]:
    return lambda cell: Expectation(str(cell.target)) if cell.name in names else None


def test_each_cell_gets_a_status(judge: Judge, toolchain: Tool) -> None:
    judged = [
        judge("a@cuda:80@3.9.0"),
        judge("b@cuda:80@3.9.0", BAD),
        judge("c@cuda:80@3.9.0", BAD),
        judge("d@cuda:80@3.9.0"),
        judge("e@cuda:80@3.9.0", origin="skipped"),
    ]

    report = build(judged, [toolchain("3.9.0")], 1.5, expect("c@cuda:80@3.9.0", "d@cuda:80@3.9.0"))

    assert [reported.status for reported in report.cells] == ["ok", "new", "xfail", "xpass", None]


def test_counts(judge: Judge, toolchain: Tool) -> None:
    judged = [
        judge("a@cuda:80@3.9.0", origin="cached"),
        judge("b@cuda:80@3.9.0", BAD),
        judge("c@cuda:80@3.9.0", BAD, origin="cutoff"),
        judge("d@cuda:80@3.9.0", origin="remote"),
        judge("e@cuda:80@3.9.0", origin="skipped"),
    ]

    report = build(judged, [toolchain("3.9.0")], 1.5, expect("c@cuda:80@3.9.0", "d@cuda:80@3.9.0", "e@cuda:80@3.9.0"))

    assert report.summary == {
        "cells": 5,
        "ok": 2,
        "failed": 2,
        "new": 1,
        "known": 0,
        "xfail": 1,
        "xpass": 1,
        "compiled": 1,
        "cached": 1,
        "cutoff": 1,
        "remote": 1,
        "predicted": 0,
        "skipped": 1,
    }


@pytest.mark.parametrize(
    ("failure", "expected", "entry", "status"),
    [
        (None, None, None, "ok"),
        (None, None, entry_of(BAD), "ok"),
        (None, Expectation("*"), entry_of(BAD), "xpass"),
        (BAD, None, None, "new"),
        (BAD, None, entry_of(BAD), "known"),
        (BAD, None, entry_of(TOOL), "new"),  # it fails differently
        (BAD, Expectation("*"), None, "xfail"),
        (BAD, Expectation("*"), entry_of(BAD), "xfail"),  # what the manifest says wins, since it has reasons
        (TOOL, None, entry_of(TOOL), "new"),  # a missing tool is for whoever can install it
    ],
)
def test_what_a_cell_is_in_the_light_of_the_manifest_and_of_a_baseline(
    failure: Failure | None, expected: Expectation | None, entry: Entry | None, status: str
) -> None:
    assert status_of(failure, expected, entry) == status


def test_what_a_baseline_no_longer_needs(judge: Judge, toolchain: Tool) -> None:
    judged = [judge("a@cuda:80@3.9.0"), judge("b@cuda:80@3.9.0", BAD), judge("c@cuda:80@3.9.0", BAD)]

    report = build(
        judged, [toolchain("3.9.0")], 0, expect("c@cuda:80@3.9.0"), lambda cell: entry_of(BAD), ["d@cuda:80@3.9.0"]
    )

    assert [reported.cell.row.name for reported in report.fixed] == ["a"]
    assert [reported.cell.row.name for reported in report.covered] == ["c"]
    assert report.stale == ("d@cuda:80@3.9.0",)
    assert exit_status(report, lambda cell: True) == 0


def test_cells_with_one_cause_are_one_group_across_targets_and_releases(
    judge: Judge, toolchain: Tool, scatter4: Callable[[str], Failure]
) -> None:
    judged = [
        judge("scatter@cuda:90@3.8.0", scatter4("90")),
        judge("scatter@cuda:90@3.9.0", scatter4("90")),
        judge("scatter@cuda:120@3.9.0", scatter4("120")),
    ]

    report = build(judged, [toolchain("3.9.0"), toolchain("3.8.0")], 0, lambda cell: None)

    (group,) = report.groups
    assert group.letter == "A"
    assert [member.cell.name for member in group.cells] == [
        "scatter@cuda:90@3.9.0",
        "scatter@cuda:120@3.9.0",
        "scatter@cuda:90@3.8.0",
    ]
    assert group.failure == scatter4("90")


def test_one_message_in_two_stages_is_two_groups(judge: Judge, toolchain: Tool) -> None:
    judged = [
        judge("a@cuda:80@3.9.0", Failure("mlir-error", "ttgir", "bad")),
        judge("b@cuda:80@3.9.0", Failure("mlir-error", "llir", "bad")),
    ]

    assert [group.letter for group in build(judged, [toolchain("3.9.0")], 0, lambda cell: None).groups] == ["A", "B"]


def test_letters_and_order_do_not_depend_on_which_cell_finished_first(
    judge: Judge, toolchain: Tool, tgamma: Failure, scatter4: Callable[[str], Failure]
) -> None:
    first = judge("a@cuda:80@3.9.0")
    others = [
        judge("a@cuda:90@3.9.0", scatter4("90")),
        judge("a@hip:gfx942@3.9.0", tgamma),
        judge("a@cuda:90@3.8.0", BAD),
    ]
    tools = [toolchain("3.8.0"), toolchain("3.9.0")]
    columns = [first, judge("a@cuda:90@3.8.0"), judge("a@hip:gfx942@3.8.0")][:1]

    letters = {
        tuple((cell.cell.name, cell.letter) for cell in build([*columns, *order], tools, 0, lambda cell: None).cells)
        for order in itertools.permutations(others)
        if order.index(others[0]) < order.index(others[1])
    }

    assert letters == {
        (
            ("a@cuda:90@3.8.0", "A"),
            ("a@cuda:80@3.9.0", None),
            ("a@cuda:90@3.9.0", "B"),
            ("a@hip:gfx942@3.9.0", "C"),
        )
    }


def test_a_row_with_few_targets_does_not_reorder_the_columns(judge: Judge, toolchain: Tool) -> None:
    judged = [judge("a@hip:gfx942@3.9.0"), judge("b@cuda:80@3.9.0"), judge("b@hip:gfx942@3.9.0")]

    report = build(judged, [toolchain("3.9.0")], 0, lambda cell: None)

    assert [str(target) for target in report.targets] == ["cuda:80", "hip:gfx942"]
    assert [reported.cell.row.name for reported in report.cells] == ["a", "b", "b"]


def test_letters_go_on_after_z(judge: Judge, toolchain: Tool) -> None:
    causes = [Failure("mlir-error", "ttgir", f"cause{'x' * n}") for n in range(54)]
    judged = [judge(f"k{n}@cuda:80@3.9.0", cause) for n, cause in enumerate(causes)]

    letters = [group.letter for group in build(judged, [toolchain("3.9.0")], 0, lambda cell: None).groups]

    assert letters[:2] + letters[25:28] + letters[51:] == ["A", "B", "Z", "AA", "AB", "AZ", "BA", "BB"]


EXITS = [
    ("nothing new", [("a", None)], (), False, 0),
    ("a new failure", [("a", BAD), ("b", None)], (), False, 1),
    ("an expected failure", [("a", BAD)], ("a",), False, 0),
    ("an unexpected pass", [("a", None)], ("a",), False, 0),
    ("an unexpected pass, strictly", [("a", None)], ("a",), True, 1),
    ("a missing tool", [("a", TOOL)], (), False, 3),
    ("a missing tool wins over a new failure", [("a", BAD), ("b", TOOL)], (), False, 3),
    ("a missing tool that is expected", [("a", TOOL)], ("a",), False, 0),
    ("no cell", [], (), True, 0),
]


@pytest.mark.parametrize(("what", "cells", "expected", "strict", "status"), EXITS, ids=[case[0] for case in EXITS])
def test_exit_status(
    judge: Judge,
    toolchain: Tool,
    what: str,
    cells: list[tuple[str, Failure | None]],
    expected: tuple[str, ...],
    strict: bool,
    status: int,
) -> None:
    judged = [judge(f"{name}@cuda:80@3.9.0", failure) for name, failure in cells]
    report = build(judged, [toolchain("3.9.0")], 0, expect(*(f"{name}@cuda:80@3.9.0" for name in expected)))

    assert exit_status(report, lambda cell: strict) == status
