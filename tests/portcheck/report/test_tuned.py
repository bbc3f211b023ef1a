"""Configurations of autotuned rows in the report for people."""

from __future__ import annotations

from collections.abc import Callable

from portcheck.cells import Cell
from portcheck.report.matrix import render
from portcheck.report.model import build
from portcheck.toolchain.model import Toolchain
from portcheck.verdicts import Configs, Failed, Failure, Result

Judge = Callable[..., tuple[Cell, Result]]
Tool = Callable[[str], Toolchain]

TOO_LARGE = Failure("launch-limit", "launch", "264192 bytes of shared memory, and the device grants 232448")


def failing(*blocks: int, of: int = 9) -> Configs:
    failed = tuple(Failed(f"BLOCK={block}", TOO_LARGE) for block in blocks)
    return Configs(of - len(failed), of, of, shown="BLOCK=16", failed=failed)


def text(judged: list[tuple[Cell, Result]], tool: Tool) -> str:
    return render(build(judged, [tool("3.9.0")], 1.0, lambda cell: None), color=False, width=None)


def test_the_matrix_says_how_many_survive(judge: Judge, toolchain: Tool) -> None:
    all_of_them = Configs(9, 9, 9, shown="BLOCK=16")
    cells = [
        judge("attn@cuda:75@3.9.0", configs=failing(128, 256)),
        judge("attn@cuda:90@3.9.0", configs=all_of_them),
    ]

    shown = text(cells, toolchain)

    assert "attn  ok 7/9   ok" in shown
    assert "2 cells: 2 ok, 0 failed" in shown


def test_what_fails_is_told_once_a_cause_and_named_within_reason(judge: Judge, toolchain: Tool) -> None:
    cells = [
        judge("attn@cuda:75@3.9.0", configs=failing(32, 64, 128, 256, 512)),
        judge("attn@cuda:80@3.9.0", configs=failing(512)),
    ]

    shown = text(cells, toolchain)

    assert (
        "Configurations that fail, in rows where another one does not\n"
        f"   launch-limit in launch: {TOO_LARGE.message}\n"
        "      attn on cuda:75: 5 of 9: BLOCK=32; BLOCK=64; BLOCK=128; and 2 more\n"
        "      attn on cuda:80: 1 of 9: BLOCK=512\n"
    ) in shown


def test_a_row_that_fails_is_in_its_group_only(judge: Judge, toolchain: Tool) -> None:
    shown = text([judge("attn@cuda:75@3.9.0", TOO_LARGE, configs=failing(32, of=1))], toolchain)

    assert "launch:A" in shown
    assert "Configurations that fail" not in shown


def test_what_was_not_compiled_is_counted(judge: Judge, toolchain: Tool) -> None:
    first = Configs(1, 1, 36, shown="BLOCK=16")

    shown = text([judge(f"attn@cuda:{arch}@3.9.0", configs=first) for arch in (80, 90)], toolchain)

    assert "Autotuned: 2 of 72 configurations of 2 cells were compiled (configs in the manifest)" in shown
