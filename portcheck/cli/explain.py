"""`portcheck explain`: why a cell would (not) be compiled again, and what its failure says."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from portcheck.diagnose.signatures import advise
from portcheck.errors import UsageError
from portcheck.report.groups import told

if TYPE_CHECKING:
    from portcheck.cells import Cell
    from portcheck.judge import Standing

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

EXAMPLES = """examples:
  portcheck explain 'attention[bf16]@cuda:90@3.9.0'
  portcheck explain 'attention[bf16]@cuda:90'         with the Triton of this interpreter
  portcheck explain 'gamma_ratio@hip:gfx942' --demo
"""


def add_parser(subparsers: Subparsers) -> None:
    """Register `explain`; the parsed arguments go to `run`."""
    parser = subparsers.add_parser(
        "explain",
        help="say why a cell would be compiled again, and what its failure says",
        description="Say what differs from the last time a cell was compiled here, whether its kernel is open and "
        "because of what, and what is recorded of it.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("cell", metavar="CELL", help="as a report names it: ROW@TARGET or ROW@TARGET@RELEASE")
    parser.add_argument("manifest", nargs="?", metavar="MANIFEST", help="portcheck.toml or pyproject.toml")
    parser.add_argument("--demo", action="store_true", help="a cell of the bundled demo")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Explain.

    Returns:
        The exit status: 0, whatever the cell's verdict.

    Raises:
        UsageError: no such cell, or a bad manifest.
        EnvironmentProblem: Triton is not there.
    """
    from portcheck.cli.arguments import manifest_path
    from portcheck.rules.request import Request
    from portcheck.rules.run import Run
    from portcheck.suite import Selection

    row, at, rest = args.cell.partition("@")
    target, _, release = rest.partition("@")
    if not at:
        raise UsageError(f'"{args.cell}" is no cell: it is written ROW@TARGET, as in a report')
    selection = Selection(targets=(target,), triton=(release,) if release else (), kernels=(row,))
    explained = Run(Request(manifest_path(args.demo, args.manifest), selection, create=False, quiet=True))
    try:
        explained.prepare()
        for cell in explained.cells.values():
            standing = explained.workshop.judge(cell).explain(cell)
            print("\n".join(_lines(cell, standing)))
    except KeyboardInterrupt:
        explained.interrupt()  # what is being imported may never end
        raise
    finally:
        explained.close()
    return 0


def _lines(cell: Cell, standing: Standing) -> Iterator[str]:
    yield cell.name
    failure = standing.known.outcome.failure if standing.known else None
    if failure and failure.stage == "import":
        yield "  recorded: nothing; its module cannot be imported, and such failures are not kept"
    else:
        yield from _standing(standing)
    if configs := standing.known.configs if standing.known else None:
        yield f"  configurations: {configs.ok} of {configs.of} compile, of {configs.total} that a launch chooses from"
        yield f"  shown is {configs.shown}"
        for failed in configs.failed:
            yield f"    {failed.label}: {failed.failure.verdict} in {failed.failure.stage}: {failed.failure.message}"
    if failure:
        where = f" at {failure.position.file}:{failure.position.line}" if failure.position else ""
        yield f"  {failure.verdict} in {failure.stage}{where}: {failure.message}"
        yield from (f"    {line}" for line in failure.detail.splitlines())
        if advice := advise(failure):
            yield from (f"  {line}" for line in told(advice))
    if warning := standing.known.warning if standing.known else None:
        yield f"  no launch will succeed: {warning.message}"
        yield from (f"    {line}" for line in warning.detail.splitlines()[1:])


def _standing(standing: Standing) -> Iterator[str]:
    known = standing.known
    yield (
        f"  recorded: {known.outcome.verdict} ({known.origin})"
        if known
        else "  recorded: nothing; it would be compiled"
    )
    if standing.open:
        yield "  the kernel is open: it is compiled again when anything that its module reads changes, because of"
        yield from (f"    {reason}" for reason in standing.open)
    else:
        yield "  the kernel is closed: everything that it depends on is in its key"
    if not standing.compiled_here:
        yield "  it was never compiled here"
    elif standing.changed:
        yield "  since it was last compiled here"
        yield from (f"    {line}" for line in standing.changed)
    elif standing.then:
        yield "  nothing changed since it was last compiled here; that time it was because"
        yield from (f"    {line}" for line in standing.then)
    else:
        yield "  nothing changed since it was last compiled here"
