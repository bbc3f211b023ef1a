"""Baselines: today's failures, frozen by cell and fingerprint, so that only what is new fails a run.

    # written by `portcheck baseline`: …
    schema = "portcheck-baseline/1"

    [cells]
    "ROW@TARGET@RELEASE" = { fingerprint = "…", verdict = "…", stage = "…", message = "…" }

A line a cell, sorted, with no comma between them: two branches that add lines conflict only where both add at one
place, and there both are kept. `verdict`, `stage` and `message` are for whoever reads the difference; the message is
the normalised one, so that it changes with the fingerprint and no earlier.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from portcheck.diagnose.fingerprint import cause, fingerprint
from portcheck.errors import UsageError
from portcheck.manifest.model import Manifest
from portcheck.verdicts import SHORT, Failure

SCHEMA = "portcheck-baseline/1"

# Verdicts that no baseline takes as known: the next run, or another machine, has to say again that a tool is missing.
UNFROZEN = frozenset({"toolchain-error"})

_HEAD = "# The failures that `portcheck check --baseline` takes as known. Written by `portcheck baseline`.\n"
_LONGEST = 120  # characters of a message
_FINGERPRINT = re.compile(r"[0-9a-f]{16}")
_REMEDY = "freeze the failures anew with portcheck baseline -o"
_UNWRITABLE = re.compile("[\x7f\ud800-\udfff]")  # JSON strings are TOML strings, but for these


@dataclass(frozen=True, slots=True)
class Entry:
    """The known failure of one cell."""

    fingerprint: str
    verdict: str
    stage: str
    message: str

    def is_of(self, failure: Failure) -> bool:
        """Is this how the cell is known to fail?"""
        return failure.verdict not in UNFROZEN and self.fingerprint == fingerprint(failure)


Baseline = Mapping[str, Entry]  # by the cell's name


def entry_of(failure: Failure) -> Entry:
    """What a baseline keeps of a failure."""
    message = " ".join(cause(failure).split())
    short = message if len(message) <= _LONGEST else f"{message[: _LONGEST - 1]}…"
    return Entry(fingerprint(failure), failure.verdict, failure.stage, short)


def dump(baseline: Baseline) -> str:
    """The file for a baseline: the same text for the same entries."""
    lines = (f"{_quoted(cell)} = {_inline(entry)}\n" for cell, entry in sorted(baseline.items()))
    return "".join([_HEAD, f'schema = "{SCHEMA}"\n\n[cells]\n', *lines])


def load(path: Path) -> dict[str, Entry]:
    """Read a baseline.

    Raises:
        UsageError: it is not there, cannot be read, or is no baseline: one line that says what to do.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such baseline: make it with portcheck baseline -o {path}") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot read the baseline: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        what = " ".join(str(error).split())
        raise UsageError(f"{path}: is no baseline: {what}: if a merge left its marks, keep the lines of both") from None
    if data.get("schema") != SCHEMA:
        raise UsageError(f'{path}: is no baseline: it needs the line schema = "{SCHEMA}": {_REMEDY} {path}')
    cells = data.get("cells", {})
    if not isinstance(cells, dict) or (unknown := sorted(data.keys() - {"schema", "cells"})):
        what = "cells is no table" if not isinstance(cells, dict) else f'unknown key "{unknown[0]}"'
        raise UsageError(f"{path}: is no baseline: {what}: {_REMEDY} {path}")
    for cell, raw in cells.items():
        if mistake := _mistake(cell, raw):
            raise UsageError(f'{path}: cell "{_line(cell)}": {mistake}: {_REMEDY} {path}, or take the line out')
    return {cell: Entry(**raw) for cell, raw in cells.items()}


def stale(baseline: Baseline, manifest: Manifest, judged: Iterable[str]) -> list[str]:
    """Entries of rows or targets that the manifest no longer has; those that were `judged` all the same are not.

    Releases do not count: which ones there are differs between machines.
    """
    if not baseline:
        return []
    there = {f"{row.name}@{target}" for row in manifest.rows for target in row.targets}
    here = set(judged)
    return sorted(cell for cell in baseline if cell not in here and cell.rpartition("@")[0] not in there)


def _mistake(cell: str, raw: Any) -> str | None:
    if cell.count("@") < 2:
        return "is not written ROW@TARGET@RELEASE"
    if not isinstance(raw, dict) or any(not isinstance(value, str) for value in raw.values()):
        return "is no table of strings"
    if raw.keys() != set(Entry.__slots__):
        return f"needs {', '.join(Entry.__slots__)} and nothing else"
    if not _FINGERPRINT.fullmatch(raw["fingerprint"]):
        return f'malformed fingerprint "{_line(raw["fingerprint"])}"'
    return None if raw["verdict"] in SHORT else f'unknown verdict "{_line(raw["verdict"])}"'


def _inline(entry: Entry) -> str:
    return "{ " + ", ".join(f"{name} = {_quoted(value)}" for name, value in asdict(entry).items()) + " }"


def _quoted(text: str) -> str:
    escaped = json.dumps(text, ensure_ascii=False)
    return _UNWRITABLE.sub(lambda found: "\\u007F" if found[0] == "\x7f" else "\\uFFFD", escaped)


def _line(text: str) -> str:
    """Quoted from the file, on one line."""
    return " ".join(text.split())[:80]
