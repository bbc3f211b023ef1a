"""`portcheck diff`: what changed between releases, targets, reports or revisions."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from portcheck.cli.arguments import (
    add_inherit,
    add_jobs,
    add_kernels,
    add_remote,
    add_volume,
    at_least,
    check_file,
    is_same_file,
    listed,
    manifest_path,
    volume,
)
from portcheck.diff.limits import DEFAULT_SLOWER, FLOOR
from portcheck.errors import EnvironmentProblem, PortcheckError, UsageError

if TYPE_CHECKING:
    from portcheck.cache import Store
    from portcheck.diff.model import Diff
    from portcheck.rules.request import Request

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_WITH_REV = "with --rev: "

EXAMPLES = """examples:
  portcheck diff report.json --versions 3.8.0 3.9.0    two releases in one report
  portcheck diff report.json --targets cuda:90 cuda:100
  portcheck diff old.json new.json                     two runs
  portcheck diff --rev main                            the present tree against a git revision
  portcheck diff old.json new.json -k 'attn*' --ir ttgir   and what the compiler did differently
"""


def add_parser(subparsers: Subparsers) -> None:
    """Register `diff`; the parsed arguments go to `run`."""
    parser = subparsers.add_parser(
        "diff",
        help="say what changed between releases, targets, reports or revisions",
        description="Say which cells regressed, were fixed or fail differently, and what changed in size, resources "
        "and time. Exit status 1 if a cell regressed that is not expected to fail.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("files", nargs="*", metavar="FILE", help="two JSON reports; one with --versions or --targets; or a manifest")
    sides = parser.add_mutually_exclusive_group()
    sides.add_argument("--versions", nargs=2, metavar=("A", "B"), help="compare two Triton releases of one report")
    sides.add_argument("--targets", nargs=2, metavar=("A", "B"), help="compare two targets of one report")
    sides.add_argument("--rev", metavar="REV", help="compare the manifest's kernels with those of a git revision")
    add_kernels(parser, "compare")
    add("-t", action="append", default=[], dest="columns", metavar="TARGET,…", help="targets to compare, or wildcards")
    add("--ir", metavar="STAGE", help="show what differs in that stage's output, like ttgir or ptx")
    add(
        "--slower",
        type=float,
        default=DEFAULT_SLOWER,
        metavar="PCT",
        help=f"percent more, and {FLOOR} s, from which a compile counts as slower (default: %(default)g)",
    )
    add("--json", type=Path, metavar="F", help="write the diff as JSON")
    add("--markdown", type=Path, metavar="F", help="write the diff as Markdown")
    add("--triton", action="append", default=[], metavar="RELEASE,…", help="with --rev: releases to check both with")
    add_jobs(parser, _WITH_REV)
    add_remote(parser, _WITH_REV)
    add_inherit(parser, _WITH_REV)
    add_volume(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compare.

    Returns:
        The exit status.

    Raises:
        UsageError: bad arguments, a broken report, a bad manifest, or nothing to compare.
        EnvironmentProblem: Triton or git is not there, or IR is no longer kept.
    """
    from portcheck.diff import data, markdown, text

    _check(args)
    diff = _compared(args)
    if not diff.pairs:
        raise UsageError(f"nothing to compare: {diff.old} and {diff.new} have no cells that are selected")
    color = volume(args)["color"]
    if args.json:
        data.write(diff, args.json)
    if args.markdown:
        markdown.write(diff, args.markdown)
    lost = _show_ir(diff, args, color=color) if args.ir else None
    if not args.quiet:
        sys.stdout.write(text.render(diff, color=color))
    if lost:
        raise lost
    return diff.status


def _check(args: argparse.Namespace) -> None:
    """Refuse arguments that do not fit together, and what could not be written in the end."""
    if not (math.isfinite(args.slower) and args.slower >= 0):
        raise UsageError(f"--slower {args.slower:g}: percent have to be 0 or more")
    at_least("--jobs", args.jobs, 1)
    for flag, example in (("json", "diff.json"), ("markdown", "diff.md")):
        if (path := getattr(args, flag)) is not None:
            check_file(f"--{flag}", path, example)
            if any(is_same_file(path, Path(file)) for file in args.files):
                raise UsageError(f"--{flag} {path}: is what is compared, and would be lost: name another file")
    count = len(args.files)
    if args.rev is not None:
        if count > 1:
            raise UsageError(f"--rev compares with one manifest: leave out {args.files[1]}")
        return
    only = {"--triton": args.triton, "--remote": args.remote, "--no-inherit-site": not args.inherit_site}
    for flag, given in only.items():
        if given:
            raise UsageError(f"{flag}: only with --rev; reports hold what was compiled")
    wanted = 1 if args.versions or args.targets else 2
    if count != wanted:
        given = "no report" if not count else "one report" if count == 1 else f"{count} reports"
        raise UsageError(
            f"{given} given: name two, or one with --versions A B or --targets A B, or compare with --rev REV"
        )


def _compared(args: argparse.Namespace) -> Diff:
    from portcheck.diff.model import compare
    from portcheck.diff.sides import kept, within
    from portcheck.diff.snapshot import read_report

    if args.rev is not None:
        from portcheck.rules.differ import compare_with_revision

        return compare_with_revision(_request(args), args.rev, args.slower)
    reports = [kept(read_report(Path(file)), args.kernel, listed("-t", args.columns)) for file in args.files]
    for axis, sides in (("triton", args.versions), ("target", args.targets)):
        if sides:
            return within(reports[0], axis, sides[0], sides[1], args.slower)
    return compare(*reports, slower=args.slower)


def _request(args: argparse.Namespace) -> Request:
    from portcheck.rules.request import Request
    from portcheck.suite import Selection

    return Request(
        manifest=manifest_path(False, args.files[0] if args.files else None),
        selection=Selection(listed("-t", args.columns), listed("--triton", args.triton), tuple(args.kernel)),
        jobs=args.jobs,
        inherit_site=args.inherit_site,
        remote=args.remote,
        matrix=False,
        **volume(args),
    )


def _show_ir(diff: Diff, args: argparse.Namespace, *, color: bool) -> PortcheckError | None:
    """Print what differs in the output of one stage; returns what is wrong if some of it is no longer kept."""
    from portcheck.diff.irs import NotKept, compare_ir
    from portcheck.report.style import Style

    style, lost = Style(color), list[NotKept]()
    for block in compare_ir(diff, args.ir, _store(), style):
        if isinstance(block, NotKept):
            lost.append(block)
        elif not args.quiet:
            sys.stdout.write("\n".join(block) + "\n\n")
    if not lost:
        return None
    more = f"; so are those of {len(lost) - 1} more cells" if len(lost) > 1 else ""
    return EnvironmentProblem(f"{lost[0]}{more}")


def _store() -> Store:
    """The cache that runs in this folder use."""
    from portcheck.manifest.loader import find_manifest, load
    from portcheck.storage import open_store, user_store
    from portcheck.streams import tell

    def warn(text: str) -> None:
        tell(f"portcheck: {text}")

    found = find_manifest(Path.cwd())
    return open_store(load(found), None, warn) if found else user_store(warn)
