"""Was Triton itself changed by user code? `tl.exp = tl.exp2` changes every kernel without changing any source.

A snapshot of Triton's modules and classes is taken before user code runs, and of a module that is imported later as
soon as it is. Values are compared by identity; of functions, containers and Triton's own objects also what is in them.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any

# Modules whose globals Triton changes itself while it works.
_WORKING = ("triton.knobs", "triton.runtime.driver", "triton.runtime._allocation", "triton.profiler")
# Values and attributes that it changes itself while it works.
_WORKING_VALUES = frozenset({"_triton_jit_function_registry", "__builtins__", "__spec__", "__loader__", "__path__"})
_WORKING_ATTRIBUTES = frozenset(
    {"hash", "used_global_vals", "_hash_lock", "device_caches", "kernel", "cache", "__globals__", "raw_src"}
)
# What Python itself adds to classes while it works (copyreg, abc).
_KEPT_BY_PYTHON = frozenset({"__slotnames__", "__abstractmethods__", "_abc_impl", "__doc__", "__annotations__"})
_PLAIN = (bool, int, float, str, bytes, type(None))
_DEEP = 3  # a builtin's wrapper, the function in its closure, what that is made of

_State = dict[str, Any]  # name of a global or attribute → what it was


class Pristine(importlib.abc.MetaPathFinder):
    """What Triton's functions, classes and constants were."""

    def __init__(self) -> None:
        self._keep: list[Any] = []  # ids are only good while the objects live
        self._memo: dict[tuple[int, int], Any] = {}  # of one pass: the same objects are in many modules
        self._modules: dict[str, _State] = {}
        self._classes: dict[type, _State] = {}
        for name, module in _modules():
            self.take(name, module)

    def watch(self) -> None:
        """From now on, take a snapshot of every module of Triton's as soon as it has been imported."""
        sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find a module of Triton's as Python would, and look at it once it is there."""
        if not fullname.startswith("triton.") or path is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is importlib.machinery.SourceFileLoader:
            spec.loader = _Taking(spec.loader.name, spec.loader.path, self)
        return spec

    def changes(self) -> list[str]:
        """Names of what is no longer what it was, or was put into a Triton module by somebody else."""
        self._memo.clear()
        found = []
        for name, module in _modules():
            before, now = self._modules.get(name, {}), self._state(vars(module))
            found += ["%s.%s" % (name, key) for key in before if before[key] != now.get(key)]
            found += [
                "%s.%s" % (name, key) for key in now if key not in before and not _imported(name, key, vars(module))
            ]
        for cls, before in self._classes.items():
            now = self._state(vars(cls))
            found += [
                "%s.%s.%s" % (cls.__module__, cls.__qualname__, key)
                for key in {*before, *now}
                if key not in _KEPT_BY_PYTHON and before.get(key) != now.get(key)
            ]
        return sorted(found)

    def take(self, name: str, module: types.ModuleType) -> None:
        """Note what is in a module now."""
        self._memo.clear()
        self._modules[name] = self._state(vars(module))
        for value in vars(module).values():
            if isinstance(value, type) and value.__module__.startswith("triton") and value not in self._classes:
                self._classes[value] = self._state(vars(value))

    def _state(self, values: Any) -> _State:
        return {key: self._of(value, _DEEP) for key, value in values.items() if key not in _WORKING_VALUES}

    def _of(self, value: Any, deep: int) -> Any:
        """What a value is and what is in it, as something to compare."""
        kind = type(value)
        if kind in _PLAIN:
            return (kind, repr(value))
        if not deep:
            self._keep.append(value)
            return id(value)
        known = self._memo.get((id(value), deep))
        if known is None:
            self._keep.append(value)
            inside = tuple([self._of(v, deep - 1) for v in _inside(value, kind)])
            known = self._memo[id(value), deep] = inside if kind is tuple else (id(value), inside)
        return known


class _Taking(importlib.machinery.SourceFileLoader):
    """Loads a module of Triton's and has its snapshot taken."""

    def __init__(self, name: str, path: str, pristine: Pristine) -> None:
        super().__init__(name, path)
        self._pristine = pristine

    def exec_module(self, module: types.ModuleType) -> None:
        super().exec_module(module)
        if not module.__name__.startswith(_WORKING):
            self._pristine.take(module.__name__, module)


def _inside(value: Any, kind: type) -> Iterator[Any]:
    if kind is tuple:
        yield from value
    elif kind is types.FunctionType and (value.__module__ or "").startswith("triton"):
        yield from (value.__code__, value.__defaults__, value.__kwdefaults__, *vars(value), *vars(value).values())
        for cell in value.__closure__ or ():
            try:
                yield cell.cell_contents
            except ValueError:  # the cell is still empty
                yield None
    elif kind in (list, set, frozenset):
        yield from value
    elif kind is dict and value is not sys.modules:
        for item in value.items():
            yield from item
    elif isinstance(value, (property, staticmethod, classmethod)):
        yield from (getattr(value, name, None) for name in ("fget", "__func__"))
    elif kind.__module__.startswith("triton.") and not issubclass(kind, (type, types.ModuleType)):
        for name, held in list(getattr(value, "__dict__", {}).items()):
            if name not in _WORKING_ATTRIBUTES:
                yield from (name, held)


def _modules() -> list[tuple[str, types.ModuleType]]:
    return [
        (name, module)
        for name, module in sorted(sys.modules.items())
        if (name == "triton" or name.startswith("triton.")) and module and not name.startswith(_WORKING)
    ]


def _imported(package: str, name: str, values: dict[str, Any]) -> bool:
    """Is it a module of the package that was imported in the meantime?"""
    return name.startswith("__") or values[name] is sys.modules.get("%s.%s" % (package, name))
