"""Collection: bring a cache directory under a size and an age, least recently used first."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from portcheck.cache.files import FRESH
from portcheck.cache.layout import Entry, home, walk

STALE_TEMPORARY = 2 * 86400.0  # seconds; no write takes as long, whatever the clocks say (ccache#480)
MOST_REMOVALS = 100_000  # in one run: some seconds of work
MOST_IN_PASSING = 10_000
INTERVAL = 86400.0  # seconds between two collections in passing


@dataclass(slots=True)
class Collected:
    """What a run of the collector did; sizes in bytes."""

    busy: bool = False  # another collector is at work: nothing was done
    files: int = 0  # records and blobs removed, and their size
    bytes: int = 0
    fresh: int = 0  # of those, used within the last hour: the limit is too small for one run
    temporaries: int = 0  # leftovers of dead writers removed
    kept_files: int = 0
    kept_bytes: int = 0
    unfinished: bool = False  # there was more to do than one run does
    trouble: str | None = None  # the first thing that could not be removed, and why


def collect(root: Path, *, max_size: int, max_age: float | None = None, most: int = MOST_REMOVALS) -> Collected:
    """Remove what was not used for `max_age` seconds, then the least recently used until `max_size` bytes are left.

    At most `most` files are removed. Files that are not named like ours are never touched, and nothing is created in a
    directory that holds no cache. Readers and writers may be at work: what they lose is a miss.
    """
    done = Collected()
    if not home(root).is_dir():
        return done
    try:
        with _alone(home(root) / "gc.lock") as alone:
            if alone:
                _collect(root, done, max_size, max_age, most)
            done.busy = not alone
    except OSError as error:
        done.trouble = f"{error.filename}: {error.strerror}"
    return done


def collect_if_due(root: Path, *, max_size: int) -> None:
    """Collect if nobody has for a day. A run does it in passing, so its work is bounded and its trouble is ignored."""
    lock = home(root) / "gc.lock"
    try:
        if abs(time.time() - lock.stat().st_mtime) < INTERVAL:
            return
        os.utime(lock)
    except FileNotFoundError:
        pass  # the first collection makes it
    except OSError:
        return
    collect(root, max_size=max_size, most=MOST_IN_PASSING)


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[bool]:
    descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        except OSError:
            pass  # a file system without locks: two collectors at once only remove more than one would
        yield True
        # Closing is not enough: a process forked meanwhile has the descriptor too, and would hold the lock.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)


def _collect(root: Path, done: Collected, max_size: int, max_age: float | None, most: int) -> None:
    now = time.time()
    entries = []
    for entry in walk(root):
        if not entry.temporary:
            entries.append(entry)
        elif _age(entry, now) >= STALE_TEMPORARY:
            done.temporaries += _remove(entry, done)
    done.kept_files, done.kept_bytes = len(entries), sum(entry.size for entry in entries)
    # Times in the future, from another clock, count as now: so they are fresh, and go last.
    for entry in sorted(entries, key=lambda entry: (-_age(entry, now), entry.path)):
        too_old = max_age is not None and _age(entry, now) > max_age
        if not too_old and done.kept_bytes <= max_size:
            return
        if done.files == most:
            done.unfinished = True
            return
        if _remove(entry, done):
            done.files += 1
            done.bytes += entry.size
            done.fresh += _age(entry, now) < FRESH
            done.kept_files -= 1
            done.kept_bytes -= entry.size


def _age(entry: Entry, now: float) -> float:
    return max(0.0, now - entry.mtime)


def _remove(entry: Entry, done: Collected) -> bool:
    try:
        Path(entry.path).unlink(missing_ok=True)
    except OSError as error:
        done.trouble = done.trouble or f"{entry.path}: {error.strerror}"
        return False
    return True
