"""The line worth reading, out of what Triton raised and what it printed.

`printed/` holds real output of Triton 3.9.0.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from portcheck.diagnose.message import explain

PRINTED = Path(__file__).parent / "printed"
HOLLOW = "PassManager::run failed"

FRONTEND = [
    (  # the cause is quoted as a repr
        "CompilationError",
        "at 1:0:\ndef narrow(x_ptr):\n^\nValueError(\"type fp8e4nv not supported. Supported are ('fp8e5')\")",
        "type fp8e4nv not supported. Supported are ('fp8e5')",
    ),
    (  # the chain's outer link repeats the inner one's text
        "builtins.ValueError",
        "at 2:8:\ndef f(x):\n    c = tl.arange(0, C)\n        ^\nnumel (2) exceeds 1\nnumel (2) exceeds 1",
        "numel (2) exceeds 1",
    ),
    (  # an error in a helper: the outer link has no text of its own
        "triton.compiler.errors.CompilationError",
        "at 3:4:\ndef k(p):\n    h(p)\n    ^\n"
        "at 2:11:\ndef h(x):\n    return u(x)\n           ^\nNameError('u is not defined')",
        "u is not defined",
    ),
    (
        "builtins.KeyError",
        "at 4:24:\ndef k(x):\n    y = libdevice.tanh(x)\n        ^\n"
        "(triton.language.float16)\n(triton.language.float16)",
        "KeyError: (triton.language.float16)",
    ),
    ("builtins.KeyError", "'some key'", "KeyError: 'some key'"),
    ("builtins.AssertionError", "", "AssertionError"),
    ("builtins.TypeError", "unexpected type fp8e5 and int32", "unexpected type fp8e5 and int32"),
    (  # a static assertion without a text says its source
        "triton.compiler.errors.CompileTimeAssertionFailure",
        "at 2:4:\ndef k(p, N: tl.constexpr):\n    tl.static_assert(N > 5)\n    ^",
        "CompileTimeAssertionFailure: tl.static_assert(N > 5)",
    ),
    ("builtins.ValueError", "ValueError(f(x))", "ValueError(f(x))"),
]


@pytest.mark.parametrize(("error", "text", "message"), FRONTEND)
def test_front_end_errors_say_the_innermost_cause(error: str, text: str, message: str) -> None:
    told = explain("frontend", error, text, stderr="")

    assert told.message == message
    assert told.detail == text.strip()
    assert told.pass_name is None


FD2 = [
    ("int8_dot_cuda75.txt", "'arith.extf' op operand #0 must be floating-point-like", "TritonGPUAccelerateMatmul"),
    ("fp8_sum_cuda90.txt", "invalid element type in packLLElements. Expected 'i8' but", "ConvertTritonGPUToLLVM"),
    ("num_ctas_cuda90.txt", 'Assertion `numCTAs == 1 && "remote CTA is not supported', "NVGPUWarpSpecialization"),
    ("fp8_cast_gfx942.txt", "Unsupported conversion from 'f8E5M2' to 'f8E4M3FN'", "ConvertTritonAMDGPUToLLVM"),
]


@pytest.mark.parametrize(("file", "message", "pass_name"), FD2)
def test_a_failed_pass_is_explained_by_fd_2(file: str, message: str, pass_name: str) -> None:
    told = explain("ttgir", "builtins.RuntimeError", HOLLOW, (PRINTED / file).read_text())

    assert told.message.startswith(message)
    assert told.pass_name == pass_name
    assert told.message in told.detail
    assert "tt.func" not in told.detail
    assert "mlir_reproducer" not in told.detail


def test_source_excerpts_and_notes_stay_in_the_detail() -> None:
    told = explain("llir", "builtins.RuntimeError", HOLLOW, (PRINTED / "fp8_sum_cuda90.txt").read_text())

    assert "kernels/fp8_arith.py:13:17: note: called from\n    tl.store(o, tl.sum(" in told.detail


def test_a_failed_pass_with_an_empty_fd_2_keeps_the_exception() -> None:
    assert explain("ttgir", "builtins.RuntimeError", HOLLOW, "").message == HOLLOW


def test_the_amd_assembler_says_its_reason_on_fd_2() -> None:
    stderr = (
        "triton-amdgpu-assembler:49:2: error: invalid instruction\n        max.f32 s0, s0, 0f00000000;\n        ^\n"
    )

    told = explain("hsaco", "builtins.RuntimeError", "AMD LLVM 6bc4-1: AMD assembler rejected generated AMDGCN", stderr)

    assert told.message == "invalid instruction"
    assert "max.f32 s0, s0" in told.detail


def test_the_linker_says_its_reason_in_the_exception_if_nothing_is_on_fd_2() -> None:
    text = (
        "LLD failed to link hsaco source /tmp/tmp3kq0v_a1 into object file /tmp/tmp1m9xz_fw because ld.lld: error: no\n"
    )

    told = explain("hsaco", "builtins.RuntimeError", text, "")

    assert told.message == "ld.lld: error: no"
    assert "tmp3kq0v_a1" not in told.detail


PTXAS = """PTXAS error: Internal Triton PTX codegen error
`ptxas` stderr:
ptxas-blackwell /tmp/tmp67jkg1eu.ptx, line 385; error   : Feature '.tile::scatter4' not supported on .target 'sm_90a'
ptxas-blackwell /tmp/tmp67jkg1eu.ptx, line 390; error   : Feature '.tile::scatter4' not supported on .target 'sm_90a'
ptxas-blackwell /tmp/tmp67jkg1eu.ptx, line 391; error   : Modifier '.wait' requires .target sm_90 or higher
ptxas-blackwell fatal   : Ptx assembly aborted due to errors

Repro command: /opt/venv/bin/ptxas-blackwell -v --gpu-name=sm_90a /tmp/tmp67jkg1eu.ptx -o /tmp/tmp67jkg1eu.ptx.o
"""


def test_ptxas_errors_are_told_once_each_without_temporary_names() -> None:
    told = explain("cubin", "triton.runtime.errors.PTXASError", PTXAS, "")

    assert told.message == "Feature '.tile::scatter4' not supported on .target 'sm_90a'"
    assert told.detail.splitlines() == [told.message, "Modifier '.wait' requires .target sm_90 or higher"]


def test_ptxas_text_is_found_on_fd_1_if_the_exception_lacks_it() -> None:
    assert explain("cubin", "PTXASError", "", "", stdout=PTXAS).message.startswith("Feature '.tile::scatter4'")


def test_an_unknown_arch_is_fatal_for_ptxas() -> None:
    text = "`ptxas` stderr:\nptxas fatal   : Value 'sm_20' is not defined for option 'gpu-name'\n"

    assert explain("cubin", "PTXASError", text, "").message == "Value 'sm_20' is not defined for option 'gpu-name'"


CRASHES = [
    ("LLVM ERROR: PTX version 8.8 does not support target 'sm_88'.\n", "LLVM ERROR: PTX version 8.8 does not support"),
    ('python: /project/A.cpp:36: int f(): Assertion `false && "no"\' failed.\nPLEASE submit\n', "Assertion `false &&"),
    ("k.py:3:1: error: first\nLLVM ERROR: then it died\n", "LLVM ERROR: then it died"),
    ("k.py:3:1: error: first\n", "first"),
    ("", "killed by SIGSEGV"),
]


@pytest.mark.parametrize(("stderr", "message"), CRASHES)
def test_a_process_that_died_says_its_last_words(stderr: str, message: str) -> None:
    told = explain("ptx", None, "killed by SIGSEGV", stderr)

    assert told.message.startswith(message)
    assert "killed by SIGSEGV" in told.detail


def test_the_stage_is_named_if_nothing_was_said() -> None:
    assert explain("ptx", None, "", "").message == "no reason was given in stage ptx"


def test_detail_is_bounded() -> None:
    assert len(explain("ttgir", "RuntimeError", HOLLOW, "k.py:1:1: error: " + "long, " * 100_000).detail) < 20_000
