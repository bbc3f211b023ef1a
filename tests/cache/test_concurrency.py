"""Many processes in one directory: nobody fails, nothing is mixed, and a kill leaves only leftovers."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import xxhash

from portcheck.cache import Store, collect, pack, stats, unpack, verify

FORK = multiprocessing.get_context("fork")


def together(target: Callable[..., None], *arguments: tuple[Any, ...]) -> None:
    """Run `target` in one process per tuple of arguments; an assertion that fails in any of them fails the test."""
    processes = [FORK.Process(target=target, args=each) for each in arguments]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * len(processes)


def key_of(n: int) -> tuple[str, bytes]:
    preimage = b"%d" % n
    return xxhash.xxh3_128_hexdigest(preimage), preimage


def artifacts_of(writer: int, n: int) -> dict[str, bytes]:
    """Another output under the same key for every writer, as a compiler that is not deterministic gives."""
    return {"ptx": b"%d of %d " % (n, writer) * 50, "cubin": b"%d of %d " % (n, writer) * 10_000}


def write_and_read(root: Path, writer: int, kind: str, keys: int, rounds: int) -> None:
    store = Store(root, warn=pytest.fail)
    for _ in range(rounds):
        for n in range(keys):
            key, preimage = key_of(n)
            entries = pack(store, artifacts_of(writer, n))
            assert store.put(kind, key, preimage, {"writer": writer, "artifacts": entries})
            record = store.get(kind, key, preimage)
            assert record is not None
            seen = {name: unpack(store, entry) for name, entry in record["artifacts"].items()}
            assert seen == artifacts_of(record["writer"], n)


@pytest.mark.parametrize("kind", ["back", "local"])
def test_sixteen_writers_of_the_same_keys_never_mix(root: Path, kind: str) -> None:
    together(write_and_read, *((root, writer, kind, 8, 60) for writer in range(16)))

    assert stats(root)[kind].files == 8
    assert stats(root)["temporary"].files == 0
    assert verify(root).damaged == ()


def test_a_hundred_writers_of_one_key_leave_one_record(root: Path) -> None:
    together(write_and_read, *((root, writer, "back", 1, 1) for writer in range(100)))

    assert stats(root)["back"].files == 1
    assert stats(root)["temporary"].files == 0


def use(root: Path, seed: int, until: float) -> None:
    """Look up, compile on a miss, look again: what a run does."""
    dice = random.Random(seed)
    store = Store(root, warn=pytest.fail)
    while time.monotonic() < until:
        key, preimage = key_of(dice.randrange(100))
        record = store.get("back", key, preimage)
        if record is None:
            artifacts = {"cubin": preimage * 40_000}
            assert store.put("back", key, preimage, {"of": preimage, "artifacts": pack(store, artifacts)})
        else:
            assert record["of"] == preimage
            assert unpack(store, record["artifacts"]["cubin"]) in (None, preimage * 40_000)


def collect_in_a_loop(root: Path, limit: int, until: float) -> None:
    while time.monotonic() < until:
        assert collect(root, max_size=limit).trouble is None


def test_users_during_collection_see_hits_or_misses(root: Path) -> None:
    limit = 800_000  # about a tenth of what a hundred keys take
    until = time.monotonic() + 2.0
    users = [FORK.Process(target=use, args=(root, seed, until)) for seed in range(4)]
    collectors = [FORK.Process(target=collect_in_a_loop, args=(root, limit, until)) for _ in range(2)]
    for process in (*users, *collectors):
        process.start()
    for process in (*users, *collectors):
        process.join()

    assert [process.exitcode for process in (*users, *collectors)] == [0] * 6
    assert collect(root, max_size=limit).kept_bytes <= limit
    assert verify(root).damaged == ()


def write_for_ever(root: Path) -> None:
    store = Store(root, warn=lambda line: None)
    n = 0
    while True:
        key, preimage = key_of(n := (n + 1) % 200)
        store.put("local", key, preimage, {"of": preimage, "artifacts": pack(store, {"cubin": preimage * 40_000})})


def test_a_killed_writer_leaves_leftovers_that_collection_sweeps(root: Path) -> None:
    dice = random.Random(1)
    for _ in range(20):
        writer = FORK.Process(target=write_for_ever, args=(root,))
        writer.start()
        time.sleep(dice.uniform(0.01, 0.06))
        assert writer.pid is not None
        os.kill(writer.pid, signal.SIGKILL)
        writer.join()

    store = Store(root, warn=pytest.fail)
    for n in range(200):
        key, preimage = key_of(n)
        record = store.get("local", key, preimage)
        assert record is None or record["of"] == preimage
    assert verify(root).damaged == ()
    for path in root.rglob("*.tmp"):
        os.utime(path, (0, 0))
    collect(root, max_size=1 << 60)
    assert list(root.rglob("*.tmp")) == []
