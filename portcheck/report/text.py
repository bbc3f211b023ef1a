"""Texts of compilers and users made fit to be shown: whatever they hold, nothing hides and nothing breaks the file."""

from __future__ import annotations

import re

# Control characters (a tab and a line break are fine), what XML cannot hold, halves of surrogate pairs (bytes that were
# no UTF-8), and what turns the direction of the text around it.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def visible(text: str) -> str:
    """`text` with an escape, such as `\\x1b`, for every character that cannot be shown."""
    return _HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """`text` in one line, for a name, a title or a cell of a table."""
    return " ".join(visible(text).split())


def shortened(text: str, limit: int) -> str:
    """At most so many characters of `text`; an ellipsis stands for the rest."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
