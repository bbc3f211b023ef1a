"""Cells as a report has them, and two recorded reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from portcheck.diff.snapshot import Seen, Snapshot, read_report
from portcheck.verdicts import Artifact

REPORTS = Path(__file__).parent / "reports"
MakeSeen = Callable[..., Seen]


@pytest.fixture
def seen() -> MakeSeen:
    """`seen("gelu[fast]@cuda:80@3.9.0", "mlir-error", …)`: one cell; ok unless a verdict is given."""

    def make(
        name: str,
        verdict: str | None = "ok",
        *,
        message: str | None = None,
        fingerprint: str | None = None,
        status: str | None = "new",
        seconds: float = 1.0,
        sizes: Mapping[str, int] | None = None,
        **resources: int | None,
    ) -> Seen:
        row, target, release = name.split("@")
        kernel, _, variant = row.removesuffix("]").partition("[")
        return Seen(
            name=name,
            kernel=kernel,
            variant=variant or None,
            target=target,
            triton=release,
            verdict=verdict,
            stage=None if verdict in ("ok", None) else "ttgir",
            fingerprint=fingerprint,
            status=status,
            message=message,
            seconds=seconds,
            artifacts={stage: Artifact(f"{stage}{size}", size) for stage, size in (sizes or {}).items()},
            resources=resources,
            front_key=None,
            back_key=None,
            kernel_hash=None,
        )

    return make


@pytest.fixture(scope="session")
def recorded() -> tuple[Snapshot, Snapshot]:
    """The demo on three targets, with 3.8.0 and with 3.9.0, as portcheck reported it."""
    return read_report(REPORTS / "3.8.0.json"), read_report(REPORTS / "3.9.0.json")
