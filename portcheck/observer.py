"""Observing inputs: the same question gives the same answer as long as what an import read has not changed.

| input | what | observed as |
|---|---|---|
| `file:NAME` | a file was read | the digest of its content |
| `list:NAME` | a directory was listed | the digest of the names in it |
| `stat:NAME` | somebody asked whether it is there | file, folder or None |
| `env:NAME` | an environment variable was read | its value; a file's content, if it names one |
| `env:` | the whole environment was read | a digest, without what only says who and where |
| `find:NAME` | a top-level module was imported, or was not there | the folder it is found in |
| `absent:NAME` | a submodule was not there | is it there now? |

Names of paths are relative to the manifest's folder, or `dist/…` for what is installed: no path of a machine gets into
a key.
"""

from __future__ import annotations

import importlib.machinery
import os
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from portcheck import environment
from portcheck.compiler.child.names import SITE, Names
from portcheck.digests import Digests
from portcheck.inputs import Inputs
from portcheck.keys import canonical, digest
from portcheck.stats import stat_of

_STANDARD_LIBRARY = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")})
_PATHS = frozenset({"file", "list", "stat", "absent"})
_SLACK = 2.0  # seconds by which a file system's clock may run ahead of ours


class Observer:
    """Names and observes inputs for one manifest folder and one installation of packages."""

    def __init__(self, folder: Path, triton: Path, digests: Digests) -> None:
        self._folder, self._triton, self._digests = folder, f"{triton}{os.sep}", digests
        self._names = Names(str(folder))
        self._site = [Path(entry) for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")]
        self._found: dict[str, str | None] = {}
        self._listed: dict[str, list[str] | None] = {}
        self._kinds: dict[str, Callable[[str], Any]] = {
            "file": self._digests.of,
            "list": lambda path: None if (names := self._list(path)) is None else digest(canonical(names)),
            "stat": _kind_of,
            "absent": lambda path: os.path.basename(path) in self._stems(os.path.dirname(path)),  # noqa: PTH119, PTH120
        }

    def names(self, read: Iterable[tuple[str, str]]) -> dict[str, str]:
        """Input name → path (or variable, or module) of what a child says it read, without what keys cover anyway."""
        named = {}
        for kind, what in sorted(read):
            if kind in _PATHS:
                if not what.startswith(self._triton) and not _in_standard_library(what):
                    named[f"{kind}:{self._names.portable(what)}"] = what
            elif kind != "env" or not environment.is_private(what):
                named[f"{kind}:{what}"] = what
        return named

    def observe(self, names: Iterable[str], environ: Mapping[str, str]) -> dict[str, Any]:
        """What is there now. `environ` is the environment that the import runs in."""
        return {name: self._observe(name, environ) for name in names}

    def inputs(self, read: Mapping[str, str], environ: Mapping[str, str], began: float | None = None) -> Inputs:
        """Observe what was read: `names` gave `read`. `began`: time.time() at which the reading began, if it just did.

        The inputs are unfit for a record if a file was written while it was being read, or if looking a name up leads
        elsewhere than the import went.
        """
        observed = self.observe(read, environ)
        files = {path: stat_of(path) for name, path in read.items() if name.startswith("file:")}
        fit = all(self._path(name) == path or _same(self._path(name), path) for name, path in read.items() if _is_path(name))
        if began is not None:
            ahead = time.time() + _SLACK
            fit = fit and not any(seen and began <= seen[3] / 1e9 <= ahead for seen in files.values())
        return Inputs(observed, files, fit)

    def located(self, names: Iterable[str]) -> dict[str, str]:
        """Input name → where it is on this machine."""
        return {name: self._path(name) if _is_path(name) else name.partition(":")[2] for name in names}

    def source(self, file: str) -> str:
        """Where a source file of a position is on this machine."""
        return self._path(f"file:{file}")

    def _observe(self, name: str, environ: Mapping[str, str]) -> Any:
        kind, _, what = name.partition(":")
        if kind in self._kinds:
            return self._kinds[kind](self._path(name))
        if kind == "env":
            return environment.observed(what, environ) if what else digest(canonical(environment.variables(environ)))
        if kind == "find":
            return self._find(what)
        return f"unknown kind {kind}"  # a record of a newer portcheck: never equal to what it observed

    def _path(self, name: str) -> str:
        what = name.partition(":")[2]
        if not what.startswith("dist/"):
            return os.path.normpath(self._folder / what)
        candidates = [str(site / what.removeprefix("dist/")) for site in self._site]
        return next((path for path in candidates if os.path.exists(path)), candidates[0] if candidates else what)  # noqa: PTH110

    def _find(self, name: str) -> str | None:
        """The folder that a top-level module is found in, named portably; no module is imported."""
        if name not in self._found:
            spec = _spec(name, self._folder)
            place = spec and (spec.origin or next(iter(spec.submodule_search_locations or ()), None))
            self._found[name] = self._names.portable(place) if place and os.path.isabs(place) else place  # noqa: PTH117
        return self._found[name]

    def _list(self, path: str) -> list[str] | None:
        if path not in self._listed:
            try:
                self._listed[path] = sorted(entry for entry in os.listdir(path) if entry != "__pycache__")  # noqa: PTH208
            except OSError:
                self._listed[path] = None
        return self._listed[path]

    def _stems(self, folder: str) -> set[str]:
        return {entry.partition(".")[0] for entry in self._list(folder) or ()}


def _spec(name: str, folder: Path) -> importlib.machinery.ModuleSpec | None:
    """As the child's import system would find it: its path is ours without this program's folder, and with the manifest's."""
    path = [entry for entry in sys.path if entry not in ("", str(Path(sys.argv[0]).parent), str(Path.cwd()))]
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        if finder is importlib.machinery.PathFinder:
            spec = importlib.machinery.PathFinder.find_spec(name, [*path, str(folder)])
        else:
            spec = find(name, None) if find else None
        if spec is not None:
            return spec
    return None


def _kind_of(path: str) -> str | None:
    return "folder" if os.path.isdir(path) else "file" if os.path.exists(path) else None  # noqa: PTH110, PTH112


def _is_path(name: str) -> bool:
    return name.partition(":")[0] in _PATHS


def _same(one: str, other: str) -> bool:
    """Two paths of one file; or of none, where somebody asked for something that is not there."""
    here, there = stat_of(one), stat_of(other)
    return here == there if here is None or there is None else here[:2] == there[:2]


def _in_standard_library(path: str) -> bool:
    return path.startswith(_STANDARD_LIBRARY) and not any(mark in path for mark in SITE)
