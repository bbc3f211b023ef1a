"""Chains of immutable records that end in an answer: how a record can depend on inputs that are not known beforehand.

The first key covers what is known at the start. Its record either ends the chain, or lists inputs; then the next key
covers what is observed of those as well. A link is never changed, so a store that only creates can hold it, and many
writers can share it. (ccache's direct mode, made append-only.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from portcheck.cache import Store
from portcheck.keys import Key

_LONGEST = 64  # links; a longer chain is not followed, and the answer is found anew

Observe = Callable[[list[str]], Mapping[str, Any]]  # input names → what is there now


@dataclass(frozen=True, slots=True)
class End:
    """Where a chain ends for what is observed now."""

    key: Key
    record: dict[str, Any] | None  # None: no answer is known for this key
    listed: frozenset[str]  # inputs that the key covers


@dataclass(frozen=True, slots=True)
class Chains:
    """The chains of one kind of record."""

    store: Store
    kind: str
    make_key: Callable[..., Key]  # from plain parts, as keyword arguments

    def walk(self, first: Key, observe: Observe) -> End:
        """Follow the chain that starts at `first`."""
        key, listed = first, frozenset[str]()
        for _ in range(_LONGEST):
            record = self.store.get(self.kind, key.hex, key.preimage)
            if record is None or "inputs" not in record:
                return End(key, record, listed)
            names = list(record["inputs"])
            listed |= set(names)
            key = self._next(key, observe(names))
        return End(key, None, listed)

    def append(self, first: Key, observed: Mapping[str, Any], record: Mapping[str, Any], observe: Observe) -> Key:
        """End the chain from `first` with `record`, which depends on `observed`; returns the last key.

        A chain that has an end for what is observed now stays as it is.
        """
        end = self.walk(first, observe)
        if end.record is not None:
            return end.key
        key = end.key
        missing = {name: observed[name] for name in sorted(set(observed) - end.listed)}
        if missing:
            self.store.put(self.kind, key.hex, key.preimage, {"inputs": list(missing)})
            key = self._next(key, missing)
        self.store.put(self.kind, key.hex, key.preimage, record)
        return key

    def _next(self, key: Key, observed: Mapping[str, Any]) -> Key:
        return self.make_key(after=key.hex, observed=dict(observed))
