"""Which configurations a row has on a target: from records if nothing that decides it has changed, else by asking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from portcheck import fit
from portcheck.cells import Cell
from portcheck.chain import Chains
from portcheck.compiler import devices
from portcheck.compiler.attempt import Attempt
from portcheck.configurations import Configuration, choose, combine
from portcheck.keys import Key
from portcheck.observer import Observer
from portcheck.resolution import Resolution, Resolver
from portcheck.shapes import shape
from portcheck.verdicts import Failure, Outcome, Result

_CONFIGURATION = {"label": str, "constants": dict, "options": dict, "signature": {str: str}}
_is_record = shape({"configurations": ([_CONFIGURATION], None), "unknown": (str, None)})


@dataclass(frozen=True, slots=True)
class Expansion:
    """The configurations of a row on a target, or why they cannot be told."""

    configurations: tuple[Configuration, ...]
    unknown: str | None = None
    asked: bool = False  # the user's code was asked in this run


@dataclass(frozen=True, slots=True)
class Cost:
    """What the configurations that a row asks for cost on a target."""

    total: int  # configurations that a launch chooses from
    asked: int  # that the row asks for
    unknown: int  # of those, what has to be compiled
    seconds: float | None  # that compiling them takes, by those that are known; None if none is


@dataclass(frozen=True, slots=True)
class Launches:
    """What is compiled for a row on a target: the row as written, or some of the configurations of its kernel."""

    cells: tuple[Cell, ...]
    total: int = 1  # that a launch chooses from
    failure: Failure | None = None  # why nothing can be compiled
    asked: bool = True  # the user's code was asked in this run; else it is recorded

    def result(self, results: Sequence[Result], autotune: str) -> Result:
        """The row's result from those of its cells."""
        if self.failure:
            return Result(Outcome(self.failure), "compiled" if self.asked else "cached")
        judged = [(cell.configuration, result) for cell, result in zip(self.cells, results, strict=True)]
        chosen = [(one, result) for one, result in judged if one]
        return combine(chosen, autotune, self.total) if chosen else results[0]


def launches(cell: Cell, expansion: Expansion) -> Launches:
    """The configurations of `cell` that its row asks for."""
    if expansion.unknown:
        message = f"its configurations cannot be told: {expansion.unknown}"
        return Launches((), 0, Failure("options-error", "options", message), expansion.asked)
    chosen = choose(expansion.configurations, cell.row.settings.configs)
    return Launches(tuple(replace(cell, configuration=one) for one in chosen), len(expansion.configurations))


@dataclass(frozen=True, slots=True)
class Expander:
    """Expands the rows of one toolchain through one store. Thread-safe."""

    chains: Chains
    observer: Observer
    resolver: Resolver
    _known: dict[str, Expansion] = field(default_factory=dict)  # hex of the first key → what was found in this run

    def look_up(self, cell: Cell, resolution: Resolution) -> Expansion | None:
        """The recorded expansion of `cell`, if all that it depends on is unchanged; no child process."""
        first = self._first(cell, resolution)
        if first.hex not in self._known:
            record = self.chains.walk(first, self.resolver.observe(resolution)).record
            if not _is_record(record):
                return None
            self._known[first.hex] = _expansion(record or {})
        return self._known[first.hex]

    def lists(self, cell: Cell, resolution: Resolution) -> tuple[str, ...]:
        """The lists of inputs that are observed on the way to the expansion of `cell`."""
        return self.chains.walk(self._first(cell, resolution), self.resolver.observe(resolution)).lists

    def record(self, cell: Cell, resolution: Resolution, attempt: Attempt) -> Expansion:
        """File what asking for `cell` gave; `attempt` reached its end."""
        assert attempt.result is not None  # that is what reaching the end means
        first = self._first(cell, resolution)
        record = {name: attempt.result.get(name) for name in ("configurations", "unknown")}
        known = self.observer.known(resolution.lists)
        late = {n: place for n, place in self.observer.names(attempt.read).items() if n not in known}
        inputs = self.observer.just_read(late)
        is_sound = not attempt.result["unfit"] and not resolution.unfit
        if is_sound and inputs.fit and resolution.inputs.unchanged():
            self.chains.append(first, inputs.lists, record, self.resolver.observe(resolution))
        self._known[first.hex] = replace(_expansion(record), asked=True)
        return self._known[first.hex]

    def _first(self, cell: Cell, resolution: Resolution) -> Key:
        """Functions of the user's decide, so everything that importing the module read counts."""
        return self.chains.make_key(
            unit=resolution.unit.name,
            function=cell.row.ref.function,
            specialisation=fit.specialisation(cell, resolution.kernels[cell.row.ref.function]),
            read=resolution.read,
            env=[list(pair) for pair in resolution.unit.env],
            setup=resolution.unit.setup,
            target=str(cell.target),
            device=devices.properties(cell.target),
        )


def _expansion(record: Mapping[str, Any]) -> Expansion:
    found = tuple(Configuration(**{n: one[n] for n in _CONFIGURATION}) for one in record["configurations"] or ())
    return Expansion(found, record["unknown"] or (None if found else "its autotuner has no configurations"))
