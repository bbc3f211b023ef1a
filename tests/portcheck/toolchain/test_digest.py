"""The digest of an installed package: its content, and nothing else."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from portcheck.cache import Store
from portcheck.toolchain import digest
from portcheck.toolchain.digest import package_digest


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package that was installed a minute ago."""
    package = tmp_path / "triton"
    (package / "backends").mkdir(parents=True)
    (package / "__init__.py").write_text("__version__ = '3.9.0'")
    (package / "backends" / "ptxas").write_bytes(b"\x7fELF")
    (package / "empty").touch()
    return package


def test_the_place_does_not_count(package: Path, store: Store, tmp_path: Path) -> None:
    shutil.copytree(package, tmp_path / "elsewhere")

    assert package_digest(tmp_path / "elsewhere", "3.11", store) == package_digest(package, "3.11", store)


@pytest.mark.parametrize("change", ["edit", "add", "remove", "rename"])
def test_every_file_counts(package: Path, store: Store, change: str) -> None:
    before = package_digest(package, "3.11", store)

    ptxas = package / "backends" / "ptxas"
    if change == "edit":
        ptxas.write_bytes(b"\x7fELG")
    elif change == "add":
        (package / "new").touch()
    elif change == "remove":
        ptxas.unlink()
    else:
        ptxas.rename(ptxas.with_name("ptxas-blackwell"))

    assert package_digest(package, "3.11", store) != before


def test_the_python_version_counts_and_bytecode_does_not(package: Path, store: Store) -> None:
    before = package_digest(package, "3.11", store)
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "__init__.cpython-311.pyc").touch()

    assert package_digest(package, "3.11", store) == before
    assert package_digest(package, "3.12", store) != before


def test_a_digest_is_remembered(package: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: int(time.time() * 1e9) + 60_000_000_000)  # a minute later
    before = package_digest(package, "3.11", store)

    def read(path: Path, follow: bool) -> str:
        raise AssertionError(f"{path} was read again")

    with monkeypatch.context() as patch:
        patch.setattr(digest, "_content", read)
        assert package_digest(package, "3.11", store) == before

    os.utime(package / "empty", ns=(1, 1))
    assert package_digest(package, "3.11", store) == before  # read again, the same


def test_what_was_written_just_now_is_not_remembered(
    package: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = package_digest(package, "3.11", store)
    monkeypatch.setattr(digest, "_content", lambda path, follow: "read again")

    assert package_digest(package, "3.11", store) != before
