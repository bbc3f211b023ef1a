"""One `[[kernel]]` or `[[kernel.variant]]` table on its own, before variants are laid over their kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from portcheck.manifest.mistakes import ManifestError, Parser, line, read_table
from portcheck.manifest.model import Expectation
from portcheck.manifest.references import FORMS, parse_reference
from portcheck.manifest.releases import parse_specifier
from portcheck.manifest.scalars import array, distinct, label, mapping, table, text, wrong_type
from portcheck.manifest.settings import SETTINGS
from portcheck.manifest.values import parse_argument_tree, parse_value
from portcheck.target import BACKENDS, check_pattern

BACKEND_OPTIONS = {f"options_{backend}": backend for backend in BACKENDS}

REQUIRED = {
    "name": "missing name: it is what the row is called in reports",
    "target": f"missing target: write {FORMS}",
}


@dataclass(frozen=True, slots=True)
class Part:
    """What one table gives, parsed, and one line for everything that is wrong with it."""

    where: str  # for messages: `portcheck.toml: kernel "attn"`
    given: Mapping[str, Any]
    mistakes: tuple[str, ...]

    @property
    def name(self) -> str:
        """The table's name; empty where it gives none, which is one of the mistakes."""
        return str(self.given.get("name", ""))


def read_kernel(kernel: Mapping[str, Any], manifest: str, number: int, folder: Path) -> Part:
    """Read the `number`th kernel of `manifest`; `given["variant"]` holds the tables of its variants, unread."""
    schema: Mapping[str, Parser[Any]] = {
        "name": label,
        "target": partial(parse_reference, folder),
        **_shared_schema(folder),
        "variant": array_of_tables,
    }
    return _read(kernel, schema, f"{manifest}: kernel", number)


def read_variant(variant: Mapping[str, Any], kernel: str, number: int, folder: Path) -> Part:
    """Read the `number`th variant of the kernel that messages call `kernel`."""
    return _read(variant, {"name": label, **_shared_schema(folder)}, f"{kernel} variant", number)


def array_of_tables(value: Any) -> tuple[Mapping[str, Any], ...]:
    """An array of tables, as `[[kernel]]` writes it; the tables unread."""
    return array(table, "tables (double brackets)")(value)


def _read(raw: Mapping[str, Any], schema: Mapping[str, Parser[Any]], kind: str, number: int) -> Part:
    name = raw.get("name")
    where = f'{kind} "{name}"' if isinstance(name, str) else f"{kind} #{number}"
    given, found = read_table(raw, schema)
    found += [("", remedy) for key, remedy in REQUIRED.items() if key in schema and key not in raw]
    found += [
        ("", f"{name} is in both signature and constants: keep the constant, or the argument")
        for name, tree in given.get("signature", {}).items()
        if tree is not None and name in given.get("constants", {})
    ]
    return Part(where, given, tuple(line(where, mistake) for mistake in found))


def _shared_schema(folder: Path) -> Mapping[str, Parser[Any]]:
    value: Parser[Any] = partial(parse_value, folder)
    return {
        "signature": _parameters(partial(parse_argument_tree, folder)),
        "constants": _parameters(value),
        "options": mapping(value),
        **{key: mapping(value) for key in BACKEND_OPTIONS},
        "skip": distinct(array(_pattern, "targets")),
        "xfail": array(_expectation, "targets"),
        **SETTINGS,
    }


def _parameters(item: Parser[Any]) -> Parser[dict[str, Any]]:
    def parse(value: Any) -> dict[str, Any]:
        misnamed = [name for name in table(value) if not name.isidentifier()]
        if misnamed:
            raise ManifestError([("", f'"{name}" cannot be the name of a parameter') for name in misnamed])
        return mapping(item)(value)

    return parse


def _pattern(value: Any) -> str:
    return check_pattern(text(value))


def _expectation(value: Any) -> Expectation:
    if isinstance(value, str):
        return Expectation(check_pattern(value))
    if not isinstance(value, dict):
        raise wrong_type('a target or a table such as { target = "hip:*", triton = "<3.9" }', value)
    given, found = read_table(value, {"target": _pattern, "triton": parse_specifier, "reason": text})
    if "target" not in value:
        found.append(("", 'missing target: write a target, or "*" for all'))
    if found:
        raise ManifestError(found)
    return Expectation(**given)
