"""The content digest of an installed Triton, and remembering it.

Every file of the package counts (593 files, about 1 GB for 3.9.0), so a patched or nightly build is another toolchain.
Reading them takes 0.3 s of CPU; afterwards a stat per file tells whether they are the same.
"""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Collection, Iterator
from pathlib import Path

import xxhash

from portcheck.cache import Store
from portcheck.keys import Key, canonical, digest
from portcheck.shapes import shape
from portcheck.stats import SETTLED

_is_memory = shape({"contents": str})

_Stat = list[int]  # inode, size, mtime_ns, ctime_ns


def package_digest(package: Path, python_minor: str, store: Store) -> str:
    """xxh3-128 over the names and contents of all files of `package`, and the Python minor version, in hex.

    Remembered in `store` by path, inode, size, mtime and ctime of every file.
    """
    return digest(canonical({"contents": contents_digest(package, store), "python": python_minor}))


def contents_digest(folder: Path, store: Store, *, follow: bool = True, without: Collection[Path] = ()) -> str:
    """xxh3-128 over the names and contents of all files below `folder`, in hex, but for `without`: files and folders.

    Links are followed, since a source build has its backends behind some; or else count by where they lead.
    Remembered in `store` by path, inode, size, mtime and ctime of every file.
    """
    stats = {str(path.relative_to(folder)): _stat(path) for path in _files(folder, follow, without)}
    preimage = canonical({"package": str(folder), "files": stats})
    memo = Key(digest(preimage), preimage)
    remembered = store.get("local", memo.hex, memo.preimage)
    if remembered and _is_memory(remembered):
        contents = str(remembered["contents"])
    else:
        contents = digest(canonical({name: _content(folder / name, follow) for name in stats}))
        newest = max((stamp for seen in stats.values() for stamp in seen[2:]), default=0)
        if newest + SETTLED < time.time_ns() or newest > time.time_ns() + SETTLED:
            store.put("local", memo.hex, memo.preimage, {"contents": contents})
    return contents


def _files(folder: Path, follow: bool, without: Collection[Path]) -> Iterator[Path]:
    seen: set[tuple[int, int]] = set()  # folders, since links may lead in a circle
    for place, folders, names in os.walk(folder, followlinks=follow):
        found = os.stat(place)  # noqa: PTH116
        if (found.st_dev, found.st_ino) in seen or Path(place) in without:
            folders.clear()
            continue
        seen.add((found.st_dev, found.st_ino))
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield from (path for name in names if (path := Path(place, name)).is_file() and path not in without)


def _stat(path: Path) -> _Stat:
    found = path.stat()
    return [found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]


def _content(path: Path, follow: bool) -> str:
    if not follow and path.is_symlink():
        return f"to {path.readlink()}"
    with path.open("rb") as file:
        if not path.stat().st_size:
            return digest(b"")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return str(xxhash.xxh3_128_hexdigest(data))
