"""From what a cell's process did to a verdict."""

from __future__ import annotations

import errno
import json
from typing import Any

import pytest

from portcheck.compiler.attempt import Attempt
from portcheck.compiler.outcome import import_failure, judge
from portcheck.compiler.tree import Imported
from portcheck.verdicts import Failure, Position

RAISED = {
    "verdict": "failed",
    "stage": "ttgir",
    "type": "builtins.RuntimeError",
    "text": "PassManager::run failed",
    "outer": "",
    "places": [],
    "environment": False,
    "errno": None,
    "times": {"frontend": 0.1},
    "seconds": 0.2,
}
OK = {"verdict": "ok", "times": {}, "seconds": 0.2}


def attempt(result: dict[str, Any] | None = None, **attributes: Any) -> Attempt:
    """An attempt whose process wrote `result`, or died."""
    plain: dict[str, Any] = {"stage": "llir", "death": None, "breach": None, "seconds": 1.0, "out": "", "err": ""}
    return Attempt(result=result, **{**plain, "marks": (("ttir", 0),), **attributes})


def failure(attempt: Attempt) -> Failure:
    """The failure of a red cell."""
    found = judge(attempt, timeout=60, max_rss=1 << 30).failure
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("stage", "verdict"),
    [
        ("options", "options-error"),
        ("frontend", "frontend-error"),
        ("ttir", "mlir-error"),
        ("ttgir", "mlir-error"),
        ("gluon_to_ttgir", "mlir-error"),
        ("llir", "mlir-error"),
        ("ptx", "llvm-error"),
        ("amdgcn", "llvm-error"),
        ("cubin", "assembler-error"),
        ("hsaco", "assembler-error"),
    ],
)
def test_the_stage_that_raises_gives_the_kind(stage: str, verdict: str) -> None:
    found = failure(attempt({**RAISED, "stage": stage, "text": "it cannot be done"}))

    assert (found.verdict, found.stage) == (verdict, stage)


@pytest.mark.parametrize(
    ("changes", "err", "verdict"),
    [
        ({"stage": "cubin", "text": "Value 'sm_20' is not defined for option 'gpu-name'"}, "", "unsupported-target"),
        ({}, "error: unsupported target: 'gfx900'", "unsupported-target"),
        ({"environment": True, "errno": errno.ENOSPC, "text": "[Errno 28] wrapped"}, "", "toolchain-error"),
        ({"environment": True, "type": "builtins.MemoryError", "text": ""}, "", "toolchain-error"),
        ({"text": "LLVM ERROR: IO failure: No space left on device"}, "", "toolchain-error"),
        ({"text": "Exception: ROCm linker /opt/rocm/llvm/bin/ld.lld not found"}, "", "toolchain-error"),
        ({"stage": "cubin", "text": "`ptxas` failed with error code -9"}, "", "crash"),
        ({"stage": "cubin", "text": "`ptxas` failed with error code 255"}, "", "assembler-error"),
        ({"environment": True, "errno": errno.EPIPE, "text": "[Errno 32] Broken pipe"}, "", "mlir-error"),
    ],
)  # fmt: skip
def test_what_says_more_than_the_stage(changes: dict[str, Any], err: str, verdict: str) -> None:
    assert failure(attempt({**RAISED, **changes}, err=err)).verdict == verdict


def test_a_breach_names_the_limit_and_the_stage() -> None:
    late = failure(attempt(death="its process was killed by signal 9", breach="timeout"))
    fat = failure(attempt(death="its process was killed by signal 9", breach="memory-limit"))

    assert (late.verdict, late.stage, late.message) == (
        "timeout", "llir", "still in stage llir after 60 s, and killed"
    )  # fmt: skip
    assert (fat.verdict, fat.message) == ("memory-limit", "more than 1.0 GiB of memory in stage llir, and killed")


def test_a_crash_is_told_in_the_compiler_s_last_words() -> None:
    found = failure(attempt(death="its process was killed by signal 6", err="LLVM ERROR: Cannot select: t1\n"))

    assert (found.verdict, found.stage) == ("crash", "llir")
    assert "Cannot select" in found.message
    assert found.detail.startswith("its process was killed by signal 6 in stage llir")


def test_a_full_disk_is_no_crash() -> None:
    err = "LLVM ERROR: IO failure on output stream: No space left on device"

    assert failure(attempt(death="its process was killed by signal 6", err=err)).verdict == "toolchain-error"


def test_an_error_printed_behind_the_front_end_is_red_and_one_within_it_is_not() -> None:
    err = "x.py:1:2: error: of the front end\nfine\nx.py:9:3: error: could not allocate output register\n"
    begin = err.index("fine")
    marks = (("options", 0), ("frontend", 0), ("ttir", begin), ("llir", begin + 2), ("amdgcn", begin + 5))

    found = failure(attempt(OK, err=err, marks=marks))

    assert (found.verdict, found.stage) == ("unraised-error", "amdgcn")
    assert "could not allocate output register" in found.message
    assert judge(attempt(OK, err=err[:begin], marks=marks), 60, 1 << 30).failure is None


def test_marks_count_bytes_though_output_is_text() -> None:
    printed = "…" * 50  # three bytes each
    err = f"{printed}\nx.py:9:3: error: too late\n"
    marks = (("frontend", 0), ("ttir", len(f"{printed}\n".encode())))

    assert failure(attempt(OK, err=err, marks=marks)).stage == "ttir"


def test_the_position_is_the_user_s_line() -> None:
    places = [["dist/triton/language/core.py", 7, 1], ["helpers.py", 3, 5], ["kernels.py", 9, 5]]
    ours = failure(attempt({**RAISED, "stage": "frontend", "text": "no", "places": places}))
    only_theirs = failure(attempt({**RAISED, "stage": "frontend", "text": "no", "places": places[:1]}))

    assert ours.position == Position("helpers.py", 3, 5)
    assert only_theirs.position == Position("dist/triton/language/core.py", 7, 1)


def test_resources_are_those_of_the_metadata_and_the_tools() -> None:
    metadata = json.dumps({"shared": 512, "tmem_size": 0, "num_warps": 4, "target": {"warp_size": 32}}).encode()
    ptxas = "ptxas info : Used 21 registers, used 1 barriers\n8 bytes spill stores, 8 bytes spill loads\n"
    amdgcn = b".vgpr_count: 17\n.vgpr_spill_count: 2\n"

    nvidia = judge(attempt(OK, out=ptxas, files={"json": metadata}), 60, 1 << 30)
    amd = judge(attempt(OK, files={"json": metadata.replace(b"32", b"64"), "amdgcn": amdgcn}), 60, 1 << 30)
    none = judge(attempt(OK), 60, 1 << 30)

    assert nvidia.resources == {
        "shared": 512, "tmem": 0, "registers": 21, "spills": 8, "num_warps": 4, "threads": 128
    }  # fmt: skip
    assert (amd.resources["registers"], amd.resources["spills"], amd.resources["threads"]) == (17, 2, 256)
    assert none.resources == {}


def imported(**attributes: Any) -> Imported:
    """An import that failed."""
    return Imported(**{"error": None, "kernels": {}, "inputs": (), "asked": (), "output": "", **attributes})


def test_failed_imports() -> None:
    error = {
        "type": "builtins.KeyError",
        "text": "'x'",
        "traceback": "Traceback…",
        "place": ["kernels.py", 3],
        "missing_module": None,
    }
    raised = import_failure(imported(error=error, output="printed"), "kernels.py", 60)
    died = import_failure(imported(death="its process exited with status 7"), "kernels.py", 60)
    hung = import_failure(imported(death="its process was killed by signal 9", breach="timeout"), "kernels.py", 60)

    assert (raised.verdict, raised.message) == ("import-error", "KeyError: 'x'")
    assert (raised.position, raised.detail) == (Position("kernels.py", 3), "Traceback…\nprinted")
    assert died.message == "importing kernels.py failed: its process exited with status 7"
    assert (hung.verdict, hung.stage) == ("timeout", "import")


@pytest.mark.parametrize(
    ("text", "missing", "unit", "hint"),
    [
        (
            "No module named 'helper'",
            "helper",
            "ops/gpu/k.py",
            "if ops/gpu/helper is meant, import ops.gpu.helper",
        ),
        ("attempted relative import with no known parent package", None, "ops/k.py", "name it as the module ops.k"),
        ("No module named 'helper'", "helper", "k.py", "No module named 'helper'"),
    ],
)
def test_what_a_kernel_file_may_import_is_said(text: str, missing: str | None, unit: str, hint: str) -> None:
    error = {"type": "ImportError", "text": text, "traceback": "", "place": None, "missing_module": missing}

    assert import_failure(imported(error=error), unit, 60).message.endswith(hint)
