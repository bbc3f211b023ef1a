"""Filing verdicts: which record answers for a cell, and which one a finished compile becomes.

A front record says how the front end ended: with a failure, or with the digest of a TTIR. A back record says what came
of that TTIR. A failure behind the front end is filed under the TTIR with its locations, so that its position is right
for whoever finds it. What depends on the machine or the moment is remembered in the local kind only.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from portcheck.cache import Store, pack, unpack
from portcheck.compiler.outcome import Compiled
from portcheck.keys import Key
from portcheck.manifest.model import Settings
from portcheck.records import outcome_from_dict, outcome_to_dict
from portcheck.target import Target
from portcheck.verdicts import LOCAL, Outcome

Front = Mapping[str, Any]  # what the child says at the end of the front end: ttir, located, options, knobs

_KEPT = ("ttir", "located", "options", "knobs")

# Verdicts worth remembering on this machine → the setting that must not have grown since.
_REMEMBERED = {"crash": None, "timeout": "timeout", "memory-limit": "max_rss"}


@dataclass(frozen=True, slots=True)
class Filed:
    """A recorded outcome, and the key of its back record in hex; None if it has none."""

    outcome: Outcome
    back: str | None = None


class MakeKey(Protocol):
    """Makes a key of a kind from plain data, for one salt and toolchain."""

    def __call__(self, kind: str, **parts: Any) -> Key: ...


@dataclass(frozen=True)
class CellKeys:
    """The keys of one cell."""

    make: MakeKey
    kernel_hash: str
    specialisation: Mapping[str, Any]
    target: Target

    @cached_property
    def front(self) -> Key:
        """Of the front record."""
        return self.make("front", **self._cell)

    @cached_property
    def local(self) -> Key:
        """Of what this machine remembers of the cell."""
        return self.make("local", machine=platform.node(), **self._cell)

    def back(self, front: Front) -> Key:
        """Of a back record that is ok."""
        return self.make("back", **self._behind(front))

    def back_failure(self, front: Front) -> Key:
        """Of a back record that failed."""
        return self.make("back", located=front["located"], **self._behind(front))

    @property
    def _cell(self) -> dict[str, Any]:
        return {"kernel": self.kernel_hash, "specialisation": dict(self.specialisation), "target": str(self.target)}

    def _behind(self, front: Front) -> dict[str, Any]:
        return {
            "kernel": self.kernel_hash,
            "ttir": front["ttir"],
            "options": front["options"],
            "knobs": front["knobs"],
            "target": str(self.target),
        }


class Filing:
    """Reads and writes the records of cells in one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def find(self, keys: CellKeys, settings: Settings) -> Filed | None:
        """The recorded outcome of a cell, without running anything."""
        record = self._get("front", keys.front) or {}
        if record.get("outcome"):
            return _filed(record["outcome"])
        front = _front(record)
        found = self.find_back(keys, front) if front else None
        return found or self._remembered(keys, settings)

    def find_back(self, keys: CellKeys, front: Front) -> Filed | None:
        """What is recorded to come of a TTIR."""
        for key in (keys.back(front), keys.back_failure(front)):
            payload = self._get("back", key)
            if payload and (found := _filed(payload, key)):
                return found
        return None

    def put(
        self, keys: CellKeys, front: Front | None, compiled: Compiled, settings: Settings, *, stable: bool
    ) -> Filed:
        """File a finished compile, blobs first, and return its outcome.

        `stable` is false if the sources changed meanwhile: then nothing is known to belong together, and nothing is
        filed but the artifacts, for whoever asked for them in this run.
        """
        entries = pack(self._store, {stage: data for stage, data in compiled.files.items() if stage != "json"})
        plain = Outcome(compiled.failure, compiled.seconds, compiled.stages, compiled.resources)
        payload = outcome_to_dict(plain, entries)
        outcome = outcome_from_dict(payload)
        if compiled.failure and compiled.failure.verdict in LOCAL:
            if stable and compiled.failure.verdict in _REMEMBERED:
                limits = {"timeout": settings.timeout, "max_rss": settings.max_rss}
                self._store.put("local", keys.local.hex, keys.local.preimage, {"outcome": payload, "limits": limits})
            return Filed(outcome)
        back = None
        if front is not None:
            back = keys.back_failure(front) if compiled.failure else keys.back(front)
        if stable:
            if back is not None:
                self._store.put("back", back.hex, back.preimage, payload)
            self.put_front(keys, front, payload)
        return Filed(outcome, back.hex if back else None)

    def put_front(self, keys: CellKeys, front: Front | None, payload: Mapping[str, Any] | None) -> None:
        """File how a front end ended: with a TTIR (`front`), or with the failure in `payload`."""
        kept = {name: front[name] for name in _KEPT} if front else None
        record = {"front": kept, "outcome": None if front else payload}
        self._store.put("front", keys.front.hex, keys.front.preimage, record)

    def artifacts(self, keys: CellKeys, outcome: Outcome) -> dict[str, bytes | None]:
        """The outputs of all stages of a recorded outcome; None for one that the store has lost."""
        return {stage: unpack(self._store, entry) for stage, entry in self._entries(keys, outcome).items()}

    def _entries(self, keys: CellKeys, outcome: Outcome) -> dict[str, Any]:
        """The record's entries for the artifacts of `outcome`; an empty entry for one that no record holds any more."""
        record = self._get("front", keys.front) or {}
        payloads = [record.get("outcome"), (self._get("local", keys.local) or {}).get("outcome")]
        if front := _front(record):
            payloads += [self._get("back", key) for key in (keys.back(front), keys.back_failure(front))]
        held = {entry["digest"]: entry for payload in payloads if payload for entry in payload["artifacts"].values()}
        return {stage: held.get(artifact.digest, {}) for stage, artifact in outcome.artifacts.items()}

    def _remembered(self, keys: CellKeys, settings: Settings) -> Filed | None:
        """What this machine remembers, if the limits that applied would end it again."""
        memory = self._get("local", keys.local)
        found = _filed(memory["outcome"]) if memory else None
        if memory is None or found is None:
            return None
        limit = _REMEMBERED.get(found.outcome.verdict)
        return None if limit and getattr(settings, limit) > memory["limits"][limit] else found

    def _get(self, kind: str, key: Key) -> dict[str, Any] | None:
        return self._store.get(kind, key.hex, key.preimage)


def _front(record: Mapping[str, Any]) -> Front | None:
    front = record.get("front")
    return front if isinstance(front, dict) and front.keys() >= set(_KEPT) else None


def _filed(payload: Mapping[str, Any], key: Key | None = None) -> Filed | None:
    try:
        return Filed(outcome_from_dict(payload), key.hex if key else None)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None  # the record is sound, but not one of ours
