"""Trouble with the directory: no exception, one warning, a counter, and nothing left behind."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import xxhash

from portcheck.cache import Store, pack

PREIMAGE = b"preimage"
KEY = xxhash.xxh3_128_hexdigest(PREIMAGE)


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def test_a_full_disk_costs_one_warning(open_folder: Path, unprivileged: Callable[[Callable[[], None]], None]) -> None:
    def run() -> None:
        warnings: list[str] = []
        store = Store(open_folder / "cache", warn=warnings.append)
        assert store.put("back", KEY, PREIMAGE, {"verdict": "ok"})
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # every write beyond fails, as on a full disk

        for n in range(5):
            other = b"%d" % n
            large = {"detail": os.urandom(5000)}
            assert not store.put("back", xxhash.xxh3_128_hexdigest(other), other, large)
        digest = store.put_blob(os.urandom(5000))

        assert store.get_blob(digest) is None
        assert store.get("back", KEY, PREIMAGE) == {"verdict": "ok"}
        assert store.counters["record.failed"] == 5
        assert store.counters["blob.failed"] == 1
        assert len(warnings) == 1
        assert str(open_folder) in warnings[0]
        assert "PORTCHECK_CACHE" in warnings[0]

    unprivileged(run)

    left = [path.name for path in open_folder.rglob("*") if path.is_file()]
    assert sorted(left) == sorted(["CACHEDIR.TAG", KEY])


def test_a_read_only_directory_serves_hits(
    open_folder: Path, unprivileged: Callable[[Callable[[], None]], None]
) -> None:
    Store(open_folder, warn=pytest.fail).put("back", KEY, PREIMAGE, {"verdict": "ok"})
    record = next(open_folder.rglob(KEY))
    os.utime(record, (0, 0))
    for folder in (open_folder, *(path for path in open_folder.rglob("*") if path.is_dir())):
        folder.chmod(0o555)
    before = sorted(open_folder.rglob("*"))

    def run() -> None:
        warnings: list[str] = []
        store = Store(open_folder, warn=warnings.append)
        assert store.get("back", KEY, PREIMAGE) == {"verdict": "ok"}
        assert not store.put("back", KEY[::-1], b"other", {})
        assert not store.put("front", KEY, PREIMAGE, {})
        store.put_blob(b"x")
        assert store.counters == {"record.hit": 1, "record.failed": 2, "blob.failed": 1}
        assert len(warnings) == 1

    unprivileged(run)

    assert sorted(open_folder.rglob("*")) == before
    for folder in (open_folder, *(path for path in open_folder.rglob("*") if path.is_dir())):
        folder.chmod(0o755)


def test_a_forbidden_directory_is_a_miss(open_folder: Path, unprivileged: Callable[[Callable[[], None]], None]) -> None:
    Store(open_folder / "cache", warn=pytest.fail).put("back", KEY, PREIMAGE, {})
    (open_folder / "cache").chmod(0o000)

    def run() -> None:
        warnings: list[str] = []
        store = Store(open_folder / "cache", warn=warnings.append)
        assert store.get("back", KEY, PREIMAGE) is None
        assert not store.put("back", KEY, PREIMAGE, {})
        assert store.counters == {"record.unreadable": 1, "record.failed": 1}
        assert len(warnings) == 1

    unprivileged(run)

    (open_folder / "cache").chmod(0o755)


def test_a_file_in_place_of_the_directory_is_a_miss(store: Store, root: Path, warnings: list[str]) -> None:
    root.write_text("not a folder")

    assert store.get("back", KEY, PREIMAGE) is None
    assert not store.put("back", KEY, PREIMAGE, {})
    pack(store, {"cubin": bytes(100_000)})

    assert root.read_text() == "not a folder"
    assert len(warnings) == 1


def test_a_payload_that_has_no_form_is_a_failed_write(store: Store, root: Path, warnings: list[str]) -> None:
    assert not store.put("back", KEY, PREIMAGE, {"x": object()})

    assert store.counters == {"record.failed": 1}
    assert len(warnings) == 1
    assert not root.exists()


@pytest.mark.parametrize(
    ("mask", "file_mode", "folder_mode"), [(0o022, 0o644, 0o755), (0o002, 0o664, 0o775), (0o077, 0o600, 0o700)]
)
def test_permissions_follow_the_umask(
    store: Store, root: Path, umask: Callable[[int], int], mask: int, file_mode: int, folder_mode: int
) -> None:
    umask(mask)

    store.put("back", KEY, PREIMAGE, {})
    store.put_blob(b"x")

    for path in (root, *root.rglob("*")):
        assert path.stat().st_mode & 0o777 == (folder_mode if path.is_dir() else file_mode), path


def test_a_shared_directory_hands_its_group_on(store: Store, root: Path, umask: Callable[[int], int]) -> None:
    umask(0o002)
    root.mkdir()
    root.chmod(0o2775)

    store.put("back", KEY, PREIMAGE, {})

    assert [oct(path.stat().st_mode & 0o7777) for path in root.rglob("*") if path.is_dir()] == ["0o2775"] * 3
