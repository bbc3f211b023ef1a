"""What a manifest says, parsed: frozen values that the rest of portcheck reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from portcheck.target import Target

CURRENT = "current"


@dataclass(frozen=True, slots=True)
class KernelRef:
    """Where a kernel is: a module or a file, and the function in it. Exactly one of `module` and `file` is set."""

    module: str | None
    file: str | None  # relative to the manifest's folder, with forward slashes
    function: str  # may be dotted: `Class.kernel`

    def __str__(self) -> str:
        return f"{self.module or self.file}:{self.function}"

    @property
    def unit(self) -> str:
        """What has to be imported to reach the kernel: the module's name, or the file's path."""
        return self.module or self.file or ""


@dataclass(frozen=True, slots=True)
class Argument:
    """The abstract facts of one run-time argument, from which every backend derives its own attributes."""

    type: str  # Triton's type string, without marks: `*fp16`, `i32`, `tensordesc<fp16[64, 128]>`
    divisible: bool = False  # the value (the address, for a pointer) is divisible by 16
    large: bool = False  # a tensor over 2 GiB


# A constant or an option in canonical form: None is {"none": True}; str, bool, int, float as they are; a tuple is
# {"tuple": [...]}; and {"dtype": "fp16"}, {"jit": "module:function"}, {"constexpr": value}.
Value = Any


@dataclass(frozen=True, slots=True)
class Constant:
    """An element of a tuple argument that is known at compile time, such as a stride of 1."""

    value: Value


# A tuple argument nests.
ArgumentTree = Argument | Constant | tuple["ArgumentTree", ...]


@dataclass(frozen=True, slots=True)
class Expectation:
    """One `xfail` entry: where the row is known to fail."""

    target: str  # a target or a pattern
    triton: str | None = None  # a version specifier such as `<3.9`; None: every release
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """What `[defaults]` gives and a kernel may override."""

    targets: tuple[Target, ...]
    triton: tuple[str, ...] = (CURRENT,)
    timeout: float = 300.0  # seconds a cell
    max_rss: int = 8 << 30  # bytes a cell, over its whole process tree
    launch_limits: str = "fail"  # warn, off
    xfail_strict: bool = False
    autotune: str = "any"  # all
    configs: str = "first"  # extremes, all, sample:N
    env: Mapping[str, str] = field(default_factory=dict)
    setup: str | None = None  # module:function


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """The `[cache]` table."""

    dir: str | None = None
    remote: str | None = None
    read: tuple[str, ...] = ("main",)
    write: str = "main"
    salt: str = ""
    sign: str | None = None
    max_size: int = 5 << 30  # bytes


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the matrix: a kernel, or a variant of it, with everything that decides how it is compiled."""

    kernel: str
    variant: str | None
    ref: KernelRef
    signature: Mapping[str, ArgumentTree]
    constants: Mapping[str, Value]
    options: Mapping[str, Value]
    backend_options: Mapping[str, Mapping[str, Value]]  # backend → options that only it gets
    settings: Settings  # its targets as given: see `targets` for what `skip` leaves
    xfail: tuple[Expectation, ...]
    where: str  # for messages: `portcheck.toml: kernel "attn"` or `portcheck.toml: kernel "attn" variant "bf16"`
    skip: tuple[str, ...] = ()  # targets and patterns that this row is never compiled for

    @property
    def name(self) -> str:
        """How the row is shown: `attention` or `attention[bf16]`."""
        return self.kernel if self.variant is None else f"{self.kernel}[{self.variant}]"

    @property
    def targets(self) -> tuple[Target, ...]:
        """The row's own targets without those that it skips."""
        return tuple(target for target in self.settings.targets if not self.skips(target))

    def skips(self, target: Target) -> bool:
        """Does a `skip` pattern of this row match `target`?"""
        return any(target.matches(pattern) for pattern in self.skip)

    def options_for(self, backend: str) -> dict[str, Value]:
        """The launch options as one backend gets them."""
        return {**self.options, **self.backend_options.get(backend, {})}


@dataclass(frozen=True, slots=True)
class Manifest:
    """A whole manifest."""

    path: Path
    rows: tuple[Row, ...]
    defaults: Settings
    cache: CacheSettings

    @property
    def folder(self) -> Path:
        """The folder that paths in the manifest are relative to."""
        return self.path.parent
