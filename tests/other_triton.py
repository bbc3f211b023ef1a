"""Other releases of Triton for tests: each in a virtual environment, installed once and shared by all processes."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from pathlib import Path

import xxhash


def interpreter(release: str, folder: Path) -> str:
    """The interpreter of an environment in `folder` that has `release`, and otherwise what this one has."""
    folder.mkdir(parents=True, exist_ok=True)
    # The folder outlives a run, and another checkout's interpreter would bring that checkout's portcheck.
    name = f"{release}-{xxhash.xxh3_64_hexdigest(sys.prefix.encode())}"
    venv, done = folder / name, folder / f"{name}.done"
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        python = str(venv / "bin" / "python")
        if not done.exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(venv)], check=True)
            pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "--quiet"]
            subprocess.run([*pip, "install", "--no-deps", f"triton=={release}"], check=True)
            _fall_back_on_this(next(venv.glob("lib/python*/site-packages")))
            done.touch()
    return python


def _fall_back_on_this(site: Path) -> None:
    """Find everything but Triton where this interpreter finds it."""
    here = [entry for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")]
    (site / "this.pth").write_text("".join(f"import site; site.addsitedir({entry!r})\n" for entry in here))
