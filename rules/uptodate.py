"""Files that tasks write from records, and what they tell: whether it has to be written or told again.

A file is current if it was last written from the same records and options, and has been left alone since. What it was
written from is remembered in the store's local kind: doit's own memory is written at the end of a run only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from portcheck.cache import Store
from portcheck.keys import canonical, digest

SKIPPED = "portcheck: told if skipped"  # in a task's `meta`: lines for the user if doit finds the task up to date


class Written:
    """Remembers what files were written from."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def is_current(self, path: Path, shown: Any) -> bool:
        """Is `path` as it was written from `shown`, plain data: all that decides what is in the file, options too?"""
        now = _state(path, shown)
        return now is not None and self._store.get("local", *_key(path)) == now

    def remember(self, path: Path, shown: Any) -> None:
        """`path` was just written from `shown`. What is no plain file (a pipe, standard output) is not remembered."""
        if now := _state(path, shown):
            self._store.put("local", *_key(path), now)

    def is_told(self, question: Any, shown: Any) -> bool:
        """Was `shown`, plain data, what was last told on the terminal when `question` was asked?"""
        return self._store.get("local", *_asked(question)) == _told(shown)

    def remember_told(self, question: Any, shown: Any) -> None:
        """`shown` was just told."""
        self._store.put("local", *_asked(question), _told(shown))


def unchanged(path: Path) -> str:
    """What is told instead of writing a file."""
    return f"{path}: unchanged, not written again"


def has_text(path: Path, text: str) -> bool:
    """Does a file hold this text already? For files whose text is the same whenever it is made."""
    try:
        return path.is_file() and path.read_bytes() == text.encode()
    except OSError:
        return False


def _state(path: Path, shown: Any) -> dict[str, str] | None:
    try:
        content = path.read_bytes() if path.is_file() else None
    except OSError:
        content = None
    return None if content is None else {"shown": digest(canonical(shown)), "content": digest(content)}


def _told(shown: Any) -> dict[str, str]:
    return {"shown": digest(canonical(shown))}


def _asked(question: Any) -> tuple[str, bytes]:
    preimage = canonical({"told": question})
    return digest(preimage), preimage


def _key(path: Path) -> tuple[str, bytes]:
    preimage = canonical({"written": str(path.absolute())})
    return digest(preimage), preimage
