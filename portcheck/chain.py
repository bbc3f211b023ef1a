"""Chains of immutable records that end in an answer: how a record can depend on inputs that are not known beforehand.

The first key covers what is known at the start. Its record either ends the chain, or names a list of inputs; then the
next key covers what is observed of those as well. A link is never changed, so a store that only creates can hold it,
and many writers can share it. (ccache's direct mode, made append-only.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from portcheck.cache import Store
from portcheck.keys import Key

_LONGEST = 64  # links; a longer chain is not followed, and the answer is found anew

# The digest of what is observed now of a list of inputs; None if the list is lost.
Observe = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class End:
    """Where a chain ends for what is observed now."""

    key: Key
    record: dict[str, Any] | None  # None: no answer is known for this key
    lists: tuple[str, ...]  # of the inputs that the key covers


@dataclass(frozen=True, slots=True)
class Chains:
    """The chains of one kind of record."""

    store: Store
    kind: str
    make_key: Callable[..., Key]  # from plain parts, as keyword arguments

    def walk(self, first: Key, observe: Observe) -> End:
        """Follow the chain that starts at `first`."""
        key, lists = first, tuple[str, ...]()
        for _ in range(_LONGEST):
            record = self.store.get(self.kind, key.hex, key.preimage)
            listed = record.get("inputs") if record else None
            observed = observe(listed) if isinstance(listed, str) else None
            if record is None or not isinstance(listed, str) or observed is None:
                return End(key, record if record and "inputs" not in record else None, lists)
            lists = (*lists, listed)
            key = self._next(key, observed)
        return End(key, None, lists)

    def append(self, first: Key, lists: Sequence[str], record: dict[str, Any], observe: Observe) -> Key | None:
        """End the chain from `first` with `record`, which depends on the inputs in `lists`; returns the last key.

        A chain that has an end for what is observed now stays as it is. None: a list is lost, and a key that leaves it
        out would be too narrow, so nothing is filed.
        """
        end = self.walk(first, observe)
        if end.record is not None:
            return end.key
        key = end.key
        for listed in lists:
            if listed in end.lists:
                continue
            observed = observe(listed)
            if observed is None:
                return None
            self.store.put(self.kind, key.hex, key.preimage, {"inputs": listed})
            key = self._next(key, observed)
        self.store.put(self.kind, key.hex, key.preimage, record)
        return key

    def _next(self, key: Key, observed: str) -> Key:
        return self.make_key(after=key.hex, observed=observed)
