"""Rows against the kernels they name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from portcheck import fit
from portcheck.cells import Cell
from portcheck.configurations import Configuration

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


def test_an_autotuned_row_gives_all_that_the_tuner_chooses_or_nothing_of_it(make_cell: MakeCell) -> None:
    tuned = {**KERNEL, "tuned": ["BLOCK", "num_warps"]}
    left_open, written = make_cell('signature = { x = "*fp32" }'), make_cell(FITS + "options = { num_warps = 4 }")

    assert fit.mistakes(left_open, tuned) == []
    assert fit.chosen_at_launch(left_open, tuned) == {"BLOCK", "num_warps"}
    assert fit.mistakes(written, tuned) == []
    assert fit.chosen_at_launch(written, tuned) == set()
    (mistake,) = fit.mistakes(make_cell(FITS), tuned)
    assert "configurations set BLOCK as this row does: leave that out, or give num_warps too" in mistake


def test_what_heuristics_compute_may_be_given(make_cell: MakeCell) -> None:
    computed = {**KERNEL, "computed": ["BLOCK"]}
    left_open = make_cell('signature = { x = "*fp32" }')

    assert fit.mistakes(left_open, computed) == []
    assert fit.chosen_at_launch(left_open, computed) == {"BLOCK"}
    assert fit.chosen_at_launch(make_cell(FITS), computed) == set()


def test_a_configuration_is_laid_over_its_row(make_cell: MakeCell) -> None:
    row = 'signature = { x = "tensordesc<fp16[8, 8]>" }\noptions = { maxnreg = 64, waves_per_eu = 2 }'
    chosen = Configuration(
        "BLOCK=64", {"BLOCK": 64}, {"num_warps": 8, "waves_per_eu": 1}, {"x": "tensordesc<fp16[64, 8]>"}
    )

    spec = fit.specialisation(replace(make_cell(row), configuration=chosen), KERNEL)

    assert spec["signature"]["x"]["type"] == "tensordesc<fp16[64, 8]>"
    assert spec["constants"] == {"BLOCK": 64}
    # What only the other backend knows is left out of the row's options; the autotuner would pass its own all the same.
    assert spec["options"] == {"maxnreg": 64, "num_warps": 8, "waves_per_eu": 1}


def test_a_backend_gets_the_options_that_it_knows(make_cell: MakeCell) -> None:
    row = FITS + "options = { num_warps = 8, maxnreg = 64 }\noptions_hip = { num_warps = 4 }"

    assert fit.specialisation(make_cell(row), KERNEL)["options"] == {"num_warps": 8, "maxnreg": 64}
    assert fit.specialisation(make_cell(row, "hip:gfx942"), KERNEL)["options"] == {"num_warps": 4}
