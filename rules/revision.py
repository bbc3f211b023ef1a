"""A suite as it was at another revision: judged through the same graph and cache, or only compared kernel by kernel."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from portcheck.cells import Cell
from portcheck.checkout import Checkout, checkout
from portcheck.errors import UsageError
from portcheck.judge import Judge
from portcheck.lock import Locked
from portcheck.manifest.loader import load
from portcheck.manifest.model import Row
from portcheck.patterns import is_wild, matches
from portcheck.rules.request import Request
from portcheck.rules.run import Run
from portcheck.streams import tell
from portcheck.suite import Selection, select
from portcheck.toolchain.find import release_of
from portcheck.workshop import Workshop


@contextlib.contextmanager
def run_at(request: Request, revision: str, locked: Locked) -> Iterator[tuple[Run, Checkout]]:
    """The run that `request` is at another revision of its manifest's repository. It prints no matrix.

    `locked` is the present tree's: what is installed is what there is now, and no revision's lock can ask for another.

    Raises:
        UsageError: there is no such revision, it has no such manifest, or that has mistakes.
        EnvironmentProblem: git fails, or a release is not there.
    """
    with checkout(request.manifest.parent, revision) as tree, tree.imported_first(request.inherit_site):
        there = replace(
            request,
            manifest=tree.counterpart(request.manifest),
            selection=_of_any_manifest(request.selection),
            cache_of=request.manifest,
            matrix=False,
            force=False,
            reports={},
            github=False,
            save_ir=None,
        )
        try:
            run = Run(there, locked, _releases(tree, locked))
        except UsageError as error:
            raise _of(tree, error) from None
        run.keep({name: cell for name, cell in run.cells.items() if _is_selected(cell, request.selection)})
        run.on_interrupt.append(tree.remove)
        yield run, tree


def warn_of_escapes(run: Run, tree: Checkout) -> None:
    """Say which kernels of another revision read files of the present tree: they were not compared as they were."""
    escaped: dict[str, str] = {}
    inputs = {id(read): (cell, read) for cell in run.cells.values() if (read := run.workshop.judge(cell).inputs(cell))}
    for cell, read in inputs.values():
        escaped |= dict.fromkeys(tree.outside(read.stats), cell.row.ref.unit)
    if escaped:
        path, unit = min(escaped.items())
        more = f" and {len(escaped) - 1} more files" if len(escaped) > 1 else ""
        tell(
            f"portcheck: {tree}: {unit} read {path}{more} of the present tree: it is installed from there in a way "
            "that cannot be led elsewhere, so what changed in it is not seen"
        )


@dataclass(frozen=True, slots=True)
class Since:
    """Which cells of a run differ from a revision."""

    tree: str  # what to call the revision
    rows: tuple[str, ...]  # those that differ in any of their cells
    left_out: int  # cells of the others

    def __str__(self) -> str:
        cells = f"{self.left_out} cell{'' if self.left_out == 1 else 's'}"
        if not self.rows:
            return f"since {self.tree}: no kernel differs: nothing to check, {cells} left out"
        rows = f"{len(self.rows)} row{' differs' if len(self.rows) == 1 else 's differ'}"
        return f"since {self.tree}: {rows}, {cells} of other rows left out"


def keep_differing(run: Run, revision: str) -> Since:
    """Take out of a run all rows whose kernels are what they were at `revision`.

    A row differs if the front key of any of its cells does: what its kernel reaches, how it is specialised, or the
    settings of Triton; or what only compiling it read the last time. So do a row that is new or that the manifest
    describes in another way, one that cannot be imported now or could not then, one whose files cannot be told apart
    from the present ones, and one with an open kernel of which nobody knows what compiling it reads.

    Raises:
        UsageError: there is no such revision or manifest there, or a row does not fit its kernel.
        EnvironmentProblem: git or Triton is not there.
    """
    try:
        run.prepare()
        inherit_site = run.request.inherit_site
        with checkout(run.manifest.folder, revision) as tree, tree.imported_first(inherit_site):
            before = _Before(run, tree)
            try:
                keys = before.identities()
            finally:
                before.close()
        now = {name: run.workshop.judge(cell).identity(cell) for name, cell in run.cells.items()}
    except BaseException:
        run.interrupt()
        raise
    rows = tuple(
        dict.fromkeys(
            cell.row.name for name, cell in run.cells.items() if now[name] is None or now[name] != keys.get(name)
        )
    )
    kept = {name: cell for name, cell in run.cells.items() if cell.row.name in rows}
    since = Since(str(tree), rows, len(run.cells) - len(kept))
    run.keep(kept)
    return since


class _Before:
    """The suite at a revision, to ask for the keys of its cells only."""

    def __init__(self, run: Run, tree: Checkout) -> None:
        self._run, self._tree = run, tree
        manifest = tree.counterpart(run.request.manifest)
        try:
            loaded = load(manifest)
            cells = select(loaded, _of_any_manifest(run.request.selection), _releases(tree, run.locked))
        except UsageError as error:
            raise _of(tree, error) from None
        same = {cell.name: cell for cell in cells if cell.name in run.cells}
        # A row that is described in another way differs, whatever its kernel is.
        self._cells = {name: cell for name, cell in same.items() if _written(cell) == _written(run.cells[name])}
        self._workshop = Workshop(
            loaded,
            list(self._cells.values()),
            run.store,
            run.request.isolation,
            run.locked,
            inherit_site=run.request.inherit_site,
            create=run.request.create,
            jobs=run.request.jobs,
            say=run.warn,
        )
        self._escaped: dict[int, bool] = {}

    def identities(self) -> dict[str, str | None]:
        """Cell → what its verdict depended on, where that can be told."""
        return {name: self._identity(cell) for name, cell in self._cells.items()}

    def _identity(self, cell: Cell) -> str | None:
        judge: Judge = self._workshop.judge(cell)
        try:
            found = judge.identity(cell)
        except UsageError:  # its row did not fit its kernel then
            return None
        inputs = judge.inputs(cell)
        if inputs and id(inputs) not in self._escaped:
            self._escaped[id(inputs)] = bool(self._tree.outside(inputs.stats))
        return None if self._escaped.get(id(inputs)) else found

    def close(self) -> None:
        self._workshop.stop()
        self._workshop.close()


def _releases(tree: Checkout, locked: Locked) -> Callable[[str], str]:
    """Which release a name in a revision's manifest is: that of the wheel or venv in the present tree, if it is one."""
    return lambda name: release_of(tree.original(name), locked)


def _written(cell: Cell) -> Row:
    """A row as the manifest describes it, but for the targets and releases, which are what cells are named after."""
    return replace(cell.row, settings=replace(cell.row.settings, targets=(), triton=()), skip=())


def _of_any_manifest(selection: Selection) -> Selection:
    """A selection without what may match nothing in a manifest of another time; see `_is_selected`."""
    named = tuple(target for target in selection.targets if not is_wild(target))
    return replace(selection, kernels=(), targets=named if len(named) == len(selection.targets) else ())


def _is_selected(cell: Cell, selection: Selection) -> bool:
    return (not selection.kernels or any(matches(pattern, cell.row.name) for pattern in selection.kernels)) and (
        not selection.targets or any(cell.target.matches(pattern) for pattern in selection.targets)
    )


def _of(tree: Checkout, error: UsageError) -> UsageError:
    return UsageError("\n".join(f"at revision {tree}: {line}" for line in str(error).splitlines()))
