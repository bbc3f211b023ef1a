"""Constants and options: TOML values and tagged tables, made canonical."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from portcheck.errors import UsageError
from portcheck.manifest.argtypes import parse_argument, parse_dtype
from portcheck.manifest.mistakes import Parser, collect
from portcheck.manifest.model import ArgumentTree, Constant, Value
from portcheck.manifest.references import parse_reference
from portcheck.manifest.scalars import text, wrong_type
from portcheck.patterns import suggestion

FLOATS = ("inf", "+inf", "-inf", "nan")


def parse_value(folder: Path, value: Any) -> Value:
    """A constant or an option in the canonical form of `Value`. Files it names are relative to `folder`.

    Raises:
        UsageError: TOML can say it, but no constant is like that.
    """
    if isinstance(value, dict):
        return _tagged(folder, value)
    if isinstance(value, list):
        return _tuple(folder, value)
    if not isinstance(value, bool | int | float | str):
        raise wrong_type("a constant", value)
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        raise UsageError(f"{value} does not fit in 64 bits")
    return value


def parse_argument_tree(folder: Path, value: Any) -> ArgumentTree | None:
    """An argument of a signature: a type string, or an array for a tuple; None where it says `constexpr`.

    Raises:
        UsageError: neither, or a bad type string.
    """
    if isinstance(value, list):
        parts = ((f"[{index}]", each) for index, each in enumerate(value))
        return tuple(collect(parts, lambda each: _element(folder, each)))
    if not isinstance(value, str):
        raise wrong_type("a type string, or an array of them for a tuple (a fixed value belongs in constants)", value)
    return parse_argument(value)


def _element(folder: Path, value: Any) -> ArgumentTree:
    if not isinstance(value, str | list):
        return Constant(parse_value(folder, value))
    tree = parse_argument_tree(folder, value)
    if tree is None:
        raise UsageError("constexpr inside a tuple: write the value itself, 64 or { dtype = … }")
    return tree


def _tagged(folder: Path, tagged: Mapping[str, Any]) -> Value:
    tags: Mapping[str, Parser[Value]] = {
        "dtype": lambda payload: {"dtype": parse_dtype(payload)},
        "jit": lambda payload: {"jit": str(parse_reference(folder, payload))},
        "constexpr": lambda payload: {"constexpr": parse_value(folder, payload)},
        "float": _float,
        "tuple": lambda payload: _tuple(folder, payload),
        "none": _none,
    }
    if len(tagged) != 1:
        raise UsageError(
            f"expected a table with exactly one of the tags {', '.join(tags)}, got {', '.join(tagged) or 'none'}"
        )
    ((tag, payload),) = tagged.items()
    if tag not in tags:
        raise UsageError(f'unknown tag "{tag}"{suggestion(tag, tags)}: the tags are {", ".join(tags)}')
    (parsed,) = collect([(f".{tag}", payload)], tags[tag])
    return parsed


def _tuple(folder: Path, payload: Any) -> Value:
    if not isinstance(payload, list):
        raise wrong_type("an array", payload)
    parts = ((f"[{index}]", each) for index, each in enumerate(payload))
    return {"tuple": collect(parts, lambda each: parse_value(folder, each))}


def _float(payload: Any) -> float:
    if text(payload) not in FLOATS:
        raise UsageError(f'expected inf, -inf or nan, got "{payload}": other numbers are written without a tag')
    return float(payload)


def _none(payload: Any) -> Value:
    if payload is not True:
        raise wrong_type("true", payload)
    return {"none": True}
