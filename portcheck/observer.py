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

Names are portable, see `inputnames`. Installed distributions that are as their installer left them are observed as a
whole, see `installed`.
"""

from __future__ import annotations

import importlib.machinery
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portcheck import environment
from portcheck.compiler.child import linker
from portcheck.inputlists import InputLists
from portcheck.inputnames import InputNames, is_path
from portcheck.inputs import Inputs
from portcheck.installed import SUFFIXES, Expected, Installed, StandIns
from portcheck.keys import canonical, digest
from portcheck.stats import Stat, stat_of
from portcheck.toolchain.imports import Imports, of_this

_SLACK = 2.0  # seconds by which a file system's clock may run ahead of ours


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """What was there of a list's inputs."""

    digest: str
    stats: Mapping[str, Stat | None]  # of the files among them, just before they were read


class Observer:
    """Observes inputs for one manifest folder and one installation of packages."""

    def __init__(
        self, folder: Path, triton: Path | None, lists: InputLists, installed: Installed, imports: Imports | None = None
    ) -> None:
        """`imports`: where the processes that read the inputs find modules; None: where this one does."""
        self.imports = imports or of_this()
        self.folder, self._triton, self._lists = str(folder), f"{triton}{os.sep}", lists
        self._installed, self._digests = installed, installed.digests
        self._names = InputNames(folder, triton, installed.folders, self.imports.library)
        self._found: dict[str, str | None] = {}
        self._listed: dict[str, list[str] | None] = {}
        self._observed: dict[tuple[str, str], Observation | None] = {}
        self._inputs: dict[tuple[Observation, ...], Inputs] = {}
        self._reports: dict[int, tuple[object, Inputs]] = {}
        self._lock = threading.RLock()
        self._kinds: dict[str, Callable[[str], Any]] = {
            "list": lambda path: None if (names := self._list(path)) is None else digest(canonical(names)),
            "stat": _kind_of,
            "link": self._names.link,
            "module": self._module,
        }

    def names(self, read: Iterable[tuple[str, str]]) -> dict[str, str]:
        """Input name → path (or variable, or module) of what a child says it read, without what keys cover anyway."""
        return self._names.of(read)

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
        return self._installed.expected(listed, names, self._names.path)

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
        paths = {name: path for name, path in named.items() if is_path(name)}
        files = {path: stat_of(path) for name, path in paths.items() if name.startswith("file:")}
        fit = all(self._names.leads_to(name, path) for name, path in paths.items())
        if began is not None:
            # Both mtime and ctime: copying a file with its times shows in ctime only.
            written = (stamp / 1e9 for seen in files.values() if seen for stamp in seen[3:])
            ahead = time.time() + _SLACK
            fit = fit and not any(began <= stamp <= ahead for stamp in written)
        listed = self._lists.put(named)
        self._forget(listed)
        return Inputs((listed,), files, fit)

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
        return self._names.path(f"file:{file}")

    def _observe(self, name: str, environ: Mapping[str, str], stats: dict[str, Stat | None]) -> Any:
        try:
            return self._observe_kind(name, environ, stats)
        except (ValueError, ImportError) as error:  # the name in a record is nothing that an import could have read
            return f"{type(error).__name__}"

    def _observe_kind(self, name: str, environ: Mapping[str, str], stats: dict[str, Stat | None]) -> Any:
        kind, _, what = name.partition(":")
        if kind == "file":
            path = self._names.path(name)
            found, stats[path] = self._digests.look(path)
            return found
        if kind in self._kinds:
            return self._kinds[kind](self._names.path(name))
        if kind == "env":
            return environment.observed(what, environ) if what else environment.whole(environ)
        if kind == "find":
            return self._find(what)
        if kind == "tool":
            program = linker.find(self._triton, environ)
            return program and self._digests.of(program)
        return f"unknown kind {kind}"  # a record of a newer portcheck: never equal to what it observed

    def _find(self, name: str) -> str | None:
        """The folder that a top-level module is found in, named portably; no module is imported."""
        if name not in self._found:
            spec = self._spec(name)
            place = spec and (spec.origin or next(iter(spec.submodule_search_locations or ()), None))
            self._found[name] = self._names.of_module(place) if place else self._installed.place(name)
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


def _kind_of(path: str) -> str | None:
    if os.path.isdir(path):  # noqa: PTH112
        return "folder"
    found = stat_of(path)
    return f"file of {found[2]} bytes" if found else None
