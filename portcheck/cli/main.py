"""The command `portcheck`: one module a subcommand, and the place where errors become one line and a status."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Sequence
from importlib import import_module

from portcheck import __version__, streams
from portcheck.errors import PortcheckError, internal_error

COMMANDS = ("check", "diff", "report", "baseline", "explain", "targets", "env", "lock", "cache")
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; returns the exit status that docs/interface.md gives."""
    streams.repair()
    try:
        status = _run(argv)
    except SystemExit:  # argparse has answered
        if unwritable := streams.write_out():
            raise SystemExit(_told(unwritable)) from None
        raise
    finally:
        streams.tell()
    unwritable = streams.write_out()
    return _told(unwritable) if unwritable else status


def _run(argv: Sequence[str] | None) -> int:
    args = _parser().parse_args(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C, until a run has its own way to end
    try:
        return int(args.run(args))
    except PortcheckError as error:
        return _told(error)
    except KeyboardInterrupt:
        streams.tell("portcheck: interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has seen enough
        streams.write_out()
        return 1
    except Exception as error:
        return _told(streams.write_out() or internal_error(error))


def _told(error: PortcheckError) -> int:
    streams.tell(*(f"portcheck: {line}" for line in str(error).splitlines()))
    return error.status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="portcheck",
        description="Compile Triton kernels for every GPU target, with no GPU, and say where each combination breaks.",
        epilog="examples:\n  portcheck check --demo\n  portcheck check -t cuda:90,hip:gfx942 -k 'attention*'\n\n"
        "exit status: 0 nothing new fails, 1 new failures, 2 bad arguments or manifest, 3 Triton or the machine is at\n"
        "fault, 130 interrupted",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"portcheck {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        import_module(f"portcheck.cli.{command}").add_parser(subparsers)
    return parser
