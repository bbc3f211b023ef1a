"""What the HTML report shows, as plain data: the JSON report, and what a reader of it would have to work out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any

from portcheck.diff.limits import DEFAULT_SLOWER
from portcheck.diff.model import Diff
from portcheck.diff.sides import within
from portcheck.diff.snapshot import Seen, Snapshot
from portcheck.report import jsonreport
from portcheck.report.groups import described
from portcheck.report.html.outputs import Outputs, embed
from portcheck.report.launches import render_launches
from portcheck.report.matrix import headline, text_of
from portcheck.report.model import Report, ReportCell
from portcheck.report.passed import at_most, surprises
from portcheck.report.static import static_lines
from portcheck.report.style import Style
from portcheck.report.tuned import render_tuned
from portcheck.verdicts import Artifact

# Of a cell, what the page shows, in the order in which it lies there: names would be most of a large page.
FIELDS = (
    "kernel",
    "variant",
    "target",
    "triton",
    "verdict",
    "stage",
    "fingerprint",
    "status",
    "warning",
    "expected",
    "baseline",
    "from",
    "seconds",
    "stages",
    "artifacts",
    "resources",
    "configs",
    "source",
    "text",
)
PARAGRAPHS = (render_tuned, render_launches)  # what the terminal says beside the failures: title and lines of each
_COMPARED = ("kernel", "variant", "target", "triton", "verdict", "stage", "fingerprint", "status", "seconds")
_KEYS = ("front_key", "back_key", "kernel_hash")


def as_dict(report: Report) -> dict[str, Any]:
    """Everything on the page. Cells are named by their place in the list of all cells."""
    plain = jsonreport.as_dict(report)
    places = {cell["cell"]: index for index, cell in enumerate(plain["cells"])}
    failures = [{**group, "cells": [places[name] for name in group["cells"]]} for group in plain["failures"]]
    return {
        "report": {**plain, "cells": [], "failures": failures, "missing": [places[name] for name in plain["missing"]]},
        "fields": FIELDS,
        "resources": jsonreport.RESOURCES,
        "cells": [
            _packed(cell, text_of(reported)) for cell, reported in zip(plain["cells"], report.cells, strict=True)
        ],
        "headline": headline(report),
        "static": next(static_lines(report), None),
        "manifest": report.manifest,
        "told": {group.letter: body for group, body in described(report, releases=len(report.toolchains) > 1)},
        "own": dict(_own(report)),
        "changes": list(_changes(plain["cells"])),
        "notices": list(_notices(report)),
        "outputs": _outputs(embed(report)),
    }


def _packed(cell: dict[str, Any], text: str) -> list[Any]:
    """A cell without the names of its fields, and what the matrix shows of it."""
    artifacts = {stage: [artifact["digest"], artifact["size"]] for stage, artifact in cell["artifacts"].items()}
    resources = [cell["resources"][name] for name in jsonreport.RESOURCES]
    shown = {**cell, "artifacts": artifacts, "resources": resources, "text": text}
    return [shown[field] for field in FIELDS]


def _own(report: Report) -> Iterator[tuple[int, dict[str, Any]]]:
    """What cells say for themselves: the place of their failure, and the message if it is not that of their group."""
    groups = {group.letter: group.failure.message for group in report.groups}
    for index, reported in enumerate(report.cells):
        if own := _said(reported, groups.get(reported.letter or "")):
            yield index, own


def _said(reported: ReportCell, message: str | None) -> dict[str, Any]:
    failure = reported.failure
    if failure is None:
        return {}
    at = failure.position
    said = {"message": failure.message} if failure.message != message else {}
    return {**said, "at": [at.file, at.line, at.column]} if at else said


def _changes(cells: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What became of cells from each release to the next."""
    seen = Snapshot("this report", tuple(_seen(index, cell) for index, cell in enumerate(cells)))
    for old, new in pairwise(dict.fromkeys(cell.triton for cell in seen.cells)):
        yield _changed(within(seen, "triton", old, new, DEFAULT_SLOWER))


def _seen(index: int, cell: dict[str, Any]) -> Seen:
    return Seen(
        name=str(index),
        message=None,
        artifacts={stage: Artifact(**artifact) for stage, artifact in cell["artifacts"].items()},
        resources=cell["resources"],
        **{field: cell[field] for field in (*_COMPARED, *_KEYS)},
    )


def _changed(diff: Diff) -> dict[str, Any]:
    pairs = [pair for pair in diff.pairs if pair.change != "unchanged" or pair.slower or pair.spills]
    return {
        "old": diff.old,
        "new": diff.new,
        "summary": diff.summary,
        "cells": [
            {
                "change": pair.change,
                "slower": pair.slower,
                "spills": pair.spills,
                "old": int(pair.old.name) if pair.old else None,
                "new": int(pair.new.name) if pair.new else None,
            }
            for pair in pairs
        ],
    }


def _notices(report: Report) -> Iterator[dict[str, Any]]:
    """What is to be said beside the failures: a title, and lines."""
    several = len(report.toolchains) > 1
    paragraphs = [told for render in PARAGRAPHS for told in render(report, Style(color=False), releases=several)]
    for paragraph in (*paragraphs, *islice(static_lines(report), 1, None)):  # after the line: what was wrong
        title, *told = paragraph.splitlines()
        yield {"title": title, "lines": at_most([line.strip() for line in told])}
    for title, told in surprises(report, releases=several):
        if told:
            yield {"title": title, "lines": at_most(told)}


def _outputs(outputs: Outputs) -> dict[str, Any]:
    return {"texts": outputs.texts, "gone": sorted(outputs.gone), "room": outputs.room}
