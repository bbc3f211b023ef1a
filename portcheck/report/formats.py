"""The table of the formats that reports are written in. A new one is a module with `lines`, and an entry here.

Parsers of arguments read the table, so what it takes to write is imported by whoever writes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from portcheck.report.model import Report


@dataclass(frozen=True, slots=True)
class Format:
    """One way to write a report into a file."""

    name: str  # of the argument: `--json`, `portcheck_suite(json=…)`
    task: str  # that writes it
    what: str  # it is, for people
    example: str  # of a file's name
    module: str  # with `lines(report) -> Iterable[str]`, deterministic for the same report; imported when it is needed

    def lines(self, report: Report) -> Iterable[str]:
        """The pieces of the file."""
        pieces: Iterable[str] = import_module(self.module).lines(report)
        return pieces

    def write(self, report: Report, path: Path) -> None:
        """Write the report to `path`, whole or not at all.

        Raises:
            UsageError: it cannot be written there.
        """
        from portcheck.report.output import write_file

        write_file(path, self.lines(report))

    def shown(self, report: Report) -> str:
        """What decides the content of the file, but for times and for where verdicts came from."""
        from portcheck.report.timeless import timeless

        return "".join(self.lines(timeless(report)))


FORMATS = (
    Format("json", "report", "the JSON report", "report.json", "portcheck.report.jsonreport"),
    Format("junit", "junit", "JUnit XML, a test case a cell", "junit.xml", "portcheck.report.junit"),
    Format("sarif", "sarif", "SARIF, for code scanning", "portcheck.sarif", "portcheck.report.sarif"),
    Format("markdown", "markdown", "Markdown, for a comment or a wiki", "report.md", "portcheck.report.markdown"),
    Format("html", "html", "one HTML page, for a browser", "report.html", "portcheck.report.html.page"),
)
