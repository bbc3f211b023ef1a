"""What Triton resolved from the environment and from Python: every knob, and the variables that its C++ reads.

Triton's own list of cache-invalidating variables is not enough: on 3.9 it leaves out TRITON_PTXAS_PATH, LIBDEVICE_PATH
and others, and it contains pure dump switches.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping
from typing import Any

from . import linker, refused

# Prefixes of the variables that Triton and LLVM read themselves, whether or not a knob shows them.
PREFIXES = (
    "TRITON_",
    "AMDGCN_",
    "NVPTX_",
    "LLVM_",
    "MLIR_",
    "PTXAS_",
    "DISABLE_",
    "ENABLE_",
    "LIBDEVICE_",
    "USE_IR_LOC",
    "USE_TTGIR_LOC",
    "ALLOW_",
)
# Groups of knobs that only say where things are kept or how launchers are built.
_GROUPS_WITHOUT_EFFECT = frozenset({"cache", "redis", "proton", "build", "autotuning"})
# Knobs and variables that only dump, print or measure, or that portcheck sets itself.
_KNOBS_WITHOUT_EFFECT = frozenset(
    "dump_ir dump_nvptx dump_ptxas_log dump_amdgcn dump_mir always_compile store_binary_only front_end_debugging "
    "listener jit_cache_hook jit_post_compile_hook launch_enter_hook launch_exit_hook kernel_load_start_hook "
    "kernel_load_end_hook cuobjdump nvdisasm libcuda_path libhip_path".split()
)
_VARIABLES_WITHOUT_EFFECT = frozenset(
    "TRITON_CACHE_DIR TRITON_DUMP_DIR TRITON_OVERRIDE_DIR TRITON_HOME TRITON_CACHE_MANAGER TRITON_REMOTE_CACHE_BACKEND "
    "TRITON_KERNEL_DUMP TRITON_ALWAYS_COMPILE TRITON_STORE_BINARY_ONLY TRITON_PRINT_AUTOTUNING TRITON_CACHE_AUTOTUNING "
    "TRITON_DUMP_PTXAS_LOG TRITON_DUMP_MIR NVPTX_ENABLE_DUMP AMDGCN_ENABLE_DUMP MLIR_ENABLE_DUMP MLIR_DUMP_PATH "
    "MLIR_ENABLE_TIMING MLIR_ENABLE_DIAGNOSTICS LLVM_IR_ENABLE_DUMP LLVM_ENABLE_TIMING LLVM_PASS_PLUGIN_DUMP "
    "TRITON_FRONT_END_DEBUGGING TRITON_REDIS_KEY_FORMAT TRITON_REDIS_HOST TRITON_REDIS_PORT".split()
)


_files: set[str] = set()  # named by settings and options so far; their content counts


def take_files() -> list[str]:
    """The files that settings and options named since this was last asked."""
    found = sorted(_files)
    _files.clear()
    return found


def hooks() -> list[str]:
    """Knobs that hold code of somebody's: what it does is in no key."""
    knobs = getattr(sys.modules.get("triton"), "knobs", None)
    return (
        []
        if knobs is None
        else sorted(
            "triton.knobs.%s.%s" % (name, key)
            for name, group in vars(knobs).items()
            if isinstance(group, knobs.base_knobs)
            for key, value in vars(group).items()
            if key not in _KNOBS_WITHOUT_EFFECT and callable(value) and not _of_triton(value)
        )
    )


def resolved() -> dict[str, Any]:
    """Everything of Triton's settings that may change what a kernel compiles to, as plain data."""
    found = {"knobs": _knobs(), "variables": variables(os.environ), "refused": refused.taken_out()}
    return {**found, "linker": linker.used()} if linker.used() else found


def variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables among `environ` that Triton reads, files by their content."""
    return {
        name: plain(value)
        for name, value in sorted(environ.items())
        if name.startswith(PREFIXES) and name not in _VARIABLES_WITHOUT_EFFECT
    }


def read_late() -> set[str]:
    """Variables that Triton looks up anew whenever it needs them, so that setting them late is as good as early."""
    knobs = getattr(sys.modules.get("triton"), "knobs", None)
    if knobs is None:
        return set()
    groups = [group for group in vars(knobs).values() if isinstance(group, knobs.base_knobs)]
    found = {getattr(v, "key", None) for group in groups for c in type(group).__mro__ for v in vars(c).values()}
    return {name for name in found if isinstance(name, str)} | _VARIABLES_WITHOUT_EFFECT


def plain(value: Any) -> Any:
    """A value as JSON, without addresses and without paths of this machine: files outside Triton count by content."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in sorted(value.items(), key=lambda item: str(item[0]))}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(v) for v in value), key=str)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if callable(value):
        return "%s.%s" % (getattr(value, "__module__", ""), getattr(value, "__qualname__", type(value).__qualname__))
    text = str(getattr(value, "path", value))
    triton = sys.modules.get("triton")
    home = os.path.dirname(str(triton.__file__)) if triton else ""
    if home and (text == home or text.startswith(home + os.sep)):
        return text.replace(home, "$TRITON")
    if os.path.isabs(text):
        _files.add(text)  # also if it is not there yet
    if not os.path.isfile(text):
        return text
    _files.add(text)
    with open(text, "rb") as f:
        return "file " + hashlib.sha256(f.read()).hexdigest()


def _of_triton(value: Any) -> bool:
    kind = value if hasattr(value, "__module__") else type(value)
    return str(kind.__module__).partition(".")[0] in ("triton", "portcheck_child")


def _knobs() -> dict[str, Any]:
    knobs = getattr(sys.modules["triton"], "knobs", None)
    if knobs is None:
        return {}
    found: dict[str, Any] = {}
    for name, group in vars(knobs).items():
        if isinstance(group, knobs.base_knobs) and name not in _GROUPS_WITHOUT_EFFECT:
            keys = {n for c in type(group).__mro__ for n in getattr(c, "__annotations__", {})} | set(vars(group))
            found[name] = {key: _knob(group, key) for key in sorted(keys - _KNOBS_WITHOUT_EFFECT)}
    return found


def _knob(group: Any, key: str) -> Any:
    try:
        return plain(getattr(group, key, None))
    except Exception as error:  # a tool that is set and cannot be run: compiling will say so
        return "%s: %s" % (type(error).__name__, error)
