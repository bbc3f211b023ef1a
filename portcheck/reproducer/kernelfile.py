"""`kernel.py` where a kernel could not be taken out of its module: the modules are copied, and it loads the kernel."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

SOURCE = "source"  # the folder of the copies

_LOADER = '''"""Loads the kernel from the copies in source/."""

import importlib
import importlib.util
import os
import sys

from triton.runtime.jit import JITFunction

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "source")
sys.path.insert(0, SOURCE)


def load(module, name):
    """A function of a module, or of a file; without what tunes or wraps it."""
    if module.endswith(".py"):
        spec = importlib.util.spec_from_file_location("file_of_the_kernel", os.path.join(SOURCE, module))
        found = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found)
    else:
        found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    while not isinstance(found, JITFunction):
        found = found.fn
    return found


'''


def copies(modules: Mapping[str, str], entries: Mapping[str, list[str]]) -> dict[str, bytes]:
    """Path in the reproducer → content: `kernel.py`, and copies of all modules of the user's.

    Args:
        modules: where they lie in the folder that they are imported from → their paths here.
        entries: name → the module, the qualified name and the file of each function that is loaded.
    """
    there = {path: name for name, path in modules.items()}
    loads = (
        f"{name} = load({_named(module, there.get(file, file))!r}, {function!r})\n"
        for name, (module, function, file) in entries.items()
    )
    files = {"kernel.py": (_LOADER + "".join(loads)).encode()}
    for name, path in modules.items():
        inside = PurePosixPath(SOURCE, *Path(name).parts)
        if ".." not in inside.parts:
            files[str(inside)] = Path(path).read_bytes()
    return files


def needs(files: Mapping[str, bytes]) -> tuple[str, ...]:
    """The packages that copied modules import, but for each other, Triton and Python's own."""
    here = {PurePosixPath(name).parts[1].removesuffix(".py") for name in files if name.startswith(f"{SOURCE}/")}
    known = {*sys.stdlib_module_names, "triton", *here}
    found = {top for name, data in files.items() if name.startswith(f"{SOURCE}/") for top in _imported(data)}
    return tuple(sorted(found - known))


def _named(module: str, file: str) -> str:
    """A file that a manifest names has a module name of portcheck's; it is loaded by its path."""
    return file if module.startswith("portcheck_file") else module


def _imported(source: bytes) -> Iterator[str]:
    """The top-level packages that a module imports, as far as its own statements say."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
