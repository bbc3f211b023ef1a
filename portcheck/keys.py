"""Keys: xxh3-128 over the canonical msgpack of a preimage, which is kept with the record and compared on a hit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgpack
import xxhash

# The meaning of records. Raise it when the same preimage would give another verdict, or a payload is read otherwise.
RECORDS = 12


@dataclass(frozen=True, slots=True)
class Key:
    """A key and what it was made from."""

    hex: str
    preimage: bytes


def make_key(kind: str, *, salt: str, toolchain: str, **parts: Any) -> Key:
    """The key of one kind of record for one toolchain digest; `parts` is plain data."""
    preimage = canonical({"records": RECORDS, "kind": kind, "salt": salt, "toolchain": toolchain, **parts})
    return Key(digest(preimage), preimage)


def canonical(value: Any) -> bytes:
    """Plain data as bytes that do not depend on the order of mappings."""
    packed: bytes = msgpack.packb(_ordered(value), use_bin_type=True, unicode_errors="surrogatepass")
    return packed


def digest(data: bytes) -> str:
    """xxh3-128 in hex."""
    return xxhash.xxh3_128_hexdigest(data)


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [_ordered(item) for item in value]
    return value
