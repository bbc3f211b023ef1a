"""Remotes: where others share records and blobs. Three verbs over raw files; the store verifies whatever comes.

One entry in SCHEMES a kind of remote. A remote never overwrites: what is there was right for somebody, and a job that
may only add cannot poison what is there.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar
from urllib.parse import unquote, urlsplit

from portcheck.cache import files
from portcheck.cache.errors import CacheError
from portcheck.cache.layout import place

T = TypeVar("T")

# Nothing there, or gone while it was looked at.
_GONE = frozenset({errno.ENOENT, errno.ESTALE})


class Remote(Protocol):
    """One zone of a remote. Every method raises OSError when the remote is in trouble."""

    def get(self, kind: str, name: str, limit: int) -> bytes | None:
        """The bytes of a record or blob, at most `limit` of them; None if it is not there."""

    def put(self, kind: str, name: str, data: bytes, *, heal: bool) -> None:
        """Create it; keep what is there already, unless `heal` says that it was found to be damaged."""

    def has(self, kind: str, name: str) -> bool:
        """Is it there?"""


class DirectoryRemote:
    """A zone in a directory that is shared, for example on a network file system."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def get(self, kind: str, name: str, limit: int) -> bytes | None:
        """See `Remote`."""
        path = place(self._root, kind, name)
        try:
            return _again_if_stale(lambda: files.read(path, limit).data)
        except OSError as error:
            if error.errno in _GONE:
                return None
            raise

    def put(self, kind: str, name: str, data: bytes, *, heal: bool) -> None:
        """See `Remote`. Published by link(2), which, unlike rename(2), fails if the name is taken."""
        path = place(self._root, kind, name)
        _again_if_stale(lambda: files.publish(path, data) if heal else _create(path, data))

    def has(self, kind: str, name: str) -> bool:
        """See `Remote`."""
        return Path(place(self._root, kind, name)).exists()


def _create(path: str, data: bytes) -> None:
    if os.path.exists(path):  # noqa: PTH110
        return
    temporary = f"{path}.{secrets.token_hex(8)}.tmp"
    files.write_new(temporary, data)
    try:
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        os.unlink(temporary)  # noqa: PTH108


def _again_if_stale(action: Callable[[], T]) -> T:
    """Another host replaced what NFS had a handle of: opening it anew finds what is there now (ccache#68)."""
    try:
        return action()
    except OSError as error:
        if error.errno != errno.ESTALE:
            raise
    return action()


def _directory(url: str, zone: str) -> Remote:
    parts = urlsplit(url)
    path = unquote(parts.path)
    if parts.netloc not in ("", "localhost") or not path.startswith("/"):
        raise CacheError(f'remote "{url}": a directory is written file:///its/absolute/path')
    return DirectoryRemote(Path(path) / zone)


SCHEMES: dict[str, Callable[[str, str], Remote]] = {"file": _directory}


def remote_at(url: str, zone: str) -> Remote:
    """One zone of the remote at a URL.

    Raises:
        CacheError: the URL has no known scheme, or is malformed.
    """
    scheme = urlsplit(url).scheme
    if scheme not in SCHEMES:
        raise CacheError(f'remote "{url}": unknown kind; write it like {", ".join(f"{s}://…" for s in SCHEMES)}')
    return SCHEMES[scheme](url, zone)
