"""What decides the front end's result for a kernel: everything that it reaches, as labelled digests.

Triton's own cache key misses dtype globals, whatever is read through a module's attribute, aliases of builtins,
defaults of helpers, what constexpr functions read, and decorator flags. So this walks over every function a kernel
reaches: its source without comments, layout and line numbers, its flags and defaults, and the value of every name it
mentions. What cannot be encoded makes the kernel open: the tool then keys it on everything that importing its module
read.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from . import code, kernels, releases
from .names import Names
from .reading import Reached, Reader, digest_of


class Walk:
    """Walks kernels of one process; functions that several kernels reach are walked once."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._reached: dict[int, Reached] = {}
        self._keep: list[Any] = []  # ids are only good while the objects live

    def parts(self, kernel: Any) -> tuple[dict[str, str], list[str]]:
        """(label → digest of everything that `kernel` reaches, what makes it open)."""
        self.visit(kernel)
        order = self._order(kernel)
        parts: dict[str, str] = {}
        unknown: list[str] = []
        for found in (self._reached[reached] for reached in order):
            parts[found.label] = digest_of(parts.get(found.label, "") + found.digest)
            for label, digest in found.values.items():
                parts[label] = digest if parts.get(label, digest) == digest else digest_of(parts[label] + digest)
            unknown += found.unknown
        if self._namesakes(order):
            parts["which of several functions of one name is meant"] = self._structure(order)
        parts["Triton's own key of %s" % kernel.__name__] = self._triton_key(kernel, order)
        return parts, sorted(set(unknown))

    def visit(self, function: Any) -> str:
        """Walk a function once; returns the token that stands for it where it is mentioned."""
        if id(function) not in self._reached:
            self._keep.append(function)
            plain = getattr(function, "fn", function)
            label = "function %s in %s" % (plain.__qualname__, self._names.portable(plain.__code__.co_filename))
            found = self._reached[id(function)] = Reached(label, "")
            reader = Reader(self.visit, found, plain)
            compiled = function is not plain and not kernels.runs_as_python(function)
            found.digest = digest_of(reader.decorated(function) if compiled else reader.plain(function))
        return "function %s" % self._reached[id(function)].label

    def _order(self, kernel: Any) -> list[int]:
        """The ids of what a kernel reaches, in an order that only depends on the code."""
        order: dict[int, None] = {}
        waiting = [id(kernel)]
        while waiting:
            reached = waiting.pop()
            if reached not in order:
                order[reached] = None
                waiting += self._reached[reached].calls
        return list(order)

    def _namesakes(self, order: list[int]) -> bool:
        return max(Counter(self._reached[reached].label for reached in order).values()) > 1

    def _structure(self, order: list[int]) -> str:
        """Which function calls which. Labels say as much, unless several functions come out of one `def`."""
        number = {reached: n for n, reached in enumerate(order)}
        found = [self._reached[reached] for reached in order]
        return digest_of(repr([(f.digest, sorted(f.values.items()), [number[c] for c in f.calls]) for f in found]))

    def _triton_key(self, kernel: Any, order: list[int]) -> str:
        """Triton's cache key over normalised sources; or its error, which a compile will meet as well."""
        reached = set(order)
        mine = [f for f in self._keep if id(f) in reached and hasattr(type(f), "cache_key")]
        release = releases.current()
        kept = [(f, getattr(f, release.source), f.starting_line_number) for f in mine]
        for function, source, _ in kept:
            release.set_source(function, code.normal(source))
            function.starting_line_number, function.hash = 0, None
        try:
            return str(kernel.cache_key)
        except Exception as error:
            return "%s: %s" % (type(error).__name__, _without_addresses(str(error)))
        finally:
            for function, source, line in kept:
                release.set_source(function, source)
                function.starting_line_number, function.hash = line, None


def _without_addresses(text: str) -> str:
    return " ".join(word for word in text.split() if "0x" not in word)
