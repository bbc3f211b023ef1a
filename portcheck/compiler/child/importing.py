"""Importing user code for the tool: what it holds, what it read, and what it did to Triton on the way."""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any

from . import kernels, settings, units, wire
from .world import World


def answer(message: wire.Message, world: World) -> wire.Message:
    """Run the setup function, import the units, and describe the functions and references that are asked for."""
    world.inputs.start()
    found: wire.Message = {"event": "imported", "error": None, "kernels": {}, "references": {}}
    loaded = len(sys.modules)
    try:
        modules = _import(message, world.folder)
        world.inputs.stop()
        if world.patched is None or message.get("setup") or len(sys.modules) != loaded:
            world.patched = _patched(world)
        found["patched"] = world.patched
        for function in message["functions"]:
            found["kernels"][function] = {
                **kernels.describe(modules[0], function, world.names),
                **_made_of(kernels.look_up(modules[0], function), world),
                "options": world.options,
            }
        for reference in message["references"]:
            found["references"][reference] = _made_of(referenced(reference, world.folder), world)
    except BaseException as error:  # whatever user code raises is its own; pytest.skip is no Exception
        world.inputs.stop()
        found["error"] = units.told(error, world.names)
    found["settings"] = settings.resolved() if "triton" in sys.modules else {}
    for path in settings.take_files():
        world.inputs.note_file(path)
    found["set_early"] = _set_early(world)
    found.update(inputs=sorted(world.inputs.seen), unfit=sorted(world.inputs.unfit), asked=sorted(world.device.asked))
    return found


def _patched(world: World) -> list[str]:
    """What user code replaced in Triton. It takes long to tell, so a process asks only if its import ran any code."""
    replaced = ["triton.runtime.driver.active"] if world.device.is_replaced else []
    return [*world.pristine.changes(), *settings.hooks(), *replaced]


def _import(message: wire.Message, folder: str) -> list[ModuleType]:
    if message.get("setup"):
        module, _, function = message["setup"].partition(":")
        getattr(units.load({"module": module}, folder), function)()
    loaded = [units.load(unit, folder) for unit in message["units"]]
    for reference in message["references"]:
        referenced(reference, folder)
    return loaded


def referenced(reference: str, folder: str) -> Any:
    """The function that a `jit` constant names."""
    unit, _, function = reference.rpartition(":")
    module = units.load({"file": unit} if unit.endswith(".py") else {"module": unit}, folder)
    found = kernels.look_up(module, function)
    if found is None:
        raise AttributeError("%s has no %s, which a jit constant names" % (unit, function))
    return found


def _made_of(found: Any, world: World) -> dict[str, Any]:
    """What decides a function's result: labelled digests, and what makes it open."""
    function = kernels.unwrap(found)[0] if found is not None else None
    if function is None and kernels.is_decorated(found):
        function = found
    if function is None:
        return {}
    parts, unknown = world.walk.parts(function)
    return {"parts": parts, "open": unknown}


def _set_early(world: World) -> dict[str, str | None]:
    """Variables of Triton's that the import changed and that Triton has read already: it has to be imported anew."""
    late = settings.read_late()
    before, after = world.environment, dict(os.environ)
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    return {n: after.get(n) for n in sorted(changed) if n.startswith(settings.PREFIXES) and n not in late}
