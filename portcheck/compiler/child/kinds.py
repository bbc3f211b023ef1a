"""Whose a module, function or class is, and whether a class brings code or data of its own."""

from __future__ import annotations

import enum
import sys
import textwrap
import types
import typing
from typing import Any

# Modules whose functions give the same for the same arguments; a kernel that mentions any other library is open.
PURE = frozenset({"math", "cmath", "operator", "functools", "itertools", "builtins", "typing", "numbers", "__future__"})
STANDARD_LIBRARY = textwrap.__file__.rpartition("textwrap.py")[0]

_PLAIN_TUPLE = frozenset(vars(typing.NamedTuple("_PLAIN_TUPLE", []))) | {"__orig_bases__", "__annotations__"}


def of_triton(module: str) -> bool:
    return module == "triton" or module.startswith("triton.")


def of_library(module: types.ModuleType | None) -> bool:
    """Is it of the standard library, or written in C? Its state is not in any of our keys."""
    path = getattr(module, "__file__", None)
    if not path:
        return True
    return bool(path.endswith((".so", ".pyd"))) or is_standard(path)


def found_at(module: str, qualname: str) -> Any:
    """What a module has under a name now, or None."""
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found


def is_plain_tuple(kind: type) -> bool:
    """Is it a named tuple, and nothing else?"""
    fields = getattr(kind, "_fields", None)
    if kind.__mro__ != (kind, tuple, object) or fields is None:
        return False
    return set(vars(kind)) <= {*_PLAIN_TUPLE, *fields} and not any(map(_is_code_of_users, vars(kind).values()))


def is_plain_enum(kind: type) -> bool:
    """Is it an enumeration whose classes hold members, and nothing else?"""
    if type(kind) is not enum.EnumMeta:
        return False
    own = [c for c in kind.__mro__ if issubclass(c, enum.Enum) and c.__module__ != "enum"]
    others = [c for c in kind.__mro__ if c not in own and c.__module__ not in ("enum", "builtins")]
    members = getattr(kind, "__members__", {})
    return not others and all(
        name in members or (name.startswith("_") and not _is_code_of_users(value))
        for c in own
        for name, value in vars(c).items()
    )


def _is_code_of_users(value: Any) -> bool:
    """A descriptor whose code is in a file of somebody's."""
    inner = getattr(value, "__func__", None) or getattr(value, "fget", None) or value
    code = getattr(inner, "__code__", None)
    if code is None:
        return hasattr(type(value), "__get__") and not _of_python(type(value))
    return not (code.co_filename.startswith("<") or is_standard(code.co_filename))


def _of_python(kind: type) -> bool:
    return kind.__module__ == "builtins" or kind.__module__ in ("enum", "types", "functools", "collections")


def is_standard(path: str) -> bool:
    return path.startswith(STANDARD_LIBRARY) and "-packages" not in path
