"""What one Triton supports, for `portcheck targets`: as text, and as JSON of the schema `portcheck-targets/1`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from portcheck import __version__
from portcheck.compiler.tables import Tables, TargetTable
from portcheck.diagnose.limits import Limits, Source

SCHEMA = "portcheck-targets/1"
_HEAD = ("target", "compiles", "warp", "fp8 types", "shared", "tmem", "threads", "registers")
_UNKNOWN = "?"
_NOTE = (
    "Compiles: a trivial kernel does, yours may not. Shared memory in bytes, tensor memory in columns and threads "
    "are the most that a block may have, registers the most of a thread. At a ? nothing is known and nothing judged."
)


def as_dict(tables: Tables) -> dict[str, Any]:
    """Everything, as plain data."""
    toolchain = tables.toolchain
    return {
        "schema": SCHEMA,
        "tool": {"name": "portcheck", "version": __version__},
        "toolchain": {"triton": toolchain.release, "python": toolchain.python, "digest": toolchain.digest},
        "llvm": tables.llvm,
        "amd_llvm": tables.amd_llvm,
        "ptxas": dict(tables.ptxas),
        "libdevice": {
            backend: {"count": len(functions), "functions": list(functions)}
            for backend, functions in tables.libdevice.items()
        },
        "targets": [
            {
                "target": str(one.target),
                "compiles": one.trouble is None,
                "trouble": one.trouble,
                "warp_size": one.warp_size,
                "fp8": list(one.fp8),
                "limits": asdict(one.limits) if one.limits else None,
            }
            for one in tables.targets
        ],
    }


def render(tables: Tables) -> str:
    """The same for people, but for the names of libdevice's functions."""
    return "\n\n".join(["\n".join(_tools(tables)), "\n".join(_table(tables)), *_rest(tables), _NOTE]) + "\n"


def _tools(tables: Tables) -> Iterator[str]:
    toolchain = tables.toolchain
    programs = [f"{program} {version}" for program, version in tables.ptxas.items()]
    llvm = f"LLVM {tables.llvm or 'of unknown version'}"
    amd = [f"for AMD LLVM {tables.amd_llvm[:12]}"] if tables.amd_llvm else []
    yield " · ".join([f"Triton {toolchain.release} (Python {toolchain.python})", llvm, *amd, *programs])
    counts = {backend: len(functions) for backend, functions in tables.libdevice.items()}
    functions = [f"{count} function{'' if count == 1 else 's'} for {backend}" for backend, count in counts.items()]
    yield f"libdevice: {', '.join(functions)}"


def _table(tables: Tables) -> Iterator[str]:
    rows = [_HEAD, *map(_row, tables.targets)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def _row(one: TargetTable) -> tuple[str, ...]:
    fp8 = " ".join(one.fp8) or "-"
    return (str(one.target), "no" if one.trouble else "yes", str(one.warp_size), fp8, *_numbers(one.limits))


def _numbers(limits: Limits | None) -> tuple[str, ...]:
    if limits is None:
        return (_UNKNOWN,) * 4
    return (str(limits.shared), str(limits.tmem or "-"), str(limits.threads), str(limits.registers))


def _rest(tables: Tables) -> Iterator[str]:
    troubles: dict[str, list[str]] = {}
    for one in tables.targets:
        if one.trouble:
            troubles.setdefault(one.trouble, []).append(str(one.target))
    if troubles:
        yield "\n".join(["Does not compile", *(f"   {', '.join(on)}: {why}" for why, on in troubles.items())])
    limited = {one.target: one.limits for one in tables.targets if one.limits}
    sources: dict[Source, None] = dict.fromkeys(s for limits in limited.values() for s in limits.sources.values())
    if sources:
        yield "\n".join(["Limits are from", *(f"   {s.title}: {s.says}\n      {s.link}" for s in sources)])
    doubts = [f"   {target}: {limits.unverified}" for target, limits in limited.items() if limits.unverified]
    if doubts:
        yield "\n".join(["Not verified", *doubts])
