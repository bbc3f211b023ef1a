"""Compiled files of the user's modules are used only where they are newer than every change of the source.

Python compares size and whole seconds, so an edit of the same length within a second, or in a file whose times somebody
sets, runs the old code; and its verdict would be filed under the new source.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import marshal
import os
import struct
import sys
from collections.abc import Iterable

from .names import SITE

_HEADER = (
    16  # bytes of a compiled file before its code; https://docs.python.org/3/reference/import.html#pyc-invalidation
)


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


def remove_stale(sources: Iterable[str]) -> bool:
    """Remove the compiled files that Python would run though their sources say something else; tell if there was any.

    For what Python imports before `distrust_old` can be called (sitecustomize, what a .pth file names).
    Raises OSError if one cannot be removed.
    """
    stale = [compiled for path in sources if (compiled := _compiled_of(path)) and _is_stale(path, compiled)]
    for compiled in stale:
        os.remove(compiled)
    return bool(stale)


def _compiled_of(path: str) -> str | None:
    try:
        compiled = importlib.util.cache_from_source(path)
        return compiled if os.stat(compiled).st_mtime_ns <= os.stat(path).st_ctime_ns else None
    except (OSError, NotImplementedError):
        return None


def _is_stale(path: str, compiled: str) -> bool:
    try:
        with open(path, "rb") as source, open(compiled, "rb") as code:
            text, header, there = source.read(), code.read(_HEADER), code.read()
        flags, changed, size = struct.unpack("<4xLLL", header)
        used = flags or (changed, size) == (int(os.stat(path).st_mtime) & 0xFFFFFFFF, len(text))
        return bool(used and marshal.loads(there) != compile(text, path, "exec", dont_inherit=True))
    except (OSError, ValueError, EOFError, TypeError, SyntaxError, struct.error):
        return False


def _is_installed(path: str) -> bool:
    return path.startswith((sys.prefix, sys.base_prefix)) or any(mark in path for mark in SITE)
