"""Counting what a cache directory holds."""

from __future__ import annotations

from pathlib import Path

from portcheck.cache import Store, Usage, stats
from portcheck.cache.layout import place


def test_files_and_bytes_are_counted_by_kind(store: Store, root: Path) -> None:
    store.put("front", "a" * 32, b"", {})
    store.put("back", "a" * 32, b"", {})
    store.put("back", "b" * 32, b"", {"verdict": "ok"})
    digest = store.put_blob(b"12345")
    Path(place(root, "blob", digest) + ".0123456789abcdef.tmp").write_bytes(b"123")

    usage = stats(root)

    assert {kind: used.files for kind, used in usage.items()} == {
        "inputs": 0,
        "configs": 0,
        "front": 1,
        "back": 2,
        "local": 0,
        "blob": 1,
        "temporary": 1,
    }
    assert usage["blob"] == Usage(files=1, bytes=5)
    assert usage["temporary"] == Usage(files=1, bytes=3)
    assert usage["front"].bytes == Path(place(root, "front", "a" * 32)).stat().st_size


def test_a_missing_directory_is_empty_and_stays_missing(root: Path) -> None:
    assert set(stats(root).values()) == {Usage()}
    assert not root.exists()
