"""Zones: which parts of a remote a run reads, and which one it writes. Trouble ends a remote's use, not the run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from portcheck.cache.remotes import Remote

_PATIENCE = 3  # failures after which a remote is left alone for the rest of the run


@dataclass
class Zones:
    """The zones that a run reads, in order, and the one it writes."""

    read: tuple[Remote, ...]
    write: Remote | None
    warn: Callable[[str], None]
    failures: int = 0
    damaged: set[tuple[str, str]] = field(default_factory=set)  # to be healed by the next put
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, kind: str, name: str, limit: int) -> Iterator[bytes]:
        """What the zones have under a name, one after the other; the caller takes the first that is sound."""
        for zone in self.read:
            if self._closed():
                return
            try:
                data = zone.get(kind, name, limit)
            except OSError as error:
                self._failed(error)
                continue
            if data is not None:
                yield data

    def put(self, kind: str, name: str, data: bytes) -> None:
        """Add to the zone that is written, if there is one."""
        if self.write is None or self._closed():
            return
        try:
            self.write.put(kind, name, data, heal=(kind, name) in self.damaged)
        except OSError as error:
            self._failed(error)

    def found_damaged(self, kind: str, name: str) -> None:
        """What a zone has under this name is no use to anybody."""
        with self._lock:
            self.damaged.add((kind, name))

    def _closed(self) -> bool:
        return self.failures >= _PATIENCE

    def _failed(self, error: OSError) -> None:
        with self._lock:
            self.failures += 1
            last = self.failures == _PATIENCE
        if last:
            self.warn(f"the remote cache is in trouble ({error.strerror or error}); carrying on without it")
