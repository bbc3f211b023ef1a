"""What a kernel uses that not every target has, and when: functions of libdevice that a backend lacks, and fp8 types.

This reads the sources of a kernel and of the functions that it calls as Triton's code generator does, with the values
that names have now, and notes on the way under which conditions a place is compiled. Nothing is compiled. A condition
that it cannot tell makes all that depends on it untold: what is said has to be right, and need not be everything.

How Triton decides what it compiles, the same from 3.0 to 3.9: an `if` on a constant compiles one branch, any other
both; `return` ends the block that it stands in, and nothing else; a number that is assigned to a name becomes a value
on the device unless the name is annotated as a constexpr.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from collections.abc import Callable, Sequence
from typing import Any

from . import kernels, libdevice, releases, terms
from .expressions import Arguments, Expressions, Frame, Thing, TooMuch, Value, is_tritons, lifted, term_of
from .names import Names
from .terms import RUNTIME, Term

_DEPTH = 16  # of calls that are followed


class Uses:
    """Tells what kernels use. One process's: sources are parsed once."""

    def __init__(self, names: Names, maps: libdevice.Maps) -> None:
        self._names, self._maps = names, maps
        self._trees: dict[int, tuple[Any, ast.FunctionDef]] = {}

    def of(self, kernel: Any) -> list[dict[str, Any]]:
        """The uses in a kernel, in the order in which they are compiled.

        Each has `when`, conditions as [term, whether it has to be true]; `at`, the place; and either `refused`, backend
        → what Triton says there, or `dtype`, the term of a type.
        """
        reader = _Reader(self._tree, self._names, self._maps)
        try:
            reader.call(kernel, {p.arg: ["param", p.arg] for p in _parameters(self._tree(kernel))})
        except Exception:  # objects of users may do anything when they are looked at; then nothing is said
            return []
        return reader.found

    def _tree(self, function: Any) -> ast.FunctionDef:
        if id(function) not in self._trees:
            source = textwrap.dedent(getattr(function, releases.current().source))
            tree = next(n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef))
            self._trees[id(function)] = (function, tree)
        return self._trees[id(function)][1]


class _Reader(Expressions):
    """Reads one kernel."""

    def __init__(self, tree: Callable[[Any], ast.FunctionDef], names: Names, maps: libdevice.Maps) -> None:
        super().__init__(names, maps)
        self._tree = tree

    def call(self, function: Any, arguments: dict[str, Value]) -> None:
        """Read a function that is called with these arguments."""
        tree = self._tree(function)
        plain = function.fn
        annotations = plain.__globals__.get("__annotations__", {})
        frame = Frame(
            kernels.place(function, self._names),
            {**plain.__globals__, **_enclosed(plain)},
            frozenset(name for name, annotation in annotations.items() if _is_constexpr(annotation)),
            arguments,
        )
        self._frames.append(frame)
        if releases.current().maps_globals:
            for value in frame.names.values():
                if libdevice.is_stub(value):
                    self._note_stub(value, tree)
        self._block(tree.body)
        self._frames.pop()

    def _bind(self, function: Any, given: Arguments) -> dict[str, Value]:
        """Parameter → the argument's value, where it can be told."""
        names = [p.arg for p in _parameters(self._tree(function))]
        bound: dict[str, Value] = dict.fromkeys(names)
        if given.starred:
            return bound
        for name, parameter in function.signature.parameters.items():
            if parameter.default is not inspect.Parameter.empty and name in bound:
                bound[name] = lifted(parameter.default)
        bound.update(zip(names, given.positional))
        bound.update({name: value for name, value in given.named.items() if name in bound})
        return bound

    def _call(self, function: Any, given: Arguments) -> None:
        if len(self._frames) >= _DEPTH:
            raise TooMuch
        self.call(function, self._bind(function, given))

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self._tire()
            read = getattr(self, "_read_" + type(statement).__name__.lower(), None)
            if read is not None:
                read(statement)
            if isinstance(statement, ast.Return):
                break

    def _read_expr(self, node: ast.Expr) -> None:
        self._value(node.value)

    def _read_return(self, node: ast.Return) -> None:
        if node.value is not None:
            self._value(node.value)

    def _read_assign(self, node: ast.Assign) -> None:
        elements = [self._value(e) for e in node.value.elts] if isinstance(node.value, ast.Tuple) else None
        value = self._value(node.value) if elements is None else None
        for target in node.targets:
            if elements is not None and isinstance(target, ast.Tuple) and len(target.elts) == len(elements):
                for name, element in zip(target.elts, elements):
                    self._assign(name, element)
            else:
                self._assign(target, value)

    def _read_annassign(self, node: ast.AnnAssign) -> None:
        value = self._value(node.value) if node.value is not None else None
        if isinstance(node.target, ast.Name) and _is_constexpr(ast.unparse(node.annotation)):
            self._frame.locals[node.target.id] = value
        else:
            self._assign(node.target, value)

    def _read_augassign(self, node: ast.AugAssign) -> None:
        left = self._value(node.target) if isinstance(node.target, ast.Name) else None
        self._assign(node.target, terms.computed(node.op, term_of(left), term_of(self._value(node.value))))

    def _assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self._frame.locals[target.id] = terms.assigned(term_of(value))
        elif isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                self._assign(element, None)

    def _read_if(self, node: ast.If) -> None:
        test = term_of(self._value(node.test))
        certain = terms.truth(test)
        if certain is not None:
            self._block(node.body if certain else node.orelse)
            return
        before = self._frame.locals
        after = []
        for branch, wanted in ((node.body, True), (node.orelse, False)):
            self._frame.locals = dict(before)
            with self._if(test, wanted):
                self._block(branch)
            after.append(self._frame.locals)
        yes, no = after
        self._frame.locals = {n: yes.get(n) if yes.get(n) == no.get(n) else None for n in {**yes, **no}}

    def _read_for(self, node: ast.For) -> None:
        started: Term = None
        runtime = False
        if isinstance(node.iter, ast.Call):
            loop = self._value(node.iter.func)
            bounds = [term_of(self._value(a)) for a in node.iter.args]
            for keyword in node.iter.keywords:
                self._value(keyword.value)
            runtime = isinstance(loop, Thing) and (loop.value is range or is_tritons(loop.value, "range"))
            if isinstance(loop, Thing) and is_tritons(loop.value, "static_range") and not node.iter.keywords:
                started = _is_not_empty(bounds)
        self._forget(node)
        if isinstance(node.target, ast.Name):
            self._frame.locals[node.target.id] = RUNTIME if runtime else None
        with self._if(["value", True] if runtime else started, True):
            self._block(node.body)
        self._forget(node)

    def _read_while(self, node: ast.While) -> None:
        self._forget(node)
        test = term_of(self._value(node.test))
        with self._if(["value", True] if test == RUNTIME else None, True):
            self._block(node.body)
        self._forget(node)

    def _read_with(self, node: ast.With) -> None:
        for item in node.items:
            self._value(item.context_expr)
        self._forget(node)
        with self._if(None, True):
            self._block(node.body)
        self._forget(node)

    def _forget(self, node: ast.stmt) -> None:
        """A loop may have gone round before: nothing is known of the names that it assigns to."""
        for child in ast.walk(node):
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                self._frame.locals[child.id] = None


def _parameters(tree: ast.FunctionDef) -> list[ast.arg]:
    return [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]


def _is_not_empty(bounds: list[Term]) -> Term:
    if len(bounds) == 1:
        return terms.compared(ast.Lt(), ["value", 0], bounds[0])
    return terms.compared(ast.Lt(), bounds[0], bounds[1]) if len(bounds) == 2 else None


def _is_constexpr(annotation: Any) -> bool:
    """Is it `tl.constexpr`, however it is written?"""
    written = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return written.strip("'\"").rpartition(".")[2] == "constexpr"


def _enclosed(function: types.FunctionType) -> dict[str, Any]:
    """Variables of enclosing functions, those that have a value."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            continue
    return found
