"""The report as SARIF 2.1.0: a rule for each cause, a result for each cause and kernel, with its cells inside.

Code hosts tell results of two runs apart by rule, path and `primaryLocationLineHash`: all three are stable, whatever is
moved in the file. Limits are GitHub's: it shows 5,000 results and rejects 25,000, reads 1,024 characters of a
description, one location a result, and ten tags a rule.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from portcheck import __version__
from portcheck.keys import digest
from portcheck.report.incidents import Incident, causes, incidents, sentence
from portcheck.report.markdown import fenced
from portcheck.report.model import Group, Report
from portcheck.report.note import NOTE
from portcheck.report.text import one_line, shortened, visible
from portcheck.verdicts import Position

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
RESULTS = 5_000
RELATED = 20  # places of a result beside its own
_DESCRIPTION = 1_024  # characters
_MESSAGE = 4_000  # characters of a result's message, and of a compiler's output in a rule's help

_LEVELS = {"new": "error", "known": "warning", "xfail": "note"}
_SUPPRESSED = {"known": "known to the baseline", "xfail": "expected by the manifest"}
_ROOT = "%SRCROOT%"
_LINK = re.compile(r"\[([^\[\]]*)\]\(")  # SARIF reads that as a link in plain text


def lines(report: Report) -> Iterator[str]:
    """The pieces of the file."""
    yield json.dumps(as_dict(report), indent=1, ensure_ascii=False) + "\n"


def as_dict(report: Report) -> dict[str, Any]:
    """The file as plain data."""
    found = incidents(report)
    shown = found[:RESULTS]
    rules = {incident.group.fingerprint: incident.group for incident in shown}
    indices = {print_: index for index, print_ in enumerate(rules)}
    releases = len(report.toolchains) > 1
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "portcheck",
                        "version": __version__,
                        "semanticVersion": __version__,
                        "rules": [_rule(group) for group in rules.values()],
                    }
                },
                "invocations": [_invocation(report, len(found) - len(shown))],
                "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
                "columnKind": "unicodeCodePoints",
                "results": [_result(incident, indices[incident.group.fingerprint], releases) for incident in shown],
            }
        ],
    }


def _rule_id(group: Group) -> str:
    return f"{group.failure.verdict}-{group.fingerprint}"


def _rule(group: Group) -> dict[str, Any]:
    failure = group.failure
    kind = f"{failure.verdict} in {failure.stage}"
    message = one_line(failure.message)
    said = visible(shortened(failure.detail or failure.message, _MESSAGE))
    about = "\n".join([f"{kind}: {message}", *causes(group)])
    return {
        "id": _rule_id(group),
        "name": "".join(part.capitalize() for part in failure.verdict.split("-")),
        "shortDescription": {"text": shortened(f"{kind}: {message}", _DESCRIPTION)},
        "fullDescription": {"text": shortened(about, _DESCRIPTION)},
        "help": {
            "text": f"{about}\n\n{said}\n\n{NOTE}",
            "markdown": "\n\n".join([fenced(about), fenced(said), NOTE]),
        },
        "defaultConfiguration": {"level": "error"},
        "properties": {
            "tags": ["triton", failure.verdict, failure.stage],
            "precision": "very-high",
            "problem.severity": "error",
        },
    }


def _result(incident: Incident, index: int, releases: bool) -> dict[str, Any]:
    group = incident.group
    stable = digest(f"{group.fingerprint} {incident.kernel}".encode("utf-8", "backslashreplace"))[:16]
    result: dict[str, Any] = {
        "ruleId": _rule_id(group),
        "ruleIndex": index,
        "level": _LEVELS[incident.status],
        "message": {"text": shortened(_plain(sentence(incident, releases=releases)), _MESSAGE)},
        "locations": [
            {**_location(incident.place), "logicalLocations": [{"name": one_line(incident.kernel), "kind": "function"}]}
        ],
        "partialFingerprints": {"primaryLocationLineHash": f"{stable}:1", "portcheck/v1": stable},
        "properties": {
            "status": incident.status,
            "fingerprint": group.fingerprint,
            "cells": [one_line(member.cell.name) for member in incident.cells],
        },
    }
    if incident.others:
        related = incident.others[:RELATED]
        result["relatedLocations"] = [{"id": number, **_location(at)} for number, at in enumerate(related, 1)]
    if incident.status in _SUPPRESSED:
        result["suppressions"] = [{"kind": "external", "justification": _justification(incident)}]
    return result


def _justification(incident: Incident) -> str:
    expected = [member.expectation for member in incident.cells if member.expectation]
    reasons = dict.fromkeys(one_line(one.reason) for one in expected if one.reason)
    return ": ".join([_SUPPRESSED[incident.status], *(["; ".join(reasons)] if reasons else [])])


def _location(at: Position) -> dict[str, Any]:
    """A place of one character: nobody says how long what is wrong there is."""
    column = at.column or 1
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(visible(at.file)), "uriBaseId": _ROOT},
            "region": {"startLine": at.line, "startColumn": column, "endLine": at.line, "endColumn": column + 1},
        }
    }


def _invocation(report: Report, left_out: int) -> dict[str, Any]:
    """Whether everything was judged: without that, no result does not mean that nothing is wrong."""
    unjudged = [reported for reported in report.cells if reported.status is None]
    told = []
    if not report.cells:
        told.append(("note", report.excuse) if report.excuse else ("error", "No cell was checked."))
    if unjudged:
        told.append(("error", f"{len(unjudged)} of {len(report.cells)} cells have no verdict, and no results."))
    if left_out:
        told.append(("warning", f"{left_out} results are left out: code hosts show {RESULTS} at most."))
    return {
        "executionSuccessful": bool(report.cells or report.excuse) and not unjudged,
        "toolExecutionNotifications": [_notification(level, text) for level, text in (*told, ("note", NOTE))],
    }


def _notification(level: str, text: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": text}}


def _plain(text: str) -> str:
    return _LINK.sub(r"\\[\1\\](", text)
