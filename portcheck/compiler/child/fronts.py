"""A front end that is run once for several configurations.

Most options of a launch, such as warps and stages, do not touch the front end. So one process runs it, notes which of
the parsed options it read, and stays; the cells that are forked from it go on with its module if what it read is the
same for them, and run a front end of their own if not.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import compile as cell
from . import releases, wire
from .inputs import Inputs
from .world import World


class Paused(BaseException):
    """The front end is done. Not an Exception, so that nothing on the way swallows it."""


@dataclass
class Kept:
    """What a front end made, and what it depended on."""

    module: Any
    source: Any  # the ASTSource
    options: dict[str, Any]  # the parsed options that it read
    read: set[tuple[str, str]]  # inputs: (kind, name)
    unfit: set[str]
    printed: tuple[bytes, bytes]  # on fd 1 and 2

    def fits(self, source: Any, options: Any) -> bool:
        """Would the front end make the same of another source, with other options?"""
        return (
            type(source) is type(self.source)
            and source.fn is self.source.fn
            and source.hash() == self.source.hash()
            and all(hasattr(options, n) and getattr(options, n) == value for n, value in self.options.items())
        )

    def repeat(self, inputs: Inputs) -> None:
        """Do in the process of a cell what running the front end there would have done besides."""
        for fd, text in zip((1, 2), self.printed):
            os.write(fd, text)
        inputs.repeat(self.read, self.unfit)


def keep(request: wire.Message, world: World) -> Kept | None:
    """Run the front end of the requested cell; None if it fails or cannot be shared: each cell then runs its own."""
    from triton.backends import backends
    from triton.compiler import compiler

    release, work = releases.current(), request["work"]
    release.keep_apart(os.path.join(work, cell.CACHE))
    if request["target"]["backend"] == "hip":
        release.without_torch(backends["amd"].compiler)
    inputs = world.inputs
    inputs.forget()
    inputs.start()
    found: list[tuple[Any, Any, Any]] = []
    names: set[str] = set()
    try:
        function, args, options = cell.launch(request, world.device, world.folder)
        with _pausing(compiler.ASTSource, [b.compiler for b in backends.values()], found, names):
            function.run(*args, grid=(1, 1, 1), warmup=True, **options)
    except Paused:
        inputs.stop()
    except (Exception, SystemExit):
        inputs.stop()
        return None
    if not found or len(os.listdir("/proc/self/task")) > 1:  # a fork has one thread only
        return None
    source, parsed, module = found[0]
    printed = (Path(work, "out").read_bytes(), Path(work, "err").read_bytes())
    return Kept(module, source, {n: getattr(parsed, n) for n in names}, set(inputs.seen), set(inputs.unfit), printed)


@contextlib.contextmanager
def _pausing(source: Any, backends: list[Any], found: list[tuple[Any, Any, Any]], names: set[str]) -> Iterator[None]:
    """Meanwhile a launch ends in `Paused` after its front end; `found` and `names` tell what it made and read."""
    make_ir = source.make_ir
    kept = {backend: (backend.get_codegen_implementation, backend.add_stages) for backend in backends}

    def made_ir(this: Any, *args: Any, **kwargs: Any) -> Any:
        options = next(arg for arg in args if hasattr(arg, "num_warps"))
        with _noting(options, names):
            module = make_ir(this, *args, **kwargs)
        found.append((this, options, module))
        raise Paused

    def implemented(backend: Any) -> Any:
        def implementation(this: Any, *args: Any) -> Any:
            with _noting(args[0], names) if args else contextlib.nullcontext():
                return kept[backend][0](this, *args)

        return implementation

    def staged(backend: Any) -> Any:
        def stages(this: Any, stages: Any, *args: Any, **kwargs: Any) -> None:
            kept[backend][1](this, stages, *args, **kwargs)
            stages.update(dict.fromkeys(stages, _pause))  # of a source that makes its IR in another way

        return stages

    source.make_ir = made_ir
    for backend in backends:
        backend.get_codegen_implementation, backend.add_stages = implemented(backend), staged(backend)
    try:
        yield
    finally:
        source.make_ir = make_ir
        for backend, (implementation, stages) in kept.items():
            backend.get_codegen_implementation, backend.add_stages = implementation, stages


def _pause(*args: Any) -> None:
    raise Paused


@contextlib.contextmanager
def _noting(options: Any, names: set[str]) -> Iterator[None]:
    """Meanwhile the names of the options that are read are added to `names`; only Python code reads them."""
    kind: Any = type(options)

    def noted(this: Any, name: str) -> Any:
        names.add(name)
        return object.__getattribute__(this, name)

    kind.__getattribute__ = noted
    try:
        yield
    finally:
        del kind.__getattribute__
