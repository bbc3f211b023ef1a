"""Judged cells, built by hand: what the report is made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from portcheck.cells import Cell
from portcheck.manifest.model import KernelRef, Row, Settings
from portcheck.target import parse_target
from portcheck.toolchain.model import Toolchain
from portcheck.verdicts import Failure, Outcome, Result

Judge = Callable[..., tuple[Cell, Result]]


@pytest.fixture
def judge() -> Judge:
    """`judge("axpy@cuda:80@3.9.0", failure, origin=…, seconds=…)`: one judged cell; no failure means ok."""

    def judge(
        name: str,
        failure: Failure | None = None,
        origin: str = "compiled",
        seconds: float = 0.1,
        outcome: Mapping[str, Any] | None = None,
        **result: Any,
    ) -> tuple[Cell, Result]:
        shown, target, release = name.split("@")
        kernel, _, variant = shown.removesuffix("]").partition("[")
        row = Row(
            kernel=kernel,
            variant=variant or None,
            ref=KernelRef(None, "kernels.py", kernel),
            signature={},
            constants={},
            options={},
            backend_options={},
            settings=Settings(targets=()),
            xfail=(),
            where=f'portcheck.toml: kernel "{kernel}"',
        )
        judged = Outcome(failure, seconds=seconds, **(outcome or {}))
        return Cell(row, parse_target(target), release), Result(judged, origin, **result)

    return judge


@pytest.fixture
def toolchain() -> Callable[[str], Toolchain]:
    """`toolchain("3.9.0")`"""
    return lambda release: Toolchain(release, "3.11.7", f"digest-of-{release}", "/usr/bin/python3", Path("/opt/triton"))


@pytest.fixture
def tgamma() -> Failure:
    """What a libdevice function that AMD lacks gives."""
    return Failure(
        "frontend-error", "frontend", "module 'triton.language.extra.hip.libdevice' has no attribute 'tgamma'"
    )


@pytest.fixture
def scatter4() -> Callable[[str], Failure]:
    """What ptxas says of a scatter, for one architecture."""
    return lambda arch: Failure(
        "assembler-error", "cubin", f"Feature '.tile::scatter4' not supported on .target 'sm_{arch}a'"
    )
