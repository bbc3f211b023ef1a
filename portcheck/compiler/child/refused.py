"""Settings under which Triton compiles something else than the kernel for the target. No verdict is given then."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

# variable → the knob that reads it, where the release has knobs; what it does
_SETTINGS = {
    "TRITON_INTERPRET": ("runtime.interpret", "runs kernels in Python instead of compiling them"),
    "TRITON_KERNEL_OVERRIDE": ("compilation.override", "puts files in the place of what a stage made"),
    "TRITON_SWAP_MIR": ("amd.swap_mir", "puts files in the place of machine code"),
    "TRITON_OVERRIDE_ARCH": ("runtime.override_arch", "compiles for another architecture"),
}
_taken: list[str] = []


class Refused(Exception):
    """There would be a verdict, but not on the kernel."""


def take_out() -> None:
    """Take them out of the environment before Triton sees them: some end the process, and one decorates no kernel."""
    for variable in _SETTINGS:
        if _is_set(variable):
            _taken.append(variable)
        os.environ.pop(variable, None)


def taken_out() -> list[str]:
    """What was set in the environment, and is not any more."""
    return sorted(_taken)


def check(options: Mapping[str, Any]) -> None:
    """Raise `Refused` if the environment, user code or the launch options ask for such a thing."""
    for variable, (knob, effect) in _SETTINGS.items():
        if variable in _taken or _is_set(variable) or _knob(knob):
            raise Refused("%s is set, which %s: unset it" % (variable, effect))
    if options.get("arch"):
        raise Refused("option arch compiles for another architecture than the cell's target: leave it out")
    if options.get("ir_override"):
        raise Refused("option ir_override puts a file in the place of the kernel: leave it out")


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "").lower() not in ("", "0", "false", "off", "n", "no")


def _knob(name: str) -> Any:
    group, _, knob = name.partition(".")
    return getattr(getattr(getattr(sys.modules["triton"], "knobs", None), group, None), knob, None)
