"""What user code gets to know of run-time arguments: what a row says, and no guess."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import pytest

from portcheck.compiler.child import standins
from portcheck.compiler.child.standins import Undetermined


def argument(kind: str, divisible: bool = False) -> Any:
    tree = {"type": kind, "divisible": divisible, "large": False}
    return standins.argument("n", tree, lambda reference: None)


@pytest.mark.parametrize(
    "question",
    [
        bool,
        str,
        hash,
        math.sqrt,
        lambda n: n + 1,
        lambda n: 1 - n,
        lambda n: n < 2,
        lambda n: n == 64,
        lambda n: n != 64,
        lambda n: n % 32,
        lambda n: n.bit_length() if n > 0 else 0,
        range,
        "{}".format,
        int,
        float,
        lambda n: n in (2, 3),
        lambda n: [0, 1][n],
        lambda n: -(-n // 16),
        lambda n: max(n, 16),
        lambda n: f"{n}",
    ],
)
@pytest.mark.parametrize("kind", ["i32", "fp32"])
def test_no_question_about_a_value_is_answered(question: Callable[[Any], Any], kind: str) -> None:
    with pytest.raises(Undetermined, match=r"^n$"):
        question(argument(kind, divisible=True))


def test_what_a_row_says_is_answered() -> None:
    n = argument("i32", divisible=True)

    assert isinstance(n, int)
    assert n is not None
    assert not operator.eq(n, None)
    assert (n % 16, n % 8, n % 1) == (0, 0, 0)
    assert n != 1  # an integer that is 1 is a constant


def test_a_number_that_nothing_divides_says_nothing_of_its_remainder() -> None:
    with pytest.raises(Undetermined):
        operator.mod(argument("i32"), 16)


def test_a_tensor_has_an_element_size_and_no_shape() -> None:
    tensor = argument("*bf16", divisible=True)

    assert (tensor.element_size(), tensor.itemsize, tensor.data_ptr() % 16) == (2, 2, 0)
    assert tensor.zero_() is tensor
    for question in ("shape", "stride", "is_contiguous", "numel"):
        with pytest.raises(Undetermined, match=f"^n.{question}$"):
            getattr(tensor, question)


def test_without_torch_a_tensor_has_no_dtype() -> None:
    with pytest.raises(Undetermined, match=r"^n\.dtype$"):
        _ = argument("*fp16").dtype


def test_no_handler_of_the_user_s_swallows_a_question() -> None:
    def guess() -> int:
        try:
            return int(argument("i32")) + 1
        except Exception:
            return 0

    with pytest.raises(Undetermined):
        guess()


def test_a_tuple_names_its_elements() -> None:
    leaf = {"type": "i32", "divisible": False, "large": False}
    numbers = standins.argument("sizes", [leaf, {"constant": 4}], lambda reference: None)

    assert numbers[1] == 4
    with pytest.raises(Undetermined, match=r"^sizes\[0\]$"):
        operator.add(numbers[0], 1)
