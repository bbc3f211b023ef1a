"""A store with a remote behind it: what is read from which zone, what is added, and what trouble costs."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import xxhash

from portcheck.cache import Store, Zones
from portcheck.cache.layout import place
from portcheck.cache.remotes import DirectoryRemote

KEY = "0123456789abcdef" * 2
PREIMAGE = b"what the key was made of"
LARGE = b"an artifact" * 10_000

MakeStore = Callable[..., Store]


@pytest.fixture
def make_store(tmp_path: Path) -> MakeStore:
    """`make_store("name", read=["main"], write="main")`: a machine's store, with these zones of one remote."""

    def make(name: str, read: tuple[str, ...] = ("main",), write: str | None = "main") -> Store:
        zones = {zone: DirectoryRemote(tmp_path / "remote" / zone) for zone in (*read, *([write] if write else []))}
        remote = Zones(tuple(zones[zone] for zone in read), zones[write] if write else None, print)
        return Store(tmp_path / name, warn=print, remote=remote)

    return make


def test_what_one_machine_adds_another_has_and_keeps(make_store: MakeStore, tmp_path: Path) -> None:
    one, other = make_store("one"), make_store("other")
    one.put("front", KEY, PREIMAGE, {"answer": 1})
    digest = one.put_blob(LARGE)

    assert other.get("front", KEY, PREIMAGE) == {"answer": 1}
    assert other.get_blob(digest) == LARGE
    assert other.fetched == {KEY, digest}
    assert other.counters["remote.hit"] == 2
    alone = Store(tmp_path / "other", warn=print)
    assert (alone.get("front", KEY, PREIMAGE), alone.get_blob(digest)) == ({"answer": 1}, LARGE)


def test_what_is_local_is_neither_sent_nor_asked_for(make_store: MakeStore) -> None:
    make_store("one").put("local", KEY, PREIMAGE, {"answer": 1})

    assert make_store("other").get("local", KEY, PREIMAGE) is None


def test_zones_are_read_in_order_and_only_one_is_written(make_store: MakeStore, tmp_path: Path) -> None:
    make_store("trusted").put("front", KEY, PREIMAGE, {"answer": "main"})
    make_store("stranger", ("pr",), "pr").put("front", KEY, PREIMAGE, {"answer": "pr"})

    assert make_store("a", ("pr", "main")).get("front", KEY, PREIMAGE) == {"answer": "pr"}
    assert make_store("b", ("main", "pr")).get("front", KEY, PREIMAGE) == {"answer": "main"}
    assert make_store("c").get("front", KEY, PREIMAGE) == {"answer": "main"}


def test_without_a_zone_to_write_nothing_is_added(make_store: MakeStore, tmp_path: Path) -> None:
    make_store("one", write=None).put("front", KEY, PREIMAGE, {"answer": 1})

    assert not (tmp_path / "remote").exists()


def test_what_is_damaged_there_is_no_answer_and_the_next_zone_is_asked(make_store: MakeStore, tmp_path: Path) -> None:
    digest = xxhash.xxh3_128_hexdigest(LARGE)
    for zone in ("main", "pr"):
        store = make_store(f"{zone} writer", (zone,), zone)
        store.put("front", KEY, PREIMAGE, {"answer": zone})
        store.put_blob(LARGE)
    for kind, name in (("front", KEY), ("blob", digest)):
        Path(place(tmp_path / "remote/pr", kind, name)).write_bytes(b"damaged")

    alone, both = make_store("alone", ("pr",), None), make_store("both", ("pr", "main"), None)

    assert (alone.get("front", KEY, PREIMAGE), alone.get_blob(digest)) == (None, None)
    assert (both.get("front", KEY, PREIMAGE), both.get_blob(digest)) == ({"answer": "main"}, LARGE)
    assert alone.counters["remote.damaged"] == both.counters["remote.damaged"] == 2


def test_what_was_found_damaged_is_healed_and_anything_else_kept(make_store: MakeStore, tmp_path: Path) -> None:
    digest = make_store("one").put_blob(LARGE)
    make_store("one").put("front", KEY, PREIMAGE, {"answer": 1})
    blob = Path(place(tmp_path / "remote/main", "blob", digest))
    blob.write_bytes(b"damaged")
    other = make_store("other")

    other.put("front", KEY, PREIMAGE, {"answer": 2})
    other.put_blob(LARGE)
    assert blob.read_bytes() == b"damaged"  # nobody has looked at it yet
    third = make_store("third")
    assert third.get_blob(digest) is None
    third.put_blob(LARGE)

    assert blob.read_bytes() == LARGE
    assert make_store("fourth").get("front", KEY, PREIMAGE) == {"answer": 1}


def test_a_record_for_another_preimage_is_no_answer(make_store: MakeStore) -> None:
    make_store("one").put("front", KEY, b"another", {"answer": 1})
    other = make_store("other")

    assert other.get("front", KEY, PREIMAGE) is None
    assert other.counters["remote.preimage"] == 1


class Broken:
    """A zone on a machine that does not answer."""

    def __init__(self) -> None:
        self.asked = 0

    def get(self, kind: str, name: str, limit: int) -> bytes | None:
        self.asked += 1
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def put(self, kind: str, name: str, data: bytes, *, heal: bool) -> None:
        self.get(kind, name, 0)

    def has(self, kind: str, name: str) -> bool:
        return self.get(kind, name, 0) is not None


@pytest.mark.parametrize("verb", ["get", "put"])
def test_after_three_failures_a_remote_is_left_alone_with_one_warning(tmp_path: Path, verb: str) -> None:
    broken, warnings = Broken(), list[str]()
    store = Store(tmp_path / "cache", warn=print, remote=Zones((broken,), broken, warnings.append))

    for number in range(5):
        key = f"{number:032x}"
        if verb == "get":
            assert store.get("front", key, PREIMAGE) is None
        else:
            assert store.put("front", key, PREIMAGE, {"answer": number})

    assert broken.asked == 3
    assert warnings == ["the remote cache is in trouble (Input/output error); carrying on without it"]
