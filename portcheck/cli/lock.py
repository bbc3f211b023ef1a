"""`portcheck lock`: write down what keys need to know of Triton and other packages, for machines without them."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from portcheck.errors import UsageError
from portcheck.streams import tell

if TYPE_CHECKING:
    from portcheck.cells import Cell
    from portcheck.lock import Locked
    from portcheck.rules.run import Run
    from portcheck.verdicts import Failure

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

EXAMPLES = """examples:
  portcheck lock                 import what the manifest names, write portcheck.lock beside it
  portcheck lock sub/portcheck.toml

Commit the file. Where a cache has every verdict, `portcheck check` then needs neither Triton nor torch.
Sections that other platforms wrote are kept. Exit status 1: something could not be imported, and the lock lacks it.
"""


def add_parser(subparsers: Subparsers) -> None:
    """Register `lock`; the parsed arguments go to `run`."""
    parser = subparsers.add_parser(
        "lock",
        help="write portcheck.lock: what a run needs to know of Triton and other packages",
        description="Write portcheck.lock beside the manifest: the content digest of every Triton release that it "
        "names, and of every installed distribution that importing its kernels depends on.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("manifest", nargs="?", metavar="MANIFEST", help="portcheck.toml or pyproject.toml")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the lock.

    Returns:
        The exit status: 0, or 1 if something could not be imported, so that the lock says nothing of its rows.

    Raises:
        UsageError: a bad manifest, a row that does not fit its kernel, or a lock that cannot be written.
        EnvironmentProblem: a Triton release is not there.
    """
    from portcheck.cli.arguments import manifest_path
    from portcheck.lock import NOTHING, Lock, read_lock, write_lock
    from portcheck.rules.request import Request
    from portcheck.rules.run import Run

    locking = Run(Request(manifest_path(False, args.manifest)), NOTHING)
    folder = locking.manifest.folder
    try:
        before = read_lock(folder)
    except UsageError as error:
        before = Lock()
        tell(f"portcheck: {error}: done, without the sections of other platforms")
    try:
        locking.prepare()
        locked = _locked(locking)
        missing = list(_not_imported(locking))
    except KeyboardInterrupt:
        locking.interrupt()
        raise
    finally:
        locking.close()
    path = write_lock(folder, before.with_here(locked))
    kinds = {"release": len(locked.toolchains), "distribution": len(locked.known.distributions)}
    counts = ", ".join(f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in kinds.items())
    print(f"{path}: {counts}" + (", unchanged" if before.here == locked else ""))
    tell(*(f"portcheck: {line}" for line in missing))
    return 1 if missing else 0


def _locked(locking: Run) -> Locked:
    from portcheck.installed import StandIns
    from portcheck.lock import Locked, LockedToolchain
    from portcheck.toolchain.find import current

    known, workshop = StandIns(), locking.workshop
    for release in locking.releases:
        cells = [cell for cell in locking.cells.values() if cell.release == release]
        known |= workshop.judge(cells[0]).depends_on(cells)
    here = current()
    return Locked(
        current=here[0] if here else None,
        toolchains={
            one.release: LockedToolchain(one.digest, workshop.distributions[one.release]) for one in workshop.toolchains
        },
        known=known,
    )


def _not_imported(locking: Run) -> Iterator[str]:
    """A line for every unit that a release cannot import: what, why, and what to do about it."""
    failed: defaultdict[tuple[str, str, Failure], list[Cell]] = defaultdict(list)
    for cell in locking.cells.values():
        if failure := locking.workshop.judge(cell).import_failure(cell):
            failed[cell.row.ref.unit, cell.release, failure].append(cell)
    for (unit, release, failure), cells in failed.items():
        rows = ", ".join(dict.fromkeys(cell.row.name for cell in cells))
        targets = ", ".join(dict.fromkeys(str(cell.target) for cell in cells))
        at = f" at {failure.position.file}:{failure.position.line}" if failure.position else ""
        yield (
            f"{unit} cannot be imported for {targets} with Triton {release}: {failure.message}{at}; the lock lacks "
            f"what {rows} need: install what is missing, or repair the module, and run portcheck lock again"
        )
