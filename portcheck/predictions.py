"""Predicting that a cell fails, before anything is compiled: from what its kernel uses and what Triton says it lacks.

A prediction is only made where it is certain: the kernel uses a function of libdevice that the backend does not have,
or a type that the target does not have, and the compiler is sure to come there. `compiler/child/uses.py` tells what a
kernel uses and when, in terms that are evaluated here for one cell.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from portcheck.cells import Cell
from portcheck.diagnose.message import explain
from portcheck.fit import chosen_at_launch
from portcheck.manifest.model import Argument, ArgumentTree, Row
from portcheck.supports import Support
from portcheck.verdicts import Failure, Position

_DEPTH = 64  # of terms; a record may come from anywhere
_FP8 = re.compile(r"\bfp8\w+")
_COMPARE: Mapping[str, Callable[[Any, Any], Any]] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
}
_BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
}


@dataclass(frozen=True, slots=True)
class _Dtype:
    """A type of elements, as a value."""

    name: str


class _Untold:
    """What cannot be told, and what is only there when the kernel runs."""


_UNKNOWN, _RUNTIME = _Untold(), _Untold()


def may_fail(row: Row, kernel: Mapping[str, Any]) -> bool:
    """Does a row use anything that a target could lack?"""
    return bool(kernel["uses"]) or any(True for _ in _fp8_arguments(row))


def predict(cell: Cell, kernel: Mapping[str, Any], support: Support | None) -> Failure | None:
    """The failure that a cell is certain to have, in the words that Triton has for it; None: there is no telling.

    `kernel` is as the child described it; without `support` only that is known which holds for the whole backend.
    """
    terms = _Terms(cell, kernel, support)
    for name in _fp8_arguments(cell.row):
        if said := terms.refused_type(name):
            return _failure("ValueError", said, kernel["source"])
    for use in kernel["uses"]:
        said, error = use["refused"].get(cell.target.backend), "AttributeError"
        if use["dtype"] is not None:
            dtype = terms.value(use["dtype"])
            said, error = (terms.refused_type(dtype.name) if isinstance(dtype, _Dtype) else None), "ValueError"
        if said and all(terms.is_compiled(term, wanted) for term, wanted in use["when"]):
            return _failure(error, said, use["at"])
    return None


def _failure(error: str, said: str, at: list[Any]) -> Failure:
    told = explain("frontend", f"builtins.{error}", said, "")
    return Failure("frontend-error", "frontend", told.message, f"builtins.{error}", told.detail, position=Position(*at))


def _fp8_arguments(row: Row) -> Iterator[str]:
    for name, tree in row.signature.items():
        if name not in row.constants:
            yield from _fp8(tree)


def _fp8(tree: ArgumentTree) -> Iterator[str]:
    if isinstance(tree, Argument):
        yield from _FP8.findall(tree.type)
    elif isinstance(tree, tuple):
        for element in tree:
            yield from _fp8(element)


class _Terms:
    """Evaluates terms for one cell."""

    def __init__(self, cell: Cell, kernel: Mapping[str, Any], support: Support | None) -> None:
        self._row, self._support = cell.row, support
        chosen = chosen_at_launch(cell, kernel)  # whatever the defaults of those are
        self._defaults = {p["name"]: p["value"] for p in kernel["params"] if "value" in p and p["name"] not in chosen}
        options = {*cell.row.options_for(cell.target.backend), *chosen}
        self._other_types = any(name == "arch" or "fp8" in name for name in options)  # then Triton was asked in vain

    def refused_type(self, name: str) -> str | None:
        """What Triton says of an fp8 type; None if it takes it, or there is no telling."""
        return None if self._support is None or self._other_types else self._support.fp8.get(name)

    def is_compiled(self, term: Any, wanted: bool) -> bool:
        """Is the branch certainly compiled that belongs to `term` being true, or else false?"""
        value = self.value(term)
        return value is _RUNTIME or (not isinstance(value, _Untold) and _truth(value) is wanted)

    def value(self, term: Any, depth: int = 0) -> Any:
        """What a term stands for: a value, or `_RUNTIME`, or `_UNKNOWN`."""
        if not isinstance(term, list) or not term or depth > _DEPTH:
            return _UNKNOWN
        evaluate = _EVALUATE.get(term[0]) if isinstance(term[0], str) else None
        try:
            return _UNKNOWN if evaluate is None else evaluate(self, *term[1:], depth=depth + 1)
        except (TypeError, ValueError, ArithmeticError, LookupError):
            return _UNKNOWN

    def _constant(self, value: Any, depth: int) -> Any:
        return value if value is None or isinstance(value, (bool, int, float, str)) else _UNKNOWN

    def _dtype(self, name: Any, depth: int) -> Any:
        return _Dtype(name) if isinstance(name, str) else _UNKNOWN

    def _param(self, name: str, depth: int) -> Any:
        row = self._row
        if name in row.constants:
            return _UNKNOWN if name in row.signature else _canonical(row.constants[name])
        if name in row.signature:
            return _RUNTIME if isinstance(row.signature[name], Argument) else _UNKNOWN
        return _canonical(self._defaults[name]) if name in self._defaults else _UNKNOWN

    def _guard(self, name: str, numbers: list[int], depth: int) -> Any:
        answer = self._support.guards.get(name) if self._support else None
        if isinstance(answer, bool):
            return _UNKNOWN if numbers else answer
        if answer is None or not 1 <= len(numbers) <= 2 or not all(0 <= number < 10 for number in numbers[1:]):
            return _UNKNOWN
        return [*numbers, 0][:2] <= answer

    def _runtime(self, depth: int) -> Any:
        return _RUNTIME

    def _assigned(self, term: Any, depth: int) -> Any:
        value = self.value(term, depth)
        return _RUNTIME if isinstance(value, (bool, int, float)) else value

    def _not(self, term: Any, depth: int) -> Any:
        value = self.value(term, depth)
        return value if isinstance(value, _Untold) else not _truth(value)

    def _all(self, terms: list[Any], depth: int) -> Any:
        return self._first(terms, False, depth)

    def _any(self, terms: list[Any], depth: int) -> Any:
        return self._first(terms, True, depth)

    def _first(self, terms: list[Any], ends: bool, depth: int) -> Any:
        """The first value with the truth that ends the whole, as long as nothing before it leaves that open."""
        values = [self.value(term, depth) for term in terms]
        for value in values:
            if isinstance(value, _Untold):
                rest = [other for other in values if other is not _RUNTIME]
                plain = all(not isinstance(other, _Untold) and _truth(other) is not ends for other in rest)
                return _RUNTIME if plain else _UNKNOWN
            if _truth(value) is ends:
                return value
        return values[-1]

    def _if(self, test: Any, yes: Any, no: Any, depth: int) -> Any:
        value = self.value(test, depth)
        if isinstance(value, _Untold):
            return value
        return self.value(yes if _truth(value) else no, depth)

    def _compare(self, name: str, left: Any, right: Any, depth: int) -> Any:
        one, other = self.value(left, depth), self.value(right, depth)
        if name in ("Is", "IsNot"):
            if _UNKNOWN in (one, other) or (one is not None and other is not None):
                return _UNKNOWN
            return (one is other) == (name == "Is")
        if isinstance(one, _Untold) or isinstance(other, _Untold):
            return _RUNTIME if _RUNTIME in (one, other) and _UNKNOWN not in (one, other) else _UNKNOWN
        if isinstance(one, _Dtype) != isinstance(other, _Dtype) or isinstance(one, str) != isinstance(other, str):
            return _UNKNOWN
        return bool(_COMPARE[name](one, other)) if name in _COMPARE else _UNKNOWN

    def _binary(self, name: str, left: Any, right: Any, depth: int) -> Any:
        one, other = self.value(left, depth), self.value(right, depth)
        if _RUNTIME in (one, other):
            return _RUNTIME
        numbers = all(type(value) is int for value in (one, other))
        return _BINARY[name](one, other) if numbers and name in _BINARY else _UNKNOWN


_EVALUATE: Mapping[str, Callable[..., Any]] = {
    "value": _Terms._constant,
    "dtype": _Terms._dtype,
    "param": _Terms._param,
    "guard": _Terms._guard,
    "runtime": _Terms._runtime,
    "assigned": _Terms._assigned,
    "not": _Terms._not,
    "and": _Terms._all,
    "or": _Terms._any,
    "if": _Terms._if,
    "compare": _Terms._compare,
    "binary": _Terms._binary,
}


def _truth(value: Any) -> bool | None:
    """Of a constant; a type has none that anybody should build on."""
    return None if isinstance(value, _Dtype) else bool(value)


def _canonical(value: Any) -> Any:
    """A constant of a manifest."""
    if not isinstance(value, dict):
        return value
    match value:
        case {"none": True}:
            return None
        case {"dtype": str(name)}:
            return _Dtype(name)
        case {"constexpr": inner}:
            return _canonical(inner)
        case _:
            return _UNKNOWN
