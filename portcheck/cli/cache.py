"""`portcheck cache`: look at the local cache, check it, make it smaller."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from portcheck.cache import collect, stats, verify
from portcheck.cache.layout import home
from portcheck.errors import EnvironmentProblem, UsageError
from portcheck.sizes import format_size, parse_size

if TYPE_CHECKING:
    from portcheck.manifest.model import Manifest

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

DEFAULT_MAX_SIZE = "5GiB"
DAY = 86400.0

# verb → what it does, and an example to show below its options
VERBS = {
    "stats": ("show how many files and bytes the cache holds", "portcheck cache stats"),
    "verify": (
        "read every file, remove the damaged ones; exit status 3 if there were any",
        "portcheck cache verify --dir /mnt/team/portcheck",
    ),
    "gc": (
        "remove the least recently used files until the cache is small enough",
        "portcheck cache gc --max-size 2GiB --max-age 30",
    ),
    "path": ("print the cache directory", 'du -sh "$(portcheck cache path)"'),
}


def add_parser(subparsers: Subparsers) -> None:
    """Register `cache` and its verbs; the parsed arguments go to `run`."""
    parser = subparsers.add_parser("cache", help="look after the cache", description="Look after the local cache.")
    parser.set_defaults(run=run)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb, (text, example) in VERBS.items():
        sub = verbs.add_parser(
            verb,
            help=text,
            description=text[0].upper() + text[1:] + ".",
            epilog=f"example:\n  {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        sub.add_argument(
            "--dir", metavar="DIR", help="the cache directory (default: what `portcheck cache path` prints)"
        )
        if verb == "gc":
            sub.add_argument(
                "--max-size",
                metavar="SIZE",
                help=f"keep at most this much (default: the manifest's max_size, or {DEFAULT_MAX_SIZE})",
            )
            sub.add_argument("--max-age", metavar="DAYS", help="first remove what was not used for so many days")


def run(args: argparse.Namespace) -> int:
    """Do what `portcheck cache VERB` asks.

    Returns:
        The exit status.

    Raises:
        UsageError: a malformed size or age, or there is no such cache directory.
        EnvironmentProblem: it cannot be read, or files could not be removed.
    """
    root = _directory(args)
    if args.verb != "path":
        _check(root, given=bool(args.dir))
    return _ACTIONS[args.verb](root, args)


def _check(root: Path, *, given: bool) -> None:
    """Complain of a directory that cannot be read. One that nobody named may be missing: no run has made it yet."""
    try:
        with os.scandir(root), os.scandir(home(root)):
            pass
    except FileNotFoundError:
        if given and not root.exists():
            raise UsageError(f"--dir {root}: there is no such folder") from None
    except NotADirectoryError:
        raise UsageError(f"{root} is no cache: name the folder that holds one with --dir or PORTCHECK_CACHE") from None
    except OSError as error:
        raise EnvironmentProblem(f"{root} cannot be read: {error.strerror}: check who owns it") from None


def _directory(args: argparse.Namespace) -> Path:
    """What `--dir` says, else what a run in this folder uses."""
    from portcheck.storage import cache_dir

    return cache_dir(None if args.dir else _manifest(), args.dir)


def _manifest() -> Manifest | None:
    from portcheck.manifest.loader import find_manifest, load

    found = find_manifest(Path.cwd())
    return load(found) if found else None


def _path(root: Path, args: argparse.Namespace) -> int:
    print(root)
    return 0


def _stats(root: Path, args: argparse.Namespace) -> int:
    usage = stats(root)
    rows = [(kind, used.files, used.bytes) for kind, used in usage.items()]
    rows.append(("total", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    print(f"cache {root}\n")
    print(f"{'kind':<10}{'files':>8}{'size':>12}")
    for kind, files, size in rows:
        print(f"{kind:<10}{files:>8}{format_size(size):>12}")
    return 0


def _verify(root: Path, args: argparse.Namespace) -> int:
    found = verify(root)
    print(f"cache {root}\n")
    print(f"{found.sound:>8}  sound")
    print(f"{found.other_version:>8}  of another format version, left alone")
    print(f"{len(found.damaged):>8}  damaged, removed")
    for name in found.damaged:
        print(f"          {name}")
    if found.stuck:
        raise EnvironmentProblem(
            f"{root}: {len(found.stuck)} files could not be read or removed, the first {found.stuck[0]}: "
            "check who owns them"
        )
    return EnvironmentProblem.status if found.damaged else 0


def _gc(root: Path, args: argparse.Namespace) -> int:
    manifest = _manifest()
    default = manifest.cache.max_size if manifest else parse_size(DEFAULT_MAX_SIZE)
    max_size = parse_size(args.max_size) if args.max_size else default
    done = collect(root, max_size=max_size, max_age=_seconds(args.max_age))
    if done.busy:
        print(f"cache {root}: another collection is running, nothing to do")
        return 0
    print(f"cache {root}\n")
    print(f"{'removed':<10}{done.files:>8}{format_size(done.bytes):>12}")
    print(f"{'kept':<10}{done.kept_files:>8}{format_size(done.kept_bytes):>12}")
    print(f"{'leftovers':<10}{done.temporaries:>8}")
    if done.fresh:
        print(f"\n{done.fresh} of the removed files were used within the last hour: a larger --max-size saves compiles")
    if done.unfinished:
        print("\nthere is more to remove: run it again")
    if done.trouble:
        raise EnvironmentProblem(f"{root}: not everything could be removed: {done.trouble}: check who owns it")
    return 0


def _seconds(days: str | None) -> float | None:
    if days is None:
        return None
    try:
        value = float(days)
    except ValueError:
        value = -1.0
    if not value >= 0:
        raise UsageError(f'malformed age "{days}": --max-age takes a number of days, for example 30')
    return value * DAY


_ACTIONS: dict[str, Callable[[Path, argparse.Namespace], int]] = {
    "stats": _stats,
    "verify": _verify,
    "gc": _gc,
    "path": _path,
}
