"""A disk that is full or read-only: the same verdicts, one warning, the same status."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Project, Ran

Sound = Callable[["Ran"], None]


@pytest.fixture
def disk(small: Project) -> Iterator[Path]:
    """A megabyte for the cache of the small suite, on a file system of its own."""
    small.cache.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "portcheck", str(small.cache)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("only root may mount a small disk; tests/cache/test_trouble.py has the store's part of this")
    yield small.cache
    subprocess.run(["umount", "-l", str(small.cache)], check=True)


def _files(folder: Path) -> dict[str, tuple[int, int]]:
    found = ((path, path.stat()) for path in folder.rglob("*"))
    return {str(path): (status.st_size, status.st_mtime_ns) for path, status in found}


def _warnings(ran: Ran) -> list[str]:
    return [line for line in ran.err.splitlines() if "carrying on without" in line]


@pytest.mark.parametrize("free", [0, 30_000])
def test_a_full_disk_costs_one_warning(small: Project, sound: Sound, disk: Path, free: int) -> None:
    with contextlib.suppress(OSError), (disk / "filler").open("wb", buffering=0) as filler:
        filler.write(bytes((1 << 20) - free))
        filler.write(bytes(1 << 20) if not free else b"")

    ran = small.check()

    sound(ran)
    assert len(_warnings(ran)) == 1
    assert set(ran.origins.values()) == {"compiled"}
    assert list(disk.rglob("*.tmp")) == []


def test_a_disk_that_is_cleared_is_used_again(small: Project, sound: Sound, disk: Path) -> None:
    (disk / "filler").write_bytes(bytes(1 << 20))
    sound(small.check())
    (disk / "filler").unlink()
    sound(small.check())

    ran = small.check()

    sound(ran)
    assert set(ran.origins.values()) == {"cached"}


def test_a_read_only_cache_serves_hits_and_is_not_written(small: Project, sound: Sound, disk: Path) -> None:
    small.check("-k", "axpy")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    before = _files(disk)

    hits, all_rows = small.check("-k", "axpy"), small.check()

    assert set(hits.origins.values()) == {"cached"}
    sound(all_rows)
    assert len(_warnings(all_rows)) == 1
    assert _files(disk) == before
