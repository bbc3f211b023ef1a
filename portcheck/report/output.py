"""Writing a report's file: whole or not at all."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from pathlib import Path

from portcheck.cache.files import publish
from portcheck.errors import UsageError


def write_file(path: Path, text: Iterable[str], what: str = "report") -> None:
    """Make the pieces of `text` the content of `path`, creating folders as needed.

    Raises:
        UsageError: it cannot be written there.
    """
    try:
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            path.write_text("".join(text), encoding="utf-8")  # /dev/stdout, a named pipe: replacing it would destroy it
        else:
            publish(str(path.resolve()), (piece.encode() for piece in text))  # resolved: a link stays a link
    except OSError as error:
        raise UsageError(f"{path}: cannot write the {what}: {error.strerror or error}") from error
