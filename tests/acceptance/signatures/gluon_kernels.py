"""A Gluon kernel whose layout is written for one warp size."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def scale(x, y, WARP: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [WARP], [4], [0])
    i = gl.arange(0, 256, layout=layout)
    gl.store(y + i, gl.load(x + i) * 2)
