"""Positions that survive moving and reformatting: as nodes of the syntax tree, put back onto today's lines."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from portcheck.anchors import Anchors, is_anchor
from portcheck.verdicts import Position

SOURCE = """\
def first(x):
    return x

class Kernels:
    def first(self, x):
        def inner(y):
            return y + x
        return inner(x)

def first(x):
    y = x + 1
    return y
"""
MOVED = """\
# A comment that moves everything.
def first(x):
    return x


class Kernels:
    def first(self, x):
        def inner(y):
            return (
                y
                + x
            )

        return inner(x)


def first(x):
    y = (x +
         1)
    return y
"""

Write = Callable[[str], None]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """`write(source)`: the file `k.py` has that from now on."""

    def write(source: str) -> None:
        (tmp_path / "new.py").write_text(source)
        (tmp_path / "new.py").replace(tmp_path / "k.py")

    return write


@pytest.fixture
def anchors(tmp_path: Path) -> Anchors:
    return Anchors(lambda file: str(tmp_path / file))


@pytest.mark.parametrize(
    ("then", "function", "now"),
    [
        ((2, 5), "first", (3, 5)),
        ((2, 12), "first", (3, 12)),
        ((7, 13), "Kernels.first.<locals>.inner", (9, 13)),
        ((7, 24), "Kernels.first.<locals>.inner", (11, 19)),
        ((8, 16), "Kernels.first", (14, 16)),
        ((11, 9), "first", (18, 10)),
        ((11, 13), "first", (19, 10)),
    ],
    ids=str,
)
def test_a_position_follows_its_node(
    anchors: Anchors, write: Write, then: tuple[int, int], function: str, now: tuple[int, int]
) -> None:
    write(SOURCE)
    anchor = anchors.anchor(Position("k.py", *then))

    write(MOVED)

    assert anchor is not None and is_anchor(anchor) and anchor["function"] == function
    assert anchors.today(anchor) == Position("k.py", *now)


def test_a_line_without_a_column_stays_without_one(anchors: Anchors, write: Write) -> None:
    write(SOURCE)
    anchor = anchors.anchor(Position("k.py", 12))

    write(MOVED)

    assert anchor is not None and anchors.today(anchor) == Position("k.py", 20)


def test_a_column_at_which_nothing_begins_means_the_first_node_of_its_line(anchors: Anchors, write: Write) -> None:
    write(SOURCE)

    anchor = anchors.anchor(Position("k.py", 11, 99))

    assert anchor is not None and anchors.today(anchor) == Position("k.py", 11, 5)


@pytest.mark.parametrize("line", [3, 4, 9, 99])
def test_a_line_outside_of_every_function_has_no_anchor(anchors: Anchors, write: Write, line: int) -> None:
    write(SOURCE)

    assert anchors.anchor(Position("k.py", line)) is None


@pytest.mark.parametrize(
    "forged",
    [{"which": 2}, {"which": -1}, {"node": 99}, {"node": -1}, {"function": "second"}, {"file": "other.py"}],
    ids=str,
)
def test_an_anchor_that_leads_nowhere_gives_no_position(anchors: Anchors, write: Write, forged: dict[str, Any]) -> None:
    write(SOURCE)
    anchor = anchors.anchor(Position("k.py", 2, 5))

    assert anchor is not None and anchors.today({**anchor, **forged}) is None


def test_a_pipe_is_not_read(anchors: Anchors, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "k.py")

    assert anchors.anchor(Position("k.py", 1)) is None


@pytest.mark.parametrize("source", ["def k(:", "def k():\n    return \0", "x = " + "(" * 10_000 + ")" * 10_000])
def test_what_cannot_be_parsed_has_no_anchors(anchors: Anchors, write: Write, source: str) -> None:
    write(source)

    assert anchors.anchor(Position("k.py", 1)) is None


def test_a_long_sum_is_no_trouble(anchors: Anchors, write: Write) -> None:
    write("TOTAL = " + " + ".join("1" for _ in range(2000)) + "\n" + SOURCE)

    anchor = anchors.anchor(Position("k.py", 3, 5))

    assert anchor is not None and anchors.today(anchor) == Position("k.py", 3, 5)
