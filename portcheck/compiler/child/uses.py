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
import builtins
import inspect
import textwrap
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Union

from . import kernels, libdevice, releases, supports, terms
from .names import Names
from .terms import RUNTIME, Term

_DEPTH = 16  # of calls that are followed
_EFFORT = 20_000  # nodes that are read for one kernel; what would take more is not told
_TYPED = {"cast": 1, "full": 2}  # functions of Triton that make values of a type → where it is among the arguments
_MAKE_TENSORS = frozenset({"program_id", "num_programs", "load", "arange"})


@dataclass(frozen=True, eq=False)
class _Thing:
    """A Python object, which a name or an attribute stands for."""

    value: Any
    through: bool = False  # is it an attribute of a module that is not the one named?


Value = Union[Term, _Thing]


@dataclass(frozen=True)
class _Arguments:
    """What a call passes."""

    positional: list[Value]
    named: dict[str, Value]
    starred: bool  # are there more of them?

    @property
    def terms(self) -> list[Term]:
        return [_term(value) for value in (*self.positional, *self.named.values())]

    def given(self, name: str, index: int) -> Term:
        """The one of that name, or else at that index."""
        if name in self.named:
            return _term(self.named[name])
        return None if self.starred or index >= len(self.positional) else _term(self.positional[index])


class _TooMuch(Exception):
    """Reading on would take too long."""


@dataclass
class _Frame:
    """One function that is being read."""

    place: list[Any]  # file, line, column of its `def`
    names: Mapping[str, Any]  # globals and variables of enclosing functions
    annotated: frozenset[str]  # globals that are constexprs by their annotation
    locals: dict[str, Value] = field(default_factory=dict)


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


class _Reader:
    """Reads one kernel."""

    def __init__(self, tree: Callable[[Any], ast.FunctionDef], names: Names, maps: libdevice.Maps) -> None:
        self.found: list[dict[str, Any]] = []
        self._tree, self._names, self._maps = tree, names, maps
        self._frames: list[_Frame] = []
        self._when: list[tuple[Term, bool]] = []
        self._effort = 0

    # --- functions ---

    def call(self, function: Any, arguments: dict[str, Value]) -> None:
        """Read a function that is called with these arguments."""
        tree = self._tree(function)
        plain = function.fn
        annotations = plain.__globals__.get("__annotations__", {})
        frame = _Frame(
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

    def _bind(self, function: Any, given: _Arguments) -> dict[str, Value]:
        """Parameter → the argument's value, where it can be told."""
        names = [p.arg for p in _parameters(self._tree(function))]
        bound: dict[str, Value] = dict.fromkeys(names)
        if given.starred:
            return bound
        for name, parameter in function.signature.parameters.items():
            if parameter.default is not inspect.Parameter.empty and name in bound:
                bound[name] = _lifted(parameter.default)
        bound.update(zip(names, given.positional))
        bound.update({name: value for name, value in given.named.items() if name in bound})
        return bound

    # --- statements ---

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
        self._assign(node.target, terms.computed(node.op, _term(left), _term(self._value(node.value))))

    def _assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self._frame.locals[target.id] = terms.assigned(_term(value))
        elif isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                self._assign(element, None)

    def _read_if(self, node: ast.If) -> None:
        test = _term(self._value(node.test))
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
            bounds = [_term(self._value(a)) for a in node.iter.args]
            for keyword in node.iter.keywords:
                self._value(keyword.value)
            runtime = isinstance(loop, _Thing) and (loop.value is range or _is_tritons(loop.value, "range"))
            if isinstance(loop, _Thing) and _is_tritons(loop.value, "static_range") and not node.iter.keywords:
                started = _is_not_empty(bounds)
        self._forget(node)
        if isinstance(node.target, ast.Name):
            self._frame.locals[node.target.id] = RUNTIME if runtime else None
        with self._if(["value", True] if runtime else started, True):
            self._block(node.body)
        self._forget(node)

    def _read_while(self, node: ast.While) -> None:
        self._forget(node)
        test = _term(self._value(node.test))
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

    # --- expressions ---

    def _value(self, node: ast.expr) -> Value:
        self._tire()
        read = getattr(self, "_value_" + type(node).__name__.lower(), None)
        return read(node) if read is not None else None

    def _value_constant(self, node: ast.Constant) -> Value:
        return terms.constant(node.value)

    def _value_name(self, node: ast.Name) -> Value:
        frame = self._frame
        if node.id in frame.locals:
            return frame.locals[node.id]
        if node.id in frame.names:
            value = frame.names[node.id]
            if node.id in frame.annotated and terms.constant(value) is not None:
                return terms.constant(value)
            return _lifted(value) if not isinstance(value, (bool, int, float, str)) else None
        return _Thing(getattr(builtins, node.id)) if hasattr(builtins, node.id) else None

    def _value_attribute(self, node: ast.Attribute) -> Value:
        return self._attribute(self._value(node.value), node.attr)

    def _attribute(self, base: Value, name: str) -> Value:
        if isinstance(base, _Thing) and isinstance(base.value, types.ModuleType):
            if name not in vars(base.value):
                return None
            found = _lifted(vars(base.value)[name])
            own = base.value.__name__ == libdevice.STUBS
            return replace(found, through=base.through or not own) if isinstance(found, _Thing) else found
        return RUNTIME if base == RUNTIME and name == "T" else None

    def _value_unaryop(self, node: ast.UnaryOp) -> Value:
        value = _term(self._value(node.operand))
        if isinstance(node.op, ast.Not):
            return terms.opposite(value)
        if value is not None and value[0] == "value" and isinstance(node.op, ast.USub):
            return terms.constant(-value[1]) if type(value[1]) in (int, float) else None
        return RUNTIME if value == RUNTIME else None

    def _value_binop(self, node: ast.BinOp) -> Value:
        left, right = _term(self._value(node.left)), _term(self._value(node.right))
        return terms.computed(node.op, left, right)

    def _value_boolop(self, node: ast.BoolOp) -> Value:
        """Later operands are compiled if those before them leave it open: in older releases always."""
        values: list[Term] = []
        kept = len(self._when)
        for operand in node.values:
            values.append(_term(self._value(operand)))
            self._when.append((values[-1], isinstance(node.op, ast.And)))
        del self._when[kept:]
        return terms.joined(node.op, values)

    def _value_compare(self, node: ast.Compare) -> Value:
        values = [_term(self._value(operand)) for operand in (node.left, *node.comparators[:1])]
        return terms.compared(node.ops[0], *values) if len(node.ops) == 1 else None

    def _value_ifexp(self, node: ast.IfExp) -> Value:
        test = _term(self._value(node.test))
        certain = terms.truth(test)
        if certain is not None:
            return self._value(node.body if certain else node.orelse)
        with self._if(test, True):
            yes = _term(self._value(node.body))
        with self._if(test, False):
            no = _term(self._value(node.orelse))
        return terms.chosen(test, yes, no)

    def _value_tuple(self, node: ast.Tuple) -> Value:
        for element in node.elts:
            self._value(element)
        return None

    _value_list = _value_tuple

    def _value_subscript(self, node: ast.Subscript) -> Value:
        base = self._value(node.value)
        self._value(node.slice)
        return RUNTIME if base == RUNTIME else None

    def _value_slice(self, node: ast.Slice) -> Value:
        for part in (node.lower, node.upper, node.step):
            if part is not None:
                self._value(part)
        return None

    def _value_starred(self, node: ast.Starred) -> Value:
        self._value(node.value)
        return None

    def _value_call(self, node: ast.Call) -> Value:
        method = node.func if isinstance(node.func, ast.Attribute) else None
        base = self._value(method.value) if method else None
        function = self._attribute(base, method.attr) if method else self._value(node.func)
        given = self._arguments(node)
        if isinstance(function, _Thing):
            if not isinstance(function.value, kernels.jit_kind()):
                return self._call_thing(function, given, node)
            return self._follow(function.value, given, node)
        if method and not isinstance(base, _Thing):
            return self._call_method(base, method.attr, given, node)
        return None

    def _arguments(self, node: ast.Call) -> _Arguments:
        starred = any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
        named = [(k.arg, self._value(k.value)) for k in node.keywords]
        return _Arguments([self._value(a) for a in node.args], {n: v for n, v in named if n is not None}, starred)

    def _call_thing(self, function: _Thing, given: _Arguments, node: ast.Call) -> Value:
        called = function.value
        if libdevice.is_stub(called):
            if not function.through or releases.current().maps_attributes:
                self._note_stub(called, node.func)
            return RUNTIME
        if guard := supports.guard_name(called):
            numbers = [t[1] for t in given.terms if t is not None and t[0] == "value" and type(t[1]) is int]
            plain = not given.named and not given.starred and len(numbers) == len(given.positional)
            return ["guard", guard, numbers] if plain else None
        name = getattr(called, "__name__", "")
        if not _is_tritons(called, name):
            return None
        if name == "constexpr":
            return given.positional[0] if len(given.positional) == 1 else None
        if name in _TYPED:
            self._note_type(given.given("dtype", _TYPED[name]), node)
            return RUNTIME
        return RUNTIME if name in _MAKE_TENSORS or RUNTIME in given.terms else None

    def _call_method(self, base: Value, name: str, given: _Arguments, node: ast.Call) -> Value:
        """Of a tensor, as far as one can tell: `to` is the one that makes a value of a type."""
        if name == "to":
            self._note_type(given.given("dtype", 0), node)
        return RUNTIME if base == RUNTIME else None

    def _follow(self, function: Any, given: _Arguments, node: ast.Call) -> Value:
        """Into a function that is called; into Triton's own library only with what may be a type."""
        if (function.fn.__module__ or "").startswith("triton.language"):
            if any(t is not None and t[0] in ("dtype", "param", "assigned", "if") for t in given.terms):
                noted = len(self.found)
                self._call(function, given)
                for use in self.found[noted:]:  # nobody looks for the place there
                    use["at"] = self._place(node)
            return RUNTIME if RUNTIME in given.terms else None
        self._call(function, given)
        return None

    def _call(self, function: Any, given: _Arguments) -> None:
        if len(self._frames) >= _DEPTH:
            raise _TooMuch
        self.call(function, self._bind(function, given))

    # --- what is found ---

    def _note_stub(self, stub: Any, node: ast.AST) -> None:
        if refused := libdevice.refusals(stub, self._maps):
            self._note({"refused": refused, "dtype": None}, node)

    def _note_type(self, dtype: Term, node: ast.AST) -> None:
        if dtype is not None and (dtype[0] != "dtype" or dtype[1].startswith("fp8")):
            self._note({"refused": {}, "dtype": dtype}, node)

    def _note(self, use: dict[str, Any], node: ast.AST) -> None:
        """Note a use, unless it cannot be told whether the compiler comes here."""
        when = [(term, wanted) for term, wanted in self._when if terms.truth(term) is not wanted and term != RUNTIME]
        if all(term is not None and terms.truth(term) is None for term, _ in when):
            known = {**use, "when": [list(condition) for condition in when]}
            if not any({**known, "at": other["at"]} == other for other in self.found):
                self.found.append({**known, "at": self._place(node)})

    def _place(self, node: ast.AST) -> list[Any]:
        file, line, column = self._frame.place
        if isinstance(node, ast.FunctionDef):
            return [file, line, column]
        return [file, line + getattr(node, "lineno", 1) - 1, column + getattr(node, "col_offset", 0)]

    # --- the rest ---

    @property
    def _frame(self) -> _Frame:
        return self._frames[-1]

    @contextmanager
    def _if(self, test: Term, wanted: bool) -> Iterator[None]:
        self._when.append((test, wanted))
        yield
        self._when.pop()

    def _tire(self) -> None:
        self._effort += 1
        if self._effort > _EFFORT:
            raise _TooMuch


def _lifted(value: Any) -> Value:
    """What an object of Python's is to Triton: constants are terms, the rest stays what it is."""
    from triton.language import core

    if isinstance(value, core.constexpr):
        return _lifted(value.value)
    if type(value) is core.dtype:
        return ["dtype", value.name]
    return terms.constant(value) or _Thing(value)


def _term(value: Value) -> Term:
    return None if isinstance(value, _Thing) else value


def _parameters(tree: ast.FunctionDef) -> list[ast.arg]:
    return [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]


def _is_not_empty(bounds: list[Term]) -> Term:
    if len(bounds) == 1:
        return terms.compared(ast.Lt(), ["value", 0], bounds[0])
    return terms.compared(ast.Lt(), bounds[0], bounds[1]) if len(bounds) == 2 else None


def _is_tritons(found: Any, name: str) -> bool:
    """Is it the function or class of that name in Triton's language?"""
    home = getattr(found, "__module__", None) or ""
    return bool(name) and getattr(found, "__name__", None) == name and home.startswith("triton.language")


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
