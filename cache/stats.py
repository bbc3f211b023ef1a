"""How much is in a cache directory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from portcheck.cache.layout import BLOB, KINDS, walk

TEMPORARY = "temporary"


@dataclass(frozen=True, slots=True)
class Usage:
    """Files of one kind."""

    files: int = 0
    bytes: int = 0


def stats(root: Path) -> dict[str, Usage]:
    """Usage by kind: every kind of record, `blob`, and `temporary` for unfinished writes."""
    files = dict.fromkeys((*KINDS, BLOB, TEMPORARY), 0)
    sizes = dict(files)
    for entry in walk(root):
        kind = TEMPORARY if entry.temporary else entry.kind
        files[kind] += 1
        sizes[kind] += entry.size
    return {kind: Usage(files[kind], sizes[kind]) for kind in files}
