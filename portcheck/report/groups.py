"""The failure groups for people: the compiler's message once, and the cells that it concerns."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from portcheck.baseline import Entry
from portcheck.diagnose import limits
from portcheck.diagnose.fingerprint import distinction
from portcheck.diagnose.signatures import Advice
from portcheck.report.model import Group, Report, ReportCell
from portcheck.report.neighbours import by_row
from portcheck.report.style import Style
from portcheck.report.text import visible
from portcheck.verdicts import Failure, Position

_WIDTH = 117  # of explanations, beside the margin
_WRAPPING: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
_LINES = 12  # of a diagnostic
_LONGEST = 200  # characters of such a line


def render_groups(report: Report, style: Style, *, releases: bool) -> Iterator[str]:
    """One paragraph a group. With `releases`, cells say which release they are of."""
    for group, body in described(report, releases=releases):
        known = told(group.advice) if group.advice else _diagnostic(group.failure)
        head = style("bold", f"{group.letter}  {visible(heading(group))}")
        yield "\n".join([head, *(f"   {visible(line)}" for line in [*body, *known])])


def described(report: Report, *, releases: bool) -> Iterator[tuple[Group, list[str]]]:
    """Every group with what is to be said of its cells: the compiler's message first, then a line each."""
    for group in report.groups:
        body = [
            _message(group.failure),
            *_places(group),
            *_asked(group),
            *written_rows([one for one in group.cells if _place(one) not in group.everywhere], releases),
            *_reasons(group, releases),
            *_otherwise(group),
            *group.notes,
        ]
        yield group, body


def told(advice: Advice) -> Iterator[str]:
    """What is known: title, why, what to do, and where it was reported, each folded to a readable width."""
    texts = {"what": advice.title, "why": advice.why, "do": advice.do, "see": advice.see}
    for word, text in texts.items():
        if text:
            head = f"{word + ':':6}"
            yield from textwrap.wrap(text, _WIDTH, initial_indent=head, subsequent_indent=" " * len(head), **_WRAPPING)


def _diagnostic(failure: Failure) -> Iterator[str]:
    """What the compiler printed, of a failure that no signature explains; the line shown already is left out."""
    lines = [line.rstrip() for line in failure.detail.splitlines()]
    lines = [line for line in lines if line.strip() and line.strip() != failure.message]
    yield from (f"| {line[:_LONGEST]}" for line in lines[:_LINES])
    if len(lines) > _LINES:
        yield f"| … {len(lines) - _LINES} more lines: portcheck explain shows them"


def heading(group: Group) -> str:
    """The kind of failure, the stage and the pass that raised it, and whether it was known."""
    failure = group.failure
    parts = [f"{failure.verdict} in {failure.stage}"]
    if failure.pass_name:
        parts.append(f"pass {failure.pass_name}")
    for status, word in (("xfail", "expected"), ("known", "known")):
        if all(member.status == status for member in group.cells):
            parts.append(word)
    return " · ".join(parts)


def _place(member: ReportCell) -> tuple[str, str]:
    return member.cell.row.name, member.cell.release


def _message(failure: Failure) -> str:
    more = distinction(failure)
    return f"{failure.message} ({more})" if more else failure.message


def _places(group: Group) -> Iterator[str]:
    places = list(dict.fromkeys(at for member in group.cells if member.failure and (at := member.failure.position)))
    if places:
        more = len(places) - 1
        yield f"at {_written(places[0])}" + (f" and {more} more place{'s' if more > 1 else ''}" if more else "")


def _asked(group: Group) -> Iterator[str]:
    """What the cells of a group ask for where each device grants something else, and who says that it does."""
    if group.failure.verdict != limits.VERDICT:
        return
    asked: dict[int, dict[int, None]] = {}
    targets: dict[int, dict[str, None]] = {}
    sources: dict[str, None] = {}
    for member in group.cells:
        for excess in limits.excesses(member.cell.target, member.result.outcome.resources)[:1]:
            asked.setdefault(excess.granted, {})[excess.asked] = None
            targets.setdefault(excess.granted, {})[str(member.cell.target)] = None
            sources |= {excess.source.title: None} if excess.source else {}
    if len(asked) > 1 or any(len(numbers) > 1 for numbers in asked.values()):
        yield "asked of granted: " + "; ".join(
            f"{_span(numbers)} of {granted} on {', '.join(targets[granted])}" for granted, numbers in asked.items()
        )
    if sources:
        yield f"limits from {'; '.join(sources)} (portcheck targets has the links)"


def _span(numbers: Collection[int]) -> str:
    return f"{min(numbers)} to {max(numbers)}" if len(numbers) > 1 else str(*numbers)


def written_rows(cells: Sequence[ReportCell], releases: bool) -> Iterator[str]:
    """A line a row: on which targets, and with `releases` of which ones."""
    for row, by_release in by_row(cells).items():
        alike: dict[str, list[str]] = {}
        for release, targets in by_release.items():
            alike.setdefault(", ".join(map(str, targets)), []).append(release)
        for shown, of in alike.items():
            yield f"{row} on {shown}" + (f" (Triton {', '.join(of)})" if releases else "")


def _reasons(group: Group, releases: bool) -> Iterator[str]:
    """Why the manifest expects these failures, and which are new among others that are not."""
    by_status: dict[str | None, list[ReportCell]] = {}
    for member in group.cells:
        by_status.setdefault(member.status, []).append(member)
    expected = [member.expectation for member in by_status.get("xfail", ()) if member.expectation]
    for reason in dict.fromkeys(expectation.reason for expectation in expected if expectation.reason):
        yield f"expected: {reason}"
    if "new" in by_status and len(by_status) > 1:
        yield f"new of these: {'; '.join(written_rows(by_status['new'], releases))}"


def _otherwise(group: Group) -> Iterator[str]:
    """How the baseline knew cells of this group to fail, where that was another failure."""
    known: dict[Entry, int] = {}
    for member in group.cells:
        if member.status == "new" and member.entry:
            known[member.entry] = known.get(member.entry, 0) + 1
    for entry, count in known.items():
        which = f"{count} of these cells" if count < len(group.cells) else "these cells"
        yield f"new: the baseline knows {which} to fail differently: {entry.verdict} in {entry.stage}: {entry.message}"


def _written(at: Position) -> str:
    return f"{at.file}:{at.line}" + (f":{at.column}" if at.column is not None else "")
