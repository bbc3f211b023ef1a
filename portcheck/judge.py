"""The judge: says what became of a cell, from records where they answer, from the compiler where they do not."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from portcheck import fit, predictions
from portcheck.anchors import Anchors
from portcheck.cache import Store
from portcheck.cellkeys import KeyMaker, open_reasons
from portcheck.cells import Cell
from portcheck.chain import Chains
from portcheck.compiler.attempt import Attempt
from portcheck.compiler.job import Job, Unit
from portcheck.compiler.outcome import import_failure, judge
from portcheck.compiler.service import Service
from portcheck.compiler.tree import Imported
from portcheck.diagnose import limits
from portcheck.errors import UsageError
from portcheck.filing import CellKeys, Filed, Filing, Finished, Front
from portcheck.inputs import Inputs
from portcheck.installed import StandIns
from portcheck.keys import make_key
from portcheck.observer import Observer
from portcheck.reasons import Memory, differences
from portcheck.resolution import Resolution, Resolver
from portcheck.supports import Supports
from portcheck.target import Target
from portcheck.toolchain.model import Toolchain
from portcheck.verdicts import Failure, Outcome, Position, Result


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a cell's verdict stands."""

    known: Result | None  # what is recorded; None: it would be compiled
    open: tuple[str, ...]  # what makes its kernel open
    changed: tuple[str, ...]  # what differs from the last compile here
    then: tuple[str, ...] = ()  # if nothing does: what differed between the last compile and the one before


class Judge:
    """Judges cells of one manifest with one toolchain. Thread-safe."""

    def __init__(
        self,
        toolchain: Toolchain,
        units: Mapping[str, Unit],
        store: Store,
        observer: Observer,
        base: Mapping[str, str],
        salt: str,
        distributions: str,
        service: Callable[[], Service],
    ) -> None:
        """Judge with `toolchain`.

        Args:
            toolchain: the Triton to compile with.
            units: row name → what to import for it.
            store: where records are.
            observer: observes the inputs of imports.
            base: the environment that children are started in.
            salt: of all keys.
            distributions: digest of what is installed.
            service: starts the compile service when it is first called, which is when the first cell needs it.
        """
        make = partial(make_key, salt=salt, toolchain=toolchain.digest)
        self._units, self._service = units, service
        self._observer, self._memory = observer, Memory(store, str(observer.folder))
        self._filing = Filing(store, Anchors(observer.source), make)
        self._resolver = Resolver(Chains(store, "inputs", partial(make, "inputs")), observer, base, distributions)
        self._keys = KeyMaker(toolchain.digest, make, self._resolver.observe)
        self._supports = Supports(store, make, lambda targets: service().supports(targets))
        self._resolutions: dict[tuple[Unit, Target], Resolution] = {}
        self._may_fails: dict[tuple[str, int], bool] = {}
        self._locks: defaultdict[Unit, threading.Lock] = defaultdict(threading.Lock)
        self._lock = threading.Lock()

    def look_up(self, cell: Cell) -> Result | None:
        """The verdict of a cell if records answer it. No child process, no import.

        Raises:
            UsageError: the row does not fit its kernel.
        """
        resolution = self._resolution(cell, importing=False)
        return self._known(cell, resolution) if resolution else None

    def is_resolved(self, cell: Cell) -> bool:
        """Is known what the cell's unit holds, so that it need not be imported?

        Raises:
            UsageError: the row does not fit its kernel.
        """
        return self._resolution(cell, importing=False) is not None

    def resolve(self, cell: Cell) -> None:
        """Have the cell's unit resolved on its target, importing it if need be, and known what predicts failures.

        Raises:
            UsageError: the row does not fit its kernel, or names a module that does not exist.
        """
        resolution = self._resolution(cell, importing=True)
        assert resolution is not None  # importing always gives one
        if self._may_fail(cell, resolution):
            self._supports.learn([cell.target])

    def predict(self, cell: Cell) -> Result | None:
        """The failure that a cell is certain to have, as far as it can be told of what is known by now."""
        with self._lock:
            resolution = self._resolutions.get((self._units[cell.row.name], cell.target))
        if resolution is None or not self._may_fail(cell, resolution):
            return None
        kernel = resolution.kernels[cell.row.ref.function]
        failure = predictions.predict(cell, kernel, self._supports.known(cell.target))
        if failure is None:
            return None
        keys = self._keys.of(cell, resolution)
        return self._result(cell, resolution, keys, Filed(Outcome(failure)), "predicted")

    def is_predictable(self, cell: Cell) -> bool:
        """Is all known that a prediction of the cell is made of, without importing or asking anything?

        Raises:
            UsageError: the row does not fit its kernel.
        """
        resolution = self._resolution(cell, importing=False)
        if resolution is None or resolution.failed:
            return False
        return not self._may_fail(cell, resolution) or self._supports.known(cell.target) is not None

    def not_imported(self, cell: Cell) -> Result | None:
        """The failure of a cell whose module cannot be imported, once that was tried."""
        with self._lock:
            resolution = self._resolutions.get((self._units[cell.row.name], cell.target))
        return self._not_imported(cell, resolution.failed) if resolution and resolution.failed else None

    def judge(self, cell: Cell, *, force: bool = False) -> Result:
        """The verdict of a cell; `force` compiles it even if it is known.

        Raises:
            UsageError: the row does not fit its kernel, or names a module that does not exist.
        """
        resolution = self._resolution(cell, importing=True)
        assert resolution is not None  # importing always gives one
        if resolution.failed:
            return self._not_imported(cell, resolution.failed)
        return (None if force else self._known(cell, resolution)) or self._compile(cell, resolution, force)

    def depends_on(self, cells: Iterable[Cell]) -> StandIns:
        """The installed distributions and modules that deciding about cells depends on; imports what has to be.

        Raises:
            UsageError: a row does not fit its kernel, or names a module that does not exist.
        """
        lists: dict[str, None] = {}
        for cell in cells:
            self._resolution(cell, importing=True)
            lists |= dict.fromkeys(self._resolver.lists(self._units[cell.row.name], cell.target))
        return self._observer.depends_on(lists)

    def front_key(self, cell: Cell) -> str:
        """The front key of a cell in hex; imports its unit if need be.

        Raises:
            UsageError: the row does not fit its kernel, or names a module that does not exist.
        """
        resolution = self._resolution(cell, importing=True)
        assert resolution is not None  # importing always gives one
        return self._keys.of(cell, resolution).front.hex

    def identity(self, cell: Cell) -> str | None:
        """What a cell's verdict depends on, as one digest; None if its unit cannot be imported. Imports if need be.

        Raises:
            UsageError: the row does not fit its kernel, or names a module that does not exist.
        """
        resolution = self._resolution(cell, importing=True)
        assert resolution is not None  # importing always gives one
        return None if resolution.failed else self._keys.of(cell, resolution).front.hex

    def inputs(self, cell: Cell) -> Inputs | None:
        """What importing the cell's unit read, but for Triton and Python, if known; one object for each unit."""
        with self._lock:
            found = self._resolutions.get((self._units[cell.row.name], cell.target))
        return found.inputs if found else None

    def why(self, cell: Cell) -> str:
        """Why no record answers for a cell, as far as can be told without importing anything."""
        resolution = self._resolution(cell, importing=False)
        if resolution is None:
            return f"{cell.row.ref.unit} is new, or something that importing it reads has changed"
        if resolution.failed:
            return f"{cell.row.ref.unit} cannot be imported"
        last, _ = self._memory.last(cell.name)
        if last is None:
            return "it was never compiled here"
        return ", ".join(differences(last, self._keys.parts(cell, resolution))) or "its record is gone"

    def explain(self, cell: Cell) -> Standing:
        """Where a cell's verdict stands: what is recorded, what differs from the last compile, what makes it open.

        Raises:
            UsageError: the row does not fit its kernel, or names a module that does not exist.
        """
        resolution = self._resolution(cell, importing=True)
        assert resolution is not None  # importing always gives one
        if resolution.failed:
            return Standing(self._not_imported(cell, resolution.failed), (), ())
        last, before = self._memory.last(cell.name)
        now = self._keys.parts(cell, resolution)
        changed = list(differences(last, now)) if last else []
        then = list(differences(before, last)) if before and last and not changed else []
        return Standing(self._known(cell, resolution), open_reasons(cell, resolution), tuple(changed), tuple(then))

    def audit(self, cell: Cell, result: Result) -> str | None:
        """Run the front end of a cell whose verdict came from a record; what differs from the record, if anything.

        Raises:
            LookupError: the front end did not get to its end, so there is nothing to compare.
        """
        resolution = self._resolution(cell, importing=True)
        assert resolution is not None  # importing always gives one
        if resolution.failed:
            raise LookupError(cell.name)
        keys, settings = self._keys.of(cell, resolution), cell.row.settings
        seen: list[Front] = []

        def on_front(front: Front) -> bool:
            seen.append(front)
            return False

        spec = keys.front_parts["specialisation"]
        job = Job(resolution.unit, cell.row.ref.function, spec, cell.target, settings.timeout, settings.max_rss)
        attempt = self._service().compile(job, on_front)
        if isinstance(attempt, Imported) or attempt.result is None:
            raise LookupError(cell.name)
        recorded = self._filing.front(keys)
        now, then = _front_end(seen[0] if seen else None), _front_end(recorded)
        if not seen and recorded is None:
            failure = judge(attempt, settings.timeout, settings.max_rss).failure
            now, then = _message(failure), _message(result.outcome.failure)
        return None if now == then else f"{cell.name}: the front end gives {now}, and {then} is recorded for its key"

    def artifacts(self, cell: Cell, result: Result) -> dict[str, bytes | None]:
        """The outputs of all stages of a judged cell; None for one that the store has lost."""
        if not result.outcome.artifacts:
            return {}
        resolution = self._resolution(cell, importing=False)
        if resolution is None or resolution.failed:
            return {}
        return self._filing.artifacts(self._keys.of(cell, resolution), result.outcome)

    def _resolution(self, cell: Cell, *, importing: bool) -> Resolution | None:
        unit = self._units[cell.row.name]
        with self._lock:
            lock = self._locks[unit]
        with lock:
            found = self._resolutions.get((unit, cell.target)) or self._resolver.look_up(unit, cell.target)
            if found is None and importing:
                found = self._resolver.record(unit, cell.target, self._import(unit, cell.target))
            if found:
                self._resolutions[unit, cell.target] = found
        if found:
            self._check(cell, found)
        return found

    def _import(self, unit: Unit, target: Target) -> Imported:
        """Import a unit; if it sets variables that Triton reads early, anew where they are set from the start."""
        imported = self._service().load(unit, target)
        early = {name: value for name, value in imported.set_early.items() if value is not None}
        if imported.failed or not early:
            return imported
        again = self._service().load(replace(unit, env=tuple(sorted({**dict(unit.env), **early}.items()))), target)
        return replace(again, env=early, asked=(*imported.asked, *again.asked))

    def _check(self, cell: Cell, resolution: Resolution) -> None:
        row, failed = cell.row, resolution.failed
        if failed is None:
            if mistakes := fit.mistakes(cell, resolution.kernels[row.ref.function]):
                raise UsageError("\n".join(mistakes))
        elif (
            failed.error
            and (missing := failed.error["missing_module"])
            and f"{row.ref.unit}.".startswith(f"{missing}.")
        ):
            raise UsageError(f'{row.where}: target: no module "{missing}": install it, or put it beside the manifest')

    def _known(self, cell: Cell, resolution: Resolution) -> Result | None:
        if resolution.failed:
            return None
        keys = self._keys.of(cell, resolution)
        found = self._filing.find(keys, cell.row.settings)
        return self._result(cell, resolution, keys, found, "remote" if found.remote else "cached") if found else None

    def _compile(self, cell: Cell, resolution: Resolution, force: bool) -> Result:
        keys, settings = self._keys.of(cell, resolution), cell.row.settings
        fronts: list[Front] = []
        answers: list[Filed] = []

        def on_front(front: Front) -> bool:
            fronts.append(front)
            answer = None if force else self._filing.find_back(keys, front)
            answers.extend([answer] if answer else [])
            return answer is None

        spec = keys.front_parts["specialisation"]
        job = Job(resolution.unit, cell.row.ref.function, spec, cell.target, settings.timeout, settings.max_rss)
        attempt = self._service().compile(job, on_front)
        if isinstance(attempt, Imported):
            return self._not_imported(cell, attempt)
        late, fit_late = self._late(attempt, resolution)
        stable = fit_late and resolution.inputs.unchanged() and not self._beyond_keys(cell, resolution)
        front = fronts[0] if fronts else None
        if answers and front:
            if stable:
                self._filing.put_front(keys, front, answers[0].outcome, late)
            self._memory.add(cell.name, self._keys.parts(cell, resolution))
            return self._result(cell, resolution, keys, answers[0], "cutoff")
        compiled = judge(attempt, settings.timeout, settings.max_rss)
        finished = Finished(front, compiled, late, stable)
        self._memory.add(cell.name, self._keys.parts(cell, resolution))
        return self._result(cell, resolution, keys, self._filing.put(keys, finished, settings), "compiled")

    def _beyond_keys(self, cell: Cell, resolution: Resolution) -> bool:
        """Does an open kernel depend on more than can be recorded, such as what another program said at import?"""
        return resolution.unfit and bool(open_reasons(cell, resolution))

    def _late(self, attempt: Attempt, resolution: Resolution) -> tuple[tuple[str, ...], bool]:
        """Lists of inputs that only compiling read, and whether anything may be recorded under them."""
        known = self._observer.known(resolution.lists) if attempt.read else ()
        new = {name: place for name, place in self._observer.names(attempt.read).items() if name not in known}
        inputs = self._observer.just_read(new)
        unfit = attempt.result is not None and bool(attempt.result["unfit"])
        return inputs.lists, inputs.fit and not unfit

    def _may_fail(self, cell: Cell, resolution: Resolution) -> bool:
        """Is there anything to predict from? Not if user code replaced parts of Triton: it may have filled gaps."""
        if resolution.failed or resolution.patched:
            return False
        by = (cell.row.name, id(resolution))  # kept in `_resolutions`, so the id is good
        if by not in self._may_fails:
            self._may_fails[by] = predictions.may_fail(cell.row, resolution.kernels[cell.row.ref.function])
        return self._may_fails[by]

    def _not_imported(self, cell: Cell, imported: Imported) -> Result:
        failure = import_failure(imported, cell.row.ref.unit, self._units[cell.row.name].timeout)
        return Result(Outcome(failure), "compiled")

    def _result(self, cell: Cell, resolution: Resolution, keys: CellKeys, filed: Filed, origin: str) -> Result:
        outcome, warning = limits.apply(filed.outcome, cell.target, cell.row.settings.launch_limits)
        return Result(
            outcome,
            origin,
            front_key=keys.front.hex,
            back_key=filed.back,
            kernel_hash=keys.front_parts["kernel"],
            source=Position(*resolution.kernels[cell.row.ref.function]["source"]),
            warning=warning,
        )


def _front_end(front: Front | None) -> str:
    return f"TTIR {front['ttir']}" if front else "a failure"


def _message(failure: Failure | None) -> str:
    return f'"{failure.message}"' if failure else "no failure"
