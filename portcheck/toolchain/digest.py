"""The content digest of an installed Triton, and remembering it.

Every file of the package counts (593 files, about 1 GB for 3.9.0), so a patched or nightly build is another toolchain.
Reading them takes 0.3 s of CPU; afterwards a stat per file tells whether they are the same.
"""

from __future__ import annotations

import mmap
import time
from collections.abc import Iterator
from pathlib import Path

import xxhash

from portcheck.cache import Store
from portcheck.keys import Key, canonical, digest
from portcheck.shapes import shape

# A file changed within the clock tick of its last stat keeps its mtime: trust only stats this much older (nanoseconds).
_SETTLED = 2_000_000_000

_is_memory = shape({"contents": str})

_Stat = list[int]  # inode, size, mtime_ns, ctime_ns


def package_digest(package: Path, python_minor: str, store: Store) -> str:
    """xxh3-128 over the names and contents of all files of `package`, and the Python minor version, in hex.

    Remembered in `store` by path, inode, size, mtime and ctime of every file.
    """
    stats = {str(path.relative_to(package)): _stat(path) for path in _files(package)}
    preimage = canonical({"package": str(package), "files": stats})
    memo = Key(digest(preimage), preimage)
    remembered = store.get("local", memo.hex, memo.preimage)
    if remembered and _is_memory(remembered):
        contents = str(remembered["contents"])
    else:
        contents = digest(canonical({name: _content(package / name) for name in stats}))
        newest = max((stamp for seen in stats.values() for stamp in seen[2:]), default=0)
        if newest + _SETTLED < time.time_ns() or newest > time.time_ns() + _SETTLED:
            store.put("local", memo.hex, memo.preimage, {"contents": contents})
    return digest(canonical({"contents": contents, "python": python_minor}))


def _files(package: Path) -> Iterator[Path]:
    for path in sorted(package.rglob("*")):
        if "__pycache__" not in path.parts and path.is_file():
            yield path


def _stat(path: Path) -> _Stat:
    found = path.stat()
    return [found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]


def _content(path: Path) -> str:
    with path.open("rb") as file:
        if not path.stat().st_size:
            return digest(b"")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return str(xxhash.xxh3_128_hexdigest(data))
