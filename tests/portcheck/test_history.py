"""How long cells took last time."""

from __future__ import annotations

from pathlib import Path

from portcheck.cache import Store
from portcheck.history import History
from portcheck.verdicts import Outcome, Result


def took(seconds: float) -> Result:
    """A cell that took so long."""
    return Result(Outcome(seconds=seconds), "compiled")


def test_later_runs_add_to_what_earlier_ones_remembered(store: Store) -> None:
    History(store, Path("/a")).add({"x": took(1.0), "y": took(2.0)})
    History(store, Path("/a")).add({"y": took(3.0)})
    History(store, Path("/a")).add({})

    assert History(store, Path("/a")).seconds == {"x": 1.0, "y": 3.0}


def test_each_folder_has_its_own(store: Store) -> None:
    History(store, Path("/a")).add({"x": took(1.0)})

    assert History(store, Path("/b")).seconds == {}
