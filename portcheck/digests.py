"""Digests of files, remembered from run to run as long as a stat says that they are the same (rung 0)."""

from __future__ import annotations

import threading
from pathlib import Path

from portcheck.cache import Store
from portcheck.keys import canonical, digest
from portcheck.shapes import Fixed, shape
from portcheck.stats import Stat, is_settled, stat_of

LIMIT = 100_000  # files that are remembered; a hundred bytes each
_is_memory = shape({"files": {str: Fixed(int, int, int, int, int, str)}})


class Digests:
    """xxh3-128 of files' contents, for the manifest in one folder. Kept in the store's local kind."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store = store
        self._preimage = canonical({"digests": str(folder)})
        recorded = store.get("local", digest(self._preimage), self._preimage)
        files = recorded["files"] if recorded and _is_memory(recorded) else {}
        self._known: dict[str, tuple[Stat, str]] = {
            path: (tuple(seen), found) for path, (*seen, found) in files.items()
        }
        self._used: set[str] = set()  # paths that this run asked for
        self._lock = threading.Lock()
        self._changed = False

    def of(self, path: str) -> str | None:
        """The digest of a file, or None if it is not there or cannot be read."""
        return self.look(path)[0]

    def look(self, path: str) -> tuple[str | None, Stat | None]:
        """The same, and the file's stat before it was read: while that stays, so does the digest."""
        self._used.add(path)
        seen = stat_of(path)
        return (None if seen is None else self._of(path, seen)), seen

    def _of(self, path: str, seen: Stat) -> str | None:
        known = self._known.get(path)
        if known and known[0] == seen:
            return known[1]
        try:
            if not Path(path).is_file():
                return None  # reading a pipe or a device would never end
            found = digest(Path(path).read_bytes())
        except OSError:
            return None
        if stat_of(path) == seen and is_settled(seen):
            with self._lock:
                self._known[path] = (seen, found)
                self._changed = True
        return found

    def save(self) -> None:
        """Remember what was digested in this run."""
        with self._lock:
            if self._changed:
                used = {path: self._known[path] for path in self._used if path in self._known}
                kept = list({**used, **self._known}.items())[:LIMIT]  # what this run used comes first
                files = {path: [*seen, found] for path, (seen, found) in kept}
                self._store.put("local", digest(self._preimage), self._preimage, {"files": files})
                self._changed = False
