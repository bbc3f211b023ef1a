"""Positions that survive moving and reformatting: a node of a function's syntax tree instead of a line.

A record may be older than today's source, as long as the code is the same. Its failure's position is kept as an anchor
and put back onto today's lines when it is shown.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from portcheck.shapes import shape
from portcheck.stats import Stat, stat_of
from portcheck.verdicts import Position

# What is recorded of a place.
is_anchor = shape({"file": str, "function": str, "which": int, "node": int, "column": (int, None)})

_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Anchors:
    """Anchors positions in source files and finds them again. `locate` gives the path of a portable file name."""

    def __init__(self, locate: Callable[[str], str]) -> None:
        self._locate = locate
        self._parsed: dict[str, tuple[Stat | None, list[tuple[str, _Function]]]] = {}

    def anchor(self, at: Position | None) -> dict[str, Any] | None:
        """The node at a position: the function's name, which one of that name, and the node's number in it."""
        if at is None:
            return None
        functions = self._functions(at.file)
        inside = [
            (name, node) for name, node in functions if node.lineno <= at.line <= (node.end_lineno or node.lineno)
        ]
        if not inside:
            return None
        name, function = min(inside, key=lambda pair: (pair[1].end_lineno or 0) - pair[1].lineno)
        found = _node_at(function, at)
        if found is None:
            return None
        same = [node for other, node in functions if other == name]
        return {"file": at.file, "function": name, "which": same.index(function), "node": found, "column": at.column}

    def today(self, anchor: dict[str, Any]) -> Position | None:
        """Where the anchored node stands now; None if it cannot be found."""
        same = [node for name, node in self._functions(anchor["file"]) if name == anchor["function"]]
        if not 0 <= anchor["which"] < len(same):
            return None
        nodes = _nodes(same[anchor["which"]])
        if not 0 <= anchor["node"] < len(nodes):
            return None
        node = nodes[anchor["node"]]
        return Position(anchor["file"], node.lineno, None if anchor["column"] is None else node.col_offset + 1)

    def _functions(self, file: str) -> list[tuple[str, _Function]]:
        path = self._locate(file)
        seen = stat_of(path)
        if file not in self._parsed or self._parsed[file][0] != seen:
            try:
                # A record may name anything: a pipe or a device would never end.
                tree = ast.parse(Path(path).read_bytes() if Path(path).is_file() else b"")
            except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: it nests too deeply
                self._parsed[file] = (seen, [])
            else:
                self._parsed[file] = (seen, list(_walk(tree)))
        return self._parsed[file][1]


def _walk(tree: ast.AST) -> Iterator[tuple[str, _Function]]:
    """Every function with its qualified name, in the order of the source. No recursion: a long sum nests deeply."""
    waiting = [("", tree)]
    while waiting:
        prefix, node = waiting.pop()
        if isinstance(node, _Function):
            yield prefix + node.name, node
            prefix += f"{node.name}.<locals>."
        elif isinstance(node, ast.ClassDef):
            prefix += f"{node.name}."
        waiting += [(prefix, child) for child in reversed(list(ast.iter_child_nodes(node)))]


def _nodes(function: _Function) -> list[Any]:
    return [node for node in ast.walk(function) if hasattr(node, "lineno")]


def _node_at(function: _Function, at: Position) -> int | None:
    """The number of the node at a position; of the first on that line, if none begins at that column."""
    on_line = [(number, node) for number, node in enumerate(_nodes(function)) if node.lineno == at.line]
    exact = [number for number, node in on_line if at.column is not None and node.col_offset + 1 == at.column]
    return next(iter(exact or [number for number, _ in on_line]), None)
