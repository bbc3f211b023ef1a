"""A row's specialisation as plain data: what the compiling child is sent, and what keys are made of."""

from __future__ import annotations

from typing import Any

from portcheck.manifest.model import Argument, ArgumentTree, Constant, Row


def row_specialisation(row: Row, backend: str) -> dict[str, Any]:
    """What `row` asks one backend to compile, in types that JSON has.

    An argument is `{"type", "divisible", "large"}`, a tuple of arguments is a list, and an element of one that is a
    constant is `{"constant": value}`. Constants and options are in the canonical form of `Value`.
    """
    return {
        "signature": {name: _plain(tree) for name, tree in row.signature.items()},
        "constants": dict(row.constants),
        "options": row.options_for(backend),
    }


def _plain(tree: ArgumentTree) -> Any:
    match tree:
        case Argument():
            return {"type": tree.type, "divisible": tree.divisible, "large": tree.large}
        case Constant():
            return {"constant": tree.value}
        case _:
            return [_plain(element) for element in tree]
