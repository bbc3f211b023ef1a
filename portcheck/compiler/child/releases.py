"""How Triton's releases from 3.0 on differ, as far as compiling a cell goes: one table.

No other module asks which release it is. What the installed Triton can be asked, it is asked; this is what one has to
know beforehand. A release that is not here, such as a pre-release, is taken for the nearest older one.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from typing import Any

from . import locations

Version = tuple[int, int]


@dataclass(frozen=True)
class Release:
    """How one release does what every release does somehow."""

    name_backends: Callable[[Mapping[str, Any]], None]  # their modules as modules of Triton
    constants: str  # the argument of ASTSource that takes constants
    source: str  # the attribute of a JIT function with its source
    set_source: Callable[[Any, str], None]
    lines: Callable[[Any], list[str]]  # a JIT function's source with its decorators
    user_repr: Callable[[Any], Any]  # the function given to `@triton.jit(repr=…)`, or None
    tells_place: str | None  # the code generator's function for a function's file and line; None: it has a `file_name`
    launched: tuple[str, ...]  # attributes of a JIT function with what it compiled so far
    keep_apart: Callable[[str], None]  # leave a cell's output in a folder, and let no hook of the user's see the cell
    print_ptxas_log: Callable[[], None]  # registers and spills stand nowhere else
    ptxas: Callable[[Mapping[str, Any], int], str]  # the path of the one for an architecture, asked of the backend
    without_locations: Callable[[Any], str]  # the text of an MLIR module
    without_torch: Callable[[Any], None]  # have the AMD backend look at a stand-in without importing torch
    decorate_without_torch: Callable[[], None]  # have kernels autotuned where there is no torch
    first_column: int  # of a line, as the compiler counts
    runs_lld: bool  # is an `ld.lld` of the machine's used for AMD?
    takes_tuples: bool  # as arguments of a launch
    has_descriptors: bool  # are there tensor descriptors that the host makes?
    refusal: Callable[[Any, str, Any], Any]  # what a backend says of a libdevice function that it lacks, or None
    maps_globals: bool  # are all globals of a function looked up in the backend's libdevice, mentioned or not?
    maps_attributes: bool  # is libdevice the backend's own, too, if it is an attribute of another module?


def _name_backends(backends: Mapping[str, Any]) -> None:
    """Each was loaded from its file under the name `nvidia`, into no list of modules; whose it is shows nowhere.

    The modules of these names are other copies, which nothing uses. So they are listed under names that nobody imports.
    """
    for name, backend in backends.items():
        for part in ("compiler", "driver"):
            kind = getattr(backend, part)
            values = next(f.__globals__ for f in vars(kind).values() if isinstance(f, types.FunctionType))
            old, values["__name__"] = values["__name__"], "triton.backends.%s.%s" % (name, part)
            sys.modules["%s, as used" % values["__name__"]] = _Namespace(values)  # type: ignore[assignment]
            _rename(values, old, values["__name__"])


def _rename(values: Mapping[str, Any], old: str, new: str) -> None:
    """Classes and functions remember the name of the module that they were defined in."""
    for value in list(values.values()):
        plain = getattr(value, "__func__", value)
        if isinstance(plain, (type, types.FunctionType)) and plain.__module__ == old:
            plain.__module__ = new
            _rename(vars(plain), old, new)


class _Namespace:
    """What there is of a module whose globals are all that is left."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__ = values


def _set_plainly(function: Any, source: str) -> None:
    function.__dict__["src"] = source  # the class refuses to, from 3.0 on, without a warning


def _set_private(function: Any, source: str) -> None:
    function._src = source


def _lines_of_file(function: Any) -> list[str]:
    return inspect.getsourcelines(function.fn)[0]


def _lines_kept(function: Any) -> list[str]:
    return list(function.raw_src)


def _repr_in_closure(function: Any) -> Any:
    """It is wrapped: `self.repr = lambda _: fn.__name__ if repr is None else repr(_)`."""
    given = function.repr
    if getattr(given, "__module__", "") != "triton.runtime.jit":
        return given  # somebody put it there
    return inspect.getclosurevars(given).nonlocals.get("repr")


def _repr_kept(function: Any) -> Any:
    return getattr(function, "_repr", None)


def _apart_by_variables(folder: str) -> None:
    from triton.runtime.jit import JITFunction

    os.environ["TRITON_CACHE_DIR"] = folder
    os.environ.pop("TRITON_CACHE_MANAGER", None)
    JITFunction.cache_hook = None
    JITFunction.compiled_hook = None  # from 3.2 on


def _apart_by_knobs(folder: str) -> None:
    os.environ["TRITON_CACHE_DIR"] = folder
    knobs = sys.modules["triton"].knobs
    knobs.cache.dir = folder
    knobs.cache.manager_class = None
    knobs.runtime.jit_cache_hook = None


def _overhear_ptxas() -> None:
    """ptxas is run with `-v`, and its log is deleted unread."""
    from triton.backends import backends

    values = backends["nvidia"].compiler.make_cubin.__globals__
    if isinstance(values.get("subprocess"), types.ModuleType):
        values["subprocess"] = _Overhearing(values["subprocess"])


class _Overhearing:
    """The module `subprocess` for Triton's NVIDIA backend; prints the log of every tool that succeeded."""

    def __init__(self, tools: types.ModuleType) -> None:
        self._tools = tools

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tools, name)

    def run(self, command: Any, **options: Any) -> Any:
        done = self._tools.run(command, **options)
        log = options["stderr"].name if "stderr" in options else command.rpartition("2> ")[2]  # up to 3.1 for a shell
        with open(log) as f:
            print(f.read())
        return done


def _print_ptxas_log() -> None:
    sys.modules["triton"].knobs.nvidia.dump_ptxas_log = True


def _ptxas_of_all(backend: Mapping[str, Any], arch: int) -> str:
    return str(backend["_path_to_binary"]("ptxas")[0])


def _ptxas_by_arch(backend: Mapping[str, Any], arch: int) -> str:
    return str(backend["get_ptxas"](arch)[0])


def _ptxas_tool(backend: Mapping[str, Any], arch: int) -> str:
    return str(backend["get_ptxas"]().path)


def _ptxas_tool_by_arch(backend: Mapping[str, Any], arch: int) -> str:
    return str(backend["get_ptxas"](arch).path)


def _strip_locations(module: Any) -> str:
    return locations.strip(str(module))


def _print_without_locations(module: Any) -> str:
    return str(module.str_nodebug())


def _nothing(*args: Any) -> None:
    """What other releases need nothing for."""


def _hide_torch(backend: Any) -> None:
    """It imports torch to tell tensors from others, before it asks a stand-in for its size."""
    backend.is_within_2gb = staticmethod(_needing_no_torch(backend.is_within_2gb))


def _decorate_without_torch() -> None:
    """Autotuners import torch to ask whether there is a device, even where they do not want to know."""
    from triton.runtime.autotuner import Autotuner

    Autotuner.__init__ = _needing_no_torch(Autotuner.__init__)


def _needing_no_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` with something in the place of torch, unless that has been imported."""

    @wraps(function)
    def without(*args: Any, **kwargs: Any) -> Any:
        if "torch" in sys.modules:
            return function(*args, **kwargs)
        cuda = types.SimpleNamespace(is_available=lambda: False)
        sys.modules["torch"] = types.SimpleNamespace(Tensor=(), cuda=cuda)  # type: ignore[assignment]
        try:
            return function(*args, **kwargs)
        finally:
            del sys.modules["torch"]

    return without


def _say_no_torch(backend: Any) -> None:
    if "torch" not in sys.modules:
        backend._torch_available = False  # else every AMD cell would import torch to look at a stand-in


def _refused_when_called(stub: Any, backend: str, modules: Any) -> str | None:
    """The stub looks for the backend's function when it is called; arguments are what it finds missing next."""
    try:
        stub(_builder=types.SimpleNamespace(options=types.SimpleNamespace(backend_name=backend)))
    except RuntimeError as error:
        return str(error)
    except Exception:
        return None
    return None


def _refused_when_named(stub: Any, backend: str, modules: Any) -> str | None:
    """Another module stands in the place of the stubs'."""
    try:
        getattr(modules[stub.__module__], stub.__name__)
    except AttributeError as error:
        return str(error)
    except Exception:
        return None
    return None


_OLDEST = Release(
    name_backends=_name_backends,
    constants="constants",
    source="src",
    set_source=_set_plainly,
    lines=_lines_of_file,
    user_repr=_repr_in_closure,
    tells_place="_get_fn_file_line",
    launched=("cache",),
    keep_apart=_apart_by_variables,
    print_ptxas_log=_overhear_ptxas,
    ptxas=_ptxas_of_all,
    without_locations=_strip_locations,
    without_torch=_nothing,
    decorate_without_torch=_decorate_without_torch,
    first_column=0,
    runs_lld=True,
    takes_tuples=False,
    has_descriptors=False,
    refusal=_refused_when_called,
    maps_globals=False,
    maps_attributes=True,
)
# Release → what it does differently from those before it.
_CHANGES: dict[Version, dict[str, Any]] = {
    (3, 2): {
        "tells_place": "get_jit_fn_file_line",
        "decorate_without_torch": _nothing,
        "refusal": _refused_when_named,
        "maps_globals": True,
        "maps_attributes": False,
    },
    (3, 3): {
        "constants": "constexprs",
        "user_repr": _repr_kept,
        "launched": ("device_caches",),
        "without_torch": _hide_torch,
        "takes_tuples": True,
        "ptxas": _ptxas_by_arch,
    },
    (3, 4): {
        "name_backends": _nothing,
        "keep_apart": _apart_by_knobs,
        "without_locations": _print_without_locations,
        "has_descriptors": True,
        "ptxas": _ptxas_tool,
    },
    (3, 5): {
        "source": "_src",
        "set_source": _set_private,
        "lines": _lines_kept,
        "print_ptxas_log": _print_ptxas_log,
        "runs_lld": False,
    },
    (3, 6): {"ptxas": _ptxas_tool_by_arch, "maps_attributes": True},
    (3, 8): {"tells_place": None, "without_torch": _say_no_torch, "first_column": 1},
}


def release(version: str) -> Release:
    """How the release `version` (`3.9.0`, `3.10.0+git…`) does things."""
    found = _OLDEST
    for since, changes in sorted(_CHANGES.items()):
        if since <= parse(version):
            found = replace(found, **changes)
    return found


def parse(version: str) -> Version:
    """The first two numbers of a version, which are all that counts here."""
    numbers = [int(number) for number in re.findall(r"\d+", version)[:2]]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else (numbers[0] if numbers else 0, 0)


@lru_cache(maxsize=None)
def current() -> Release:
    """The release of the Triton that has been imported."""
    return release(str(sys.modules["triton"].__version__))
