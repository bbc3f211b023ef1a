"""One run: what the tasks of the graph act on. No action raises; a verdict is data, and so is trouble."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TextIO

from portcheck.cache import collect_if_due
from portcheck.cells import Cell
from portcheck.compiler.tree import Interrupted
from portcheck.errors import EnvironmentProblem, PortcheckError, UsageError, internal_error
from portcheck.history import History
from portcheck.manifest.loader import load
from portcheck.manifest.model import Manifest
from portcheck.report import jsonreport, matrix
from portcheck.report.model import SKIPPED, Report, build, exit_status
from portcheck.report.progress import INTERVAL, Progress, make_progress, told_origin
from portcheck.rules.request import Request
from portcheck.saveir import save_ir
from portcheck.storage import open_store
from portcheck.streams import tell, write_out
from portcheck.suite import expectation, select
from portcheck.toolchain.find import release_of
from portcheck.verdicts import LOCAL, Outcome, Result
from portcheck.workshop import Workshop

_REMOTE_LOOKUPS = 16  # at a time
_HITS = frozenset({"cached", "remote", "cutoff"})
_AUDIT_REMEDY = "a key of portcheck is too narrow; --force compiles without records meanwhile"


class Run:
    """The state of one run. The tasks' actions are its methods; they may run in any thread."""

    def __init__(self, request: Request) -> None:
        """Load the manifest and select cells.

        Raises:
            UsageError: a mistake in the manifest or the selection.
            EnvironmentProblem: a release that is not there.
        """
        self.request = request
        self.manifest: Manifest = load(request.manifest)
        self.cells: dict[str, Cell] = {cell.name: cell for cell in select(self.manifest, request.selection, release_of)}
        self.results: dict[str, Result] = {}
        self.known: dict[str, Result] = {}
        self.problems: list[PortcheckError] = []  # they end the run
        self.unwritten: list[PortcheckError] = []  # files that could not be written, which ends nothing
        self.progress: Progress = Progress()  # until `start_progress`
        self._shows_progress = False
        self.report: Report | None = None
        self.audited = 0  # hits that were compared with their front ends
        self.gated = True  # will the task `portcheck` say how it went?
        keeper = load(request.cache_of) if request.cache_of else self.manifest
        self.store = open_store(keeper, request.remote, self.warn)
        self.remarks: list[str] = []  # shown below the matrix
        self.on_interrupt: list[Callable[[], None]] = []  # what else has to be cleaned up, at once
        self._history = History(self.store, self.manifest.folder)
        self._workshop: Workshop | None = None
        self._lock = threading.RLock()
        self._began = time.monotonic()

    def keep(self, cells: Mapping[str, Cell]) -> None:
        """Leave only these of the run's cells; before any of them has run."""
        self.cells = dict(cells)

    def prepare(self) -> None:
        """Find the toolchains and look up every key at once, before any cell runs. Done once, whoever comes first."""
        with self._lock:
            if self._workshop is None:
                cells = list(self.cells.values())
                self._workshop = Workshop(self.manifest, cells, self.store, self.request.isolation)
                if not self.request.force:
                    self._look_up(cells)

    def settle(self) -> list[Cell]:
        """Take the verdicts that are known; returns the cells that need a task."""
        settled = [c for n, c in self.cells.items() if n in self.known and not self._lost_artifacts(c, self.known[n])]
        for cell in settled:
            result = self.known[cell.name]
            self._finish(cell, result)
            if self.request.verbose:
                told = told_origin(result.origin, "nothing that it depends on has changed")
                tell(f"{cell.name}: {result.outcome.verdict} ({told})")
        return [cell for name, cell in self.cells.items() if name not in self.results]

    @property
    def expected_seconds(self) -> Mapping[str, float]:
        """Cell → seconds it took last time."""
        return self._history.seconds

    def toolchain(self) -> bool:
        """Action of `toolchain:RELEASE`."""
        return self._guarded(self.prepare)

    def resolve(self, names: list[str]) -> bool:
        """Action of `resolve:UNIT@RELEASE`: import the unit for each of these cells' targets, where it is not known."""

        def resolve() -> None:
            self.prepare()
            for name in names:
                if name not in self.known and not self._reached_limit():
                    cell = self.cells[name]
                    # One by one: every row that does not fit its kernel is told, not only the first.
                    self._guarded(partial(self.workshop.judge(cell).resolve, cell))

        unit = self.cells[names[0]].row.ref.unit
        slow = threading.Timer(INTERVAL, self.progress.note, [f"importing {unit} …"])
        slow.daemon = True
        slow.start()
        try:
            return self._guarded(resolve)
        finally:
            slow.cancel()

    def compile(self, name: str) -> bool:
        """Action of `compile:CELL`. Fails for a new failure only where no task `portcheck` comes after it to say so."""

        def compile_cell() -> None:
            self.prepare()
            cell = self.cells[name]
            result = self.known.get(name)
            if result is None or self._lost_artifacts(cell, result):
                if self._over():
                    return
                self.progress.cell_started(name)
                why = self.why(cell) if self.request.verbose else ""
                result = self.workshop.judge(cell).judge(cell, force=self.request.force or result is not None)
                hit = result.origin in ("cached", "remote")
                self._finish(cell, result, "its module changed, the kernel did not" if hit else why)
            else:
                self._finish(cell, result)

        self._guarded(compile_cell)
        return self.gated or not (self.problems or self._is_new_failure(name))

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
            self._guarded(compare)
        return True

    def write_report(self) -> bool:
        """Action of `report`: assemble the report and write the formats that were asked for.

        Fails only where no task `portcheck` comes after it: that one says what the trouble was.
        """

        def write() -> None:
            self.prepare()
            if self.gated and len(self.results) < len(self.cells) and not self._over():
                count = f"{len(self.results)} of {len(self.cells)}"
                raise EnvironmentProblem(f"internal error: only {count} cells reported; please report it")
            wanted = (name for name in self.cells if self.gated or name in self.results)
            judged = [(self.cells[name], self.results.get(name, _SKIPPED)) for name in wanted]
            toolchains = self.workshop.toolchains
            self.report = build(judged, toolchains, time.monotonic() - self._began, expectation)
            if self.request.json:
                self._write_aside(partial(jsonreport.write, self.report, self.request.json))

        if not self.problems:
            self._guarded(write)
        return self.gated or not (self.problems or self.unwritten)

    def print_report(self) -> bool:
        """Action of `portcheck`: print the matrix. False if the run failed.

        doit would swallow what an action raises.
        """
        self._guarded(self._print_matrix)
        self._guarded(self.close)
        tell(
            *(f"portcheck: {line}" for problem in self.problems + self.unwritten for line in str(problem).splitlines())
        )
        return self.status == 0

    def _print_matrix(self) -> None:
        self.progress.stop()
        if self.report is None or self.request.quiet or not self.request.matrix:
            return
        text = matrix.render(self.report, color=self.request.color, width=self.request.width)
        if self.request.audit:
            text += f"\naudit: {self.audited} verdicts from records agree with their front ends\n"
        text += "".join(f"\n{remark}\n" for remark in self.remarks)
        if unwritable := write_out(text):
            raise unwritable

    @property
    def status(self) -> int:
        """The exit status so far: 2 or 3 for trouble, else what the report says."""
        trouble = [problem.status for problem in self.problems + self.unwritten]
        if self.problems:
            return max(trouble)
        if self.report is None:
            return EnvironmentProblem.status
        return max([*trouble, exit_status(self.report, lambda cell: cell.row.settings.xfail_strict)])

    @property
    def workshop(self) -> Workshop:
        """What judges cells; `prepare` made it."""
        assert self._workshop is not None
        return self._workshop

    def start_progress(self, stream: TextIO) -> None:
        """Begin to tell how the run goes."""
        asked = self.request
        expected = {n: s for n, s in self.expected_seconds.items() if n in self.cells and n not in self.results}
        self.progress = make_progress(stream, asked.quiet, asked.verbose, expected, not asked.no_color)
        self.progress.start(len(self.cells) - len(self.results))
        self._shows_progress = True

    def warn(self, text: str) -> None:
        """Tell the user something in a line of its own."""
        line = f"portcheck: {text}"
        if self._shows_progress:
            self.progress.note(line)
        elif not self.request.quiet:
            tell(line)

    def interrupt(self) -> None:
        """Kill every process of the run at once. Finished cells are in the store already."""
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
        try:
            return self.workshop.judge(cell).look_up(cell)
        except UsageError as error:
            self._note(error)
            return None

    def _lost_artifacts(self, cell: Cell, result: Result) -> bool:
        """Was IR asked for that the cache has evicted? The verdict stands without it, so nobody else minds."""
        return self.request.save_ir is not None and None in self.workshop.judge(cell).artifacts(cell, result).values()

    def _finish(self, cell: Cell, result: Result, why: str = "") -> None:
        if self.request.save_ir and not self.unwritten:
            artifacts = self.workshop.judge(cell).artifacts(cell, result)
            self._write_aside(partial(save_ir, self.request.save_ir, cell, artifacts))
        with self._lock:
            self.results[cell.name] = result
        self.progress.cell_finished(cell.name, result.outcome.verdict, result.origin, why)

    def _over(self) -> bool:
        """Is there no point in compiling anything more?"""
        return bool(self.problems) or self._reached_limit()

    def _reached_limit(self) -> bool:
        limit = self.request.max_failures
        if limit is None:
            return False
        with self._lock:
            return sum(map(self._is_new_failure, self.results)) >= limit

    def _is_new_failure(self, name: str) -> bool:
        result = self.results.get(name)
        return result is not None and bool(result.outcome.failure) and expectation(self.cells[name]) is None

    def _write_aside(self, write: Callable[[], None]) -> None:
        """Write a file beside the matrix; the verdicts stand even if that fails."""
        try:
            write()
        except UsageError as error:
            with self._lock:
                self.unwritten.append(error)

    def _guarded(self, action: Callable[[], None]) -> bool:
        """Run an action; its trouble becomes a problem of the run, and the tasks after it go on to say so."""
        try:
            action()
        except Interrupted:
            pass
        except PortcheckError as error:
            self._note(error)
        except Exception as error:
            self._note(internal_error(error))
        return True

    def _note(self, problem: PortcheckError) -> None:
        with self._lock:
            if str(problem) not in map(str, self.problems):
                self.problems.append(problem)


_SKIPPED = Result(Outcome(), SKIPPED)
