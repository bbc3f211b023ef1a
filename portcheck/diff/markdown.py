"""A diff as Markdown, for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from portcheck.diff import words
from portcheck.diff.model import Diff, Pair
from portcheck.report.markdown import escaped
from portcheck.report.note import NOTE
from portcheck.report.output import write_file

_SECTIONS = {
    "regressed": "Regressed",
    "fixed": "Fixed",
    "different": "Fail differently",
    "added": "Added",
    "removed": "Removed",
}


def write(diff: Diff, path: Path) -> None:
    """Write the diff to `path`.

    Raises:
        UsageError: it cannot be written there.
    """
    write_file(path, [render(diff)])


def render(diff: Diff) -> str:
    """The diff as Markdown, ending in a line break."""
    parts = [f"## {escaped(diff.old)} → {escaped(diff.new)}", words.counted(diff)]
    for change, title in _SECTIONS.items():
        if pairs := diff.of(change):
            parts.append(f"### {title} ({len(pairs)})\n\n{_listed(diff, pairs)}")
    numbers = list(_numbers(diff))
    parts += numbers
    return "\n\n".join([*parts, f"_{NOTE}_"]) + "\n"


def _listed(diff: Diff, pairs: list[Pair]) -> str:
    lines = []
    for members, said in words.alike(pairs):
        shown = "; ".join(map(escaped, words.places(diff, members)))
        lines += [f"- **{shown}**", *(f"  {escaped(line)}" for line in said)]
    return "\n".join(lines)


def _numbers(diff: Diff) -> Iterator[str]:
    if spilling := [pair for pair in diff.pairs if pair.spills]:
        yield _table(diff, "Begin to spill registers", "spills", [(pair, _spilled(pair)) for pair in spilling])
    if slower := [pair for pair in diff.pairs if pair.slower]:
        title = f"Slower to compile by more than {diff.slower:g} %"
        yield _table(diff, title, "seconds", [(pair, words.seconds(pair)) for pair in slower])
    pairs, more = words.most_moved(diff)
    if pairs:
        yield _table(diff, "Sizes in bytes, and resources", "changed", [(pair, _moved(pair)) for pair in pairs])
    if more:
        yield f"And {more} more cells."


def _table(diff: Diff, title: str, heading: str, rows: list[tuple[Pair, str]]) -> str:
    lines = [f"| {escaped(words.place(diff, pair))} | {escaped(text)} |" for pair, text in rows]
    return "\n".join([f"### {title}", "", f"| cell | {heading} |", "|---|---|", *lines])


def _spilled(pair: Pair) -> str:
    return words.change(*pair.resources["spills"])


def _moved(pair: Pair) -> str:
    return " · ".join(f"{name} {words.change(*values)}" for name, values in words.moved(pair))
