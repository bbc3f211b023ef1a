"""Finding every mistake of a manifest, not only the first: parsers raise, and what they raise is collected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from portcheck.errors import UsageError
from portcheck.patterns import suggestion

T = TypeVar("T")

# A parser turns one TOML value into a value of ours, or raises UsageError with what was expected and what it got.
Parser = Callable[[Any], T]

# Where below the value that was parsed (`""`, `.q_ptr`, `[1].target`), and what is wrong there.
Mistake = tuple[str, str]


class ManifestError(UsageError):
    """Several things wrong with one value."""

    def __init__(self, found: Sequence[Mistake]) -> None:
        super().__init__("\n".join(f"{path.lstrip('.')}: {what}" if path else what for path, what in found))
        self.found = list(found)


def collect(parts: Iterable[tuple[str, Any]], parse: Parser[T]) -> list[T]:
    """Parse every part of a value, given with its path below that value.

    Raises:
        ManifestError: the mistakes of all parts.
    """
    parsed: list[T] = []
    found: list[Mistake] = []
    for path, value in parts:
        try:
            parsed.append(parse(value))
        except UsageError as error:
            found += _below(path, error)
    if found:
        raise ManifestError(found)
    return parsed


def read_table(table: Mapping[str, Any], schema: Mapping[str, Parser[Any]]) -> tuple[dict[str, Any], list[Mistake]]:
    """The entries of `table` that `schema` can parse, and what is wrong with the others."""
    parsed: dict[str, Any] = {}
    found: list[Mistake] = []
    for key, value in table.items():
        if key not in schema:
            near = suggestion(key, schema) or f": the keys here are {', '.join(schema)}"
            found.append(("", f'unknown key "{key}"{near}'))
            continue
        try:
            parsed[key] = schema[key](value)
        except UsageError as error:
            found += _below(f".{key}", error)
    return parsed, found


def line(where: str, mistake: Mistake) -> str:
    """One mistake as the line that the user reads."""
    path, what = mistake
    return f"{where}: {path.lstrip('.')}: {what}" if path else f"{where}: {what}"


def _below(path: str, error: UsageError) -> list[Mistake]:
    if isinstance(error, ManifestError):
        return [(path + inner, what) for inner, what in error.found]
    return [(path, str(error))]
