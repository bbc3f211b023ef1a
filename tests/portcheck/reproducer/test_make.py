"""Where reproducers may be written, and what of an older one goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from portcheck.errors import UsageError
from portcheck.reproducer.make import check_folder, write
from portcheck.reproducer.script import MARK


def test_a_new_folder_an_empty_one_and_an_older_reproducer_will_do(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "reproduce.py").write_text(f'"""{MARK} 0.1.0."""')

    for folder in (tmp_path / "new", tmp_path / "old"):
        check_folder(folder)


@pytest.mark.parametrize("name", ["reproduce.py", "notes.txt"])
def test_anything_else_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("somebody's")

    with pytest.raises(UsageError, match="is not empty: name a folder that is new, empty, or an older reproducer"):
        check_folder(tmp_path)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(UsageError, match="Not a directory"):
        check_folder(tmp_path / "file")


def test_of_an_older_reproducer_only_its_own_files_go(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    for name in ("input.ttgir", "kernel.py", "source/a.py", "notes.txt"):
        (tmp_path / name).write_text("old")

    write(tmp_path, {"reproduce.py": b"new", "source/b.py": b"new"})

    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {"notes.txt", "reproduce.py", "source/b.py"}
