"""The report as Markdown: the counts, a matrix a release, the failure groups and the note.

Names and messages hold whatever users and compilers write, so they stand in code or with every special character
escaped: no HTML, no link, no mention of anybody comes out of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from portcheck import __version__
from portcheck.report.groups import described, heading
from portcheck.report.matrix import headline, text_of
from portcheck.report.model import Group, Report, ReportCell
from portcheck.report.note import NOTE
from portcheck.report.passed import at_most, surprises
from portcheck.report.static import static_lines
from portcheck.report.text import one_line, shortened, visible
from portcheck.target import Target

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~@&!])")
_TICKS = re.compile("`+")
_FOLDED = 60  # rows; in larger matrices those that are fine are only counted
_BLOCK = 200  # rows of one table
_MOST = 2_000  # characters of a compiler's output
_REMARK = 100  # bytes for saying that something is left out


def lines(report: Report) -> Iterator[str]:
    """The pieces of the file."""
    yield render(report)


def render(report: Report, limit: int | None = None) -> str:
    """The report as Markdown, ending in a line break.

    `limit` is in bytes of UTF-8: what does not fit is left out part by part, and counted.
    """
    head, tail = f"## portcheck: {escaped(headline(report))}", f"_{NOTE}_"
    tools, matrices = _tools(report), list(_matrices(report))
    groups = [*_groups(report), *_surprises(report), *map(escaped, static_lines(report))]
    left_out = 0
    if limit is not None:
        everything = len(groups) + len(matrices)
        groups, room = _fitting(groups, limit - sum(map(_size, (head, tools, tail))) - _REMARK)
        matrices, _ = _fitting(matrices, room)  # what fails is more than where
        left_out = everything - len(groups) - len(matrices)
    remark = [f"**{left_out} further parts are left out, since this page may not be longer.**"] if left_out else []
    return "\n\n".join([head, tools, *matrices, *groups, *remark, tail]) + "\n"


def fenced(text: str) -> str:
    """`text` as a block of code, whatever it contains."""
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(text)), default=0))
    return f"{fence}text\n{visible(text).strip(chr(10))}\n{fence}"


def code(text: str) -> str:
    """`text` as code within a line; in a table, too."""
    shown = one_line(text).replace("|", r"\|")
    ticks = "`" * (1 + max(map(len, _TICKS.findall(shown)), default=0))
    space = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{ticks}{space}{shown}{space}{ticks}" if shown else ""


def escaped(text: str) -> str:
    """`text` in one line as Markdown shows it; an @ would call somebody."""
    return _SPECIAL.sub(r"\\\1", one_line(text))


def _fitting(parts: Iterable[str], room: int) -> tuple[list[str], int]:
    """Those of `parts` for which there is room, and the room that they leave, in bytes."""
    kept = []
    for part in parts:
        if _size(part) <= room:
            kept.append(part)
            room -= _size(part)
    return kept, room


def _size(part: str) -> int:
    return len(part.encode()) + len("\n\n")


def _tools(report: Report) -> str:
    tools = [f"Triton {tool.release} (Python {tool.python})" for tool in report.toolchains]
    return escaped(" · ".join([f"portcheck {__version__}", *tools, "no GPU involved"]))


def _matrices(report: Report) -> Iterator[str]:
    for toolchain in report.toolchains:
        rows: dict[str, dict[Target, ReportCell]] = {}
        for reported in report.cells:
            if reported.cell.release == toolchain.release:
                rows.setdefault(reported.cell.row.name, {})[reported.cell.target] = reported
        title = [f"### Triton {escaped(toolchain.release)}"] if len(report.toolchains) > 1 else []
        shown = _interesting(rows) if len(rows) > _FOLDED else rows
        names = list(shown)
        for start in range(0, len(names), _BLOCK):
            block = {name: shown[name] for name in names[start : start + _BLOCK]}
            yield "\n\n".join([*(title if not start else []), _table(report.targets, block)])
        if title and not shown:
            yield title[0]
        if fine := len(rows) - len(shown):
            yield f"{fine} {'further ' if shown else ''}rows are ok wherever they were compiled."


def _interesting(rows: dict[str, dict[Target, ReportCell]]) -> dict[str, dict[Target, ReportCell]]:
    return {name: cells for name, cells in rows.items() if any(cell.status != "ok" for cell in cells.values())}


def _table(targets: Sequence[Target], rows: dict[str, dict[Target, ReportCell]]) -> str:
    used = {target for cells in rows.values() for target in cells}
    columns = [target for target in targets if target in used]
    table = [["kernel", *(code(str(target)) for target in columns)], ["---"] * (len(columns) + 1)]
    table += [[code(name), *(_cell(cells.get(target)) for target in columns)] for name, cells in rows.items()]
    return "\n".join(f"| {' | '.join(row)} |" for row in table)


def _cell(reported: ReportCell | None) -> str:
    new = reported is not None and reported.status == "new"
    return f"**{text_of(reported)}**" if new else text_of(reported)


def _groups(report: Report) -> Iterator[str]:
    for group, body in described(report, releases=len(report.toolchains) > 1):
        message, *rest = body
        told = "\n".join(f"- {line}" for line in [*_folded([escaped(line) for line in rest]), *_advice(group)])
        yield "\n\n".join([f"### {group.letter} · {escaped(heading(group))}", fenced(message), told, *_output(group)])


def _folded(told: list[str]) -> list[str]:
    """The first lines and the last: rows of a cause that hits very many are in the matrix, too."""
    if len(told) <= 40:
        return told
    return [*told[:30], f"… {len(told) - 40} lines are left out …", *told[-10:]]


def _advice(group: Group) -> list[str]:
    """What is known of the cause; a link stays one, since no user wrote it."""
    advice = group.advice
    if advice is None:
        return []
    texts = {"what": advice.title, "why": advice.why, "do": advice.do}
    known = [f"**{word}** {escaped(text)}" for word, text in texts.items() if text]
    return [*known, *([f"**see** <{advice.see}>"] if advice.see else [])]


def _output(group: Group) -> Iterator[str]:
    detail = shortened(visible(group.failure.detail).strip(), _MOST)
    if detail and detail != group.failure.message:
        yield f"<details><summary>what the compiler printed</summary>\n\n{fenced(detail)}\n\n</details>"


def _surprises(report: Report) -> Iterator[str]:
    for title, names in surprises(report, releases=len(report.toolchains) > 1):
        if names:
            yield "\n".join([f"### {escaped(title)}", "", *(f"- {escaped(name)}" for name in at_most(names))])
