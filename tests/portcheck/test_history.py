"""How long cells took last time."""

from __future__ import annotations

from pathlib import Path

import pytest

from portcheck import history
from portcheck.cache import Store
from portcheck.history import History
from portcheck.keys import digest
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


def test_it_has_an_end(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "LIMIT", 2)
    History(store, Path("/a")).add({"x": took(1.0), "y": took(2.0)})
    History(store, Path("/a")).add({"z": took(3.0), "y": took(4.0)})

    assert History(store, Path("/a")).seconds == {"z": 3.0, "y": 4.0}


def test_a_foreign_record_is_forgotten(store: Store) -> None:
    there = History(store, Path("/a"))
    store.put("local", digest(there._preimage), there._preimage, {"seconds": {"x": "long"}})

    assert History(store, Path("/a")).seconds == {}
