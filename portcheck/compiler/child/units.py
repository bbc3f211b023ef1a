"""Importing units: a module by its name, or a file by its path relative to the manifest."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from .names import Names

PREFIX = "portcheck_file"


def module_name(unit: Mapping[str, str]) -> str:
    """The name a unit is imported under. A file's does not depend on where the manifest lies."""
    if "module" in unit:
        return unit["module"]
    stem = unit["file"][: -len(".py")] if unit["file"].endswith(".py") else unit["file"]
    parts = ["_" + part.strip(".") if part in ("..", ".") else part.replace(".", "_") for part in stem.split("/")]
    return ".".join([PREFIX, *parts])


def load(unit: Mapping[str, str], folder: str) -> ModuleType:
    """Import a unit and return its module. Raises whatever the user's code raises."""
    name = module_name(unit)
    if "module" in unit:
        return importlib.import_module(name)
    if name in sys.modules:
        return sys.modules[name]
    path = os.path.normpath(os.path.join(folder, unit["file"]))
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("%s is no Python file" % unit["file"], path=path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def told(error: BaseException, names: Names) -> dict[str, Any]:
    """An exception of user code as plain data: type, text, traceback without frames of portcheck, place."""
    trace = error.__traceback__
    while trace is not None and "portcheck_child" in trace.tb_frame.f_globals.get("__name__", ""):
        trace = trace.tb_next
    frames = [f for f in traceback.extract_tb(trace) if "importlib" not in f.filename]
    for frame in frames:
        frame.filename = names.portable(frame.filename)
    place: list[Any] | None = [frames[-1].filename, frames[-1].lineno] if frames else None
    if isinstance(error, SyntaxError) and error.filename:
        place = [names.portable(error.filename), error.lineno or 1]
    text = "".join(traceback.format_list(frames)) + "".join(traceback.format_exception_only(type(error), error))
    return {
        "type": type(error).__module__ + "." + type(error).__qualname__,
        "text": str(error),
        "traceback": text,
        "place": place,
        "missing_module": error.name if isinstance(error, ModuleNotFoundError) else None,
    }
