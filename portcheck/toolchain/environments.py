"""Virtual environments that hold one release of Triton each: `envs/RELEASE-PYTHON/` below the portcheck home.

Each is made where it stays, since its scripts name their interpreter by its path, and counts once its receipt is whole.
`envs/RELEASE-PYTHON.lock` is locked by whoever makes or removes it, and shared by those that compile with it: half a
Triton may give a wrong verdict. The kernel drops the locks of a process that dies.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

from portcheck.cache import Store
from portcheck.errors import EnvironmentProblem, UsageError
from portcheck.manifest.releases import release_matches
from portcheck.toolchain import installers, receipts, wheels
from portcheck.toolchain.installed import damage
from portcheck.toolchain.interpreters import Interpreter, ask
from portcheck.toolchain.receipts import Receipt

Say = Callable[[str], None]

# What releases import without their wheels saying so: seen on 3.0.0, 3.1.0 and 3.2.0.
_UNDECLARED = {"<3.3": ("setuptools",)}


def undeclared(release: str) -> tuple[str, ...]:
    """Packages that a release needs and does not say."""
    return tuple(
        name for specifier, names in _UNDECLARED.items() if release_matches(specifier, release) for name in names
    )


_in_use: dict[Path, TextIO] = {}  # the locks of the environments that this process compiles with, until it ends


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an environment is to hold."""

    given: str  # as a command line names it: `3.8.0`, or the path of a wheel
    packages: tuple[str, ...] = ()  # besides Triton, as pip takes them

    @property
    def wheel(self) -> Path | None:
        """The wheel file, if it is one."""
        return Path(self.given).absolute() if self.given.endswith(".whl") else None

    @property
    def name(self) -> str:
        """The name of the environment's folder, without its Python. A wheel file is known by its content."""
        return wheels.identity(self.wheel) if self.wheel else self.given

    @property
    def called(self) -> str:
        """For people."""
        return self.wheel.name if self.wheel else f"Triton {self.given}"

    @property
    def requirement(self) -> str:
        """As pip takes it."""
        return str(self.wheel) if self.wheel else f"triton=={self.given}"

    @property
    def undeclared(self) -> tuple[str, ...]:
        """What its Triton needs and pip is not told by the wheel."""
        version = wheels.version_of(self.wheel) if self.wheel else self.given
        return undeclared(version)


@dataclass(frozen=True, slots=True)
class Environment:
    """An environment, whole or not."""

    folder: Path
    receipt: Receipt | None

    @property
    def name(self) -> str:
        """What it was made for: a release, or the identity of a wheel file."""
        return self.folder.name.rpartition("-")[0]

    @property
    def tag(self) -> str:
        """The Python that it is for, `cp311`."""
        return self.folder.name.rpartition("-")[2]


def home(environ: Mapping[str, str]) -> Path:
    """The portcheck home: PORTCHECK_HOME, else `portcheck` in the user's folder for data.

    Raises:
        UsageError: nothing says where it could be.
    """
    user = environ.get("HOME")
    if chosen := environ.get("PORTCHECK_HOME"):
        return Path(user, chosen[2:]) if user and chosen.startswith("~/") else Path(chosen).absolute()
    base = environ.get("XDG_DATA_HOME", "")
    if Path(base).is_absolute():  # the XDG specification: a relative value is ignored
        return Path(base, "portcheck")
    if user:
        return Path(user, ".local", "share", "portcheck")
    raise UsageError("no place for environments: HOME is not set; set PORTCHECK_HOME to a folder")


class Environments:
    """All environments of one portcheck home."""

    def __init__(self, home: Path, store: Store, say: Say) -> None:
        """`store` remembers digests; `say` gets a line for whatever takes time."""
        self.folder, self.store, self._say = home / "envs", store, say

    def all(self) -> list[Environment]:
        """Every environment that is there, whole or not.

        Raises:
            EnvironmentProblem: their folder cannot be read.
        """
        try:
            return [_read(folder) for folder in sorted(self.folder.iterdir()) if folder.is_dir()]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise EnvironmentProblem(
                f"{self.folder} cannot be read: {error.strerror or error}; "
                "check who owns it, or set PORTCHECK_HOME to another folder"
            ) from None

    def trouble(self, environment: Environment) -> str | None:
        """What is wrong with an environment, if anything: how a sentence about it goes on."""
        return receipts.trouble(environment.folder, self.store)

    def ready(self, wanted: Wanted, python: Interpreter, *, create: bool = True) -> Environment:
        """An environment that holds what is wanted, made or repaired if need be: for `python`, or the one for another.

        Raises:
            EnvironmentProblem: it cannot be made; or it is not there, and `create` is false.
        """
        named = [environment for environment in self.all() if environment.name == wanted.name]
        found = next(iter(sorted(named, key=lambda env: (env.tag != python.tag, env.tag))), None)
        if found:
            self._use(found.folder)
        trouble = self.trouble(found) if found else "is not there"
        if found and not trouble:
            return _read(found.folder)
        if not create:
            raise EnvironmentProblem(
                f"the environment of {wanted.called} {trouble}: make it with: portcheck env add {wanted.given}"
            )
        if found and found.tag != python.tag and found.receipt:
            python = ask(found.receipt.base)
        made, _ = self.add(wanted, python)
        self._use(made.folder)
        return made

    def add(self, wanted: Wanted, python: Interpreter) -> tuple[Environment, bool]:
        """The environment of `python` that holds what is wanted, and whether it was made just now.

        Raises:
            EnvironmentProblem: it cannot be made.
        """
        folder = self.folder / f"{wanted.name}-{python.tag}"
        if self._holds(folder, wanted):  # without waiting for those that use it
            return _read(folder), False
        with self._locked(folder):
            if self._holds(folder, wanted):
                return _read(folder), False
            trouble, receipt = receipts.trouble(folder, self.store), receipts.read(folder)
            had = receipt.packages if receipt else ()
            missing = [package for package in wanted.packages if package not in had]
            self._announce(wanted, python, trouble if folder.is_dir() else None)
            try:
                self._make(folder, replace(wanted, packages=(*had, *missing)), python)
            except BaseException as error:
                shutil.rmtree(folder, ignore_errors=True)  # nobody would trust it; it only takes room
                if isinstance(error, OSError):
                    raise _unwritable(folder, error) from None
                raise
        return _read(folder), True

    def remove(self, name: str, tag: str | None) -> list[Environment]:
        """Remove the environments of a name, or only the one for the Python of `tag`; returns what was removed.

        Raises:
            EnvironmentProblem: one cannot be removed.
        """
        found = [env for env in self.all() if env.name == name and tag in (None, env.tag)]
        for environment in found:
            with self._locked(environment.folder):
                _remove(environment.folder)
        return found

    def _holds(self, folder: Path, wanted: Wanted) -> bool:
        receipt = receipts.read(folder)
        return bool(receipt and set(wanted.packages) <= set(receipt.packages)) and not receipts.trouble(
            folder, self.store
        )

    def _announce(self, wanted: Wanted, python: Interpreter, trouble: str | None) -> None:
        wheel = wheels.in_file(wanted.wheel) if wanted.wheel else wheels.on_index(wanted.given, python)
        size = f": {wheel.described}" if wheel else ""
        which = f"the environment of {wanted.called} for Python {python.minor}"
        self._say(f"{which} {trouble}; creating it again{size}" if trouble else f"creating {which}{size}")

    def _make(self, folder: Path, wanted: Wanted, python: Interpreter) -> None:
        _remove(folder)
        folder.mkdir(parents=True)
        receipt = Receipt(wanted.requirement, wanted.packages, python, os.path.realpath(python.executable))
        receipt.write(folder)  # whoever finds the rest half-made knows what was wanted
        installers.make_venv(python, folder)
        inside = ask(str(folder / "bin" / "python"))
        status, said = installers.install(inside.executable, [wanted.requirement, *wanted.undeclared, *wanted.packages])
        if status:
            what = " and ".join([wanted.called, *wanted.packages])
            remedy = (
                f"it is for {wheels.pythons_of(wanted.wheel)}: name such a Python with --python"
                if wanted.wheel and "not a supported wheel" in said
                else "check the index, the network and the room on the disk"
            )
            raise EnvironmentProblem(
                f"{what} cannot be installed for Python {python.minor}: {installers.last_error(said)}; {remedy}"
            )
        sites = [Path(entry) for entry in inside.path if Path(entry).is_relative_to(folder)]
        package = next((site / "triton" for site in sites if (site / "triton" / "__init__.py").is_file()), None)
        if package is None:
            raise EnvironmentProblem(f"{wanted.called} holds no package triton: name a wheel of Triton")
        if damaged := damage(sites):
            raise EnvironmentProblem(f"{damaged} was not installed as it should be; try again: the disk may be failing")
        triton, rest = receipts.digests(folder, package, self.store)
        replace(
            receipt,
            python=inside,
            package=str(package.relative_to(folder)),
            size=receipts.disk_use(folder),
            triton=triton,
            rest=rest,
        ).write(folder)

    @contextlib.contextmanager
    def _locked(self, folder: Path) -> Iterator[None]:
        """Nobody else makes, removes or uses the environment in `folder` meanwhile."""
        if folder in _in_use:
            _in_use.pop(folder).close()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = _lock_of(folder).open("w")
        except OSError as error:
            raise _unwritable(folder, error) from None
        with lock:
            self._lock(lock, fcntl.LOCK_EX, folder)
            yield

    def _use(self, folder: Path) -> None:
        """Nobody else makes or removes the environment in `folder` until this process ends."""
        if folder not in _in_use:
            with contextlib.suppress(OSError):  # a home that this user may only read
                lock = _lock_of(folder).open("a")
                self._lock(lock, fcntl.LOCK_SH, folder)
                _in_use[folder] = lock

    def _lock(self, lock: TextIO, how: int, folder: Path) -> None:
        try:
            fcntl.flock(lock, how | fcntl.LOCK_NB)
        except BlockingIOError:
            self._say(f"waiting for another run that has to do with {folder}")
            fcntl.flock(lock, how)
        except OSError:
            pass  # a file system without locks: what is half-made has no whole receipt, and counts for nothing


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _read(folder: Path) -> Environment:
    return Environment(folder, receipts.read(folder))


def _remove(folder: Path) -> None:
    """Remove an environment, its receipt first: what is left of it if this is interrupted counts for nothing."""
    try:
        (folder / receipts.NAME).unlink(missing_ok=True)
        shutil.rmtree(folder)
    except FileNotFoundError:
        pass
    except NotADirectoryError:
        raise EnvironmentProblem(f"{folder} is no folder: remove it, or set PORTCHECK_HOME to another place") from None
    except OSError as error:
        raise EnvironmentProblem(f"{folder} cannot be removed: {error.strerror or error}: remove it yourself") from None


def _unwritable(folder: Path, error: OSError) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{folder} cannot be made: {error.strerror or error}; "
        "make room, or set PORTCHECK_HOME to a folder that you may write"
    )
