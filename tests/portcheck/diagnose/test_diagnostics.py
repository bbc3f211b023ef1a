"""Reading fd 2: errors that nobody raised, and where errors are."""

from __future__ import annotations

from pathlib import Path

import pytest

from portcheck.diagnose.diagnostics import fold, location, pass_name, reasons, unraised_error
from portcheck.verdicts import Position

PRINTED = Path(__file__).parent / "printed"

UNRAISED = [
    (
        "error: could not allocate output register for constraint 'f'\nerror: and again\n",
        "could not allocate output register for constraint 'f'",
    ),
    ("kernels/k.py:3:5: error: operation scheduled before its operands\n", "operation scheduled before its operands"),
    ('loc("kernels/k.py":3:0): error: bad\n', "bad"),
    ("loc(unknown): error: bad\n", "bad"),
    ("<inline asm>:1:2: error: invalid instruction\n", "invalid instruction"),
    ("LLVM ERROR: unsupported load\n", "LLVM ERROR: unsupported load"),
    ("one warning first\nerror: then this\n", "then this"),
]

HARMLESS = [
    "",
    "/opt/venv/x.py:12: UserWarning: error: TRITON_DEFAULT_FP_FUSION is unset\n  warnings.warn(\n",
    "warning: error: not one\n",
    "kernels/k.py:3:5: warning: slow\n",
    "kernels/k.py:3:5: note: an error: here\n",
    "kernels/k.py:3:5: remark: error: no\n",
    "0 errors, 3 warnings\n",
    "error\nerrors: 0\n",
    "ValueError: error: in Python\n",
    "ERROR:root:logged\n",
    "    error: tl.constexpr = 3\n",
]


@pytest.mark.parametrize(("stderr", "error"), UNRAISED)
def test_an_error_on_fd_2_is_seen(stderr: str, error: str) -> None:
    assert unraised_error(stderr) == error


@pytest.mark.parametrize("stderr", HARMLESS)
def test_what_is_no_error_is_let_pass(stderr: str) -> None:
    assert unraised_error(stderr) is None


LOCATIONS = [
    ("kernels/k.py:12:47: error: bad\n", Position("kernels/k.py", 12, 47)),
    ('loc("/a b/k.py":3:0): error: bad\n', Position("/a b/k.py", 3, 1)),
    ("kernels/k.py:3:0: error: bad\n", Position("kernels/k.py", 3, 1)),
    ("error: bad\n", None),
    ("triton-amdgpu-assembler:49:2: error: invalid instruction\n", None),
    ("kernels/k.py:3:5: warning: slow\n", None),
    ("dist/triton/language/standard.py:3:5: error: bad\n", Position("dist/triton/language/standard.py", 3, 5)),
    (
        "dist/triton/language/standard.py:3:5: error: a\n"
        "dist/triton/language/core.py:1:1: error: b\nk.py:1:1: note: called from",
        Position("dist/triton/language/standard.py", 3, 5),
    ),
]


@pytest.mark.parametrize(("stderr", "position"), LOCATIONS)
def test_location_of_the_first_error(stderr: str, position: Position | None) -> None:
    assert location(stderr) == position


def test_an_error_in_tritons_library_is_traced_to_the_users_call() -> None:
    assert location((PRINTED / "fp8_sum_cuda90.txt").read_text()) == Position("kernels/fp8_arith.py", 13, 17)


def test_follow_ups_are_no_reason() -> None:
    assert reasons("k.py:1:1: error: Failures have been detected while processing an MLIR pass pipeline\n") == []


def test_pass_name_from_llvms_stack_dump() -> None:
    assert pass_name("1.\tRunning pass 'AMDGPU DAG->DAG Selection' on function '@k'\n") == "AMDGPU DAG->DAG Selection"
    assert pass_name("LLVM ERROR: no\n") is None


def test_folding_says_how_much_is_missing() -> None:
    folded = fold(
        "k.py:1:1: error: bad\n#blocked = #ttg.blocked<{}>\nmodule {\n  tt.func @k\n}\nk.py:1:1: note: after\n"
    )

    assert folded == "k.py:1:1: error: bad\nk.py:1:1: note: after\n(4 lines of IR are not shown)"


@pytest.mark.parametrize(
    ("stderr", "first_column", "column"),
    [
        ("kernels.py:12:4: error: unsupported target: 'gfx900'\n", 0, 5),  # Triton 3.3 to 3.7
        ("kernels.py:12:5: error: unsupported target: 'gfx900'\n", 1, 5),
        ("loc(\"kernels.py\":12:4): error: unsupported target: 'gfx900'\n", 0, 5),  # up to 3.2
        ("kernels.py:12:0: error: unsupported target: 'gfx900'\n", 1, 1),
    ],
)
def test_columns_count_from_one_whatever_the_release_does(stderr: str, first_column: int, column: int) -> None:
    assert location(stderr, first_column) == Position("kernels.py", 12, column)
