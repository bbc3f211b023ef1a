"""A failed compile of which every step's input was kept, as values that scripts are written from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from portcheck.cells import Cell
from portcheck.compiler.attempt import Attempt
from portcheck.diagnose.message import without_temporary_names
from portcheck.toolchain.model import Toolchain
from portcheck.verdicts import Failure

_FRONT = frozenset({"options", "frontend"})
_INPUT = "input."
# What the guard ended a compile for → how a script says that it ended.
_BREACHES = {"timeout": "ran out of time", "memory-limit": "ran out of memory"}


@dataclass(frozen=True, slots=True)
class Recorded:
    """One failed compile."""

    cell: Cell
    toolchain: Toolchain
    failure: Failure
    ends: str  # how, in the words of the scripts
    expected: str  # what it prints that tells it apart; "" if nothing does
    stages: tuple[str, ...]  # that the compile came to behind the front end, in order
    inputs: Mapping[str, bytes]  # stage → what it was given
    facts: Mapping[str, Any]  # what `compiler/child/keeping.py` wrote besides, by its names

    def fact(self, name: str, default: Any = None) -> Any:
        """One of the facts, or `default` where the compile did not get so far."""
        return self.facts.get(name, default)


def record(cell: Cell, toolchain: Toolchain, failure: Failure, attempt: Attempt) -> Recorded:
    """What a compile that kept its inputs tells."""
    inputs = {name.removeprefix(_INPUT): data for name, data in attempt.kept.items() if name.startswith(_INPUT)}
    return Recorded(
        cell=cell,
        toolchain=toolchain,
        failure=failure,
        ends=_ends(attempt),
        expected=_expected(failure, attempt),
        stages=tuple(dict.fromkeys(stage for stage, _ in attempt.marks if stage not in _FRONT)),
        inputs=inputs,
        facts={name: json.loads(data) for name, data in attempt.kept.items() if not name.startswith(_INPUT)},
    )


def _ends(attempt: Attempt) -> str:
    if attempt.breach:
        return _BREACHES[attempt.breach]
    if attempt.result is None:
        return "died"
    return "raised an exception" if attempt.result["verdict"] == "failed" else "returned"


def _expected(failure: Failure, attempt: Attempt) -> str:
    """The recorded message as far as it is printed as such: some are put together, or say how a process ended."""
    if attempt.breach:
        return ""
    if failure.verdict == "launch-limit":
        return failure.message
    result = attempt.result or {}
    named = f"{(failure.error or '').rpartition('.')[2]}: {result.get('text', '')}"
    texts = (named, result.get("outer", ""), attempt.err, attempt.out)
    said = " ".join(without_temporary_names("\n".join(texts)).split())
    candidates = (failure.message, failure.message.partition(": ")[2], (failure.error or "").rpartition(".")[2])
    return next((one for one in candidates if one and " ".join(one.split()) in said), "")
