"""Artifacts of a cell: small ones travel inside its record, large ones are blobs.

An artifact of a small kernel has 1–10 KB. With those inside, a cell is one file instead of eight.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import xxhash

from portcheck.cache.store import Store

INLINE_LIMIT = 64 << 10  # bytes, before compression


def pack(store: Store, artifacts: Mapping[str, bytes]) -> dict[str, dict[str, Any]]:
    """The artifacts as entries for a record's payload; those of INLINE_LIMIT bytes and more are put into `store`.

    Returns:
        name → {"digest": xxh3-128 in hex, "size": bytes} and, for a small one, "data": zlib bytes.
    """
    return {name: _entry(store, data) for name, data in artifacts.items()}


def _entry(store: Store, data: bytes) -> dict[str, Any]:
    if len(data) >= INLINE_LIMIT:
        return {"digest": store.put_blob(data), "size": len(data)}
    return {"digest": xxhash.xxh3_128_hexdigest(data), "size": len(data), "data": zlib.compress(data, 1)}


def unpack(store: Store, entry: Mapping[str, Any]) -> bytes | None:
    """The artifact behind `entry`, verified against its digest and size; None if it is gone or was changed."""
    match entry:
        case {"digest": str(digest), "size": int(size), "data": bytes(packed)} if 0 <= size < INLINE_LIMIT:
            data = _inflate(packed, size)
            return data if data is not None and xxhash.xxh3_128_hexdigest(data) == digest else None
        case {"digest": str(digest), "size": int(size)} if "data" not in entry:
            data = store.get_blob(digest)
            return data if data is not None and len(data) == size else None
    return None


def _inflate(packed: bytes, size: int) -> bytes | None:
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(packed, size + 1)  # a few forged bytes may inflate to gigabytes
    except zlib.error:
        return None
    return data if inflater.eof and not inflater.unused_data and len(data) == size else None
