"""Cells: the unit of work, of caching and of reporting."""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.configurations import Configuration
from portcheck.manifest.model import Row
from portcheck.target import Target


@dataclass(frozen=True, slots=True)
class Cell:
    """One row on one target with one Triton release; or one configuration of it, where a launch chooses."""

    row: Row
    target: Target
    release: str
    configuration: Configuration | None = None

    @property
    def name(self) -> str:
        """`ROW@TARGET@RELEASE`, as shown in reports and as named in the task graph."""
        chosen = f"({self.configuration.label})" if self.configuration else ""
        return f"{self.row.name}{chosen}@{self.target}@{self.release}"
