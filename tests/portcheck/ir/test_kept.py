"""Finding outputs in a cache by what a report says."""

from __future__ import annotations

from pathlib import Path

import pytest
import xxhash

from portcheck.cache import Store, pack
from portcheck.ir.kept import find
from portcheck.verdicts import Artifact

KEY = "0123456789abcdef0123456789abcdef"
SMALL, LARGE = b"small", b"large" * 20_000


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with a record of two outputs."""
    store = Store(tmp_path, warn=lambda _: None)
    store.put("back", KEY, b"preimage", {"artifacts": pack(store, {"ttir": SMALL, "llir": LARGE})})
    return store


def _artifact(data: bytes) -> Artifact:
    return Artifact(xxhash.xxh3_128_hexdigest(data), len(data))


def test_small_ones_are_in_the_record_and_large_ones_beside_it(store: Store) -> None:
    assert find(store, KEY, _artifact(SMALL)) == SMALL
    assert find(store, KEY, _artifact(LARGE)) == LARGE
    assert find(store, None, _artifact(LARGE)) == LARGE


def test_what_is_not_there_is_none(store: Store) -> None:
    assert find(store, None, _artifact(SMALL)) is None
    assert find(store, "f" * 32, _artifact(SMALL)) is None
    assert find(store, KEY, _artifact(b"other")) is None


@pytest.mark.parametrize("key", ["../../../etc/passwd", "", "\x00", "0" * 31])
def test_a_report_names_no_other_files(store: Store, key: str) -> None:
    assert find(store, key, Artifact(key, 5)) is None


def test_a_record_that_holds_other_bytes_than_the_report_says_is_not_taken(store: Store) -> None:
    found = _artifact(SMALL)
    entry = {"digest": found.digest, "size": found.size, "data": b"\x00not zlib"}
    store.put("back", "e" * 32, b"", {"artifacts": {"ttir": entry}})
    store.put("back", "d" * 32, b"", {"artifacts": ["nonsense"]})

    assert find(store, "e" * 32, found) is None
    assert find(store, "d" * 32, found) is None
