"""Shapes of plain data."""

from __future__ import annotations

from typing import Any

import pytest

from portcheck.shapes import NUMBER, Fixed, shape

CASES = [
    (int, [0, -1], [True, 1.0, "1", None]),
    (None, [None], [0, ""]),
    (object, [None, 1, []], []),
    ((str, None), ["", None], [0]),
    (NUMBER, [1, 1.5], [True, "1"]),
    ([str], [[], ["a", "b"]], [["a", 1], "ab", ("a",), {}]),
    ([[int]], [[], [[1], []]], [[1], [["a"]]]),
    ({str: int}, [{}, {"a": 1}], [{"a": "1"}, {1: 1}, [], None]),
    ({str: [int]}, [{"a": [1]}], [{"a": 1}, {1: [1]}]),
    (Fixed(str, (int, None)), [["a", 1], ["a", None]], [["a"], ["a", 1, 1], ["a", "b"], "ab"]),
    ({"a": int, "b?": str}, [{"a": 1}, {"a": 1, "b": ""}, {"a": 1, "c": None}], [{}, {"a": 1, "b": 2}, {"b": ""}, []]),
    (({"a": int}, {"b": [int]}), [{"a": 1}, {"b": [1]}], [{"b": 1}, {}]),
    ({"inner": shape([int])}, [{"inner": [1]}], [{"inner": 1}]),
]


@pytest.mark.parametrize(("written", "fitting", "others"), CASES, ids=[str(number) for number in range(len(CASES))])
def test_what_fits_a_shape(written: Any, fitting: list[Any], others: list[Any]) -> None:
    fits = shape(written)

    assert [value for value in fitting if not fits(value)] == []
    assert [value for value in others if fits(value)] == []
