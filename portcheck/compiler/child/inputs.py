"""What importing a module reads: the files of the modules it imports, and the files it opens."""

from __future__ import annotations

import os
import sys
from typing import Any

_READ_ONLY_BITS = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_NOT_FILES = ("/proc/", "/sys/", "/dev/")


class Inputs:
    """Collects the paths read since it was installed. A forked process goes on from its parent's list."""

    def __init__(self) -> None:
        self.files: set[str] = set()  # absolute paths
        self._known = set(sys.modules)
        self._on = False

    def install(self) -> None:
        """Listen to the interpreter's audit events. There is no way to stop listening, so a flag does that."""
        sys.addaudithook(self._heard)

    def start(self) -> None:
        """Record from now on."""
        self._on = True

    def stop(self) -> None:
        """Record no more, and add the files of the modules imported meanwhile."""
        self._on = False
        for name in set(sys.modules) - self._known:
            module = sys.modules[name]
            path = getattr(module, "__file__", None)
            if isinstance(path, str) and name.split(".")[0] != "portcheck_child":
                self.files.add(os.path.abspath(path))
        self._known = set(sys.modules)

    def _heard(self, event: str, args: tuple[Any, ...]) -> None:
        if event != "open" or not self._on:
            return
        path, _, flags = args
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, str) or (isinstance(flags, int) and flags & _READ_ONLY_BITS):
            return
        path = os.path.abspath(path)
        if not path.endswith(".pyc") and not path.startswith(_NOT_FILES):
            self.files.add(path)
