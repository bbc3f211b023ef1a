"""Finding a kernel in a module, behind whatever decorates it, and describing it to the tool."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

from . import releases
from .names import Names


def jit_kind() -> Any:
    from triton.runtime.jit import JITFunction

    return JITFunction


def is_decorated(found: Any) -> bool:
    """Is it a function that Triton has decorated: one it compiles, or one it runs while compiling?"""
    from triton.runtime import jit

    return isinstance(found, getattr(jit, "JITCallable", jit.JITFunction))


def runs_as_python(found: Any) -> bool:
    """Is it a constexpr function, which Triton calls instead of compiling it?"""
    return is_decorated(found) and not isinstance(found, jit_kind())


def unwrap(found: Any) -> tuple[Any, list[Any]]:
    """The JIT function inside autotuners, heuristics and user decorators, and what was taken off on the way.

    Returns (function or None, [wrapper, …]).
    """
    kind = jit_kind()
    wrappers: list[Any] = []
    while not isinstance(found, kind):
        inner = getattr(found, "fn", None) or getattr(found, "__wrapped__", None)
        if inner is None or len(wrappers) > 32:
            return None, wrappers
        wrappers.append(found)
        found = inner
    return found, wrappers


def look_up(module: ModuleType, function: str) -> Any:
    """The object named `function` (dots go into attributes), or None."""
    found: Any = module
    for part in function.split("."):
        found = getattr(found, part, None)
        if found is None:
            return None
    return found


def kernel_names(module: ModuleType) -> list[str]:
    """The kernels that a module defines at its top level, in order."""
    return [n for n, v in vars(module).items() if not n.startswith("__") and unwrap(v)[0] is not None]


def describe(module: ModuleType, function: str, names: Names) -> dict[str, Any]:
    """What the tool needs to know of one function: is it a kernel, its parameters, what a tuner would choose, where."""
    found = look_up(module, function)
    if found is None:
        return {"missing": True, "kernels": kernel_names(module)}
    jit, wrappers = unwrap(found)
    if jit is None:
        return {"no_kernel": type(found).__name__, "kernels": kernel_names(module)}
    return {
        "params": [
            {
                "name": p.name,
                "constexpr": bool(p.is_constexpr),
                "default": p.default is not inspect.Parameter.empty,
                **_plain_default(p),
            }
            for p in jit.params
        ],
        "tuned": sorted(set().union(*map(chosen_by, wrappers))),
        "computed": sorted(set().union(*map(computed_by, wrappers))),
        "source": place(jit, names),
    }


def _plain_default(parameter: Any) -> dict[str, Any]:
    """The default of a constexpr parameter as a manifest would write it, if it is as simple as that."""
    if not parameter.is_constexpr or type(parameter.default) not in (bool, int, float, str, type(None)):
        return {}
    return {"value": {"none": True} if parameter.default is None else parameter.default}


def chosen_by(wrapper: Any) -> set[str]:
    """Names of the constants and options that the configurations of an autotuner set; none if it is none."""
    chosen: set[str] = set()
    for config in getattr(wrapper, "configs", None) or ():
        chosen |= set(config.kwargs)
        chosen |= {n for n in ("num_warps", "num_stages", "maxnreg") if getattr(config, n, None) is not None}
        chosen |= {"num_ctas"} if getattr(config, "num_ctas", 1) != 1 else set()
    return chosen


def computed_by(wrapper: Any) -> set[str]:
    """Names of what `@triton.heuristics` computes at launch."""
    table = getattr(wrapper, "values", None)
    return set(table) if isinstance(table, dict) else set()


def place(jit: Any, names: Names) -> list[Any]:
    """[file, line, column] of a function's `def`."""
    code = jit.fn.__code__
    lines = releases.current().lines(jit)
    offset = next((i for i, line in enumerate(lines) if line.lstrip().startswith("def ")), 0)
    first = getattr(jit, "starting_line_number", code.co_firstlineno)
    column = len(lines[offset]) - len(lines[offset].lstrip()) + 1
    return [names.portable(code.co_filename), first + offset, column]
