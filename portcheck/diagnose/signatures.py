"""Failures that are understood: why they happen and what to do, from `signatures.toml`."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from portcheck.verdicts import Failure

RECORDED = "recorded"  # as the case of a signature: see signatures.toml
PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Advice:
    """What is known about a failure."""

    signature: str  # the id of the entry
    title: str  # what is wrong, in a line
    why: str
    do: str
    see: str | None  # a report of the same failure upstream
    first: str  # the releases with which it was seen
    last: str


@dataclass(frozen=True, slots=True)
class Signature:
    """One entry of signatures.toml, which says what the fields mean."""

    id: str
    verdicts: frozenset[str]
    stages: frozenset[str]  # empty: any
    pattern: re.Pattern[str]
    error: re.Pattern[str]
    title: str
    why: str
    do: str
    see: str | None
    first: str
    last: str
    case: str

    def advise(self, failure: Failure) -> Advice | None:
        """What this entry says about `failure`; None if it is about others."""
        if failure.verdict not in self.verdicts or (self.stages and failure.stage not in self.stages):
            return None
        found = self.pattern.search(failure.message)
        if found is None or not self.error.search(failure.error or ""):
            return None
        title, why, do = (
            PLACEHOLDER.sub(lambda named: found[named[1]] or "this", text) for text in (self.title, self.why, self.do)
        )
        return Advice(self.id, title, why, do, self.see, self.first, self.last)


@cache
def signatures() -> tuple[Signature, ...]:
    """All entries, in the order in which they are tried."""
    text = (files(__package__) / "signatures.toml").read_text(encoding="utf-8")
    return tuple(_signature(entry) for entry in tomllib.loads(text)["signature"])


def advise(failure: Failure) -> Advice | None:
    """What the first signature that fits says; None if none does."""
    return next((advice for entry in signatures() if (advice := entry.advise(failure))), None)


def _signature(entry: dict[str, Any]) -> Signature:
    return Signature(
        **{
            "see": None,
            **entry,
            "verdicts": frozenset(entry["verdicts"]),
            "stages": frozenset(entry.get("stages", ())),
            "pattern": re.compile(entry["pattern"]),
            "error": re.compile(entry.get("error", "")),
        }
    )
