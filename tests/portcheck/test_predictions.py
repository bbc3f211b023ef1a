"""Predictions for one cell: terms as a child tells them, with the row's values and the target's answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from portcheck.cells import Cell
from portcheck.predictions import may_fail, predict
from portcheck.supports import Support

MakeCell = Callable[..., Cell]

SAID = "module 'triton.language.extra.hip.libdevice' has no attribute 'tgamma'"
REFUSED = "type fp8e4nv not supported in this architecture. The supported fp8 dtypes are ('fp8e4b15', 'fp8e5')"
SUPPORT = Support({"fp8e4nv": REFUSED}, {"is_hip": False, "is_cuda": True, "cuda_capability_geq": [9, 0]})
ROW = """
signature = { x = "*fp32", n = "i32" }
constants.FAST = true
constants.SIZE = 64
constants.NAME = "gelu"
constants.NONE = { none = true }
constants.DT = { dtype = "fp8e4nv" }
constants.F = { jit = "m:f" }
"""
PLAIN: dict[str, Any] = {"uses": [], "params": [], "tuned": [], "computed": [], "source": ["kernels.py", 1, 1]}


def kernel(when: Any = (), **use: Any) -> dict[str, Any]:
    """A kernel with one use, by default of a function that NVIDIA does not have."""
    found = {"refused": {"cuda": SAID}, "dtype": None, "when": list(when), "at": ["kernels.py", 3, 5], **use}
    return {**PLAIN, "uses": [found], "params": [{"name": "DEFAULT", "value": 3}]}


@pytest.mark.parametrize(
    "term",
    [
        ["value", True],
        ["runtime"],  # both branches are compiled
        ["param", "FAST"],
        ["param", "x"],
        ["guard", "is_cuda", []],
        ["not", ["guard", "is_hip", []]],
        ["guard", "cuda_capability_geq", [9]],
        ["guard", "cuda_capability_geq", [8, 9]],
        ["and", [["param", "FAST"], ["guard", "is_cuda", []]]],
        ["or", [["guard", "is_hip", []], ["param", "FAST"]]],
        ["and", [["param", "FAST"], ["runtime"]]],
        ["if", ["param", "FAST"], ["value", 1], ["value", 0]],
        ["compare", "GtE", ["param", "SIZE"], ["value", 64]],
        ["compare", "Eq", ["param", "NAME"], ["value", "gelu"]],
        ["compare", "Eq", ["param", "DT"], ["dtype", "fp8e4nv"]],
        ["compare", "Is", ["param", "NONE"], ["value", None]],
        ["compare", "IsNot", ["param", "x"], ["value", None]],
        ["compare", "Lt", ["binary", "Mult", ["param", "n"], ["value", 2]], ["value", 3]],
        ["compare", "Eq", ["binary", "FloorDiv", ["param", "SIZE"], ["value", 32]], ["value", 2]],
        ["compare", "Eq", ["param", "DEFAULT"], ["value", 3]],
        ["assigned", ["param", "FAST"]],
        ["assigned", ["guard", "is_hip", []]],  # an assignment makes it a value on the device
    ],
)
def test_a_branch_that_is_compiled_is_predicted_to_fail(make_cell: MakeCell, term: Any) -> None:
    failure = predict(make_cell(ROW), kernel([[term, True]]), SUPPORT)

    assert failure is not None
    assert (failure.verdict, failure.stage, failure.message) == ("frontend-error", "frontend", SAID)
    assert failure.position is not None and failure.position.line == 3


@pytest.mark.parametrize(
    "term",
    [
        ["value", False],
        ["guard", "is_hip", []],
        ["guard", "cuda_capability_geq", [9, 1]],
        ["guard", "cuda_capability_geq", [8, 12]],  # no such minor was asked for
        ["guard", "is_unheard_of", []],
        ["guard", "is_cuda", [1]],
        ["not", ["param", "FAST"]],
        ["and", [["param", "FAST"], ["guard", "is_hip", []]]],
        ["and", [["runtime"], ["guard", "is_hip", []]]],
        ["param", "F"],
        ["param", "unheard_of"],
        ["compare", "Lt", ["param", "SIZE"], ["value", 64]],
        ["compare", "Eq", ["param", "DT"], ["dtype", "fp16"]],
        ["compare", "Eq", ["param", "DT"], ["value", "fp8e4nv"]],
        ["compare", "In", ["param", "NAME"], ["value", "gelu"]],
        ["compare", "Is", ["param", "x"], ["value", None]],
        ["compare", "Is", ["param", "SIZE"], ["param", "SIZE"]],
        ["binary", "Mod", ["param", "SIZE"], ["value", 0]],
        ["dtype", "fp16"],
        ["and", []],
        ["if", ["param", "F"], ["value", 1], ["value", 1]],
        ["unheard of"],
        ["value"],
        [],
        7,
    ],
)
def test_one_that_is_not_or_may_not_be_is_not(make_cell: MakeCell, term: Any) -> None:
    assert predict(make_cell(ROW), kernel([[term, True]]), SUPPORT) is None


def test_a_term_that_nests_without_end_is_untold(make_cell: MakeCell) -> None:
    term: list[Any] = ["value", True]
    for _ in range(500):
        term = ["not", term]

    assert predict(make_cell(ROW), kernel([[term, True]]), SUPPORT) is None


def test_only_the_backend_that_lacks_it_fails(make_cell: MakeCell) -> None:
    assert predict(make_cell(ROW), kernel(refused={"hip": SAID}), SUPPORT) is None


def test_a_type_that_the_target_refuses(make_cell: MakeCell) -> None:
    cell = make_cell(ROW)

    given = predict(cell, kernel(refused={}, dtype=["param", "DT"]), SUPPORT)
    written = predict(cell, kernel(refused={}, dtype=["dtype", "fp8e4nv"]), SUPPORT)

    assert given == written and given is not None and given.message == REFUSED
    assert predict(cell, kernel(refused={}, dtype=["dtype", "fp8e5"]), SUPPORT) is None
    assert predict(cell, kernel(refused={}, dtype=["param", "FAST"]), SUPPORT) is None
    assert predict(cell, kernel(refused={}, dtype=["dtype", "fp8e4nv"]), None) is None


@pytest.mark.parametrize("type_", ['"*fp8e4nv"', '"tensordesc<fp8e4nv[32, 32]>"', '["i32", "*fp8e4nv"]', '"fp8e4nv"'])
def test_a_type_of_an_argument_that_the_target_refuses(make_cell: MakeCell, type_: str) -> None:
    cell = make_cell(f"signature = {{ x = {type_} }}")
    plain = PLAIN

    failure = predict(cell, plain, SUPPORT)

    assert may_fail(cell.row, plain)
    assert failure is not None and failure.message == REFUSED
    assert failure.position is not None and failure.position.line == 1


def test_options_that_decide_about_types_leave_it_open(make_cell: MakeCell) -> None:
    cell = make_cell('signature = { x = "*fp8e4nv" }\noptions = { supported_fp8_dtypes = { tuple = ["fp8e4nv"] } }')

    assert predict(cell, PLAIN, SUPPORT) is None


def test_most_rows_have_nothing_to_predict_from(make_cell: MakeCell) -> None:
    assert not may_fail(make_cell(ROW).row, {"uses": []})


def test_the_default_of_what_a_launch_chooses_is_nobody_s_value(make_cell: MakeCell) -> None:
    guarded = kernel([[["param", "DEFAULT"], True]])

    assert predict(make_cell(ROW), guarded, SUPPORT) is not None
    assert predict(make_cell(ROW), {**guarded, "tuned": ["DEFAULT"]}, SUPPORT) is None
