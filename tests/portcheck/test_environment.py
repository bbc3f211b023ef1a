"""What of the environment keys cover."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from portcheck import environment
from portcheck.environment import variables


@pytest.mark.parametrize(
    "name",
    [
        "HOME",
        "USER",
        "TMPDIR",
        "PYTHONHASHSEED",
        "LC_ALL",
        "PORTCHECK_CACHE",
        "GITHUB_SHA",
        "TRITON_CACHE_DIR",
        "TERM_X",
    ],
)
def test_who_where_and_in_which_terminal_do_not_count(name: str) -> None:
    assert variables({name: "x"}) == {}


@pytest.mark.parametrize("name", ["TRITON_DEFAULT_FP_FUSION", "FLA_USE_TMA", "DISABLE_PTXAS_OPT", "TERMINAL_FACTOR"])
def test_everything_else_counts(name: str) -> None:
    assert variables({name: "x"}) == {name: "x"}


def test_a_variable_that_names_a_file_counts_by_its_content(tmp_path: Path) -> None:
    one, other = tmp_path / "ptxas", tmp_path / "elsewhere"
    one.write_bytes(b"\x7fELF")
    other.write_bytes(b"\x7fELF")
    before = variables({"TRITON_PTXAS_PATH": str(one)})

    assert variables({"TRITON_PTXAS_PATH": str(other)}) == before
    one.write_bytes(b"\x7fELG")
    assert variables({"TRITON_PTXAS_PATH": str(one)}) != before
    assert variables({"A": str(tmp_path)}) == {"A": str(tmp_path)}  # a folder counts as it is written


def test_distributions_have_one_digest() -> None:
    assert len(environment.distributions(tuple(sys.path))) == 32
