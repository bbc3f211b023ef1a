"""Filing verdicts: which record answers for a cell, and which one a finished compile becomes.

A front record says how the front end ended: with a failure, or with the digest of a TTIR. A back record says what came
of that TTIR. A failure behind the front end is filed under the TTIR with its locations, so that it is only reused where
its position is right. What depends on the machine or the moment is remembered in the local kind only.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from portcheck.anchors import Anchors, is_anchor
from portcheck.cache import Store, pack, unpack
from portcheck.chain import Chains, Observe
from portcheck.compiler.outcome import Compiled
from portcheck.keys import Key, canonical, digest
from portcheck.manifest.model import Settings
from portcheck.records import is_outcome, outcome_from_dict, outcome_to_dict
from portcheck.shapes import NUMBER, shape
from portcheck.verdicts import LOCAL, Outcome

Front = Mapping[str, Any]  # what the child says at the end of the front end: ttir, located, options, settings

_FRONT = {"ttir": str, "located": str, "options": dict, "settings": str}  # as a record has it
_is_front = shape(_FRONT)
_is_memory = shape(
    {"outcome": is_outcome, "limits": {"timeout": NUMBER, "max_rss": NUMBER}, "late": {str: (str, None)}}
)

# Verdicts worth remembering on this machine → the setting that must not have grown since.
_REMEMBERED = {"crash": None, "timeout": "timeout", "memory-limit": "max_rss"}


@dataclass(frozen=True, slots=True)
class Filed:
    """A recorded outcome, the key of its back record in hex if it has one, and whether a remote had to be asked."""

    outcome: Outcome
    back: str | None = None
    remote: bool = False


@dataclass(frozen=True)
class CellKeys:
    """The keys of one cell, from what its front end and its back end depend on."""

    make: Callable[..., Key]  # kind, then plain parts as keyword arguments
    front_parts: Mapping[str, Any]  # kernel, specialisation, target, settings
    back_parts: Mapping[str, Any]  # target, and what user code replaced in Triton
    observe: Observe

    @cached_property
    def front(self) -> Key:
        """The first of the chain of front records."""
        return self.make("front", **self.front_parts)

    @cached_property
    def local(self) -> Key:
        """Of what this machine remembers of the cell."""
        return self.make("local", machine=platform.node(), **self.front_parts)

    def back(self, front: Front) -> Key:
        """Of a back record that is ok."""
        return self.make("back", **self.back_parts, **_behind(front))

    def back_failure(self, front: Front) -> Key:
        """Of a back record that failed."""
        return self.make("back", located=front["located"], **self.back_parts, **_behind(front))


@dataclass(frozen=True, slots=True)
class Finished:
    """A compile that came to an end, and what may be filed of it."""

    front: Front | None  # None: the front end failed, or there is no telling how it ended
    compiled: Compiled
    late: tuple[str, ...]  # lists of inputs that only compiling read
    stable: bool  # do sources and results belong together? if not, nothing is filed


class Filing:
    """Reads and writes the records of cells in one store."""

    def __init__(self, store: Store, anchors: Anchors, make: Callable[..., Key]) -> None:
        self._store, self._anchors = store, anchors
        self._fronts = Chains(store, "front", lambda **parts: make("front", **parts))

    def find(self, keys: CellKeys, settings: Settings) -> Filed | None:
        """The recorded outcome of a cell, without running anything."""
        end = self._fronts.walk(keys.front, keys.observe)
        record = end.record or {}
        if record.get("outcome"):
            found = self._filed(record["outcome"], failed=True, anchor=record.get("anchor"))
        else:
            front = _front(record)
            found = self.find_back(keys, front, record.get("anchor")) if front else None
        if found is None:
            return self._remembered(keys, settings)
        return replace(found, remote=bool(self._store.fetched & {end.key.hex, found.back}))

    def identity(self, keys: CellKeys, *, is_open: bool) -> str | None:
        """What a cell's front end depends on, as one digest, with what only compiling read the last time.

        None: an open kernel, of which no record says what that was.
        """
        end = self._fronts.walk(keys.front, keys.observe)
        return None if is_open and end.record is None else end.key.hex

    def front(self, keys: CellKeys) -> Front | None:
        """What is recorded to come of a cell's front end, if that is a TTIR."""
        return _front(self._fronts.walk(keys.front, keys.observe).record or {})

    def find_back(self, keys: CellKeys, front: Front, anchor: dict[str, Any] | None = None) -> Filed | None:
        """What is recorded to come of a TTIR.

        `anchor` says where a failure's position is in today's source; without one the recorded position holds, since
        the front end has just given a TTIR with the same locations.
        """
        for key, failed in ((keys.back(front), False), (keys.back_failure(front), True)):
            payload = self._store.get("back", key.hex, key.preimage)
            if payload and (found := self._filed(payload, key, failed=failed, anchor=anchor)):
                return found
        return None

    def put(self, keys: CellKeys, finished: Finished, settings: Settings) -> Filed:
        """File a finished compile, blobs first, and return its outcome.

        The artifacts of what cannot be filed are kept all the same, for whoever asked for them in this run.
        """
        compiled, front = finished.compiled, finished.front
        entries = pack(self._store, {stage: data for stage, data in compiled.files.items() if stage != "json"})
        plain = Outcome(compiled.failure, compiled.seconds, compiled.stages, compiled.resources)
        payload = outcome_to_dict(plain, entries)
        outcome = outcome_from_dict(payload)
        if compiled.failure and compiled.failure.verdict in LOCAL:
            if finished.stable and compiled.failure.verdict in _REMEMBERED:
                limits = {"timeout": settings.timeout, "max_rss": settings.max_rss}
                late = {listed: keys.observe(listed) for listed in finished.late}
                memory = {"outcome": payload, "limits": limits, "late": late, "anchor": self._anchor(outcome)}
                self._store.put("local", keys.local.hex, keys.local.preimage, memory)
            return Filed(outcome)
        back = None
        if front is not None:
            back = keys.back_failure(front) if compiled.failure else keys.back(front)
        if finished.stable:
            if back is not None:
                self._store.put("back", back.hex, back.preimage, payload)
                # Another cell may have reached this TTIR meanwhile: its record stands, with its artifacts.
                if recorded := self._filed(self._get("back", back) or {}, failed=bool(compiled.failure)):
                    outcome = replace(outcome, artifacts=recorded.outcome.artifacts)
            self.put_front(keys, front, outcome, finished.late, payload)
        return Filed(outcome, back.hex if back else None)

    def put_front(
        self,
        keys: CellKeys,
        front: Front | None,
        outcome: Outcome,
        late: Sequence[str],
        payload: Mapping[str, Any] | None = None,
    ) -> None:
        """File how a front end ended: with a TTIR (`front`) that led to `outcome`, or with the failure in `payload`.

        The anchor of the failure's position is of the source that the key stands for, so it belongs to this record.
        """
        kept = {**{name: front[name] for name in _FRONT}, "settings": _digested(front["settings"])} if front else None
        record = {"front": kept, "outcome": None if front else payload, "anchor": self._anchor(outcome)}
        self._fronts.append(keys.front, late, record, keys.observe)

    def _anchor(self, outcome: Outcome) -> dict[str, Any] | None:
        return self._anchors.anchor(outcome.failure.position if outcome.failure else None)

    def artifacts(self, keys: CellKeys, outcome: Outcome) -> dict[str, bytes | None]:
        """The outputs of all stages of a recorded outcome; None for one that the store has lost."""
        held = self._entries(keys)
        return {stage: unpack(self._store, held.get(a.digest, {})) for stage, a in outcome.artifacts.items()}

    def _entries(self, keys: CellKeys) -> dict[str, Any]:
        """Digest → the entry of an artifact, in any record that answers for the cell."""
        record = self._fronts.walk(keys.front, keys.observe).record or {}
        payloads = [record.get("outcome"), (self._get("local", keys.local) or {}).get("outcome")]
        if front := _front(record):
            payloads += [self._get("back", key) for key in (keys.back(front), keys.back_failure(front))]
        sound = [payload for payload in payloads if payload and is_outcome(payload)]
        return {entry["digest"]: entry for payload in sound for entry in payload["artifacts"].values()}

    def _remembered(self, keys: CellKeys, settings: Settings) -> Filed | None:
        """What this machine remembers, if the limits that applied would end it again."""
        memory = self._get("local", keys.local)
        if memory is None or not _is_memory(memory):
            return None
        if any(keys.observe(listed) != observed for listed, observed in memory["late"].items()):
            return None
        found = self._filed(memory["outcome"], failed=True, anchor=memory.get("anchor"))
        if found is None:
            return None
        limit = _REMEMBERED.get(found.outcome.verdict)
        return None if limit and getattr(settings, limit) > memory["limits"][limit] else found

    def _filed(
        self,
        payload: Mapping[str, Any],
        key: Key | None = None,
        *,
        failed: bool,
        anchor: dict[str, Any] | None = None,
    ) -> Filed | None:
        """What a record holds; None if it is sound, but not one of ours, or does not belong where it is."""
        try:
            outcome = outcome_from_dict(payload)
        except ValueError:
            return None
        if bool(outcome.failure) != failed:
            return None
        if outcome.failure and anchor and is_anchor(anchor) and (at := self._anchors.today(anchor)):
            outcome = replace(outcome, failure=replace(outcome.failure, position=at))
        return Filed(outcome, key.hex if key else None)

    def _get(self, kind: str, key: Key) -> dict[str, Any] | None:
        return self._store.get(kind, key.hex, key.preimage)


def _front(record: Mapping[str, Any]) -> Front | None:
    front = record.get("front")
    return front if _is_front(front) else None


def _behind(front: Front) -> dict[str, Any]:
    return {"ttir": front["ttir"], "options": front["options"], "triton": _digested(front["settings"])}


def _digested(settings: Any) -> str:
    """Triton's settings as keys and records have them; a record's are digested already."""
    return settings if isinstance(settings, str) else digest(canonical(settings))
