"""Failures with one cause share a fingerprint, failures with different causes do not.

`failures.json` holds what Triton 3.8.0 and 3.9.0 printed for kernels that do not compile, with each one's cause.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from portcheck.diagnose.fingerprint import fingerprint, normalise
from portcheck.diagnose.message import explain
from portcheck.verdicts import Failure

RECORDED = json.loads((Path(__file__).parent / "failures.json").read_text())


def failure(message: str, verdict: str = "mlir-error", stage: str = "ttgir") -> Failure:
    return Failure(verdict, stage, message)


def test_is_sixteen_hex_digits_and_stays_what_it_is() -> None:
    assert fingerprint(failure("PassManager::run failed")) == "416585239a30a1c7"


def test_recorded_failures_group_by_cause_across_targets_and_releases() -> None:
    by_cause = defaultdict(set)
    for entry in RECORDED:
        told = explain(entry["stage"], entry["error"], entry["text"], entry["stderr"])
        key = (entry["verdict"], entry["stage"], entry["cause"])
        by_cause[key].add(fingerprint(Failure(entry["verdict"], entry["stage"], told.message)))

    assert {key: prints for key, prints in by_cause.items() if len(prints) != 1} == {}
    assert len({min(prints) for prints in by_cause.values()}) == len(by_cause)


SAME = [
    ("unsupported target: 'gfx1030'", "unsupported target: 'gfx90a'"),
    ("Value 'sm_20' is not defined for option 'gpu-name'", "Value 'sm_121a' is not defined for option 'gpu-name'"),
    ("could not compile for cuda:90", "could not compile for hip:gfx942:sramecc+:xnack-"),
    ("in /tmp/tmp7x_k2mzq.ptx: bad", "in /var/folders/x/tmpaaaaaaaa.ptx:123: bad"),
    ("cannot open '/home/ann smith/k.py'", "cannot open '/work/k.py'"),
    ("kernels/a.py:3:0: bad", "other.py:14:22: bad"),
    ("got <function silu at 0x7f6ce7821bd0>", "got <function silu at 0x55d0>"),
    ("failed on %12 and %arg3", "failed on %3#1 and %cst_0"),
    ("Cannot select: t12: f32 = fmul t3, t4", "Cannot select: t7: f32 = fmul t3, t1"),
    ("tensor<32x32xi8, #blocked1>", "tensor<128x64xi8, #blocked>"),
    ("#ttg.dot_op<{parent = #ttg.blocked<{order = [1, 0]}>}>", "#ttg.dot_op<{parent = #ttg.nvidia_mma<{v = 2}>}>"),
    ("shape [1, 64] exceeds 65536 bytes", "shape [8] exceeds 512bytes"),
    ("no verdict after 300 s", "no verdict after 0.5 s"),
    (
        "AMD LLVM 6bc4aaf6641c56ee104f6200c96a6a571bc77052-1: no",
        "AMD LLVM 0bc4aaf6641c56ee104f6200c96a6a571bc77059-2: no",
    ),
    ("supported are ('fp8e5',)", "supported are ['fp8e4nv', 'fp8e5']"),
    ("valid are {'a', 'b'}", "valid are {'b', 'a', 'c'}"),
    ("a tile of 128x64", "a tile of 64x64x2"),
    ("session 3f2a1b9c-0d1e-4f5a-8b6c-7d8e9f0a1b2c", "session 00000000-0000-0000-0000-000000000001"),
    ("must be one of ('ieee', 'bf16x3'). Got x", "must be one of ('ieee', 'bf16x3', 'tf32'). Got x"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_equal_for_one_cause(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)
    assert fingerprint(failure(one)) == fingerprint(failure(other))


DIFFERENT = [
    ("Feature '.tile::scatter4' not supported", "Feature '.tile::gather4' not supported"),
    ("type fp8e4nv not supported", "type fp8e4b8 not supported"),
    ("only int8 supported!", "only int16 supported!"),
    ("'arith.extf' op operand #0 must be float", "'arith.truncf' op operand #0 must be float"),
    ("Feature 'add.bf16x2' requires", "Feature '.bf16x2' requires"),
    ("module 'triton.language' has no attribute 'a'", "module 'triton.language' has no attribute 'b'"),
    ("tensor<32x32xi8>", "tensor<32x32xf16>"),
    ("requires 'tf32'", "requires 'tf32x3'"),
    ("Unsupported conversion from 'f8E5M2' to 'f16'", "Unsupported conversion from 'f8E4M3FN' to 'f16'"),
    ("unknown option ('num_wraps')", "unknown option ('num_stage')"),
    ("operator '/' is unsupported", "operator '//' is unsupported"),
    ("Cannot select: intrinsic %llvm.nvvm.sin.approx.f", "Cannot select: intrinsic %llvm.nvvm.cos.approx.f"),
    ("KeyError: (triton.language.float16)", "KeyError: (triton.language.bfloat16)"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_for_different_causes(one: str, other: str) -> None:
    assert fingerprint(failure(one)) != fingerprint(failure(other))


def test_verdict_and_stage_are_part_of_it() -> None:
    assert fingerprint(failure("bad", stage="ttgir")) != fingerprint(failure("bad", stage="llir"))
    assert fingerprint(failure("bad", verdict="crash")) != fingerprint(failure("bad"))


def test_an_instruction_that_the_amd_assembler_refused_is_part_of_it() -> None:
    def refused(code: str) -> Failure:
        detail = f"rejected\ntriton-amdgpu-assembler:48:2: error: invalid instruction\n{code}\n\t^"
        return Failure("assembler-error", "hsaco", "invalid instruction", detail=detail)

    assert fingerprint(refused("\tmax.f32 s0, s0, 0f0;")) == fingerprint(refused("\tmax.f32 v1, v1, 0f0;"))
    assert fingerprint(refused("\tmax.f32 s0, s0, 0f0;")) != fingerprint(refused("\tgriddepcontrol.wait;"))


def test_an_assertion_that_says_nothing_is_told_by_where_it_stands() -> None:
    def asserted(file: str, line: int, pass_name: str) -> Failure:
        detail = f"python: /project/lib/{file}:{line}: void f(): Assertion `false' failed."
        return Failure("mlir-error", "ttgir", "Assertion `false' failed.", detail=detail, pass_name=pass_name)

    one = fingerprint(asserted("WSLowerToken.cpp", 66, "NVGPUWarpSpecialization"))
    assert one == fingerprint(asserted("WSLowerToken.cpp", 71, "NVGPUWarpSpecialization"))
    assert one != fingerprint(asserted("Utility.cpp", 66, "NVGPUWarpSpecialization"))
    assert one != fingerprint(asserted("WSLowerToken.cpp", 66, "TritonGPUPipeline"))


def test_detail_position_and_pass_of_others_are_not() -> None:
    assert fingerprint(Failure("crash", "ptx", "bad", detail="x", pass_name="P")) == fingerprint(
        failure("bad", "crash", "ptx")
    )
