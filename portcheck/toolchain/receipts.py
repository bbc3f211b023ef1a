"""Receipts: what an environment holds, and whether its files are still those that were installed.

`portcheck-env.json`, in the environment:

    {"format": 1, "requirement": "triton==3.8.0", "packages": [],
     "python": {"executable": …, "version": …, "free_threaded": …, "path": […]},     of the environment
     "base": …,                                  the interpreter that it was made with
     "package": "lib/python3.11/site-packages/triton", "size": bytes on disk,
     "triton": digest, "rest": digest}           of the package's files, and of all others; null until all are there

It gets its digests last, by a rename, so that an environment counts only once it is whole.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from portcheck.cache import Store
from portcheck.toolchain.digest import contents_digest
from portcheck.toolchain.interpreters import Interpreter

NAME = "portcheck-env.json"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an environment holds; see above."""

    requirement: str  # as pip takes it: `triton==3.8.0`, or the path of a wheel
    packages: tuple[str, ...]  # besides Triton, as pip takes them
    python: Interpreter
    base: str
    package: str = ""  # relative to the environment
    size: int = 0
    triton: str | None = None
    rest: str | None = None
    format: int = field(default=FORMAT)

    def write(self, folder: Path) -> None:
        """Put it into the environment in `folder`, in one step. Raises OSError."""
        new = folder / f"{NAME}.new"
        with new.open("w") as file:
            json.dump(asdict(self), file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        new.replace(folder / NAME)


def read(folder: Path) -> Receipt | None:
    """The receipt of the environment in `folder`; None if there is none, or not a whole one."""
    try:
        data = json.loads((folder / NAME).read_text())
        if data["format"] != FORMAT:
            return None
        python = data["python"]
        data["python"] = Interpreter(**{**python, "path": tuple(python["path"])})
        return Receipt(**{**data, "packages": tuple(data["packages"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def digests(folder: Path, package: Path, store: Store) -> tuple[str, str]:
    """The digests of Triton's files and of all others. Remembered in `store`. Raises OSError."""
    receipt, new = folder / NAME, folder / f"{NAME}.new"
    rest = contents_digest(folder, store, follow=False, without=(package, receipt, new))
    return contents_digest(package, store), rest


def trouble(folder: Path, store: Store) -> str | None:
    """What is wrong with the environment in `folder`, if anything: how a sentence about it goes on."""
    if not folder.is_dir():
        return "is not there"
    receipt = read(folder)
    if receipt is None or receipt.triton is None or receipt.rest is None:
        return "was never finished"
    try:
        now = digests(folder, folder / receipt.package, store)
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"
    if now[0] != receipt.triton:
        return "is not as it was made: files of Triton have changed"
    return None if now[1] == receipt.rest else "is not as it was made: files beside Triton have changed"


def disk_use(folder: Path) -> int:
    """The bytes that a folder takes on disk; files of several names count once."""
    return sum({found.st_ino: found.st_blocks * 512 for found in _stats(folder)}.values())


def _stats(folder: Path) -> Iterator[os.stat_result]:
    for place, _, names in os.walk(folder):
        yield from (os.lstat(Path(place, name)) for name in names)
