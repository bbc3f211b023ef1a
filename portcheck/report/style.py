"""Colours of the terminal report: plain ANSI, or nothing."""

from __future__ import annotations

from dataclasses import dataclass

_CODES = {"ok": "32", "new": "31", "known": "33", "xfail": "33", "xpass": "35", "absent": "2", "bold": "1"}


@dataclass(frozen=True, slots=True)
class Style:
    """Paints text by its role: a status, `absent` or `bold`."""

    color: bool

    def __call__(self, role: str, text: str) -> str:
        """`text` in the colour of `role`."""
        return f"\x1b[{_CODES[role]}m{text}\x1b[0m" if self.color else text
