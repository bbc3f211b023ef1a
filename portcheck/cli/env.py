"""`portcheck env`: make environments that hold one release of Triton each, show and remove them."""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from portcheck.errors import UsageError

if TYPE_CHECKING:
    from portcheck.toolchain.environments import Environment, Environments

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

# verb → what it does, and examples to show below its options
VERBS = {
    "add": (
        "make the environment of a release, or repair it",
        "portcheck env add 3.8.0\n"
        "  portcheck env add 3.8.0 --with numpy --with torch\n"
        "  portcheck env add 3.0.0 --python python3.10            a release that has no wheel for this Python\n"
        "  portcheck env add ./triton-3.9.0+fix-cp311-cp311-linux_x86_64.whl",
    ),
    "list": ("show all environments, and the disk that they take", "portcheck env list"),
    "remove": ("remove the environments of a release", "portcheck env remove 3.8.0"),
}


def add_parser(subparsers: Subparsers) -> None:
    """Register `env` and its verbs; the parsed arguments go to `run`."""
    parser = subparsers.add_parser(
        "env",
        help="make, list and remove environments of Triton releases",
        description="Make, list and remove environments, each with one release of Triton.",
    )
    parser.set_defaults(run=run)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb, (text, examples) in VERBS.items():
        sub = verbs.add_parser(
            verb,
            help=text,
            description=text[0].upper() + text[1:] + ".",
            epilog=f"example{'s' if chr(10) in examples else ''}:\n  {examples}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if verb == "list":
            continue
        of = "a release such as 3.8.0, or a wheel file" + (", or a virtual environment" if verb == "add" else "")
        sub.add_argument("release", metavar="RELEASE", help=of)
        if verb == "add":
            sub.add_argument(
                "--with",
                dest="packages",
                action="append",
                default=[],
                metavar="PKG",
                help="another package to install there, as pip takes it; may be given again",
            )
        which = "of which Python" if verb == "remove" else "the Python to make it with"
        default = "all" if verb == "remove" else "this one"
        sub.add_argument("--python", metavar="EXE", help=f"{which} (default: {default})")


def run(args: argparse.Namespace) -> int:
    """Do what `portcheck env VERB` asks.

    Returns:
        The exit status.

    Raises:
        UsageError: no such release, wheel or Python.
        EnvironmentProblem: an environment cannot be made or removed.
    """
    from portcheck.storage import user_store
    from portcheck.streams import tell
    from portcheck.toolchain.environments import Environments, home

    store = user_store(lambda text: tell(f"portcheck: {text}"))
    environments = Environments(home(os.environ), store, lambda text: print(text, flush=True))
    return _ACTIONS[args.verb](environments, args)


def _add(environments: Environments, args: argparse.Namespace) -> int:
    from portcheck.sizes import format_size
    from portcheck.toolchain.environments import Wanted
    from portcheck.toolchain.interpreters import ask, this

    if Path(args.release).is_dir():
        return _keep(environments, args)
    began = time.monotonic()
    wanted = Wanted(_release(args.release), tuple(args.packages))
    made, is_new = environments.add(wanted, ask(args.python) if args.python else this())
    assert made.receipt is not None  # it was made
    how = f"made in {time.monotonic() - began:.1f} s" if is_new else "is there already"
    print(f"{made.folder} {how}: {format_size(made.receipt.size)} on disk")
    return 0


def _keep(environments: Environments, args: argparse.Namespace) -> int:
    """A virtual environment of somebody's is used as it is."""
    from portcheck.toolchain.find import find, release_of

    folder = Path(args.release).absolute()
    if args.packages or args.python:
        raise UsageError(
            f"portcheck changes nothing in {folder}: leave out --with and --python, or install there yourself"
        )
    found = find(release_of(str(folder)), environments.store)
    print(f"{folder} holds Triton {found.release} for Python {found.python}: check --triton {folder} uses it as it is")
    return 0


def _list(environments: Environments, args: argparse.Namespace) -> int:
    found = environments.all()
    for line in _table([_row(environments, environment) for environment in found]):
        print(line)
    if not found:
        print(f"no environments in {environments.folder}: check --triton RELEASE makes them, or portcheck env add")
    return 0


def _row(environments: Environments, environment: Environment) -> tuple[str, ...]:
    from portcheck.sizes import format_size
    from portcheck.toolchain.receipts import disk_use

    receipt, trouble = environment.receipt, environments.trouble(environment)
    size = format_size(receipt.size if receipt and receipt.size else disk_use(environment.folder))
    packages = f"with {', '.join(receipt.packages)}" if receipt and receipt.packages else ""
    python = f"Python {receipt.python.version}" if receipt else environment.tag
    state = f"{trouble}: the next run that needs it makes it again" if trouble else packages
    return (environment.name, python, size, str(environment.folder), state)


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _remove(environments: Environments, args: argparse.Namespace) -> int:
    from portcheck.patterns import suggestion
    from portcheck.sizes import format_size
    from portcheck.toolchain.environments import Wanted
    from portcheck.toolchain.interpreters import ask
    from portcheck.toolchain.receipts import disk_use

    names = {environment.name for environment in environments.all()}
    # What `env list` shows is enough: the wheel itself may be gone.
    name = args.release if args.release in names else Wanted(_release(args.release)).name
    if name not in names:
        there = f"there are {', '.join(sorted(names))}" if names else "there are none"
        raise UsageError(f"no environment of {args.release}{suggestion(args.release, sorted(names))}: {there}")
    sizes = {env.folder: disk_use(env.folder) for env in environments.all() if env.name == name}
    for removed in environments.remove(name, ask(args.python).tag if args.python else None):
        print(f"{removed.folder} is removed: {format_size(sizes[removed.folder])} are free")
    return 0


def _release(given: str) -> str:
    """The release or the wheel that an argument names."""
    from portcheck.manifest.model import CURRENT
    from portcheck.manifest.releases import is_path, parse_release

    if Path(given).is_dir():
        raise UsageError(f"{given} is not of portcheck's making: remove it yourself")
    if parse_release(given) == CURRENT:
        raise UsageError("current is the Triton of this interpreter, which needs no environment: name a release")
    if is_path(given) and not given.endswith(".whl"):
        raise UsageError(f"{given} is neither a release nor a wheel: write a release such as 3.8.0, or the file's name")
    return given


_ACTIONS = {"add": _add, "list": _list, "remove": _remove}
