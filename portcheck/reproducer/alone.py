"""Running a reproducer where nothing but Triton is installed: in an empty virtual environment that borrows it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from importlib.metadata import Distribution
from pathlib import Path

from portcheck.reproducer.script import NAME
from portcheck.toolchain.environments import undeclared
from portcheck.toolchain.model import Toolchain

# Of this environment a script is given no more than it takes to run programs.
_INHERITED = ("PATH", "LANG", "LD_LIBRARY_PATH", "TRITON_HIP_LLD_PATH")
_PATIENCE = 5.0  # seconds that an interrupted script gets to end what it started


def run_alone(folder: Path, toolchain: Toolchain) -> tuple[int, str]:
    """Run the script in `folder`. Returns its exit status and what it printed.

    Raises:
        OSError: no environment could be made for it, or it could not be started.
    """
    with tempfile.TemporaryDirectory(prefix="portcheck-alone-") as scratch:
        python = make_environment(Path(scratch), toolchain)
        kept = {name: value for name, value in os.environ.items() if name in _INHERITED}
        process = subprocess.Popen(
            [python, "-I", str(folder / NAME)],
            cwd=scratch,
            env={**kept, "HOME": scratch},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        with process:
            try:
                said, _ = process.communicate()
            except BaseException:
                process.send_signal(signal.SIGINT)  # it ends what it started
                process.wait(_PATIENCE)
                raise
    return process.returncode, said


def make_environment(folder: Path, toolchain: Toolchain) -> str:
    """Make it; returns its interpreter."""
    assert toolchain.package is not None  # it has just compiled something
    made = subprocess.run(
        [toolchain.executable, "-I", "-m", "venv", "--without-pip", str(folder)],
        check=False,
        capture_output=True,
        text=True,
    )
    site = next(folder.glob("lib/python*/site-packages"), None)
    if site is None:
        raise OSError((made.stderr or made.stdout).strip() or "no virtual environment could be made")
    package = toolchain.package
    for shared in (package, *package.parent.glob("triton-*.dist-info"), *_needed(toolchain.release, package.parent)):
        (site / shared.name).symlink_to(shared)
    return str(folder / "bin" / "python")


def _needed(release: str, site: Path) -> Iterator[Path]:
    """What a Triton itself needs besides, as far as it is there."""
    names = list(undeclared(release))
    for dist in site.glob("triton-*.dist-info"):
        requires = Distribution.at(dist).requires or ()
        names += [re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in requires if "extra ==" not in line]
    for name in dict.fromkeys(names):
        files = [file for dist in Distribution.discover(name=name, path=[str(site)]) for file in dist.files or ()]
        tops = {file.parts[0] for file in files} - {"..", "__pycache__"}
        yield from (site / top for top in sorted(tops) if (site / top).exists())
