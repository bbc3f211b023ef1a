"""The linker that Triton up to 3.4 runs for AMD: a program of the machine's, `ld.lld`."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

NAME = "ld.lld"
VARIABLE = "TRITON_HIP_LLD_PATH"
_REMEDY = "install LLVM's lld (Debian, Ubuntu: apt install lld), or set %s to an ld.lld" % VARIABLE
_SECONDS = 20.0  # that it may take to say its version

_SYSTEM = ("/opt/rocm/llvm/bin/ld.lld", "/usr/bin/ld.lld")

_checked: dict[str, str] = {}  # path → what is wrong with it; forked processes know as well
_find_as_triton: Any = None  # Triton's own function, before it is replaced
_used: list[str] = []  # the one that this process links with


class Missing(Exception):
    """There is no linker, or none that works."""


def find(package: str, environ: Mapping[str, str]) -> str | None:
    """Where a Triton installed in the folder `package` finds it, and after that, the one on PATH."""
    places = (environ.get(VARIABLE), os.path.join(package, "backends/amd/llvm/bin", NAME), *_SYSTEM)
    there = (place for place in places if place and os.path.isfile(place))
    return next(there, None) or shutil.which(NAME, path=environ.get("PATH"))


def provide(backend: Any, version: str) -> None:
    """Have Triton's AMD backend use the linker that there is.

    Raises:
        Missing: with the remedy.
    """
    global _find_as_triton
    _find_as_triton = _find_as_triton or backend.path_to_rocm_lld
    try:
        found = str(_find_as_triton())
    except Exception:  # that is all it says: no linker
        found = shutil.which(NAME) or ""
    if not found:
        raise Missing("%s not found, with which Triton %s links for AMD: %s" % (NAME, version, _REMEDY))
    if trouble := _trouble(found):
        raise Missing("%s does not work (%s: %s): %s" % (NAME, found, trouble, _REMEDY))
    backend.path_to_rocm_lld = staticmethod(lambda: Path(found))
    _used[:] = [found]


def used() -> str | None:
    """The digest of the linker that this process links with, if it has needed one."""
    return "sha256 " + hashlib.sha256(Path(_used[0]).read_bytes()).hexdigest() if _used else None


def _trouble(path: str) -> str:
    if path not in _checked:
        _checked[path] = _try(path)
    return _checked[path]


def _try(path: str) -> str:
    try:
        done = subprocess.run([path, "--version"], check=False, capture_output=True, text=True, timeout=_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    said = (done.stderr or done.stdout).strip().splitlines()
    return "" if done.returncode == 0 else (said[-1] if said else "status %d" % done.returncode)
