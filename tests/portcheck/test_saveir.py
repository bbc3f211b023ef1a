"""Stages as files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from portcheck.cells import Cell
from portcheck.errors import UsageError
from portcheck.saveir import folder_name, save_ir

MakeCell = Callable[..., Cell]


@pytest.mark.parametrize(
    ("row", "folder"),
    [
        ("attn", "attn@cuda:90@3.9.0"),
        ("attn/d64", "attn%2Fd64@cuda:90@3.9.0"),
        ("../up", "%2Fup@cuda:90@3.9.0"),
        ("a b[c]", "a b[c]@cuda:90@3.9.0"),
        ("zero\0", "zero%00@cuda:90@3.9.0"),
    ],
)
def test_any_row_name_is_a_file_name(make_cell: MakeCell, row: str, folder: str) -> None:
    cell = make_cell()

    assert folder_name(replace(cell, row=replace(cell.row, kernel=row))) == folder


def test_stages_become_files_and_lost_ones_do_not(make_cell: MakeCell, tmp_path: Path) -> None:
    save_ir(tmp_path / "ir", make_cell(), {"ttir": b"module {}", "cubin": None, "../../evil": b"x"})

    assert [path.relative_to(tmp_path / "ir") for path in (tmp_path / "ir").rglob("*") if path.is_file()] == [
        Path("k@cuda:90@3.9.0/ttir")
    ]


def test_a_folder_that_cannot_be_written_is_the_user_s_mistake(make_cell: MakeCell, tmp_path: Path) -> None:
    (tmp_path / "ir").touch()

    with pytest.raises(UsageError, match="--save-ir: cannot write"):
        save_ir(tmp_path / "ir", make_cell(), {"ttir": b""})
