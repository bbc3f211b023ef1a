"""Files that a command is to write, checked before it works for them."""

from __future__ import annotations

from pathlib import Path

from portcheck.errors import UsageError


def check_file(flag: str, path: Path | None) -> None:
    """Refuse a path that could not be written in the end.

    Raises:
        UsageError: it is a folder, lies in none, or stands for standard output.
    """
    if path is None:
        return
    if str(path) == "-":
        raise UsageError(f"{flag} -: name a file; /dev/stdout is standard output")
    if path.is_dir():
        raise UsageError(f"{flag} {path}: is a folder: name a file in it")
    if not path.parent.is_dir():
        raise UsageError(f"{flag} {path}: there is no folder {path.parent}: create it first")
