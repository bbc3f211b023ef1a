"""Kernels as scripts use them: what is launched, and `kernel.py` for a kernel that cannot be taken out of its module.

Then the modules are copied, and it loads the kernel from those.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

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


def loader(modules: Mapping[str, str], entries: Mapping[str, Sequence[str]]) -> bytes:
    """`kernel.py` over copies of modules.

    Args:
        modules: where they lie in the folder that they are imported from → their paths here.
        entries: name → the module, the qualified name and the file of each function that is loaded.
    """
    there = {path: name for name, path in modules.items()}
    loads = (
        f"{name} = load({_named(module, there.get(file, file))!r}, {function!r})\n"
        for name, (module, function, file) in entries.items()
    )
    return (_LOADER + "".join(loads)).encode()


def copies(modules: Mapping[str, str]) -> dict[str, bytes]:
    """Path in the reproducer → content, of all modules of the user's."""
    inside = {PurePosixPath(SOURCE, *Path(name).parts): path for name, path in modules.items()}
    return {str(name): Path(path).read_bytes() for name, path in inside.items() if ".." not in name.parts}


def what_is_launched(source: Mapping[str, Any]) -> str:
    """The function that makes the front end's input of a loaded kernel; `source` is what the child said of it."""
    module, name = source["class"]
    home, attrs = source["attrs"]
    return "\n".join(
        [
            "def what_is_launched(kernel):",
            '    """What a launch gives to the front end."""',
            "    import triton",
            *([f"    import {home}"] if home else []),
            f"    from {module} import {name}",
            "",
            f"    return {name}(",
            f"        fn={source['kernel']},",
            f"        signature={source['signature']},",
            f"        {source['constants_are']}={source['constants']},",
            f"        attrs={attrs},",
            "    )",
            "",
        ]
    )


def needs(copied: Mapping[str, bytes]) -> tuple[str, ...]:
    """The packages that copied modules import, but for each other, Triton and Python's own."""
    here = {PurePosixPath(name).parts[1].removesuffix(".py") for name in copied}
    known = {*sys.stdlib_module_names, "triton", *here}
    return tuple(sorted({top for data in copied.values() for top in _imported(data)} - known))


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
