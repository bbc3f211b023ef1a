"""Scratch folders, and those that killed runs left behind."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from portcheck.compiler import scratch


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def dead_pid() -> int:
    """The pid of a process that has ended."""
    with subprocess.Popen(["true"]) as process:
        return process.pid


def test_folders_of_dead_runs_are_removed_and_no_others(folder: Path) -> None:
    mine = scratch.make()
    world = mine.name.split("-")[2]
    dead = dead_pid()
    (folder / f"portcheck-{dead}-{world}-abc" / "deep").mkdir(parents=True)
    kept = {
        mine.name,
        f"portcheck-{os.getppid()}-{world}-abc",  # alive
        f"portcheck-{dead}-00000000-abc",  # of another machine or container
        f"portcheck-{dead}-notes",
        "portcheck-notes",
    }
    for name in kept - {mine.name}:
        (folder / name).mkdir()
    (folder / f"portcheck-{dead}-{world}-link").symlink_to(mine)

    again = scratch.make()

    assert {path.name for path in folder.iterdir()} == {*kept, again.name, f"portcheck-{dead}-{world}-link"}


def test_what_lies_in_a_scratch_folder_knows_it(folder: Path) -> None:
    mine = scratch.make()

    assert scratch.holding(mine / "tree" / "gpu") == mine
    assert scratch.holding(mine) is None
    assert scratch.holding(folder / "portcheck" / "gpu") is None
