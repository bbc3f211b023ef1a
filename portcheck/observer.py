"""Observing inputs: the same question gives the same answer as long as what an import read has not changed.

| input | what | observed as |
|---|---|---|
| `file:NAME` | a file was read | the digest of its content |
| `list:NAME` | a directory was listed | the digest of the names in it |
| `stat:NAME` | somebody asked whether it is there | file and its size, folder or None |
| `link:NAME` | a symbolic link was followed | where it leads |
| `env:NAME` | an environment variable was read | its value; a file's content, if it names one |
| `env:` | the whole environment was read | a digest, without what only says who and where; all other names |
| `find:NAME` | a top-level module was imported, or was not there | the folder it is found in |
| `module:NAME` | a module was looked for there | what is there: nothing, a file, a package |
| `tool:ld.lld` | Triton up to 3.4 linked for AMD | the digest of the linker that it finds in this environment |

Names of paths are relative to the manifest's folder, or `dist/…` for what is installed: no path of a machine gets into
a key. Installed distributions that are as their installer left them are observed as a whole, see `installed`.
"""

from __future__ import annotations

import importlib.machinery
import os
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portcheck import __version__, environment
from portcheck.compiler import child, scratch
from portcheck.compiler.child import linker
from portcheck.compiler.child.names import SITE, Names
from portcheck.inputlists import InputLists
from portcheck.inputs import Inputs
from portcheck.installed import SUFFIXES, Expected, Installed, StandIns
from portcheck.keys import canonical, digest
from portcheck.stats import Stat, stat_of
from portcheck.toolchain.imports import Imports, of_this

_STANDARD_LIBRARY = (
    *(sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")),
    *(entry for entry in sys.path if entry.endswith(".zip")),
)
_CHILD = str(Path(child.__file__).parent) + os.sep
_OWN_METADATA = f"{os.sep}portcheck-{__version__}.dist-info{os.sep}"
_TEMPORARY = f"{tempfile.gettempdir()}{os.sep}"
_PATHS = frozenset({"file", "list", "stat", "link", "module"})
_SLACK = 2.0  # seconds by which a file system's clock may run ahead of ours


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """What was there of a list's inputs."""

    digest: str
    stats: Mapping[str, Stat | None]  # of the files among them, just before they were read


class Observer:
    """Names and observes inputs for one manifest folder and one installation of packages."""

    def __init__(
        self, folder: Path, triton: Path | None, lists: InputLists, installed: Installed, imports: Imports | None = None
    ) -> None:
        """`imports`: where the processes that read the inputs find modules; None: where this one does."""
        self.imports = imports or of_this()
        self._library = (*_STANDARD_LIBRARY, *(entry + os.sep for entry in self.imports.library))
        self.folder, self._triton, self._lists = str(folder), f"{triton}{os.sep}", lists
        self._folders = (str(folder), os.path.realpath(folder))
        scratched = scratch.holding(folder)  # another revision, checked out for one run
        self._checkout = f"{scratched}{os.sep}" if scratched else None
        self._names = Names(str(folder))
        self._installed, self._digests, self._site = installed, installed.digests, installed.folders
        self._named_paths: dict[str, str] = {}  # the modules of a package read thousands of files, all of them the same
        self._found: dict[str, str | None] = {}
        self._listed: dict[str, list[str] | None] = {}
        self._observed: dict[tuple[str, str], Observation | None] = {}
        self._inputs: dict[tuple[Observation, ...], Inputs] = {}
        self._reports: dict[int, tuple[object, Inputs]] = {}
        self._lock = threading.RLock()
        self._kinds: dict[str, Callable[[str], Any]] = {
            "list": lambda path: None if (names := self._list(path)) is None else digest(canonical(names)),
            "stat": _kind_of,
            "link": self._link,
            "module": self._module,
        }

    def names(self, read: Iterable[tuple[str, str]]) -> dict[str, str]:
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
        if path not in self._named_paths:
            self._named_paths[path] = self._relative(path)
        return self._named_paths[path]

    def _relative(self, path: str) -> str:
        path = self._followed(path)
        inside = next((f for f in self._folders if f"{path}{os.sep}".startswith(f"{f}{os.sep}")), None)
        below = path[len(inside) :] if inside else path
        if any(mark in below for mark in SITE):
            return self._names.portable(path)
        return os.path.relpath(path, inside or self.folder).replace(os.sep, "/")

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
        ours = path.startswith((self.folder, *self._site, *([self._checkout] if self._checkout else [])))
        if kind == "link" and not ours:
            return True  # on the way to the checkout
        return kind != "file" and path.startswith(_TEMPORARY) and not ours

    def observe(self, listed: str, environ: Mapping[str, str]) -> str | None:
        """The digest of what is there now of a list's inputs; None if the list is lost.

        `environ` is the environment that the import runs in. A list is observed once a run.
        """
        observation = self.observation(listed, environ)
        return observation.digest if observation else None

    def observation(self, listed: str, environ: Mapping[str, str]) -> Observation | None:
        """The same, with what tells later whether it still holds."""
        memo = (listed, digest(canonical(dict(environ))))
        with self._lock:
            if memo not in self._observed:
                names = self._lists.get(listed)
                self._observed[memo] = None if names is None else self._observe_all(listed, names, environ)
            return self._observed[memo]

    def _observe_all(self, listed: str, names: Iterable[str], environ: Mapping[str, str]) -> Observation:
        expected = self._expected(listed, names)
        observed: dict[str, Any] = {}
        stats: dict[str, Stat | None] = {}
        for name in names:
            owner, answer = expected.answers.get(name, (None, None))
            found = self._observe(name, environ, stats)
            if owner and found == answer:
                observed[f"dist:{owner}"] = expected.distributions[owner].identity
            else:
                observed[name] = found
        return Observation(digest(canonical(observed)), stats)

    def _expected(self, listed: str, names: Iterable[str]) -> Expected:
        return self._installed.expected(listed, names, self._path)

    def depends_on(self, lists: Iterable[str]) -> StandIns:
        """What stands in for the installed distributions and modules that the names in `lists` lead to."""
        names = {listed: self._lists.get(listed) or () for listed in lists}
        found: dict[str, bool] = {}
        for listed, all_of in names.items():
            for name, (owner, _) in self._expected(listed, all_of).answers.items():
                found[owner] = found.get(owner, False) or ".dist-info/" not in name
        asked = {name.partition(":")[2] for all_of in names.values() for name in all_of if name.startswith("find:")}
        places = {name: place for name in asked if (place := self._find(name)) and place.startswith("dist/")}
        return self._installed.stand_ins(found, places)

    def report(self, read: tuple[tuple[str, str], ...], began: float) -> Inputs:
        """The inputs in a child's report of what an import read. `began`: time.time() at which the reading began.

        Worked out once for a report: that of a package is part of what each of its modules read.
        """
        if id(read) not in self._reports:  # the report is kept, since an id is only good while it lives
            self._reports[id(read)] = (read, self.just_read(self.names(read), began))
        return self._reports[id(read)][1]

    def just_read(self, named: Mapping[str, str], began: float | None = None) -> Inputs:
        """The inputs that `names` gave for what was just read. `began` as in `report`.

        They are unfit for a record if a file was written while it was being read, or if looking a name up leads
        elsewhere than the import went.
        """
        if not named:
            return Inputs((), {})
        paths = {name: path for name, path in named.items() if _is_path(name)}
        files = {path: stat_of(path) for name, path in paths.items() if name.startswith("file:")}
        fit = all(self._leads_to(name, path) for name, path in paths.items())
        if began is not None:
            # Both mtime and ctime: copying a file with its times shows in ctime only.
            written = (stamp / 1e9 for seen in files.values() if seen for stamp in seen[3:])
            ahead = time.time() + _SLACK
            fit = fit and not any(began <= stamp <= ahead for stamp in written)
        listed = self._lists.put(named)
        self._forget(listed)
        return Inputs((listed,), files, fit)

    def _leads_to(self, name: str, path: str) -> bool:
        found, path = self._path(name), self._followed(path)
        # A module has a suffix, so no stat tells two of them apart.
        return found == path or (not name.startswith("module:") and _same(found, path))

    def _forget(self, listed: str) -> None:
        """What was observed of a list before it was read may be of other contents than those that were read."""
        with self._lock:
            self._observed = {memo: found for memo, found in self._observed.items() if memo[0] != listed}
            self._listed.clear()
            self._found.clear()

    def recorded(self, lists: tuple[str, ...], observations: tuple[Observation, ...]) -> Inputs:
        """The inputs in recorded lists, as they were observed; worked out once, since units share lists."""
        found = self._inputs.get(observations)
        if found is None:
            stats = {path: seen for observation in observations for path, seen in observation.stats.items()}
            found = self._inputs.setdefault(observations, Inputs(lists, stats))
        return found

    def known(self, lists: Iterable[str]) -> set[str]:
        """The names in recorded lists."""
        return {name for listed in lists for name in self._lists.get(listed) or ()}

    def source(self, file: str) -> str:
        """Where a source file of a position is on this machine."""
        return self._path(f"file:{file}")

    def _observe(self, name: str, environ: Mapping[str, str], stats: dict[str, Stat | None]) -> Any:
        try:
            return self._observe_kind(name, environ, stats)
        except (ValueError, ImportError) as error:  # the name in a record is nothing that an import could have read
            return f"{type(error).__name__}"

    def _observe_kind(self, name: str, environ: Mapping[str, str], stats: dict[str, Stat | None]) -> Any:
        kind, _, what = name.partition(":")
        if kind == "file":
            path = self._path(name)
            found, stats[path] = self._digests.look(path)
            return found
        if kind in self._kinds:
            return self._kinds[kind](self._path(name))
        if kind == "env":
            return environment.observed(what, environ) if what else environment.whole(environ)
        if kind == "find":
            return self._find(what)
        if kind == "tool":
            program = linker.find(self._triton, environ)
            return program and self._digests.of(program)
        return f"unknown kind {kind}"  # a record of a newer portcheck: never equal to what it observed

    def _path(self, name: str) -> str:
        what = name.partition(":")[2]
        if not what.startswith("dist/"):
            return os.path.normpath(f"{self.folder}/{what}")
        places = [f"{site}/{what[len('dist/') :]}" for site in self._site]
        if len(places) < 2:
            return places[0] if places else what
        # What is not there was asked for beside something that is.
        beside = (path for path in places if os.path.exists(os.path.dirname(path)))  # noqa: PTH110, PTH120
        return next((path for path in places if os.path.exists(path)), next(beside, places[0]))  # noqa: PTH110

    def _find(self, name: str) -> str | None:
        """The folder that a top-level module is found in, named portably; no module is imported."""
        if name not in self._found:
            spec = self._spec(name)
            place = spec and (spec.origin or next(iter(spec.submodule_search_locations or ()), None))
            self._found[name] = self._named(place) if place else self._installed.place(name)
        return self._found[name]

    def _spec(self, name: str) -> importlib.machinery.ModuleSpec | None:
        for finder in self.imports.finders:
            find = getattr(finder, "find_spec", None)
            if finder is importlib.machinery.PathFinder:
                spec = importlib.machinery.PathFinder.find_spec(name, [*self.imports.path, self.folder])
            else:
                spec = find(name, None) if find else None
            if spec is not None:
                return spec
        return None

    def _in_library(self, path: str) -> bool:
        return path.startswith(self._library) and not any(mark in path for mark in SITE)

    def _named(self, place: str) -> str:
        if not os.path.isabs(place):  # noqa: PTH117
            return place  # built-in, frozen
        return "python" if self._in_library(place) else self._names.portable(place)

    def _list(self, path: str) -> list[str] | None:
        if path not in self._listed:
            try:
                with os.scandir(path) as entries:
                    found = {f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries}
                self._listed[path] = sorted(found - {"__pycache__/"})
            except OSError:
                self._listed[path] = None
        return self._listed[path]

    def _module(self, path: str) -> list[str]:
        """What Python could import under a path without suffix; of a folder, whether it is a package."""
        folder, _, leaf = path.rpartition(os.sep)
        there = set(self._list(folder) or ())
        found = [leaf + suffix for suffix in SUFFIXES if leaf + suffix in there]
        if f"{leaf}/" in there:
            inits = [entry for entry in self._list(path) or () if entry.partition(".")[0] == "__init__"]
            found += [f"{leaf}/", *inits]
        return found

    def _link(self, path: str) -> str | None:
        try:
            return self._names.portable(os.readlink(path))  # noqa: PTH115
        except OSError:
            return None


def _kind_of(path: str) -> str | None:
    if os.path.isdir(path):  # noqa: PTH112
        return "folder"
    found = stat_of(path)
    return f"file of {found[2]} bytes" if found else None


def _is_path(name: str) -> bool:
    return name.partition(":")[0] in _PATHS


def _same(one: str, other: str) -> bool:
    """Two paths of one file; or of none, where somebody asked for something that is not there."""
    here, there = stat_of(one), stat_of(other)
    return here == there if here is None or there is None else here[:2] == there[:2]
