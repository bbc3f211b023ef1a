"""`--ir`: the outputs of one stage side by side, as far as the cache still has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from portcheck.cache import Store
from portcheck.diff import words
from portcheck.diff.model import Diff
from portcheck.diff.snapshot import Seen
from portcheck.errors import UsageError
from portcheck.ir.kept import find
from portcheck.ir.unified import BINARY, unified
from portcheck.patterns import suggestion
from portcheck.report.style import Style
from portcheck.report.text import visible


@dataclass(frozen=True, slots=True)
class NotKept:
    """An output that the cache no longer has."""

    stage: str
    seen: Seen

    def __str__(self) -> str:
        cell = self.seen
        command = f"portcheck check --triton {cell.triton} -t {cell.target} -k '{cell.row}' --save-ir DIR"
        return f"{self.stage} of {cell.name} is no longer in the cache of this folder: make it again with: {command}"


def compare_ir(diff: Diff, stage: str, store: Store, style: Style) -> Iterator[list[str] | NotKept]:
    """For each pair whose outputs of `stage` differ, the lines of a unified diff, or the one that is not kept.

    Raises:
        UsageError: there is no such stage, or its output is no text.
    """
    known = words.stages({name for pair in diff.pairs for name in pair.sizes})
    if stage not in known:
        has = ", ".join(known) or "no outputs at all"
        raise UsageError(f'--ir: no cell has a stage "{stage}"{suggestion(stage, known)}: there are {has}')
    if stage in BINARY:
        text = " or ".join(name for name in known if name in ("ptx", "amdgcn"))
        raise UsageError(f"--ir {stage}: is binary: {text or 'llir'} is the nearest text")
    equal = 0
    for pair in diff.pairs:
        sides = [(seen, seen.artifacts[stage]) for seen in (pair.old, pair.new) if seen and stage in seen.artifacts]
        if len(sides) < 2:
            continue
        if sides[0][1].digest == sides[1][1].digest:
            equal += 1
            continue
        texts = [find(store, seen.back_key, artifact) for seen, artifact in sides]
        if missing := [seen for (seen, _), data in zip(sides, texts, strict=True) if data is None]:
            yield NotKept(stage, missing[0])
            continue
        old, new = (visible(data.decode("utf-8", errors="replace")) for data in texts if data is not None)
        names = (f"{diff.old}/{sides[0][0].name}/{stage}", f"{diff.new}/{sides[1][0].name}/{stage}")
        yield [style("bold", words.place(diff, pair)), *unified(stage, old, new, names, style)]
    if equal:
        yield [f"{stage} is the same to the byte in {equal} cell{'' if equal == 1 else 's'}"]
