"""The root of a tree of processes: imports Triton once, primes its backends, and serves."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import socket
import sys
import tempfile
import warnings
from typing import Any, NoReturn

from . import bytecode, device, inherit, inputs, libdevice, names, refused, releases, server, units, wire
from .pristine import Pristine
from .uses import Uses
from .walk import Walk
from .world import World


def main(fd: int, inherited: list[str]) -> NoReturn:
    """Set up as the first message says, then serve until the tool goes away.

    `inherited`: folders of site-packages to fall back on.
    """
    inherit.add(inherited)
    if bytecode.remove_stale(inputs.imported_at_start()):
        os.execv(sys.executable, sys.orig_argv)  # as Python would have started without them
    gc.disable()  # an eighth of what importing a large library takes, to find a few megabytes
    sock = socket.socket(fileno=fd)
    os.set_inheritable(fd, False)
    setup, _ = wire.receive(sock)
    if setup is None:
        os._exit(0)
    sys.path.append(setup["folder"])
    refused.take_out()
    bytecode.distrust_old()
    recorder = inputs.Inputs()
    recorder.install()
    portable = names.Names(setup["folder"])
    try:
        with inherit.only(setup["package"]):
            fake = import_triton(setup, portable)
    except Exception as error:
        wire.send(sock, {"event": "broken", "error": units.told(error, portable)["traceback"][-8000:]})
        os._exit(0)
    recorder.stop()
    recorder.forget()
    wire.send(sock, {"event": "alive", "pid": os.getpid()})
    pristine = Pristine()
    pristine.watch()
    world = World(
        folder=setup["folder"],
        device=fake,
        names=portable,
        inputs=recorder,
        pristine=pristine,
        walk=Walk(portable),
        uses=Uses(portable, libdevice.maps(setup["targets"])),
        options=_option_names(setup["targets"]),
        environment=dict(os.environ),
    )
    server.Server(sock, world).serve()


def import_triton(setup: wire.Message, portable: names.Names) -> device.Device:
    """Import Triton, put the fake device in place, and spare every cell what they would all do again."""
    from triton.backends import backends
    from triton.compiler import compiler
    from triton.runtime import cache, jit

    with contextlib.suppress(ImportError):  # Triton 3.3 and newer: the first launch of every process would import it
        importlib.import_module("triton.tools.tensor_descriptor")
    release = releases.current()
    release.name_backends(backends)
    release.decorate_without_torch()
    fake = device.Device()
    device.install(fake)
    # Triton hashes its whole package and runs its tools for the key of its own cache, which no cell shares.
    for module in (compiler, cache):
        if hasattr(module, "triton_key"):
            module.triton_key = lambda: setup["digest"]
    for backend in backends.values():
        backend.compiler.hash = lambda this: setup["digest"]
    portable.install(jit)
    _prime(setup, fake)
    return fake


def _option_names(targets: list[list[Any]]) -> dict[str, list[str]]:
    """Backend → the launch options that it knows, asked of it with one target each."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {target[0]: sorted(vars(make_backend(GPUTarget(*target)).parse_options({}))) for target in targets}


def _prime(setup: wire.Message, fake: device.Device) -> None:
    """Compile a trivial kernel per backend, so that what LLVM, libdevice and the code generator set up is there."""
    if not setup["prime"]:
        return
    from triton.backends.compiler import GPUTarget

    from . import prime

    kept = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="portcheck-prime-") as scratch:
        os.environ["TRITON_CACHE_DIR"] = scratch
        for backend, arch, warp in setup["prime"]:
            target = GPUTarget(backend, arch, warp)
            fake.become(target, {})
            prime.compile_trivial(target)
    os.environ.clear()
    os.environ.update(kept)
    gc.collect()  # contexts of 3.0 and 3.1, with pools of threads that no fork would survive
