"""The JSON report, schema `portcheck-report/1`: docs/schemas/portcheck-report-1.json."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from portcheck import __version__
from portcheck.baseline import Entry
from portcheck.configurations import is_passed_over
from portcheck.diagnose import limits
from portcheck.manifest.model import Expectation
from portcheck.report.model import SKIPPED, Group, Report, ReportCell
from portcheck.report.note import NOTE
from portcheck.target import Target
from portcheck.verdicts import Configs, Failure, Position

SCHEMA = "portcheck-report/1"
RESOURCES = ("shared", "tmem", "registers", "spills", "num_warps", "threads")


def as_dict(report: Report) -> dict[str, Any]:
    """The report as plain data. Equal for equal records, but for the times and `from`."""
    return {**_head(report), "cells": [_cell(reported) for reported in report.cells], **_tail(report)}


def lines(report: Report) -> Iterator[str]:
    """The pieces of the file: a line a cell, since there may be very many."""
    yield "{\n"
    for name, value in _head(report).items():
        yield f"{json.dumps(name)}: {_json(value)},\n"
    yield '"cells": ['
    for number, reported in enumerate(report.cells):
        yield f"{',' if number else ''}\n{_json(_cell(reported))}"
    yield "\n]"
    for name, value in _tail(report).items():
        yield f",\n{json.dumps(name)}: {_json(value)}"
    yield "\n}\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _head(report: Report) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "tool": {"name": "portcheck", "version": __version__},
        "toolchains": [
            {"triton": toolchain.release, "python": toolchain.python, "digest": toolchain.digest}
            for toolchain in report.toolchains
        ],
        "targets": [str(target) for target in report.targets],
        "summary": {
            **report.summary,
            "static": _static(report),
            "seconds": _seconds(report.seconds),
        },
        "limits": {str(target): _limits(target) for target in report.targets},
    }


def _static(report: Report) -> dict[str, int]:
    return {"predicted": len(report.predicted), "came_true": len(report.came_true)}


def _tail(report: Report) -> dict[str, Any]:
    return {
        "failures": [_group(group) for group in report.groups],
        "missing": [reported.cell.name for reported in report.missing],
        "baseline": {
            "fixed": [reported.cell.name for reported in report.fixed],
            "covered": [reported.cell.name for reported in report.covered],
            "stale": list(report.stale),
        },
        "note": NOTE,
    }


def _cell(reported: ReportCell) -> dict[str, Any]:
    cell, result, outcome = reported.cell, reported.result, reported.result.outcome
    return {
        "cell": cell.name,
        "kernel": cell.row.kernel,
        "variant": cell.row.variant,
        "target": str(cell.target),
        "triton": cell.release,
        "verdict": outcome.verdict if reported.status else None,
        "stage": reported.failure.stage if reported.failure else None,
        "fingerprint": reported.fingerprint,
        "status": reported.status,
        "warning": _warning(reported.warning),
        "expected": _as_dict(reported.expectation),
        "baseline": _as_dict(reported.entry),
        "from": result.origin if reported.status else SKIPPED,
        "front_key": result.front_key,
        "back_key": result.back_key,
        "kernel_hash": result.kernel_hash,
        "seconds": _seconds(outcome.seconds),
        "stages": {stage: _seconds(seconds) for stage, seconds in outcome.stages.items()},
        "artifacts": {
            stage: {"digest": artifact.digest, "size": artifact.size}
            for stage, artifact in sorted(outcome.artifacts.items())
        },
        "resources": {name: outcome.resources.get(name) for name in RESOURCES},
        "configs": _configs(result.configs),
        "source": _position(result.source),
    }


def _configs(configs: Configs | None) -> dict[str, Any] | None:
    """What became of an autotuned row's configurations."""
    if configs is None:
        return None
    return {
        "ok": configs.ok,
        "of": configs.of,
        "total": configs.total,
        "shown": configs.shown,
        "failed": [
            {
                "config": failed.label,
                "verdict": failed.failure.verdict,
                "stage": failed.failure.stage,
                "message": failed.failure.message,
                "passed_over": is_passed_over(failed.failure),
            }
            for failed in configs.failed
        ],
    }


def _group(group: Group) -> dict[str, Any]:
    failure, advice = group.failure, group.advice
    return {
        "letter": group.letter,
        "fingerprint": group.fingerprint,
        "verdict": failure.verdict,
        "stage": failure.stage,
        "message": failure.message,
        "detail": failure.detail,
        "pass": failure.pass_name,
        "signature": advice.signature if advice else None,
        "title": advice.title if advice else None,
        "why": advice.why if advice else None,
        "do": advice.do if advice else None,
        "see": advice.see if advice else None,
        "seen": [advice.first, advice.last] if advice else None,
        "notes": list(group.notes),
        "cells": [reported.cell.name for reported in group.cells],
    }


def _limits(target: Target) -> dict[str, Any] | None:
    """What a device grants to a block, under the names of `resources`; null where that is not known."""
    known = limits.table().get(target)
    return {name: getattr(known, name) for name in ("shared", "tmem", "threads", "registers")} if known else None


def _warning(failure: Failure | None) -> dict[str, Any] | None:
    return {"verdict": failure.verdict, "stage": failure.stage, "message": failure.message} if failure else None


def _as_dict(value: Expectation | Entry | None) -> dict[str, Any] | None:
    return asdict(value) if value else None


def _position(at: Position | None) -> dict[str, Any] | None:
    return {"file": at.file, "line": at.line, "column": at.column} if at else None


def _seconds(seconds: float) -> float:
    return round(seconds, 4)
