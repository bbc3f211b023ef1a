"""Judged cells, built by hand: what the report is made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from portcheck.baseline import entry_of
from portcheck.cells import Cell
from portcheck.manifest.model import Expectation, KernelRef, Row, Settings
from portcheck.report.model import MISSING, Report, build
from portcheck.target import parse_target
from portcheck.toolchain.model import Toolchain
from portcheck.verdicts import Failure, Outcome, Position, Result

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


HOSTILE = (
    "a|b <script>alert('x')</script> ]]> \"quoted\" & `tick` ``two`` [link](javascript:x) ![i](//x) @you #1 %0A,: "
    "*s* _u_\n::error file=x::pwned\r\n\n# heading\n<!-- \x1b[31m \x00 \x7f \udcff \u202e \ufffe {0} --> </details> ~~~"
)


@pytest.fixture
def mixed(judge: Judge, toolchain: Callable[[str], Toolchain], tgamma: Failure, scatter4: Any) -> Report:
    """A cell of every status: ok, new (two causes, three kernels), known, xfail, xpass, not reached, missing."""
    at = replace(tgamma, position=Position("kernels.py", 24, 26))
    judged = [
        judge("gamma@cuda:90@3.9.0", source=Position("kernels.py", 20, 1)),
        judge("gamma@hip:gfx942@3.9.0", at),
        judge("gamma[big]@hip:gfx942@3.9.0", replace(at, position=Position("kernels.py", 30, 5))),
        judge("ratio@hip:gfx942@3.9.0", replace(at, position=Position("dist/lib/ratio.py", 3, 1))),
        judge("scatter@cuda:90@3.9.0", scatter4("90"), source=Position("kernels.py", 40, 1)),
        judge("old@hip:gfx942@3.9.0", tgamma),
        judge("hopeless@hip:gfx942@3.9.0", tgamma),
        judge("better@hip:gfx942@3.9.0"),
        judge("late@cuda:90@3.9.0", origin="skipped"),
        judge("gone@cuda:90@3.9.0", origin=MISSING),
    ]
    return build(
        judged,
        [toolchain("3.9.0")],
        7.0,
        lambda cell: Expectation("hip:*", None, "AMD is late") if cell.row.name in ("hopeless", "better") else None,
        lambda cell: entry_of(tgamma) if cell.row.name == "old" else None,
        manifest="ci/portcheck.toml",
    )


@pytest.fixture
def hostile(judge: Judge, toolchain: Callable[[str], Toolchain]) -> Report:
    """Names, messages, places and reasons with everything that could break a file or its reader."""
    failure = Failure(
        "mlir-error",
        "ttgir",
        HOSTILE,
        detail=f"{HOSTILE}\n{HOSTILE}",
        pass_name=HOSTILE,
        position=Position(HOSTILE, 3, 4),
    )
    judged = []
    for name, found in (("red", failure), ("expected", failure), ("passed", None), ("green", None)):
        cell, result = judge(f"{name}@cuda:90@3.9.0", found)
        row = replace(cell.row, kernel=f"{name} {HOSTILE}", variant=HOSTILE)
        judged.append((replace(cell, row=row), result))
    xfail = Expectation(HOSTILE, None, HOSTILE)
    return build(
        judged,
        [toolchain("3.9.0")],
        1.0,
        lambda cell: xfail if cell.row.kernel.startswith(("expected", "passed")) else None,
        stale=[HOSTILE],
    )


@pytest.fixture
def empty(toolchain: Callable[[str], Toolchain]) -> Report:
    """A report without a cell, which no selection gives, and no format may call green."""
    return build([], [toolchain("3.9.0")], 0.0, lambda cell: None)
