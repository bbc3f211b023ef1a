"""One run: the cells, what is known of them, and judging the rest. A verdict is data, and so is trouble."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TextIO

from portcheck.baseline import Baseline
from portcheck.baseline import load as load_baseline
from portcheck.cache import collect_if_due
from portcheck.cells import Cell
from portcheck.errors import EnvironmentProblem, PortcheckError, UsageError
from portcheck.history import History
from portcheck.lock import Locked, read_lock
from portcheck.manifest.loader import load
from portcheck.manifest.model import Manifest
from portcheck.report.model import UNTOLD, Report, exit_status, status_of
from portcheck.report.progress import INTERVAL, Progress, make_progress, told_origin
from portcheck.rules.costs import told
from portcheck.rules.inputs import spare_inputs
from portcheck.rules.request import ONLY, SKIP, Request
from portcheck.rules.trouble import Trouble
from portcheck.saveir import save_ir
from portcheck.storage import open_store
from portcheck.streams import tell
from portcheck.suite import expectation, select
from portcheck.toolchain import installers
from portcheck.toolchain.find import is_ready, release_of
from portcheck.verdicts import LOCAL, Outcome, Result
from portcheck.workshop import Workshop

_REMOTE_LOOKUPS = 16  # at a time
_NO_CHANGE = "nothing that it depends on has changed"
_HITS = frozenset({"cached", "remote", "cutoff"})
_AUDIT_REMEDY = "a key of portcheck is too narrow; --force compiles without records meanwhile"


class Run:
    """The state of one run. The tasks' actions are its methods; they may run in any thread."""

    def __init__(
        self, request: Request, locked: Locked | None = None, releases: Callable[[str], str] | None = None
    ) -> None:
        """Load the manifest and select cells.

        Args:
            request: what is asked for.
            locked: instead of what the lock beside the manifest says.
            releases: instead of `release_of`.

        Raises:
            UsageError: a mistake in the manifest or the selection.
            EnvironmentProblem: a release that is not there.
        """
        self.request = request
        self.manifest: Manifest = load(request.manifest)
        spare_inputs(request, self.manifest)
        self.locked = read_lock(self.manifest.folder).here if locked is None else locked
        releases = releases or partial(release_of, locked=self.locked)
        self.cells: dict[str, Cell] = {cell.name: cell for cell in select(self.manifest, request.selection, releases)}
        self._unfinished = Counter(cell.release for cell in self.cells.values())
        self.results: dict[str, Result] = {}
        self.known: dict[str, Result] = {}
        self.trouble = Trouble()
        self.progress: Progress = Progress()  # until `start_progress`
        self._shows_progress = False
        self.report: Report | None = None
        self.excuse = ""  # why there are no cells, where that is fine
        self.audited = 0  # hits that were compared with their front ends
        self.baseline: Baseline = _baseline(request)
        keeper = load(request.cache_of) if request.cache_of else self.manifest
        self.store = open_store(keeper, request.remote, self.warn)
        self.remarks: list[str] = []  # shown below the matrix
        self._costs_told: set[str] = set()  # names of cells
        self.on_interrupt: list[Callable[[], None]] = []  # what else has to be cleaned up, at once
        self._history = History(self.store, self.manifest.folder)
        self._workshop: Workshop | None = None
        self._lock = threading.RLock()
        self.began = time.monotonic()

    def keep(self, cells: Mapping[str, Cell]) -> None:
        """Leave only these of the run's cells; before any of them has run."""
        before = self.releases
        self.cells = dict(cells)
        self._unfinished = Counter(cell.release for cell in self.cells.values())
        for release in before:
            if not self._unfinished[release] and self._workshop is not None:
                self._workshop.end(release)

    def prepare(self) -> None:
        """Find the toolchains and look up every key at once, before any cell runs. Done once, whoever comes first."""
        with self._lock:
            if self._workshop is None:
                cells = list(self.cells.values())
                self._workshop = Workshop(
                    self.manifest,
                    cells,
                    self.store,
                    self.request.isolation,
                    self.locked,
                    inherit_site=self.request.inherit_site,
                    create=self.request.create,
                    jobs=self.request.jobs,
                    compiles=self.request.static != ONLY,
                    say=self.warn,
                )
                if not self.request.force:
                    self._look_up(cells)

    def settle(self) -> list[Cell]:
        """Take the verdicts that are known; returns the cells that need a task."""
        for name in self.cells:
            if name not in self.results and self.is_known(name):
                self.take(name)
        return [cell for name, cell in self.cells.items() if name not in self.results]

    def take(self, name: str) -> None:
        """Take a verdict that is known."""
        cell, result = self.cells[name], self.known[name]
        self._finish(cell, result, _NO_CHANGE)
        if self.request.verbose and not self._shows_progress:
            told = told_origin(result.origin, _NO_CHANGE)
            tell(f"{name}: {result.outcome.verdict} ({told})")

    def is_known(self, name: str) -> bool:
        """Is the verdict of a cell known, so that nothing has to run for it? False where that cannot be told."""
        result = self.known.get(name) if self._is_looked_up() else None
        return result is not None and not self._lost_artifacts(self.cells[name], result)

    def is_resolved(self, names: list[str]) -> bool:
        """Is known what the units of these cells hold, so that none is imported?"""
        try:
            return self._is_looked_up() and all(map(self._is_resolved, names))
        except PortcheckError:
            return False  # resolving it says what is wrong

    def is_prepared(self) -> bool:
        """Are the toolchains there and digested?"""
        return self._is_looked_up()

    def is_judged(self) -> bool:
        """Does every cell have its verdict, from this run or from a record?"""
        return all(name in self.results or self.is_known(name) for name in self.cells)

    @property
    def releases(self) -> list[str]:
        """The releases, in the order in which they are checked: each holds processes only while its cells run."""
        return list(dict.fromkeys(cell.release for cell in self.cells.values()))

    @property
    def expected_seconds(self) -> Mapping[str, float]:
        """Cell → seconds it took last time."""
        return self._history.seconds

    def toolchain(self) -> bool:
        """Action of `toolchain:RELEASE`."""
        return self.trouble.guarded(self.prepare)

    def resolve(self, names: list[str]) -> bool:
        """Action of `resolve:UNIT@RELEASE`: import the unit for each of these cells' targets, where it is not known."""

        def resolve() -> None:
            self.prepare()
            for name in names:
                if name not in self.known and not self._reached_limit():
                    cell = self.cells[name]
                    # One by one: every row that does not fit its kernel is told, not only the first.
                    self.trouble.guarded(partial(self.workshop.judge(cell).resolve, cell))

            self._tell_costs(names)

        unit = self.cells[names[0]].row.ref.unit
        slow = threading.Timer(INTERVAL, self.progress.note, [f"importing {unit} …"])
        slow.daemon = True
        slow.start()
        try:
            return self.trouble.guarded(resolve)
        finally:
            slow.cancel()

    def _tell_costs(self, names: Iterable[str]) -> None:
        """Say what configurations cost that are not known yet, of each cell once."""
        open_ = [] if self.problems else [self.cells[name] for name in names if name not in self.known]
        new = [cell for cell in open_ if cell.name not in self.results and cell.name not in self._costs_told]
        costs = [(cell, cost) for cell in new if (cost := self.workshop.judge(cell).cost(cell))]
        self._costs_told |= {cell.name for cell, _ in costs}
        for line in told(costs):
            self.warn(line)

    def compile(self, name: str) -> bool:
        """Action of `compile:CELL`. A verdict is no reason to fail: what depends on the task would not run."""

        def compile_cell() -> None:
            self.prepare()
            cell = self.cells[name]
            result = self.known.get(name)
            if result is None or self._lost_artifacts(cell, result):
                if self.is_over():
                    return
                self.progress.cell_started(name)
                why = self.why(cell) if self.request.verbose else ""
                foretold = self._foretold(cell) if result is None else None
                again = self.request.force or result is not None
                result = foretold or self.workshop.judge(cell).judge(cell, force=again)
                hit = result.origin in ("cached", "remote")
                self._finish(cell, result, "its module changed, the kernel did not" if hit else why)
            else:
                self._finish(cell, result)

        return self.trouble.guarded(compile_cell)

    def is_predicted(self, cell: Cell) -> bool:
        """Was it certain before anything was compiled that the cell fails?"""
        return self.workshop.judge(cell).predict(cell) is not None

    def is_spared(self, cell: Cell) -> bool:
        """Does a prediction take the place of compiling the cell, as far as can be told without importing anything?"""
        return self._foretold(cell) is not None

    def _foretold(self, cell: Cell) -> Result | None:
        """What is said of a cell instead of compiling it, if predictions are to do that; its unit is resolved."""
        judge = self.workshop.judge(cell)
        if self.request.static == ONLY:
            return judge.not_imported(cell) or judge.predict(cell) or _UNTOLD
        return judge.predict(cell) if self.request.static == SKIP else None

    def why(self, cell: Cell) -> str:
        """Why a cell is compiled."""
        if self.request.force:
            return "forced"
        return "its IR is no longer kept" if cell.name in self.known else self.workshop.judge(cell).why(cell)

    def audit(self) -> bool:
        """Action of `audit`: compare some verdicts that came from records with what their front ends give today."""

        def compare() -> None:
            hits = [
                name
                for name, result in self.results.items()
                if result.origin in _HITS and result.outcome.verdict not in LOCAL  # those say nothing of the front end
            ]
            for name in random.sample(hits, min(self.request.audit or 0, len(hits))):
                cell = self.cells[name]
                try:
                    difference = self.workshop.judge(cell).audit(cell, self.results[name])
                except LookupError:
                    self.warn(f"audit: {name} did not get to the end of its front end; not counted")
                    continue
                if difference:
                    raise EnvironmentProblem(f"audit: {difference}; please report it: {_AUDIT_REMEDY}")
                self.audited += 1

        if not self.problems:
            self.trouble.guarded(compare)
        return True

    @property
    def problems(self) -> list[PortcheckError]:
        """What ends the run."""
        return self.trouble.problems

    @property
    def unwritten(self) -> list[PortcheckError]:
        """Files that could not be written, which ends nothing."""
        return self.trouble.unwritten

    @property
    def status(self) -> int:
        """The exit status so far: 2 or 3 for trouble, else what the report says."""
        if self.problems:
            return self.trouble.status
        if self.report is None:
            return EnvironmentProblem.status
        return max(self.trouble.status, exit_status(self.report, lambda cell: cell.row.settings.xfail_strict))

    @property
    def workshop(self) -> Workshop:
        """What judges cells; `prepare` made it."""
        assert self._workshop is not None
        return self._workshop

    def start_progress(self, stream: TextIO, cells: int) -> None:
        """Begin to tell how the run goes, which is about so many cells."""
        asked = self.request
        expected = {n: s for n, s in self.expected_seconds.items() if n in self.cells and n not in self.results}
        self.progress = make_progress(stream, asked.quiet, asked.verbose, expected, not asked.no_color)
        self.progress.start(cells)
        self._shows_progress = True
        if self._workshop is not None:
            self._tell_costs(self.cells)

    def warn(self, text: str) -> None:
        """Tell the user something in a line of its own."""
        line = f"portcheck: {text}"
        if self._shows_progress:
            self.progress.note(line)
        elif not self.request.quiet:
            tell(line)

    def interrupt(self) -> None:
        """Kill every process of the run at once. Finished cells are in the store already."""
        installers.stop()
        if self._workshop is not None:
            self._workshop.stop()
        self.progress.stop()
        for clean_up in self.on_interrupt:
            clean_up()

    def close(self) -> None:
        """End all processes, remember how long cells took, and end the progress."""
        if self._workshop is not None:
            self._workshop.close()
            self._history.add({name: result for name, result in self.results.items() if result.origin == "compiled"})
            if self.store.counters["record.written"]:
                collect_if_due(self.store.root, max_size=self.manifest.cache.max_size)
        self.progress.stop()

    def _look_up(self, cells: list[Cell]) -> None:
        """Every key of the run. A remote answers slowly, so it is asked by many threads."""
        if self.store.has_remote:
            with ThreadPoolExecutor(_REMOTE_LOOKUPS) as pool:
                results = list(pool.map(self._find, cells))
        else:
            results = list(map(self._find, cells))
        self.known = {cell.name: found for cell, found in zip(cells, results, strict=True) if found}
        if self.problems:
            raise UsageError("\n".join(map(str, self.problems)))

    def _find(self, cell: Cell) -> Result | None:
        """What is known of a cell. Rows that do not fit their kernels are noted, and told all at once."""
        judge = self.workshop.judge(cell)
        try:
            if self.request.static == ONLY:  # what is recorded is no prediction
                return self._foretold(cell) if judge.is_predictable(cell) else None
            return judge.look_up(cell)
        except UsageError as error:
            self.trouble.note(error)
            return None

    def _lost_artifacts(self, cell: Cell, result: Result) -> bool:
        """Was IR asked for that the cache has evicted? The verdict stands without it, so nobody else minds."""
        return self.request.save_ir is not None and None in self.workshop.judge(cell).artifacts(cell, result).values()

    def _finish(self, cell: Cell, result: Result, why: str = "") -> None:
        if self.request.save_ir and not self.unwritten:
            artifacts = self.workshop.judge(cell).artifacts(cell, result)
            self.trouble.write_aside(partial(save_ir, self.request.save_ir, cell, artifacts))
        with self._lock:
            self.results[cell.name] = result
            self._unfinished[cell.release] -= 1
            is_last = not self._unfinished[cell.release]
        if is_last:
            self.workshop.end(cell.release)
        self.progress.cell_finished(cell.name, result.outcome.verdict, result.origin, why)

    def is_over(self) -> bool:
        """Is there no point in compiling anything more?"""
        return bool(self.problems) or self._reached_limit()

    def _reached_limit(self) -> bool:
        limit = self.request.max_failures
        if limit is None:
            return False
        with self._lock:
            return sum(map(self._is_new_failure, self.results)) >= limit

    def _is_looked_up(self) -> bool:
        """Is it known what is known? Trouble is kept for the tasks to tell, and no environment is created."""
        if self._workshop is None and not all(is_ready(one, self.store, self.locked) for one in self.releases):
            return False
        return self.trouble.guarded(self.prepare) and not self.problems

    def _is_resolved(self, name: str) -> bool:
        return self.workshop.judge(self.cells[name]).is_resolved(self.cells[name])

    def _is_new_failure(self, name: str) -> bool:
        result = self.results.get(name)
        if result is None:
            return False
        return status_of(result.outcome.failure, expectation(self.cells[name]), self.baseline.get(name)) == "new"


_UNTOLD = Result(Outcome(), UNTOLD)


def _baseline(request: Request) -> Baseline:
    path = request.baseline
    return load_baseline(path) if path and (path.exists() or not request.baseline_may_be_missing) else {}
