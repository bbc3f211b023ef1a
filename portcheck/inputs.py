"""The files that importing a module read: named portably, identified by content."""

from __future__ import annotations

import os
import sysconfig
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import xxhash

from portcheck.compiler.child.names import SITE, Names

_STANDARD_LIBRARY = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")})
_SLACK = 2_000_000_000  # nanoseconds by which a file's clock may run ahead of ours


@dataclass(frozen=True, slots=True)
class Inputs:
    """Recorded inputs at one moment: portable name → content digest (None: there is no such file)."""

    contents: Mapping[str, str | None]
    stats: Mapping[str, tuple[int, ...] | None]  # by absolute path
    stable: bool  # none was written while it was being read

    def unchanged(self) -> bool:
        """Are the files still those that were digested, as far as a stat can tell?"""
        return self.stable and all(_stat(path) == seen for path, seen in self.stats.items())


class Files:
    """Names and digests of input files, relative to one manifest folder and one installation of packages."""

    def __init__(self, folder: Path, site: Iterable[Path], toolchain_package: Path) -> None:
        self._folder, self._site = folder, tuple(site)
        self._names = Names(str(folder))
        self._triton = f"{toolchain_package}{os.sep}"
        self._digests: dict[tuple[str, tuple[int, ...]], str] = {}
        self._lock = threading.Lock()

    def named(self, paths: Iterable[str]) -> dict[str, str]:
        """Portable name → absolute path, of those that keys have to cover: not Triton's, not the standard library's."""
        return {
            self._names.portable(path): path
            for path in sorted(paths)
            if not path.startswith(self._triton) and not _in_standard_library(path)
        }

    def read(self, paths: Mapping[str, str], since: float | None = None) -> Inputs:
        """Digest files. `since`: when the import that read them began, in seconds of time.time()."""
        stats = {path: _stat(path) for path in paths.values()}
        begin = int((since or 0) * 1e9)
        now = time.time_ns() + _SLACK
        # Both mtime and ctime: copying a file with its times shows in ctime only.
        written = (stamp for seen in stats.values() if seen for stamp in seen[3:])
        stable = since is None or not any(begin <= stamp <= now for stamp in written)
        return Inputs({name: self._digest(path, stats[path]) for name, path in paths.items()}, stats, stable)

    def can_find(self, inputs: Inputs) -> bool:
        """Does every name lead back to the file it was given for? Where it does not, a later look would see another."""
        found = self.locate(inputs.contents)
        read = {(seen[0], seen[1]) for seen in inputs.stats.values() if seen}
        located = (_stat(found[name]) for name, content in inputs.contents.items() if content)
        return all(seen is not None and (seen[0], seen[1]) in read for seen in located)

    def locate(self, names: Iterable[str]) -> dict[str, str]:
        """Portable name → the path where it would be on this machine."""
        return {name: self._locate(name) for name in names}

    def _locate(self, name: str) -> str:
        if not name.startswith("dist/"):
            return str(Path(os.path.normpath(self._folder / name)))
        candidates = [str(site / name.removeprefix("dist/")) for site in self._site]
        return next((path for path in candidates if Path(path).exists()), candidates[0] if candidates else name)

    def _digest(self, path: str, seen: tuple[int, ...] | None) -> str | None:
        if seen is None:
            return None
        known = self._digests.get((path, seen))
        if known:
            return known
        try:
            found = str(xxhash.xxh3_128_hexdigest(Path(path).read_bytes()))
        except OSError:
            return None
        with self._lock:
            self._digests[path, seen] = found
        return found


def _stat(path: str) -> tuple[int, ...] | None:
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _in_standard_library(path: str) -> bool:
    return path.startswith(_STANDARD_LIBRARY) and not any(mark in path for mark in SITE)
