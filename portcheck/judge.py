"""The judge: says what became of a cell, from records where they answer, from the compiler where they do not."""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from portcheck import environment, fit
from portcheck.cache import Store
from portcheck.cells import Cell
from portcheck.compiler.attempt import Attempt
from portcheck.compiler.job import Job, Unit
from portcheck.compiler.outcome import import_failure, judge
from portcheck.compiler.service import Service
from portcheck.compiler.tree import Imported
from portcheck.errors import UsageError
from portcheck.filing import CellKeys, Filed, Filing, Front
from portcheck.inputs import Files
from portcheck.keys import Key, canonical, digest, make_key
from portcheck.resolution import Resolution, Resolver
from portcheck.target import Target
from portcheck.toolchain.model import Toolchain
from portcheck.verdicts import Outcome, Position, Result


class Judge:
    """Judges cells of one manifest with one toolchain. Thread-safe."""

    def __init__(
        self,
        toolchain: Toolchain,
        units: Mapping[str, Unit],
        store: Store,
        files: Files,
        salt: str,
        service: Callable[[], Service],
    ) -> None:
        """`units` says what to import for each row; `service` starts the compile service when it is first called."""
        self._toolchain, self._units, self._salt, self._service = toolchain, units, salt, service
        self._files, self._filing = files, Filing(store)
        machine = {
            "variables": environment.variables(os.environ),
            "distributions": environment.distributions(),
        }
        self._resolver = Resolver(store, files, lambda **parts: self._key("inputs", machine=machine, **parts))
        self._resolutions: dict[tuple[Unit, Target], Resolution] = {}
        self._locks: defaultdict[Any, threading.Lock] = defaultdict(threading.Lock)

    def look_up(self, cell: Cell) -> Result | None:
        """The verdict of a cell if records answer it. No child process, no import.

        Raises:
            UsageError: the row does not fit its kernel.
        """
        resolution = self._resolution(cell, importing=False)
        return self._known(cell, resolution) if resolution else None

    def resolve(self, cell: Cell) -> None:
        """Make sure that the cell's unit is resolved on its target, importing it if need be.

        Raises:
            UsageError: the row does not fit its kernel, or names a module that does not exist.
        """
        self._resolution(cell, importing=True)

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

    def why_unknown(self, cell: Cell) -> str:
        """Why no record answers for a cell, as far as can be told without importing anything."""
        resolution = self._resolution(cell, importing=False)
        if resolution is None:
            return f"{cell.row.ref.unit} is new, or something that importing it reads has changed"
        return "no verdict is recorded for this specialisation and target"

    def artifacts(self, cell: Cell, result: Result) -> dict[str, bytes | None]:
        """The outputs of all stages of a judged cell; None for one that the store has lost."""
        resolution = self._resolution(cell, importing=False)
        if resolution is None or not result.outcome.artifacts:
            return {}
        return self._filing.artifacts(self._keys(cell, resolution), result.outcome)

    def _resolution(self, cell: Cell, *, importing: bool) -> Resolution | None:
        unit = self._units[cell.row.name]
        with self._locks[unit]:
            found = self._resolutions.get((unit, cell.target)) or self._resolver.look_up(unit, cell.target)
            if found is None and importing:
                began = time.time()
                imported = self._service().load(unit, cell.target)
                found = self._resolver.record(unit, cell.target, imported, began)
            if found:
                self._resolutions[unit, cell.target] = found
        if found:
            self._check(cell, found)
        return found

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
        found = self._filing.find(self._keys(cell, resolution), cell.row.settings)
        return self._result(cell, resolution, found, "cached") if found else None

    def _compile(self, cell: Cell, resolution: Resolution, force: bool) -> Result:
        row, keys = cell.row, self._keys(cell, resolution)
        fronts: list[Front] = []
        answers: list[Filed] = []

        def on_front(front: Front) -> bool:
            fronts.append(front)
            answer = None if force else self._filing.find_back(keys, front)
            answers.extend([answer] if answer else [])
            return answer is None

        settings = row.settings
        job = Job(
            self._units[row.name],
            row.ref.function,
            keys.specialisation,
            cell.target,
            settings.timeout,
            settings.max_rss,
        )
        attempt = self._service().compile(job, on_front)
        if isinstance(attempt, Imported):
            return self._not_imported(cell, attempt)
        front = fronts[0] if fronts else None
        stable = resolution.inputs is not None and resolution.inputs.unchanged() and not self._read_more(attempt)
        if answers and front:
            if stable:
                self._filing.put_front(keys, front, None)
            return self._result(cell, resolution, answers[0], "cutoff")
        compiled = judge(attempt, settings.timeout, settings.max_rss)
        filed = self._filing.put(keys, front, compiled, settings, stable=stable)
        return self._result(cell, resolution, filed, "compiled")

    def _read_more(self, attempt: Attempt) -> bool:
        """Did the front end read files of the project that importing did not, so that no key covers them?"""
        read = attempt.result["read"] if attempt.result else ()
        return any(not name.startswith("dist/") for name in self._files.named(read))

    def _not_imported(self, cell: Cell, imported: Imported) -> Result:
        failure = import_failure(imported, cell.row.ref.unit, self._units[cell.row.name].timeout)
        return Result(Outcome(failure), "compiled")

    def _keys(self, cell: Cell, resolution: Resolution) -> CellKeys:
        return CellKeys(
            make=self._key,
            kernel_hash=_kernel_hash(cell, resolution),
            specialisation=fit.specialisation(cell, resolution.kernels[cell.row.ref.function]),
            target=cell.target,
        )

    def _result(self, cell: Cell, resolution: Resolution, filed: Filed, origin: str) -> Result:
        place = resolution.kernels[cell.row.ref.function]["source"]
        return Result(
            filed.outcome,
            origin,
            front_key=self._keys(cell, resolution).front.hex,
            back_key=filed.back,
            kernel_hash=_kernel_hash(cell, resolution),
            source=Position(*place),
        )

    def _key(self, kind: str, **parts: Any) -> Key:
        return make_key(kind, self._salt, self._toolchain.digest, **parts)


def _kernel_hash(cell: Cell, resolution: Resolution) -> str:
    """Wide: everything that importing the unit read, and which function of it."""
    return digest(canonical([resolution.hash, cell.row.ref.function]))
