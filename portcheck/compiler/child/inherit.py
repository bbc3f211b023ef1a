"""Falling back on what is installed for the interpreter of the tool, where an environment holds little else."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import site
import sys
from collections.abc import Iterator, Sequence

_inherited: list[str] = []


def add(folders: Sequence[str]) -> None:
    """Find in these folders of site-packages what is found nowhere else.

    Their .pth files count, since editable installs are made with them; the finders that these bring come last, too.
    """
    path, finders = list(sys.path), list(sys.meta_path)
    for folder in folders:
        site.addsitedir(folder)
    _inherited[:] = [entry for entry in sys.path if entry not in path]
    sys.path[:] = path + _inherited
    sys.meta_path[:] = finders + [finder for finder in sys.meta_path if finder not in finders]


@contextlib.contextmanager
def only(package: str) -> Iterator[None]:
    """Meanwhile the Triton in the folder `package` is the one to be imported, with no inherited backends for it."""
    before = list(sys.path)
    sys.path[:] = [entry for entry in before if entry not in _inherited]
    try:
        if not _leads_to(package):  # PYTHONPATH may hold another one
            sys.path.insert(0, os.path.dirname(package))
        if not _leads_to(package):
            raise ImportError("another Triton is imported before the one in %s" % package)
        yield
    finally:
        sys.path[:] = before


def _leads_to(package: str) -> bool:
    found = importlib.util.find_spec("triton")
    if found is None or found.origin is None:
        return False
    return os.path.realpath(os.path.dirname(found.origin)) == os.path.realpath(package)
