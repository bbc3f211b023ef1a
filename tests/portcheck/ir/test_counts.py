"""Counting operations."""

from __future__ import annotations

from collections import Counter

import pytest

from portcheck.ir.counts import changed, count


@pytest.mark.parametrize(
    ("stage", "lines", "counted"),
    [
        (
            "ttgir",
            [
                "#blocked.3f2a = #ttg.blocked<{}>",
                "module attributes {} {",
                "  tt.func public @k(%arg0: i32) {",
                "    %load = tt.load %arg0 : i32",
                "    %load = tt.load %arg0 : i32",
                '    %reduce = "tt.reduce"(%load) <{axis = 0 : i32}> ({',
                "    ^bb0(%arg: f32, %arg: f32):",
                "    tt.return",
                "  }",
            ],
            {"tt.func": 1, "tt.load": 2, "tt.reduce": 1, "tt.return": 1},
        ),
        (
            "llir",
            ["define void @k() # {", "  %call = tail call i32 @f()", "  call void @g()", "bb:", "  ret void", "}"],
            {"call": 2, "ret": 1},
        ),
        (
            "ptx",
            [
                ".version 8.8",
                "\t.reg .b32 %r;",
                "\tmov.u32 \t%r, 0x0;",
                "\t@%p ld.global.b32 { %r }, [ %rd ];",
                "$L__BB:",
            ],
            {"mov.u32": 1, "ld.global.b32": 1},
        ),
        ("amdgcn", ["axpy:", "\t.p2align 8", "\ts_endpgm", "\tv_mov_b32 v, v"], {"s_endpgm": 1, "v_mov_b32": 1}),
    ],
)
def test_operations_are_counted(stage: str, lines: list[str], counted: dict[str, int]) -> None:
    assert count(stage, lines) == counted


def test_what_changed_most_comes_first() -> None:
    old, new = Counter(a=1, b=5, same=2), Counter(a=2, b=1, same=2, c=1)

    assert changed(old, new) == [("b", 5, 1), ("a", 1, 2), ("c", 0, 1)]
