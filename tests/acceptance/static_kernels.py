# ruff: noqa: B007, E712, RET505, SIM108 - what is said here in other words is another kernel to Triton
"""Kernels that use what some targets lack, behind all kinds of guards; each has its line in test_static.py."""

import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra import libdevice as ld


@triton.jit
def if_else(x):
    v = tl.load(x)
    if tl.target_info.is_hip():
        v = tl.exp(v)
    else:
        v = libdevice.tgamma(v)
    tl.store(x, v)


@triton.jit
def not_hip(x):
    v = tl.load(x)
    if not tl.target_info.is_hip():
        v = libdevice.tgamma(v)
    tl.store(x, v)


@triton.jit
def cuda_only(x):
    v = tl.load(x)
    if tl.target_info.is_cuda():
        v = ld.tgamma(v)
    tl.store(x, v)


@triton.jit
def both_and(x, FAST: tl.constexpr):
    v = tl.load(x)
    if FAST and tl.target_info.is_cuda():
        v = libdevice.tgamma(v)
    tl.store(x, v)


@triton.jit
def both_or(x, FAST: tl.constexpr):
    v = tl.load(x)
    if tl.target_info.is_hip() or FAST:
        v = tl.exp(v)
    else:
        v = libdevice.tgamma(v)
    tl.store(x, v)


@triton.jit
def conditional(x):
    v = tl.load(x)
    tl.store(x, tl.exp(v) if tl.target_info.is_hip() else libdevice.tgamma(v))


@triton.jit
def inner(v):
    return libdevice.tgamma(v)


@triton.jit
def nested(x):
    v = tl.load(x)
    if tl.target_info.is_cuda():
        v = inner(v)
    tl.store(x, v)


@triton.jit
def guarded_inner(v, HIP: tl.constexpr):
    if HIP:
        return tl.exp(v)
    else:
        return inner(v)


@triton.jit
def passed_on(x):
    tl.store(x, guarded_inner(tl.load(x), tl.target_info.is_hip()))


@triton.jit
def early(x):
    v = tl.load(x)
    if tl.target_info.is_hip():
        tl.store(x, v)
        return
    tl.store(x, libdevice.tgamma(v))


@triton.jit
def named(x):
    hip: tl.constexpr = tl.target_info.is_hip()
    v = tl.load(x)
    if not hip:
        v = libdevice.tgamma(v)
    tl.store(x, v)


@triton.jit
def asserted(x):
    tl.static_assert(tl.target_info.is_cuda())
    tl.store(x, libdevice.tgamma(tl.load(x)))


@triton.jit
def capability(x):
    v = tl.load(x)
    if tl.target_info.cuda_capability_geq(8, 9):
        v = v.to(tl.float8e4nv).to(tl.float32)
    tl.store(x, v)


@triton.jit
def capability_one(x):
    v = tl.load(x)
    if tl.target_info.cuda_capability_geq(9):
        v = v.to(tl.float8e4nv).to(tl.float32)
    tl.store(x, v)


@triton.jit
def capability_wrong(x):
    v = tl.load(x)
    if tl.target_info.cuda_capability_geq(8, 0):
        v = v.to(tl.float8e4nv).to(tl.float32)
    tl.store(x, v)


@triton.jit
def compare_guard(x):
    v = tl.load(x)
    if tl.target_info.is_hip() == True:
        v = tl.exp(v)
    else:
        v = libdevice.tgamma(v)
    tl.store(x, v)


@triton.jit
def current(x):
    v = tl.load(x)
    if tl.target_info.current_target().backend == "hip":
        v = tl.exp(v)
    else:
        v = libdevice.tgamma(v)
    tl.store(x, v)


@triton.jit
def assigned(x):
    hip = tl.target_info.is_hip()  # a value on the device from here on, so both branches are compiled
    v = tl.load(x)
    if not hip:
        v = libdevice.tgamma(v)
    tl.store(x, v)


@triton.jit
def through_module(x):
    tl.store(x, tl.extra.libdevice.tgamma(tl.load(x)))


@triton.jit
def zeros(x, DT: tl.constexpr):
    tl.store(x + tl.arange(0, 32), tl.zeros((32,), DT).to(tl.float32))


@triton.jit
def mentioned(x, DT: tl.constexpr):
    if tl.float8e4nv == DT:
        tl.store(x, 1.0)


@triton.jit
def local_name(x):
    libdevice: tl.constexpr = tl
    tl.store(x, libdevice.exp(tl.load(x)))


@triton.jit
def typed(x, DT: tl.constexpr):
    v = tl.load(x)
    if tl.float8e4nv == DT:
        v = v.to(DT).to(tl.float32)
    tl.store(x, v)


@triton.jit
def loop(x, n):
    v = tl.load(x)
    for i in range(n):
        if i > 3:
            v = libdevice.tgamma(v)
    tl.store(x, v)


@triton.jit
def static_loop(x, N: tl.constexpr):
    v = tl.load(x)
    for i in tl.static_range(N):
        v = libdevice.tgamma(v)
    tl.store(x, v)


@triton.jit
def none_arg(x, m):
    v = tl.load(x)
    if m is not None:
        v = libdevice.tgamma(v)
    tl.store(x, v)


@triton.jit
def reduce_fn(a, b):
    return libdevice.tgamma(a + b)


@triton.jit
def reduced(x):
    tl.store(x, tl.reduce(tl.load(x + tl.arange(0, 32)), 0, reduce_fn))
