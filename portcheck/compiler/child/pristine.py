"""Was Triton itself changed by user code? `tl.exp = tl.exp2` changes every kernel without changing any source.

A snapshot of Triton's modules and classes, taken before user code ran, is compared by identity.
"""

from __future__ import annotations

import sys
import types
from typing import Any

# Modules whose globals Triton changes itself while it works.
_WORKING = ("triton.knobs", "triton.runtime.driver", "triton.runtime._allocation", "triton.profiler", "triton._C")
# What Python itself adds to classes while it works (copyreg, abc).
_KEPT_BY_PYTHON = frozenset({"__slotnames__", "__abstractmethods__", "_abc_impl", "__doc__"})
_STANDARD_LIBRARY = types.__file__.rpartition("types.py")[0]


class Pristine:
    """What Triton's functions, classes and constants were."""

    def __init__(self) -> None:
        self._seen = {name: dict(vars(module)) for name, module in _modules()}
        self._classes = {
            value: dict(vars(value))
            for module in self._seen.values()
            for value in module.values()
            if isinstance(value, type) and value.__module__.startswith("triton")
        }

    def changes(self) -> list[str]:
        """Names of what is no longer what it was, or was put into a Triton module by somebody else."""
        found = []
        for name, module in _modules():
            before = self._seen.get(name, {})
            for key, value in vars(module).items():
                if key in before:
                    if not _same(before[key], value):
                        found.append("%s.%s" % (name, key))
                elif _foreign(value):
                    found.append("%s.%s" % (name, key))
            found += ["%s.%s" % (name, key) for key in before if key not in vars(module)]
        for cls, before in self._classes.items():
            after = vars(cls)
            found += [
                "%s.%s.%s" % (cls.__module__, cls.__qualname__, key)
                for key in {*before, *after}
                if key not in _KEPT_BY_PYTHON and not _same(before.get(key), after.get(key))
            ]
        return sorted(found)


def _modules() -> list[tuple[str, types.ModuleType]]:
    return [
        (name, module)
        for name, module in sorted(sys.modules.items())
        if (name == "triton" or name.startswith("triton.")) and module and not name.startswith(_WORKING)
    ]


def _same(before: Any, after: Any) -> bool:
    if before is after:
        return True
    # Constants may be equal without being the same; whatever else was replaced counts.
    return type(before) is type(after) and isinstance(before, (bool, int, float, str, tuple)) and before == after


def _foreign(value: Any) -> bool:
    """A function or class that is no part of Triton."""
    if not isinstance(value, (types.FunctionType, type)):
        return False
    home = (value.__module__ or "").partition(".")[0]
    return home != "triton" and not _of_standard_library(home)


def _of_standard_library(module: str) -> bool:
    path = getattr(sys.modules.get(module), "__file__", None)
    return not path or (path.startswith(_STANDARD_LIBRARY) and "-packages" not in path)
