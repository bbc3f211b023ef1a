"""A diff as data, schema `portcheck-diff/1`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from portcheck.diff.model import Diff, Pair
from portcheck.diff.snapshot import Seen
from portcheck.report.output import write_file

SCHEMA = "portcheck-diff/1"


def as_dict(diff: Diff) -> dict[str, Any]:
    """The diff as plain data."""
    return {
        "schema": SCHEMA,
        "old": diff.old,
        "new": diff.new,
        "summary": diff.summary,
        "cells": [_pair(pair) for pair in diff.pairs],
    }


def write(diff: Diff, path: Path) -> None:
    """Write the diff to `path`, whole or not at all: a line a cell.

    Raises:
        UsageError: it cannot be written there.
    """
    data = as_dict(diff)
    cells = data.pop("cells")
    head = "".join(f"{json.dumps(name)}: {_json(value)},\n" for name, value in data.items())
    body = ",\n".join(map(_json, cells))
    write_file(path, ["{\n", head, '"cells": [\n', body, "\n]\n}\n"])


def _pair(pair: Pair) -> dict[str, Any]:
    seconds = [None if seen is None else seen.seconds for seen in (pair.old, pair.new)]
    return {
        "kernel": pair.kernel,
        "variant": pair.variant,
        "target": pair.target,
        "triton": pair.triton,
        "change": pair.change,
        "slower": pair.slower,
        "spills": pair.spills,
        "old": _seen(pair.old),
        "new": _seen(pair.new),
        "artifacts": {stage: list(sizes) for stage, sizes in pair.sizes.items()},
        "resources": {name: list(values) for name, values in pair.resources.items()},
        "seconds": seconds,
    }


def _seen(seen: Seen | None) -> dict[str, Any] | None:
    if seen is None:
        return None
    return {
        "cell": seen.name,
        "verdict": seen.verdict,
        "stage": seen.stage,
        "fingerprint": seen.fingerprint,
        "status": seen.status,
        "message": seen.message,
        "front_key": seen.front_key,
        "back_key": seen.back_key,
        "kernel_hash": seen.kernel_hash,
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
