"""The report for people: a matrix a release, the failure groups, the summary and the note."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from portcheck import __version__
from portcheck.report.groups import render_groups
from portcheck.report.launches import render_launches
from portcheck.report.model import MISSING, ORIGINS, SKIPPED, UNTOLD, Report, ReportCell
from portcheck.report.note import NOTE
from portcheck.report.passed import render_passed
from portcheck.report.static import static_lines
from portcheck.report.style import Style
from portcheck.report.tuned import render_tuned
from portcheck.target import Target
from portcheck.toolchain.model import Toolchain
from portcheck.verdicts import SHORT

_GAP = "  "
_ABSENT = "-"
_WITHOUT = {MISSING: MISSING, UNTOLD: "?"}  # origin → what the matrix shows in place of a verdict
_FAILED = {"new": "new", "known": "known", "xfail": "expected"}  # status → how the summary calls it


def render(report: Report, *, color: bool, width: int | None) -> str:
    """The report as text, ending in a line break.

    `color` switches ANSI colours on. `width` is that of the terminal in columns; wider matrices go into several blocks,
    and None lets them be as wide as they are.
    """
    style = Style(color)
    several = len(report.toolchains) > 1
    parts = [_header(report)]
    for toolchain in report.toolchains:
        title = style("bold", f"Triton {toolchain.release}") if several else None
        parts.extend(_matrix(report, toolchain, title, style, width))
    parts.extend(render_groups(report, style, releases=several))
    parts.extend(render_tuned(report, style, releases=several))
    parts.extend(render_launches(report, style, releases=several))
    parts.extend(render_passed(report, style, releases=several))
    parts += [*static_lines(report), _summary(report, several), NOTE]
    return "\n\n".join(parts) + "\n"


def _header(report: Report) -> str:
    tools = [f"Triton {tool.release} (Python {tool.python})" for tool in report.toolchains]
    return " · ".join([f"portcheck {__version__}", *tools, "no GPU involved"])


def _matrix(report: Report, toolchain: Toolchain, title: str | None, style: Style, width: int | None) -> Iterator[str]:
    """The matrix of one release, in as many blocks as the width needs."""
    rows: dict[str, dict[Target, ReportCell]] = {}
    for reported in report.cells:
        if reported.cell.release == toolchain.release:
            rows.setdefault(reported.cell.row.name, {})[reported.cell.target] = reported
    used = {target for cells in rows.values() for target in cells}
    columns = [target for target in report.targets if target in used]
    names = max(map(len, rows), default=0)
    widths = {
        target: max(len(str(target)), *(len(text_of(cells.get(target))) for cells in rows.values()))
        for target in columns
    }
    for block in _blocks(columns, widths, names, width):
        lines = [_GAP.join([" " * names, *(str(target).ljust(widths[target]) for target in block)])]
        for name, cells in rows.items():
            shown = [_cell(cells.get(target), widths[target], style) for target in block]
            lines.append(_GAP.join([name.ljust(names), *shown]))
        yield "\n".join([*([title] if title else []), *(line.rstrip() for line in lines)])


def _blocks(
    columns: Sequence[Target], widths: dict[Target, int], names: int, width: int | None
) -> Iterator[list[Target]]:
    block: list[Target] = []
    used = names
    for target in columns:
        needed = len(_GAP) + widths[target]
        if block and width is not None and used + needed > width:
            yield block
            block, used = [], names
        block.append(target)
        used += needed
    if block:
        yield block


def text_of(reported: ReportCell | None) -> str:
    """What the matrix shows in a cell; None: there is no such cell."""
    if reported is None or reported.status is None:
        return _WITHOUT.get(reported.result.origin, _ABSENT) if reported else _ABSENT
    if reported.status in ("new", "known"):
        return f"{SHORT[reported.result.outcome.verdict]}:{reported.letter}"
    configs = reported.result.configs
    survivors = f" {configs.ok}/{configs.of}" if configs and configs.ok < configs.of else ""
    return f"{reported.status}{survivors}"


def _cell(reported: ReportCell | None, width: int, style: Style) -> str:
    status = reported.status if reported else None
    return style(status or "absent", text_of(reported).ljust(width))


def headline(report: Report) -> str:
    """What became of the cells, of those too that have no verdict, or why there are none."""
    if not report.cells:
        return report.excuse or "no cell was checked"
    unknown = sum(reported.status is None for reported in report.cells)
    return counted(report) + (f", {unknown} without a verdict" if unknown else "")


def counted(report: Report) -> str:
    """How many cells there are, and what became of them."""
    count = report.summary
    failed = ", ".join(f"{count[status]} {word}" for status, word in _FAILED.items() if count[status])
    verdicts = f"{_counted(count['cells'])}: {count['ok']} ok, {count['failed']} failed" + (
        f" ({failed})" if failed else ""
    )
    if count["xpass"]:
        verdicts += f", {count['xpass']} passed unexpectedly"
    return verdicts


def _summary(report: Report, several: bool) -> str:
    count = report.summary
    without = {MISSING: len(report.missing), "not compiled": len(report.untold)}
    skipped = count[SKIPPED] - sum(without.values())
    counts = {**{origin: count[origin] for origin in ORIGINS}, SKIPPED: skipped, **without}
    origins = ", ".join(f"{number} {origin}" for origin, number in counts.items() if number)
    return " · ".join(filter(None, [counted(report), _slowest(report, several), origins, f"{report.seconds:.1f} s"]))


def _counted(cells: int) -> str:
    return f"{cells} cell{'s' if cells != 1 else ''}"


def _slowest(report: Report, several: bool) -> str | None:
    timed = [reported for reported in report.cells if reported.status and reported.result.outcome.seconds]
    if not timed:
        return None
    slowest = max(timed, key=lambda reported: reported.result.outcome.seconds)
    cell = slowest.cell
    release = f" with {cell.release}" if several else ""
    return f"slowest compile {slowest.result.outcome.seconds:.2f} s ({cell.row.name} on {cell.target}{release})"
