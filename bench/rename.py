"""An edit that changes no result: every local variable of a kernel gets another name."""

from __future__ import annotations

import ast
from collections.abc import Collection
from pathlib import Path


def rename_locals(path: Path, functions: Collection[str]) -> None:
    """Rename the locals of these functions in a file."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name in functions:
            _rename(node)
    path.write_text(ast.unparse(tree))


def _rename(function: ast.FunctionDef) -> None:
    parameters = {argument.arg for argument in function.args.args}
    names = [node for statement in function.body for node in ast.walk(statement) if isinstance(node, ast.Name)]
    stored = {name.id for name in names if isinstance(name.ctx, ast.Store)} - parameters
    for name in names:
        if name.id in stored:
            name.id += "_renamed"
