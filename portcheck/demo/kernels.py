"""The demo's kernels: small, and each at home on some targets or releases only."""

# target_info came with Triton 3.5: named where it is used, it stops no other row on older releases.
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def axpy(x_ptr, y_ptr, n, a, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask)
    y = tl.load(y_ptr + at, mask=mask)
    tl.store(y_ptr + at, a * x + y, mask=mask)


@triton.jit
def gamma_ratio(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """libdevice has no tgamma on AMD."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask)
    tl.store(y_ptr + at, libdevice.tgamma(x) / libdevice.tgamma(x + 0.5), mask=mask)


@triton.jit
def gamma_ratio_guarded(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """The same with a branch on the target, which is resolved while compiling."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask)
    if tl.target_info.is_hip():
        ratio = tl.exp(x)
    else:
        ratio = libdevice.tgamma(x) / libdevice.tgamma(x + 0.5)
    tl.store(y_ptr + at, ratio, mask=mask)


@triton.jit
def quantize_fp8(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """fp8e4nv needs sm_89 or newer."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask)
    tl.store(y_ptr + at, x.to(tl.float8e4nv), mask=mask)


@triton.jit
def scatter_rows(src_ptr, dst_ptr, rows_ptr, M, N, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """A descriptor's scatter is an instruction that only some GPUs with TMA have; older ones get plain stores."""
    target = tl.make_tensor_descriptor(dst_ptr, shape=[M, N], strides=[N, 1], block_shape=[1, COLUMNS])
    rows = tl.load(rows_ptr + tl.arange(0, ROWS))
    tile = tl.load(src_ptr + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :])
    target.scatter(tile, rows, 0)


@triton.jit
def dot_small(a_ptr, b_ptr, c_ptr, SIZE: tl.constexpr, ACC: tl.constexpr):
    """int8 has no tensor cores on sm_75 that Triton would use."""
    at = tl.arange(0, SIZE)
    a = tl.load(a_ptr + at[:, None] * SIZE + at[None, :])
    b = tl.load(b_ptr + at[:, None] * SIZE + at[None, :])
    tl.store(c_ptr + at[:, None] * SIZE + at[None, :], tl.dot(a, b, out_dtype=ACC))


@triton.jit
def rowsum_blockptr(x_ptr, y_ptr, M, N, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Block pointers were removed in Triton 3.9."""
    tile = tl.load(tl.make_block_ptr(x_ptr, (M, N), (N, 1), (0, 0), (ROWS, COLUMNS), (1, 0)))
    tl.store(y_ptr + tl.arange(0, ROWS), tl.sum(tile, 1))


@triton.jit
def poll_flags(flag_ptr, out_ptr):
    """atomic_load is new in Triton 3.9."""
    tl.store(out_ptr, tl.atomic_load(flag_ptr))
