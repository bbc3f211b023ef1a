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
            path.write_bytes(b"".join(map(_encoded, text)))  # /dev/stdout, a named pipe: replacing it would destroy it
        else:
            publish(str(path.resolve()), map(_encoded, text))  # resolved: a link stays a link
    except OSError as error:
        raise UsageError(f"{path}: cannot write the {what}: {error.strerror or error}") from error


def _encoded(text: str) -> bytes:
    """As UTF-8. A byte of a file name that is none becomes an escape, which in JSON means what it was."""
    return text.encode("utf-8", "backslashreplace")
