"""Type strings and dtype names."""

from __future__ import annotations

import pytest

from portcheck.manifest.argtypes import DTYPES, SCALARS, parse_argument, parse_dtype
from portcheck.manifest.model import Argument

GOOD = [
    ("*fp16", Argument("*fp16")),
    ("*kfp8e4nv", Argument("*kfp8e4nv")),
    ("**i64:16", Argument("**i64", divisible=True)),
    ("i32:16", Argument("i32", divisible=True)),
    ("fp32", Argument("fp32")),
    ("u1", Argument("u1")),
    ("*bf16:large", Argument("*bf16", large=True)),
    ("*bf16:16:large", Argument("*bf16", divisible=True, large=True)),
    ("*bf16:large:16", Argument("*bf16", divisible=True, large=True)),
    ("tensordesc<fp16[64,128]>", Argument("tensordesc<fp16[64, 128]>")),
    ("tensordesc<fp16[64, 64],Layout(a=[1], b=2)>", Argument("tensordesc<fp16[64, 64],Layout(a=[1], b=2)>")),
    ("tensordesc_im2col<bf16[8, 64],input_rank=4>", Argument("tensordesc_im2col<bf16[8, 64],input_rank=4>")),
    ("constexpr", None),
]


@pytest.mark.parametrize(("written", "argument"), GOOD)
def test_type_strings(written: str, argument: Argument | None) -> None:
    assert parse_argument(written) == argument


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("fp16", "fp16"),
        ("float16", "fp16"),
        ("bfloat16", "bf16"),
        ("i32", "int32"),
        ("int32", "int32"),
        ("u8", "uint8"),
        ("i1", "int1"),
        ("bool", "int1"),
        ("float8_e4m3fn", "fp8e4nv"),
        ("float8e5", "fp8e5"),
    ],
)
def test_dtypes_have_one_spelling(written: str, canonical: str) -> None:
    assert parse_dtype(written) == canonical


def test_the_installed_triton_takes_every_name() -> None:
    language = pytest.importorskip("triton.language")
    assert {str(language.dtype(name)) for name in DTYPES.values()} == set(DTYPES.values())
    for scalar in SCALARS:
        assert language.str_to_ty(scalar, None) == language.dtype(DTYPES[scalar])
    for written, argument in GOOD:
        if argument and "Layout" not in written:
            language.str_to_ty(argument.type, None)
