"""The report as people see it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from dataclasses import replace

from portcheck import __version__
from portcheck.baseline import entry_of
from portcheck.cells import Cell
from portcheck.diagnose.signatures import advise
from portcheck.manifest.model import Expectation, Settings
from portcheck.report.matrix import render
from portcheck.report.model import MISSING, build
from portcheck.report.note import NOTE
from portcheck.toolchain.model import Toolchain
from portcheck.verdicts import Failure, Position, Result

Judge = Callable[..., tuple[Cell, Result]]
Tool = Callable[[str], Toolchain]


def test_a_whole_report(judge: Judge, toolchain: Tool, tgamma: Failure) -> None:
    judged = [
        judge("axpy@cuda:75@3.9.0", seconds=0.2),
        judge("axpy@cuda:90@3.9.0", origin="cached"),
        judge("axpy@hip:gfx942@3.9.0"),
        judge(
            "dot[int8]@cuda:75@3.9.0",
            Failure(
                "mlir-error",
                "ttgir",
                "'arith.extf' op operand #0 must be float",
                detail="ops.py:3:1: error: 'arith.extf' op operand #0 must be float\n    tl.dot(x, y)",
                pass_name="TritonGPUAccelerateMatmul",
                position=Position("kernels.py", 12, 47),
            ),
        ),
        judge("dot[int8]@cuda:90@3.9.0"),
        judge("gamma@cuda:75@3.9.0"),
        judge("gamma@cuda:90@3.9.0"),
        judge("gamma@hip:gfx942@3.9.0", tgamma),
    ]

    advice = advise(tgamma)
    assert advice is not None
    why, do = (
        textwrap.fill(text, 111, break_on_hyphens=False).replace("\n", "\n" + 9 * " ")
        for text in (advice.why, advice.do)
    )
    text = render(build(judged, [toolchain("3.9.0")], 7.06, lambda cell: None), color=False, width=None)

    assert (
        text
        == f"""\
portcheck {__version__} · Triton 3.9.0 (Python 3.11.7) · no GPU involved

           cuda:75  cuda:90  hip:gfx942
axpy       ok       ok       ok
dot[int8]  mlir:A   ok       -
gamma      ok       ok       front:B

A  mlir-error in ttgir · pass TritonGPUAccelerateMatmul
   'arith.extf' op operand #0 must be float
   at kernels.py:12:47
   dot[int8] on cuda:75
   dot[int8] compiles for cuda:90
   | ops.py:3:1: error: 'arith.extf' op operand #0 must be float
   |     tl.dot(x, y)

B  frontend-error in frontend
   module 'triton.language.extra.hip.libdevice' has no attribute 'tgamma'
   gamma on hip:gfx942
   gamma compiles for cuda:75, cuda:90
   what: libdevice.tgamma does not exist for AMD
   why:  {why}
   do:   {do}
   see:  https://github.com/triton-lang/triton/issues/10375

8 cells: 6 ok, 2 failed (2 new) · slowest compile 0.20 s (axpy on cuda:75) · 7 compiled, 1 cached · 7.1 s

{NOTE}
"""
    )


def test_a_block_for_each_release_and_releases_in_the_groups(
    judge: Judge, toolchain: Tool, scatter4: Callable[[str], Failure]
) -> None:
    judged = [
        judge(f"scatter@cuda:{arch}@{release}", scatter4(arch) if arch != "80" else None)
        for release in ("3.8.0", "3.9.0")
        for arch in ("80", "90", "120")
    ]

    text = render(
        build(judged, [toolchain("3.8.0"), toolchain("3.9.0")], 1, lambda cell: None), color=False, width=None
    )

    assert "Triton 3.8.0 (Python 3.11.7) · Triton 3.9.0 (Python 3.11.7)" in text
    for release in ("3.8.0", "3.9.0"):
        assert f"Triton {release}\n         cuda:80  cuda:90  cuda:120\nscatter  ok       asm:A    asm:A\n" in text
    assert "scatter on cuda:90, cuda:120 (Triton 3.8.0, 3.9.0)" in text


def test_expected_unexpected_and_skipped_cells(judge: Judge, toolchain: Tool, tgamma: Failure) -> None:
    judged = [
        judge("a@cuda:80@3.9.0", tgamma),
        judge("a@cuda:90@3.9.0"),
        judge("a@cuda:100@3.9.0", origin="skipped", seconds=0),
    ]

    report = build(judged, [toolchain("3.9.0")], 1, lambda cell: Expectation("*"))
    text = render(report, color=False, width=None)

    assert "a  xfail    xpass    -\n" in text
    assert "A  frontend-error in frontend · expected\n" in text
    assert "3 cells: 1 ok, 1 failed (1 expected), 1 passed unexpectedly" in text
    assert "2 compiled, 1 skipped" in text


def test_why_a_failure_is_expected_is_said_once(judge: Judge, toolchain: Tool, tgamma: Failure) -> None:
    judged = [judge(f"a@{target}@3.9.0", tgamma) for target in ("hip:gfx942", "hip:gfx950")]

    report = build(judged, [toolchain("3.9.0")], 1, lambda cell: Expectation("hip:*", reason="no tgamma on AMD"))

    assert render(report, color=False, width=None).count("   expected: no tgamma on AMD\n") == 1


def test_one_cell_is_one_cell(judge: Judge, toolchain: Tool) -> None:
    report = build([judge("a@cuda:80@3.9.0")], [toolchain("3.9.0")], 1, lambda cell: None)

    assert "\n1 cell: 1 ok" in render(report, color=False, width=None)


def test_a_row_that_fails_alike_everywhere_clears_the_target(judge: Judge, toolchain: Tool) -> None:
    removed = Failure("frontend-error", "frontend", "Block pointers have been removed")
    targets = ("cuda:75", "cuda:90", "hip:gfx942")
    judged = [judge(f"rowsum@{target}@3.9.0", removed) for target in targets]

    text = render(build(judged, [toolchain("3.9.0")], 1, lambda cell: None), color=False, width=None)

    assert "   rowsum fails alike on all its 3 targets: the target is not to blame\n" in text
    assert "rowsum on cuda:75, cuda:90" not in text


def test_rows_that_fail_alike_everywhere_share_a_line(judge: Judge, toolchain: Tool) -> None:
    removed = Failure("frontend-error", "frontend", "Block pointers have been removed")
    judged = [judge(f"{row}@{target}@3.9.0", removed) for row in "abcdef" for target in ("cuda:75", "hip:gfx942")]

    text = render(build(judged, [toolchain("3.9.0")], 1, lambda cell: None), color=False, width=None)

    assert "   a, b, c, d, e, f fail alike on all their 2 targets: the target is not to blame\n" in text


def test_a_failure_that_nobody_knows_shows_what_the_compiler_printed(judge: Judge, toolchain: Tool) -> None:
    lines = "\n".join(f"k.py:{number}:1: error: no" for number in range(30))
    failure = Failure("mlir-error", "ttgir", "no", detail=f"PassManager::run failed\nno\n{lines}")

    text = render(
        build([judge("a@cuda:80@3.9.0", failure)], [toolchain("3.9.0")], 1, lambda cell: None), color=False, width=None
    )

    assert "   | PassManager::run failed\n   | k.py:0:1: error: no\n" in text
    assert "   | … 19 more lines: portcheck explain shows them\n" in text


def test_what_a_terminal_would_obey_is_written_as_escapes(judge: Judge, toolchain: Tool) -> None:
    """Records of a shared cache are somebody else's input, and kernels have the compiler print what they like."""
    clear = "\x1b[2J"
    failure = Failure(
        "mlir-error", "ttgir", clear, detail=f"was: {clear}", pass_name=clear, position=Position(clear, 1)
    )
    report = build([judge("a@cuda:80@3.9.0", failure)], [toolchain("3.9.0")], 1, lambda cell: None)

    text = render(report, color=False, width=None)

    assert [character for character in text if not character.isprintable() and character != "\n"] == []
    assert text.count("\\x1b[2J") == 4


def test_an_instruction_that_the_assembler_refused_is_named(judge: Judge, toolchain: Tool) -> None:
    detail = "AMD assembler rejected generated AMDGCN\nasm:48:2: error: invalid instruction\n\tmax.f32 s0, s0;\n\t^"
    failure = Failure("assembler-error", "hsaco", "invalid instruction", detail=detail)

    text = render(
        build([judge("a@hip:gfx942@3.9.0", failure)], [toolchain("3.9.0")], 1, lambda cell: None),
        color=False,
        width=None,
    )

    assert "   invalid instruction (max.f32)\n" in text


def test_one_backend_or_one_ok_cell_does_not_clear_the_target(judge: Judge, toolchain: Tool) -> None:
    fp8 = Failure("frontend-error", "frontend", "type fp8e4nv not supported")
    judged = [
        judge("old_only@cuda:75@3.9.0", fp8),
        judge("old_only@cuda:80@3.9.0", fp8),
        judge("mixed@cuda:75@3.9.0", fp8),
        judge("mixed@hip:gfx942@3.9.0", fp8),
        judge("mixed@cuda:90@3.9.0"),
        judge("single@cuda:75@3.9.0", fp8),
    ]

    text = render(build(judged, [toolchain("3.9.0")], 1, lambda cell: None), color=False, width=None)

    assert "old_only fails alike on all its 2 targets\n" in text
    assert "mixed fails" not in text
    assert "single fails" not in text
    assert "not to blame" not in text


def test_failures_at_several_places_say_so(judge: Judge, toolchain: Tool) -> None:
    judged = [
        judge(f"k{n}@cuda:80@3.9.0", Failure("mlir-error", "ttgir", "bad", position=Position("kernels.py", n, None)))
        for n in (3, 5, 7)
    ]

    text = render(build(judged, [toolchain("3.9.0")], 1, lambda cell: None), color=False, width=None)

    assert "   at kernels.py:3 and 2 more places\n" in text


def test_a_wide_matrix_wraps_into_blocks_of_columns(judge: Judge, toolchain: Tool) -> None:
    judged = [judge(f"axpy@cuda:{arch}@3.9.0") for arch in (75, 80, 86, 89, 90)]
    report = build(judged, [toolchain("3.9.0")], 1, lambda cell: None)

    text = render(report, color=False, width=30)

    assert "\n\n      cuda:75  cuda:80\naxpy  ok       ok\n\n      cuda:86  cuda:89\n" in text
    assert "\n\n      cuda:90\naxpy  ok\n\n" in text
    assert "cuda:75  cuda:80  cuda:86  cuda:89  cuda:90\n" in render(report, color=False, width=None)


def test_a_terminal_narrower_than_one_column_still_gets_one_column_a_block(judge: Judge, toolchain: Tool) -> None:
    judged = [judge("a_long_row_name@cuda:75@3.9.0"), judge("a_long_row_name@cuda:80@3.9.0")]

    text = render(build(judged, [toolchain("3.9.0")], 1, lambda cell: None), color=False, width=5)

    assert text.count("a_long_row_name  ok\n") == 2


def test_colour_changes_nothing_but_the_colour(judge: Judge, toolchain: Tool, tgamma: Failure) -> None:
    judged = [judge("a@cuda:80@3.9.0"), judge("a@hip:gfx942@3.9.0", tgamma)]
    report = build(judged, [toolchain("3.9.0")], 1, lambda cell: None)

    plain, painted = (render(report, color=color, width=None) for color in (False, True))

    assert "\x1b" not in plain
    assert "\x1b[31mfront:A" in painted
    uncoloured = re.sub(r"\x1b\[\d+m", "", painted)
    assert [line.rstrip() for line in uncoloured.splitlines()] == plain.splitlines()


def test_known_failures_are_shown_and_those_that_fail_differently_are_new(
    judge: Judge, toolchain: Tool, tgamma: Failure
) -> None:
    other = Failure("mlir-error", "ttgir", "bad")
    judged = [judge("a@cuda:80@3.9.0", other), judge("a@cuda:90@3.9.0", tgamma), judge("b@cuda:80@3.9.0", other)]
    known = {"a@cuda:80@3.9.0": entry_of(other), "a@cuda:90@3.9.0": entry_of(other)}

    report = build(judged, [toolchain("3.9.0")], 1, lambda cell: None, lambda cell: known.get(cell.name))
    text = render(report, color=False, width=None)

    assert "a  mlir:A   front:B\n" in text
    assert "A  mlir-error in ttgir\n" in text
    assert "   new of these: b on cuda:80\n" in text
    assert "   new: the baseline knows these cells to fail differently: mlir-error in ttgir: bad\n" in text
    assert "3 cells: 0 ok, 3 failed (2 new, 1 known)" in text


def test_a_group_that_is_known_says_so(judge: Judge, toolchain: Tool, tgamma: Failure) -> None:
    report = build(
        [judge("a@hip:gfx942@3.9.0", tgamma)], [toolchain("3.9.0")], 1, lambda cell: None, lambda cell: entry_of(tgamma)
    )

    assert "A  frontend-error in frontend · known\n" in render(report, color=False, width=None)


def test_what_a_baseline_no_longer_needs_is_told(judge: Judge, toolchain: Tool, tgamma: Failure) -> None:
    judged = [judge("a@cuda:80@3.9.0"), judge("a@cuda:90@3.9.0"), judge("x@cuda:80@3.9.0", tgamma)]

    report = build(
        judged,
        [toolchain("3.9.0")],
        1,
        lambda cell: Expectation("*") if cell.row.name == "x" else None,
        lambda cell: entry_of(tgamma),
        ["gone@cuda:80@3.9.0"],
    )
    text = render(report, color=False, width=None)

    assert "no longer failing: portcheck baseline --prune takes them out\n   a on cuda:80, cuda:90\n" in text
    assert "expected by xfail anyway: portcheck baseline --prune takes them out\n   x on cuda:80\n" in text
    assert "no longer in the manifest: portcheck baseline --prune takes them out\n   gone@cuda:80@3.9.0\n" in text


def test_unexpected_passes_are_told_with_the_reason_why_they_were_to_fail(judge: Judge, toolchain: Tool) -> None:
    judged = [judge("a@cuda:80@3.9.0"), judge("b@cuda:80@3.9.0"), judge("c@cuda:80@3.9.0")]
    strict = replace(judged[2][0].row, settings=Settings(targets=(), xfail_strict=True))
    judged[2] = (replace(judged[2][0], row=strict), judged[2][1])
    reasons = {"a": "triton#1", "b": None, "c": None}

    report = build(judged, [toolchain("3.9.0")], 1, lambda cell: Expectation("*", reason=reasons[cell.row.kernel]))
    text = render(report, color=False, width=None)

    assert "\nPassed unexpectedly: take them out of xfail\n   a on cuda:80: triton#1\n   b on cuda:80\n" in text
    assert "\nPassed unexpectedly, which xfail_strict forbids: take them out of xfail\n   c on cuda:80\n" in text


def test_very_many_surprises_are_counted(judge: Judge, toolchain: Tool) -> None:
    judged = [judge(f"k{number}@cuda:80@3.9.0") for number in range(25)]

    report = build(judged, [toolchain("3.9.0")], 1, lambda cell: Expectation("*"))

    assert "   k19 on cuda:80\n   and 5 more\n" in render(report, color=False, width=None)


def test_cells_without_a_record_are_missing(judge: Judge, toolchain: Tool) -> None:
    judged = [judge("a@cuda:80@3.9.0"), judge("a@cuda:90@3.9.0", origin=MISSING)]

    report = build(judged, [toolchain("3.9.0")], 1, lambda cell: None)
    text = render(report, color=False, width=None)

    assert "a  ok       missing\n" in text
    assert "Missing, no record answers: portcheck check compiles them\n   a on cuda:90\n" in text
    assert "1 compiled, 1 missing" in text
    assert report.summary["skipped"] == 1
