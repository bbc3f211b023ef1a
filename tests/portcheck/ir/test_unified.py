"""Unified diffs of normalised IR."""

from __future__ import annotations

from portcheck.ir.unified import LONG, unified
from portcheck.report.style import Style

PLAIN = Style(False)
NAMES = ("old", "new")


def _body(*operations: str) -> str:
    return "tt.func @k(%a: i32) {\n" + "".join(f"  {operation}\n" for operation in operations) + "}\n"


def test_accidents_are_no_difference() -> None:
    old = _body("%x = tt.load %a loc(#loc1)")
    new = _body("%y_3 = tt.load %a loc(#loc7)")

    assert list(unified("ttir", old, new, NAMES, PLAIN)) == [
        "ttir: equal, but for names, numbers and places in the source"
    ]


def test_an_operation_more_does_not_rename_what_follows() -> None:
    old = _body("%0 = tt.load %a", "%1 = arith.addi %0, %0", "tt.store %a, %1")
    new = _body("%0 = tt.load %a", "%1 = arith.negi %0", "%2 = arith.addi %0, %0", "tt.store %a, %2")

    lines = list(unified("ttir", old, new, NAMES, PLAIN))

    assert lines[:2] == ["--- old", "+++ new"]
    assert [line for line in lines[2:] if line[0] in "+-"] == ["+  %negi = arith.negi %load"]


def test_the_same_operations_on_other_values_are_a_difference() -> None:
    old = _body("%0 = tt.load %a", "%1 = tt.load %a", "%2 = arith.subi %0, %1")
    new = _body("%0 = tt.load %a", "%1 = tt.load %a", "%2 = arith.subi %1, %0")

    head, *lines = unified("ttir", old, new, NAMES, PLAIN)

    assert head == "ttir: the same operations, on other values; they are numbered as they appear"
    assert [line for line in lines[2:] if line[0] in "+-"] == [
        "-  %3 = arith.subi %1, %2",
        "+  %3 = arith.subi %2, %1",
    ]


def test_long_ones_begin_with_what_they_consist_of() -> None:
    old = _body(*[f"%{n} = tt.load %a {{n = {n}}}" for n in range(LONG)])
    new = _body(*[f"%{n} = arith.addi %a, %a {{n = {n}}}" for n in range(LONG)], "%x = tt.load %a")

    lines = list(unified("ttir", old, new, NAMES, PLAIN))

    assert lines[0] == f"ttir: {LONG + 2} -> {LONG + 3} lines, {2 * LONG + 1} of them differ"
    assert lines[1:3] == [f"  arith.addi  0 -> {LONG} (+{LONG})", f"  tt.load     {LONG} -> 1 (-{LONG - 1})"]
    assert lines[3] == "--- old"


def test_colours_on_a_terminal() -> None:
    lines = list(unified("ttir", _body("tt.a.x"), _body("tt.b.x"), NAMES, Style(True)))

    assert "\x1b[31m-  tt.a.x\x1b[0m" in lines
    assert "\x1b[32m+  tt.b.x\x1b[0m" in lines
    assert lines[3] == " tt.func @k(%arg0: i32) {"
