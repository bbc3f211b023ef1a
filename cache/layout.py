"""Where things are in a cache directory, and the only names that are taken for ours.

ROOT/CACHEDIR.TAG
ROOT/<format version>/<kind>/<2 hex>/<key>
ROOT/<format version>/blob/<2 hex>/<digest>
ROOT/<format version>/gc.lock
any of the above + .<16 hex>.tmp   while it is written
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from portcheck.cache.envelope import FORMAT_VERSION

SHARED_KINDS = ("inputs", "configs", "front", "back")  # immutable, true everywhere
LOCAL_KIND = "local"  # what this machine remembers; may be overwritten
KINDS = (*SHARED_KINDS, LOCAL_KIND)
BLOB = "blob"

_NAME = re.compile(r"[0-9a-f]{32}")
_TEMPORARY = re.compile(r"[0-9a-f]{32}\.[0-9a-f]{16}\.tmp")


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of ours, as it was when the directory was walked."""

    kind: str  # one of KINDS, or BLOB
    path: str
    size: int  # bytes
    mtime: float  # seconds since the epoch
    temporary: bool  # an unfinished write, perhaps of a process that died


def home(root: Path) -> Path:
    """The folder of this format version."""
    return root / str(FORMAT_VERSION)


def is_name(text: object) -> bool:
    """Is `text` a key or digest? Names come out of records, which whoever can write to a shared directory may forge."""
    return isinstance(text, str) and _NAME.fullmatch(text) is not None


def place(root: Path, kind: str, name: str) -> str:
    """The path of a record or blob.

    Raises:
        ValueError: `kind` is unknown, or `name` is no name: nothing else ever becomes part of a path.
    """
    if (kind not in KINDS and kind != BLOB) or not is_name(name):
        raise ValueError(f"no place for {name!r} of kind {kind!r}")
    return f"{root}/{FORMAT_VERSION}/{kind}/{name[:2]}/{name}"


def walk(root: Path) -> Iterator[Entry]:
    """Every file of ours. What is not named like one, is a link, or vanishes meanwhile is passed over."""
    kinds = _folders(home(root))
    for kind in (*KINDS, BLOB):
        for shard, folder in _folders(kinds[kind]).items() if kind in kinds else ():
            for item in _scan(folder):
                entry = _entry(kind, shard, item)
                if entry is not None:
                    yield entry


def _folders(path: Path | str) -> dict[str, str]:
    return {item.name: item.path for item in _scan(path) if item.is_dir(follow_symlinks=False)}


def _scan(folder: Path | str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as items:
            yield from items
    except OSError:
        return


def _entry(kind: str, shard: str, item: os.DirEntry[str]) -> Entry | None:
    temporary = _TEMPORARY.fullmatch(item.name) is not None
    if item.name[:2] != shard or not (temporary or _NAME.fullmatch(item.name)):
        return None
    try:
        if not item.is_file(follow_symlinks=False):
            return None
        status = item.stat(follow_symlinks=False)
    except OSError:
        return None
    return Entry(kind, item.path, status.st_size, status.st_mtime, temporary)
