"""Finding a manifest and loading it: `portcheck.toml`, or `[tool.portcheck]` in `pyproject.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from portcheck.errors import UsageError
from portcheck.manifest.mistakes import line, read_table
from portcheck.manifest.model import CacheSettings, Manifest, Settings
from portcheck.manifest.parts import array_of_tables
from portcheck.manifest.rows import read_rows
from portcheck.manifest.scalars import table
from portcheck.manifest.settings import CACHE, SETTINGS, merge_settings

OWN_FILE = "portcheck.toml"
SHARED_FILE = "pyproject.toml"


def find_manifest(start: Path) -> Path | None:
    """The manifest in the folder `start` or in the nearest folder above that has one."""
    for folder in (start.absolute(), *start.absolute().parents):
        if (own := folder / OWN_FILE).exists():
            return own
        if _mentions_us(shared := folder / SHARED_FILE):
            return shared
    return None


def load(path: Path) -> Manifest:
    """Load a manifest.

    Raises:
        UsageError: it cannot be read, or it has mistakes: one line for each of them.
    """
    path = path.absolute()
    try:
        return _parse(path, _read(path))
    except RecursionError:
        raise UsageError(f"{path.name}: arrays or tables nest too deeply") from None


def _parse(path: Path, data: Mapping[str, Any]) -> Manifest:
    tables, found = read_table(data, {"defaults": table, "cache": table, "kernel": array_of_tables})
    mistakes = [line(path.name, mistake) for mistake in found]
    given: dict[str, dict[str, Any]] = {}
    for key, schema in (("defaults", SETTINGS), ("cache", CACHE)):
        given[key], found = read_table(tables.get(key, {}), schema)
        mistakes += [line(f"{path.name}: [{key}]", mistake) for mistake in found]
    defaults = merge_settings(Settings(targets=()), given["defaults"])
    rows, found_in_rows = read_rows(tables.get("kernel", ()), path.name, path.parent, defaults)
    if mistakes := mistakes + found_in_rows:
        # Names and values of the file are quoted in them, and may hold line breaks.
        raise UsageError("\n".join(" ".join(mistake.splitlines()) for mistake in mistakes))
    return Manifest(path, rows, defaults, CacheSettings(**given["cache"]))


def _read(path: Path) -> Mapping[str, Any]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot read the manifest: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{path.name}: not valid TOML: {error}") from None
    if path.name != SHARED_FILE:
        return data
    ours = _ours(data)
    if not isinstance(ours, dict):
        raise UsageError(f"{path.name}: there is no table [tool.portcheck]: add it, or write a {OWN_FILE}")
    return ours


def _mentions_us(path: Path) -> bool:
    try:
        written = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    try:
        return _ours(tomllib.loads(written)) is not None
    except tomllib.TOMLDecodeError:
        # Loading it tells the user what is wrong; passing over it would say that there is no manifest.
        return "[tool.portcheck" in written


def _ours(pyproject: Mapping[str, Any]) -> Any:
    tool = pyproject.get("tool")
    return tool.get("portcheck") if isinstance(tool, dict) else None
