"""Constants, options and tuples in canonical form."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

import pytest

from portcheck.manifest.model import Argument, Constant
from portcheck.manifest.values import parse_argument_tree, parse_value


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("3", 3),
        ("true", True),
        ("1e-6", 1e-6),
        ("inf", math.inf),
        ("'fp16'", "fp16"),
        ("{ dtype = 'float16' }", {"dtype": "fp16"}),
        ("{ jit = 'pkg.mod:Class.f' }", {"jit": "pkg.mod:Class.f"}),
        ("{ constexpr = 3 }", {"constexpr": 3}),
        ("{ constexpr = { dtype = 'i8' } }", {"constexpr": {"dtype": "int8"}}),
        ("{ float = '-inf' }", -math.inf),
        ("{ none = true }", {"none": True}),
        ("[]", {"tuple": []}),
        ("[1, ['a', { none = true }]]", {"tuple": [1, {"tuple": ["a", {"none": True}]}]}),
        ("{ tuple = [1, [2]] }", {"tuple": [1, {"tuple": [2]}]}),
        ("18446744073709551615", (1 << 64) - 1),
    ],
)
def test_values_become_canonical(tmp_path: Path, written: str, value: Any) -> None:
    assert parse_value(tmp_path, tomllib.loads(f"x = {written}")["x"]) == value


@pytest.mark.parametrize("written", ["nan", "{ float = 'nan' }"])
def test_nan_is_kept(tmp_path: Path, written: str) -> None:
    assert math.isnan(parse_value(tmp_path, tomllib.loads(f"x = {written}")["x"]))


def test_a_function_in_a_file_is_named_relative_to_the_manifest(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text("")
    assert parse_value(tmp_path, {"jit": f"{tmp_path}/ops.py:silu"}) == {"jit": "ops.py:silu"}


def test_tuple_arguments_nest_and_may_hold_constants(tmp_path: Path) -> None:
    assert parse_argument_tree(tmp_path, ["*fp16:16", ["i32", 1, {"none": True}]]) == (
        Argument("*fp16", divisible=True),
        (Argument("i32"), Constant(1), Constant({"none": True})),
    )
