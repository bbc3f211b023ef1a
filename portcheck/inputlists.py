"""Lists of input names, stored once: the modules of a package share most of what importing them reads."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from portcheck.cache import Store
from portcheck.keys import canonical, digest
from portcheck.shapes import shape

KIND = "inputs"
_is_list = shape({"names": [str]})


class InputLists:
    """Names lists by the digest of what is in them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, tuple[str, ...]] = {}
        self._lock = threading.Lock()

    def put(self, names: Iterable[str]) -> str:
        """Keep a list; returns its digest, which is how records mention it."""
        names = sorted(set(names))
        found = digest(canonical(names))
        with self._lock:
            known = found in self._known
            self._known[found] = tuple(names)
        if not known:
            self._store.put(KIND, found, _preimage(found), {"names": names})
        return found

    def get(self, listed: str) -> tuple[str, ...] | None:
        """The names in a list, or None if it is lost."""
        if listed not in self._known:
            payload = self._store.get(KIND, listed, _preimage(listed))
            if not _is_list(payload) or payload is None or digest(canonical(payload["names"])) != listed:
                return None
            with self._lock:
                self._known[listed] = tuple(payload["names"])
        return self._known[listed]


def _preimage(listed: str) -> bytes:
    return canonical({"list": listed})
