"""What each step of a compile is given, written down before the step runs, so that it is there however that ends.

For reproducers: nothing of this runs in an ordinary compile.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Mapping
from typing import Any

from . import extract, kinds, settings, stages
from .names import SITE

FOLDER = "kept"  # in the cell's work folder; one file a fact, named by it


class Keeping(stages.Watcher):
    """Keeps options, what the front end compiles, every stage's input, and the command line of ptxas."""

    def __init__(self, work: str, folder: str) -> None:
        self._place, self._folder = os.path.join(work, FOLDER), folder
        self._parsed = False
        self._first: set[str] = set()  # names of the metadata before the first stage
        os.mkdir(self._place)
        self._note_tool()

    def parsing(self, raw: Mapping[str, Any]) -> None:
        if not self._parsed:  # what is parsed again is what parsing gave
            self._write("raw_options", _literals(raw))
            self._write("variables", _variables())

    def parsed(self, options: Any, parse: Callable[[dict[str, Any]], Any]) -> None:
        self._parsed = True
        usual = vars(parse({}))
        self._write("options", _literals({k: v for k, v in vars(options).items() if k not in usual or usual[k] != v}))

    def made(self, source: Any) -> None:
        self._write("source", extract.source(source))
        self._write("modules", _modules(self._folder))

    def entered(self, stage: str, module: Any, metadata: Mapping[str, Any]) -> None:
        if not self._first:
            self._first = set(metadata)
        with open(os.path.join(self._place, "input.%s" % stage), "w") as f:
            f.write(str(module))
        more = {key: value for key, value in metadata.items() if key not in self._first}
        self._write("metadata.%s" % stage, _literals(more))

    def _note_tool(self) -> None:
        """Put something between Triton and `subprocess` that hears how ptxas is run."""
        from triton.backends import backends

        values = backends["nvidia"].compiler.make_cubin.__globals__
        values["subprocess"] = _Overhearing(values["subprocess"], lambda command: self._write("ptxas", command))

    def _write(self, name: str, what: Any) -> None:
        with open(os.path.join(self._place, name), "w") as f:
            json.dump(what, f)


class _Overhearing:
    """The module `subprocess` for Triton's NVIDIA backend; tells of every command before it runs."""

    def __init__(self, tools: Any, tell: Callable[[list[str]], None]) -> None:
        self._tools, self._tell = tools, tell

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tools, name)

    def run(self, command: Any, **options: Any) -> Any:
        words = shlex.split(command.partition(" 2> ")[0]) if isinstance(command, str) else list(map(str, command))
        self._tell([_portable(word, words[n - 1] == "-o") for n, word in enumerate(words)])
        return self._tools.run(command, **options)


def _portable(word: str, is_output: bool) -> str:
    if is_output:
        return "$OUTPUT"
    if word.endswith(".ptx") and os.path.isabs(word):
        return "$INPUT"
    return word.replace(os.path.dirname(str(sys.modules["triton"].__file__)), "$TRITON")


def _literals(values: Mapping[str, Any]) -> dict[str, str]:
    """Name → the value as Python writes it, of those that are plain."""
    return {name: repr(value) for name, value in values.items() if extract.is_literal(value)}


def _variables() -> dict[str, str]:
    """The environment variables that Triton reads, as they are set."""
    return {name: os.environ[name] for name in settings.variables(os.environ)}


def _modules(folder: str) -> dict[str, str]:
    """Where user code lies: path relative to the folder that it is imported from → path."""
    places = [folder, *(entry for entry in sys.path if os.path.isabs(entry))]
    found = {}
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if not path or not path.endswith(".py") or any(mark in path for mark in SITE) or _is_ours(module):
            continue
        above = [place for place in places if path.startswith(place.rstrip(os.sep) + os.sep)]
        if above and not kinds.is_standard(path):
            place = folder if folder in above else max(above, key=len)
            found[os.path.relpath(path, place)] = path
    return found


def _is_ours(module: Any) -> bool:
    return str(getattr(module, "__name__", "")).partition(".")[0] in ("triton", "portcheck_child", "__main__")
