"""Rows against the kernels they name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from portcheck import fit
from portcheck.cells import Cell

MakeCell = Callable[..., Cell]

KERNEL: dict[str, Any] = {
    "params": [
        {"name": "x", "constexpr": False, "default": False},
        {"name": "n", "constexpr": False, "default": True},
        {"name": "BLOCK", "constexpr": True, "default": False},
        {"name": "FLAG", "constexpr": True, "default": True},
    ],
    "tuned": [],
    "computed": [],
    "uses": [],
    "options": {"cuda": ["maxnreg", "num_warps"], "hip": ["num_warps", "waves_per_eu"]},
}
WHERE = 'portcheck.toml: kernel "k": '
FITS = 'signature = { x = "*fp32" }\nconstants = { BLOCK = 64 }\n'


@pytest.mark.parametrize(
    "row",
    [
        FITS,
        'signature = { x = "*fp32", n = "i32" }\nconstants = { BLOCK = 64, FLAG = false }',
        'signature = { n = "i32" }\nconstants = { BLOCK = 64, x = { none = true } }',
        FITS + "options = { num_warps = 8, maxnreg = 64 }\noptions_hip = { waves_per_eu = 2 }",
    ],
)
def test_a_row_that_fits(make_cell: MakeCell, row: str) -> None:
    assert fit.mistakes(make_cell(row), KERNEL) == []


@pytest.mark.parametrize(
    ("row", "mistake"),
    [
        (
            'signature = { x = "*fp32", y = "*fp32" }\nconstants = { BLOCK = 64 }',
            'signature: no parameter "y"; k takes x, n, BLOCK, FLAG',
        ),
        (
            'signature = { x = "*fp32" }\nconstants = { BLOCK = 64, BLOK = 64 }',
            'constants: no parameter "BLOK" (did you mean BLOCK?); k takes x, n, BLOCK, FLAG',
        ),
        ('signature = { x = "*fp32" }', 'constants: no value for parameter "BLOCK"; k takes x, n, BLOCK, FLAG'),
        (
            "signature = {}\nconstants = { BLOCK = 64 }",
            'signature: no type for parameter "x"; k takes x, n, BLOCK, FLAG',
        ),
        (
            'signature = { x = "*fp32", FLAG = "i1" }\nconstants = { BLOCK = 64 }',
            'signature: "FLAG" is a tl.constexpr: give its value in constants',
        ),
        (
            FITS + "options = { num_wraps = 8 }",
            'options: unknown option "num_wraps" (did you mean num_warps?): no backend of this Triton has it',
        ),
    ],
)
def test_one_line_says_what_does_not_fit_and_what_would(make_cell: MakeCell, row: str, mistake: str) -> None:
    assert fit.mistakes(make_cell(row), KERNEL) == [WHERE + mistake]


def test_every_mistake_is_told(make_cell: MakeCell) -> None:
    assert len(fit.mistakes(make_cell('signature = { z = "i32" }'), KERNEL)) == 3


def test_a_function_that_is_not_there(make_cell: MakeCell) -> None:
    missing = {"missing": True, "kernels": ["kk", "other"]}

    assert fit.mistakes(make_cell(), missing) == [
        WHERE + "kernels.py has no k (did you mean kk?); kernels there: kk, other"
    ]
    assert fit.mistakes(make_cell(), {"missing": True, "kernels": []}) == [
        WHERE + "kernels.py has no k; there are no kernels in it"
    ]


def test_something_that_is_no_kernel(make_cell: MakeCell) -> None:
    (mistake,) = fit.mistakes(make_cell(), {"no_kernel": "function", "kernels": ["other"]})

    assert mistake == WHERE + "kernels.py:k is a function, no @triton.jit function; kernels there: other"


def test_an_autotuned_row_gives_all_that_the_tuner_would_choose(make_cell: MakeCell) -> None:
    tuned = {**KERNEL, "tuned": ["BLOCK", "num_warps"]}

    (mistake,) = fit.mistakes(make_cell('signature = { x = "*fp32" }'), tuned)
    assert "the kernel is autotuned and this row gives no BLOCK, num_warps" in mistake
    assert fit.mistakes(make_cell(FITS + "options = { num_warps = 4 }"), tuned) == []


def test_a_constant_that_heuristics_compute_has_to_be_given(make_cell: MakeCell) -> None:
    computed = {**KERNEL, "computed": ["BLOCK"]}

    (mistake,) = fit.mistakes(make_cell('signature = { x = "*fp32" }'), computed)
    assert "@triton.heuristics computes BLOCK at launch" in mistake
    assert fit.mistakes(make_cell(FITS), computed) == []


def test_a_backend_gets_the_options_that_it_knows(make_cell: MakeCell) -> None:
    row = FITS + "options = { num_warps = 8, maxnreg = 64 }\noptions_hip = { num_warps = 4 }"

    assert fit.specialisation(make_cell(row), KERNEL)["options"] == {"num_warps": 8, "maxnreg": 64}
    assert fit.specialisation(make_cell(row, "hip:gfx942"), KERNEL)["options"] == {"num_warps": 4}
