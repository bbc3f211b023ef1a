"""The inputs of an import, and telling whether they are still the same."""

from __future__ import annotations

from collections.abc import Mapping
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
