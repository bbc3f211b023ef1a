"""What became of a cell: verdicts, failures and results, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

OK = "ok"

# verdict → how the matrix abbreviates the stage. One entry per kind; nothing else lists them.
SHORT = {
    "frontend-error": "front",
    "options-error": "opts",
    "mlir-error": "mlir",
    "llvm-error": "llvm",
    "assembler-error": "asm",
    "unraised-error": "silent",
    "launch-limit": "launch",
    "crash": "crash",
    "timeout": "time",
    "memory-limit": "mem",
    "import-error": "import",
    "unsupported-target": "target",
    "toolchain-error": "tool",
}

# Verdicts that depend on the machine or the moment. They never become a shared record.
LOCAL = frozenset({"crash", "timeout", "memory-limit", "import-error", "toolchain-error"})


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a source file: path relative to the manifest, 1-based line and column."""

    file: str
    line: int
    column: int | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a cell is red, in the compiler's own words."""

    verdict: str  # a key of SHORT
    stage: str  # import, options, frontend, ttir, ttgir, llir, ptx, cubin, amdgcn, hsaco, …
    message: str  # the line that says what is wrong
    error: str | None = None  # the exception's type
    raised: str | None = None  # the type of what leaves the launch, which may be wrapped around that
    detail: str = ""  # everything worth reading: exception text, diagnostics of fd 2
    pass_name: str | None = None  # the compiler pass that failed, where known
    position: Position | None = None


@dataclass(frozen=True, slots=True)
class Artifact:
    """One stage's output: the digest of its content and its size in bytes."""

    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What compiling a cell gave: all that is independent of where it came from."""

    failure: Failure | None = None  # None: the cell is ok
    seconds: float = 0.0  # wall clock, front end included
    stages: Mapping[str, float] = field(default_factory=dict)  # stage → seconds
    resources: Mapping[str, int | None] = field(default_factory=dict)
    artifacts: Mapping[str, Artifact] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """`ok` or the failure's kind."""
        return OK if self.failure is None else self.failure.verdict


@dataclass(frozen=True, slots=True)
class Failed:
    """A configuration that failed."""

    label: str  # `BLOCK=64, num_warps=4`
    failure: Failure


@dataclass(frozen=True, slots=True)
class Configs:
    """What became of an autotuned row's configurations."""

    ok: int
    of: int  # that were compiled
    total: int  # that a launch on this target chooses from, after pruning
    shown: str  # label of the one whose outcome the cell shows
    failed: tuple[Failed, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """A judged cell: its outcome, where that came from, and the keys it is filed under."""

    outcome: Outcome
    origin: str  # compiled, cached, cutoff, remote, predicted, skipped
    front_key: str | None = None
    back_key: str | None = None
    kernel_hash: str | None = None
    source: Position | None = None  # where the kernel is defined
    warning: Failure | None = None  # what will fail although the cell is ok, where the manifest asks only for a warning
    configs: Configs | None = None  # of an autotuned row


def failure_to_dict(failure: Failure | None) -> dict[str, Any] | None:
    """A failure as plain data for a record."""
    if failure is None:
        return None
    at = failure.position
    return {
        "verdict": failure.verdict,
        "stage": failure.stage,
        "message": failure.message,
        "error": failure.error,
        "raised": failure.raised,
        "detail": failure.detail,
        "pass_name": failure.pass_name,
        "position": [at.file, at.line, at.column] if at else None,
    }


def failure_from_dict(data: Mapping[str, Any] | None) -> Failure | None:
    """The inverse of `failure_to_dict`."""
    if data is None:
        return None
    at = data["position"]
    return Failure(**{**data, "position": Position(*at) if at else None})
