"""Importing user code for the tool: what it holds, what it read, and what it did to Triton on the way."""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any

from . import kernels, settings, units, wire
from .walk import Walk
from .world import World


def answer(message: wire.Message, world: World) -> wire.Message:
    """Run the setup function, import the units, and describe the functions and references that are asked for."""
    world.inputs.start()
    world.walk = Walk(world.names)  # values that it has seen may be others after the import
    loaded = len(sys.modules)
    try:
        _import(message, world.folder)
        world.inputs.stop()
        if world.patched is None or message.get("setup") or len(sys.modules) != loaded:
            world.patched = _patched(world)
    except BaseException as error:  # whatever user code raises is its own; pytest.skip is no Exception
        world.inputs.stop()
        return _with_what_was_read({"error": units.told(error, world.names)}, world)
    return _described(message, world)


def is_here(message: wire.Message) -> bool:
    """Is all that an import would give there already, so that no code of the user's has to run for it?"""
    wanted = [(unit, function) for unit in message["units"] for function in message["functions"]]
    wanted += [_split(reference) for reference in message["references"]]
    return not message.get("setup") and all(
        type(module) is ModuleType and (function is None or function in vars(module))
        for unit, function in [*wanted, *((unit, None) for unit in message["units"])]
        for module in [sys.modules.get(units.module_name(unit))]
    )


def description(message: wire.Message, world: World) -> wire.Message:
    """The answer to an import of what `is_here`."""
    world.inputs.forget()  # the tool has heard of what was read so far
    return _described(message, world)


def _described(message: wire.Message, world: World) -> wire.Message:
    found: wire.Message = {"error": None, "patched": world.patched, "kernels": {}, "references": {}}
    try:
        for function in message["functions"]:
            module = units.load(message["units"][0], world.folder)
            found["kernels"][function] = {
                **kernels.describe(module, function, world.names),
                **_made_of(kernels.look_up(module, function), world),
                "uses": _uses(kernels.look_up(module, function), world),
                "options": world.options,
            }
        for reference in message["references"]:
            found["references"][reference] = _made_of(referenced(reference, world.folder), world)
    except BaseException as error:  # a lazy module runs the user's code when it is asked for a function
        found["error"] = units.told(error, world.names)
    return _with_what_was_read(found, world)


def _with_what_was_read(found: wire.Message, world: World) -> wire.Message:
    settled = settings.resolved() if "triton" in sys.modules else {}
    for path in settings.take_files():
        world.inputs.note_file(path)
    return {
        "kernels": {},
        "references": {},
        **found,
        "settings": settled,
        "set_early": _set_early(world),
        "inputs": sorted(world.inputs.seen),
        "unfit": sorted(world.inputs.unfit),
        "asked": sorted(world.device.asked),
    }


def _patched(world: World) -> list[str]:
    """What user code replaced in Triton. It takes long to tell, so a process asks only if its import ran any code."""
    replaced = ["triton.runtime.driver.active"] if world.device.is_replaced else []
    return [*world.pristine.changes(), *settings.hooks(), *replaced]


def _import(message: wire.Message, folder: str) -> None:
    if message.get("setup"):
        module, _, function = message["setup"].partition(":")
        getattr(units.load({"module": module}, folder), function)()
    for unit in message["units"]:
        units.load(unit, folder)
    for reference in message["references"]:
        referenced(reference, folder)


def referenced(reference: str, folder: str) -> Any:
    """The function that a `jit` constant names."""
    unit, function = _split(reference)
    found = kernels.look_up(units.load(unit, folder), function)
    if found is None:
        raise AttributeError("%s has no %s, which a jit constant names" % (reference.rpartition(":")[0], function))
    return found


def _split(reference: str) -> tuple[dict[str, str], str]:
    unit, _, function = reference.rpartition(":")
    return {"file" if unit.endswith(".py") else "module": unit}, function


def _made_of(found: Any, world: World) -> dict[str, Any]:
    """What decides a function's result: labelled digests, and what makes it open."""
    function = kernels.unwrap(found)[0] if found is not None else None
    if function is None and kernels.is_decorated(found):
        function = found
    if function is None:
        return {}
    parts, unknown = world.walk.parts(function)
    return {"parts": parts, "open": unknown}


def _uses(found: Any, world: World) -> list[dict[str, Any]]:
    """What a kernel uses that not every target has."""
    kernel = kernels.unwrap(found)[0] if found is not None else None
    return [] if kernel is None else world.uses.of(kernel)


def _set_early(world: World) -> dict[str, str | None]:
    """Variables of Triton's that the import changed and that Triton has read already: it has to be imported anew."""
    late = settings.read_late()
    before, after = world.environment, dict(os.environ)
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    return {n: after.get(n) for n in sorted(changed) if n.startswith(settings.PREFIXES) and n not in late}
