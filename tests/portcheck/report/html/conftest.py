"""A browser, and pages for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import xxhash

from portcheck.report.html import page
from portcheck.report.model import Report, build
from portcheck.verdicts import Artifact, Failure, Position
from tests.browser import REQUIRED, Browser, missing, started

Show = Callable[..., Browser]

TTGIR = "\n".join(
    [
        'module attributes {"ttg.num-warps" = 4 : i32} {',
        *(f"  %{n} = arith.constant {n} : i32 loc(#loc1)" for n in range(900)),
        "}",
    ]
)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A headless Chromium. Where there is none its tests are skipped, or fail if it is required."""
    if why := missing():
        if os.environ.get(REQUIRED) == "required":
            pytest.fail(f"{REQUIRED}=required, and {why}")
        pytest.skip(why)
    with started(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Show:
    """`show(report, "#view=failures")` opens its page; also of plain data. Light, and as wide as a desk's screen."""

    def show(shown: Report | dict[str, Any], fragment: str = "") -> Browser:
        path = tmp_path / "report.html"
        pieces = page.lines(shown) if isinstance(shown, Report) else [page.written(shown)]
        path.write_text("".join(pieces), encoding="utf-8")
        browser.resize(1400, 1000)
        browser.emulate()
        browser.open(path.as_uri() + fragment)
        return browser

    return show


@pytest.fixture
def releases(judge: Any, toolchain: Any, tgamma: Failure) -> Report:
    """Three rows, two targets, two releases: a cell regresses, one is fixed, one begins to spill and has its TTGIR."""
    digest = xxhash.xxh3_128_hexdigest(TTGIR.encode())
    failure = replace(tgamma, position=Position("kernels.py", 24, 26), detail="first\nsecond")

    def outcome(registers: int, spills: int) -> dict[str, Any]:
        return {
            "stages": {"frontend": 0.02, "ttir": 0.01, "ttgir": 0.05},
            "resources": {"shared": 200_000, "registers": registers, "spills": spills, "num_warps": 4, "threads": 128},
            "artifacts": {
                "ttgir": Artifact(digest, len(TTGIR)),
                "llir": Artifact("0" * 32, 9_000),
                "cubin": Artifact(f"{registers:032}", 5_000 + registers),
            },
        }

    judged = [
        judge("axpy@cuda:90@3.8.0", outcome=outcome(20, 0), seconds=0.1, source=Position("kernels.py", 10, 1)),
        judge("axpy@cuda:90@3.9.0", outcome=outcome(40, 16), seconds=0.2, source=Position("kernels.py", 10, 1)),
        judge("axpy@hip:gfx942@3.8.0"),
        judge("axpy@hip:gfx942@3.9.0", failure),
        judge("gamma[big]@cuda:90@3.8.0", failure),
        judge("gamma[big]@cuda:90@3.9.0"),
        judge("gamma[big]@hip:gfx942@3.8.0", failure),
        judge("gamma[big]@hip:gfx942@3.9.0", failure),
        judge("steady@cuda:90@3.8.0"),
        judge("steady@cuda:90@3.9.0"),
        judge("steady@hip:gfx942@3.8.0"),
        judge("steady@hip:gfx942@3.9.0"),
    ]
    report = build(judged, [toolchain("3.8.0"), toolchain("3.9.0")], 3.0, lambda cell: None)
    return replace(report, output=lambda _, artifact: TTGIR.encode() if artifact.digest == digest else None)
