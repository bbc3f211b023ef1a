"""Finding the Triton of the invoking interpreter, without importing it."""

from __future__ import annotations

import importlib.util
import platform
import re
import sys
from functools import cache
from pathlib import Path

from portcheck.cache import Store
from portcheck.errors import EnvironmentProblem
from portcheck.lock import NOTHING, Locked
from portcheck.manifest.model import CURRENT
from portcheck.toolchain.digest import package_digest
from portcheck.toolchain.model import Toolchain

_VERSION = re.compile(r"""^__version__\s*=\s*["']([^"']+)["']""", re.MULTILINE)


@cache
def current() -> tuple[str, Path] | None:
    """The release and the package folder of the Triton that this interpreter would import, or None."""
    try:
        spec = importlib.util.find_spec("triton")  # a top-level package is found without being imported
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.origin:
        return None
    version = _VERSION.search(Path(spec.origin).read_text(encoding="utf-8", errors="replace"))
    return (version[1], Path(spec.origin).parent) if version else None


def release_of(name: str, locked: Locked = NOTHING) -> str:
    """The release that a manifest means by `current` or by a version; what is not installed may be locked.

    Raises:
        EnvironmentProblem: there is no such Triton; the message names the command that installs it.
    """
    found = current()
    if found is None and (locked.current if name == CURRENT else name in locked.toolchains):
        return locked.current or name if name == CURRENT else name
    if name == CURRENT:
        if found is None:
            raise EnvironmentProblem(
                f"Triton is not installed for {sys.executable}; install it with: {sys.executable} -m pip install triton"
            )
        return found[0]
    if found is None or found[0] != name:
        installed = f"it has {found[0]}" if found else "it has none"
        raise EnvironmentProblem(
            f"Triton {name} is not the one of {sys.executable} ({installed}); "
            f"install it with: {sys.executable} -m pip install triton=={name}"
        )
    return name


def find(release: str, store: Store, locked: Locked = NOTHING) -> Toolchain:
    """The toolchain of a release that `release_of` gave. The digest is remembered in `store`.

    What is only locked is known by its digest, and cannot compile.

    Raises:
        EnvironmentProblem: that Triton is not there, or cannot be read.
    """
    release_of(release, locked)
    found, python = current(), platform.python_version()
    if found is None:
        return Toolchain(release, python, locked.toolchains[release], sys.executable, None)
    try:
        digest = package_digest(found[1], python.rpartition(".")[0], store)
    except OSError as error:
        raise EnvironmentProblem(
            f"Triton {release} in {found[1]} cannot be read: {error.strerror or error}; "
            f"reinstall it with: {sys.executable} -m pip install --force-reinstall triton=={release}"
        ) from None
    return Toolchain(release, python, digest, sys.executable, found[1])
