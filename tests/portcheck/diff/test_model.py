"""Which cells belong together, and what became of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from portcheck.diff.limits import FLOOR
from portcheck.diff.model import compare
from portcheck.diff.snapshot import Seen, Snapshot

MakeSeen = Callable[..., Seen]


def test_the_demo_from_3_8_0_to_3_9_0(recorded: tuple[Snapshot, Snapshot]) -> None:
    diff = compare(*recorded)

    assert diff.summary == {
        "regressed": 3,
        "fixed": 3,
        "different": 0,
        "unchanged": 21,
        "added": 0,
        "removed": 0,
        "slower": 0,
        "spills": 0,
    }
    assert {pair.row for pair in diff.of("regressed")} == {"rowsum_blockptr"}
    assert {pair.row for pair in diff.of("fixed")} == {"poll_flags"}
    assert diff.status == 1
    assert diff.compared == ("triton",)
    gamma = next(pair for pair in diff.pairs if pair.row == "gamma_ratio" and pair.target == "cuda:80")
    assert gamma.resources["registers"] == (21, 22)
    assert gamma.sizes["cubin"] == (32368, 47352)
    assert gamma.triton is None


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ({}, {}, "unchanged"),
        ({}, {"verdict": "crash"}, "regressed"),
        ({"verdict": "mlir-error"}, {}, "fixed"),
        ({"verdict": "mlir-error", "fingerprint": "a"}, {"verdict": "mlir-error", "fingerprint": "a"}, "unchanged"),
        ({"verdict": "mlir-error", "fingerprint": "a"}, {"verdict": "mlir-error", "fingerprint": "b"}, "different"),
        # Without fingerprints the verdict and what was said decide.
        ({"verdict": "mlir-error", "message": "a"}, {"verdict": "mlir-error", "message": "a"}, "unchanged"),
        ({"verdict": "mlir-error", "message": "a"}, {"verdict": "mlir-error", "message": "b"}, "different"),
        # Skipped, or a tool is missing: nothing is known of the kernel.
        ({"verdict": None}, {}, "added"),
        ({}, {"verdict": None}, "removed"),
        ({"verdict": "toolchain-error"}, {"verdict": "mlir-error"}, "added"),
        ({}, {"verdict": "toolchain-error"}, "removed"),
        ({"verdict": "toolchain-error"}, {"verdict": "toolchain-error"}, "unchanged"),
        ({"verdict": None}, {"verdict": None}, None),
    ],
)
def test_what_became_of_a_cell(seen: MakeSeen, old: dict[str, str], new: dict[str, str], change: str | None) -> None:
    name = "k@cuda:90@3.9.0"

    diff = compare(Snapshot("old", (seen(name, **old),)), Snapshot("new", (seen(name, **new),)))

    assert [pair.change for pair in diff.pairs] == ([change] if change else [])


def test_cells_of_one_side_only_are_added_or_removed(seen: MakeSeen) -> None:
    old = Snapshot("old", (seen("a@cuda:90@3.9.0"), seen("gone@cuda:90@3.9.0"), seen("z@cuda:90@3.9.0")))
    new = Snapshot("new", (seen("come@cuda:90@3.9.0"), seen("a@cuda:90@3.9.0"), seen("z@cuda:90@3.9.0")))

    diff = compare(old, new)

    # In the new side's order; what is gone follows what it stood behind.
    assert [(pair.row, pair.change) for pair in diff.pairs] == [
        ("come", "added"),
        ("a", "unchanged"),
        ("gone", "removed"),
        ("z", "unchanged"),
    ]
    assert diff.status == 0


def test_variants_of_a_kernel_are_told_apart(seen: MakeSeen) -> None:
    names = ("k@cuda:90@3.9.0", "k[a]@cuda:90@3.9.0", "k[b]@cuda:90@3.9.0")
    side = Snapshot("same", tuple(map(seen, names)))

    assert len(compare(side, side).pairs) == 3


def test_reports_of_several_releases_are_compared_release_by_release(seen: MakeSeen) -> None:
    both = Snapshot("both", (seen("k@cuda:90@3.8.0"), seen("k@cuda:90@3.9.0")))

    diff = compare(both, both)

    assert [(pair.triton, pair.change) for pair in diff.pairs] == [("3.8.0", "unchanged"), ("3.9.0", "unchanged")]
    assert diff.compared == ()


def test_reports_of_one_target_each_are_compared_with_each_other(seen: MakeSeen) -> None:
    diff = compare(Snapshot("a", (seen("k@cuda:90@3.9.0"),)), Snapshot("b", (seen("k@cuda:100@3.9.0", "crash"),)))

    assert [(pair.target, pair.triton, pair.change) for pair in diff.pairs] == [(None, "3.9.0", "regressed")]


@pytest.mark.parametrize(
    ("old", "new", "slower"),
    [
        (1.0, 1.0 + FLOOR, False),  # twice as long may be noise where both are short
        (0.05, 0.05 + FLOOR, False),
        (0.05, 0.1 + FLOOR, True),
        (10.0, 14.9, False),
        (10.0, 15.1, True),
        (0.0, 5.0, False),  # it was never timed
    ],
)
def test_slower_is_a_matter_of_percent_and_of_seconds(seen: MakeSeen, old: float, new: float, slower: bool) -> None:
    sides = [Snapshot(str(s), (seen("k@cuda:90@3.9.0", seconds=s),)) for s in (old, new)]

    assert compare(*sides, slower=50).pairs[0].slower == slower


def test_spilling_is_said_where_nothing_spilt(seen: MakeSeen) -> None:
    def spills(old: int | None, new: int | None) -> bool:
        sides = [Snapshot(str(value), (seen("k@cuda:90@3.9.0", spills=value),)) for value in (old, new)]
        return compare(*sides).pairs[0].spills

    assert spills(0, 24)
    assert not spills(24, 48)
    assert not spills(24, 0)
    assert not spills(None, 24)  # nobody knows whether it spilt before


def test_an_expected_regression_is_none_for_the_exit_status(seen: MakeSeen) -> None:
    ok = Snapshot("old", (seen("k@cuda:90@3.9.0"),))

    def status(**now: str) -> int:
        return compare(ok, Snapshot("new", (seen("k@cuda:90@3.9.0", **now),))).status

    assert status(verdict="mlir-error") == 1
    assert status(verdict="mlir-error", status="xfail") == 0
    assert status(verdict="mlir-error", status="known") == 0
    assert status(verdict="toolchain-error") == 3


def test_failing_differently_is_no_regression(seen: MakeSeen) -> None:
    sides = [Snapshot(f, (seen("k@cuda:90@3.9.0", "mlir-error", fingerprint=f),)) for f in ("a", "b")]

    diff = compare(*sides)

    assert diff.summary["different"] == 1
    assert diff.status == 0
