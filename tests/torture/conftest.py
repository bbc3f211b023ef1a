"""A small suite whose verdicts are known, and how much of it is asked for: `doit torture` asks for all."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from portcheck.demo import MANIFEST

if TYPE_CHECKING:
    from tests.conftest import Project, Ran

ROWS = """
    [defaults]
    targets = ["cuda:80", "cuda:90", "hip:gfx942"]

    [[kernel]]
    name = "axpy"
    target = "kernels.py:axpy"
    signature = { x_ptr = "*fp32", y_ptr = "*fp32", n = "i32", a = "fp32" }
    constants = { BLOCK = 256 }

    [[kernel]]
    name = "gamma_ratio"
    target = "kernels.py:gamma_ratio"
    signature = { x_ptr = "*fp32", y_ptr = "*fp32", n = "i32" }
    constants = { BLOCK = 256 }
    targets = ["hip:gfx942"]

    [[kernel]]
    name = "scatter_rows"
    target = "kernels.py:scatter_rows"
    signature = { src_ptr = "*fp16", dst_ptr = "*fp16", rows_ptr = "*i32", M = "i32", N = "i32" }
    constants = { ROWS = 32, COLUMNS = 64 }
    targets = ["cuda:90"]
"""
EXPECTED = {
    "axpy@cuda:80": ("ok", None),
    "axpy@cuda:90": ("ok", None),
    "axpy@hip:gfx942": ("ok", None),
    "gamma_ratio@hip:gfx942": ("frontend-error", "frontend"),
    "scatter_rows@cuda:90": ("assembler-error", "cubin"),
}


@pytest.fixture
def small(make_project: Callable[[], Project]) -> Project:
    """Five cells of the demo, three good and two bad."""
    project = make_project()
    project.write({"portcheck.toml": ROWS, "kernels.py": (MANIFEST.parent / "kernels.py").read_text()})
    return project


@pytest.fixture
def times() -> Callable[[int, int], int]:
    """`times(long, short)`: how often a test is to try."""
    return lambda long, short: long if "PORTCHECK_TORTURE" in os.environ else short


@pytest.fixture
def sound() -> Callable[[Ran], None]:
    """`sound(ran)`: the verdicts of the small suite are right, and nothing went wrong on the way."""

    def check(ran: Ran) -> None:
        assert ran.report is not None, ran.err
        assert ran.verdicts == EXPECTED
        assert ran.status == 1
        assert "Traceback" not in ran.out + ran.err
        assert "internal error" not in ran.out + ran.err

    return check
