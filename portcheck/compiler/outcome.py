"""From what a cell's process did to what became of the cell."""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from portcheck.compiler.attempt import Attempt
from portcheck.compiler.tree import Imported
from portcheck.diagnose.message import explain, location, ptxas_position, unraised_error
from portcheck.sizes import format_size
from portcheck.verdicts import Failure, Position

# Which kind of failure a stage raises. Stages that are not here belong to MLIR's pipelines.
KINDS = {
    "options": "options-error",
    "frontend": "frontend-error",
    "ptx": "llvm-error",
    "amdgcn": "llvm-error",
    "cubin": "assembler-error",
    "hsaco": "assembler-error",
}
_UNSUPPORTED = re.compile(
    r"is not defined for option 'gpu-name'"  # ptxas does not know the architecture
    r"|unsupported target: '?gfx"  # Triton's AMD passes do not
)
_MACHINE = re.compile(
    r"No space left on device|Too many open files|Cannot allocate memory|Disk quota exceeded"
    r"|ld\.lld (?:not found|does not work)|Cannot find ptxas|ptxas.*: (?:not found|Permission denied)"
)
_KILLED_TOOL = re.compile(r"`?ptxas`? failed with error code -\d+|raised SIG")
_MACHINE_ERRNOS = {errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EDQUOT, errno.ENOENT, errno.EACCES}
_FRONT = {"options", "frontend"}


@dataclass(frozen=True, slots=True)
class Compiled:
    """A finished attempt, judged: the failure if any, and what was measured."""

    failure: Failure | None
    seconds: float
    stages: Mapping[str, float]
    resources: Mapping[str, int | None]
    files: Mapping[str, bytes]  # stage → its output


def import_failure(imported: Imported, unit: str, timeout: float) -> Failure:
    """The failure of every row whose module could not be imported."""
    if imported.breach:
        message = f"importing {unit} did not finish within {timeout:g} s"
        return Failure("timeout", "import", message, detail=imported.output)
    if imported.error is None:
        message = f"importing {unit} failed: {imported.death}"
        return Failure("import-error", "import", message, detail=imported.output)
    error = imported.error
    name = str(error["type"]).removeprefix("builtins.")
    message = f"{name}: {error['text']}".splitlines()[0] if error["text"] else name
    message += _import_hint(error, unit)
    at = Position(error["place"][0], error["place"][1]) if error["place"] else None
    detail = "\n".join(filter(None, (error["traceback"].rstrip(), imported.output.rstrip())))
    return Failure("import-error", "import", message, error=error["type"], detail=detail, position=at)


def _import_hint(error: Mapping[str, Any], unit: str) -> str:
    """What to do if a kernel file in a folder takes its own folder for importable, or itself for part of a package."""
    folder, _, file = unit.rpartition("/")
    if not folder or not file.endswith(".py"):
        return ""
    package = folder.replace("/", ".")
    if "no known parent package" in error["text"]:
        return f": a kernel file is no part of a package; name it as the module {package}.{file.removesuffix('.py')}"
    if missing := error["missing_module"]:
        where = f"{folder}/{missing.replace('.', '/')}"
        return f": only the manifest's folder is importable; if {where} is meant, import {package}.{missing}"
    return ""


def judge(attempt: Attempt, timeout: float, max_rss: int) -> Compiled:
    """What became of a cell. `timeout` in seconds and `max_rss` in bytes are the limits that applied."""
    result = attempt.result
    if result is None:
        return Compiled(_death(attempt, timeout, max_rss), attempt.seconds, {}, {}, attempt.files)
    if result["verdict"] == "failed":
        failure: Failure | None = _raised(attempt, result)
    else:
        failure = _unraised(attempt)
    return Compiled(failure, result["seconds"], result["times"], _resources(attempt), attempt.files)


def _death(attempt: Attempt, timeout: float, max_rss: int) -> Failure:
    if attempt.breach == "timeout":
        return Failure("timeout", attempt.stage, f"still in stage {attempt.stage} after {timeout:g} s, and killed")
    if attempt.breach == "memory-limit":
        message = f"more than {format_size(max_rss)} of memory in stage {attempt.stage}, and killed"
        return Failure("memory-limit", attempt.stage, message)
    if attempt.broken:
        return Failure("toolchain-error", attempt.stage, f"the outcome could not be reported: {attempt.broken}")
    said = explain(attempt.stage, None, attempt.death or "", attempt.err, attempt.out)
    if _MACHINE.search(attempt.err):
        return Failure("toolchain-error", attempt.stage, said.message, detail=said.detail)
    detail = f"{attempt.death} in stage {attempt.stage}\n{said.detail}".strip()
    return Failure("crash", attempt.stage, said.message, detail=detail, pass_name=said.pass_name)


def _raised(attempt: Attempt, result: Mapping[str, Any]) -> Failure:
    stage, text = result["stage"], result["text"]
    said = explain(stage, result["type"], text, attempt.err, attempt.out)
    everything = f"{text}\n{attempt.err}"
    detail = said.detail if not result["outer"] else f"{said.detail}\n\n{result['outer']}".strip()
    return Failure(
        _kind(stage, everything, result),
        stage,
        said.message,
        error=result["type"],
        raised=result.get("raised_by"),
        detail=detail,
        pass_name=said.pass_name,
        position=_position(attempt, result, text),
    )


def _kind(stage: str, text: str, result: Mapping[str, Any]) -> str:
    if result["environment"] and (result["errno"] in _MACHINE_ERRNOS or result["type"] == "builtins.MemoryError"):
        return "toolchain-error"
    if _MACHINE.search(text):
        return "toolchain-error"
    if _KILLED_TOOL.search(text):
        return "crash"
    if _UNSUPPORTED.search(text):
        return "unsupported-target"
    return KINDS.get(stage, "mlir-error")


def _position(attempt: Attempt, result: Mapping[str, Any], text: str) -> Position | None:
    places = [Position(*place) for place in result["places"]]
    if places:
        # The innermost place may be in Triton's own library; the user's line is where it was called from.
        return next((at for at in places if not at.file.startswith("dist/triton/")), places[-1])
    first = result.get("first_column", 1)
    if ptx := attempt.files.get("ptx"):
        at = ptxas_position(ptx.decode(errors="replace"), f"{text}\n{attempt.out}", first)
        if at:
            return at
    return location(attempt.err, first)


def _unraised(attempt: Attempt) -> Failure | None:
    """The compiler printed an error after the front end, and returned a binary all the same."""
    printed = attempt.raw or attempt.err.encode()
    first = (attempt.result or {}).get("first_column", 1)
    marks = [mark for mark in attempt.marks if mark[0] not in _FRONT]
    ends = [begin for _, begin in marks[1:]] + [len(printed)]
    for (stage, begin), end in zip(marks, ends, strict=False):
        part = printed[begin:end].decode(errors="replace")
        if (message := unraised_error(part)) is not None:
            return Failure("unraised-error", stage, message, detail=part.strip()[:8000], position=location(part, first))
    return None


def _resources(attempt: Attempt) -> dict[str, int | None]:
    """Shared memory, tensor memory, warps and threads from Triton's metadata; registers and spills from the tools."""
    try:
        metadata = json.loads(attempt.files["json"])
    except (KeyError, ValueError):
        return {}
    warps = metadata.get("num_warps")
    warp_size = metadata.get("warp_size") or (metadata.get("target") or {}).get("warp_size")
    registers, spills = _registers(attempt)
    return {
        "shared": metadata.get("shared"),
        "tmem": metadata.get("tmem_size"),
        "registers": registers,
        "spills": spills,
        "num_warps": warps,
        "threads": warps * warp_size if warps and warp_size else None,
    }


_PTXAS_REGISTERS = re.compile(r"Used (\d+) registers")
_PTXAS_SPILLS = re.compile(r"(\d+) bytes spill stores")
_AMD_REGISTERS = re.compile(rb"\.vgpr_count:\s+(\d+)")
_AMD_SPILLS = re.compile(rb"\.vgpr_spill_count:\s+(\d+)")


def _registers(attempt: Attempt) -> tuple[int | None, int | None]:
    """Registers a thread and spills: bytes stored on NVIDIA, VGPRs on AMD; the most of any function."""
    amdgcn = attempt.files.get("amdgcn")
    if amdgcn is not None:
        return _most(_AMD_REGISTERS.findall(amdgcn)), _most(_AMD_SPILLS.findall(amdgcn))
    return _most(_PTXAS_REGISTERS.findall(attempt.out)), _most(_PTXAS_SPILLS.findall(attempt.out))


def _most(numbers: list[bytes] | list[str]) -> int | None:
    return max(map(int, numbers), default=None)
