"""The inputs of an import at one moment, and telling whether they are still the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from portcheck.stats import Stat, stat_of


@dataclass(frozen=True, slots=True)
class Inputs:
    """Input name → what was observed. A name is `kind:what`, and what is named portably; see `Observer`."""

    observed: Mapping[str, Any]
    stats: Mapping[str, Stat | None]  # of files, by absolute path
    fit: bool = True  # may anything be recorded under them?

    def unchanged(self) -> bool:
        """Are the files still those that were observed, as far as a stat can tell?"""
        return self.fit and all(stat_of(path) == seen for path, seen in self.stats.items())
