"""The judge: says what became of a cell, from records where they answer, from the compiler where they do not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
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
from portcheck.compiler.tree import Imported, Process
from portcheck.diagnose import limits
from portcheck.expansion import Cost, Expander, Launches, launches
from portcheck.filing import CellKeys, Filed, Filing, Finished, Front
from portcheck.inputs import Inputs
from portcheck.installed import StandIns
from portcheck.keys import canonical, digest, make_key
from portcheck.observer import Observer
from portcheck.reasons import Memory, differences
from portcheck.resolution import Resolution, Resolver
from portcheck.resolved import Resolved
from portcheck.supports import Supports
from portcheck.toolchain.model import Toolchain
from portcheck.verdicts import Failure, Outcome, Position, Result


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a cell's verdict stands."""

    known: Result | None  # what is recorded; None: it would be compiled
    open: tuple[str, ...]  # what makes its kernel open
    changed: tuple[str, ...]  # what differs from the last compile here
    then: tuple[str, ...] = ()  # if nothing does: what differed between the last compile and the one before
    compiled_here: bool = False  # ever


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
        self._service = service
        self._observer, self._memory = observer, Memory(store, str(observer.folder))
        self._filing = Filing(store, Anchors(observer.source), make)
        self._resolver = Resolver(Chains(store, "inputs", partial(make, "inputs")), observer, base, distributions)
        self._expander = Expander(Chains(store, "configs", partial(make, "configs")), observer, self._resolver)
        self._keys = KeyMaker(toolchain.digest, make, self._resolver.observe)
        self._supports = Supports(store, make, lambda targets: service().supports(targets))
        self._resolved = Resolved(units, self._resolver, service)
        self._may_fails: dict[tuple[str, int], bool] = {}

    def look_up(self, cell: Cell) -> Result | None:
        """The verdict of a cell if records answer it. No child process, no import.

        Raises:
            UsageError: the row does not fit its kernel.
        """
        resolution = self._resolved.look_up(cell)
        return self._recorded(cell, resolution) if resolution and not resolution.failed else None

    def is_resolved(self, cell: Cell) -> bool:
        """Is known what the cell's unit holds and what a launch chooses from, so that it need not be imported?

        Raises:
            UsageError: the row does not fit its kernel.
        """
        resolution = self._resolved.look_up(cell)
        return bool(resolution and (resolution.failed or self._launches(cell, resolution, asking=False)))

    def resolve(self, cell: Cell) -> None:
        """Make sure that is known what the cell's unit holds, what a launch chooses from, and what predicts failures.

        Imports the unit if need be.

        Raises:
            UsageError: the row does not fit its kernel, or names a module that does not exist.
        """
        resolution = self._resolved.resolve(cell)
        if not resolution.failed:
            self._launches(cell, resolution, asking=True)
        if self._may_fail(cell, resolution):
            self._supports.learn([cell.target])

    def predict(self, cell: Cell) -> Result | None:
        """The failure that a cell is certain to have, as far as it can be told of what is known by now."""
        resolution = self._resolved.known(cell)
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
        resolution = self._resolved.look_up(cell)
        if resolution is None or resolution.failed:
            return False
        return not self._may_fail(cell, resolution) or self._supports.known(cell.target) is not None

    def not_imported(self, cell: Cell) -> Result | None:
        """The failure of a cell whose module cannot be imported, once that was tried."""
        resolution = self._resolved.known(cell)
        return self._not_imported(cell, resolution.failed) if resolution and resolution.failed else None

    def judge(self, cell: Cell, *, force: bool = False) -> Result:
        """The verdict of a cell; `force` compiles it even if it is known.

        Raises:
            UsageError: the row does not fit its kernel, or names a module that does not exist.
        """
        resolution = self._resolved.resolve(cell)
        if resolution.failed:
            return self._not_imported(cell, resolution.failed)
        found = self._launches(cell, resolution, asking=True, force=force)
        assert found is not None  # asking always gives some
        known = [None if force else self._known(one, resolution) for one in found.cells]
        unknown = [one for one, result in zip(found.cells, known, strict=True) if result is None]
        compiled = iter(self._compile_all(unknown, resolution, force))
        return found.result([result or next(compiled) for result in known], cell.row.settings.autotune)

    def depends_on(self, cells: Iterable[Cell]) -> StandIns:
        """The installed distributions and modules that deciding about cells depends on; imports what has to be.

        Raises:
            UsageError: a row does not fit its kernel, or names a module that does not exist.
        """
        lists: dict[str, None] = {}
        for cell in cells:
            resolution = self._resolved.resolve(cell)
            lists |= dict.fromkeys(self._resolver.lists(self._resolved.unit(cell), cell.target))
            if not resolution.failed and self._launches(cell, resolution, asking=True):
                lists |= dict.fromkeys(self._expander.lists(cell, resolution))
        return self._observer.depends_on(lists)

    def import_failure(self, cell: Cell) -> Failure | None:
        """Why a cell's unit cannot be imported; None if it can. Imports it if need be.

        Raises:
            UsageError: the row does not fit its kernel, or names a module that does not exist.
        """
        resolution = self._resolved.resolve(cell)
        return self._not_imported(cell, resolution.failed).outcome.failure if resolution.failed else None

    def identity(self, cell: Cell) -> str | None:
        """What a cell's verdict depends on, as one digest; None if that cannot be told. Imports its unit if need be.

        Raises:
            UsageError: the row does not fit its kernel, or names a module that does not exist.
        """
        resolution = self._resolved.resolve(cell)
        if resolution.failed:
            return None
        found = self._launches(cell, resolution, asking=True)
        assert found is not None  # asking always gives some
        is_open = bool(open_reasons(cell, resolution))
        each = [self._filing.identity(self._keys.of(one, resolution), is_open=is_open) for one in found.cells]
        if None in each:
            return None
        return each[0] if len(each) == 1 else digest(canonical([each, found.failure and found.failure.message]))

    def inputs(self, cell: Cell) -> Inputs | None:
        """What importing the cell's unit read, but for Triton and Python, if known; one object for each unit."""
        found = self._resolved.known(cell)
        return found.inputs if found else None

    def why(self, cell: Cell) -> str:
        """Why no record answers for a cell, as far as can be told without importing anything."""
        resolution = self._resolved.look_up(cell)
        if resolution is None:
            return f"{cell.row.ref.unit} is new, or something that importing it reads has changed"
        if resolution.failed:
            return f"{cell.row.ref.unit} cannot be imported"
        found = self._launches(cell, resolution, asking=False)
        if found is None:
            return "what its launch chooses from is not known"
        for one in found.cells:
            if self._known(one, resolution) is None:
                last, _ = self._memory.last(one.name)
                if last is None:
                    return "it was never compiled here"
                return ", ".join(differences(last, self._keys.parts(one, resolution))) or "its record is gone"
        return "nothing has to be compiled"

    def cost(self, cell: Cell) -> Cost | None:
        """What the configurations of a row cost, as far as they are known without importing; None if it has none."""
        resolution = self._resolved.look_up(cell)
        if resolution is None or resolution.failed:
            return None
        found = self._launches(cell, resolution, asking=False)
        if found is None or not any(one.configuration for one in found.cells):
            return None
        results = [self._known(one, resolution) for one in found.cells]
        seconds = [result.outcome.seconds for result in results if result]
        unknown = len(results) - len(seconds)
        about = sum(seconds) / len(seconds) * unknown if seconds else None
        return Cost(found.total, len(results), unknown, about)

    def explain(self, cell: Cell) -> Standing:
        """Where a cell's verdict stands: what is recorded, what differs from the last compile, what makes it open.

        Raises:
            UsageError: the row does not fit its kernel, or names a module that does not exist.
        """
        resolution = self._resolved.resolve(cell)
        if resolution.failed:
            return Standing(self._not_imported(cell, resolution.failed), (), ())
        self._launches(cell, resolution, asking=True)
        known = self._recorded(cell, resolution)
        shown = self._shown(cell, resolution, known)
        last, before = self._memory.last(shown.name)
        now = self._keys.parts(shown, resolution)
        changed = list(differences(last, now)) if last else []
        then = list(differences(before, last)) if before and last and not changed else []
        return Standing(known, open_reasons(cell, resolution), tuple(changed), tuple(then), last is not None)

    def audit(self, cell: Cell, result: Result) -> str | None:
        """Run the front end of a cell whose verdict came from a record; what differs from the record, if anything.

        Raises:
            LookupError: the front end did not get to its end, so there is nothing to compare.
        """
        resolution = self._resolved.resolve(cell)
        if resolution.failed:
            raise LookupError(cell.name)
        found = self._launches(cell, resolution, asking=True)
        if found is None or found.failure:
            raise LookupError(cell.name)
        cell = self._shown(cell, resolution, result)
        keys, settings = self._keys.of(cell, resolution), cell.row.settings
        seen: list[Front] = []

        def on_front(front: Front) -> bool:
            seen.append(front)
            return False

        attempt = self._service().compile(self._job(cell, resolution), on_front)
        if isinstance(attempt, Imported) or attempt.result is None:
            raise LookupError(cell.name)
        recorded = self._filing.front(keys)
        now, then = _front_end(seen[0] if seen else None), _front_end(recorded)
        if not seen and recorded is None:
            failure = judge(attempt, settings.timeout, settings.max_rss).failure
            now, then = _message(failure), _message(result.outcome.failure)
        return None if now == then else f"{cell.name}: the front end gives {now}, and {then} is recorded for its key"

    def compile_keeping(self, cell: Cell) -> tuple[Failure | None, Attempt | None]:
        """Compile a cell whatever is recorded, and keep what every step of that is given. Nothing is filed.

        Of an autotuned row that is the configuration that is shown.

        Returns:
            How it fails, if it does, and the attempt; none if there is nothing to compile.

        Raises:
            UsageError: the row does not fit its kernel, or names a module that does not exist.
        """
        resolution = self._resolved.resolve(cell)
        if resolution.failed:
            return self._not_imported(cell, resolution.failed).outcome.failure, None
        found = self._launches(cell, resolution, asking=True)
        assert found is not None  # asking always gives some
        if found.failure:
            return found.failure, None
        shown = self._shown(cell, resolution, self._recorded(cell, resolution))
        attempt = self._service().compile(self._job(shown, resolution, keep=True))
        if isinstance(attempt, Imported):
            return self._not_imported(cell, attempt).outcome.failure, None
        settings = cell.row.settings
        compiled = judge(attempt, settings.timeout, settings.max_rss)
        outcome = Outcome(compiled.failure, resources=compiled.resources)
        return limits.apply(outcome, cell.target, settings.launch_limits)[0].failure, attempt

    def artifacts(self, cell: Cell, result: Result) -> dict[str, bytes | None]:
        """The outputs of all stages of a judged cell; None for one that the store has lost."""
        if not result.outcome.artifacts:
            return {}
        resolution = self._resolved.look_up(cell)
        if resolution is None or resolution.failed:
            return {}
        return self._filing.artifacts(self._keys.of(self._shown(cell, resolution, result), resolution), result.outcome)

    def _shown(self, cell: Cell, resolution: Resolution, result: Result | None) -> Cell:
        """The configuration whose outcome `result` shows, of a row that has several; else its first."""
        found = self._launches(cell, resolution, asking=False)
        cells = found.cells if found and found.cells else (cell,)
        label = result.configs.shown if result and result.configs else None
        return next((one for one in cells if one.configuration and one.configuration.label == label), cells[0])

    def _recorded(self, cell: Cell, resolution: Resolution) -> Result | None:
        """What records say of a row, if they say it of all that it asks for."""
        found = self._launches(cell, resolution, asking=False)
        if found is None:
            return None
        results = []
        for one in found.cells:
            result = self._known(one, resolution)
            if result is None:
                return None
            results.append(result)
        return found.result(results, cell.row.settings.autotune)

    def _launches(self, cell: Cell, resolution: Resolution, *, asking: bool, force: bool = False) -> Launches | None:
        """What is compiled for a row: as written, or as its kernel's autotuner and heuristics choose.

        With `asking` they are asked if no record answers, and with `force` in any case.
        """
        if cell.configuration or not fit.chosen_at_launch(cell, resolution.kernels[cell.row.ref.function]):
            return Launches((cell,))
        found = self._expander.look_up(cell, resolution)
        if asking and (found is None or (force and not found.asked)):
            attempt = self._service().compile(self._job(cell, resolution, "configurations"))
            if isinstance(attempt, Imported):
                return Launches((), failure=self._not_imported(cell, attempt).outcome.failure)
            if attempt.result is None:
                settings = cell.row.settings
                return Launches((), failure=judge(attempt, settings.timeout, settings.max_rss).failure)
            found = self._expander.record(cell, resolution, attempt)
        return launches(cell, found) if found else None

    def _job(self, cell: Cell, resolution: Resolution, kind: str = "cell", *, keep: bool = False) -> Job:
        settings, function = cell.row.settings, cell.row.ref.function
        spec = fit.specialisation(cell, resolution.kernels[function])
        return Job(resolution.unit, function, spec, cell.target, settings.timeout, settings.max_rss, kind, keep)

    def _known(self, cell: Cell, resolution: Resolution) -> Result | None:
        keys = self._keys.of(cell, resolution)
        found = self._filing.find(keys, cell.row.settings)
        return self._result(cell, resolution, keys, found, "remote" if found.remote else "cached") if found else None

    def _compile_all(self, cells: Sequence[Cell], resolution: Resolution, force: bool) -> list[Result]:
        """Compile configurations of one row. Those that differ in options only may share a front end."""
        groups: defaultdict[str, list[int]] = defaultdict(list)
        for at, cell in enumerate(cells):
            groups[digest(canonical({**self._job(cell, resolution).spec, "options": None}))].append(at)
        results: dict[int, Result] = {}
        for group in groups.values():
            front = (
                self._service().shared_front(self._job(cells[group[0]], resolution))
                if len(group) > 1
                else nullcontext()
            )
            with front as shared:
                compiled = partial(self._compile, resolution=resolution, force=force, shared=shared)
                results.update(
                    zip(group, self._service().slots.spread(compiled, [cells[at] for at in group]), strict=True)
                )
        return [results[at] for at in range(len(cells))]

    def _compile(self, cell: Cell, resolution: Resolution, force: bool, shared: Process | None = None) -> Result:
        keys, settings = self._keys.of(cell, resolution), cell.row.settings
        fronts: list[Front] = []
        answers: list[Filed] = []

        def on_front(front: Front) -> bool:
            fronts.append(front)
            answer = None if force else self._filing.find_back(keys, front)
            answers.extend([answer] if answer else [])
            return answer is None

        attempt = self._service().compile(self._job(cell, resolution), on_front, shared)
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
        by = (cell.row.name, id(resolution))  # kept in `_resolved`, so the id is good
        if by not in self._may_fails:
            self._may_fails[by] = predictions.may_fail(cell.row, resolution.kernels[cell.row.ref.function])
        return self._may_fails[by]

    def _not_imported(self, cell: Cell, imported: Imported) -> Result:
        failure = import_failure(imported, cell.row.ref.unit, self._resolved.unit(cell).timeout)
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
