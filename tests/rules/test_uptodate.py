"""Whether a file that was written from records has to be written again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from portcheck.cache import Store
from portcheck.rules.uptodate import Written, has_text


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """A memory in an empty store."""
    return Written(Store(tmp_path / "cache", warn=lambda text: None))


def test_a_file_is_current_as_long_as_it_shows_the_same_and_is_left_alone(tmp_path: Path, written: Written) -> None:
    path = tmp_path / "report.json"
    path.write_text("report")
    written.remember(path, {"cells": [1, 2]})

    assert written.is_current(path, {"cells": [1, 2]})
    assert not written.is_current(path, {"cells": [1, 3]})
    assert not written.is_current(path, {"cells": [1, 2], "option": True})

    path.write_text("edited")
    assert not written.is_current(path, {"cells": [1, 2]})
    path.unlink()
    assert not written.is_current(path, {"cells": [1, 2]})


def test_another_file_of_the_same_is_not_current(tmp_path: Path, written: Written) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("report")
    written.remember(tmp_path / "a", [])

    assert not written.is_current(tmp_path / "b", [])


def test_a_pipe_is_never_current_and_never_read(tmp_path: Path, written: Written) -> None:
    os.mkfifo(tmp_path / "pipe")
    written.remember(tmp_path / "pipe", [])

    assert not written.is_current(tmp_path / "pipe", [])


def test_what_was_told_is_known_for_each_question(written: Written) -> None:
    written.remember_told({"diff": ["a", "b"]}, ["red"])

    assert written.is_told({"diff": ["a", "b"]}, ["red"])
    assert not written.is_told({"diff": ["a", "b"]}, ["green"])
    assert not written.is_told({"diff": ["b", "a"]}, ["red"])


def test_a_file_has_a_text_or_has_not(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a\n")

    assert has_text(tmp_path / "file", "a\n")
    assert not has_text(tmp_path / "file", "a")
    assert not has_text(tmp_path / "none", "a")
