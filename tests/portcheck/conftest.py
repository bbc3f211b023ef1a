"""Cells and stores for tests of what lies between a manifest and a report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from portcheck.cache import Store
from portcheck.cells import Cell
from portcheck.manifest.loader import load
from portcheck.target import parse_target

MakeCell = Callable[..., Cell]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store that has no trouble."""

    def trouble(text: str) -> None:
        raise AssertionError(text)

    return Store(tmp_path / "cache", warn=trouble)


@pytest.fixture
def make_cell(tmp_path: Path) -> MakeCell:
    """`make_cell("signature = …")`: the cell of a row `k` of `kernels.py:k`, on cuda:90 unless said otherwise."""

    def make(row: str = "signature = {}", target: str = "cuda:90") -> Cell:
        (tmp_path / "kernels.py").touch()
        head = f'[[kernel]]\nname = "k"\ntarget = "kernels.py:k"\ntargets = ["{target}"]\n'
        (tmp_path / "portcheck.toml").write_text(head + row)
        (parsed,) = load(tmp_path / "portcheck.toml").rows
        return Cell(parsed, parse_target(target), "3.9.0")

    return make
