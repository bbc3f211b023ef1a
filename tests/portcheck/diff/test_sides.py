"""Two sides of one report."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from portcheck.diff.sides import kept, within
from portcheck.diff.snapshot import Seen, Snapshot
from portcheck.errors import UsageError

MakeSeen = Callable[..., Seen]


@pytest.fixture
def report(seen: MakeSeen) -> Snapshot:
    """Two releases on two targets."""
    names = [f"k[a]@{target}@{release}" for target in ("cuda:80", "hip:gfx942") for release in ("3.8.0", "3.9.0")]
    return Snapshot("report.json", tuple(map(seen, names)))


def test_two_releases_are_compared_target_by_target(report: Snapshot) -> None:
    diff = within(report, "triton", "3.8.0", "3.9.0", 50)

    assert (diff.old, diff.new) == ("3.8.0", "3.9.0")
    assert [(pair.target, pair.triton) for pair in diff.pairs] == [("cuda:80", None), ("hip:gfx942", None)]


def test_two_targets_are_compared_release_by_release(report: Snapshot) -> None:
    diff = within(report, "target", "cuda:80", "hip:gfx942", 50)

    assert [(pair.target, pair.triton) for pair in diff.pairs] == [(None, "3.8.0"), (None, "3.9.0")]


@pytest.mark.parametrize(
    ("axis", "old", "new", "said"),
    [
        ("triton", "3.8.0", "3.9.1", r"no release 3.9.1 \(did you mean 3.9.0\?\): it has 3.8.0, 3.9.0"),
        ("target", "cuda:80", "cuda:90", r"no target cuda:90 .*: it has cuda:80, hip:gfx942"),
        ("triton", "3.9.0", "3.9.0", "are the same release"),
    ],
)
def test_a_side_that_is_not_there_is_refused(report: Snapshot, axis: str, old: str, new: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        within(report, axis, old, new, 50)


def test_patterns_leave_cells_out_and_brackets_are_literal(report: Snapshot) -> None:
    assert len(kept(report, ["k[a]"], []).cells) == 4
    assert len(kept(report, ["k?a]"], ["hip:*"]).cells) == 2
    assert kept(report, ["k"], []).cells == ()
