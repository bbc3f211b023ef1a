"""Which outputs of stages lie in the HTML report: those of failures first, and no more than there is room for.

Each text is there once, however many cells share it, deflated and in base64: browsers inflate that by themselves.
"""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass

from portcheck.report.model import Report, ReportCell
from portcheck.verdicts import Artifact

ROOM = 4 << 20  # bytes of base64 in one page
SHARE = 8  # no text takes more than this part of the room
BINARIES = frozenset({"cubin", "hsaco"})

_PIPELINE = ("source", "ttir", "ttgir", "glir", "llir", "ptx", "amdgcn")
_ORDER = ("ttgir", "ptx", "amdgcn", "llir", "ttir", "glir", "source")  # what people look for first


@dataclass(frozen=True, slots=True)
class Outputs:
    """What is in the page."""

    texts: dict[str, str]  # digest → base64 of the deflated text
    gone: frozenset[str]  # digests of what the cache no longer has
    room: int


def embed(report: Report, room: int = ROOM) -> Outputs:
    """The texts that get into the page, in the order of their importance until the room is used up."""
    texts: dict[str, str] = {}
    gone: set[str] = set()
    left = room
    for back_key, artifact in _wanted(report):
        if artifact.digest in texts or artifact.digest in gone:
            continue
        content = report.output(back_key, artifact)
        if content is None:
            gone.add(artifact.digest)
        elif _is_text(content):
            packed = b64encode(zlib.compress(content, 6)).decode()
            if len(packed) > room // SHARE:
                continue
            if len(packed) > left:
                break
            texts[artifact.digest] = packed
            left -= len(packed)
    return Outputs(texts, frozenset(gone), room)


def _wanted(report: Report) -> Iterator[tuple[str | None, Artifact]]:
    """What stages that failed were given to work on, then all of those cells, then of the others."""
    failed = [reported for reported in report.cells if reported.failure]
    fine = [reported for reported in report.cells if not reported.failure]
    for reported in failed:
        if artifact := _given(reported):
            yield reported.result.back_key, artifact
    for cells in (failed, fine):
        for stage in _ORDER:
            for reported in cells:
                if wanted := _of(reported).get(stage):
                    yield reported.result.back_key, wanted


def _given(reported: ReportCell) -> Artifact | None:
    """The last output before the failure; None if there is none, or if all stages ran."""
    made = _of(reported)
    stages = [stage for stage in _PIPELINE if stage in made and reported.failure and stage != reported.failure.stage]
    return made[stages[-1]] if stages and not _ran_through(reported) else None


def _ran_through(reported: ReportCell) -> bool:
    return not BINARIES.isdisjoint(reported.result.outcome.artifacts)


def _of(reported: ReportCell) -> dict[str, Artifact]:
    artifacts = reported.result.outcome.artifacts if reported.status else {}
    return {stage: artifact for stage, artifact in artifacts.items() if stage not in BINARIES}


def _is_text(content: bytes) -> bool:
    try:
        return "\0" not in content.decode()
    except UnicodeDecodeError:
        return False
