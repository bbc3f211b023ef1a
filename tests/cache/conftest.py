"""A store in a fresh directory, and a way to run code that the directory's permissions bind."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from portcheck.cache import Store


@pytest.fixture
def warnings() -> list[str]:
    """What the store of this test warned about."""
    return []


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A cache directory that does not exist yet."""
    return tmp_path / "cache"


@pytest.fixture
def store(root: Path, warnings: list[str]) -> Store:
    return Store(root, warn=warnings.append)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any user can reach, which pytest's own temporary folders are not."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def unprivileged() -> Callable[[Callable[[], None]], None]:
    """Runs a function in a forked process without root's power over permissions; its assertions count."""

    def run(function: Callable[[], None]) -> None:
        def child() -> None:
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            function()

        process = multiprocessing.get_context("fork").Process(target=child)
        process.start()
        process.join()
        assert process.exitcode == 0

    return run
