"""Cells: the unit of work, of caching and of reporting."""

from __future__ import annotations

from dataclasses import dataclass

from portcheck.manifest.model import Row
from portcheck.target import Target


@dataclass(frozen=True, slots=True)
class Cell:
    """One row on one target with one Triton release."""

    row: Row
    target: Target
    release: str

    @property
    def name(self) -> str:
        """`ROW@TARGET@RELEASE`, as shown in reports and as named in the task graph."""
        return f"{self.row.name}@{self.target}@{self.release}"
