"""Digests of files, remembered as long as a stat says that they are the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from portcheck import digests
from portcheck.cache import Store
from portcheck.digests import Digests

HOUR = 3600 * 10**9


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A source file."""
    path = tmp_path / "kernels.py"
    path.write_text("one")
    return path


@pytest.fixture
def an_hour_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that exist now were written long ago."""
    import time

    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + HOUR)


def test_the_content_decides(store: Store, path: Path) -> None:
    before = Digests(store, path.parent).of(str(path))
    path.write_text("two")
    after = Digests(store, path.parent).of(str(path))
    path.write_text("one")

    assert before != after
    assert Digests(store, path.parent).of(str(path)) == before


def test_what_is_not_there_or_no_file_has_none(store: Store, path: Path) -> None:
    memory = Digests(store, path.parent)

    assert memory.of(str(path.parent / "gone.py")) is None
    assert memory.of(str(path.parent)) is None


@pytest.mark.usefixtures("an_hour_later")
def test_a_later_run_does_not_read_again(store: Store, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Digests(store, path.parent)
    before = first.of(str(path))
    first.save()

    later = Digests(store, path.parent)

    def read(self: Path) -> bytes:
        raise AssertionError(f"{self} was read again")

    monkeypatch.setattr(Path, "read_bytes", read)
    assert later.of(str(path)) == before


@pytest.mark.usefixtures("an_hour_later")
def test_a_changed_file_is_read_again_though_its_times_are_set_back(store: Store, path: Path) -> None:
    first = Digests(store, path.parent)
    before, stat = first.of(str(path)), path.stat()
    first.save()

    path.write_text("two")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    assert Digests(store, path.parent).of(str(path)) != before


def test_what_was_written_just_now_is_not_remembered(store: Store, path: Path) -> None:
    memory = Digests(store, path.parent)
    memory.of(str(path))
    memory.save()

    assert Digests(store, path.parent)._known == {}


@pytest.mark.usefixtures("an_hour_later")
def test_the_memory_has_an_end_and_keeps_what_this_run_used(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "LIMIT", 1)
    other = path.parent / "other.py"
    other.write_text("other")
    for used in (path, other):
        memory = Digests(store, path.parent)
        memory.of(str(used))
        memory.save()

    assert list(Digests(store, path.parent)._known) == [str(other)]


def test_a_pipe_has_no_digest(store: Store, path: Path) -> None:
    os.mkfifo(path.parent / "pipe")

    assert Digests(store, path.parent).of(str(path.parent / "pipe")) is None
