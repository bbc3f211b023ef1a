"""`portcheck baseline`: freeze today's failures, so that a check fails only on what is new."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from portcheck.cli.arguments import (
    add_limits,
    add_remote,
    add_selection,
    add_volume,
    check_file,
    limits,
    selection,
    volume,
)

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

EXAMPLES = """examples:
  portcheck baseline -o baseline.toml             freeze today's failures
  portcheck check --baseline baseline.toml        fail only on others
  portcheck baseline -o baseline.toml --prune     take out what no longer fails, add nothing
  portcheck baseline -o baseline.toml -k 'attn*'  freeze the failures of some rows anew, leave the others
"""


def add_parser(subparsers: Subparsers) -> None:
    """Register `baseline`; the parsed arguments go to `run`."""
    parser = subparsers.add_parser(
        "baseline",
        help="freeze today's failures, so that only new ones fail a check",
        description="Freeze the failures of today, by cell and fingerprint, for check --baseline. Cells that are "
        "not known are compiled. What the file has of cells that are not selected is left alone.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_selection(parser)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", required=True, help="the baseline to write")
    parser.add_argument(
        "--prune",
        action="store_true",
        help="only take out what no longer fails, what xfail expects and what the manifest no longer has",
    )
    add_limits(parser)
    add_remote(parser)
    add_volume(parser, verbose="say of each cell where its verdict came from")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Freeze.

    Returns:
        The exit status: 0, whatever fails.

    Raises:
        UsageError: bad arguments, a bad manifest or a bad baseline.
        EnvironmentProblem: Triton is not there.
    """
    from portcheck.baseline import load
    from portcheck.rules.execute import execute_baseline
    from portcheck.rules.request import Request
    from portcheck.rules.run import Run

    check_file("-o", args.output, "baseline.toml")
    if args.prune or args.output.is_file():
        load(args.output)  # a broken one is told before anything is compiled
    request = Request(**selection(args), **limits(args), **volume(args))
    return execute_baseline(Run(request), str(args.output), prune=args.prune)
