"""Removing locations from the text of MLIR modules, as Triton 3.0 to 3.3 print them."""

from __future__ import annotations

import pytest

from portcheck.compiler.child.locations import strip

WITH = """\
#loc = loc("kernels.py":9:0)
#loc1 = loc(unknown)
module {
  tt.func public @axpy(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("kernel.py":9:0), %b: i32 loc("k.py":9:0)) {
    %c0 = arith.constant 0 : i32 loc(#loc1)
    %0 = tt.get_program_id x : i32 loc(#loc2)
    %1 = "tt.reduce"(%0) <{axis = 0 : i32}> ({
    ^bb0(%a: f32 loc(callsite(#loc1 at #loc3)), %b: f32 loc(unknown)):
      tt.reduce.return %a : f32 loc(#loc4)
    }) : (tensor<8xf32>) -> f32 loc(fused<#di>[#loc1, "f(x)"("k.py":3:4)])
    tt.return loc(#loc5)
  } loc(#loc)
} loc(#loc)
#loc2 = loc("kernels.py":10:23)
#loc3 = loc(callsite(#loc1 at #loc2))
"""
WITHOUT = """\
module {
  tt.func public @axpy(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b: i32) {
    %c0 = arith.constant 0 : i32
    %0 = tt.get_program_id x : i32
    %1 = "tt.reduce"(%0) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      tt.reduce.return %a : f32
    }) : (tensor<8xf32>) -> f32
    tt.return
  }
}
"""


def test_nothing_is_left_of_locations() -> None:
    assert strip(WITH) == WITHOUT


@pytest.mark.parametrize(
    "text",
    [
        'tt.print " loc(x): " {hex = false} : %0 : i32\n',
        'tt.assert %0, "at loc(\\22a\\22) of (" : i1\n',
        "%0 = my.loc(%1) : i32\n",
        "%loc = arith.constant 1 : i32\n",
        WITHOUT,
    ],
)
def test_what_is_no_location_stays(text: str) -> None:
    assert strip(text) == text


def test_strings_stay_beside_locations() -> None:
    assert strip('tt.print "a loc(b" : %0 loc("k ) .py":1:2)\n') == 'tt.print "a loc(b" : %0\n'
