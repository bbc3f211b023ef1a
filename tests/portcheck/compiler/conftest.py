"""One compile service for all tests here: importing Triton once is enough."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from portcheck.compiler.service import Service
from portcheck.toolchain.model import Toolchain

Write = Callable[[str, str], str]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the service works in."""
    return tmp_path_factory.mktemp("manifest").resolve()


@pytest.fixture(scope="session")
def service(toolchain: Toolchain, folder: Path) -> Iterator[Service]:
    """A running service; what a test imports has to have a name of its own."""
    service = Service(toolchain, folder, "fork", ["cuda", "hip"])
    yield service
    service.close()


@pytest.fixture(scope="session")
def write(folder: Path) -> Write:
    """`write("name.py", text)` puts a file into the service's folder, and returns its name."""

    def write(name: str, text: str) -> str:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return name

    return write
