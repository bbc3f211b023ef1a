"""The schemas that docs/ publishes, to hold what is written against."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

_FOLDER = Path(__file__).parent.parent / "docs/schemas"


def schema(name: str) -> Any:
    """A published schema, such as `portcheck-report-1`."""
    return json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def conforms(value: Any, name: str) -> None:
    """Fails unless `value` is as the schema says, and has no field that it does not describe."""
    Draft202012Validator.check_schema(schema(name))
    Draft202012Validator(_closed(schema(name))).validate(value)


def _closed(part: Any) -> Any:
    """The schema such that a field which it does not describe is a mistake; readers have to skip such fields."""
    if isinstance(part, list):
        return [_closed(inner) for inner in part]
    if not isinstance(part, dict):
        return part
    closed = {name: _closed(inner) for name, inner in part.items()}
    return {"additionalProperties": False, **closed} if "properties" in part and "type" in part else closed
