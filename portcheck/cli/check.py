"""`portcheck check`: compile what is not known, print the matrix."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

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
  portcheck check --json report.json              the same as data
  portcheck check --since main                    only rows whose kernels differ from those of main
  portcheck check --dry-run                       what would be compiled, and why
"""


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
    add("manifest", nargs="?", metavar="MANIFEST", help="portcheck.toml or pyproject.toml (default: the nearest)")
    add("--demo", action="store_true", help="check the bundled demo instead of a manifest")
    add("-t", "--targets", action="append", default=[], metavar="TARGET,…", help="targets, or wildcards over them")
    add("--triton", action="append", default=[], metavar="RELEASE,…", help="Triton releases; `current` is this one's")
    add("-k", "--kernel", action="append", default=[], metavar="GLOB", help="rows to check; may be given again")
    add(
        "-j",
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="cells at a time (default: %(default)s)",
    )
    add("--timeout", type=float, metavar="S", help="seconds a cell may take")
    add("--max-rss", metavar="SIZE", help="memory a cell may take, like 8GiB")
    add("--isolation", choices=("fork", "spawn"), default="fork", help="spawn: a fresh interpreter for every cell")
    add("--force", action="store_true", help="compile what is known, too")
    add("--json", type=Path, metavar="F", help="write the JSON report")
    add("--save-ir", type=Path, metavar="DIR", help="write what every stage made of every cell")
    add("--remote", metavar="URL", help="a shared cache behind the local one, like file:///mnt/team/portcheck")
    add("--since", metavar="REV", help="only rows whose kernels differ from that git revision")
    add("--dry-run", action="store_true", help="only say what would be compiled")
    add("-x", dest="max_failures", action="store_const", const=1, help="stop at the first new failure")
    add("--max-failures", type=int, metavar="N", help="stop after N new failures")
    add("--audit", type=int, metavar="N", help="run the front end of N random hits and compare it with their records")
    add("--no-color", action="store_true", help="no colours (NO_COLOR does the same)")
    volume = parser.add_mutually_exclusive_group()
    volume.add_argument("-q", "--quiet", action="store_true", help="only errors and the exit status")
    volume.add_argument("-v", "--verbose", action="store_true", help="say of each cell where its verdict came from")
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
    from portcheck.rules.revision import keep_differing

    since = keep_differing(run, revision)
    if since.rows:
        run.remarks.append(str(since))
        return True
    run.request = replace(run.request, matrix=False)
    run.write_report()  # whoever reads the files finds no cells in them
    run.print_report()
    if not run.request.quiet:
        print(since)
    return False


def _request(args: argparse.Namespace) -> Request:
    from portcheck.rules.request import Request
    from portcheck.sizes import parse_size
    from portcheck.suite import Selection

    _at_least("--jobs", args.jobs, 1)
    _at_least("--audit", args.audit, 1)
    _at_least("--max-failures", args.max_failures, 1)
    if args.timeout is not None and not args.timeout > 0:
        raise UsageError(f"--timeout {args.timeout:g}: seconds have to be more than 0")
    _check_files(args.json, args.save_ir)
    color = sys.stdout.isatty() and not args.no_color and "NO_COLOR" not in os.environ
    return Request(
        manifest=manifest_path(args.demo, args.manifest),
        selection=Selection(
            targets=_list(args.targets),
            triton=_list(args.triton),
            kernels=tuple(args.kernel),
            timeout=args.timeout,
            max_rss=parse_size(args.max_rss) if args.max_rss else None,
        ),
        jobs=args.jobs,
        isolation=args.isolation,
        force=args.force,
        remote=args.remote,
        audit=args.audit,
        max_failures=args.max_failures,
        json=args.json,
        save_ir=args.save_ir,
        color=color,
        no_color=args.no_color,
        width=shutil.get_terminal_size().columns if sys.stdout.isatty() else None,
        quiet=args.quiet,
        verbose=args.verbose,
    )


def _check_files(json: Path | None, save_ir: Path | None) -> None:
    """Refuse what could not be written in the end, before anything is compiled."""
    if json is not None:
        if str(json) == "-":
            raise UsageError("--json -: name a file; /dev/stdout is standard output")
        if json.is_dir():
            raise UsageError(f"--json {json}: is a folder: name a file in it, for example {json / 'report.json'}")
        if not json.parent.is_dir():
            raise UsageError(f"--json {json}: there is no folder {json.parent}: create it first")
    if save_ir is not None and save_ir.exists() and not save_ir.is_dir():
        raise UsageError(f"--save-ir {save_ir}: is a file: name a folder")


def manifest_path(demo: bool, given: str | None) -> Path:
    """The manifest that a command line means: the demo's, the one it names, or the nearest.

    Raises:
        UsageError: there is none, or two are meant.
    """
    from portcheck.demo import MANIFEST
    from portcheck.manifest.loader import find_manifest

    if demo:
        if given:
            raise UsageError("--demo brings its own manifest: leave out one of the two")
        return MANIFEST
    if given:
        path = Path(given)
        if path.is_dir():
            raise UsageError(f"{path} is a folder: name the manifest in it, for example {path / 'portcheck.toml'}")
        return path
    found = find_manifest(Path.cwd())
    if found is None:
        raise UsageError("no portcheck.toml here or in a folder above: write one, or try portcheck check --demo")
    return found


def _list(given: list[str]) -> tuple[str, ...]:
    return tuple(part.strip() for text in given for part in text.split(",") if part.strip())


def _at_least(flag: str, value: int | None, least: int) -> None:
    if value is not None and value < least:
        raise UsageError(f"{flag} {value}: has to be {least} or more")
