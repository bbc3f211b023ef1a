"""A target: the backend and the architecture that a binary is compiled for, written `cuda:90` or `hip:gfx942`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from portcheck.errors import UsageError
from portcheck.patterns import is_wild, matches, suggestion

BACKENDS = {"cuda": re.compile(r"[1-9][0-9]{1,2}"), "hip": re.compile(r"gfx[0-9a-f]{3,5}")}
_NVIDIA = re.compile(r"(?:(?:cuda|nvidia):)?(?:sm|compute)_?([1-9][0-9]{1,2})[af]?", re.IGNORECASE)
_AMD = re.compile(r"(?:(?:rocm|amd|amdgpu|amdgcn):)?(gfx[0-9a-f]{3,5})(?::.*)?")
EXAMPLES = {"cuda": "cuda:90", "hip": "hip:gfx942"}


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """One GPU architecture of one backend. Whether a Triton release supports it is the compiler's to say."""

    backend: str
    arch: str

    def __str__(self) -> str:
        return f"{self.backend}:{self.arch}"

    @property
    def warp_size(self) -> int:
        """Threads a warp: 64 on AMD's GCN and CDNA (gfx9…), 32 elsewhere, as Triton's own drivers report it."""
        return 64 if self.arch.startswith("gfx9") else 32

    def matches(self, pattern: str) -> bool:
        """Is this target selected by `pattern`, for example `hip:*`?"""
        return matches(pattern, str(self))


def parse_target(text: str) -> Target:
    """Read `cuda:90` or `hip:gfx942`.

    Raises:
        UsageError: the text has no such form, or names an unknown backend.
    """
    backend, colon, arch = text.partition(":")
    if meant := _elsewhere(text):
        raise UsageError(f'unknown target "{text}": write {meant}')
    if backend not in BACKENDS:
        raise UsageError(
            f'unknown target "{text}"{suggestion(backend, BACKENDS) if colon else ""}: '
            f"a target is written BACKEND:ARCH, for example {' or '.join(EXAMPLES.values())}"
        )
    if not BACKENDS[backend].fullmatch(arch):
        raise UsageError(f'malformed target "{text}": write it like {EXAMPLES[backend]}')
    return Target(backend, arch)


def _elsewhere(text: str) -> str | None:
    """The target that `text` names as other tools write it: sm_90, compute_90a, gfx942, rocm:gfx942, sm90."""
    if match := _NVIDIA.fullmatch(text):
        return f"cuda:{match[1]}"
    if match := _AMD.fullmatch(text):
        return f"hip:{match[1]}"
    return None


def check_pattern(pattern: str) -> str:
    """Return `pattern` if it is a target or a wildcard over targets.

    Raises:
        UsageError: it is neither.
    """
    if not is_wild(pattern):
        return str(parse_target(pattern))
    literal = re.split(r"[*?]", pattern, maxsplit=1)[0]
    if not any(f"{backend}:".startswith(literal) or literal.startswith(f"{backend}:") for backend in BACKENDS):
        raise UsageError(
            f'target pattern "{pattern}" matches no backend{suggestion(literal.partition(":")[0], BACKENDS)}: '
            "write for example hip:* or cuda:1*"
        )
    return pattern
