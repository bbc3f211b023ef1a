"""Collection: least recently used first, ours only, one collector at a time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
import xxhash

from portcheck.cache import Collected, Store, collect, stats
from portcheck.cache.gc import _alone
from portcheck.cache.layout import home, place, walk

HOUR = 3600.0
DAY = 86400.0
EVERYTHING = 1 << 60


def blob(store: Store, name: str, *, age: float, size: int = 1000) -> Path:
    """A blob of `size` bytes last used `age` seconds ago."""
    path = Path(place(store.root, "blob", store.put_blob(name.encode().ljust(size, b"."))))
    then = time.time() - age
    os.utime(path, (then, then))
    return path


def test_the_least_recently_used_go_first(store: Store, root: Path) -> None:
    old, older, recent = (blob(store, n, age=a * DAY) for n, a in (("old", 2), ("older", 3), ("recent", 1)))

    done = collect(root, max_size=2000)

    assert (older.exists(), old.exists(), recent.exists()) == (False, True, True)
    assert done == Collected(files=1, bytes=1000, kept_files=2, kept_bytes=2000)


def test_records_and_blobs_share_the_limit(store: Store, root: Path) -> None:
    store.put("back", "a" * 32, b"", {})
    store.put("local", "b" * 32, b"", {})
    blob(store, "x", age=0)

    done = collect(root, max_size=0)

    assert done.files == 3
    assert done.fresh == 3
    assert not any(used.files for used in stats(root).values())


def test_under_the_limit_nothing_goes(store: Store, root: Path) -> None:
    kept = blob(store, "x", age=1000 * DAY)

    assert collect(root, max_size=1000).files == 0
    assert kept.exists()


def test_what_was_not_used_for_too_long_goes_first(store: Store, root: Path) -> None:
    stale, used = blob(store, "stale", age=31 * DAY), blob(store, "used", age=29 * DAY)

    done = collect(root, max_size=EVERYTHING, max_age=30 * DAY)

    assert (stale.exists(), used.exists()) == (False, True)
    assert done.files == 1


def test_a_hit_saves_a_record_from_collection(store: Store, root: Path) -> None:
    used, unused = blob(store, "used", age=9 * DAY), blob(store, "unused", age=8 * DAY)
    store.get_blob(used.name)

    collect(root, max_size=1000)

    assert (used.exists(), unused.exists()) == (True, False)


@pytest.mark.parametrize("age", [0, HOUR / 2, -HOUR, -3650 * DAY])
def test_fresh_entries_and_those_from_the_future_go_last(store: Store, root: Path, age: float) -> None:
    fresh, older = blob(store, "fresh", age=age), blob(store, "older", age=2 * HOUR)

    done = collect(root, max_size=1000, max_age=DAY)

    assert (fresh.exists(), older.exists()) == (True, False)
    assert done.fresh == 0


def test_one_run_removes_a_bounded_number(store: Store, root: Path) -> None:
    for n in range(5):
        blob(store, str(n), age=DAY)

    first = collect(root, max_size=0, most=3)
    second = collect(root, max_size=0, most=3)

    assert (first.files, first.unfinished) == (3, True)
    assert (second.files, second.unfinished) == (2, False)


@pytest.mark.parametrize(("age", "goes"), [(3 * DAY, True), (DAY, False), (-3650 * DAY, False)])
def test_only_stale_leftovers_of_writers_go(store: Store, root: Path, age: float, goes: bool) -> None:
    whole = blob(store, "x", age=0)
    leftover = whole.with_name(f"{whole.name}.0123456789abcdef.tmp")
    leftover.write_bytes(b"half")
    os.utime(leftover, (time.time() - age,) * 2)

    done = collect(root, max_size=EVERYTHING)

    assert leftover.exists() is not goes
    assert done.temporaries == goes
    assert whole.exists()


def test_unknown_files_are_never_touched(store: Store, root: Path, tmp_path: Path) -> None:
    whole = blob(store, "x", age=0)
    shard = whole.parent
    outside = tmp_path / "outside"
    (outside / "aa").mkdir(parents=True)
    strangers = [
        root / "README",
        root / "lost+found" / "inode",
        root / "2" / "back" / "ab" / ("ab" + "0" * 30),  # a newer version's
        home(root) / "unknown-kind" / "ab" / ("ab" + "0" * 30),
        home(root) / "blob" / ("ab" + "0" * 30),  # not in its folder
        shard / ".nfs000000000000abcd00000001",
        shard / "notes.txt",
        shard / f"{whole.name}.tmp",
        shard / f"{whole.name}.bak",
        shard / ("0" * 32 if shard.name != "00" else "1" * 32),  # in another's folder
        outside / "aa" / ("aa" + "0" * 30),
    ]
    for path in strangers:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"mine")
        os.utime(path, (0, 0))
    link = shard / (shard.name + "f" * 30)
    link.symlink_to(strangers[0])
    (home(root) / "inputs").symlink_to(outside)
    (home(root) / "back").mkdir()
    (home(root) / "back" / "aa").symlink_to(outside / "aa")
    os.utime(root / "CACHEDIR.TAG", (0, 0))

    collect(root, max_size=0, max_age=0)

    assert not whole.exists()
    assert all(path.read_bytes() == b"mine" for path in strangers)
    assert link.is_symlink()
    assert (root / "CACHEDIR.TAG").exists()


def test_a_directory_that_holds_no_cache_stays_as_it_is(tmp_path: Path, root: Path) -> None:
    (tmp_path / "mine").write_text("x")

    assert collect(root, max_size=0) == Collected()
    assert collect(tmp_path, max_size=0) == Collected()
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_file_that_vanishes_meanwhile_is_no_trouble(
    store: Store, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blob(store, "x", age=DAY)
    walked = list(walk(root))
    Path(walked[0].path).unlink()
    monkeypatch.setattr("portcheck.cache.gc.walk", lambda root: walked)

    assert collect(root, max_size=0).trouble is None


def test_what_cannot_be_removed_is_told(open_folder: Path, unprivileged: Callable[[Callable[[], None]], None]) -> None:
    kept = blob(Store(open_folder, warn=pytest.fail), "x", age=DAY)
    (home(open_folder) / "gc.lock").touch()
    kept.parent.chmod(0o555)

    def run() -> None:
        done = collect(open_folder, max_size=0)
        assert done.files == 0
        assert done.trouble is not None
        assert kept.name in done.trouble

    unprivileged(run)

    kept.parent.chmod(0o755)


def hold(root: Path, ready: Connection) -> None:
    with _alone(home(root) / "gc.lock") as alone:
        ready.send(alone)
        time.sleep(60)


def test_a_second_collector_is_busy_until_the_first_dies(store: Store, root: Path) -> None:
    blob(store, "x", age=DAY)
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    holder = context.Process(target=hold, args=(root, there), daemon=True)
    holder.start()
    assert holder.pid is not None
    assert here.recv() is True

    assert collect(root, max_size=0) == Collected(busy=True)

    os.kill(holder.pid, signal.SIGKILL)
    holder.join()
    assert collect(root, max_size=0).files == 1


def test_without_locks_on_the_file_system_it_works_all_the_same(
    store: Store, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flock(descriptor: int, operation: int) -> None:
        raise OSError(37, "No locks available")

    blob(store, "x", age=DAY)
    monkeypatch.setattr("fcntl.flock", flock)

    assert collect(root, max_size=0).files == 1


def test_a_collection_is_the_size_of_what_it_says(store: Store, root: Path) -> None:
    for n in range(20):
        key = xxhash.xxh3_128_hexdigest(b"%d" % n)
        store.put("back", key, b"%d" % n, {"detail": "x" * n * 100})
    before = sum(used.bytes for used in stats(root).values())

    done = collect(root, max_size=before // 2)

    after = sum(used.bytes for used in stats(root).values())
    assert done.kept_bytes == after <= before // 2
    assert done.bytes == before - after
