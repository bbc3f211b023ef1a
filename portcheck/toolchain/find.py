"""Finding the Triton of a release: the invoking interpreter's, an environment's, a wheel's or that of somebody's venv.

None of them is imported.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from portcheck.cache import Store
from portcheck.errors import EnvironmentProblem, UsageError
from portcheck.lock import NOTHING, Locked
from portcheck.manifest.model import CURRENT
from portcheck.manifest.releases import is_path, release_matches
from portcheck.toolchain import wheels
from portcheck.toolchain.digest import package_digest
from portcheck.toolchain.environments import Environments, Wanted, home
from portcheck.toolchain.interpreters import ask, locate, this
from portcheck.toolchain.model import Toolchain

_VERSION = re.compile(r"""^__version__\s*=\s*["']([^"']+)["']""", re.MULTILINE)

OLDEST = "3.0.0"  # that portcheck knows how to compile with

# What the releases in this process stand for: the path of a wheel or a venv, or None for a plain version.
_stands_for: dict[str, Path | None] = {}
_lock = threading.Lock()


@cache
def current() -> tuple[str, Path] | None:
    """The release and the package folder of the Triton that this interpreter would import, or None."""
    try:
        spec = importlib.util.find_spec("triton")  # a top-level package is found without being imported
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.origin:
        return None
    version = _version(Path(spec.origin).parent)
    return (version, Path(spec.origin).parent) if version else None


def release_of(name: str, locked: Locked = NOTHING) -> str:
    """The release that `current`, a version or an absolute path means, as cells and reports are labelled.

    `current` may be known from a lock only. That of a path is the version found there; if another release of this
    process is called so, with a suffix. Nothing is created.

    Raises:
        UsageError: there is neither a wheel nor a venv with Triton at a path.
        EnvironmentProblem: a release is too old, or `current` is asked for and not installed; the message has a remedy.
    """
    found = current()
    if name == CURRENT:
        if found is None and locked.current:
            return locked.current
        if found is None:
            raise EnvironmentProblem(
                f"Triton is not installed for {sys.executable}; install it with: {sys.executable} -m pip install triton"
            )
        name = found[0]
    with _lock:
        if is_path(name):
            return _supported(_label(Path(name)))
        if _stands_for.setdefault(name, None):
            raise UsageError(f"{name} is already what {_stands_for[name]} is called: check one of the two at a time")
        return _supported(name)


def name_of(release: str) -> str:
    """A name for which `release_of` gives this release again: the path that it stands for, or the release itself."""
    with _lock:
        return str(_stands_for.get(release) or release)


def find(
    release: str,
    store: Store,
    say: Callable[[str], None] = lambda _: None,
    *,
    locked: Locked = NOTHING,
    create: bool = True,
) -> Toolchain:
    """The toolchain of a release that `release_of` gave.

    Args:
        release: what to find.
        store: remembers digests.
        say: gets a line for whatever takes time, such as creating an environment.
        locked: what is only in there and not installed is known by its digest, and cannot compile.
        create: may an environment be created or repaired?

    Raises:
        EnvironmentProblem: that Triton is not there and cannot be had, or cannot be read.
    """
    if release in locked.toolchains:
        try:
            return _find(release, store, say, create=False)
        except EnvironmentProblem:
            return Toolchain(
                release, platform.python_version(), locked.toolchains[release].digest, sys.executable, None
            )
    return _find(release, store, say, create)


def is_ready(release: str, store: Store, locked: Locked = NOTHING) -> bool:
    """Is a toolchain there, so that `find` creates nothing?"""
    try:
        return find(release, store, locked=locked, create=False) is not None
    except EnvironmentProblem:
        return False


def _find(release: str, store: Store, say: Callable[[str], None], create: bool) -> Toolchain:
    path, here = _stands_for.get(release), current()
    if path and path.is_dir():
        found = _in_venv(path)
    elif path is None and here and here[0] == release:
        remedy = f"reinstall it with: {sys.executable} -m pip install --force-reinstall triton=={release}"
        found = _Installation(here[1], platform.python_version(), sys.executable, None, remedy)
    else:
        found = _in_environment(Wanted(str(path or release)), store, say, create)
    try:
        digest = package_digest(found.package, found.python.rpartition(".")[0], store)
    except OSError as error:
        raise EnvironmentProblem(
            f"Triton {release} in {found.package} cannot be read: {error.strerror or error}; {found.remedy}"
        ) from None
    return Toolchain(release, found.python, digest, found.executable, found.package, found.path)


def _supported(release: str) -> str:
    if release_matches(f"<{OLDEST}", release):
        raise EnvironmentProblem(
            f"Triton {release} is too old: portcheck compiles with {OLDEST} and newer: name one of these with --triton"
        )
    return release


@dataclass(frozen=True, slots=True)
class _Installation:
    package: Path
    python: str
    executable: str
    path: tuple[str, ...] | None
    remedy: str  # where it cannot be read


def _in_venv(folder: Path) -> _Installation:
    python = folder / "bin" / "python"
    if not python.exists():
        raise UsageError(f"{folder} is no virtual environment: it has no bin/python")
    origin = locate(str(python), "triton")
    if origin is None:
        raise UsageError(f"{folder} has no Triton: install it there with: {python} -m pip install triton")
    inside = ask(str(python))
    return _Installation(Path(origin).parent, inside.version, inside.executable, inside.path, f"repair {folder}")


def _in_environment(wanted: Wanted, store: Store, say: Callable[[str], None], create: bool) -> _Installation:
    environment = Environments(home(os.environ), store, say).ready(wanted, this(), create=create)
    receipt = environment.receipt
    assert receipt is not None  # it is ready
    remedy = f"remove it with: portcheck env remove {wanted.given}"
    inside = receipt.python
    return _Installation(environment.folder / receipt.package, inside.version, inside.executable, inside.path, remedy)


def _label(path: Path) -> str:
    """The version found at a path; with a suffix if that is the name of something else already."""
    for known, place in _stands_for.items():
        if place == path:
            return known
    if path.is_dir():
        package = _in_venv(path).package
        version, suffixes = _version(package), list(_distinct(path))
        if (here := current()) and here[1].resolve() == package.resolve():
            return here[0]
    elif path.suffix == ".whl":
        identity = wheels.identity(path)
        version, suffixes = identity.rpartition("-")[0], [identity.rpartition("-")[2]]
    else:
        raise UsageError(f"{path} is neither a wheel nor a virtual environment: name one of these")
    if version is None:
        raise UsageError(f"{path} has a package triton that says no version: repair it")
    label = next(label for label in _labels(version, suffixes) if label not in _stands_for)
    _stands_for[label] = path
    return label


def _labels(version: str, suffixes: Iterable[str]) -> Iterator[str]:
    """`3.9.0`, `3.9.0+patched`: specifiers such as `<3.9` read the latter as the former."""
    yield version
    yield from (f"{version}{'.' if '+' in version else '+'}{suffix}" for suffix in suffixes)


def _distinct(path: Path) -> Iterator[str]:
    """Names for a folder: its own, then with those above it."""
    parts = [part for part in (re.sub(r"[^A-Za-z0-9]+", ".", part).strip(".") for part in path.parts) if part]
    for count in range(1, len(parts) + 1):
        yield ".".join(parts[-count:])


def _version(package: Path) -> str | None:
    """The version that the package says it is, read from its text."""
    try:
        text = (package / "__init__.py").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = _VERSION.search(text)
    return found[1] if found else None
