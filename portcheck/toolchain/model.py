"""A toolchain: one Triton installation and the interpreter that runs it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Toolchain:
    """One Triton installation, identified by the content of its files."""

    release: str  # Triton's version, `3.9.0`
    python: str  # the interpreter's version, `3.11.7`
    digest: str  # xxh3-128 over every file of the package and the Python minor version, in hex
    executable: str  # the interpreter
    package: Path | None  # the folder of the installed `triton` package; None: it is only known of, by a lock
    path: tuple[str, ...] | None = None  # what that interpreter imports from by itself; None: it is the invoking one
