"""Another revision of a project: its files in a temporary folder, and its packages imported from there.

The files are written through an index of our own, so nothing is registered in the repository that a killed run could
leave behind, and the repository may be read-only. The folder is a scratch folder: whatever becomes of this process, the
next run removes it.

Packages that are installed in editable mode lead to the present tree. Those are linked to their place in the other
revision, in a folder that comes first on `sys.path`.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from portcheck.compiler import scratch
from portcheck.errors import EnvironmentProblem, UsageError
from portcheck.toolchain.imports import of_this

# Set by git for its hooks, about the repository as it is just then.
_OF_HOOKS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
# No program of the user's runs because we write an index.
_PLAIN = ("-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false")
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


@dataclass(frozen=True, slots=True)
class Checkout:
    """The files of a revision."""

    revision: str  # as the user wrote it
    commit: str
    origin: Path  # top folder of the repository's present tree
    scratch: Path

    @property
    def root(self) -> Path:
        """Where the files are."""
        return self.scratch / "tree"

    def __str__(self) -> str:
        return f"{self.revision} ({self.commit[:10]})" if self.revision != self.commit else self.commit[:10]

    def counterpart(self, path: Path) -> Path:
        """Where a file of the present tree is in this revision.

        Raises:
            UsageError: it is not there.
        """
        inside = (path.parent.resolve() / path.name).relative_to(self.origin)
        found = self.root / inside
        if not found.is_file():
            raise UsageError(f"there is no {inside.as_posix()} at revision {self}: name a later one")
        return found

    def original(self, path: str) -> str:
        """Where a path in this revision is in the present tree; any other text stays as it is."""
        inside = f"{self.root}{os.sep}"
        return f"{self.origin}{os.sep}{path[len(inside) :]}" if path.startswith(inside) else path

    def outside(self, files: Iterable[str]) -> set[str]:
        """Those of `files` that belong to the present tree: another revision should not have read them."""
        here, there = f"{self.origin}{os.sep}", f"{self.scratch.resolve()}{os.sep}"
        real = {os.path.realpath(path) for path in files}
        return {
            path
            for path in real
            if path.startswith(here) and not path.startswith(there) and not any(mark in path for mark in _INSTALLED)
        }

    @contextlib.contextmanager
    def imported_first(self, inherit_site: bool = True) -> Iterator[None]:
        """While this lasts, processes that are started import the present tree's packages from this revision.

        Without `inherit_site` only what PYTHONPATH leads to: environments would find the others in this revision only.
        """
        links = self.scratch / "first"
        links.mkdir(exist_ok=True)
        for name, place in _own_modules(self.origin, inherit_site).items():
            there = self.root / place.relative_to(self.origin)
            if there.exists():
                (links / f"{name}{place.suffix}").symlink_to(there)
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(links), before]))
        sys.path.insert(0, str(links))
        try:
            yield
        finally:
            sys.path.remove(str(links))
            if before is None:
                del os.environ["PYTHONPATH"]
            else:
                os.environ["PYTHONPATH"] = before

    def remove(self) -> None:
        """Take the files away; safe in a signal handler."""
        shutil.rmtree(self.scratch, ignore_errors=True)


@contextlib.contextmanager
def checkout(folder: Path, revision: str) -> Iterator[Checkout]:
    """The revision of the repository that `folder` is in, for as long as the context lasts.

    Raises:
        UsageError: there is no repository, or no such revision.
        EnvironmentProblem: git is not there, or fails.
    """
    top = _git(folder, "rev-parse", "--show-toplevel", wrong=f"{folder.resolve()} is in no git repository with files")
    wrong = f'no revision "{revision}" in {top}: see git log; a shallow clone has to fetch it first'
    if revision.startswith("-"):
        raise UsageError(wrong)
    commit = _git(folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", wrong=wrong)
    made = Checkout(revision, commit, Path(top).resolve(), scratch.make().resolve())
    try:
        index = {"GIT_INDEX_FILE": str(made.scratch / "index")}
        _git(made.origin, "read-tree", commit, env=index)
        _git(made.origin, "checkout-index", "--all", "--quiet", f"--prefix={made.root}{os.sep}", env=index)
        made.root.mkdir(exist_ok=True)  # of a revision without files
        yield made
    finally:
        made.remove()


def _git(folder: Path, *arguments: str, wrong: str | None = None, env: Mapping[str, str] | None = None) -> str:
    """What git prints. If it fails, `wrong` is what the user did wrong; without it, git or the machine is at fault."""
    environ = {name: value for name, value in os.environ.items() if name not in _OF_HOOKS}
    try:
        done = subprocess.run(
            ["git", *_PLAIN, *arguments],
            cwd=folder,
            env={**environ, "LC_ALL": "C", **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except FileNotFoundError:
        if not folder.is_dir():
            raise UsageError(f"there is no folder {folder}") from None
        raise EnvironmentProblem("git is not installed, and revisions are read with it: install git") from None
    if done.returncode == 0:
        return done.stdout.strip()
    said = next(iter(done.stderr.strip().splitlines()), f"it exited with status {done.returncode}")
    if wrong and ("not a git repository" in said or "must be run in a work tree" in said or not done.stderr.strip()):
        raise UsageError(wrong)
    raise EnvironmentProblem(f"git {arguments[0]} failed in {folder}: {said}")


def _own_modules(origin: Path, inherit_site: bool) -> dict[str, Path]:
    """Top-level module → its file or package folder in the present tree, for all that are imported from there.

    Those are what lies on `sys.path`, and what setuptools' finders for editable installs know.
    """
    found: dict[str, Path] = {}
    for finder in sys.meta_path if inherit_site else ():
        mapping = getattr(sys.modules.get(getattr(finder, "__module__", "")), "MAPPING", None)
        if isinstance(mapping, dict):
            found |= {name: _mapped(Path(place)) for name, place in mapping.items() if "." not in name}
    named = [str(Path(entry).absolute()) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    path = of_this().path if inherit_site else named
    for entry in map(Path, path):
        if entry.resolve().is_relative_to(origin) and entry.is_dir() and not _is_installed(entry):
            for name in _importable(entry):
                if place := _place(importlib.machinery.PathFinder.find_spec(name, path)):
                    found.setdefault(name, place)
    resolved = {name: place.resolve() for name, place in found.items()}
    return {
        name: place for name, place in resolved.items() if place.is_relative_to(origin) and not _is_installed(place)
    }


def _mapped(place: Path) -> Path:
    """The finders leave a module's suffix out."""
    module = place.with_suffix(".py")
    return module if not place.exists() and module.exists() else place


def _importable(folder: Path) -> Iterator[str]:
    for item in folder.iterdir():
        if item.suffix == ".py" and item.stem.isidentifier():
            yield item.stem
        elif item.name.isidentifier() and item.is_dir():
            yield item.name


def _place(spec: importlib.machinery.ModuleSpec | None) -> Path | None:
    """A module's file, or the folder of a package, be it one of several that share a namespace."""
    if spec is None:
        return None
    folder = next(iter(spec.submodule_search_locations or ()), None)
    place = folder or (spec.origin if spec.has_location else None)
    return Path(place) if place else None


def _is_installed(path: Path) -> bool:
    return any(mark in f"{path}{os.sep}" for mark in _INSTALLED)
