"""A shared directory whose files other hosts replace and remove meanwhile."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from portcheck.cache import Zones, files
from portcheck.cache.remotes import DirectoryRemote

NAME = "0123456789abcdef" * 2

Fail = Callable[[str, int], None]


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Fail:
    """`fail("read", 2)`: that function of `files` says so often that a handle is stale, and works from then on."""

    def fail(function: str, times: int) -> None:
        works, left = getattr(files, function), [times]

        def stale(*arguments: Any) -> Any:
            if left[0]:
                left[0] -= 1
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
            return works(*arguments)

        monkeypatch.setattr(files, function, stale)

    return fail


@pytest.fixture
def remote(tmp_path: Path) -> DirectoryRemote:
    """A directory with one record."""
    remote = DirectoryRemote(tmp_path / "remote")
    remote.put("front", NAME, b"record", heal=False)
    return remote


def test_a_stale_handle_is_opened_anew(remote: DirectoryRemote, fail: Fail) -> None:
    fail("read", 1)

    assert remote.get("front", NAME, 100) == b"record"


def test_what_stays_stale_is_not_there(remote: DirectoryRemote, fail: Fail) -> None:
    fail("read", 2)

    assert remote.get("front", NAME, 100) is None


@pytest.mark.parametrize(("heal", "function"), [(True, "publish"), (False, "write_new")])
def test_writing_is_tried_again(remote: DirectoryRemote, fail: Fail, tmp_path: Path, heal: bool, function: str) -> None:
    fail(function, 1)
    other = NAME[::-1]
    remote.put("front", other, b"other", heal=heal)

    assert remote.get("front", other, 100) == b"other"
    assert not list(tmp_path.rglob("*.tmp"))


def test_stale_handles_do_not_end_the_use_of_a_remote(remote: DirectoryRemote, fail: Fail) -> None:
    warnings: list[str] = []
    zones = Zones((remote,), None, warnings.append)
    fail("read", 10)
    for _ in range(5):
        assert list(zones.get("front", NAME, 100)) == []

    assert (warnings, zones.failures) == ([], 0)
    assert list(zones.get("front", NAME, 100)) == [b"record"]


def test_other_trouble_still_does(remote: DirectoryRemote, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(files, "read", broken)
    warnings: list[str] = []
    zones = Zones((remote,), None, warnings.append)
    for _ in range(5):
        assert list(zones.get("front", NAME, 100)) == []

    assert len(warnings) == 1
