"""Runs over a manifest that is never compiled: what is tested here is the graph around it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from portcheck.rules import run as module
from portcheck.rules.request import Request
from portcheck.rules.run import Run

MANIFEST = """
[defaults]
targets = ["cuda:90", "hip:gfx942"]

[[kernel]]
name = "copy"
target = "kernels.py:copy"
signature = {}

[[kernel.variant]]
name = "fp16"
signature = {}

[[kernel]]
name = "scale"
target = "package.kernels:scale"
signature = {}
xfail = ["hip:*"]
"""

MakeRun = Callable[..., Run]


@pytest.fixture
def make_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeRun:
    """`make_run(…)`: a run with these attributes of a request; its `current` Triton is 9.8.7."""
    monkeypatch.setattr(module, "release_of", lambda name, locked: "9.8.7")
    monkeypatch.setenv("PORTCHECK_CACHE", str(tmp_path / "cache"))
    (tmp_path / "portcheck.toml").write_text(MANIFEST)
    (tmp_path / "kernels.py").touch()

    def make(**request: Any) -> Run:
        return Run(Request(tmp_path / "portcheck.toml", **request))

    return make
