"""`portcheck check`: compile what is not known, print the matrix."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from portcheck.cli.arguments import (
    add_baseline,
    add_formats,
    add_limits,
    add_remote,
    add_selection,
    add_volume,
    at_least,
    formats,
    limits,
    selection,
    volume,
)
from portcheck.errors import UsageError

if TYPE_CHECKING:
    from portcheck.rules.request import Request
    from portcheck.rules.run import Run

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

EXAMPLES = """examples:
  portcheck check --demo                          nine kernels that show what breaks where
  portcheck check                                 the manifest of this folder, or of the nearest above
  portcheck check -t cuda:90,hip:gfx942 -k 'attn*'  some columns and some rows of it
  portcheck check -t 'hip:*'                      only the AMD targets that the manifest lists
  portcheck check --triton 3.8.0,current          two releases; the first gets an environment of its own
  portcheck check --triton ./triton-3.9.0+fix-cp311-cp311-linux_x86_64.whl,/src/triton/.venv
  portcheck check --json report.json              the same as data
  portcheck check --junit junit.xml --sarif portcheck.sarif   for test results and code scanning of a CI
  portcheck check --html report.html              a page to filter and to click through, in one file
  portcheck check --github --baseline baseline.toml   annotate what is new at its line, in GitHub Actions
  portcheck check --baseline baseline.toml        fail only on what is new since portcheck baseline
  portcheck check --since main                    only rows whose kernels differ from those of main
  portcheck check --dry-run                       what would be compiled, and why
  portcheck check --static only                   what is certain to fail, at once and with nothing compiled
  portcheck check --static skip                   compile only what is not certain to fail
"""


_COMPILING = ("force", "save_ir", "audit")  # what makes no sense where nothing is compiled


def add_parser(subparsers: Subparsers) -> None:
    """Register `check`; the parsed arguments go to `run`."""
    parser = subparsers.add_parser(
        "check",
        help="compile kernels for every target and print the matrix",
        description="Compile every kernel of a manifest for every target, from the cache where it is known.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add_selection(parser)
    add_limits(parser)
    add("--force", action="store_true", help="compile what is known, too")
    add(
        "--static",
        choices=("show", "skip", "only"),
        default="show",
        help="failures that are certain beforehand, predicted from what Triton says it lacks: show how many came true "
        "(default), skip compiling them, or only predict and compile nothing",
    )
    add_formats(parser)
    add_baseline(parser)
    add("--save-ir", type=Path, metavar="DIR", help="write what every stage made of every cell")
    add_remote(parser)
    add("--since", metavar="REV", help="only rows whose kernels differ from that git revision")
    add("--dry-run", action="store_true", help="only say what would be compiled")
    add("-x", dest="max_failures", action="store_const", const=1, help="stop at the first new failure")
    add("--max-failures", type=int, metavar="N", help="stop after N new failures")
    add("--audit", type=int, metavar="N", help="run the front end of N random hits and compare it with their records")
    add_volume(parser, verbose="say of each cell where its verdict came from")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Check.

    Returns:
        The exit status.

    Raises:
        UsageError: bad arguments or a bad manifest.
        EnvironmentProblem: Triton is not there.
    """
    from portcheck.rules.execute import execute
    from portcheck.rules.run import Run

    checked = Run(_request(args))
    if args.since and not _differs(checked, args.since):
        return checked.status
    if args.dry_run:
        from portcheck.rules.dryrun import dry_run

        print(dry_run(checked))
        checked.close()  # telling what differs from a revision may have started processes
        return 0
    return execute(checked)


def _differs(run: Run, revision: str) -> bool:
    """Leave only the rows that differ from `revision`; False if there are none, which is said and reported."""
    from portcheck.rules.reports import print_report, write_reports
    from portcheck.rules.revision import keep_differing

    since = keep_differing(run, revision)
    if since.rows:
        run.remarks.append(str(since))
        return True
    run.excuse = str(since)
    write_reports(run)  # whoever reads the files finds no cells in them
    print_report(run)  # of no cell, but of trouble
    if not run.request.quiet:
        print(since)
    return False


def _request(args: argparse.Namespace) -> Request:
    from portcheck.rules.request import Request

    if args.since is not None and not args.since.strip():
        raise UsageError("--since: names no revision: leave it out to check all rows")
    at_least("--audit", args.audit, 1)
    at_least("--max-failures", args.max_failures, 1)
    if args.save_ir is not None and args.save_ir.exists() and not args.save_ir.is_dir():
        raise UsageError(f"--save-ir {args.save_ir}: is a file: name a folder")
    if args.static == "only" and (flag := next((f for f in _COMPILING if getattr(args, f)), None)):
        name = f"--{flag.replace('_', '-')}"
        raise UsageError(f"{name}: --static only compiles nothing, so there is nothing to do for it: leave one out")
    return Request(
        **selection(args),
        **limits(args),
        **formats(args),
        **volume(args),
        create=not args.dry_run,
        force=args.force,
        static=args.static,
        baseline=args.baseline,
        audit=args.audit,
        max_failures=args.max_failures,
        save_ir=args.save_ir,
        rewrite=True,
    )
