"""Encoding one function that a kernel reaches: its code, its flags and defaults, and the value of every name in it."""

from __future__ import annotations

import builtins
import enum
import hashlib
import inspect
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import code, kernels, kinds, releases

# Builtins through which code can reach what no walk can see.
_REFLECTION = frozenset(
    "globals locals vars getattr setattr delattr eval exec compile open input dir __import__ __builtins__".split()
)
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
_FLAGS = (
    "noinline",
    "debug",
    "_repr",
    "version",
    "do_not_specialize",
    "do_not_specialize_on_alignment",
    "_fn_name",
    "__name__",
    "__qualname__",
    "__module__",
    "module",
    "arg_names",
    "constexprs",
)


@dataclass
class Reached:
    """One function that a kernel reaches."""

    label: str
    digest: str
    values: dict[str, str] = field(default_factory=dict)  # label → digest of what its names stand for
    calls: list[int] = field(default_factory=list)  # ids of further functions
    unknown: list[str] = field(default_factory=list)  # what could not be encoded


class Reader:
    """Encodes one function, noting what it calls and what it could not encode."""

    def __init__(self, visit: Callable[[Any], str], found: Reached, function: Any) -> None:
        self._visit, self._found, self._function = visit, found, function
        self._inside: list[int] = []  # ids of the containers that are being encoded
        self._scope = dict(function.__globals__)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            try:
                self._scope[name] = cell.cell_contents
            except ValueError:  # the cell is still empty
                self._note("variable %s of %s has no value yet" % (name, found.label))

    def decorated(self, jit: Any) -> str:
        """A function that Triton compiles: normalised source, flags, defaults and annotations."""
        kind, release = type(jit), releases.current()
        if not _is_itself(kind) or getattr(jit, "__globals__", self._function.__globals__) is not (
            self._function.__globals__
        ):
            self._unknown(jit, jit.__name__)
        source = code.normal(getattr(jit, release.source))
        self._mentions(code.in_source(source))
        flags = [(name, self._value(self._flag(jit, name), name)) for name in _FLAGS]
        name = "%s.%s" % (self._function.__module__, self._function.__qualname__)
        kind_name = "%s.%s" % (kind.__module__, kind.__qualname__)
        own = self._attributes(jit)
        return repr((kind_name, name, source, flags, own, self._parameters(jit), self._defaults()))

    def _flag(self, jit: Any, name: str) -> Any:
        return releases.current().user_repr(jit) if name == "_repr" else getattr(jit, name, None)

    def plain(self, function: Any) -> str:
        """A Python function that runs while compiling: its bytecode, which has no comments and no lines."""
        mentions = code.in_bytecode(self._function.__code__)
        self._mentions(mentions)
        if mentions.imports:
            self._note("an import inside %s" % self._found.label)
        own = self._value(vars(self._function), "attributes")
        if function is not self._function:
            own += self._attributes(function)
        return repr((self._function.__qualname__, code.text_of(self._function.__code__), own, self._defaults()))

    def _defaults(self) -> str:
        defaults = (self._function.__defaults__, self._function.__kwdefaults__)
        return self._value(defaults, "defaults")

    def _parameters(self, jit: Any) -> list[Any]:
        """As Triton noted them when it decorated the function, and as it will bind them."""
        noted = [
            (
                p.name,
                str(p.annotation),
                bool(p.is_constexpr),
                bool(getattr(p, "do_not_specialize", False)),
                bool(getattr(p, "do_not_specialize_on_alignment", False)),
            )
            for p in getattr(jit, "params", ())
        ]
        bound = [
            (p.name, str(p.kind), "" if p.default is inspect.Parameter.empty else self._value(p.default, p.name))
            for p in jit.signature.parameters.values()
        ]
        return [noted, bound]

    def _attributes(self, jit: Any) -> str:
        """What somebody has put onto a decorated function; in the place of a method, it may do anything."""
        mine = {name: value for name, value in vars(jit).items() if name not in _decorated_attributes()}
        for name in mine:
            if hasattr(type(jit), name):
                self._note("%s of %s was replaced" % (name, self._found.label))
        return self._value(mine, "attributes")

    def _mentions(self, mentions: code.Mentions) -> None:
        for name in sorted(mentions.innards):
            self._note("%s in %s" % (name, self._found.label))
        home = self._function.__globals__.get("__name__", "")
        for name in sorted(mentions.names):
            if name in self._scope:
                value = self._scope[name]
                if not isinstance(value, types.ModuleType):
                    self._record("value of %s in %s" % (name, home), self._value(value, name))
            elif name in _REFLECTION:
                self._note("%s() in %s" % (name, self._found.label))
            elif hasattr(builtins, name):
                self._record("builtin %s" % name, self._value(getattr(builtins, name), name))
        for name, *attributes in sorted(mentions.chains):
            if isinstance(self._scope.get(name), types.ModuleType):
                self._module(self._scope[name], "%s in %s" % (name, home), attributes)

    def _module(self, module: types.ModuleType, label: str, attributes: list[str]) -> None:
        """What a chain of attributes of a module leads to; a module that is passed on leads anywhere."""
        name = module.__name__
        self._record("value of %s" % label, "module %s" % name)
        if kinds.of_triton(name):
            return
        if kinds.of_library(module) and name not in kinds.PURE:
            self._note("module %s in %s" % (name, self._found.label))
        elif not attributes:
            self._note("module %s, as a whole, in %s" % (name, self._found.label))
        elif attributes[0] in vars(module):
            value, label = vars(module)[attributes[0]], "%s in %s" % (attributes[0], name)
            if isinstance(value, types.ModuleType):
                self._module(value, label, attributes[1:])
            else:
                self._record("value of %s" % label, self._value(value, attributes[0]))
        elif "__getattr__" in vars(module) or type(module) is not types.ModuleType:
            self._note("__getattr__ of module %s" % name)

    def _record(self, label: str, token: str) -> None:
        """Note a value; two modules may have one name, so what is there already stays part of it."""
        before, digest = self._found.values.get(label), digest_of(token)
        self._found.values[label] = digest if before in (None, digest) else digest_of("%s%s" % (before, digest))

    def _value(self, value: Any, name: str) -> str:
        """A canonical text for a value; what has none is noted, and keys the kernel on everything."""
        kind = type(value)
        if kind in _PLAIN:
            return "%s:%r" % (kind.__name__, value)
        if kind not in (tuple, list, set, frozenset, dict):
            return self._object(value, kind, name)
        if id(value) in self._inside:
            return self._unknown(value, name)
        self._inside.append(id(value))
        if kind is dict:  # its order shows when it is iterated over
            items = ["%s=%s" % (self._value(k, name), self._value(v, name)) for k, v in value.items()]
        else:
            items = [self._value(v, name) for v in value]
        self._inside.pop()
        return "%s(%s)" % (kind.__name__, ",".join(sorted(items) if kind in (set, frozenset) else items))

    def _object(self, value: Any, kind: type, name: str) -> str:
        home = getattr(kind, "__module__", "") or ""
        if isinstance(value, types.FunctionType):
            return self._function_value(value)
        if isinstance(value, (types.BuiltinFunctionType, types.WrapperDescriptorType, types.MethodDescriptorType)):
            return self._by_name(value, name)
        if isinstance(value, types.ModuleType):
            return "module %s" % value.__name__ if kinds.of_triton(value.__name__) else self._unknown(value, name)
        if isinstance(value, type):
            return self._by_name(value, name)
        if kernels.is_decorated(value):
            plain = value.fn
            if (
                kinds.of_triton(plain.__module__ or "")
                and kinds.found_at(plain.__module__, plain.__qualname__) is value
            ):
                return "%s.%s" % (plain.__module__, plain.__qualname__)
            return self._reach(value)
        if kinds.of_triton(home):
            return self._triton_value(value, kind, name)
        if home == "torch" and kind.__name__ == "dtype":
            return str(value)
        if isinstance(value, tuple) and kinds.is_plain_tuple(kind):
            fields = ",".join("%s=%s" % (f, self._value(v, name)) for f, v in zip(kind._fields, value))  # type: ignore[attr-defined]
            return "%s.%s(%s)" % (home, kind.__qualname__, fields)
        if isinstance(value, enum.Enum) and kinds.is_plain_enum(kind):
            members = {n: m.value for n, m in type(value).__members__.items()}
            return "%s.%s.%s of %s" % (home, kind.__qualname__, value.name, self._value(members, name))
        return self._unknown(value, name)

    def _triton_value(self, value: Any, kind: type, name: str) -> str:
        if not _is_itself(kind):
            return self._unknown(value, name)
        if kind.__name__ == "constexpr":
            return "constexpr(%s)" % self._value(value.value, name)
        if kind.__name__ in ("Autotuner", "Heuristics"):
            inner = kernels.unwrap(value)[0]
            return self._unknown(value, name) if inner is None else self._reach(inner)
        if kind.__name__ == "dtype" or kind.__name__.endswith("_type"):
            return "%s %s" % (kind.__qualname__, self._value(dict(sorted(vars(value).items())), name))
        return self._unknown(value, name)

    def _function_value(self, value: types.FunctionType) -> str:
        home, name = value.__module__ or "", value.__qualname__
        if (kinds.of_triton(home) or home in kinds.PURE) and kinds.found_at(home, name) is value:
            return "%s.%s" % (home, name)
        if home and kinds.of_library(sys.modules.get(home)):
            return self._unknown(value, name)
        return self._reach(value)

    def _reach(self, function: Any) -> str:
        self._found.calls.append(id(function))
        return self._visit(function)

    def _by_name(self, value: Any, name: str) -> str:
        """Something written in C, or a class of Triton's or of Python's own: its name says what it is."""
        home = str(
            getattr(value, "__module__", None) or getattr(getattr(value, "__objclass__", None), "__module__", "")
        )
        known = kinds.of_triton(home) or home in kinds.PURE
        reflects = home == "builtins" and value.__name__ in _REFLECTION
        if known and not reflects and kinds.found_at(home, value.__qualname__) is value:
            return "%s.%s" % (home, value.__qualname__)
        return self._unknown(value, name)

    def _unknown(self, value: Any, name: str) -> str:
        what = "class" if isinstance(value, type) else "%s object" % type(value).__qualname__
        self._note("%s, a %s, in %s" % (name, what, self._found.label))
        return "?"

    def _note(self, unknown: str) -> None:
        self._found.unknown.append(unknown)


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _is_itself(kind: type) -> bool:
    """Is it the class of Triton's that it says it is?"""
    return kinds.of_triton(kind.__module__) and kinds.found_at(kind.__module__, kind.__qualname__) is kind


def _decorated_attributes() -> set[str]:
    """The attributes of any decorated function."""
    from triton.language import standard

    return set(vars(standard.cdiv))
