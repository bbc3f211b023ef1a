"""This project's own graph: `doit list` shows what one can do here."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from portcheck.demo import MANIFEST
from portcheck.rules import DOIT_CONFIG as CONFIG
from portcheck.rules import portcheck_suite

DOIT_CONFIG = {**CONFIG, "num_process": 2}
BUILD = Path("build")
PYTHON = sys.executable
MYPY = "--config-file ../../pyproject.toml --cache-dir ../../.mypy_cache"  # as seen from the wheel

globals().update(portcheck_suite(manifest=MANIFEST))


def _command(doc: str, *actions: Any) -> dict[str, Any]:
    return {"actions": list(actions), "doc": doc, "uptodate": [False], "io": {"capture": False}, "verbosity": 2}


def task_test() -> dict[str, Any]:
    """run all tests, with the real Triton"""
    return _command("run all tests, with the real Triton", f"{PYTHON} -m pytest")


def task_lint() -> dict[str, Any]:
    """ruff, and mypy --strict on the installed wheel"""
    wheel = BUILD / "lint"
    return _command(
        "ruff, and mypy --strict on the installed wheel",
        f"{PYTHON} -m ruff check .",
        f"{PYTHON} -m ruff format --check .",
        (shutil.rmtree, [wheel], {"ignore_errors": True}),
        f"{PYTHON} -m pip install --quiet --no-deps --target {wheel} .",
        f"cd {wheel} && {PYTHON} -m mypy {MYPY} -p portcheck",
        f"cd {wheel} && {PYTHON} -m mypy {MYPY} ../../ci/action.py",
    )


def task_docs() -> dict[str, Any]:
    """write the reference of the commands, find broken links and what no page explains"""
    return _command("write the reference of the commands, find what is wrong in docs", f"{PYTHON} docs/build.py")


def task_bench() -> dict[str, Any]:
    """measure against yardsticks, write docs/benchmarks.md (--large: with 100,000 cells)"""

    def bench(large: bool) -> bool:
        return subprocess.call([PYTHON, "-m", "bench.run", *(["--large"] if large else [])]) == 0

    flag = {"name": "large", "long": "large", "type": bool, "default": False, "help": "100,000 cells, too"}
    return {**_command("measure against yardsticks, write docs/benchmarks.md", bench), "params": [flag]}


def task_torture() -> dict[str, Any]:
    """long fault tests: kills, damage, full disks, many processes"""
    tests = "tests/torture tests/cache/test_concurrency.py"
    return _command(
        "long fault tests: kills, damage, full disks", f"PORTCHECK_TORTURE=1 {PYTHON} -m pytest -s -v {tests}"
    )
