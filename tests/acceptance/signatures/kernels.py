"""A small kernel for each signature in portcheck/diagnose/signatures.toml that today's Triton gives rise to."""

import os

import triton
import triton.language as tl
from triton.language.extra import libdevice

COUNTER = 3


@triton.jit
def copy(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i))


@triton.jit
def gamma(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, libdevice.tgamma(tl.load(x + i)))


@triton.jit
def tanh(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, libdevice.tanh(tl.load(x + i)))


@triton.jit
def double(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i) * 2)


@triton.jit
def total(x, y, BLOCK: tl.constexpr):
    tl.store(y, tl.sum(tl.load(x + tl.arange(0, BLOCK)), 0))


@triton.jit
def cast(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i).to(y.dtype.element_ty))


@triton.jit
def scatter(x, y, BLOCK: tl.constexpr):
    rows = tl.make_tensor_descriptor(y, [1024, BLOCK], [BLOCK, 1], [1, BLOCK])
    i = tl.arange(0, 32)
    rows.scatter(tl.load(x + i[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]), i * 7, 0)


@triton.jit
def gather(x, y, BLOCK: tl.constexpr):
    rows = tl.make_tensor_descriptor(x, [1024, BLOCK], [BLOCK, 1], [1, BLOCK])
    i = tl.arange(0, 32)
    tl.store(y + i[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :], rows.gather(i * 7, 0))


@triton.jit
def asm(x, y, ASM: tl.constexpr, CONSTRAINTS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(y + i, tl.inline_asm_elementwise(ASM, CONSTRAINTS, [v], dtype=v.dtype, is_pure=True, pack=1))


@triton.jit
def asm_pairs(x, y, ASM: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(y + i, tl.inline_asm_elementwise(ASM, "=r,r", [v], dtype=v.dtype, is_pure=True, pack=2))


@triton.jit
def dependent(x, y, BLOCK: tl.constexpr):
    tl.extra.cuda.gdc_wait()
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i))


@triton.jit
def atomic_max(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_max(y + i, tl.load(x + i))


@triton.jit
def dot(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr, OUT: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(x, y, input_precision=PRECISION, out_dtype=OUT))


@triton.jit
def dot_shapes(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i[:, None] * BLOCK + i[None, :])
    j = tl.arange(0, 2 * BLOCK)
    b = tl.load(x + j[:, None] * BLOCK + i[None, :])
    tl.store(y + i[:, None] * BLOCK + i[None, :], tl.dot(a, b))


@triton.jit
def matmul(a, b, c, L, SPECIALIZE: tl.constexpr, DESCRIPTORS: tl.constexpr):
    m = tl.arange(0, 128)
    k = tl.arange(0, 64)
    left = tl.make_tensor_descriptor(a, [128, L], [L, 1], [128, 64])
    right = tl.make_tensor_descriptor(b, [L, 128], [128, 1], [64, 128])
    acc = tl.zeros((128, 128), tl.float32)
    for at in tl.range(0, L, 64, warp_specialize=SPECIALIZE):
        if DESCRIPTORS:
            x = left.load([0, at])
            y = right.load([at, 0])
        else:
            x = tl.load(a + m[:, None] * L + at + k[None, :])
            y = tl.load(b + (at + k)[:, None] * 128 + m[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * 128 + m[None, :], acc)


@triton.jit
def block_pointer(x, y, BLOCK: tl.constexpr):
    tl.load(tl.make_block_ptr(x, (BLOCK,), (1,), (0,), (BLOCK,), (0,)))


@triton.jit
def absent(x, y, BLOCK: tl.constexpr):
    tl._experimental_make_tensor_descriptor(x, [BLOCK], [1], [BLOCK])


@triton.jit
def absent_method(x, y, BLOCK: tl.constexpr):
    tl.store(y, tl.load(x).contiguous())


@triton.jit
def narrow_descriptor(x, y, BLOCK: tl.constexpr):
    rows = tl.make_tensor_descriptor(x, [1024, BLOCK], [BLOCK, 1], [16, BLOCK])
    tl.store(y, tl.sum(rows.load([0, 0])))


@triton.jit
def runtime_range(x, y, n):
    i = tl.arange(0, n)
    tl.store(y + i, tl.load(x + i))


@triton.jit
def runtime_shape(x, y, n):
    tl.store(y, tl.sum(tl.zeros((n,), tl.float32)))


@triton.jit
def odd_shape(x, y, BLOCK: tl.constexpr):
    tl.store(y, tl.sum(tl.zeros((BLOCK,), tl.float32)))


@triton.jit
def huge(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y, tl.sum(tl.load(x + i[:, None] * BLOCK + i[None, :])))


@triton.jit
def incompatible(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i) + tl.load(x + tl.arange(0, 2 * BLOCK)))


@triton.jit
def asserts(x, y, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK % 3 == 0, "BLOCK must be divisible by 3")
    tl.store(y, tl.load(x))


@triton.jit
def global_variable(x, y, BLOCK: tl.constexpr):
    tl.store(y, tl.load(x) + COUNTER)


@triton.jit
def undefined(x, y, BLOCK: tl.constexpr):
    tl.store(y, tl.load(x) + offset)  # noqa: F821


@triton.jit
def carried(x, y, BLOCK: tl.constexpr):
    acc = 0
    for i in range(BLOCK):
        acc += tl.load(x + i)
    tl.store(y, acc)


@triton.jit
def branches(x, y, BLOCK: tl.constexpr):
    v = tl.load(x)
    if v > 0:  # noqa: SIM108
        r = v
    else:
        r = tl.arange(0, BLOCK)
    tl.store(y, tl.sum(r))


@triton.jit
def unsupported_syntax(x, y, BLOCK: tl.constexpr):
    values = {"a": tl.load(x)}
    tl.store(y, values["a"])


@triton.jit
def python_call(x, y, BLOCK: tl.constexpr):
    os.getpid()
    tl.store(y, tl.load(x))


@triton.jit
def pointer_arithmetic(x, y, BLOCK: tl.constexpr):
    tl.store(y, tl.load(x + 0.5))


@triton.jit
def store_scalar_block(x, y, BLOCK: tl.constexpr):
    tl.store(y, tl.load(x + tl.arange(0, BLOCK)))


@triton.jit
def load_value(x, y, BLOCK: tl.constexpr):
    tl.store(y, tl.load(tl.load(x)))


@triton.jit
def subscript(x, y, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, BLOCK))
    tl.store(y, v[0])


@triton.jit
def returns_differently(x, y, BLOCK: tl.constexpr):
    tl.store(y, first_of(tl.load(x), tl.load(x + 1)))


@triton.jit
def first_of(a, b):
    if a > b:
        return a
    return 1


@triton.jit
def keyword(x, y, BLOCK: tl.constexpr):
    tl.store(y, tl.load(x, predicate=True))


@triton.jit
def tensor_condition(x, y, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, BLOCK))
    if v > 0:
        tl.store(y, 1.0)


@triton.jit
def reshape(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.reshape(tl.load(x + i), (BLOCK, 2)))


@triton.jit
def scaled(a, b, c):
    m = tl.arange(0, 128)
    x = tl.load(a + m[:, None] * 128 + m[None, :])
    y = tl.load(b + m[:, None] * 128 + m[None, :])
    tl.store(c + m[:, None] * 128 + m[None, :], tl.dot_scaled(x, None, "e4m3", y, None, "e7m0"))


@triton.jit
def endless(x, y, BLOCK: tl.constexpr):
    v = tl.load(x)
    for _ in tl.static_range(BLOCK):
        v += 1
    tl.store(y, v)


@triton.jit
def absent_function(x, y, BLOCK: tl.constexpr):
    tl.store(y, tl.atomic_subtract(x, 1))


@tl.core.extern
def approximate_sine(x, _semantic=None):
    table = {(tl.float32,): ("llvm.nvvm.sin.approx.f", tl.float32)}
    return tl.core.extern_elementwise("", "", [x], table, is_pure=True, _semantic=_semantic)


@triton.jit
def foreign_intrinsic(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, approximate_sine(tl.load(x + i)))
