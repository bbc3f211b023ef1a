"""The store: verified records by key, and blobs by digest, in one directory that many processes share.

The directory is the truth: no index, no lock. Whatever is wrong with it is a miss or a write that did not happen.
"""

from __future__ import annotations

import errno
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import xxhash

from portcheck.cache import envelope, files
from portcheck.cache.envelope import EnvelopeError, Record
from portcheck.cache.files import Contents
from portcheck.cache.layout import BLOB, LOCAL_KIND, is_name, place
from portcheck.cache.zones import Zones

MAX_BLOB = 1 << 30  # bytes

# What a reader may meet while a collector works, here or on another machine of a network file system (ccache#68).
_GONE = frozenset({errno.ENOENT, errno.ESTALE})

_TAG = b"""Signature: 8a477f597d28d172789f06886806bc55
# This file marks a cache directory of portcheck; everything in it can be made again.
# See https://bford.info/cachedir/
"""


class _MissError(Exception):
    """Why there is nothing to return."""

    def __init__(self, reason: str, detail: str = "", *, newer: bool = False) -> None:
        super().__init__(detail)
        self.reason = reason  # as counted: see Store
        self.newer = newer


class Store:
    """A cache directory. Safe for threads; nothing but a bug (an unknown `kind`) makes a method raise.

    `counters` says what happened so far: `record.hit`, and for misses `record.absent`, `.damaged` (fails its checksum
    or its parse), `.version` (another format), `.preimage` (collision or forgery), `.unreadable` (the system refused),
    `.name` (no valid key); for writes `record.written`, `.kept` (was there already), `.failed`; likewise `blob.…`.
    """

    def __init__(self, root: Path, *, warn: Callable[[str], None], remote: Zones | None = None) -> None:
        """Use `root`, which the first write creates, and behind it a remote.

        `warn` gets one line, once, if the directory is in trouble.
        """
        self.root = root
        self.fetched: set[str] = set()  # keys and digests that came from the remote
        self._remote = remote
        self.counters: Counter[str] = Counter()
        self._warn = warn
        self._warned = False
        self._tagged = False
        self._lock = threading.Lock()

    @property
    def has_remote(self) -> bool:
        """Is there a remote behind the directory?"""
        return self._remote is not None

    def get(self, kind: str, key: str, preimage: bytes) -> dict[str, Any] | None:
        """The payload recorded under `key`, if the record is sound and was made from these very `preimage` bytes."""
        try:
            file, record = self._read_record(kind, key)
            if record.preimage != preimage:
                raise _MissError("preimage")
        except _MissError as miss:
            self._missed("record", miss)
            return self._fetch_record(kind, key, preimage)
        files.mark_used(file)
        self._count("record.hit")
        return dict(record.payload)

    def look(self, kind: str, key: str) -> dict[str, Any] | None:
        """The payload recorded under `key`, whatever it answers for: for who verifies what is taken from it."""
        try:
            return dict(self._read_record(kind, key)[1].payload)
        except _MissError:
            return self._fetch_record(kind, key, None)

    def put(self, kind: str, key: str, preimage: bytes, payload: Mapping[str, Any]) -> bool:
        """Record `payload`; True if a record that answers for `preimage` is there afterwards.

        A sound record is kept as it is, except in the local kind; anything else under that key is replaced, but for
        what a newer format wrote. Put the blobs that the payload names first.
        """
        try:
            data = envelope.encode(Record(preimage, payload))
        except (TypeError, ValueError, OverflowError) as error:
            return self._failed("record", f"a record cannot be stored: {error}")
        try:
            file, there = self._read_record(kind, key)
        except _MissError as miss:
            if miss.newer or miss.reason == "name":
                return self._failed("record", f"a record cannot be stored: {miss}")
        else:
            if there.preimage == preimage and kind != LOCAL_KIND:
                if self._remote:
                    self._remote.put(kind, key, file.data)
                return self._kept("record", file)
        if self._remote and kind != LOCAL_KIND:
            self._remote.put(kind, key, data)
        return self._publish("record", place(self.root, kind, key), data)

    def put_blob(self, data: bytes) -> str:
        """Keep `data`, if the directory can. Returns its digest, xxh3-128 in hex, in any case."""
        digest: str = xxhash.xxh3_128_hexdigest(data)
        if len(data) > MAX_BLOB:
            self._failed("blob", f"an artifact of {len(data)} bytes is over the limit of {MAX_BLOB}")
            return digest
        if self._remote:
            self._remote.put(BLOB, digest, data)
        try:
            file = self._read_blob(digest)
        except _MissError:
            self._publish("blob", place(self.root, BLOB, digest), data)
        else:
            self._kept("blob", file)
        return digest

    def get_blob(self, digest: str) -> bytes | None:
        """The bytes with that digest, verified; None if they are gone or were changed."""
        try:
            file = self._read_blob(digest)
        except _MissError as miss:
            self._missed("blob", miss)
            return self._fetch_blob(digest)
        files.mark_used(file)
        self._count("blob.hit")
        return file.data

    def _fetch_record(self, kind: str, key: str, preimage: bytes | None) -> dict[str, Any] | None:
        """The payload from the remote, kept here from now on; without `preimage`, of any record of that key."""
        if self._remote is None or kind == LOCAL_KIND or not is_name(key):
            return None
        for data in self._remote.get(kind, key, envelope.MAX_FILE):
            try:
                record = envelope.decode(data)
            except EnvelopeError:
                self._count("remote.damaged")
                self._remote.found_damaged(kind, key)
                continue
            if preimage is None or record.preimage == preimage:
                self._fetched(kind, key, data)
                return dict(record.payload)
            self._count("remote.preimage")
        self._count("remote.absent")
        return None

    def _fetch_blob(self, digest: str) -> bytes | None:
        if self._remote is None or not is_name(digest):
            return None
        for data in self._remote.get(BLOB, digest, MAX_BLOB):
            if xxhash.xxh3_128_hexdigest(data) == digest:
                self._fetched(BLOB, digest, data)
                return data
            self._count("remote.damaged")
            self._remote.found_damaged(BLOB, digest)
        return None

    def _fetched(self, kind: str, name: str, data: bytes) -> None:
        self._count("remote.hit")
        with self._lock:
            self.fetched.add(name)
        self._publish("blob" if kind == BLOB else "record", place(self.root, kind, name), data)

    def _read_record(self, kind: str, key: str) -> tuple[Contents, Record]:
        file = self._read(kind, key, envelope.MAX_FILE)
        try:
            return file, envelope.decode(file.data)
        except EnvelopeError as error:
            version = error.version
            newer = version is not None and version > envelope.FORMAT_VERSION
            raise _MissError("damaged" if version is None else "version", str(error), newer=newer) from error

    def _read_blob(self, digest: str) -> Contents:
        file = self._read(BLOB, digest, MAX_BLOB)
        if xxhash.xxh3_128_hexdigest(file.data) != digest:
            raise _MissError("damaged")
        return file

    def _read(self, kind: str, name: str, limit: int) -> Contents:
        if not is_name(name):
            raise _MissError("name", f"not a key or digest: {str(name)[:80]!r}")
        try:
            return files.read(place(self.root, kind, name), limit)
        except OSError as error:
            raise _MissError(
                "absent" if error.errno in _GONE else "unreadable", f"cannot read: {error.strerror}"
            ) from error

    def _publish(self, what: str, path: str, data: bytes) -> bool:
        try:
            self._tag()
            files.publish(path, data)
        except OSError as error:
            return self._failed(what, f"cannot write: {error.strerror}")
        self._count(f"{what}.written")
        return True

    def _tag(self) -> None:
        if not self._tagged:
            tag = self.root / "CACHEDIR.TAG"
            if not tag.exists():
                files.publish(str(tag), _TAG)
            self._tagged = True

    def _kept(self, what: str, file: Contents) -> bool:
        files.mark_used(file)  # the collector must not take a blob that a record is about to name
        self._count(f"{what}.kept")
        return True

    def _failed(self, what: str, trouble: str) -> bool:
        self._count(f"{what}.failed")
        self._warn_once(trouble)
        return False

    def _missed(self, what: str, miss: _MissError) -> None:
        self._count(f"{what}.{miss.reason}")
        if miss.reason == "unreadable":
            self._warn_once(str(miss))

    def _count(self, name: str) -> None:
        with self._lock:
            self.counters[name] += 1

    def _warn_once(self, trouble: str) -> None:
        with self._lock:
            if self._warned:
                return
            self._warned = True
        self._warn(f"cache {self.root}: {trouble}; carrying on without (check the folder, or set PORTCHECK_CACHE)")
