"""Launch limits: what a compiled kernel asks of its device, against a table of what devices grant.

The table is data, `launch_limits.json`: a row a target, each with its sources. For a target without a row nothing is
said. Triton raises OutOfResources when it loads a kernel that asks for too much, in the order of `_KINDS`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from portcheck.target import Target
from portcheck.verdicts import Failure, Outcome

VERDICT, STAGE = "launch-limit", "launch"

_TABLE = Path(__file__).with_name("launch_limits.json")
_UNIT = 256  # registers that NVIDIA's devices allocate to a warp at a time
_PARTITIONS = 4  # of a multiprocessor; each has its part of the registers, and takes whole warps
_WARP = 32

Resources = Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a number is from."""

    title: str
    says: str
    link: str


@dataclass(frozen=True, slots=True)
class Limits:
    """What a device grants to one block."""

    shared: int  # bytes of shared memory, where a kernel opts in
    tmem: int  # columns of tensor memory
    threads: int
    registers: int  # a thread; VGPRs on AMD
    sources: Mapping[str, Source]  # by the names of the numbers
    block_registers: int | None = None  # None: the compiler sees to that by itself
    seen: str | None = None  # where a device was seen to have the limit of shared memory
    unverified: str | None = None  # what nobody has seen confirmed


@dataclass(frozen=True, slots=True)
class Excess:
    """One limit that a kernel breaks."""

    kind: str  # as Triton calls it
    asked: int
    granted: int
    text: str  # what is asked and what is granted, in words
    source: Source | None


@cache
def table() -> Mapping[Target, Limits]:
    """The limits of every target that they are known of."""
    data = json.loads(_TABLE.read_text(encoding="utf-8"))
    sources = {name: Source(**source) for name, source in data["sources"].items()}
    return {
        Target(*name.split(":")): Limits(**{**row, "sources": {of: sources[one] for of, one in row["sources"].items()}})
        for name, row in data["targets"].items()
    }


def excesses(target: Target, resources: Resources) -> tuple[Excess, ...]:
    """The limits of `target` that a kernel with these resources breaks, as Triton would find them."""
    limits = table().get(target)
    return tuple(_found(target, resources, limits)) if limits else ()


def launch_failure(target: Target, resources: Resources) -> Failure | None:
    """The failure that is certain at a launch; None if none is, or if nobody knows."""
    found = excesses(target, resources)
    if not found:
        return None
    limits = table()[target]
    detail = [
        *(one.text for one in found),
        f"a launch raises OutOfResources: {found[0].kind}, Required: {found[0].asked}, "
        f"Hardware limit: {found[0].granted}",
        *dict.fromkeys(f"limit from {one.source.title}: {one.source.link}" for one in found if one.source),
        *([f"seen on {limits.seen}"] if limits.seen and found[0].kind == "shared memory" else ()),
        *([f"not verified: {limits.unverified}"] if limits.unverified else ()),
    ]
    return Failure(VERDICT, STAGE, found[0].text, detail="\n".join(detail))


def apply(outcome: Outcome, target: Target, setting: str) -> tuple[Outcome, Failure | None]:
    """What becomes of a compile under `launch_limits = setting`: the outcome, and a warning if there is one.

    Records hold what a kernel asks for and never this verdict, so that the table and the setting may change.
    """
    failure = launch_failure(target, outcome.resources) if outcome.failure is None and setting != "off" else None
    if failure is None or setting == "warn":
        return outcome, failure
    return replace(outcome, failure=failure), None


def _found(target: Target, resources: Resources, limits: Limits) -> Iterator[Excess]:
    for kind, name, text in _KINDS:
        numbers = _with_registers if name == "block_registers" else partial(_plain, name)
        asked, granted = numbers(resources, limits)
        if asked > granted:
            words = text.format(asked=asked, granted=granted, registers=resources.get("registers"), target=target)
            yield Excess(kind, asked, granted, words, limits.sources.get(name))


def _plain(name: str, resources: Resources, limits: Limits) -> tuple[int, int]:
    return resources.get(name) or 0, getattr(limits, name)


def _with_registers(resources: Resources, limits: Limits) -> tuple[int, int]:
    """Threads, and how many of these the registers of a block are enough for."""
    threads, registers = resources.get("threads") or 0, resources.get("registers") or 0
    if not limits.block_registers or not registers or threads > limits.threads:
        return 0, 0
    of_warp = -(-registers * _WARP // _UNIT) * _UNIT
    warps = limits.block_registers // _PARTITIONS // of_warp * _PARTITIONS
    return threads, warps * _WARP


# How Triton calls the limit, the number in the table, and the words; in the order in which Triton looks.
_KINDS = (
    ("shared memory", "shared", "asks for {asked} bytes of shared memory a block; {target} grants {granted}"),
    ("tensor memory", "tmem", "asks for {asked} columns of tensor memory a block; {target} grants {granted}"),
    ("threads", "threads", "asks for {asked} threads a block; {target} grants {granted}"),
    (
        "threads",
        "block_registers",
        "asks for {asked} threads a block with {registers} registers each; {target} has registers for {granted}",
    ),
    ("registers", "registers", "asks for {asked} registers a thread; {target} grants {granted}"),
)
