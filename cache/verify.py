"""Reading every file of a cache directory, and removing the damaged ones so that the next write heals them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import xxhash

from portcheck.cache import envelope, files
from portcheck.cache.layout import BLOB, Entry, walk
from portcheck.cache.store import MAX_BLOB


@dataclass(frozen=True, slots=True)
class Verified:
    """What a walk over all records and blobs found; paths are relative to the cache directory."""

    sound: int
    damaged: tuple[str, ...]  # removed, but for those in `stuck`
    stuck: tuple[str, ...]  # unreadable, or damaged and not removable; each with the reason
    other_version: int  # sound records of another format version, left alone


def verify(root: Path) -> Verified:
    """Check every record and blob below `root`. Times of last use stay as they are; a missing directory is sound."""
    sound, other, damaged, stuck = 0, 0, [], []
    for entry in walk(root):
        if entry.temporary:
            continue
        name = str(Path(entry.path).relative_to(root))
        try:
            state = _state(entry)
            if state == "damaged":
                damaged.append(name)
                Path(entry.path).unlink(missing_ok=True)
        except FileNotFoundError:
            continue  # collected meanwhile
        except OSError as error:
            stuck.append(f"{name}: {error.strerror}")
            continue
        sound += state == "sound"
        other += state == "version"
    return Verified(sound, tuple(damaged), tuple(stuck), other)


def _state(entry: Entry) -> str:
    if entry.kind == BLOB:
        content = files.read(entry.path, MAX_BLOB).data
        return "sound" if xxhash.xxh3_128_hexdigest(content) == Path(entry.path).name else "damaged"
    try:
        envelope.decode(files.read(entry.path, envelope.MAX_FILE).data)
    except envelope.EnvelopeError as error:
        return "damaged" if error.version is None else "version"
    return "sound"
