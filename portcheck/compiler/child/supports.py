"""What this Triton says of a target before anything is compiled for it: fp8 types that it refuses, and guards."""

from __future__ import annotations

import importlib
import inspect
import types
import warnings
from typing import Any

from .device import Device

GUARDS = "triton.language.target_info"  # from 3.5 on
_MAJORS, _MINORS = 30, 10  # as far as one asks which capability a target has


def of(target: Any, device: Device) -> dict[str, Any]:
    """Name of an fp8 type → what is said of it where it is refused; name of a guard → its answer.

    The answer of a guard that takes a capability is the greatest that it grants, [major, minor], or [] if it grants
    none. `device` stands for `target` from now on.
    """
    device.become(target, {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"fp8": _refused_types(target), "guards": _guards()}


def guard_name(found: Any) -> str | None:
    """The name of a guard on the target, if `found` is one."""
    plain = getattr(found, "fn", None)
    if plain is None or getattr(plain, "__module__", None) != GUARDS:
        return None
    return str(plain.__name__)


def _refused_types(target: Any) -> dict[str, str]:
    """Asked by making the type, as the front end does. Up to 3.1 only conversions complain, so nothing is known."""
    from triton.compiler.compiler import make_backend
    from triton.language import core

    try:
        builder = _Builder(make_backend(target).parse_options({}))
    except Exception:  # compiling says what is wrong with the target
        return {}
    refused = {}
    for name in core.dtype.FP_TYPES:
        if name.startswith("fp8"):
            try:
                core.dtype(name).to_ir(builder)
            except (ValueError, AssertionError) as error:
                refused[name] = str(error)
    return refused


class _Builder:
    """Of types, which has options and makes nothing."""

    def __init__(self, options: Any) -> None:
        self.options = options

    def __getattr__(self, name: str) -> Any:
        if name.startswith("get_"):
            return lambda *_: None
        raise AttributeError(name)


def _guards() -> dict[str, Any]:
    try:
        module = importlib.import_module(GUARDS)
    except ImportError:
        return {}
    found = {}
    for name, value in vars(module).items():
        if guard_name(value) == name:
            answer = _answer(value.fn)
            if answer is not None:
                found[name] = answer
    return found


def _answer(guard: types.FunctionType) -> Any:
    parameters = list(inspect.signature(guard).parameters)
    try:
        if not parameters:
            return bool(guard())
        if parameters == ["major", "minor"]:
            return _greatest([(pair, bool(guard(*pair))) for pair in _capabilities()])
    except Exception:
        return None
    return None


def _capabilities() -> list[tuple[int, int]]:
    return [(major, minor) for major in range(_MAJORS) for minor in range(_MINORS)]


def _greatest(answers: list[tuple[tuple[int, int], bool]]) -> list[int] | None:
    """The last one granted, if all before it are granted as well."""
    granted = [pair for pair, holds in answers if holds]
    if granted != [pair for pair, _ in answers][: len(granted)]:
        return None
    return list(granted[-1]) if granted else []
