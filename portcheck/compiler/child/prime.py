"""A trivial kernel, compiled once per backend in a root process before anything is forked from it."""

from __future__ import annotations

import contextlib
import io
import warnings
from typing import Any

import triton
import triton.language as tl

from . import releases


@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


def compile_trivial(target: Any) -> None:
    """Compile `copy` for a target. A failure is a cell's to report, so it is passed over here."""
    with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
        compile_copy(target)


def compile_copy(target: Any) -> None:
    """Compile `copy` for a target, or raise what Triton raises."""
    signature = {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source = triton.compiler.ASTSource(
            fn=copy, signature=signature, **{releases.current().constants: {"BLOCK": 64}}
        )
        triton.compile(source, target=target)
