"""Whether what was installed is what the wheels held, by the sizes and digests in their RECORD."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
from collections.abc import Iterable
from pathlib import Path


def damage(sites: Iterable[Path]) -> Path | None:
    """A file of the distributions in `sites` that is missing or not as was recorded, if there is one."""
    for found in importlib.metadata.distributions(path=[str(site) for site in sites]):
        for file in found.files or ():
            path = Path(str(file.locate()))
            if file.hash and not _is_as_recorded(path, file.hash.mode, file.hash.value, file.size):
                return path
    return None


def _is_as_recorded(path: Path, algorithm: str, expected: str, size: int | None) -> bool:
    try:
        if size is not None and path.stat().st_size != size:
            return False
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, algorithm).digest()
    except (OSError, ValueError):
        return False
    return base64.urlsafe_b64encode(digest).decode().rstrip("=") == expected
