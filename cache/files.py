"""Reading and publishing single files, where the operating system bites."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

FRESH = 3600.0  # seconds; the grain of "recently used"


@dataclass(frozen=True, slots=True)
class Contents:
    """A file as it was read."""

    path: str
    data: bytes
    mtime: float  # seconds since the epoch


def read(path: str, limit: int) -> Contents:
    """The whole of a regular file of at most `limit` bytes.

    Raises:
        OSError: it cannot be read, is a link, a pipe or anything else but a plain file, or is over the limit.
    """
    # O_NONBLOCK: opening a pipe that somebody put there must not wait for its writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        if status.st_size > limit:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
        with os.fdopen(descriptor, "rb", buffering=0, closefd=False) as file:
            return Contents(path, file.readall(), status.st_mtime)
    finally:
        os.close(descriptor)


def publish(path: str, data: bytes | Iterable[bytes]) -> None:
    """Make `data` the content of `path`, all at once for every reader, with the permissions that the umask gives.

    No lock: whoever replaces last wins, and all writers of one name write the same thing. No fsync: readers verify.

    Raises:
        OSError: it could not be written; nothing is left behind.
    """
    temporary = f"{path}.{secrets.token_hex(8)}.tmp"
    write_new(temporary, data)
    try:
        os.replace(temporary, path)  # noqa: PTH105
    except BaseException:
        _discard(temporary)
        raise


def write_new(path: str, data: bytes | Iterable[bytes]) -> None:
    """Write a file that is not there yet, and the folders above it.

    Raises:
        OSError: it could not be written; nothing is left behind.
    """
    try:
        descriptor = _create(path)
    except FileNotFoundError:
        # A setgid directory hands its group on by itself; chmod of what others made would fail (dvc#4545).
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        descriptor = _create(path)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines((data,) if isinstance(data, bytes) else data)
    except BaseException:
        _discard(path)
        raise


def _discard(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)  # noqa: PTH108


def _create(path: str) -> int:
    # tempfile would create it 0600, so that the group of a shared directory could not read it (ruff#24786).
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)


def mark_used(file: Contents) -> None:
    """Note for the collector that a file was used; at most once an hour, best effort."""
    if abs(time.time() - file.mtime) > FRESH:  # a time in the future is a wrong clock, put right on the way
        with contextlib.suppress(OSError):  # a read-only directory is a fine cache
            os.utime(file.path, follow_symlinks=False)
