"""Which kernels a unit holds and what they are made of: from the recorded inputs if unchanged, else by importing.

The record is a chain of immutable links, so that a store which only creates can hold it. The first key covers how the
unit is imported; its record lists the files that were read. The next key covers those files' contents as well; its
record holds the answer, or further files. (ccache's direct mode, made append-only.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from portcheck.cache import Store
from portcheck.compiler import devices
from portcheck.compiler.job import Unit
from portcheck.compiler.tree import Imported
from portcheck.inputs import Files, Inputs
from portcheck.keys import Key, canonical, digest
from portcheck.target import Target

_LONGEST = 64  # links; a longer chain is not followed, and the unit is imported


@dataclass(frozen=True, slots=True)
class Resolution:
    """What is known of a unit, as imported on one target or on any."""

    kernels: Mapping[str, Mapping[str, Any]]  # function → its description by the child
    hash: str  # of everything that importing it read; the hash of every kernel in it
    inputs: Inputs | None  # the files behind it
    failed: Imported | None = None  # why it cannot be imported


@dataclass(frozen=True, slots=True)
class Resolver:
    """Resolves units of one toolchain through one store. `key` makes a key of kind `inputs` from parts."""

    store: Store
    files: Files
    key: Callable[..., Key]

    def look_up(self, unit: Unit, target: Target) -> Resolution | None:
        """The resolution of `unit` on `target` if all recorded inputs are unchanged; no import, no child process."""
        answer = self._follow(self._start(unit, target))
        if answer is None:
            return None
        inputs = self.files.read(self.files.locate(answer["inputs"]))
        return Resolution(answer["kernels"], answer["hash"], inputs)

    def record(self, unit: Unit, target: Target, imported: Imported, began: float) -> Resolution:
        """File what importing `unit` on `target` showed. `began`: time.time() when the import started."""
        inputs = self.files.read(self.files.named(imported.inputs), since=began)
        dependent = bool(imported.asked)
        how = self._first(unit, target if dependent else None)  # covers the environment, too
        hashed = digest(canonical({"how": how.hex, "files": dict(inputs.contents)}))
        resolution = Resolution(imported.kernels, hashed, inputs, imported if imported.failed else None)
        if imported.failed or not inputs.unchanged() or not self.files.can_find(inputs):
            return resolution
        start = self._start(unit, target)
        if dependent and start == self._first(unit, None):
            self._append(start, {}, {"per_target": True})
            start = self._first(unit, target)
        answer = {"kernels": dict(imported.kernels), "hash": resolution.hash, "inputs": sorted(inputs.contents)}
        self._append(start, inputs.contents, {"answer": answer})
        return resolution

    def _first(self, unit: Unit, target: Target | None) -> Key:
        """The first key: for all targets, or, for a unit that asked about the device while it was imported, for one."""
        answers = devices.properties(target) if target else None
        return self.key(unit=_how(unit), target=str(target) if target else None, device=answers)

    def _start(self, unit: Unit, target: Target) -> Key:
        """Where the chain for `target` begins."""
        first = self._first(unit, None)
        _, end, _ = self._walk(first)
        return self._first(unit, target) if end and "per_target" in end else first

    def _follow(self, first: Key) -> dict[str, Any] | None:
        _, end, _ = self._walk(first)
        return end["answer"] if end and "answer" in end else None

    def _walk(self, key: Key) -> tuple[Key, dict[str, Any] | None, set[str]]:
        """Follow a chain. Returns the last key, the record that ends it (if any) and the files listed on the way."""
        listed: set[str] = set()
        for _ in range(_LONGEST):
            link = self.store.get("inputs", key.hex, key.preimage)
            if link is None or "files" not in link:
                return key, link, listed
            listed |= set(link["files"])
            key = self._next(key, self.files.read(self.files.locate(link["files"])).contents)
        return key, None, listed

    def _append(self, first: Key, contents: Mapping[str, str | None], end: Mapping[str, Any]) -> None:
        key, known, listed = self._walk(first)
        if known is not None:
            return
        missing = {name: contents[name] for name in sorted(set(contents) - listed)}
        if missing:
            self.store.put("inputs", key.hex, key.preimage, {"files": list(missing)})
            key = self._next(key, missing)
        self.store.put("inputs", key.hex, key.preimage, end)

    def _next(self, key: Key, contents: Mapping[str, str | None]) -> Key:
        return self.key(after=key.hex, contents=dict(contents))


def _how(unit: Unit) -> dict[str, Any]:
    return {
        "name": unit.name,
        "is_file": unit.is_file,
        "functions": list(unit.functions),
        "also": [list(other) for other in unit.also],
        "env": [list(pair) for pair in unit.env],
        "setup": unit.setup,
    }
