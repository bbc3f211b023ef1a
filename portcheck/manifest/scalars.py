"""Parsers of the plain values of a manifest, and the wording for a value of the wrong type."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any, TypeVar

from portcheck.errors import UsageError
from portcheck.manifest.mistakes import Parser, collect
from portcheck.patterns import suggestion
from portcheck.sizes import parse_size

T = TypeVar("T")
H = TypeVar("H", bound=Hashable)

# TOML's kinds, bool before int because Python's bool is an int.
KINDS = ((bool, "a boolean"), (int, "an integer"), (float, "a number"), (str, "a string"), (dict, "a table"))


def wrong_type(expected: str, value: Any) -> UsageError:
    """The error for a value of another type than `expected`."""
    return UsageError(f"expected {expected}, got {_describe(value)}")


def text(value: Any) -> str:
    """A string."""
    if not isinstance(value, str):
        raise wrong_type("a string", value)
    return value


def label(value: Any) -> str:
    """A string that is not empty."""
    if not text(value).strip():
        raise UsageError("must not be empty")
    return str(value)


def boolean(value: Any) -> bool:
    """`true` or `false`."""
    if not isinstance(value, bool):
        raise wrong_type("true or false", value)
    return value


def seconds(value: Any) -> float:
    """A number of seconds above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise wrong_type("a number of seconds above 0", value)
    return float(value)


def size(value: Any) -> int:
    """A size such as `8GiB`, in bytes."""
    if not isinstance(value, str):
        raise wrong_type('a size such as "8GiB"', value)
    if (parsed := parse_size(value)) <= 0:
        raise UsageError(f'expected a size above 0, got "{value}"')
    return parsed


def choice(*allowed: str) -> Parser[str]:
    """One of the strings `allowed`."""

    def parse(value: Any) -> str:
        if value not in allowed:
            near = suggestion(value, allowed) if isinstance(value, str) else ""
            raise UsageError(f"expected {' or '.join(allowed)}, got {_describe(value)}{near}")
        return str(value)

    return parse


def array(item: Parser[T], what: str) -> Parser[tuple[T, ...]]:
    """An array of items; `what` names them for messages."""

    def parse(value: Any) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise wrong_type(f"an array of {what}", value)
        return tuple(collect(((f"[{index}]", each) for index, each in enumerate(value)), item))

    return parse


def distinct(items: Parser[tuple[H, ...]]) -> Parser[tuple[H, ...]]:
    """An array in which no item is there twice."""

    def parse(value: Any) -> tuple[H, ...]:
        parsed = items(value)
        twice = [str(item) for index, item in enumerate(parsed) if item in parsed[:index]]
        if twice:
            raise UsageError(f"{', '.join(dict.fromkeys(twice))} is given twice: once is enough")
        return parsed

    return parse


def table(value: Any) -> Mapping[str, Any]:
    """A table, its values unparsed."""
    if not isinstance(value, dict):
        raise wrong_type("a table", value)
    return value


def mapping(item: Parser[T]) -> Parser[dict[str, T]]:
    """A table whose values are all of one kind."""

    def parse(value: Any) -> dict[str, T]:
        entries = table(value)
        return dict(zip(entries, collect(((f".{key}", each) for key, each in entries.items()), item), strict=True))

    return parse


def _describe(value: Any) -> str:
    kind = next((name for type_, name in KINDS if isinstance(value, type_)), None)
    if kind is None:
        return "an array" if isinstance(value, list) else f"a date or time ({value})"
    if isinstance(value, dict):
        return kind
    shown = f'"{value}"' if isinstance(value, str) else str(value).lower()
    return f"{kind} ({shown})"
