"""Python interpreters: which version one is, and where it imports from."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from typing import Any

from portcheck.errors import UsageError

_ASK = (
    "import json, platform, sys, sysconfig; print(json.dumps([platform.python_version(), "
    "bool(sysconfig.get_config_var('Py_GIL_DISABLED')), sys.path]))"
)
_LOCATE = (
    "import importlib.util, json, sys; found = importlib.util.find_spec(sys.argv[1]); "
    "print(json.dumps(found and found.origin))"
)
_PATIENCE = 60.0  # seconds


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python interpreter."""

    executable: str
    version: str  # 3.11.7
    free_threaded: bool
    path: tuple[str, ...]  # its sys.path, without what the environment adds

    @property
    def minor(self) -> str:
        """The version that extension modules are built for, as people write it: `3.11`, `3.14t`."""
        return ".".join(self.version.split(".")[:2]) + ("t" if self.free_threaded else "")

    @property
    def tag(self) -> str:
        """The same as wheels and folders are named: `cp311`, `cp314t`."""
        return "cp" + self.minor.replace(".", "")


def this() -> Interpreter:
    """The invoking interpreter."""
    free_threaded = not getattr(sys, "_is_gil_enabled", lambda: True)()
    return Interpreter(sys.executable, platform.python_version(), free_threaded, tuple(sys.path))


@cache
def ask(executable: str) -> Interpreter:
    """What an interpreter, given by its path or as a command, says of itself.

    Raises:
        UsageError: there is none, or it does not run.
    """
    found = shutil.which(executable)
    if found is None:
        raise UsageError(f"{executable}: no such Python: name one that is there, such as {sys.executable}")
    version, free_threaded, path = _run(found, _ASK)
    return Interpreter(os.path.abspath(found), version, free_threaded, tuple(path))  # noqa: PTH100 - links stay


def locate(executable: str, module: str) -> str | None:
    """The file of a top-level module that an interpreter would import; the module is not imported.

    Raises:
        UsageError: the interpreter does not run.
    """
    found: str | None = _run(executable, _LOCATE, module)
    return found


def _run(executable: str, *arguments: str) -> Any:
    """What a program of Python prints, as JSON. -I: neither PYTHON* variables nor the current folder decide it."""
    command = [executable, "-I", "-c", *arguments]
    try:
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE, check=True)
        return json.loads(ran.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        said = (getattr(error, "stderr", b"") or b"").decode(errors="replace").strip().splitlines()
        why = str(error) if not said else said[-1] if "Traceback" in said[0] else said[0]
        raise UsageError(
            f"{executable} does not run as a Python ({why}): name another, such as {sys.executable}"
        ) from None
