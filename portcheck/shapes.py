"""Shapes of plain data: whether a record that reads well is one of ours. What is not is a miss, never an error.

| written | fits |
|---|---|
| a type, `None` | what is exactly of that type; `object`: anything |
| `(one, other)` | what fits one of them |
| `[inner]` | lists of what fits |
| `Fixed(one, other)` | lists of just so many, each fitting its own |
| `{str: inner}` | mappings from strings to what fits |
| `{"name": inner, "other?": inner}` | mappings with `name`, and maybe `other`, fitting; further names do no harm |
| a shape | what it fits |

Every cell of a warm run passes here, so a shape is made once into functions, and simple ones ask whole lists at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Shape = Callable[[Any], bool]

NUMBER = (int, float)


class Fixed(tuple[Any, ...]):
    """A list with a fixed number of items."""

    def __new__(cls, *inner: Any) -> Fixed:
        return super().__new__(cls, inner)


def shape(written: Any) -> Shape:
    """The test for a shape as it is written above."""
    kinds = _kinds(written)
    if kinds is not None:
        return lambda value: type(value) in kinds
    if isinstance(written, Fixed):
        return _fixed([shape(inner) for inner in written])
    if isinstance(written, tuple):
        options = [shape(inner) for inner in written]
        return lambda value: any(option(value) for option in options)
    if isinstance(written, list):
        return _list(written[0])
    if isinstance(written, dict):
        return _mapping(written[str]) if str in written else _record(written)
    if written is object:
        return lambda value: True
    made: Shape = written
    return made


def _kinds(written: Any) -> frozenset[type] | None:
    """The types that fit, if that is all there is to it."""
    if written is None:
        return frozenset({type(None)})
    if isinstance(written, type) and written is not object:
        return frozenset({written})
    if isinstance(written, tuple) and not isinstance(written, Fixed):
        inner = [_kinds(one) for one in written]
        return None if None in inner else frozenset().union(*filter(None, inner))
    return None


def _fixed(inner: list[Shape]) -> Shape:
    return lambda value: (
        type(value) is list
        and len(value) == len(inner)
        and all(fits(item) for fits, item in zip(inner, value, strict=True))
    )


def _list(written: Any) -> Shape:
    kinds = _kinds(written)
    if kinds is not None:
        return lambda value: type(value) is list and set(map(type, value)) <= kinds
    inner = shape(written)
    return lambda value: type(value) is list and all(map(inner, value))


def _mapping(written: Any) -> Shape:
    kinds, names = _kinds(written), frozenset({str})
    if kinds is not None:
        return lambda value: (
            type(value) is dict and set(map(type, value)) <= names and set(map(type, value.values())) <= kinds
        )
    inner = shape(written)
    return lambda value: type(value) is dict and set(map(type, value)) <= names and all(map(inner, value.values()))


def _record(written: dict[str, Any]) -> Shape:
    needed = [(name, shape(inner)) for name, inner in written.items() if not name.endswith("?")]
    optional = [(name[:-1], shape(inner)) for name, inner in written.items() if name.endswith("?")]

    def fits(value: Any) -> bool:
        if type(value) is not dict:
            return False
        for name, inner in needed:
            if name not in value or not inner(value[name]):
                return False
        return all(inner(value[name]) for name, inner in optional if name in value) if optional else True

    return fits
