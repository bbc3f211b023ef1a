"""Outputs of stages that the cache still has, found by what a report says of a cell."""

from __future__ import annotations

from portcheck.cache import Store
from portcheck.cache.artifacts import unpack
from portcheck.verdicts import Artifact


def find(store: Store, back_key: str | None, artifact: Artifact) -> bytes | None:
    """The output, verified against its digest; None if it is no longer there.

    Large ones are files of their own; small ones lie in the record of the cell, which `back_key` names.
    """
    record = store.look("back", back_key) if back_key else None
    held = (record or {}).get("artifacts")
    for entry in held.values() if isinstance(held, dict) else ():
        if isinstance(entry, dict) and entry.get("digest") == artifact.digest and entry.get("size") == artifact.size:
            return unpack(store, entry)
    return unpack(store, {"digest": artifact.digest, "size": artifact.size})
