"""The configurations of a launch: what autotuners try and heuristics compute for a row, as on the target.

Runs user code (pruning functions, hooks, heuristics) in a process of its own, which ends afterwards.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from . import importing, kernels, standins, units, values, wire
from .world import World

Arguments = dict[str, Any]
Chosen = dict[str, Any]  # what is passed to the JIT function besides the arguments


_USUAL = ("num_ctas", 1)  # not worth a word in a configuration's label


class Unknown(Exception):
    """Why the configurations cannot be told, as a sentence that says what to do."""


def run(request: wire.Message, channel: socket.socket, world: World) -> None:
    """Enumerate the configurations of the requested row and send that it is done over `channel`."""
    inputs = world.inputs
    inputs.forget()
    inputs.on_new = lambda kind, name: wire.send(channel, {"event": "read", "kind": kind, "name": name})
    inputs.start()
    result: wire.Message = {}
    try:
        result["configurations"] = list(_enumerated(request, world.folder))
    except Unknown as unknown:
        result["unknown"] = str(unknown)
    inputs.stop()
    result["unfit"] = sorted(inputs.unfit)
    with open(os.path.join(request["work"], "result.json"), "w") as f:
        json.dump(result, f)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    wire.send(channel, {"event": "done"})


def _enumerated(request: wire.Message, folder: str) -> Iterator[wire.Message]:
    spec = request["spec"]

    def load(reference: str) -> Any:
        found = importing.referenced(reference, folder)
        return kernels.unwrap(found)[0] or found

    def arguments() -> Arguments:
        """Made anew for each configuration, since hooks change them."""
        given = {name: standins.argument(name, tree, load) for name, tree in spec["signature"].items()}
        constants = {name: values.constant(value, load) for name, value in spec["constants"].items()}
        options = {name: values.constant(value, load) for name, value in spec["options"].items()}
        return {**{n: {**given, **constants}[n] for n in names if n in given or n in constants}, **options}

    found = kernels.look_up(units.load(request["unit"], folder), request["function"])
    function, wrappers = kernels.unwrap(found)
    names = [parameter.name for parameter in function.params]
    try:
        given = {*spec["signature"], *spec["constants"], *spec["options"]}
        for chosen, seen, label in _through(wrappers, {}, arguments, given):
            yield _written(chosen, seen, label, names, spec["signature"])
    except values.Unwritable as error:
        raise Unknown(str(error)) from None


def _through(
    wrappers: list[Any], chosen: Chosen, arguments: Callable[[], Arguments], given: set[str]
) -> Iterator[tuple[Chosen, Arguments, list[str]]]:
    """Each way through the wrappers: what is passed on, the arguments as hooks leave them, names that a tuner set."""
    if not wrappers:
        yield chosen, arguments(), []
        return
    outer, inner = wrappers[0], wrappers[1:]
    computed = kernels.computed_by(outer) - given
    if computed:
        passed = dict(chosen)
        for name, compute in outer.values.items():
            if name in computed:
                seen = {**arguments(), **passed}
                passed[name] = _asked("@triton.heuristics, for %s" % name, name, compute, seen)
        yield from _through(inner, passed, arguments, given)
    elif kernels.chosen_by(outer) - given:
        for config in _kept(outer, {**arguments(), **chosen}, given):
            passed = {**chosen, **config.all_kwargs()}
            for rest, seen, label in _through(inner, passed, _hooked(config, passed, arguments), given):
                yield rest, seen, [*(n for n, value in config.all_kwargs().items() if (n, value) != _USUAL), *label]
    else:
        yield from _through(inner, chosen, arguments, given)


def _kept(tuner: Any, seen: Arguments, given: set[str]) -> list[Any]:
    """The configurations that the autotuner would try: one that is alone is not pruned."""
    if len(tuner.configs) < 2:
        return list(tuner.configs)
    tuner.nargs = dict(seen)
    # A launch gives each argument by position or by name. Pruning functions get both; the model's sum takes one.
    named = {} if getattr(tuner, "perf_model", None) else dict(seen)
    what = "pruning its configurations"
    return list(_asked(what, "", tuner.prune_configs, named))


def _hooked(config: Any, passed: Chosen, arguments: Callable[[], Arguments]) -> Callable[[], Arguments]:
    """The arguments after the configuration's hook, which sets block shapes of descriptors."""
    if config.pre_hook is None:
        return arguments

    def hooked() -> Arguments:
        seen = arguments()
        _asked("the pre_hook of a configuration", "", config.pre_hook, {**seen, **passed})
        return seen

    return hooked


def _asked(what: str, name: str, function: Callable[..., Any], *args: Any) -> Any:
    try:
        return function(*args)
    except standins.Undetermined as error:
        instead = ", or that of %s" % name if name else ""
        raise Unknown(
            "%s: depends on %s, which the row does not say: give its value in constants%s" % (what, error, instead)
        ) from None
    except Exception as error:
        raise Unknown("%s: %s: %s" % (what, type(error).__name__, error)) from None


def _written(
    chosen: Chosen, seen: Arguments, tuned: list[str], names: list[str], signature: Mapping[str, Any]
) -> wire.Message:
    told = {name: _one(name, value) for name, value in chosen.items()}
    return {
        "label": ", ".join("%s=%s" % (name, chosen[name]) for name in tuned if name in chosen),
        "constants": {name: value for name, value in told.items() if name in names},
        "options": {name: value for name, value in told.items() if name not in names},
        "signature": {name: shape for name in signature for shape in _block_of(seen.get(name), signature[name])},
    }


def _one(name: str, value: Any) -> Any:
    try:
        return values.written(value)
    except values.Unwritable as error:
        raise Unknown("%s is set to %s: give it in constants, where a manifest can write it" % (name, error)) from None


def _block_of(argument: Any, tree: Any) -> Iterator[str]:
    """The type of a descriptor whose block shape a hook has changed."""
    if isinstance(tree, dict) and str(tree.get("type", "")).startswith("tensordesc"):
        kind = values.descriptor_type(tree["type"], argument.block_shape)
        if kind != tree["type"]:
            yield kind
