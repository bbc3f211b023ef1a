"""What a stat says of a file, as far as it tells one version of it from another.

Tools that preserve a file's mtime (git worktree, rsync, cp -p) cannot preserve its ctime, so that counts, too.
"""

from __future__ import annotations

import os
import time

Stat = tuple[int, int, int, int, int]  # device, inode, size in bytes, mtime and ctime in nanoseconds

# Two writes within one tick of a file system's clock look alike: believe only stats that are older than this.
SETTLED = 2_000_000_000


def stat_of(path: str) -> Stat | None:
    """The stat of a file; None if there is none, or it cannot be read."""
    try:
        found = os.stat(path)  # noqa: PTH116 - a Path costs as much as the stat
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def is_settled(stat: Stat, now: int | None = None) -> bool:
    """Was the file last written long enough before `now` (nanoseconds; default: now) that a new write would show?"""
    return max(stat[3], stat[4]) + SETTLED < (time.time_ns() if now is None else now)
