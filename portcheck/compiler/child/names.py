"""File names that are the same in every checkout, for the debug information that Triton writes into every stage.

Files under the manifest's folder are named relative to it, installed ones `dist/PACKAGE/…`, so the same kernel gives
the same bytes wherever it lies.
"""

from __future__ import annotations

import gc
import importlib
import os
from typing import Any

from . import releases

SITE = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)


class Names:
    """Portable names for one manifest folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._known: dict[str, str] = {}
        self._real: dict[str, str] = {}  # following links takes a system call for every folder above a file

    def portable(self, path: str) -> str:
        """The portable name of `path`; a name that is portable already stays as it is."""
        if not os.path.isabs(path):
            return path
        if path not in self._known:
            self._known[path] = self._portable(path)
        return self._known[path]

    def _portable(self, path: str) -> str:
        try:
            relative = os.path.relpath(self._followed(path), self._followed(self.folder))
        except (OSError, ValueError):
            relative = os.path.basename(path)
        # A manifest may itself be installed, and an environment may lie in a manifest's folder.
        installed = path if relative.startswith(os.pardir) else os.sep + relative
        for mark in SITE:
            if mark in installed:
                return "dist/" + path.rsplit(mark, 1)[1].replace(os.sep, "/")
        return relative.replace(os.sep, "/")

    def _followed(self, path: str) -> str:
        """`path` without links on the way to it, or where it leads if it is one."""
        folder, name = os.path.split(path)
        if name in ("", os.curdir, os.pardir):
            return os.path.realpath(path)
        if folder not in self._real:
            self._real[folder] = os.path.realpath(folder)
        there = os.path.join(self._real[folder], name)
        return os.path.realpath(there) if os.path.islink(there) else there

    def install(self, jit: Any) -> None:
        """Rename the functions that Triton has decorated so far, and from now on each as it is decorated."""
        kind = jit.JITCallable if hasattr(jit, "JITCallable") else jit.JITFunction
        for found in gc.get_objects():
            if isinstance(found, kind):
                self._rename(found)
        decorate = kind.__init__

        def decorate_and_rename(function: Any, *args: Any, **kwargs: Any) -> None:
            decorate(function, *args, **kwargs)
            self._rename(function)

        kind.__init__ = decorate_and_rename
        self._rename_in_code_generator(releases.current().tells_place)

    def _rename_in_code_generator(self, tells_place: str | None) -> None:
        """Where a function carries no file name, the code generator asks for it, and for the line."""
        if tells_place is None:
            return
        generator = importlib.import_module("triton.compiler.code_generator")
        ask = getattr(generator, tells_place)

        def asked(function: Any) -> tuple[str, int]:
            file, line = ask(function)
            return self.portable(file), line

        setattr(generator, tells_place, asked)

    def _rename(self, function: Any) -> None:
        if hasattr(function, "file_name"):
            function.file_name = self.portable(function.file_name)
