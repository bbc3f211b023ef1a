"""A diff for people, on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck import __version__
from portcheck.diff import words
from portcheck.diff.model import Diff, Pair
from portcheck.report.note import NOTE
from portcheck.report.style import Style

# change → what its section is called, and its colour
_SECTIONS = {
    "regressed": ("regressed", "new"),
    "fixed": ("fixed", "ok"),
    "different": ("fail differently", "known"),
    "added": ("added", "bold"),
    "removed": ("removed", "bold"),
}


def render(diff: Diff, *, color: bool) -> str:
    """The diff as text, ending in a line break. `color` switches ANSI colours on."""
    style = Style(color)
    parts = [f"portcheck {__version__} · {diff.old} -> {diff.new}"]
    parts += [
        _section(diff, diff.of(change), title, role, style)
        for change, (title, role) in _SECTIONS.items()
        if diff.of(change)
    ]
    parts += filter(None, [_spills(diff, style), _slower(diff, style), _moved(diff, style), _totals(diff)])
    parts += [words.counted(diff), *_untold(diff), NOTE]
    return "\n\n".join(parts) + "\n"


def _section(diff: Diff, pairs: list[Pair], title: str, role: str, style: Style) -> str:
    lines = [style(role, f"{len(pairs)} {title}")]
    for members, said in words.alike(pairs):
        lines += [f"  {place}" for place in words.places(diff, members)]
        lines += [f"    {line}" for line in said]
    return "\n".join(lines)


def _spills(diff: Diff, style: Style) -> str:
    """What spills now and did not: slower on the device for certain, so it is said before all other numbers."""
    pairs = [pair for pair in diff.pairs if pair.spills]
    if not pairs:
        return ""
    lines = [style("new", f"{len(pairs)} {'begins' if len(pairs) == 1 else 'begin'} to spill registers")]
    return "\n".join(
        [*lines, *(f"  {words.place(diff, pair)}: spills {words.change(*pair.resources['spills'])}" for pair in pairs)]
    )


def _slower(diff: Diff, style: Style) -> str:
    pairs = [pair for pair in diff.pairs if pair.slower]
    if not pairs:
        return ""
    lines = [style("known", f"{len(pairs)} slower to compile by more than {diff.slower:g} %")]
    return "\n".join([*lines, *(f"  {words.place(diff, pair)}: {words.seconds(pair)}" for pair in pairs)])


def _moved(diff: Diff, style: Style) -> str:
    pairs, more = words.most_moved(diff)
    if not pairs:
        return ""
    lines = [style("bold", "sizes in bytes and resources, what changed most first")]
    for pair in pairs:
        changes = " · ".join(f"{name} {words.change(*values)}" for name, values in words.moved(pair))
        lines += [f"  {words.place(diff, pair)}", f"    {changes}"]
    return "\n".join([*lines, *([f"  and {more} more cells: --json FILE has them all"] if more else [])])


def _totals(diff: Diff) -> str:
    changed = {stage: sums for stage, sums in words.totals(diff).items() if sums[0] != sums[1]}
    shown = " · ".join(f"{stage} {words.change(*sums)}" for stage, sums in changed.items())
    return f"all that compile on both sides: {shown}" if shown else ""


def _untold(diff: Diff) -> Iterator[str]:
    """Pairs of which nothing is said because a tool is missing."""
    lacking = [pair for pair in diff.pairs if pair.lacks_tool]
    if lacking:
        said = next((pair.new.message for pair in lacking if pair.new and pair.new.message), None)
        cells = "cell lacks a tool and is" if len(lacking) == 1 else "cells lack a tool and are"
        yield f"{diff.new}: {len(lacking)} {cells} not compared" + (f": {said}" if said else "")
