"""The report as people see it."""

from __future__ import annotations

import re
from collections.abc import Callable

from portcheck import __version__
from portcheck.cells import Cell
from portcheck.manifest.model import Expectation
from portcheck.report.matrix import render
from portcheck.report.model import build
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
                pass_name="TritonGPUAccelerateMatmul",
                position=Position("kernels.py", 12, 47),
            ),
        ),
        judge("dot[int8]@cuda:90@3.9.0"),
        judge("gamma@cuda:75@3.9.0"),
        judge("gamma@cuda:90@3.9.0"),
        judge("gamma@hip:gfx942@3.9.0", tgamma),
    ]

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

B  frontend-error in frontend
   module 'triton.language.extra.hip.libdevice' has no attribute 'tgamma'
   gamma on hip:gfx942

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

    assert "rowsum on cuda:75, cuda:90, hip:gfx942\n" in text
    assert "rowsum fails alike on all its 3 targets: the target is not to blame\n" in text


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
