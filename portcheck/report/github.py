"""For GitHub Actions: annotations at source lines as workflow commands, and the job's summary.

A step shows ten annotations of a kind and a run fifty; the runner cuts messages at 4,096 characters. It drops a
summary of more than 1 MiB as a whole, and one that comes close to that.
"""

from __future__ import annotations

import os
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from portcheck.errors import UsageError
from portcheck.report import markdown
from portcheck.report.incidents import Incident, causes, incidents, sentence
from portcheck.report.matrix import headline
from portcheck.report.model import Report
from portcheck.report.note import NOTE
from portcheck.report.text import one_line, shortened, visible

ANNOTATIONS = 10  # of one kind that a step shows
SUMMARY = 1_000_000  # bytes of a step's summary: safely below 1 MiB
_MESSAGE = 4_000  # characters
_TITLE = 250


def commands(report: Report) -> str:
    """Workflow commands, a line each: an error for each new cause and kernel, a notice with the counts and the note."""
    return "".join(f"{line}\n" for line in _lines(report))


def quoted(text: str) -> str:
    """`text` such that the runner reads no command in it: compilers may print what looks like one."""
    token = secrets.token_hex(16)
    return f"::stop-commands::{token}\n{text}\n::{token}::\n"


def write_summary(report: Report, environ: Mapping[str, str] = os.environ) -> None:
    """Add the report to the step's summary, if there is one; what earlier commands wrote there stays.

    Raises:
        UsageError: it cannot be written.
    """
    name = environ.get("GITHUB_STEP_SUMMARY")
    if not name:
        return
    path = Path(name)
    try:
        room = SUMMARY - (path.stat().st_size if path.exists() else 0)
        text = markdown.render(report, max(room, 0))
        if len(text.encode()) <= room:
            with path.open("a", encoding="utf-8") as summary:
                summary.write(text)
    except OSError as error:
        raise UsageError(f"GITHUB_STEP_SUMMARY {path}: cannot write the summary: {error.strerror or error}") from error


def _lines(report: Report) -> Iterator[str]:
    general = list(_general(report))
    yield from general
    yield from _failures(report, ANNOTATIONS - len(general))
    if passed := _passed(report, strict=False):
        yield _command("warning", f"Passed unexpectedly: {passed}", title="take out of xfail")
    yield _command("notice", f"{headline(report)}. {NOTE}", title="portcheck")


def _general(report: Report) -> Iterator[str]:
    """Errors that have no place."""
    if not report.cells and not report.excuse:
        yield _command("error", headline(report), title="portcheck")
    if report.missing:
        unknown = f"{len(report.missing)} of {len(report.cells)} cells"
        yield _command("error", f"no record, so nothing is known of {unknown}", title="portcheck")
    if report.untold:
        unknown = f"{len(report.untold)} of {len(report.cells)} cells"
        yield _command("error", f"nothing was compiled, so nothing is known of {unknown}", title="portcheck")
    if passed := _passed(report, strict=True):
        yield _command("error", f"Passed unexpectedly, which xfail_strict forbids: {passed}", title="take out of xfail")


def _passed(report: Report, *, strict: bool) -> str:
    cells = [reported.cell for reported in report.cells if reported.status == "xpass"]
    return ", ".join(one_line(cell.name) for cell in cells if cell.row.settings.xfail_strict == strict)


def _failures(report: Report, room: int) -> Iterator[str]:
    """At most so many errors: a kernel of every cause first, then the others; the last says how many more there are."""
    releases = len(report.toolchains) > 1
    found = _one_of_each_first([incident for incident in incidents(report) if incident.status == "new"])
    shown = found if len(found) <= room else found[: room - 1]
    for incident in shown:
        at = incident.place
        place = {"file": visible(at.file), "line": at.line, **({"col": at.column} if at.column else {})}
        message = "\n".join([sentence(incident, releases=releases), *causes(incident.group)])
        yield _command("error", message, **place, title=shortened(incident.title, _TITLE))
    if left := found[len(shown) :]:
        kernels = ", ".join(dict.fromkeys(one_line(incident.kernel) for incident in left))
        yield _command("error", f"{len(left)} more failures, in {kernels}: see the summary", title="portcheck")


def _one_of_each_first(found: list[Incident]) -> list[Incident]:
    """First the first incident of every group, then the second of each, and so on."""
    before: Counter[str] = Counter()
    turns: dict[int, int] = {}
    for index, incident in enumerate(found):
        turns[index] = before[incident.group.letter]
        before[incident.group.letter] += 1
    return [found[index] for index in sorted(turns, key=turns.__getitem__)]


def _command(kind: str, message: str, **properties: object) -> str:
    told = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{kind} {told}::{_data(shortened(message, _MESSAGE))}"


def _data(text: str) -> str:
    """As the runner reads the data of a command."""
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return escaped.encode("utf-8", "backslashreplace").decode()


def _property(text: str) -> str:
    """As the runner reads a property of a command."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
