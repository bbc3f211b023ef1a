"""What a JSON report says of its cells, read back with suspicion: somebody else may have written or cut the file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portcheck.errors import UsageError
from portcheck.report.jsonreport import RESOURCES, SCHEMA
from portcheck.report.text import visible
from portcheck.verdicts import OK, Artifact

NO_TOOL = "toolchain-error"
_LARGEST = 2**63  # that a number may be; no arithmetic with what is below overflows


@dataclass(frozen=True, slots=True)
class Seen:
    """One cell as a report has it."""

    name: str  # ROW@TARGET@RELEASE
    kernel: str
    variant: str | None
    target: str
    triton: str
    verdict: str | None  # None: it was skipped
    stage: str | None
    fingerprint: str | None
    status: str | None  # ok, new, known, xfail, xpass
    message: str | None  # the first line of what failed
    seconds: float
    artifacts: Mapping[str, Artifact]
    resources: Mapping[str, int | None]
    front_key: str | None
    back_key: str | None
    kernel_hash: str | None

    @property
    def row(self) -> str:
        """How the row is shown: `attention` or `attention[bf16]`."""
        return self.kernel if self.variant is None else f"{self.kernel}[{self.variant}]"

    @property
    def judged(self) -> bool:
        """Is there a verdict on the kernel? Not if the cell was skipped, or lacked a tool."""
        return self.verdict not in (None, NO_TOOL)

    @property
    def ok(self) -> bool:
        """Did it compile?"""
        return self.verdict == OK

    @property
    def expected(self) -> bool:
        """Does a manifest or a baseline list it as failing?"""
        return self.status in ("xfail", "known")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The cells of one side of a comparison, and what to call it."""

    label: str
    cells: tuple[Seen, ...]


def read_report(path: Path) -> Snapshot:
    """The cells in a JSON report.

    Raises:
        UsageError: it cannot be read, or is no report of ours, in one line that says what is wrong with it.
    """
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: cannot read the report: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        why = str(error).splitlines()[0] if isinstance(error, ValueError) else "it nests too deeply"
        raise UsageError(
            f"{path}: not a JSON report: {why}; write it again with: portcheck check --json FILE"
        ) from None
    try:
        return Snapshot(str(path), read_cells(data))
    except _Malformed as malformed:
        raise UsageError(f"{path}: {malformed}") from None


def read_cells(report: Any) -> tuple[Seen, ...]:
    """The cells of a report as plain data.

    Raises:
        ValueError: what is wrong with it.
    """
    if not isinstance(report, dict) or "schema" not in report:
        raise _Malformed(f"no report of portcheck: it has no schema; {_REMEDY}")
    if report["schema"] != SCHEMA:
        raise _Malformed(f"its schema is {_quoted(report['schema'])}, and this portcheck reads {SCHEMA}: {_REMEDY}")
    groups, cells = _list(report, "failures"), _list(report, "cells")
    messages = {
        name: _text(group.get("message"), "failures: message").partition("\n")[0]
        for group in groups
        if isinstance(group, dict)
        for name in _list(group, "cells", "failures: ")
        if isinstance(name, str)
    }
    seen = tuple(_cell(cell, f"cells[{number}]", messages) for number, cell in enumerate(cells))
    names: set[str] = set()
    for cell in seen:
        if cell.name in names:
            raise _Malformed(f"cell {_quoted(cell.name)} is there twice: {_REMEDY}")
        names.add(cell.name)
    return seen


_REMEDY = "write one with: portcheck check --json FILE"


class _Malformed(ValueError):
    """What is wrong with a report."""


def _cell(data: Any, where: str, messages: Mapping[str, str]) -> Seen:
    if not isinstance(data, dict):
        raise _Malformed(f"{where}: a cell has to be an object")
    values = {}
    for field, read in _FIELDS.items():
        if field not in data:
            raise _Malformed(f"{where}: {field} is missing")
        values[field] = read(data[field], f"{where}: {field}")
    name = values.pop("cell")
    return Seen(name=name, message=messages.get(name), **values)


def _list(data: Mapping[str, Any], field: str, where: str = "") -> list[Any]:
    found = data.get(field)
    if not isinstance(found, list):
        raise _Malformed(f"{where}{field} has to be an array: {_REMEDY}")
    return found


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise _Malformed(f"{where} has to be a string")
    return visible(value)


def _optional(value: Any, where: str) -> str | None:
    return None if value is None else _text(value, where)


def _seconds(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < _LARGEST:
        raise _Malformed(f"{where} has to be a number of seconds")
    return float(value)


def _size(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _LARGEST:
        raise _Malformed(f"{where} has to be a whole number, 0 or more")
    return value


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _Malformed(f"{where} has to be an object")
    return value


def _artifacts(value: Any, where: str) -> dict[str, Artifact]:
    found = {}
    for stage, entry in _object(value, where).items():
        what = f"{where}: {_quoted(stage)}"
        fields = _object(entry, what)
        digest = _text(fields.get("digest"), f"{what}: digest")
        found[visible(stage)] = Artifact(digest, _size(fields.get("size"), f"{what}: size"))
    return found


def _resources(value: Any, where: str) -> dict[str, int | None]:
    given = _object(value, where)
    return {name: None if given.get(name) is None else _size(given[name], f"{where}: {name}") for name in RESOURCES}


_FIELDS: dict[str, Callable[[Any, str], Any]] = {
    "cell": _text,
    "kernel": _text,
    "variant": _optional,
    "target": _text,
    "triton": _text,
    "verdict": _optional,
    "stage": _optional,
    "fingerprint": _optional,
    "status": _optional,
    "seconds": _seconds,
    "artifacts": _artifacts,
    "resources": _resources,
    "front_key": _optional,
    "back_key": _optional,
    "kernel_hash": _optional,
}


def _quoted(value: Any) -> str:
    return json.dumps(visible(value)[:60] if isinstance(value, str) else str(type(value).__name__))
