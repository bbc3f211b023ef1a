"""A diff in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from portcheck.diff import words
from portcheck.diff.model import Diff, compare
from portcheck.diff.snapshot import Seen, Snapshot

MakeSeen = Callable[..., Seen]


def compared(old: Seen, new: Seen) -> Diff:
    """One cell, before and now."""
    return compare(Snapshot("old", (old,)), Snapshot("new", (new,)))


def test_only_what_changed_is_said_to_have_moved(seen: MakeSeen) -> None:
    name = "gelu@cuda:80@3.9.0"
    old = seen(name, sizes={"ptx": 10, "ttir": 7}, registers=20, shared=0)
    new = seen(name, sizes={"ptx": 12, "ttir": 7}, registers=24, shared=0)

    (pair,) = compared(old, new).pairs

    assert words.moved(pair) == [("registers", (20, 24)), ("ptx", (10, 12))]


def test_what_changed_by_the_largest_factor_comes_first_be_it_more_or_less(seen: MakeSeen) -> None:
    sizes = {"a": (100, 110), "b": (100, 10), "c": (100, 200), "same": (5, 5)}
    sides = [
        Snapshot(label, tuple(seen(f"{name}@cuda:80@3.9.0", sizes={"ptx": both[at]}) for name, both in sizes.items()))
        for at, label in enumerate(("old", "new"))
    ]

    pairs, more = words.most_moved(compare(*sides))

    assert ([pair.kernel for pair in pairs], more) == (["b", "c", "a"], 0)


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        (5224, 7640, "5224 -> 7640 (+46 %)"),
        (1000, 997, "1000 -> 997 (-0.3 %)"),
        (100_000, 100_001, "100000 -> 100001 (less than 0.1 %)"),
        (0, 8, "0 -> 8"),
        (None, 8, "- -> 8"),
        (8, None, "8 -> -"),
        (0.5, 1.0, "0.5 -> 1 (+100 %)"),
    ],
)
def test_a_change_is_said_with_how_much_that_is(before: float | None, now: float | None, said: str) -> None:
    assert words.change(before, now) == said


def test_a_failure_says_as_much_as_is_known_of_it(seen: MakeSeen) -> None:
    name = "gelu@cuda:80@3.9.0"

    assert words.failure(seen(name, "mlir-error", message="no layout")) == "mlir-error in ttgir: no layout"
    assert words.failure(seen(name, "mlir-error")) == "mlir-error in ttgir"
