"""One cell: derive what a launch on the target would use, compile it through Triton's own launch path, report.

Runs in a process of its own, which ends afterwards; so everything that is patched stays patched.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
import time
import warnings
from functools import partial
from typing import Any

from . import blame, importing, keeping, kernels, linker, refused, releases, settings, stages, units, values, wire
from .device import Device
from .inputs import Inputs
from .names import Names
from .world import World

CACHE = "triton"  # the folder in the cell's work folder where Triton leaves every stage's output


def run(request: wire.Message, channel: socket.socket, world: World) -> None:
    """Compile the requested cell and send what happened over `channel`."""
    began = time.perf_counter()
    pipeline: stages.Pipeline = stages.Pipeline(
        lambda event: wire.send(channel, event), lambda event: _ask(channel, {**event, **_settled(pipeline, inputs)})
    )
    blamed = blame.Blame()
    result: wire.Message = {"event": "done"}
    inputs = world.inputs
    inputs.forget()  # what is read from here on, only compiling reads
    inputs.on_new = lambda kind, name: _tell_read(channel, request["work"], kind, name)
    inputs.start()
    try:
        _prepare(request, pipeline, blamed, world)
        if request["keep"]:
            pipeline.watcher = keeping.Keeping(request["work"], world.folder)
        function, args, options = launch(request, world.device, world.folder)
        refused.check(options)
        function.run(*args, grid=(1, 1, 1), warmup=True, **options)
        pipeline.leave()
        result["verdict"] = "ok"
    except stages.Stopped:
        result["verdict"] = "cutoff"
    except MemoryError as error:
        result.update(_failure(error, pipeline, blamed, world.names, environment=True))
    except (Exception, SystemExit) as error:
        result.update(
            _failure(error, pipeline, blamed, world.names, environment=isinstance(error, OSError) and bool(error.errno))
        )
    inputs.stop()
    result["unfit"] = sorted(inputs.unfit)
    result["times"] = pipeline.times
    result["seconds"] = time.perf_counter() - began
    result["derived"] = _derived(pipeline)
    result["first_column"] = releases.current().first_column
    with open(os.path.join(request["work"], "result.json"), "w") as f:
        json.dump(result, f)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # the tool reads what was printed as soon as it hears of the end
    wire.send(channel, {"event": "done"})


def _tell_read(channel: socket.socket, work: str, kind: str, name: str) -> None:
    """Told at once: a cell that dies has read it all the same."""
    if not name.startswith(work):
        wire.send(channel, {"event": "read", "kind": kind, "name": name})


def _ask(channel: socket.socket, question: wire.Message) -> bool:
    wire.send(channel, question)
    answer, _ = wire.receive(channel)
    return bool(answer and answer["go"])


def _prepare(request: wire.Message, pipeline: stages.Pipeline, blamed: blame.Blame, world: World) -> None:
    from triton.backends import backends
    from triton.compiler import compiler, errors

    release = releases.current()
    tempfile.tempdir = request["work"]  # what a failing ptxas leaves behind goes with the cell
    warnings.filterwarnings("ignore", message=".*TRITON_DEFAULT_FP_FUSION is unset.*")
    release.keep_apart(os.path.join(request["work"], CACHE))
    release.print_ptxas_log()
    pipeline.install(compiler, [b.compiler for b in backends.values()], partial(_shared, world))
    blamed.install(errors)
    if request["target"]["backend"] == "hip":
        amd = backends["amd"].compiler
        release.without_torch(amd)
        if release.runs_lld:
            world.inputs.note_tool(linker.NAME)
            _provide_linker(amd, pipeline)


def _shared(world: World, source: Any, options: Any) -> Any:
    """The module that a front end has made already, in the process that this one was forked from."""
    kept = world.front
    if kept is None or not kept.fits(source, options):
        return None
    kept.repeat(world.inputs)
    return kept.module


def _provide_linker(amd: Any, pipeline: stages.Pipeline) -> None:
    try:
        linker.provide(amd, sys.modules["triton"].__version__)
    except linker.Missing:
        pipeline.enter("hsaco")  # the stage that cannot be done; there is no point in what comes before
        raise


def launch(request: wire.Message, device: Device, folder: str) -> tuple[Any, list[Any], dict[str, Any]]:
    """The JIT function, and the positional arguments and options of the launch that the row stands for."""
    spec = request["spec"]

    def load(reference: str) -> Any:
        found = importing.referenced(reference, folder)
        return kernels.unwrap(found)[0] or found

    function = kernels.unwrap(kernels.look_up(units.load(request["unit"], folder), request["function"]))[0]
    function.pre_run_hooks.clear()  # they expect real tensors
    for launched in releases.current().launched:
        getattr(function, launched).clear()
    args = []
    for parameter in function.params:
        if parameter.name in spec["constants"]:
            args.append(values.constant(spec["constants"][parameter.name], load))
        elif parameter.name in spec["signature"]:
            args.append(values.argument(spec["signature"][parameter.name], load))
        else:
            args.append(parameter.default)
    options = {k: values.constant(v, load) for k, v in spec["options"].items()}
    device.asked.clear()
    return function, args, options


def _settled(pipeline: stages.Pipeline, inputs: Inputs) -> wire.Message:
    """What stages after the front end depend on besides the IR: the parsed options and Triton's settings."""
    found = {"options": settings.plain(vars(pipeline.options)), "settings": settings.resolved()}
    for path in settings.take_files():
        inputs.note_file(path)
    return found


def _derived(pipeline: stages.Pipeline) -> dict[str, Any] | None:
    """What was derived for this backend, for comparison with what a launch records."""
    source = pipeline.source
    if source is None:
        return None
    attrs = getattr(source, "attrs", None)
    return {
        "signature": settings.plain(source.signature),
        "attrs": [[list(k), v] for k, v in attrs.items()] if isinstance(attrs, dict) else str(attrs),
    }


def _failure(
    error: BaseException, pipeline: stages.Pipeline, blamed: blame.Blame, names: Names, environment: bool
) -> dict[str, Any]:
    pipeline.leave()
    cause = blamed.cause or error
    if not blamed.places:
        blamed.find_in_hashing(error, names)
    return {
        "verdict": "failed",
        "stage": pipeline.stage,
        "type": type(cause).__module__ + "." + type(cause).__qualname__,
        "text": str(cause),
        "outer": "" if cause is error else str(error),
        "raised_by": type(error).__module__ + "." + type(error).__qualname__,
        "places": blamed.places,
        "traceback": units.told(error, names)["traceback"][-20_000:],
        "environment": environment,
        "errno": getattr(error, "errno", None),
    }
