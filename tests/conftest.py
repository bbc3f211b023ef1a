"""A project of a user's in a temporary folder, and the command `portcheck check` run in it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from portcheck.cache import Store
from portcheck.toolchain.find import find, release_of
from portcheck.toolchain.model import Toolchain

# What the machine that runs the tests has set for itself must not decide what they see.
_FOREIGN = ("PORTCHECK_", "TRITON_", "MLIR_", "LLVM_", "AMDGCN_", "PYTEST_", "DOIT_", "PYTHON")


@dataclass(frozen=True)
class Ran:
    """What a run of the command gave."""

    status: int
    out: str
    err: str
    report: dict[str, Any] | None  # the JSON report, if one was written

    @property
    def cells(self) -> dict[str, dict[str, Any]]:
        """`axpy@cuda:90` → its cell in the report."""
        assert self.report is not None, f"no report: status {self.status}\n{self.out}\n{self.err}"
        return {cell["cell"].rpartition("@")[0]: cell for cell in self.report["cells"]}

    @property
    def verdicts(self) -> dict[str, tuple[str, str | None]]:
        """`axpy@cuda:90` → (verdict, stage)."""
        return {name: (cell["verdict"], cell["stage"]) for name, cell in self.cells.items()}

    @property
    def origins(self) -> dict[str, str]:
        """`axpy@cuda:90` → where its verdict came from."""
        return {name: cell["from"] for name, cell in self.cells.items()}

    def failure(self, name: str) -> dict[str, Any]:
        """The failure group of a cell."""
        full = self.cells[name]["cell"]
        assert self.report is not None
        return next(group for group in self.report["failures"] if full in group["cells"])


@dataclass
class Project:
    """A user's folder with a cache of its own."""

    folder: Path
    cache: Path
    env: dict[str, str] = field(default_factory=dict)  # set on top of the environment
    python: str = sys.executable  # the interpreter that runs the command

    def write(self, files: Mapping[str, str]) -> None:
        """Write files, given by their path relative to the folder."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))

    def environment(self) -> dict[str, str]:
        """The environment that the command runs in."""
        plain = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
        ours = {"PORTCHECK_CACHE": str(self.cache), "PORTCHECK_HOME": str(self.cache.with_name("home"))}
        return {**plain, **ours, **self.env}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start `portcheck ARGUMENTS` in the folder."""
        return self._start("-P", "-m", "portcheck", *arguments)

    def start_doit(self, *arguments: str) -> subprocess.Popen[str]:
        """Start `doit ARGUMENTS` in the folder."""
        return self._start("-m", "doit", *arguments)

    def _start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.python, *arguments],
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def portcheck(self, *arguments: str) -> tuple[int, str, str]:
        """Run `portcheck ARGUMENTS` in the folder: its status, fd 1 and fd 2."""
        return _ended(self.start(*arguments))

    def doit(self, *arguments: str) -> tuple[int, str, str]:
        """Run `doit ARGUMENTS` in the folder: its status, fd 1 and fd 2."""
        return _ended(self.start_doit(*arguments))

    def check(self, *arguments: str) -> Ran:
        """Run `portcheck check ARGUMENTS --json …` in the folder."""
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        status, out, err = self.portcheck("check", "-j2", "--json", str(report), *arguments)
        return Ran(status, out, err, json.loads(report.read_text()) if report.exists() else None)

    def processes(self) -> list[psutil.Process]:
        """Living processes that work in the folder: all that a run starts, and what users start in it."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.cwd() == str(self.folder) and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def left_behind(self, seconds: float = 3) -> list[str]:
        """The processes that are still there once a run is over; they get `seconds` to end."""
        deadline = time.monotonic() + seconds
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return [str(process) for process in left]


def _ended(started: subprocess.Popen[str]) -> tuple[int, str, str]:
    with started as process:
        out, err = process.communicate(timeout=300)
    return process.returncode, out, err


@pytest.fixture(scope="session")
def make_project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Project]]:
    """Makes empty projects; what they leave behind is killed at the end, so that a failing test harms no other."""
    made: list[Project] = []

    def make() -> Project:
        root = tmp_path_factory.mktemp("user").resolve()
        (root / "project").mkdir()
        made.append(Project(root / "project", root / "cache"))
        return made[-1]

    yield make
    for process in (process for project in made for process in project.processes()):
        with contextlib.suppress(psutil.Error):
            process.kill()


@pytest.fixture
def project(make_project: Callable[[], Project]) -> Project:
    """An empty project."""
    return make_project()


@pytest.fixture(scope="session")
def toolchain(tmp_path_factory: pytest.TempPathFactory) -> Toolchain:
    """The Triton that is installed here."""
    return find(release_of("current"), Store(tmp_path_factory.mktemp("digests"), warn=lambda _: None))


@pytest.fixture
def until() -> Callable[[Callable[[], Any]], None]:
    """`until(lambda: …)` waits for something that another process does."""

    def until(happened: Callable[[], Any]) -> None:
        deadline = time.monotonic() + 60
        while not happened():
            assert time.monotonic() < deadline, "it never happened"
            time.sleep(0.02)

    return until
