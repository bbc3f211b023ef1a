"""The record format: whatever happens to the bytes, decode says so with one exception."""

from __future__ import annotations

import struct
from typing import Any

import msgpack
import pytest
import xxhash

from portcheck.cache.envelope import FORMAT_VERSION, MAX_BODY, EnvelopeError, Record, decode, encode

RECORD = Record(b"what the key was made of", {"verdict": "ok", "seconds": 0.25, "artifacts": {"ptx": b"\x00\xff"}})


def forge(body: bytes, *, version: int = FORMAT_VERSION, length: int | None = None, magic: bytes = b"PCHK") -> bytes:
    """A file with a right checksum around anything."""
    head = struct.pack(">4sIQ", magic, version, len(body) if length is None else length) + body
    return head + xxhash.xxh3_128_digest(head)


def body(payload: Any = None, preimage: Any = b"p") -> bytes:
    packed: bytes = msgpack.packb({"preimage": preimage, "payload": {} if payload is None else payload})
    return packed


def test_a_record_comes_back_as_it_was() -> None:
    assert decode(encode(RECORD)) == RECORD


def test_text_that_is_no_unicode_comes_back() -> None:
    record = Record(b"", {"file": b"caf\xe9.py".decode(errors="surrogateescape")})

    assert decode(encode(record)) == record


def test_the_bytes_are_those_of_the_grammar() -> None:
    assert encode(RECORD) == forge(msgpack.packb({"preimage": RECORD.preimage, "payload": RECORD.payload}))


def test_truncation_at_every_length_is_noticed() -> None:
    data = encode(RECORD)

    for length in range(len(data)):
        with pytest.raises(EnvelopeError) as caught:
            decode(data[:length])
        assert caught.value.version is None


def test_every_flipped_byte_is_noticed() -> None:
    data = encode(RECORD)

    for index in range(len(data)):
        damaged = bytearray(data)
        damaged[index] ^= 0xFF
        with pytest.raises(EnvelopeError) as caught:
            decode(bytes(damaged))
        assert caught.value.version is None, f"a flip at {index} passed for another version"


@pytest.mark.parametrize("version", [0, FORMAT_VERSION + 1, 2**32 - 1])
def test_a_sound_record_of_another_version_is_told_from_a_damaged_one(version: int) -> None:
    with pytest.raises(EnvelopeError) as caught:
        decode(forge(b"whatever that version keeps", version=version))

    assert caught.value.version == version


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(encode(RECORD) + b"\0", id="trailing-garbage"),
        pytest.param(encode(RECORD) * 2, id="twice"),
        pytest.param(forge(body(), magic=b"PACK"), id="other-magic"),
        pytest.param(forge(body(), length=2**31), id="length-2GiB"),
        pytest.param(forge(body(), length=2**64 - 1), id="length-absurd"),
        pytest.param(forge(body(), length=0), id="length-zero"),
        pytest.param(forge(b""), id="no-body"),
        pytest.param(forge(body() + b"\0"), id="second-value"),
        pytest.param(forge(body()[:-1]), id="cut-body"),
        pytest.param(forge(b"\xc1"), id="unused-code"),
        pytest.param(forge(b"\xdd\x7f\xff\xff\xff"), id="array-of-2G"),
        pytest.param(forge(b"\xdf\x7f\xff\xff\xff"), id="map-of-2G"),
        pytest.param(forge(b"\xdb\x7f\xff\xff\xff"), id="text-of-2GiB"),
        pytest.param(forge(b"\xc6\x7f\xff\xff\xff"), id="bytes-of-2GiB"),
        pytest.param(forge(b"\x91" * 100_000 + b"\xc0"), id="nested-without-end"),
        pytest.param(forge(b"\xa1\xff"), id="text-not-utf8"),
        pytest.param(forge(msgpack.packb([1, 2])), id="a-list"),
        pytest.param(forge(body(payload=[1])), id="payload-a-list"),
        pytest.param(forge(body(preimage="text")), id="preimage-text"),
        pytest.param(forge(msgpack.packb({"preimage": b"", "payload": {}, "more": 1})), id="one-field-more"),
        pytest.param(forge(body({1: 2})), id="integer-keys"),
        pytest.param(forge(body({"x": msgpack.ExtType(5, b"abc")})), id="extension"),
        pytest.param(forge(body({"x": msgpack.Timestamp(0)})), id="timestamp"),
    ],
)
def test_what_is_no_record_is_refused(data: bytes) -> None:
    with pytest.raises(EnvelopeError):
        decode(data)


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param({"x": object()}, id="no-form"),
        pytest.param({"x": 2**64}, id="too-large-a-number"),
        pytest.param({1: "x"}, id="integer-key"),
        pytest.param({"x": b"\0" * (MAX_BODY + 1)}, id="over-the-limit"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(payload: dict[Any, Any]) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError)):
        encode(Record(b"", payload))
