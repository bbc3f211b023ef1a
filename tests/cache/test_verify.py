"""Verification: every damaged file is found and removed, everything else is left as it is."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
import xxhash

from portcheck.cache import Store, Verified, verify
from portcheck.cache.layout import place


def test_damaged_files_are_removed_and_named(store: Store, root: Path) -> None:
    digest = store.put_blob(b"blob")
    for key in ("a" * 32, "b" * 32, "c" * 32):
        store.put("back", key, b"p", {"verdict": "ok"})
    record, blob = Path(place(root, "back", "a" * 32)), Path(place(root, "blob", digest))
    record.write_bytes(record.read_bytes()[:-1])
    blob.write_bytes(b"blot")

    found = verify(root)

    assert found == Verified(
        sound=2, damaged=(f"1/back/aa/{record.name}", f"1/blob/{digest[:2]}/{digest}"), stuck=(), other_version=0
    )
    assert not record.exists()
    assert not blob.exists()
    assert verify(root) == Verified(sound=2, damaged=(), stuck=(), other_version=0)


def test_a_record_of_another_version_is_counted_and_stays(store: Store, root: Path) -> None:
    store.put("back", "a" * 32, b"p", {})
    head = struct.pack(">4sIQ", b"PCHK", 99, 0)
    path = Path(place(root, "back", "a" * 32))
    path.write_bytes(head + xxhash.xxh3_128_digest(head))

    assert verify(root) == Verified(sound=0, damaged=(), stuck=(), other_version=1)
    assert path.exists()


def test_verification_is_no_use(store: Store, root: Path) -> None:
    store.put("back", "a" * 32, b"p", {})
    path = Path(place(root, "back", "a" * 32))
    os.utime(path, (0, 0))

    verify(root)

    assert path.stat().st_mtime == 0


def test_unreadable_files_are_named_with_the_reason(
    open_folder: Path, unprivileged: Callable[[Callable[[], None]], None]
) -> None:
    Store(open_folder, warn=pytest.fail).put("back", "a" * 32, b"p", {})
    Path(place(open_folder, "back", "a" * 32)).chmod(0o000)

    def run() -> None:
        found = verify(open_folder)
        assert found.stuck == (f"1/back/aa/{'a' * 32}: Permission denied",)
        assert found.damaged == ()

    unprivileged(run)


def test_a_missing_directory_is_sound(root: Path) -> None:
    assert verify(root) == Verified(sound=0, damaged=(), stuck=(), other_version=0)
    assert not root.exists()
