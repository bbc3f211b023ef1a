"""References to functions: `module:function` and `path/to/file.py:function`."""

from __future__ import annotations

import os
from pathlib import Path, PurePath
from typing import Any

from portcheck.errors import UsageError
from portcheck.manifest.model import KernelRef
from portcheck.manifest.scalars import text

FORMS = "module:function or path/to/file.py:function"


def parse_reference(folder: Path, value: Any) -> KernelRef:
    """Read where a function is. A file is named relative to `folder`, however it was written.

    Raises:
        UsageError: the text has neither form, or the file is missing.
    """
    written = text(value)
    place, _, function = written.rpartition(":")
    if not _dotted(function):
        raise UsageError(f'malformed reference "{written}": write {FORMS}')
    if place.endswith(".py"):
        return KernelRef(None, _relative(folder, place), function)
    if not _dotted(place):
        raise UsageError(f'malformed reference "{written}": write {FORMS}')
    return KernelRef(place, None, function)


def parse_function(value: Any) -> str:
    """Read `module:function`.

    Raises:
        UsageError: the text has another form.
    """
    module, _, function = text(value).partition(":")
    if not _dotted(module) or not _dotted(function):
        raise UsageError(f'malformed reference "{value}": write module:function')
    return str(value)


def _dotted(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def _relative(folder: Path, place: str) -> str:
    path = folder / place
    if not path.is_file():
        raise UsageError(f'missing file "{place}": a path is relative to the folder of the manifest')
    return PurePath(os.path.relpath(path, folder)).as_posix()
