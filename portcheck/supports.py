"""What a toolchain's Triton says of targets, asked once a toolchain and recorded: fp8 types it refuses, and guards."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from portcheck.cache import Store
from portcheck.keys import Key
from portcheck.shapes import shape
from portcheck.target import Target

_KIND = "inputs"  # like what imports gave: immutable, and true everywhere

Ask = Callable[[Sequence[Target]], list[dict[str, Any]]]

_is_answer = shape({"fp8": {str: str}, "guards": {str: (bool, [int])}})


@dataclass(frozen=True, slots=True)
class Support:
    """What is said of one target."""

    fp8: Mapping[str, str]  # types that are refused → the text of the error
    guards: Mapping[str, bool | list[int]]  # → the answer; where it takes a capability, the greatest granted, or []


class Supports:
    """What one toolchain's Triton says, through one store. Thread-safe."""

    def __init__(self, store: Store, make: Callable[..., Key], ask: Ask) -> None:
        """`make` makes a key of a kind; `ask` asks Triton, which may take starting a process."""
        self._store, self._make, self._ask = store, make, ask
        self._known: dict[Target, Support | None] = {}
        self._lock = threading.Lock()

    def known(self, target: Target) -> Support | None:
        """What is recorded of a target; None: nothing."""
        if target not in self._known:
            key = self._key(target)
            record = self._store.get(_KIND, key.hex, key.preimage)
            self._known[target] = _support(record)
        return self._known[target]

    def learn(self, targets: Iterable[Target]) -> None:
        """Ask about those of which nothing is recorded. What goes wrong leaves them unknown: a compile will tell."""
        with self._lock:
            unknown = [target for target in dict.fromkeys(targets) if self.known(target) is None]
            if not unknown:
                return
            with contextlib.suppress(OSError):
                for target, answer in zip(unknown, self._ask(unknown), strict=True):
                    key = self._key(target)
                    self._known[target] = _support(answer)
                    self._store.put(_KIND, key.hex, key.preimage, answer)

    def _key(self, target: Target) -> Key:
        return self._make("supports", target=str(target))


def _support(answer: Mapping[str, Any] | None) -> Support | None:
    return Support(answer["fp8"], answer["guards"]) if answer is not None and _is_answer(answer) else None
