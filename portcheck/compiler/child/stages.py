"""Triton's pipeline, watched: which stage runs, for how long, and what stands between the front end and the rest.

The stages are those that the backend registers, wrapped; nothing here knows their names but where a front end ends.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import releases


class Stopped(BaseException):
    """The tool knows the verdict of this TTIR already. Not an Exception, so that nothing on the way swallows it."""


class Watcher:
    """Is shown what each step of a compile is given. This one does not look."""

    def parsing(self, raw: Mapping[str, Any]) -> None:
        """Launch options are about to be parsed."""

    def parsed(self, options: Any, parse: Callable[[dict[str, Any]], Any]) -> None:
        """They have been; `parse` gives those of other ones."""

    def made(self, source: Any) -> None:
        """The front end is about to run on an `ASTSource`."""

    def entered(self, stage: str, module: Any, metadata: Mapping[str, Any]) -> None:
        """A stage is about to run."""


class Pipeline:
    """Wraps the entry points of one Triton installation; `report` is called with each event as a dict."""

    def __init__(self, report: Callable[[dict[str, Any]], None], ask: Callable[[dict[str, Any]], bool]) -> None:
        self._report = report
        self._ask = ask
        self.stage = "options"
        self.times: dict[str, float] = {}  # stage → seconds
        self.source: Any = None  # the ASTSource that is compiled
        self.options: Any = None
        self.watcher = Watcher()
        self._began = time.perf_counter()

    def enter(self, stage: str) -> None:
        """Note that `stage` begins. fd 2's length says later which stage printed what."""
        now = time.perf_counter()
        self.times[self.stage] = self.times.get(self.stage, 0.0) + now - self._began
        self.stage, self._began = stage, now
        self._report({"event": "stage", "stage": stage, "printed": os.fstat(2).st_size})

    def leave(self) -> None:
        """Close the last stage's time."""
        now = time.perf_counter()
        self.times[self.stage] = self.times.get(self.stage, 0.0) + now - self._began
        self._began = now

    def install(self, compiler: Any, backends: Iterable[Any], shared: Callable[[Any, Any], Any]) -> None:
        """Wrap option parsing, the making of the source and of its IR, and every stage of every backend.

        `shared` gives the IR of a source and options if a front end has made it already, else None.
        """
        source = compiler.ASTSource
        make, make_ir = source.__init__, source.make_ir

        def made(this: Any, *args: Any, **kwargs: Any) -> None:
            make(this, *args, **kwargs)
            self.source = this
            self.enter("frontend")
            self.watcher.made(this)

        def made_ir(this: Any, *args: Any, **kwargs: Any) -> Any:
            self.enter("frontend")
            module = shared(this, self.options)
            return make_ir(this, *args, **kwargs) if module is None else module

        source.__init__, source.make_ir = made, made_ir
        for backend in backends:
            self._wrap_backend(backend)

    def _wrap_backend(self, backend: Any) -> None:
        parse, add = backend.parse_options, backend.add_stages

        def parsed(this: Any, *args: Any, **kwargs: Any) -> Any:
            if self.source is None:
                self.enter("options")
            self.watcher.parsing(args[0] if args else {})
            self.options = parse(this, *args, **kwargs)
            self.watcher.parsed(self.options, lambda raw: parse(this, raw))
            return self.options

        def added(this: Any, stages: Any, *args: Any, **kwargs: Any) -> None:
            add(this, stages, *args, **kwargs)
            front = True
            for name, run in list(stages.items()):
                stages[name] = self._watched(name, run, front)
                front = False

        backend.parse_options, backend.add_stages = parsed, added

    def _watched(self, name: str, run: Callable[[Any, Any], Any], ends_front: bool) -> Callable[[Any, Any], Any]:
        def watched(module: Any, metadata: Any) -> Any:
            self.enter(name)
            self.watcher.entered(name, module, metadata)
            result = run(module, metadata)
            if ends_front:
                self._front_done(result)
            return result

        return watched

    def _front_done(self, module: Any) -> None:
        """Offer the tool the digests of the first IR that is free of the front end; it may know how this ends."""
        located = str(module)
        plain = releases.current().without_locations(module)
        if not self._ask({"event": "front", "ttir": _digest(plain), "located": _digest(located)}):
            raise Stopped()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
