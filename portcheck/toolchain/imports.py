"""What the children of a toolchain import from: the tool answers for them where a module is found.

An environment holds little more than Triton. What else user code imports comes from the site-packages of the invoking
interpreter, last of all, so that whatever the environment holds wins.
"""

from __future__ import annotations

import os
import site
import sys
from dataclasses import dataclass
from importlib.machinery import BuiltinImporter, FrozenImporter, PathFinder
from pathlib import Path
from typing import Any

from portcheck.toolchain.model import Toolchain

_ORDINARY: tuple[Any, ...] = (BuiltinImporter, FrozenImporter, PathFinder)


@dataclass(frozen=True, slots=True)
class Imports:
    """Where a child finds modules."""

    path: tuple[str, ...]  # its sys.path, but for the manifest's folder, which is last
    finders: tuple[Any, ...]  # its sys.meta_path
    inherited: tuple[str, ...] = ()  # the folders of site-packages of the invoking interpreter that it is given
    library: tuple[str, ...] = ()  # where its standard library is, if that is not this interpreter's

    @property
    def site(self) -> list[str]:
        """The folders of installed packages, the first first."""
        return [entry for entry in self.path if Path(entry).name in ("site-packages", "dist-packages")]


def of_this() -> Imports:
    """Those of the invoking interpreter: its path without this program's folder."""
    ours = ("", str(Path(sys.argv[0]).parent), str(Path.cwd()))
    return Imports(tuple(entry for entry in sys.path if entry not in ours), tuple(sys.meta_path))


def of(toolchain: Toolchain, folder: Path, inherit_site: bool) -> Imports:
    """Those of a toolchain's children, for a manifest in `folder`.

    `inherit_site`: may they fall back on what is installed for the invoking interpreter?
    """
    if toolchain.path is None:
        return of_this()
    named = os.environ.get("PYTHONPATH", "")
    first = [os.path.join(folder, entry) for entry in named.split(os.pathsep) if entry]  # noqa: PTH118
    own = list(toolchain.path)
    sites = [index for index, entry in enumerate(own) if Path(entry).name in ("site-packages", "dist-packages")]
    library = tuple(own[: sites[0]] if sites else own)
    if not inherit_site:
        return Imports((*first, *own), _ORDINARY, library=library)
    inherited = _site_folders()
    # .pth files and editable installs added what comes after these.
    after = sys.path[min((sys.path.index(entry) for entry in inherited), default=len(sys.path)) :]
    path = dict.fromkeys([*first, *own, *after])
    finders = (*_ORDINARY, *(finder for finder in sys.meta_path if finder not in _ORDINARY))
    return Imports(tuple(path), finders, inherited, library)


def _site_folders() -> tuple[str, ...]:
    known = [*site.getsitepackages(), site.getusersitepackages()]
    return tuple(entry for entry in dict.fromkeys(sys.path) if entry in known)
