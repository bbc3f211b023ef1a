"""A kernel as a file of its own: its source, the functions it reaches, and the values of the names in them.

What cannot be written down as Python makes the extract incomplete, with the reason. Whether a complete one behaves like
the original shows when it is run; nobody has to believe it.
"""

from __future__ import annotations

import ast
import inspect
import math
import os
import textwrap
import types
from typing import Any

from . import code, kernels, kinds, releases

_PLAIN = (bool, int, str, bytes, type(None), type(Ellipsis))
_FUTURE_ANNOTATIONS = 0x1000000  # CO_FUTURE_ANNOTATIONS, which a function's code object is flagged with
# The class of a decorated function → how its decorator is written.
_DECORATORS = {
    "JITFunction": "triton.jit",
    "GluonJITFunction": "triton.experimental.gluon.jit",
    "ConstexprFunction": "triton.constexpr_function",
}


class Incomplete(Exception):
    """Something that a kernel reaches cannot be written down."""


def source(given: Any) -> dict[str, Any]:
    """What makes an `ASTSource` again, as Python expressions, and the kernel's extract if there is one."""
    found: dict[str, Any] = {
        "class": [type(given).__module__, type(given).__name__],
        "constants_are": releases.current().constants,
        "entries": {},  # name in the expressions → [module, qualified name, file] of the function
        "text": None,
        "incomplete": None,
    }
    extract = Extract()
    try:
        names = {id(given.fn): given.fn.__name__}
        expressions = Expressions(lambda function: _entry(function, names, found["entries"]))
        found["kernel"] = "kernel." + given.fn.__name__
        _entry(given.fn, names, found["entries"])
        found["signature"] = expressions.of(dict(given.signature), "signature")
        found["constants"] = expressions.of(dict(given.constants), "constants")
        found["attrs"] = _attributes(given.attrs, expressions)
    except Incomplete as error:
        found["unwritable"] = str(error)
        return found
    try:
        for function in [given.fn, *expressions.functions]:
            extract.visit(function)
        found["text"] = extract.text()
    except (Incomplete, OSError, SyntaxError, TypeError) as error:
        found["incomplete"] = str(error)
    return found


def is_literal(value: Any) -> bool:
    """Does Python's repr give the value back?"""
    if isinstance(value, (tuple, list, dict, set, frozenset)) and type(value) in (tuple, list, dict):
        parts = [*value, *value.values()] if isinstance(value, dict) else list(value)
        return all(map(is_literal, parts))
    return type(value) in _PLAIN or (type(value) is float and math.isfinite(value))


def _entry(function: Any, names: dict[int, str], entries: dict[str, list[str]]) -> str:
    """The expression for a function that a launch is given."""
    plain = function.fn
    name = names.setdefault(id(function), plain.__name__)
    home = [plain.__module__, plain.__qualname__, os.path.abspath(plain.__code__.co_filename)]
    if entries.setdefault(name, home) != home:
        raise Incomplete("two functions are called %s" % name)
    return "kernel." + name


def _attributes(attrs: Any, expressions: Expressions) -> list[str]:
    """[the module to import, if any, the expression]: up to 3.2 they are an object of Triton's, later a dict."""
    if isinstance(attrs, dict):
        return ["", expressions.of(attrs, "attrs")]
    from triton.compiler import compiler

    home = compiler.AttrsDescriptor.__module__  # of the base class, which knows those of backends by their names
    return [home, "%s.AttrsDescriptor.from_dict(%s)" % (home, expressions.of(attrs.to_dict(), "attrs"))]


class Expressions:
    """Values as Python expressions in terms of `triton`. `name` gives the expression for a decorated function."""

    def __init__(self, name: Any) -> None:
        self._name = name
        self.functions: list[Any] = []  # that were named

    def of(self, value: Any, what: str) -> str:
        """The expression for `value`; `what` names it where there is none."""
        import triton.language as tl

        if is_literal(value):
            return repr(value)
        if type(value) is float:
            return "float('%s')" % value
        if isinstance(value, tl.constexpr) and type(value) is tl.constexpr:
            return "triton.language.constexpr(%s)" % self.of(value.value, what)
        if type(value) is tl.dtype:
            return "triton.language.dtype(%r)" % value.name
        if type(value) in (tuple, list):
            inner = ", ".join(self.of(part, what) for part in value)
            return "[%s]" % inner if isinstance(value, list) else "(%s%s)" % (inner, "," if len(value) == 1 else "")
        if type(value) is dict:
            pairs = ("%s: %s" % (self.of(k, what), self.of(v, what)) for k, v in value.items())
            return "{%s}" % ", ".join(pairs)
        function = value if kernels.is_decorated(value) else kernels.unwrap(value)[0]
        if function is not None:
            self.functions.append(function)
            return str(self._name(function))
        raise Incomplete("%s is of type %s, which cannot be written down" % (what, type(value).__qualname__))


class Extract:
    """The file that is being made: what it imports, and what it defines in an order in which it can be run."""

    def __init__(self) -> None:
        self._imports: dict[str, None] = {"import triton": None, "import triton.language": None}
        self._lines: list[str] = []
        self._bound: dict[str, Any] = {"triton": "import triton"}  # name → what it stands for, to be told apart
        self._seen: set[int] = set()
        self._future = False

    def text(self) -> str:
        """The whole file."""
        head = ["from __future__ import annotations\n"] if self._future else []
        return "\n".join([*head, *self._imports, "", *self._lines]).rstrip() + "\n"

    def visit(self, function: Any) -> str:
        """Define a function, and before it all that it mentions; returns its name."""
        plain = getattr(function, "fn", function)
        name = str(plain.__name__)
        if id(function) in self._seen:
            return name
        self._seen.add(id(function))
        self._claim(name, id(function))
        self._future = self._future or bool(plain.__code__.co_flags & _FUTURE_ANNOTATIONS)
        text = self._source(function, plain)
        self._bind_all(plain, text, name)
        self._lines += ["", *self._decorator(function, plain), text.rstrip(), ""]
        return name

    def _source(self, function: Any, plain: Any) -> str:
        """From `def` on: that is what Triton compiles, and lines are counted from there."""
        kept = getattr(function, releases.current().source, None)
        text = kept if isinstance(kept, str) else textwrap.dedent(inspect.getsource(plain))
        tree = ast.parse(text).body
        if len(tree) != 1 or not isinstance(tree[0], ast.FunctionDef) or tree[0].name != plain.__name__:
            raise Incomplete("%s is no plain function" % plain.__qualname__)
        return "\n".join(text.splitlines()[tree[0].lineno - 1 :])

    def _decorator(self, function: Any, plain: Any) -> list[str]:
        if function is plain:
            return []
        written = _DECORATORS.get(type(function).__name__)
        if written is None or not kinds.of_triton(type(function).__module__):
            raise Incomplete("%s is a %s" % (plain.__qualname__, type(function).__name__))
        module = written.rpartition(".")[0]
        self._imports["import %s" % module] = None
        flags = [flag for flag in ("noinline", "debug") if getattr(function, flag, None)]
        return ["@%s%s" % (written, "(%s)" % ", ".join(f + "=True" for f in flags) if flags else "")]

    def _bind_all(self, plain: Any, text: str, own: str) -> None:
        scope = {**plain.__globals__, **inspect.getclosurevars(plain).nonlocals}
        mentions = code.in_source(text)
        local = set(plain.__code__.co_varnames) - code.in_bytecode(plain.__code__).names
        for name in sorted(mentions.names - local):
            if name in scope and not (name == own and scope[name] is plain):
                self._bind(name, scope[name], [chain for chain in mentions.chains if chain[0] == name])

    def _bind(self, name: str, value: Any, chains: list[code.Chain]) -> None:
        """Have `name` stand for `value`; of a module of the user's, as far as the chains of attributes go."""
        if isinstance(value, types.ModuleType):
            self._bind_module(name, value, chains)
        elif _has_place(value):
            self._bind_by_place(name, value)
        elif isinstance(value, types.FunctionType):
            self._alias(name, self.visit(value))
        else:
            written = Expressions(self.visit).of(value, name)
            if written == name:  # a function that is called so
                return
            self._define(name, written)

    def _bind_module(self, name: str, module: types.ModuleType, chains: list[code.Chain]) -> None:
        if kinds.of_triton(module.__name__) or module.__name__ in kinds.PURE:
            alias = "" if module.__name__ == name else " as %s" % name
            self._import(name, "import %s%s" % (module.__name__, alias))
            return
        if kinds.of_library(module) or not chains or any(len(chain) < 2 for chain in chains):
            raise Incomplete("it needs the module %s" % module.__name__)
        self._imports["import types"] = None
        self._define(name, "types.ModuleType(%r)" % name)
        for attribute in sorted({chain[1] for chain in chains}):
            if not hasattr(module, attribute):
                continue  # the front end will miss it as well
            deeper = [chain[1:] for chain in chains if chain[1] == attribute]
            self._bind(attribute, getattr(module, attribute), deeper)
            self._lines.append("%s.%s = %s" % (name, attribute, attribute))

    def _bind_by_place(self, name: str, value: Any) -> None:
        """Something that is imported from Triton, or from among Python's builtins."""
        plain = getattr(value, "fn", value)
        home, called = str(plain.__module__), str(plain.__qualname__)
        known = kinds.of_triton(home) or home in kinds.PURE
        if not known or "." in called or kinds.found_at(home, called) is not value:
            raise Incomplete("it needs %s.%s" % (home, called))
        self._import(name, "from %s import %s%s" % (home, called, "" if called == name else " as %s" % name))

    def _import(self, name: str, line: str) -> None:
        self._claim(name, line)
        self._imports[line] = None

    def _alias(self, name: str, function: str) -> None:
        if name != function:
            self._define(name, function)

    def _define(self, name: str, written: str) -> None:
        if self._bound.get(name) != written:
            self._claim(name, written)
            self._lines.append("%s = %s" % (name, written))

    def _claim(self, name: str, what: Any) -> None:
        if self._bound.setdefault(name, what) != what:
            raise Incomplete("two different things are called %s" % name)


def _has_place(value: Any) -> bool:
    """Is it a class, something written in C, or a function of Triton's?"""
    if isinstance(value, (type, types.BuiltinFunctionType)):
        return True
    is_function = isinstance(value, types.FunctionType) or kernels.is_decorated(value)
    return is_function and kinds.of_triton(value.__module__ or "")
