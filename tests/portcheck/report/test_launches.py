"""Launch limits in the report for people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from portcheck.cells import Cell
from portcheck.diagnose.limits import launch_failure
from portcheck.report.jsonreport import as_dict
from portcheck.report.matrix import render
from portcheck.report.model import Report, build
from portcheck.target import parse_target
from portcheck.toolchain.model import Toolchain
from portcheck.verdicts import Failure, Result

Judge = Callable[..., tuple[Cell, Result]]
Tool = Callable[[str], Toolchain]


def too_much(target: str) -> Failure:
    """What a transposition of a large tile gives."""
    failure = launch_failure(parse_target(target), {"shared": 131072})
    assert failure is not None
    return failure


def report(judged: list[tuple[Cell, Result]], tool: Tool) -> Report:
    return build(judged, [tool("3.9.0")], 1.0, lambda cell: None)


def test_a_group_says_what_each_device_grants_and_who_says_so(judge: Judge, toolchain: Tool) -> None:
    asked = {"resources": {"shared": 131072}}
    targets = ("cuda:86", "cuda:75", "hip:gfx942")

    text = render(
        report([judge(f"tile@{t}@3.9.0", too_much(t), outcome=asked) for t in targets], toolchain),
        color=False,
        width=None,
    )

    assert "tile  launch:A  launch:A  launch:A" in text
    assert "A  launch-limit in launch\n" in text
    assert "asked of granted: 131072 of 101376 on cuda:86; 131072 of 65536 on cuda:75, hip:gfx942\n" in text
    assert "tile on cuda:86, cuda:75, hip:gfx942\n" in text
    assert "limits from NVIDIA/cccl, arch_traits.h; LLVM, lds-limit-diagnostics.ll (" in text


def test_kernels_that_ask_for_different_amounts_are_told_in_one_line(judge: Judge, toolchain: Tool) -> None:
    judged = [
        judge(f"tile{shared}@cuda:75@3.9.0", too_much("cuda:75"), outcome={"resources": {"shared": shared}})
        for shared in (98304, 262144, 131072)
    ]

    text = render(report(judged, toolchain), color=False, width=None)

    assert "asked of granted: 98304 to 262144 of 65536 on cuda:75\n" in text


def test_a_warning_is_shown_and_the_cell_stays_ok(judge: Judge, toolchain: Tool) -> None:
    warned = report([judge("tile@cuda:86@3.9.0", warning=too_much("cuda:86")), judge("axpy@cuda:86@3.9.0")], toolchain)

    text = render(warned, color=False, width=None)

    assert "2 cells: 2 ok, 0 failed" in text
    assert 'Compiled, but no launch will succeed (launch_limits = "warn")\n   asks for 131072 bytes' in text
    assert "\n   tile on cuda:86\n" in text
    assert [cell["warning"] and cell["warning"]["verdict"] for cell in as_dict(warned)["cells"]] == [
        "launch-limit",
        None,
    ]


def test_where_no_limits_are_known_that_is_said(judge: Judge, toolchain: Tool) -> None:
    judged = [judge("axpy@cuda:87@3.9.0"), judge("axpy@cuda:90@3.9.0")]

    unknown = report(judged, toolchain)

    assert "Launch limits of cuda:87 are not known" in render(unknown, color=False, width=None)
    assert as_dict(unknown)["limits"] == {
        "cuda:87": None,
        "cuda:90": {"shared": 232448, "tmem": 0, "threads": 1024, "registers": 255},
    }


def test_who_asks_for_no_limits_is_told_nothing_of_them(judge: Judge, toolchain: Tool) -> None:
    cell, result = judge("axpy@cuda:87@3.9.0")
    off = replace(cell.row.settings, launch_limits="off")

    text = render(
        report([(replace(cell, row=replace(cell.row, settings=off)), result)], toolchain), color=False, width=None
    )

    assert "limits" not in text


def test_limits_are_the_target_s_so_it_is_not_said_to_be_innocent(judge: Judge, toolchain: Tool) -> None:
    judged = [judge(f"tile@{target}@3.9.0", too_much(target)) for target in ("cuda:86", "hip:gfx942")]

    assert "not to blame" not in render(report(judged, toolchain), color=False, width=None)
