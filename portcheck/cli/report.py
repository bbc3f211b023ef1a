"""`portcheck report`: the matrix and the report files of what is recorded, and nothing compiled."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from portcheck.cli.arguments import (
    add_baseline,
    add_formats,
    add_remote,
    add_selection,
    add_volume,
    formats,
    selection,
    volume,
)

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

EXAMPLES = """examples:
  portcheck report                                the matrix of what was checked last
  portcheck report --json report.json             the same as data; written only if it would differ
  portcheck report --markdown report.md           for a comment on a pull request
  portcheck report --html report.html             a page for a browser, of what was checked last
  portcheck report -t 'hip:*' --baseline baseline.toml
"""


def add_parser(subparsers: Subparsers) -> None:
    """Register `report`; the parsed arguments go to `run`."""
    parser = subparsers.add_parser(
        "report",
        help="report from the cache alone, compile nothing",
        description="Report what is recorded of every cell, and compile nothing. Cells without a record are listed as "
        "missing, and make the exit status 1.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_selection(parser, "report")
    add_formats(parser)
    add_baseline(parser)
    add_remote(parser)
    add_volume(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Report.

    Returns:
        The exit status: that of a check, and 1 if cells are missing.

    Raises:
        UsageError: bad arguments or a bad manifest.
        EnvironmentProblem: Triton is not there.
    """
    from portcheck.rules.reports import report_from_cache
    from portcheck.rules.request import Request
    from portcheck.rules.run import Run

    request = Request(**selection(args), **formats(args), **volume(args), baseline=args.baseline, create=False)
    return report_from_cache(Run(request))
