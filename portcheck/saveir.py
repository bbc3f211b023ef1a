"""`--save-ir`: the output of every stage of every cell, as files for people and for `diff`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from portcheck.cells import Cell
from portcheck.errors import UsageError

_STAGE = re.compile(r"[a-z][a-z0-9_]{0,31}")  # names in a record are somebody else's input


def folder_name(cell: Cell) -> str:
    """A cell's name as a file name: what a file name cannot hold, or a shell stumbles over, is percent-encoded."""
    return quote(cell.name, safe="@[]:=,+ ")[:200].lstrip(".")


def save_ir(folder: Path, cell: Cell, artifacts: Mapping[str, bytes | None]) -> None:
    """Write `folder/CELL/STAGE` for each stage of one cell.

    Raises:
        UsageError: the folder cannot be written.
    """
    place = folder / folder_name(cell)
    try:
        place.mkdir(parents=True, exist_ok=True)
        for stage, data in artifacts.items():
            if data is not None and _STAGE.fullmatch(stage):
                (place / stage).write_bytes(data)
    except OSError as error:
        raise UsageError(f"--save-ir: cannot write {place}: {error.strerror}") from None
