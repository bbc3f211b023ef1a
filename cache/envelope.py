"""The on-disk form of a record: one self-checking file.

Grammar (integers are big-endian):

    file     = magic version length body checksum
    magic    = "PCHK"                    4 bytes
    version  = u32                       FORMAT_VERSION of the writer
    length   = u64                       bytes of body
    body     = msgpack map {"preimage": bin, "payload": map with string keys}
    checksum = xxh3-128 of all before    16 bytes

Every version keeps magic and version at the front and, as the last 16 bytes, the checksum of all that precedes. So a
sound record of another version can be told from a damaged one.

Versions:

    1   the first. A later version is filed in a folder of its own, and has to go on collecting the folders of earlier
        ones.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgpack
import xxhash

MAGIC = b"PCHK"
FORMAT_VERSION = 1
MAX_BODY = 64 << 20  # bytes; a cell with every artifact inside takes well under 1 MiB

_HEADER = struct.Struct(">4sIQ")
_CHECKSUM = 16
MAX_FILE = _HEADER.size + MAX_BODY + _CHECKSUM


class EnvelopeError(ValueError):
    """The bytes are no record of this format version.

    `version` is the version of a sound record that another format wrote, and None for anything damaged.
    """

    def __init__(self, message: str, version: int | None = None) -> None:
        super().__init__(message)
        self.version = version


@dataclass(frozen=True, slots=True)
class Record:
    """What one file keeps: the bytes whose hash is the key, and what was found out about them."""

    preimage: bytes
    payload: Mapping[str, Any]


def encode(record: Record) -> bytes:
    """The file for `record`. Tuples in the payload come back as lists.

    Raises:
        EnvelopeError: the body is over MAX_BODY, or could not be read back (integer keys, too deep).
        TypeError, ValueError, OverflowError: msgpack has no form for a value in the payload.
    """
    body = msgpack.packb(
        {"preimage": record.preimage, "payload": dict(record.payload)},
        unicode_errors="surrogatepass",
        use_bin_type=True,
    )
    head = _HEADER.pack(MAGIC, FORMAT_VERSION, len(body)) + body
    data: bytes = head + xxhash.xxh3_128_digest(head)
    decode(data)  # a record that only fails when it is read would be a miss for ever
    return data


def decode(data: bytes) -> Record:
    """Read a file back.

    Raises:
        EnvelopeError: anything at all is wrong with it.
    """
    if len(data) < _HEADER.size + _CHECKSUM:
        raise EnvelopeError(f"too short for a record: {len(data)} bytes")
    magic, version, length = _HEADER.unpack_from(data)
    if magic != MAGIC:
        raise EnvelopeError(f"not a record: it starts with {magic!r}")
    if xxhash.xxh3_128_digest(memoryview(data)[:-_CHECKSUM]) != data[-_CHECKSUM:]:
        raise EnvelopeError("checksum mismatch")
    if version != FORMAT_VERSION:
        raise EnvelopeError(f"format version {version}, not {FORMAT_VERSION}", version)
    if length != len(data) - _HEADER.size - _CHECKSUM or length > MAX_BODY:
        raise EnvelopeError(f"wrong body length {length}")
    return _parse(memoryview(data)[_HEADER.size : -_CHECKSUM])


def _parse(body: memoryview) -> Record:
    # A checksum is no signature: a forged body gets this far. unpackb bounds every length by the body's own, and
    # extension types, which would build other objects, are refused.
    try:
        content = msgpack.unpackb(
            body, raw=False, strict_map_key=True, unicode_errors="surrogatepass", max_ext_len=0, ext_hook=_refuse
        )
    except (ValueError, TypeError, msgpack.UnpackException, RecursionError) as error:
        raise EnvelopeError(f"unreadable body: {error}") from error
    match content:
        case {"preimage": bytes(preimage), "payload": dict(payload)} if len(content) == 2:
            return Record(preimage, payload)
    raise EnvelopeError("the body is not a preimage and a payload")


def _refuse(code: int, data: bytes) -> object:
    raise ValueError(f"extension type {code}")
