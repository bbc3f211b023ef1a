"""Portable names of inputs, and where these are on this machine.

Names of paths are relative to the manifest's folder, or `dist/…` for what is installed: no path of a machine gets into
a key.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from portcheck import __version__, environment
from portcheck.compiler import child, scratch
from portcheck.compiler.child.names import SITE, Names
from portcheck.stats import stat_of

_STANDARD_LIBRARY = (
    *(sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")),
    *(entry for entry in sys.path if entry.endswith(".zip")),
)
_CHILD = str(Path(child.__file__).parent) + os.sep
_OWN_METADATA = f"{os.sep}portcheck-{__version__}.dist-info{os.sep}"
_TEMPORARY = f"{tempfile.gettempdir()}{os.sep}"
_PATHS = frozenset({"file", "list", "stat", "link", "module"})


class InputNames:
    """The names for one manifest folder and one installation of packages."""

    def __init__(self, folder: Path, triton: Path | None, site: Sequence[str], library: Iterable[str]) -> None:
        """Name inputs for the manifest in `folder`.

        Args:
            folder: the manifest's.
            triton: the package, which the toolchain's digest covers.
            site: the folders of installed packages, the first of which wins.
            library: folders of another interpreter's standard library.
        """
        self._library = (*_STANDARD_LIBRARY, *(entry + os.sep for entry in library))
        self._folder, self._triton, self._site = str(folder), f"{triton}{os.sep}", tuple(site)
        self._folders = (str(folder), os.path.realpath(folder))
        scratched = scratch.holding(folder)  # another revision, checked out for one run
        self._checkout = f"{scratched}{os.sep}" if scratched else None
        self._portable = Names(str(folder))
        self._known: dict[str, str] = {}  # the modules of a package read thousands of files, all of them the same

    def of(self, read: Iterable[tuple[str, str]]) -> dict[str, str]:
        """Input name → path (or variable, or module) of what a child says it read, without what keys cover anyway."""
        read = set(read)
        named = {}
        for kind, what in sorted(read):
            if kind in _PATHS:
                asked_only = kind == "stat" and ("file", what) in read  # its content says that it is there
                if not asked_only and not self._is_covered(kind, what):
                    named[f"{kind}:{self._name(what)}"] = what
            elif kind != "env" or not environment.is_private(what):
                named[f"{kind}:{what}"] = what
        return named

    def _name(self, path: str) -> str:
        """A path relative to the manifest's folder, as it was asked for: a link on the way may lead elsewhere later."""
        if path not in self._known:
            self._known[path] = self._relative(path)
        return self._known[path]

    def _relative(self, path: str) -> str:
        path = self._followed(path)
        inside = next((f for f in self._folders if f"{path}{os.sep}".startswith(f"{f}{os.sep}")), None)
        below = path[len(inside) :] if inside else path
        if any(mark in below for mark in SITE):
            return self._portable.portable(path)
        return os.path.relpath(path, inside or self._folder).replace(os.sep, "/")

    def _followed(self, path: str) -> str:
        """A path without the links in a checkout, which stand for what that tree's packages are installed from."""
        return os.path.realpath(path) if self._checkout and path.startswith(self._checkout) else path

    def _is_covered(self, kind: str, path: str) -> bool:
        """Is it in the toolchain's digest, part of this program, or only somebody's scratch?"""
        if path.startswith((self._triton, _CHILD)) or self._in_library(path):
            return True
        if kind != "file" and "__pycache__" in path:
            return True  # what was imported before, by which Python
        if _OWN_METADATA in path:
            return True  # importlib.metadata reads that of everything that is installed
        ours = path.startswith((self._folder, *self._site, *([self._checkout] if self._checkout else [])))
        if kind == "link" and not ours:
            return True  # on the way to the checkout
        return kind != "file" and path.startswith(_TEMPORARY) and not ours

    def path(self, name: str) -> str:
        """Where a named file or folder is on this machine."""
        what = name.partition(":")[2]
        if not what.startswith("dist/"):
            return os.path.normpath(f"{self._folder}/{what}")
        places = [f"{site}/{what[len('dist/') :]}" for site in self._site]
        if len(places) < 2:
            return places[0] if places else what
        # What is not there was asked for beside something that is.
        beside = (path for path in places if os.path.exists(os.path.dirname(path)))  # noqa: PTH110, PTH120
        return next((path for path in places if os.path.exists(path)), next(beside, places[0]))  # noqa: PTH110

    def leads_to(self, name: str, path: str) -> bool:
        """Does looking a name up lead to the path that it was given for?"""
        found, path = self.path(name), self._followed(path)
        # A module has a suffix, so no stat tells two of them apart.
        return found == path or (not name.startswith("module:") and _same(found, path))

    def link(self, path: str) -> str | None:
        """Where a symbolic link leads, portably; None if it is none."""
        try:
            return self._portable.portable(os.readlink(path))  # noqa: PTH115
        except OSError:
            return None

    def _in_library(self, path: str) -> bool:
        return path.startswith(self._library) and not any(mark in path for mark in SITE)

    def of_module(self, place: str) -> str:
        """The name of the place in which a top-level module was found."""
        if not os.path.isabs(place):  # noqa: PTH117
            return place  # built-in, frozen
        return "python" if self._in_library(place) else self._portable.portable(place)


def is_path(name: str) -> bool:
    """Is it the name of a file or folder?"""
    return name.partition(":")[0] in _PATHS


def _same(one: str, other: str) -> bool:
    """Two paths of one file; or of none, where somebody asked for something that is not there."""
    here, there = stat_of(one), stat_of(other)
    return here == there if here is None or there is None else here[:2] == there[:2]
