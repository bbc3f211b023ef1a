"""What importing user code reads: files, directories, environment variables, and modules that were not there.

Python's audit events tell of opened files and listed directories; questions that raise no event (does a file exist,
what is in the environment) are heard by wrapping the functions that answer them. Triton's own reading is not recorded:
its files are in the toolchain's digest, and its environment in what its knobs resolve to.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.machinery import ModuleSpec
from typing import Any

_WRITING = os.O_WRONLY | os.O_CREAT  # a file that is opened for both and has to be there is read as well
_NOT_FILES = ("/proc/", "/sys/", "/dev/")
_LISTINGS = frozenset({"os.listdir", "os.scandir"})
# Events of opening a file without the event `open`; its path is their first argument.
_OPENED_BY_C = frozenset({"ctypes.dlopen", "sqlite3.connect"})
# What makes a module's result depend on something that no record can hold.
_BEYOND = frozenset(
    "subprocess.Popen os.system os.posix_spawn os.spawn os.exec os.fork os.forkpty socket.connect".split()
)
# Whose questions do not count: Triton's (see above), this program's, and some of libraries that run tools of their own,
# look at caches and pass the whole environment on while they are imported.
_NOT_ASKING = frozenset({"triton", "portcheck_child"})
_TOOLS_OF_THEIR_OWN = frozenset({"torch", "numpy"})
_NOT_ON_THE_PATH = frozenset({"portcheck_file", "__main__", "__mp_main__"})
# Python imports these before anything else, if they are there.
_AT_START = ("sitecustomize", "usercustomize")
# Finders that setuptools installs: of editable installs, which hold the path of a checkout, and of its distutils. What
# they find is an input of its own.
_FINDERS = ("__editable__", "_distutils_hack")
# Our own modules that stand between user code and what it reads.
_BETWEEN = frozenset({__name__, "portcheck_child.bytecode"})
_STANDARD_LIBRARY = types.__file__.rpartition("types.py")[0]


class Inputs(importlib.abc.MetaPathFinder):
    """Collects what is read while it is on. A forked process goes on from its parent's list.

    An input is (kind, name). Kinds: `file`, `list` (of a directory), `link` and `stat` with an absolute path; `env`
    with a variable's name, or empty for the whole environment; `find` with the name of a top-level module, there or
    not; `module` with a path, without suffix, at which a module was looked for; `tool` with the name of a program.
    """

    def __init__(self) -> None:
        self.seen: set[tuple[str, str]] = set()
        self.on_new: Callable[[str, str], None] | None = None  # hears of each input as it is read
        self.unfit: set[str] = set()
        self._always = {("find", name) for name in _AT_START} | {("file", path) for path in imported_at_start()}
        self._known = set(sys.modules)
        self._path_at_start = frozenset(sys.path)  # `find` covers it
        self._on = False

    def install(self) -> None:
        """Listen. Neither audit hooks nor wrappers are ever taken off; a flag says whether they count."""
        sys.addaudithook(self._heard)
        sys.meta_path.insert(0, self)
        self._wrap_stat()
        self._wrap_environment()

    def start(self) -> None:
        """Record from now on."""
        self._on = True

    def stop(self) -> None:
        """Record no more, and add the modules imported meanwhile."""
        self._on = False
        for name in set(sys.modules) - self._known:
            module = sys.modules[name]
            path = getattr(module, "__file__", None)
            if "." not in name and (path or hasattr(module, "__path__")):
                self._find(name)
            if isinstance(path, str) and name.partition(".")[0] != "portcheck_child":
                self._add("file", os.path.abspath(path))
        self._known = set(sys.modules)

    def forget(self) -> None:
        """Drop what was recorded so far, but for what every import depends on."""
        self.seen = set(self._always)
        self.unfit.clear()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """Asked first, and finds nothing: which of several places has a module, if any has, is an input."""
        if self._on and self._counts(_TOOLS_OF_THEIR_OWN):
            leaf = fullname.rpartition(".")[2]
            if path is None:
                self._find(fullname)
                path = [place for place in sys.path if place not in self._path_at_start]
            for place in path:
                self._add("module", os.path.join(os.path.abspath(place), leaf))
        return None

    def repeat(self, seen: Iterable[tuple[str, str]], unfit: Iterable[str]) -> None:
        """Record what another process has read, as if it had been read here."""
        for kind, name in sorted(seen):
            self._add(kind, name)
        self.unfit.update(unfit)

    def note_file(self, path: str) -> None:
        """A file whose content counts was named where no event tells of its being read."""
        self._add("file", os.path.abspath(path))

    def note_tool(self, name: str) -> None:
        """A program of the machine's is used, which the tool has to find and observe by itself."""
        self._add("tool", name)

    def _find(self, name: str) -> None:
        if name not in _NOT_ASKING and name not in _NOT_ON_THE_PATH:
            self._add("find", name)

    def _add(self, kind: str, name: str) -> None:
        if (kind, name) not in self.seen:
            self.seen.add((kind, name))
            if self.on_new:
                self.on_new(kind, name)

    def _heard(self, event: str, args: tuple[Any, ...]) -> None:
        if not self._on:
            return
        if event == "open":
            path, _, flags = args
            if not (isinstance(flags, int) and flags & _WRITING):
                self._path("file", path)
        elif event in _LISTINGS:
            if not _called_by_importlib(sys._getframe(1)):
                self._path("list", args[0] if args[0] is not None else os.curdir)
        elif event == "import":
            if "." not in args[0] and self._counts():
                self._find(args[0])
            if isinstance(args[1], str):
                self._path("file", args[1])
        elif event in _OPENED_BY_C:
            if os.path.isfile(args[0] or ""):
                self._path("file", args[0], _TOOLS_OF_THEIR_OWN)
        elif event in _BEYOND and self._counts(_TOOLS_OF_THEIR_OWN):
            self.unfit.add("%s by %s" % (event, _asker(sys._getframe(1))))

    def _path(self, kind: str, path: Any, ignored: frozenset[str] = frozenset()) -> None:
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, (str, os.PathLike)):
            return  # a descriptor: whoever opened it was heard
        path = os.path.abspath(path)
        if path.endswith(".pyc"):
            path = _source_of(path)  # what was compiled from it is what it says
        if not path.startswith(_NOT_FILES) and self._counts(ignored):
            self._add(kind, path)

    def _counts(self, others: frozenset[str] = frozenset()) -> bool:
        top = _asker(sys._getframe(2)).partition(".")[0]
        return top not in _NOT_ASKING and top not in others

    def _wrap_stat(self) -> None:
        """os.path.exists and its kin, and pathlib, ask through these names; the import system does not."""
        for name in ("stat", "lstat", "access", "readlink"):
            asked = getattr(os, name)
            setattr(os, name, self._noting(asked, "link" if name == "readlink" else "stat"))
            for supported in (
                os.supports_follow_symlinks,
                os.supports_dir_fd,
                os.supports_fd,
                os.supports_effective_ids,
            ):
                if asked in supported:
                    supported.add(getattr(os, name))

    def _noting(self, asked: Callable[..., Any], kind: str) -> Callable[..., Any]:
        def ask(path: Any, *args: Any, **kwargs: Any) -> Any:
            if self._on and "dir_fd" not in kwargs and (kind == "link" or not _resolves_links(sys._getframe(1))):
                self._path(kind, path, _TOOLS_OF_THEIR_OWN)
            return asked(path, *args, **kwargs)

        return ask

    def _wrap_environment(self) -> None:
        kind: Any = type(os.environ)
        get, iterate = kind.__getitem__, kind.__iter__

        def getitem(environ: Any, key: Any) -> Any:
            if self._on and isinstance(key, (str, bytes)) and self._counts():
                self._add("env", os.fsdecode(key))
            return get(environ, key)

        def iterating(environ: Any) -> Iterator[str]:
            if self._on and self._counts(_TOOLS_OF_THEIR_OWN):
                self._add("env", "")
            found: Iterator[str] = iterate(environ)
            return found

        kind.__getitem__, kind.__iter__ = getitem, iterating


def imported_at_start() -> Iterator[str]:
    """What Python imported before us that is neither its own nor ours: sitecustomize, what a .pth file names."""
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        library = isinstance(path, str) and path.startswith(_STANDARD_LIBRARY) and "-packages" not in path
        ours = name.partition(".")[0] in (*_NOT_ASKING, "__main__") or name.startswith(_FINDERS)
        if isinstance(path, str) and not library and not ours:
            yield os.path.abspath(path)


def _resolves_links(frame: types.FrameType) -> bool:
    """os.path.realpath looks at every folder above a file: that the file is there says as much."""
    return frame.f_code.co_name in ("realpath", "_joinrealpath")


def _source_of(bytecode: str) -> str:
    try:
        return importlib.util.source_from_cache(bytecode)
    except (ValueError, NotImplementedError):
        return bytecode


def _called_by_importlib(frame: types.FrameType | None) -> bool:
    """The import system lists directories to find modules; `find` and `file` inputs stand for that."""
    return frame is not None and frame.f_code.co_filename.startswith("<frozen importlib")


def _asker(frame: types.FrameType | None) -> str:
    """The module that asks, looking through the standard library's frames; empty if nobody else is there."""
    while frame is not None:
        path = frame.f_code.co_filename
        library = path.startswith(("<frozen ", _STANDARD_LIBRARY)) and "-packages" not in path
        name = str(frame.f_globals.get("__name__", ""))
        if not library and name not in _BETWEEN:
            return name
        frame = frame.f_back
    return ""
