"""Installed distributions among the inputs of an import: each counts as a whole, by what its RECORD says of its files.

A library is thousands of files, and a lock file has to be able to stand in for it where it is not installed. So what is
asked of a distribution's files counts as `dist:NAME` as long as the answers are those that its RECORD implies; contents
are compared, too. Where anything differs (a patched file, one that was added), the answer counts for itself.

Format of RECORD: https://packaging.python.org/en/latest/specifications/recording-installed-packages/
"""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.machinery
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from portcheck.cache import Store
from portcheck.digests import Digests
from portcheck.keys import canonical, digest
from portcheck.shapes import Fixed, shape

SUFFIXES = tuple(importlib.machinery.all_suffixes())
# What an installer writes about itself; it says nothing of what was installed.
_INSTALLERS = frozenset({"INSTALLER", "REQUESTED", "RECORD", "direct_url.json", "uv_cache.json"})
_KNOWN = shape({"answers": {str: Fixed(str, object)}, "distributions": {str: Fixed(str, str)}})
_ABSENT: dict[str, Any] = {"file": None, "stat": None, "list": None, "module": []}
_RULES = 2  # of what is expected. Raise it when the same RECORDs would give other answers: these are remembered


@dataclass(frozen=True, slots=True)
class Distribution:
    """One installed distribution."""

    name: str  # as its metadata folder has it
    version: str
    identity: str  # digest of names and hashes of its files

    @property
    def described(self) -> list[str]:
        """All but its name, as plain data."""
        return [self.version, self.identity]


@dataclass(frozen=True, slots=True)
class Expected:
    """What is expected of the names in one list: input name → its distribution, and the answer as installed."""

    distributions: Mapping[str, Distribution]
    answers: Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class _Folder:
    """A folder of installed packages, as the RECORD files in it describe it."""

    path: str
    distributions: dict[str, Distribution] = field(default_factory=dict)
    hashes: dict[str, tuple[str, str, int]] = field(default_factory=dict)  # file → distribution, sha256, bytes

    @cached_property
    def entries(self) -> dict[str, dict[str, set[str]]]:
        """Folder → what is in it (a folder's name ends in a slash) → whose that is."""
        found: defaultdict[str, dict[str, set[str]]] = defaultdict(dict)
        for file, (owner, _, _) in self.hashes.items():
            folder, _, leaf = file.rpartition("/")
            found[folder].setdefault(leaf, set()).add(owner)
            while folder:
                folder, _, leaf = folder.rpartition("/")
                owners = found[folder].setdefault(f"{leaf}/", set())
                if owner in owners:
                    break
                owners.add(owner)
        return dict(found)

    def owner(self, relative: str) -> str | None:
        """The one distribution that a path belongs to, or would; None if there are several or none."""
        place = relative
        while place:
            folder, _, leaf = place.rpartition("/")
            there = self.entries.get(folder, {})
            owners = there.get(leaf, set()) | there.get(f"{leaf}/", set())
            if owners:
                return next(iter(owners)) if len(owners) == 1 else None
            place = folder
        return None

    def answer(self, kind: str, relative: str, digests: Digests) -> Any:
        """What observing an input would give if all were as it was installed; `...` where that cannot be said."""
        if kind == "file":
            return self._content(relative, digests)
        inside = self.entries.get(relative)
        if kind == "stat":
            if inside is not None:
                return "folder"
            return f"file of {self.hashes[relative][2]} bytes" if relative in self.hashes else None
        if kind == "list":
            return None if inside is None else digest(canonical(sorted(inside)))
        folder, _, leaf = relative.rpartition("/")
        beside = self.entries.get(folder, {})
        found = [leaf + suffix for suffix in SUFFIXES if leaf + suffix in beside]
        if f"{leaf}/" in beside:
            found += [f"{leaf}/", *(name for name in sorted(inside or {}) if name.partition(".")[0] == "__init__")]
        return found

    def _content(self, relative: str, digests: Digests) -> Any:
        path = f"{self.path}/{relative}"
        if relative not in self.hashes:
            return None
        found = digests.of(path)
        try:
            data = Path(path).read_bytes()
        except OSError:
            return ...
        return found if found == digest(data) and _sha256(data) == self.hashes[relative][1] else ...


@dataclass(frozen=True, slots=True)
class StandIn:
    """A distribution that is known of without being installed."""

    distribution: Distribution
    paths: tuple[str, ...]  # everything at and under these is its own
    imported: bool  # or were only its entry points and the like read?


@dataclass(frozen=True, slots=True)
class StandIns:
    """What counts as if it were installed, where nothing of that name is."""

    distributions: tuple[StandIn, ...] = ()
    modules: Mapping[str, str] = field(default_factory=dict)  # top-level module → where it would be found, `dist/…`

    def __or__(self, other: StandIns) -> StandIns:
        """Both; of one name, the other's."""
        found = {one.distribution.name: one for one in (*self.distributions, *other.distributions)}
        return StandIns(tuple(found[name] for name in sorted(found)), {**self.modules, **other.modules})


class Installed:
    """What is installed in some folders of packages, the first of which wins; and what stands in for what is not."""

    def __init__(self, folders: Iterable[str], digests: Digests, store: Store, known: StandIns = StandIns()) -> None:
        self.folders, self.digests, self._store, self._known = tuple(folders), digests, store, known
        self._lock = threading.RLock()

    def expected(self, listed: str, names: Iterable[str], path: Callable[[str], str]) -> Expected:
        """What is expected of the names in the list `listed`; `path` leads from one to a file or folder.

        Remembered for as long as the same distributions are installed.
        """
        if not any(":dist/" in name for name in names):
            return Expected({}, {})
        known_by = {"rules": _RULES, "installed": self._records, "stand_ins": self._told, "list": listed}
        preimage = canonical(known_by)
        known = self._store.get("local", digest(preimage), preimage)
        if known is None or not _is_ours(known):
            known = self._expected({name: path(name) for name in names if ":dist/" in name})
            self._store.put("local", digest(preimage), preimage, known)
        distributions = {name: Distribution(name, *rest) for name, rest in known["distributions"].items()}
        return Expected(distributions, known["answers"])

    def distribution(self, name: str) -> Distribution | None:
        """The distribution of that name, or None."""
        folder = self._folder_of(name)
        return folder.distributions[name] if folder else None

    def place(self, module: str) -> str | None:
        """Where a top-level module would be found that is not installed; None if nobody knows."""
        return self._known.modules.get(module)

    def stand_ins(self, names: Mapping[str, bool], modules: Mapping[str, str]) -> StandIns:
        """What can stand in for these distributions (name → is it imported?) and modules on another machine."""
        found = {one.distribution.name: one for one in self._known.distributions}
        for name, imported in names.items():
            if folder := self._folder_of(name):
                paths = sorted({path.strip("/") for path in _alone(folder.entries, "", name)})
                found[name] = StandIn(folder.distributions[name], tuple(paths), imported)
        return StandIns(tuple(found[name] for name in sorted(names)), dict(sorted(modules.items())))

    def _folder_of(self, name: str) -> _Folder | None:
        return next((folder for folder in self._folders if name in folder.distributions), None)

    def _expected(self, places: Mapping[str, str]) -> dict[str, Any]:
        answers: dict[str, list[Any]] = {}
        distributions: dict[str, list[str]] = {}
        for name, path in places.items():
            kind = name.partition(":")[0]
            folder = next((folder for folder in self._folders if path.startswith(f"{folder.path}/")), None)
            if folder is None or kind not in _ABSENT or "__pycache__" in path:
                continue
            relative = path[len(folder.path) + 1 :]
            if owner := folder.owner(relative):
                found, answer = folder.distributions[owner], folder.answer(kind, relative, self.digests)
            elif stand_in := self._stand_in(relative):
                found, answer = stand_in, _ABSENT[kind]
            else:
                continue
            # A second folder may hold another version: one name cannot stand for both, so what is there counts itself.
            is_other = distributions.get(found.name, found.described) != found.described
            if answer is not ... and not is_other:
                answers[name] = [found.name, answer]
                distributions[found.name] = found.described
        return {"answers": answers, "distributions": distributions}

    def _stand_in(self, relative: str) -> Distribution | None:
        for one in self._known.distributions:
            if any(f"{relative}/".startswith(f"{path}/") for path in one.paths):
                return None if self.distribution(one.distribution.name) else one.distribution
        return None

    @cached_property
    def _told(self) -> list[list[Any]]:
        return [[one.distribution.name, one.distribution.identity, *one.paths] for one in self._known.distributions]

    @cached_property
    def _records(self) -> list[dict[str, str | None]]:
        """Folder by folder: RECORD file → the digest of its content."""
        return [
            {str(file.relative_to(path)): self.digests.of(str(file)) for file in _record_files(path)}
            for path in self.folders
        ]

    @cached_property
    def _folders(self) -> tuple[_Folder, ...]:
        with self._lock:
            return tuple(_read_folder(path) for path in self.folders)


def _is_ours(known: Any) -> bool:
    return _KNOWN(known) and {owner for owner, _ in known["answers"].values()} <= known["distributions"].keys()


def _record_files(folder: str) -> list[Path]:
    return sorted(Path(folder).glob("*.dist-info/RECORD"))


def _read_folder(path: str) -> _Folder:
    folder = _Folder(path)
    all_rows: defaultdict[str, list[list[Any]]] = defaultdict(list)  # an upgrade that failed leaves two versions behind
    for file in _record_files(path):
        name, _, version = file.parent.name.removesuffix(".dist-info").rpartition("-")
        try:
            rows = _rows(file)
        except (OSError, ValueError, csv.Error):
            continue  # whatever is asked of it counts for itself
        folder.hashes.update({file: (name, found, size) for file, found, size in rows})
        all_rows[name] += map(list, rows)
        folder.distributions[name] = Distribution(name, version, digest(canonical(sorted(all_rows[name]))))
    return folder


def _rows(record: Path) -> list[tuple[str, str, int]]:
    """File, hash and size of every file in the folder that a RECORD gives a sha256 of."""
    with record.open(encoding="utf-8", newline="") as lines:
        return [
            (file, found.removeprefix("sha256="), int(size))
            for file, found, size in csv.reader(lines)
            if found.startswith("sha256=")
            and not file.startswith(("..", "/"))
            and not (file.partition("/")[0].endswith(".dist-info") and file.rpartition("/")[2] in _INSTALLERS)
        ]


def _sha256(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _alone(entries: Mapping[str, Mapping[str, set[str]]], folder: str, name: str) -> Iterable[str]:
    for leaf, owners in entries.get(folder, {}).items():
        path = f"{folder}/{leaf}" if folder else leaf
        if owners == {name}:
            yield path
        elif name in owners and leaf.endswith("/"):
            yield from _alone(entries, path.strip("/"), name)
