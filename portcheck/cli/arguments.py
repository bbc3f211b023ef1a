"""The arguments that several commands take: what to check, how to go about it, where to write."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portcheck.errors import UsageError

if TYPE_CHECKING:
    from portcheck.suite import Selection


def add_selection(parser: argparse.ArgumentParser, verb: str = "check") -> None:
    """What to check: the manifest and a part of it."""
    add = parser.add_argument
    add("manifest", nargs="?", metavar="MANIFEST", help="portcheck.toml or pyproject.toml (default: the nearest)")
    add("--demo", action="store_true", help=f"{verb} the bundled demo instead of a manifest")
    add("-t", "--targets", action="append", default=[], metavar="TARGET,…", help="targets, or wildcards over them")
    add(
        "--triton",
        action="append",
        default=[],
        metavar="RELEASE,…",
        help="Triton releases, wheels or virtual environments; `current` is this interpreter's",
    )
    add_kernels(parser, verb)
    add_inherit(parser)


def add_kernels(parser: argparse.ArgumentParser, verb: str) -> None:
    """Which rows."""
    parser.add_argument(
        "-k", "--kernel", action="append", default=[], metavar="GLOB", help=f"rows to {verb}; may be given again"
    )


def add_inherit(parser: argparse.ArgumentParser, when: str = "") -> None:
    """What environments may import. `when` says when it counts."""
    parser.add_argument(
        "--no-inherit-site",
        dest="inherit_site",
        action="store_false",
        help=f"{when}in an environment, import nothing from this interpreter's site-packages",
    )


def add_limits(parser: argparse.ArgumentParser) -> None:
    """How to compile."""
    add_jobs(parser)
    add = parser.add_argument
    add("--timeout", type=float, metavar="S", help="seconds a cell may take")
    add("--max-rss", metavar="SIZE", help="memory a cell may take, like 8GiB")
    add("--isolation", choices=("fork", "spawn"), default="fork", help="spawn: a fresh interpreter for every cell")


def add_jobs(parser: argparse.ArgumentParser, when: str = "") -> None:
    """How many at a time. `when` says when it counts."""
    parser.add_argument(
        "-j",
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help=f"{when}cells at a time (default: %(default)s)",
    )


def add_formats(parser: argparse.ArgumentParser) -> None:
    """The reports to write."""
    from portcheck.report.formats import FORMATS

    for form in FORMATS:
        parser.add_argument(f"--{form.name}", type=Path, metavar="F", help=f"write {form.what}")
    parser.add_argument(
        "--github", action="store_true", help="annotate source lines and write the summary of a GitHub Actions job"
    )


def add_baseline(parser: argparse.ArgumentParser) -> None:
    """What is known to fail."""
    parser.add_argument("--baseline", type=Path, metavar="F", help="fail only on what this baseline does not know")


def add_remote(parser: argparse.ArgumentParser, when: str = "") -> None:
    """Where else records are. `when` says when it counts."""
    parser.add_argument(
        "--remote", metavar="URL", help=f"{when}a shared cache behind the local one, like file:///mnt/team/portcheck"
    )


def add_volume(parser: argparse.ArgumentParser, verbose: str | None = None) -> None:
    """How much to say. `verbose` explains `-v`, if the command has it."""
    parser.add_argument("--no-color", action="store_true", help="no colours (NO_COLOR does the same)")
    volume = parser.add_mutually_exclusive_group()
    volume.add_argument("-q", "--quiet", action="store_true", help="only errors and the exit status")
    if verbose:
        volume.add_argument("-v", "--verbose", action="store_true", help=verbose)


def selection(args: argparse.Namespace) -> dict[str, Any]:
    """The parts of a request that say what to check.

    Raises:
        UsageError: there is no manifest, or a limit makes no sense.
    """
    from portcheck.sizes import parse_size
    from portcheck.suite import Selection

    timeout, max_rss = getattr(args, "timeout", None), getattr(args, "max_rss", None)
    if timeout is not None and not timeout > 0:
        raise UsageError(f"--timeout {timeout:g}: seconds have to be more than 0")
    asked: Selection = Selection(
        targets=listed("-t", args.targets),
        triton=listed("--triton", args.triton),
        kernels=tuple(args.kernel),
        timeout=timeout,
        max_rss=parse_size(max_rss) if max_rss else None,
    )
    return {
        "manifest": manifest_path(args.demo, args.manifest),
        "selection": asked,
        "inherit_site": args.inherit_site,
        "remote": args.remote,
    }


def limits(args: argparse.Namespace) -> dict[str, Any]:
    """The parts of a request that say how to compile.

    Raises:
        UsageError: a number makes no sense.
    """
    at_least("--jobs", args.jobs, 1)
    return {"jobs": args.jobs, "isolation": args.isolation}


def formats(args: argparse.Namespace) -> dict[str, Any]:
    """The parts of a request that say what to write; what could not be written in the end is refused now.

    Raises:
        UsageError: a file cannot be written.
    """
    from portcheck.report.formats import FORMATS

    asked: dict[str, Path] = {}
    for form in FORMATS:
        path: Path | None = getattr(args, form.name)
        if path is not None:
            check_file(f"--{form.name}", path, form.example)
            if twice := next((name for name, other in asked.items() if is_same_file(path, other)), None):
                raise UsageError(f"--{form.name} {path}: is the file of --{twice}, too: name another")
            asked[form.name] = path
    return {"reports": asked, "github": args.github}


def volume(args: argparse.Namespace) -> dict[str, Any]:
    """The parts of a request that say how much to say."""
    return {
        "color": sys.stdout.isatty() and not args.no_color and "NO_COLOR" not in os.environ,
        "no_color": args.no_color,
        "width": shutil.get_terminal_size().columns if sys.stdout.isatty() else None,
        "quiet": args.quiet,
        "verbose": getattr(args, "verbose", False),
    }


def check_file(flag: str, path: Path, example: str) -> None:
    """Refuse a file that could not be written in the end.

    Raises:
        UsageError: it is a folder, or lies in one that is not there.
    """
    if str(path) == "-":
        raise UsageError(f"{flag} -: name a file; /dev/stdout is standard output")
    if path.is_dir():
        raise UsageError(f"{flag} {path}: is a folder: name a file in it, for example {path / example}")
    if not path.parent.is_dir():
        raise UsageError(f"{flag} {path}: there is no folder {path.parent}: create it first")


def is_same_file(path: Path, other: Path) -> bool:
    """Would one report replace the other? Not in a pipe, or on standard output."""
    return path.resolve() == other.resolve() and (path.is_file() or not path.exists())


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


def at_least(flag: str, value: int | None, least: int) -> None:
    """Refuse a number that is too small.

    Raises:
        UsageError: it is.
    """
    if value is not None and value < least:
        raise UsageError(f"{flag} {value}: has to be {least} or more")


def listed(flag: str, given: list[str]) -> tuple[str, ...]:
    """What an argument that may be repeated names, which may be several, separated by commas.

    Raises:
        UsageError: it is given and names nothing, as with a variable of CI that is empty; that would stand for all.
    """
    names = tuple(part.strip() for text in given for part in text.split(",") if part.strip())
    if given and not names:
        raise UsageError(f"{flag}: names nothing: leave it out for what the manifest lists")
    return names
