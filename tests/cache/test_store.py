"""The store: a hit is exactly what was put, and everything else is a counted miss that the next put heals."""

from __future__ import annotations

import os
import random
import struct
import time
from pathlib import Path

import pytest
import xxhash

from portcheck.cache import Store, Zones, remote_at
from portcheck.cache.envelope import FORMAT_VERSION, Record, encode
from portcheck.cache.layout import place

PREIMAGE = b"the back key's preimage"
KEY = xxhash.xxh3_128_hexdigest(PREIMAGE)
PAYLOAD = {"verdict": "ok", "stages": {"ttir": 0.01}}
DAY = 86400.0


def path_of(store: Store, kind: str, name: str) -> Path:
    return Path(place(store.root, kind, name))


def of_version(version: int) -> bytes:
    head = struct.pack(">4sIQ", b"PCHK", version, 3) + b"???"
    return head + xxhash.xxh3_128_digest(head)


def test_what_was_put_is_got(store: Store) -> None:
    assert store.put("back", KEY, PREIMAGE, PAYLOAD)

    assert store.get("back", KEY, PREIMAGE) == PAYLOAD
    assert store.counters == {"record.written": 1, "record.hit": 1}


def test_a_record_lies_where_the_layout_says(store: Store, root: Path) -> None:
    store.put("front", KEY, PREIMAGE, PAYLOAD)

    assert (root / str(FORMAT_VERSION) / "front" / KEY[:2] / KEY).is_file()
    assert (root / "CACHEDIR.TAG").read_bytes().startswith(b"Signature: 8a477f597d28d172789f06886806bc55\n")


def test_kinds_do_not_mix(store: Store) -> None:
    store.put("front", KEY, PREIMAGE, PAYLOAD)

    assert store.get("back", KEY, PREIMAGE) is None


def test_looking_creates_nothing(store: Store, root: Path, warnings: list[str]) -> None:
    assert store.get("back", KEY, PREIMAGE) is None
    assert store.get_blob(KEY) is None

    assert not root.exists()
    assert warnings == []


def test_a_shared_record_stays_as_it_is(store: Store) -> None:
    store.put("back", KEY, PREIMAGE, {"seconds": 1.0})

    assert store.put("back", KEY, PREIMAGE, {"seconds": 2.0})

    assert store.get("back", KEY, PREIMAGE) == {"seconds": 1.0}
    assert store.counters["record.kept"] == 1


def test_a_local_record_is_overwritten(store: Store) -> None:
    store.put("local", KEY, PREIMAGE, {"seconds": 1.0})
    store.put("local", KEY, PREIMAGE, {"seconds": 2.0})

    assert store.get("local", KEY, PREIMAGE) == {"seconds": 2.0}


def test_a_truncated_record_is_a_miss_at_every_length(store: Store, warnings: list[str]) -> None:
    store.put("back", KEY, PREIMAGE, PAYLOAD)
    path = path_of(store, "back", KEY)
    data = path.read_bytes()

    for length in range(len(data)):
        path.write_bytes(data[:length])
        assert store.get("back", KEY, PREIMAGE) is None

    assert store.counters["record.damaged"] == len(data)
    assert store.put("back", KEY, PREIMAGE, PAYLOAD)
    assert store.get("back", KEY, PREIMAGE) == PAYLOAD
    assert warnings == []


def test_each_flipped_byte_is_found_and_healed(store: Store) -> None:
    store.put("back", KEY, PREIMAGE, PAYLOAD)
    path = path_of(store, "back", KEY)
    data = path.read_bytes()

    for index in range(len(data)):
        path.write_bytes(data[:index] + bytes([data[index] ^ 1]) + data[index + 1 :])
        assert store.get("back", KEY, PREIMAGE) is None
        assert store.put("back", KEY, PREIMAGE, PAYLOAD)
        assert store.get("back", KEY, PREIMAGE) == PAYLOAD

    assert store.counters["record.damaged"] == store.counters["record.hit"] == len(data)


def test_one_flipped_bit_in_each_of_many_blobs_is_found_and_healed(store: Store) -> None:
    dice = random.Random(3)
    blobs = {store.put_blob(data): data for data in (dice.randbytes(dice.randint(1, 2000)) for _ in range(300))}

    for digest, data in blobs.items():
        bit = dice.randrange(len(data) * 8)
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        path_of(store, "blob", digest).write_bytes(damaged)

    assert [store.get_blob(digest) for digest in blobs] == [None] * 300
    assert store.counters["blob.damaged"] == 300
    assert [store.put_blob(data) for data in blobs.values()] == list(blobs)
    assert [store.get_blob(digest) for digest in blobs] == list(blobs.values())


def test_a_blob_is_written_once(store: Store) -> None:
    assert store.put_blob(b"cubin") == store.put_blob(b"cubin") == xxhash.xxh3_128_hexdigest(b"cubin")

    assert store.counters == {"blob.written": 1, "blob.kept": 1}


def test_an_empty_blob_is_a_blob(store: Store) -> None:
    assert store.get_blob(store.put_blob(b"")) == b""


def test_a_record_with_another_preimage_is_a_miss_and_healed(store: Store) -> None:
    store.put("back", KEY, b"what an attacker filed under this key", {"verdict": "ok"})

    assert store.get("back", KEY, PREIMAGE) is None
    assert store.counters["record.preimage"] == 1
    store.put("back", KEY, PREIMAGE, {"verdict": "mlir-error"})
    assert store.get("back", KEY, PREIMAGE) == {"verdict": "mlir-error"}


def test_a_record_of_a_newer_format_is_a_miss_and_stays(store: Store, warnings: list[str]) -> None:
    store.put("back", KEY, PREIMAGE, PAYLOAD)
    newer = of_version(FORMAT_VERSION + 1)
    path_of(store, "back", KEY).write_bytes(newer)

    assert store.get("back", KEY, PREIMAGE) is None
    assert not store.put("back", KEY, PREIMAGE, PAYLOAD)

    assert store.counters["record.version"] == 1
    assert path_of(store, "back", KEY).read_bytes() == newer
    assert len(warnings) == 1


def test_a_record_of_an_older_format_is_a_miss_until_it_is_written_again(store: Store) -> None:
    store.put("back", KEY, PREIMAGE, PAYLOAD)
    path_of(store, "back", KEY).write_bytes(of_version(FORMAT_VERSION - 1))

    assert store.get("back", KEY, PREIMAGE) is None
    assert path_of(store, "back", KEY).read_bytes() == of_version(FORMAT_VERSION - 1)
    assert store.put("back", KEY, PREIMAGE, PAYLOAD)
    assert store.get("back", KEY, PREIMAGE) == PAYLOAD


BAD_NAMES = [
    "",
    "..",
    "../" + "a" * 29,
    "/etc/passwd",
    "a" * 31,
    "a" * 33,
    "A" * 32,
    "a" * 31 + "\0",
    "a" * 32 + "\n",
    "é" * 32,
]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_is_no_digest_never_becomes_a_path(store: Store, root: Path, tmp_path: Path, name: str) -> None:
    assert store.get("back", name, PREIMAGE) is None
    assert store.get_blob(name) is None
    assert not store.put("back", name, PREIMAGE, PAYLOAD)

    assert store.counters == {"record.name": 1, "blob.name": 1, "record.failed": 1}
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_kind_is_a_bug_of_the_caller(store: Store) -> None:
    with pytest.raises(ValueError, match="kind"):
        store.get("../kind", KEY, PREIMAGE)


def test_a_link_in_place_of_a_record_is_not_followed_and_is_replaced(store: Store, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(encode(Record(PREIMAGE, {"verdict": "forged"})))
    store.put("back", KEY, PREIMAGE, PAYLOAD)
    path = path_of(store, "back", KEY)
    path.unlink()
    path.symlink_to(elsewhere)

    assert store.get("back", KEY, PREIMAGE) is None
    assert store.put("back", KEY, PREIMAGE, PAYLOAD)

    assert not path.is_symlink()
    assert store.get("back", KEY, PREIMAGE) == PAYLOAD
    assert elsewhere.read_bytes() == encode(Record(PREIMAGE, {"verdict": "forged"}))


def test_a_pipe_a_folder_or_a_giant_in_place_of_a_record_is_a_miss(store: Store, warnings: list[str]) -> None:
    store.put("back", KEY, PREIMAGE, PAYLOAD)
    path = path_of(store, "back", KEY)

    path.unlink()
    os.mkfifo(path)
    assert store.get("back", KEY, PREIMAGE) is None

    path.unlink()
    path.mkdir()
    assert store.get("back", KEY, PREIMAGE) is None

    path.rmdir()
    with path.open("wb") as file:
        file.truncate(1 << 40)  # sparse: takes no space, and must not be read into memory
    assert store.get("back", KEY, PREIMAGE) is None

    assert store.counters["record.unreadable"] == 3
    assert len(warnings) == 1


@pytest.mark.parametrize("years", [-10, 10])
def test_times_of_a_wrong_clock_are_hits_and_are_put_right(store: Store, years: int) -> None:
    store.put("back", KEY, PREIMAGE, PAYLOAD)
    digest = store.put_blob(b"x")
    now = time.time()
    paths = [path_of(store, "back", KEY), path_of(store, "blob", digest)]
    for path in paths:
        os.utime(path, (now + years * 365 * DAY,) * 2)

    assert store.get("back", KEY, PREIMAGE) == PAYLOAD
    assert store.get_blob(digest) == b"x"

    assert all(abs(path.stat().st_mtime - now) < DAY for path in paths)


def test_a_hit_within_the_hour_is_not_noted_again(store: Store) -> None:
    store.put("back", KEY, PREIMAGE, PAYLOAD)
    path = path_of(store, "back", KEY)
    recently = time.time() - 600
    os.utime(path, (recently, recently))

    store.get("back", KEY, PREIMAGE)

    assert path.stat().st_mtime == pytest.approx(recently)


def test_putting_a_blob_again_makes_it_recently_used(store: Store) -> None:
    path = path_of(store, "blob", store.put_blob(b"x"))
    os.utime(path, (0, 0))

    store.put_blob(b"x")

    assert path.stat().st_mtime > 0


def test_who_verifies_what_is_taken_may_look_at_a_record_of_any_preimage(store: Store, tmp_path: Path) -> None:
    assert store.put("back", KEY, b"somebody's", {"verdict": "ok"})

    assert store.look("back", KEY) == {"verdict": "ok"}
    assert store.look("back", KEY[::-1]) is None
    assert store.look("back", "../../etc/passwd") is None
    Path(place(store.root, "back", KEY)).write_bytes(b"damaged")
    assert store.look("back", KEY) is None


def test_looking_asks_the_remote_as_well(tmp_path: Path) -> None:
    def make(name: str) -> Store:
        shared = remote_at(f"file://{tmp_path}/shared", "main")
        return Store(tmp_path / name, warn=lambda _: None, remote=Zones((shared,), shared, lambda _: None))

    make("writer").put("back", KEY, b"preimage", {"verdict": "ok"})

    assert make("reader").look("back", KEY) == {"verdict": "ok"}
