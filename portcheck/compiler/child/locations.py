"""MLIR's text without source locations, for releases that cannot print it so themselves."""

from __future__ import annotations

import re

_ALIAS = re.compile(r"^#loc\d* = .*\n?", re.MULTILINE)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[()]|\s*(?<![\w.#%@!$])loc\(')


def strip(text: str) -> str:
    """`text` without `loc(…)` behind operations and arguments, and without the lines that name locations.

    What looks like a location inside a string is none.
    """
    text = _ALIAS.sub("", text)
    kept: list[str] = []
    at, depth = 0, 0  # depth: open parentheses of the location that is being left out
    for token in _TOKEN.finditer(text):
        if depth:
            depth += {"(": 1, ")": -1}.get(token[0], token[0].endswith("loc("))
            at = token.end()
        elif token[0].endswith("loc("):
            kept.append(text[at : token.start()])
            depth, at = 1, token.end()
    kept.append(text[at:])
    return "".join(kept)
