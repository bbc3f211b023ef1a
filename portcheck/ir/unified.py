"""A unified diff of two outputs of one stage, normalised; long ones begin with what they consist of."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from portcheck.ir.counts import changed, count
from portcheck.ir.normalise import normalise
from portcheck.report.style import Style

BINARY = ("cubin", "hsaco")
LONG = 60  # lines of diff; what is longer is summarised first
_ROLES = {"+": "ok", "-": "new", "@": "absent"}


def unified(stage: str, old: str, new: str, names: tuple[str, str], style: Style) -> Iterator[str]:
    """The lines of the diff; one line that says so if only accidents differ. `names` are those of the two sides."""
    before, now = normalise(stage, old), normalise(stage, new)
    if before == now:
        before, now = normalise(stage, old, numbered=True), normalise(stage, new, numbered=True)
        if before == now:
            yield f"{stage}: equal, but for names, numbers and places in the source"
            return
        yield f"{stage}: the same operations, on other values; they are numbered as they appear"
    lines = list(difflib.unified_diff(before, now, *names, lineterm="", n=3))
    if len(lines) > LONG:
        yield from _summary(stage, before, now, sum(line[:1] in "+-" for line in lines[2:]))
    yield from (_painted(line, style, head=number < 2) for number, line in enumerate(lines))


def _summary(stage: str, before: list[str], now: list[str], differing: int) -> Iterator[str]:
    yield f"{stage}: {len(before)} -> {len(now)} lines, {differing} of them differ"
    operations = changed(count(stage, before), count(stage, now))
    if not operations:
        yield "  the same operations as often as before"
    width = max((len(name) for name, _, _ in operations), default=0)
    for name, old, new in operations:
        yield f"  {name.ljust(width)}  {old} -> {new} ({new - old:+d})"


def _painted(line: str, style: Style, *, head: bool) -> str:
    return style("bold" if head else _ROLES.get(line[:1], ""), line) if head or line[:1] in _ROLES else line
