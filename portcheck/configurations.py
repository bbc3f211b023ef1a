"""Configurations of autotuned kernels: what a launch chooses from, which are compiled, and the row's verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from portcheck.diagnose import limits
from portcheck.keys import digest
from portcheck.verdicts import Configs, Failed, Failure, Result

Chooser = Callable[[Sequence["Configuration"]], list["Configuration"]]


@dataclass(frozen=True, slots=True)
class Configuration:
    """What one way of launching a kernel adds to its row, in the canonical form of `Value`."""

    label: str  # what the autotuner set: `BLOCK=64, num_warps=4`; empty if there is none, and only heuristics
    constants: Mapping[str, Any]
    options: Mapping[str, Any]
    signature: Mapping[str, str]  # descriptors whose block shape a hook has set → their type

    @property
    def size(self) -> int:
        """A measure of how much it asks for: the product of its integers and of the stages."""
        integers = [value for value in self.constants.values() if type(value) is int and value > 0]
        return math.prod(integers) * int(self.options.get("num_stages") or 1)

    @property
    def warps(self) -> int:
        """Warps of a block."""
        return int(self.options.get("num_warps") or 0)


def choose(configurations: Sequence[Configuration], how: str) -> tuple[Configuration, ...]:
    """Those to compile, in the kernel's order: `first`, `extremes`, `all` or `sample:N`."""
    name, _, number = how.partition(":")
    chosen = _sample(configurations, int(number)) if name == "sample" else _CHOOSERS[name](configurations)
    return tuple(one for one in configurations if any(one is other for other in chosen))


def _extremes(configurations: Sequence[Configuration]) -> list[Configuration]:
    """The smallest and the largest, and those with the fewest and the most warps."""
    sizes = [pick(configurations, key=lambda one: one.size) for pick in (min, max)]
    return sizes + [pick(configurations, key=lambda one: one.warps) for pick in (min, max)]


def _sample(configurations: Sequence[Configuration], number: int) -> list[Configuration]:
    """Some, the same ones in every run and on every machine, so that they are found in the cache."""
    return sorted(configurations, key=lambda one: digest(one.label.encode()))[:number]


_CHOOSERS: Mapping[str, Chooser] = {"first": lambda all_of: list(all_of[:1]), "extremes": _extremes, "all": list}

# What `Autotuner._bench` takes for a configuration that loses, beside OutOfResources; all else leaves the launch.
_LOSING = ("CompileTimeAssertionFailure", "PTXASError")


def is_passed_over(failure: Failure) -> bool:
    """Does Triton's autotuner go on with the next configuration after such a failure, instead of raising it?"""
    return failure.verdict == limits.VERDICT or (failure.raised or "").rpartition(".")[2] in _LOSING


# Where verdicts came from, the dearest first: a row came from where the dearest of its configurations did.
_DEAREST = ("compiled", "cutoff", "remote", "cached", "predicted", "skipped")


def combine(judged: Sequence[tuple[Configuration, Result]], autotune: str, total: int) -> Result:
    """The result of a row from those of its configurations.

    On the device configurations that do not compile or fit are passed over, so with `autotune` "any" a row is ok if one
    of them is; with "all" each has to be. The row shows the outcome of the first that decides; a tool that is missing
    decides before all other failures, since nobody knows what the rest would be. `total`: how many configurations a
    launch chooses from.
    """
    failed = [(one, result) for one, result in judged if result.outcome.failure]
    failed.sort(key=lambda pair: pair[1].outcome.verdict != "toolchain-error")
    passed = [(one, result) for one, result in judged if not result.outcome.failure]
    decisive = failed or passed if autotune == "all" else passed or failed
    shown, result = decisive[0]
    seconds = sum(result.outcome.seconds for _, result in judged)
    return replace(
        result,
        outcome=replace(result.outcome, seconds=seconds),
        origin=min((result.origin for _, result in judged), key=_DEAREST.index),
        configs=Configs(
            ok=len(passed),
            of=len(judged),
            total=total,
            shown=shown.label,
            failed=tuple(Failed(one.label, result.outcome.failure) for one, result in failed if result.outcome.failure),
        )
        if total > 1 or shown.label
        else None,
    )
