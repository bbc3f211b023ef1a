"""How long cells took last time: the longest go first, and the rest is an estimate of what is left."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from portcheck.cache import Store
from portcheck.keys import canonical, digest
from portcheck.shapes import NUMBER, shape
from portcheck.verdicts import Result

LIMIT = 500_000  # cells that are remembered; fifty bytes each
_is_memory = shape({"seconds": {str: NUMBER}})


class History:
    """Seconds a cell, for the manifest in one folder, kept on this machine."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store = store
        self._preimage = canonical({"history": str(folder)})
        recorded = store.get("local", digest(self._preimage), self._preimage)
        fitting = recorded if recorded and _is_memory(recorded) else {"seconds": {}}
        self.seconds: Mapping[str, float] = fitting["seconds"]

    def add(self, compiled: Mapping[str, Result]) -> None:
        """Remember the cells that were compiled just now."""
        if compiled:
            seconds = {name: result.outcome.seconds for name, result in compiled.items()}
            known = list({**seconds, **self.seconds, **seconds}.items())[:LIMIT]  # those of this run come first
            self._store.put("local", digest(self._preimage), self._preimage, {"seconds": dict(known)})
