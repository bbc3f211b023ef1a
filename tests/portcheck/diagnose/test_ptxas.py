"""From a line of PTX to a line of the kernel. The PTX is Triton 3.9.0's for inline assembly in a helper of a helper."""

from __future__ import annotations

from pathlib import Path

from portcheck.diagnose.ptxas import ptxas_errors, ptxas_position
from portcheck.verdicts import Position

PTX = (Path(__file__).parent / "printed" / "inline_asm_cuda75.ptx").read_text()


def said(line: int) -> str:
    return f"ptxas /tmp/tmp99mu8nsu.ptx, line {line}; error   : Feature 'add.bf16x2' requires .target sm_90 or higher\n"


def line_of(text: str) -> int:
    return PTX.splitlines().index(next(line for line in PTX.splitlines() if text in line)) + 1


def test_the_nearest_loc_before_the_line_is_the_position() -> None:
    assert ptxas_position(PTX, said(line_of("add.rn.bf16x2"))) == Position("kernels/k2.py", 38, 12)


def test_the_first_error_that_has_a_line_counts() -> None:
    stderr = "ptxas fatal   : no line here\n" + said(line_of("add.rn.bf16x2")) + said(1)

    assert ptxas_position(PTX, stderr) == Position("kernels/k2.py", 38, 12)


def test_code_of_tritons_library_is_traced_to_the_users_call() -> None:
    assert ptxas_position(PTX, said(line_of("standard.py:287:12"))) == Position("kernels/k2.py", 35, 17)


def test_no_position_without_a_line_or_line_information() -> None:
    assert ptxas_position(PTX, "ptxas fatal   : Value 'sm_20' is not defined for option 'gpu-name'\n") is None
    assert ptxas_position(".version 8.8\n.target sm_75\nret;\n", said(3)) is None
    assert ptxas_position(".loc 1 3 5\nret;\n", said(2)) is None


def test_text_that_is_not_from_ptxas_has_no_ptxas_errors() -> None:
    assert ptxas_errors("error: could not allocate output register\n") == []


def test_the_folder_of_the_ptx_may_have_blanks_in_its_name() -> None:
    text = "ptxas /home/ann o'hara/tmp/tmp99mu8nsu.ptx, line 47; error   : Feature 'x' requires .target sm_90\n"

    assert ptxas_errors(text + "ptxas fatal   : Ptx assembly aborted due to errors\n") == [
        "Feature 'x' requires .target sm_90"
    ]
