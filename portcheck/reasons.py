"""Why a cell was compiled again: its key's parts in words, compared with those of the last time.

Ninja's `-d explain`, for verdicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from portcheck.cache import Store
from portcheck.keys import canonical, digest
from portcheck.shapes import shape

Parts = Mapping[str, str]  # what, in words → a digest or a short value
_is_memory = shape({"parts": {str: str}, "before": ({str: str}, None)})


def flatten(
    toolchain: str, made_of: Mapping[str, Any], spec: Mapping[str, Any], settings: Mapping[str, Any]
) -> dict[str, str]:
    """The parts of a cell's front key in words: the toolchain's digest, what decides the kernel, how it is compiled."""
    found = {"the installation of Triton": toolchain}
    found |= dict(made_of["kernel"] or {})
    for reference, parts in made_of["references"].items():
        found |= {f"{what} (through {reference})": value for what, value in (parts or {}).items()}
    if "everything" in made_of:
        found["what importing the module reads, or the environment,"] = digest(canonical(made_of["everything"]))
    for group, noun in (("signature", "type of"), ("constants", "constant"), ("options", "option")):
        found |= {f"{noun} {name}": digest(canonical(value)) for name, value in spec[group].items()}
    found |= {f"environment {name}": str(value) for name, value in settings.get("variables", {}).items()}
    for group, knobs in settings.get("knobs", {}).items():
        found |= {f"triton.knobs.{group}.{name}": digest(canonical(value)) for name, value in knobs.items()}
    return found


def differences(before: Parts, now: Parts) -> Iterator[str]:
    """What changed, came or went, in words; Triton's own key only if nothing else explains it."""
    changed = [
        f"{what} {'changed' if what in before and what in now else 'is new' if what in now else 'is gone'}"
        for what in sorted({*before, *now})
        if before.get(what) != now.get(what)
    ]
    own = [line for line in changed if line.startswith("Triton's own key")]
    yield from [line for line in changed if line not in own] or own


class Memory:
    """The parts of the cells of one manifest as they were last compiled, on this machine."""

    def __init__(self, store: Store, folder: str) -> None:
        self._store, self._folder = store, folder

    def last(self, cell: str) -> tuple[Parts | None, Parts | None]:
        """The parts of the last compile, and of the one before."""
        found = self._store.get("local", *self._key(cell))
        return (found["parts"], found["before"]) if found and _is_memory(found) else (None, None)

    def add(self, cell: str, parts: Parts) -> None:
        """A cell was compiled with these parts."""
        last, _ = self.last(cell)
        if last != parts:
            self._store.put("local", *self._key(cell), {"parts": dict(parts), "before": dict(last) if last else None})

    def _key(self, cell: str) -> tuple[str, bytes]:
        preimage = canonical({"parts": cell, "folder": self._folder})
        return digest(preimage), preimage
