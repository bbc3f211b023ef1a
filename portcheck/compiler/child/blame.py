"""Where in the user's source the front end was when it failed.

Triton wraps an error in a CompilationError per function on the way out and drops the original (`from None`), so the
place and the cause are taken when the first one is made.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from . import kernels
from .names import Names


class Blame:
    """The chain of source places, innermost first, and the exception that started it."""

    def __init__(self) -> None:
        self.cause: BaseException | None = None
        self.places: list[list[Any]] = []  # [file, line, column], lines and columns from 1

    def install(self, errors: Any) -> None:
        """Listen to every CompilationError of this process."""
        make = errors.CompilationError.__init__

        def made(this: Any, src: Any, node: Any, *args: Any, **kwargs: Any) -> None:
            make(this, src, node, *args, **kwargs)
            if self.cause is None:
                self.cause = sys.exc_info()[1] or this
            self._add_place(sys._getframe(1), node)

        errors.CompilationError.__init__ = made

    def find_in_hashing(self, error: BaseException, names: Names) -> None:
        """Triton up to 3.4 looks every name up while it hashes a function, before there is a CompilationError."""
        function, node, trace = None, None, error.__traceback__
        while trace is not None:
            local, trace = trace.tb_frame.f_locals, trace.tb_next
            this = local.get("self")
            if isinstance(this, kernels.jit_kind()):
                function, node = this, None
            elif type(this).__name__ == "DependenciesFinder" and hasattr(local.get("node"), "lineno"):
                node = local["node"]
        if function is not None and node is not None:
            file, line, column = kernels.place(function, names)
            self.places = [[file, line + node.lineno - 1, column + node.col_offset]]

    def _add_place(self, frame: FrameType | None, node: Any) -> None:
        while frame is not None and not hasattr(frame.f_locals.get("self"), "begin_line"):
            frame = frame.f_back
        if frame is None or node is None or not hasattr(node, "lineno"):
            return
        generator = frame.f_locals["self"]  # its begin_line is the one above the function
        self.places.append([generator.file_name, generator.begin_line + node.lineno, node.col_offset + 1])
