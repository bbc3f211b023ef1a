"""What decides the front end's result for a kernel: everything that it reaches, as labelled digests.

Triton's own cache key misses dtype globals, whatever is read through a module's attribute, aliases of builtins,
defaults of helpers, what constexpr functions read, and decorator flags. So this walks over every function a kernel
reaches: its source without comments, layout and line numbers, its flags and defaults, and the value of every name it
mentions. What cannot be encoded makes the kernel open: the tool then keys it on everything that importing its module
read.
"""

from __future__ import annotations

import ast
import builtins
import dis
import enum
import hashlib
import sys
import textwrap
import types
from dataclasses import dataclass, field
from typing import Any

from . import kernels
from .names import Names

# Modules whose functions give the same for the same arguments; a kernel that mentions any other library is open.
_PURE = frozenset(
    {"math", "cmath", "operator", "functools", "itertools", "builtins", "typing", "numbers", "__future__"}
)
# Builtins through which code can reach what no walk can see.
_REFLECTION = frozenset(
    "globals locals vars getattr setattr delattr eval exec compile open input dir __import__ __builtins__".split()
)
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


@dataclass
class Reached:
    """One function that a kernel reaches."""

    label: str
    digest: str
    values: dict[str, str] = field(default_factory=dict)  # label → digest of what its names stand for
    calls: list[int] = field(default_factory=list)  # ids of further functions
    unknown: list[str] = field(default_factory=list)  # what could not be encoded


class Walk:
    """Walks kernels of one process; functions that several kernels reach are walked once."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._reached: dict[int, Reached] = {}
        self._keep: list[Any] = []  # ids are only good while the objects live

    def parts(self, kernel: Any) -> tuple[dict[str, str], list[str]]:
        """(label → digest of everything that `kernel` reaches, what makes it open)."""
        self.visit(kernel)
        parts: dict[str, str] = {}
        unknown: list[str] = []
        waiting, seen = [id(kernel)], set()
        while waiting:
            found = self._reached[waiting.pop()]
            if id(found) in seen:
                continue
            seen.add(id(found))
            parts[found.label] = _digest(parts.get(found.label, "") + found.digest)
            for label, digest in found.values.items():
                parts[label] = digest if parts.get(label, digest) == digest else _digest(parts[label] + digest)
            unknown += found.unknown
            waiting += found.calls
        parts["Triton's own key of %s" % kernel.__name__] = self._triton_key(kernel, seen)
        return parts, sorted(set(unknown))

    def visit(self, function: Any) -> str:
        """Walk a function once; returns the token that stands for it where it is mentioned."""
        if id(function) not in self._reached:
            self._keep.append(function)
            plain = getattr(function, "fn", function)
            code = plain.__code__
            label = "function %s in %s" % (plain.__qualname__, self._names.portable(code.co_filename))
            found = self._reached[id(function)] = Reached(label, "")
            reader = _Reader(self, found, plain)
            compiled = function is not plain and not kernels.runs_as_python(function)
            found.digest = _digest(reader.decorated(function) if compiled else reader.plain())
        return "function %s" % self._reached[id(function)].label

    def _triton_key(self, kernel: Any, seen: set[int]) -> str:
        """Triton's cache key over normalised sources; or its error, which a compile will meet as well."""
        mine = [f for f in self._keep if hasattr(f, "cache_key") and id(self._reached[id(f)]) in seen]
        kept = [(f, f._src, f.starting_line_number) for f in mine]
        for function in mine:
            function._src, function.starting_line_number, function.hash = _normal(function._src), 0, None
        try:
            return str(kernel.cache_key)
        except Exception as error:
            return "%s: %s" % (type(error).__name__, _without_addresses(str(error)))
        finally:
            for function, source, line in kept:
                function._src, function.starting_line_number, function.hash = source, line, None


class _Reader:
    """Encodes one function, noting what it calls and what it could not encode."""

    def __init__(self, walk: Walk, found: Reached, function: Any) -> None:
        self._walk, self._found, self._function = walk, found, function
        self._scope = dict(function.__globals__)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            try:
                self._scope[name] = cell.cell_contents
            except ValueError:  # the cell is still empty
                self._found.unknown.append("variable %s of %s has no value yet" % (name, found.label))

    def decorated(self, jit: Any) -> str:
        """A function that Triton compiles: normalised source, flags, defaults and annotations."""
        source = _normal(jit._src)
        self._names({n.id for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Name)}, _attributes(source))
        flags = {
            name: self._value(getattr(jit, name, None), name)
            for name in ("noinline", "debug", "_repr", "version", "do_not_specialize", "do_not_specialize_on_alignment")
        }
        annotations = [str(p.annotation) for p in getattr(jit, "params", ())]
        kind = "%s.%s" % (type(jit).__module__, type(jit).__qualname__)
        name = "%s.%s" % (self._function.__module__, self._function.__qualname__)
        return repr((kind, name, source, sorted(flags.items()), annotations, self._defaults()))

    def plain(self) -> str:
        """A Python function that runs while compiling: its bytecode, which has no comments and no lines."""
        code = self._function.__code__
        names, attributes = _mentioned(code)
        self._names(names, attributes)
        for inner in _codes(code):
            if any(op.opname == "IMPORT_NAME" for op in dis.get_instructions(inner)):
                self._found.unknown.append("an import inside %s" % self._found.label)
        return repr((self._function.__qualname__, _bytecode(code), self._defaults()))

    def _defaults(self) -> str:
        defaults = (self._function.__defaults__, self._function.__kwdefaults__)
        return self._value(defaults, "defaults")

    def _names(self, names: set[str], attributes: set[str]) -> None:
        for name in sorted(names):
            if name in self._scope:
                self._name(name, self._scope[name], attributes, self._function.__globals__.get("__name__", ""))
            elif name in _REFLECTION:
                self._found.unknown.append("%s() in %s" % (name, self._found.label))
            elif hasattr(builtins, name):
                self._record("builtin %s" % name, self._value(getattr(builtins, name), name))

    def _name(self, name: str, value: Any, attributes: set[str], home: str) -> None:
        if isinstance(value, types.ModuleType):
            self._module(value, attributes, set())
        else:
            self._record("value of %s in %s" % (name, home), self._value(value, name))

    def _module(self, module: types.ModuleType, attributes: set[str], seen: set[str]) -> None:
        """The attributes of a module that the function could mean; names that it does not mention do not matter."""
        name = module.__name__
        if name in seen or _of_triton(name) or name in _PURE:
            return
        if _of_library(module):
            self._found.unknown.append("module %s in %s" % (name, self._found.label))
            return
        seen.add(name)
        for attribute in sorted(attributes):
            if attribute in vars(module):
                value = vars(module)[attribute]
                if isinstance(value, types.ModuleType):
                    self._module(value, attributes, seen)
                else:
                    self._record("value of %s in %s" % (attribute, name), self._value(value, attribute))
            elif "__getattr__" in vars(module):
                self._found.unknown.append("__getattr__ of module %s" % name)

    def _record(self, label: str, token: str) -> None:
        self._found.values[label] = _digest(token)

    def _value(self, value: Any, name: str) -> str:
        """A canonical text for a value; what has none is noted, and keys the kernel on everything."""
        kind = type(value)
        if kind in _PLAIN:
            return "%s:%r" % (kind.__name__, value)
        if kind in (tuple, list):
            return "%s(%s)" % (kind.__name__, ",".join(self._value(v, name) for v in value))
        if kind in (set, frozenset):
            return "%s(%s)" % (kind.__name__, ",".join(sorted(self._value(v, name) for v in value)))
        if kind is dict:
            items = sorted((self._value(k, name), self._value(v, name)) for k, v in value.items())
            return "dict(%s)" % ",".join("%s=%s" % item for item in items)
        return self._object(value, kind, name)

    def _object(self, value: Any, kind: type, name: str) -> str:
        home = getattr(kind, "__module__", "") or ""
        if isinstance(value, types.FunctionType):
            return self._function_value(value)
        if isinstance(value, (types.BuiltinFunctionType, types.WrapperDescriptorType, types.MethodDescriptorType)):
            return self._by_name(value, name)
        if isinstance(value, types.ModuleType):
            return "module %s" % value.__name__ if _of_triton(value.__name__) else self._unknown(value, name)
        if isinstance(value, type):
            return self._by_name(value, name)
        if kernels.is_decorated(value):
            plain = value.fn
            if _of_triton(plain.__module__ or "") and _found_at(plain.__module__, plain.__qualname__) is value:
                return "%s.%s" % (plain.__module__, plain.__qualname__)
            return self._reach(value)
        if _of_triton(home):
            return self._triton_value(value, kind, name)
        if home == "torch" and kind.__name__ == "dtype":
            return str(value)
        if isinstance(value, tuple) and hasattr(kind, "_fields") and not _has_methods(kind):
            fields = ",".join("%s=%s" % (f, self._value(v, name)) for f, v in zip(kind._fields, value))
            return "%s.%s(%s)" % (home, kind.__qualname__, fields)
        if isinstance(value, enum.Enum) and not _has_methods(kind):
            return "%s.%s.%s=%s" % (home, kind.__qualname__, value.name, self._value(value.value, name))
        return self._unknown(value, name)

    def _triton_value(self, value: Any, kind: type, name: str) -> str:
        if kind.__name__ == "constexpr":
            return "constexpr(%s)" % self._value(value.value, name)
        if kind.__name__ in ("Autotuner", "Heuristics"):
            inner = kernels.unwrap(value)[0]
            return self._unknown(value, name) if inner is None else self._reach(inner)
        if kind.__name__ == "dtype" or kind.__name__.endswith("_type"):
            return "%s %s" % (kind.__name__, value)
        return self._unknown(value, name)

    def _function_value(self, value: types.FunctionType) -> str:
        home, name = value.__module__ or "", value.__qualname__
        if (_of_triton(home) or home in _PURE) and _found_at(home, name) is value:
            return "%s.%s" % (home, name)
        if home and _of_library(sys.modules.get(home)):
            return self._unknown(value, name)
        return self._reach(value)

    def _reach(self, function: Any) -> str:
        self._found.calls.append(id(function))
        return self._walk.visit(function)

    def _by_name(self, value: Any, name: str) -> str:
        """Something written in C, or a class of Triton's or of Python's own: its name says what it is."""
        home = str(
            getattr(value, "__module__", None) or getattr(getattr(value, "__objclass__", None), "__module__", "")
        )
        if _of_triton(home) or home in _PURE:
            return "%s.%s" % (home, value.__qualname__)
        return self._unknown(value, name)

    def _unknown(self, value: Any, name: str) -> str:
        what = "class" if isinstance(value, type) else "%s object" % type(value).__qualname__
        self._found.unknown.append("%s, a %s, in %s" % (name, what, self._found.label))
        return "?"


def _of_triton(module: str) -> bool:
    return module == "triton" or module.startswith("triton.")


def _of_library(module: types.ModuleType | None) -> bool:
    """Is it of the standard library, or written in C? Its state is not in any of our keys."""
    path = getattr(module, "__file__", None)
    if not path:
        return True
    return path.endswith((".so", ".pyd")) or (
        path.startswith(_STANDARD_LIBRARY) and "site-packages" not in path and "dist-packages" not in path
    )


_STANDARD_LIBRARY = textwrap.__file__.rpartition("textwrap.py")[0]


def _found_at(module: str, qualname: str) -> Any:
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found


def _has_methods(kind: type) -> bool:
    """Does a class bring code of its own, beyond what its machinery makes?"""
    return any(
        isinstance(v, (types.FunctionType, property, classmethod, staticmethod)) and not n.startswith("_")
        for n, v in vars(kind).items()
    )


def _normal(source: str) -> str:
    return ast.unparse(ast.parse(textwrap.dedent(source)))


def _attributes(source: str) -> set[str]:
    return {n.attr for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Attribute)}


def _codes(code: types.CodeType) -> list[types.CodeType]:
    return [code] + [c for k in code.co_consts if isinstance(k, types.CodeType) for c in _codes(k)]


def _mentioned(code: types.CodeType) -> tuple[set[str], set[str]]:
    """Names that may be globals or closure variables, and names that may be attributes: bytecode mixes them."""
    names = {n for c in _codes(code) for n in (*c.co_names, *c.co_freevars)}
    return names, names


def _bytecode(code: types.CodeType) -> str:
    constants = [_bytecode(k) if isinstance(k, types.CodeType) else _constant(k) for k in code.co_consts]
    shape = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    return repr((shape, code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants))


def _constant(value: Any) -> str:
    """A literal; a set of literals has no order that would hold from one process to the next."""
    return "set %s" % sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)


def _without_addresses(text: str) -> str:
    return " ".join(word for word in text.split() if "0x" not in word)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
