"""Where in the user's source the front end was when it failed.

Triton wraps an error in a CompilationError per function on the way out and drops the original (`from None`), so the
place and the cause are taken when the first one is made.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any


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

    def _add_place(self, frame: FrameType | None, node: Any) -> None:
        while frame is not None and not hasattr(frame.f_locals.get("self"), "begin_line"):
            frame = frame.f_back
        if frame is None or node is None or not hasattr(node, "lineno"):
            return
        generator = frame.f_locals["self"]  # its begin_line is the one above the function
        self.places.append([generator.file_name, generator.begin_line + node.lineno, node.col_offset + 1])
