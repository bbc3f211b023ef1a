"""Artifacts: small ones inside the record, large ones as blobs, and neither is believed unchecked."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Any

import pytest
import xxhash

from portcheck.cache import Store, pack, unpack
from portcheck.cache.artifacts import INLINE_LIMIT
from portcheck.cache.layout import place

SMALL = b"// ptx\n" * 100
LARGE = os.urandom(INLINE_LIMIT)


def test_artifacts_come_back_through_a_record(store: Store) -> None:
    store.put("back", "0" * 32, b"", {"artifacts": pack(store, {"ptx": SMALL, "cubin": LARGE, "empty": b""})})

    record = store.get("back", "0" * 32, b"")

    assert record is not None
    assert {name: unpack(store, entry) for name, entry in record["artifacts"].items()} == {
        "ptx": SMALL,
        "cubin": LARGE,
        "empty": b"",
    }


def test_only_large_artifacts_become_blobs(store: Store) -> None:
    entries = pack(store, {"ptx": SMALL, "edge": LARGE[:-1], "cubin": LARGE})

    assert {name: "data" in entry for name, entry in entries.items()} == {"ptx": True, "edge": True, "cubin": False}
    assert store.counters == {"blob.written": 1}
    assert entries["cubin"] == {"digest": xxhash.xxh3_128_hexdigest(LARGE), "size": INLINE_LIMIT}
    assert len(entries["ptx"]["data"]) < len(SMALL)


def test_a_record_outlives_its_blob_which_the_next_pack_brings_back(store: Store) -> None:
    entries = pack(store, {"cubin": LARGE})
    store.put("back", "0" * 32, b"", {"verdict": "ok", "artifacts": entries})
    Path(place(store.root, "blob", entries["cubin"]["digest"])).unlink()

    record = store.get("back", "0" * 32, b"")

    assert record is not None
    assert record["verdict"] == "ok"
    assert unpack(store, record["artifacts"]["cubin"]) is None
    pack(store, {"cubin": LARGE})
    assert unpack(store, record["artifacts"]["cubin"]) == LARGE


GOOD = {"digest": xxhash.xxh3_128_hexdigest(SMALL), "size": len(SMALL), "data": zlib.compress(SMALL, 1)}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"digest": xxhash.xxh3_128_hexdigest(b"other")}, id="other-digest"),
        pytest.param({"digest": "../../../etc/passwd"}, id="digest-a-path"),
        pytest.param({"digest": None}, id="digest-missing"),
        pytest.param({"size": len(SMALL) - 1}, id="size-too-small"),
        pytest.param({"size": -1}, id="size-negative"),
        pytest.param({"size": 1 << 40}, id="size-absurd"),
        pytest.param({"size": "7"}, id="size-text"),
        pytest.param({"data": b"not zlib"}, id="data-garbage"),
        pytest.param({"data": GOOD["data"][:-1]}, id="data-cut"),  # type: ignore[index]
        pytest.param({"data": GOOD["data"] + b"\0"}, id="data-trailing"),  # type: ignore[operator]
        pytest.param({"data": zlib.compress(bytes(50 << 20), 9)}, id="data-a-bomb"),
        pytest.param({"data": None}, id="data-none"),
    ],
)
def test_a_forged_entry_gives_nothing(store: Store, change: dict[str, Any]) -> None:
    assert unpack(store, GOOD) == SMALL

    assert unpack(store, {**GOOD, **change}) is None


@pytest.mark.parametrize("digest", ["../" * 10 + "etc/passwd", "/etc/passwd", "\0" * 32])
def test_a_blob_is_looked_for_by_a_digest_only(store: Store, digest: str) -> None:
    assert unpack(store, {"digest": digest, "size": 1}) is None


def test_a_blob_of_another_size_gives_nothing(store: Store) -> None:
    entry = pack(store, {"cubin": LARGE})["cubin"]

    assert unpack(store, {**entry, "size": entry["size"] + 1}) is None
