"""What reading a kernel tells of a value: terms of plain data, which the tool evaluates for each cell.

| term | is |
|---|---|
| `["value", v]` | a constant: a bool, a number, a string or None |
| `["dtype", name]` | a type of elements |
| `["param", name]` | a parameter of the kernel: a constant in some rows, an argument in others |
| `["guard", name, [number, …]]` | a question to the target, by a function of `triton.language.target_info` |
| `["runtime"]` | certainly a value on the device, so that both branches of an `if` are compiled |
| `["assigned", t]` | `t` after an assignment, which makes a value on the device of a number |
| `["not", t]`, `["and", [t, …]]`, `["or", [t, …]]`, `["if", t, t, t]` | |
| `["compare", operator, t, t]`, `["binary", operator, t, t]` | by the names that `ast` has for operators |

What cannot be told is None: nothing is said of what depends on it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, Optional

Term = Optional[list[Any]]

RUNTIME: list[Any] = ["runtime"]
_CONSTANTS = (bool, int, float, str, type(None))


def constant(value: Any) -> Term:
    return ["value", value] if type(value) in _CONSTANTS else None


def assigned(term: Term) -> Term:
    if term is None or term[0] in ("runtime", "dtype", "assigned"):
        return term
    if term[0] == "value":
        return RUNTIME if type(term[1]) in (bool, int, float) else term
    return ["assigned", term]


def opposite(term: Term) -> Term:
    if term is None or term == RUNTIME:
        return term
    return ["value", not term[1]] if term[0] == "value" else ["not", term]


def joined(operator: ast.boolop, terms: Sequence[Term]) -> Term:
    if None in terms:
        return None
    return ["and" if isinstance(operator, ast.And) else "or", list(terms)]


def compared(operator: ast.cmpop, left: Term, right: Term) -> Term:
    if isinstance(operator, (ast.In, ast.NotIn)):
        return None
    if left is None or right is None:
        # Whatever a tensor is compared with, the outcome is a tensor; but not of `is`.
        known = RUNTIME in (left, right) and not isinstance(operator, (ast.Is, ast.IsNot))
        return RUNTIME if known else None
    return ["compare", type(operator).__name__, left, right]


def computed(operator: ast.operator, left: Term, right: Term) -> Term:
    if RUNTIME in (left, right):
        return RUNTIME
    return None if left is None or right is None else ["binary", type(operator).__name__, left, right]


def chosen(test: Term, yes: Term, no: Term) -> Term:
    if yes == no:
        return yes
    return None if test is None or yes is None or no is None else ["if", test, yes, no]


def truth(term: Term) -> bool | None:
    """Of a term that has it whatever the cell."""
    return bool(term[1]) if term is not None and term[0] == "value" else None
