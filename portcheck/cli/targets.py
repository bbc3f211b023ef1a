"""`portcheck targets`: what a Triton supports, and what devices grant."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

STDOUT = Path("-")

EXAMPLES = """examples:
  portcheck targets                     the Triton of this interpreter
  portcheck targets --triton 3.8.0      another release, in an environment of its own
  portcheck targets --json              as data, with the names of all libdevice functions
  portcheck targets --json targets.json
"""


def add_parser(subparsers: Subparsers) -> None:
    """Register `targets`; the parsed arguments go to `run`."""
    parser = subparsers.add_parser(
        "targets",
        help="list targets, fp8 types, libdevice functions and launch limits",
        description="Ask a Triton what it supports: the targets that a trivial kernel compiles for, warp size and fp8 "
        "types of each, functions of libdevice, versions of LLVM and ptxas. Beside it stands what devices grant to a "
        "launch, with the sources.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--triton",
        default="current",
        metavar="RELEASE",
        help="the release, wheel or virtual environment to ask (default: %(default)s, this interpreter's)",
    )
    parser.add_argument(
        "--json", type=Path, nargs="?", const=STDOUT, metavar="F", help="as JSON, to the file F or to standard output"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Ask and tell.

    Returns:
        The exit status: 0.

    Raises:
        UsageError: no such release, or the file cannot be written.
        EnvironmentProblem: Triton is not there, or cannot be asked.
    """
    import json

    from portcheck.cli.arguments import check_file
    from portcheck.compiler.tables import ask
    from portcheck.manifest.releases import is_path, parse_release
    from portcheck.report.output import write_file
    from portcheck.report.supported import as_dict, render
    from portcheck.storage import user_store
    from portcheck.streams import tell
    from portcheck.toolchain.find import find, release_of

    if args.json not in (None, STDOUT):
        check_file("--json", args.json, "targets.json")
    name = parse_release(args.triton)
    release = release_of(str(Path(name).expanduser().absolute()) if is_path(name) else name)

    def say(text: str) -> None:
        tell(f"portcheck: {text}")

    tables = ask(find(release, user_store(say), say))
    if args.json is None:
        print(render(tables), end="")
        return 0
    text = json.dumps(as_dict(tables), indent=1, ensure_ascii=False) + "\n"
    if args.json == STDOUT:
        print(text, end="")
    else:
        write_file(args.json, [text], "targets")
    return 0
