"""Triton's names for types: the type strings of a signature with their marks, and the names of dtypes.

argument   = type { ":16" | ":large" }
type       = pointer scalar | scalar | descriptor | "constexpr"
pointer    = { "*" | "*k" }                    ("*k" points to constant memory)
descriptor = ("tensordesc" | "tensordesc_im2col") "<" scalar "[" shape "]" [ "," layout ] ">"
"""

from __future__ import annotations

import re
from typing import Any

from portcheck.errors import UsageError
from portcheck.manifest.model import Argument
from portcheck.manifest.scalars import text
from portcheck.patterns import suggestion

CONSTEXPR = "constexpr"

FP8 = ("fp8e4nv", "fp8e4b8", "fp8e4b15", "fp8e5", "fp8e5b16")
FLOATS = (*FP8, "fp16", "bf16", "fp32", "fp64")
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
BOOLEANS = ("i1", "u1")
SCALARS = (*FLOATS, *INTEGERS, *BOOLEANS)

# Other names of the floating-point types: those of `triton.language` and of torch.
FLOAT_ALIASES = {
    "float8e4nv": "fp8e4nv",
    "float8_e4m3fn": "fp8e4nv",
    "float8e4b8": "fp8e4b8",
    "float8_e4m3fnuz": "fp8e4b8",
    "float8e4b15": "fp8e4b15",
    "float8e5": "fp8e5",
    "float8_e5m2": "fp8e5",
    "float8e5b16": "fp8e5b16",
    "float8_e5m2fnuz": "fp8e5b16",
    "half": "fp16",
    "float16": "fp16",
    "bfloat16": "bf16",
    "float": "fp32",
    "float32": "fp32",
    "double": "fp64",
    "float64": "fp64",
}
LONG_INTEGERS = {short: short.replace("i", "int", 1).replace("u", "uint", 1) for short in INTEGERS}
SHORT_INTEGERS = {long: short for short, long in LONG_INTEGERS.items()} | {"int": "i32", "bool": "i1", "int1": "i1"}

# Any name of a dtype → the one that `triton.language.dtype` takes.
DTYPES = (
    {name: name for name in (*FLOATS, *LONG_INTEGERS.values(), "int1", "void")}
    | FLOAT_ALIASES
    | LONG_INTEGERS
    | {"i1": "int1", "u1": "int1", "bool": "int1", "uint1": "int1", "int": "int32"}
)

DESCRIPTOR = re.compile(
    r"(?P<kind>tensordesc|tensordesc_im2col)<(?P<scalar>[^<>\[\]]*)\[(?P<shape>[0-9, ]*)\](?P<layout>,.+)?>"
)
MARKS = ":16 (a value divisible by 16) and :large (a tensor over 2 GiB)"


def parse_argument(value: Any) -> Argument | None:
    """Read a type string with its marks, `*fp16:16:large`; None for `constexpr`, whose value `constants` gives.

    Raises:
        UsageError: it is not a type of Triton, or the type takes no such mark.
    """
    written = text(value)
    # A layout may hold colons; marks never hold what closes a descriptor.
    end = written.find(":", written.rfind(">") + 1)
    name, *marks = (written[:end], *written[end + 1 :].split(":")) if end >= 0 else (written,)
    if name == CONSTEXPR and not marks:
        return None
    type_ = _parse_type(name)
    for mark in marks:
        _check_mark(mark, type_, written)
    if len(set(marks)) < len(marks):
        raise UsageError(f'"{written}" has a mark twice: once is enough')
    return Argument(type_, divisible="16" in marks, large="large" in marks)


def parse_dtype(value: Any) -> str:
    """The name of a dtype, `fp16` or `float16`, as Triton spells it.

    Raises:
        UsageError: no dtype has that name.
    """
    name = text(value)
    if name not in DTYPES:
        raise UsageError(f'unknown dtype "{name}"{suggestion(name, DTYPES)}: write for example fp16, bf16 or int32')
    return DTYPES[name]


def _parse_type(name: str) -> str:
    if match := DESCRIPTOR.fullmatch(name):
        return _descriptor(name, match)
    if name.startswith("tensordesc"):
        raise UsageError(f'malformed descriptor "{name}": write it like tensordesc<fp16[64, 128]>')
    stars, scalar = re.fullmatch(r"((?:\*k?)*)(.*)", name, re.DOTALL).groups()  # type: ignore[union-attr]
    return f"{stars}{_scalar(scalar)}"


def _scalar(name: str) -> str:
    if name in SCALARS:
        return name
    alias = (FLOAT_ALIASES | SHORT_INTEGERS).get(name)
    hint = f" (did you mean {alias}?)" if alias else suggestion(name, SCALARS)
    raise UsageError(f'unknown type "{name}"{hint}: write it as Triton does, for example *fp16, i32 or fp32')


def _descriptor(name: str, match: re.Match[str]) -> str:
    shape = [size.strip() for size in match["shape"].split(",")]
    if not all(size.isdigit() for size in shape):
        raise UsageError(f'malformed shape in "{name}": write it like tensordesc<fp16[64, 128]>')
    return f"{match['kind']}<{_scalar(match['scalar'])}[{', '.join(shape)}]{match['layout'] or ''}>"


def _check_mark(mark: str, type_: str, written: str) -> None:
    if mark == "1":
        raise UsageError(f'mark ":1" in "{written}": a value that is 1 is a constant, so move it to constants')
    if mark not in ("16", "large"):
        raise UsageError(f'unknown mark ":{mark}" in "{written}": the marks are {MARKS}')
    if mark == "large" and not type_.startswith("*"):
        raise UsageError(f'":large" in "{written}": only a pointer can be to a tensor over 2 GiB')
    if mark == "16" and not type_.startswith("*") and type_ not in INTEGERS:
        raise UsageError(f'":16" in "{written}": only pointers and integers are divisible by 16')
