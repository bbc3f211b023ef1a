"""Which kernels a unit holds and what decides them: from records if its inputs are the same, else by importing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from portcheck import environment
from portcheck.chain import Chains, Observe
from portcheck.compiler import devices
from portcheck.compiler.job import Unit
from portcheck.compiler.tree import Imported
from portcheck.inputs import Inputs, together
from portcheck.keys import Key, canonical, digest
from portcheck.observer import Observation, Observer
from portcheck.shapes import Fixed, shape
from portcheck.target import Target

# What is recorded of an import. A function is described as a kernel, or by why it is none.
_PARAMETER = {"name": str, "constexpr": bool, "default": bool}
_USE = {"refused": {str: str}, "dtype": (list, None), "when": [Fixed(object, bool)], "at": Fixed(str, int, int)}
_MADE_OF = {"parts?": (dict, None), "open?": [str]}
_KERNEL = {
    "params": [_PARAMETER],
    "tuned": [str],
    "computed": [str],
    "source": Fixed(str, int, int),
    "uses": [_USE],
    "options": {str: [str]},
    **_MADE_OF,
}
_has_answer = shape(
    {
        "answer": {
            "kernels": {str: (_KERNEL, {"missing": bool, "kernels": [str]}, {"no_kernel": str, "kernels": [str]})},
            "references": {str: _MADE_OF},
            "settings": {"variables?": dict, "knobs?": {str: dict}},
            "patched": [str],
            "env": {str: str},
            "reads": [str],
        }
    }
)


@dataclass(frozen=True, slots=True)
class Resolution:
    """What is known of a unit, as imported on one target or on any."""

    unit: Unit  # as it is to be imported: Triton's variables that the import sets are set beforehand
    kernels: Mapping[str, Mapping[str, Any]]  # function → its description by the child
    references: Mapping[str, Mapping[str, Any]]  # jit constant → what it is made of
    settings: Mapping[str, Any]  # Triton's, after the import
    patched: tuple[str, ...]  # what user code replaced in Triton
    wide: str  # digest of everything that the import read, and of the whole environment
    read: str  # digest of everything that the import read
    lists: tuple[str, ...]  # of the inputs
    inputs: Inputs  # as they were when the unit was resolved
    failed: Imported | None = None  # why it cannot be imported
    unfit: bool = False  # importing it depends on more than can be recorded, such as another program


@dataclass(frozen=True, slots=True)
class Resolver:
    """Resolves units of one toolchain through one store."""

    chains: Chains
    observer: Observer
    base: Mapping[str, str]  # the environment that children are started in, but for the units' own
    distributions: str  # digest of what is installed, for kernels that may depend on any of it

    def look_up(self, unit: Unit, target: Target) -> Resolution | None:
        """The resolution of `unit` on `target` if all recorded inputs are unchanged; no import, no child process."""
        seen: dict[str, Observation] = {}  # what the answer is for: another thread may observe a list anew meanwhile
        environ = self.environ(unit)

        def observe(listed: str) -> str | None:
            observation = self.observer.observation(listed, environ)
            if observation is None:
                return None
            seen[listed] = observation
            return observation.digest

        record = self.chains.walk(self._start(unit, target), observe).record
        if not _has_answer(record) or record is None:
            return None
        answer = record["answer"]
        if not (answer["kernels"].keys() >= {*unit.functions} and answer["references"].keys() >= {*unit.references}):
            return None
        reads = tuple(answer["reads"])
        if not seen.keys() >= {*reads}:
            return None  # a record that names lists its key does not cover
        observations = tuple(seen[listed] for listed in reads)
        return self._resolution(unit, answer, self.observer.recorded(reads, observations))

    def lists(self, unit: Unit, target: Target) -> tuple[str, ...]:
        """The lists of inputs that are observed on the way to the resolution of `unit` on `target`."""
        starts = dict.fromkeys((self._first(unit, None), self._start(unit, target)))
        return tuple(listed for start in starts for listed in self.chains.walk(start, self._observe(unit)).lists)

    def record(self, unit: Unit, target: Target, imported: Imported) -> Resolution:
        """File what importing `unit` on `target` showed.

        `unit` is as the manifest has it; if Triton had to be imported anew with variables that the module sets,
        `imported` is of that import.
        """
        reports = (*imported.before, imported.inputs)
        inputs = together(self.observer.report(read, imported.began) for read in reports)
        answer = {
            "kernels": dict(imported.kernels),
            "references": dict(imported.references),
            "settings": dict(imported.settings),
            "patched": list(imported.patched),
            "env": dict(imported.env),
            "reads": list(inputs.lists),
        }
        resolution = replace(
            self._resolution(unit, answer, inputs),
            failed=imported if imported.failed else None,
            unfit=bool(imported.unfit),
        )
        if imported.failed or imported.unfit or not inputs.unchanged():
            return resolution
        first, start = self._first(unit, None), self._start(unit, target)
        if imported.asked and start == first:
            self.chains.append(first, (), {"per_target": True}, self._observe(unit))
            start = self._first(unit, target)
        self.chains.append(start, inputs.lists, {"answer": answer}, self._observe(unit))
        return resolution

    def environ(self, unit: Unit) -> dict[str, str]:
        """The environment that a unit is imported in."""
        return {**self.base, **dict(unit.env)}

    def _resolution(self, unit: Unit, answer: Mapping[str, Any], inputs: Inputs) -> Resolution:
        lists = tuple(answer["reads"])
        read = [self.observer.observe(listed, self.environ(unit)) for listed in lists]
        wide = {
            "inputs": read,
            "variables": environment.variables(self.environ(unit)),
            "distributions": self.distributions,
        }
        return Resolution(
            unit=replace(unit, env=tuple(sorted({**dict(unit.env), **answer["env"]}.items()))),
            kernels=answer["kernels"],
            references=answer["references"],
            settings=answer["settings"],
            patched=tuple(answer["patched"]),
            wide=digest(canonical(wide)),
            read=digest(canonical(read)),
            lists=lists,
            inputs=inputs,
        )

    def _first(self, unit: Unit, target: Target | None) -> Key:
        """The first key: for all targets, or, for a unit that asked about the device while it was imported, for one."""
        return self.chains.make_key(
            unit={
                "name": unit.name,
                "is_file": unit.is_file,
                "functions": list(unit.functions),
                "references": list(unit.references),
                "env": [list(pair) for pair in unit.env],
                "setup": unit.setup,
            },
            variables=environment.triton_variables(self.environ(unit)),
            target=str(target) if target else None,
            device=devices.properties(target) if target else None,
        )

    def _start(self, unit: Unit, target: Target) -> Key:
        """Where the chain for `target` begins."""
        first = self._first(unit, None)
        end = self.chains.walk(first, self._observe(unit)).record
        return self._first(unit, target) if end and "per_target" in end else first

    def observe(self, resolution: Resolution) -> Observe:
        """Observes lists of inputs as the resolution's unit would see them."""
        return self._observe(resolution.unit)

    def _observe(self, unit: Unit) -> Observe:
        environ = self.environ(unit)
        return lambda listed: self.observer.observe(listed, environ)
