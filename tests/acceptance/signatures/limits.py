"""Kernels that compile, and ask for more than a device grants."""

import triton
import triton.language as tl


@triton.jit
def transpose(x, y, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    tile = tl.load(x + row[:, None] * COLUMNS + column[None, :])
    tl.store(y + column[:, None] * ROWS + row[None, :], tl.trans(tile))


@triton.jit
def three_accumulators(x, y, steps, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)[None, :]
    k = tl.arange(0, K)
    first = tl.zeros((M, N), tl.float32)
    second = tl.zeros((M, N), tl.float32)
    third = tl.zeros((M, N), tl.float32)
    for step in range(steps):
        a = tl.load(x + m * K + k[None, :] + step)
        at = y + k[:, None] * N + n + step
        first = tl.dot(a, tl.load(at), first)
        second = tl.dot(a, tl.load(at + 7), second)
        third = tl.dot(a, tl.load(at + 17), third)
    tl.store(x + m * N + n, first)
    tl.store(x + m * N + n + 1, second)
    tl.store(x + m * N + n + 2, third)
