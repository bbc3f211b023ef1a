"""Compiled files of the user's modules are used only where they are newer than every change of the source.

Python compares size and whole seconds, so an edit of the same length within a second, or in a file whose times somebody
sets, runs the old code; and its verdict would be filed under the new source.
"""

from __future__ import annotations

import importlib.machinery
import os
import sys

from .names import SITE


def distrust_old() -> None:
    """From now on, import what is not installed from its source if the compiled file could be of an older one."""
    loader = importlib.machinery.SourceFileLoader
    read = loader.get_data

    def get_data(this: importlib.machinery.SourceFileLoader, path: str) -> bytes:
        if path.endswith(".pyc") and not _is_installed(this.path):
            changed = max(os.stat(this.path).st_ctime_ns, os.lstat(this.path).st_ctime_ns)  # a link may lead elsewhere
            if os.stat(path).st_mtime_ns <= changed:
                raise OSError("%s may be older than %s" % (path, this.path))  # importlib compiles the source then
        return read(this, path)

    loader.get_data = get_data  # type: ignore[method-assign, assignment]


def _is_installed(path: str) -> bool:
    return path.startswith((sys.prefix, sys.base_prefix)) or any(mark in path for mark in SITE)
