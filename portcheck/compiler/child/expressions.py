"""Reading expressions of a kernel: what their values are, as far as it can be told, and which uses they hold."""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Union

from . import kernels, libdevice, releases, supports, terms
from .names import Names
from .terms import RUNTIME, Term

_EFFORT = 20_000  # nodes that are read for one kernel; what would take more is not told
_TYPED = {"cast": 1, "full": 2}  # functions of Triton that make values of a type → where it is among the arguments
_MAKE_TENSORS = frozenset({"program_id", "num_programs", "load", "arange"})


@dataclass(frozen=True, eq=False)
class Thing:
    """A Python object, which a name or an attribute stands for."""

    value: Any
    through: bool = False  # is it an attribute of a module that is not the one named?


Value = Union[Term, Thing]


@dataclass(frozen=True)
class Arguments:
    """What a call passes."""

    positional: list[Value]
    named: dict[str, Value]
    starred: bool  # are there more of them?

    @property
    def terms(self) -> list[Term]:
        return [term_of(value) for value in (*self.positional, *self.named.values())]

    def given(self, name: str, index: int) -> Term:
        """The one of that name, or else at that index."""
        if name in self.named:
            return term_of(self.named[name])
        return None if self.starred or index >= len(self.positional) else term_of(self.positional[index])


class TooMuch(Exception):
    """Reading on would take too long."""


@dataclass
class Frame:
    """One function that is being read."""

    place: list[Any]  # file, line, column of its `def`
    names: Mapping[str, Any]  # globals and variables of enclosing functions
    annotated: frozenset[str]  # globals that are constexprs by their annotation
    locals: dict[str, Value] = field(default_factory=dict)


class Expressions:
    """Reads expressions of one kernel, and of functions that it calls."""

    def __init__(self, names: Names, maps: libdevice.Maps) -> None:
        self.found: list[dict[str, Any]] = []
        self._names, self._maps = names, maps
        self._frames: list[Frame] = []
        self._when: list[tuple[Term, bool]] = []
        self._effort = 0

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
            return lifted(value) if not isinstance(value, (bool, int, float, str)) else None
        return Thing(getattr(builtins, node.id)) if hasattr(builtins, node.id) else None

    def _value_attribute(self, node: ast.Attribute) -> Value:
        return self._attribute(self._value(node.value), node.attr)

    def _attribute(self, base: Value, name: str) -> Value:
        if isinstance(base, Thing) and isinstance(base.value, types.ModuleType):
            if name not in vars(base.value):
                return None
            found = lifted(vars(base.value)[name])
            own = base.value.__name__ == libdevice.STUBS
            return replace(found, through=base.through or not own) if isinstance(found, Thing) else found
        return RUNTIME if base == RUNTIME and name == "T" else None

    def _value_unaryop(self, node: ast.UnaryOp) -> Value:
        value = term_of(self._value(node.operand))
        if isinstance(node.op, ast.Not):
            return terms.opposite(value)
        if value is not None and value[0] == "value" and isinstance(node.op, ast.USub):
            return terms.constant(-value[1]) if type(value[1]) in (int, float) else None
        return RUNTIME if value == RUNTIME else None

    def _value_binop(self, node: ast.BinOp) -> Value:
        left, right = term_of(self._value(node.left)), term_of(self._value(node.right))
        return terms.computed(node.op, left, right)

    def _value_boolop(self, node: ast.BoolOp) -> Value:
        """Later operands are compiled if those before them leave it open: in older releases always."""
        values: list[Term] = []
        kept = len(self._when)
        for operand in node.values:
            values.append(term_of(self._value(operand)))
            self._when.append((values[-1], isinstance(node.op, ast.And)))
        del self._when[kept:]
        return terms.joined(node.op, values)

    def _value_compare(self, node: ast.Compare) -> Value:
        values = [term_of(self._value(operand)) for operand in (node.left, *node.comparators[:1])]
        return terms.compared(node.ops[0], *values) if len(node.ops) == 1 else None

    def _value_ifexp(self, node: ast.IfExp) -> Value:
        test = term_of(self._value(node.test))
        certain = terms.truth(test)
        if certain is not None:
            return self._value(node.body if certain else node.orelse)
        with self._if(test, True):
            yes = term_of(self._value(node.body))
        with self._if(test, False):
            no = term_of(self._value(node.orelse))
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
        if isinstance(function, Thing):
            if not isinstance(function.value, kernels.jit_kind()):
                return self._call_thing(function, given, node)
            return self._follow(function.value, given, node)
        if method and not isinstance(base, Thing):
            return self._call_method(base, method.attr, given, node)
        return None

    def _arguments(self, node: ast.Call) -> Arguments:
        starred = any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
        named = [(k.arg, self._value(k.value)) for k in node.keywords]
        return Arguments([self._value(a) for a in node.args], {n: v for n, v in named if n is not None}, starred)

    def _call_thing(self, function: Thing, given: Arguments, node: ast.Call) -> Value:
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
        if not is_tritons(called, name):
            return None
        if name == "constexpr":
            return given.positional[0] if len(given.positional) == 1 else None
        if name in _TYPED:
            self._note_type(given.given("dtype", _TYPED[name]), node)
            return RUNTIME
        return RUNTIME if name in _MAKE_TENSORS or RUNTIME in given.terms else None

    def _call_method(self, base: Value, name: str, given: Arguments, node: ast.Call) -> Value:
        """Of a tensor, as far as one can tell: `to` is the one that makes a value of a type."""
        if name == "to":
            self._note_type(given.given("dtype", 0), node)
        return RUNTIME if base == RUNTIME else None

    def _follow(self, function: Any, given: Arguments, node: ast.Call) -> Value:
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

    def _call(self, function: Any, given: Arguments) -> None:
        """Read a function that is called."""
        raise NotImplementedError

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

    @property
    def _frame(self) -> Frame:
        return self._frames[-1]

    @contextmanager
    def _if(self, test: Term, wanted: bool) -> Iterator[None]:
        self._when.append((test, wanted))
        yield
        self._when.pop()

    def _tire(self) -> None:
        self._effort += 1
        if self._effort > _EFFORT:
            raise TooMuch


def lifted(value: Any) -> Value:
    """What an object of Python's is to Triton: constants are terms, the rest stays what it is."""
    from triton.language import core

    if isinstance(value, core.constexpr):
        return lifted(value.value)
    if type(value) is core.dtype:
        return ["dtype", value.name]
    return terms.constant(value) or Thing(value)


def term_of(value: Value) -> Term:
    return None if isinstance(value, Thing) else value


def is_tritons(found: Any, name: str) -> bool:
    """Is it the function or class of that name in Triton's language?"""
    home = getattr(found, "__module__", None) or ""
    return bool(name) and getattr(found, "__name__", None) == name and home.startswith("triton.language")
