"""Making virtual environments and installing into them, with pip or, where it is there, with uv.

What runs here is killed with the tool: an installer that went on alone would write into what the next run repairs.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from portcheck.errors import EnvironmentProblem
from portcheck.toolchain.interpreters import Interpreter

# Linux kills the process when its parent ends (linux/prctl.h: PR_SET_PDEATHSIG is 1), even if that was killed itself.
_DIES_WITH_US = (
    "import ctypes, os, signal, sys\n"
    "if sys.platform == 'linux': ctypes.CDLL(None).prctl(1, signal.SIGKILL)\n"
    "if os.getppid() != int(sys.argv[1]): sys.exit(1)\n"
    "os.execvp(sys.argv[2], sys.argv[2:])"
)
_running: set[int] = set()
_lock = threading.Lock()


def make_venv(python: Interpreter, folder: Path) -> None:
    """Make a virtual environment without pip in it.

    Raises:
        EnvironmentProblem: it cannot be made.
    """
    uv = shutil.which("uv")
    command = [uv, "venv", "--quiet", "--allow-existing", "--python", python.executable] if uv else [
        python.executable, "-I", "-m", "venv", "--without-pip",
    ]  # fmt: skip
    status, said = run([*command, str(folder)])
    if status:
        raise EnvironmentProblem(
            f"{python.executable} cannot make a virtual environment: {last_error(said)}; "
            "install its venv module (python3-venv on Debian), or uv"
        )


def install(python: str, requirements: Sequence[str]) -> tuple[int, str]:
    """Install into the environment of the interpreter `python`; returns the exit status and what was printed.

    Raises:
        EnvironmentProblem: there is neither pip nor uv.
    """
    # Triton from source takes an hour and a compiler: a release without a wheel is an error instead.
    wheels_only = ["--only-binary", "triton"]
    if uv := shutil.which("uv"):
        return run([uv, "pip", "install", "--quiet", "--python", python, *wheels_only, *requirements])
    return run([*pip(python), "install", "--no-input", *wheels_only, *requirements])


def pip(python: str | None = None) -> list[str]:
    """The beginning of a command of the invoking interpreter's pip, which acts on the interpreter `python`.

    Raises:
        EnvironmentProblem: there is none.
    """
    if python is None:
        if importlib.util.find_spec("pip"):
            return [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    else:
        spec = importlib.util.find_spec("pip")
        places = (Path(place, "__pip-runner__.py") for place in (spec and spec.submodule_search_locations) or ())
        runner = next((place for place in places if place.is_file()), None)
        if runner:  # what `pip --python` does, in one process less to kill
            return [python, str(runner), "--disable-pip-version-check"]
    raise EnvironmentProblem(
        f"environments are made with pip 22.3 or newer, or with uv, and {sys.executable} has neither: "
        f"install one with: {sys.executable} -m ensurepip --upgrade"
    )


def run(command: Sequence[str]) -> tuple[int, str]:
    """Run a command to its end, and kill it and what it started if this is left earlier; its status and output."""
    wrapped = [sys.executable, "-I", "-S", "-c", _DIES_WITH_US, str(os.getpid()), *command]
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            wrapped, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        with _lock:
            _running.add(process.pid)
        try:
            process.wait()
        except BaseException:
            _kill(process.pid)
            process.wait()
            raise
        finally:
            with _lock:
                _running.discard(process.pid)
        output.seek(0)
        return process.returncode, output.read().decode(errors="replace")


def stop() -> None:
    """Kill all that runs; safe in a signal handler."""
    for pid in list(_running):
        _kill(pid)


def last_error(said: str) -> str:
    """The line of an installer's output that says what went wrong."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    marked = [line for line in lines if line.lower().startswith("error")]
    told = (marked or lines or ["it says nothing"])[-1]
    return told.removeprefix("ERROR:").removeprefix("error:").strip().rstrip(".")


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
