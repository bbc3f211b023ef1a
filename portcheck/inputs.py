"""The inputs of an import, and telling whether they are still the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from portcheck.stats import Stat, stat_of


@dataclass(frozen=True, slots=True)
class Inputs:
    """What was read, by lists of names, and the files among it as they were then."""

    lists: tuple[str, ...]
    stats: Mapping[str, Stat | None]  # by absolute path
    fit: bool = True  # may anything be recorded that depends on them?

    def unchanged(self) -> bool:
        """Are the files still those that were read, as far as a stat can tell?"""
        return self.fit and all(stat_of(path) == seen for path, seen in self.stats.items())


def together(parts: Iterable[Inputs]) -> Inputs:
    """The inputs of an import and of those that it builds on, one after the other."""
    parts = list(parts)
    stats = {path: seen for part in parts for path, seen in part.stats.items()}
    return Inputs(tuple(listed for part in parts for listed in part.lists), stats, all(part.fit for part in parts))
