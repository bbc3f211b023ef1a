"""The one kind of pattern users write: `*` and `?` are special, everything else is literal.

Brackets stay literal because variants are written with them: `attention[bf16]`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable


def matches(pattern: str, name: str) -> bool:
    """Does `name` match `pattern` as a whole?"""
    return re.fullmatch(_regex(pattern), name, re.DOTALL) is not None


def is_wild(pattern: str) -> bool:
    """Does `pattern` stand for more than one name?"""
    return "*" in pattern or "?" in pattern


def suggestion(name: str, known: Iterable[str]) -> str:
    """` (did you mean X?)` for the nearest known name, or an empty string."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" (did you mean {close[0]}?)" if close else ""


def _regex(pattern: str) -> str:
    return "".join(".*" if c == "*" else "." if c == "?" else re.escape(c) for c in pattern)
