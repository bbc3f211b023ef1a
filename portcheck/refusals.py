"""Settings under which no verdict would be about the user's kernel: what is compiled would be something else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from portcheck.verdicts import Failure

_FALSE = {"", "0", "false", "off", "no", "n"}

# variable → what it does
_VARIABLES = {
    "TRITON_INTERPRET": "runs kernels in Python instead of compiling them",
    "TRITON_KERNEL_OVERRIDE": "replaces the compiler's output by files",
    "TRITON_SWAP_MIR": "replaces the compiler's output by files",
}
# (group, knob) → likewise, when it is set in Python
_KNOBS = {
    ("runtime", "interpret"): "runs kernels in Python instead of compiling them",
    ("compilation", "override"): "replaces the compiler's output by files",
    ("amd", "swap_mir"): "replaces the compiler's output by files",
    ("runtime", "add_stages_inspection_hook"): "changes the compiler's passes",
}


def refused(environ: Mapping[str, str]) -> Failure | None:
    """The failure of every cell in an environment that was set up for something else than compiling."""
    for name, effect in _VARIABLES.items():
        if environ.get(name, "").lower() not in _FALSE:
            return _failure(f"{name} is set: it {effect}; unset it")
    return None


def refused_after_import(settings: Mapping[str, Any], options: Mapping[str, Any]) -> Failure | None:
    """The failure of a cell whose module or options have the compiler's output replaced."""
    knobs = settings.get("knobs", {})
    for (group, name), effect in _KNOBS.items():
        if knobs.get(group, {}).get(name):
            return _failure(
                f"triton.knobs.{group}.{name} is set: it {effect}; leave it unset where portcheck imports it"
            )
    if options.get("ir_override") not in (None, {"none": True}):
        return _failure("the option ir_override replaces the compiler's output by a file: take it out")
    return None


def _failure(message: str) -> Failure:
    return Failure("options-error", "options", message)
