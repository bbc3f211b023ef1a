"""Ten kernels of the kinds that people write, with locals to rename."""

import triton
import triton.language as tl


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        inner = start + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * K + inner[None, :], mask=inner[None, :] < K, other=0.0)
        b = tl.load(b_ptr + inner[:, None] * N + columns[None, :], mask=inner[:, None] < K, other=0.0)
        total += tl.dot(a, b)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(tl.float16), mask=mask)


@triton.jit
def matmul_gelu(a_ptr, b_ptr, bias_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        inner = start + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * K + inner[None, :], mask=inner[None, :] < K, other=0.0)
        b = tl.load(b_ptr + inner[:, None] * N + columns[None, :], mask=inner[:, None] < K, other=0.0)
        total += tl.dot(a, b)
    biased = total + tl.load(bias_ptr + columns, mask=columns < N)[None, :]
    bent = 2 * tl.sigmoid(1.5957691216 * (biased + 0.044715 * biased * biased * biased)) - 1
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], (0.5 * biased * (1 + bent)).to(tl.float16), mask=mask)


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, o_ptr, L, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    depth = tl.arange(0, D)
    query = tl.load(q_ptr + rows[:, None] * D + depth[None, :])
    highest = tl.full((BM,), float("-inf"), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for start in range(0, L, BN):
        at = start + tl.arange(0, BN)
        key = tl.load(k_ptr + at[None, :] * D + depth[:, None], mask=at[None, :] < L, other=0.0)
        score = tl.where(at[None, :] < L, tl.dot(query, key) * scale, float("-inf"))
        higher = tl.maximum(highest, tl.max(score, 1))
        share = tl.exp(score - higher[:, None])
        fade = tl.exp(highest - higher)
        weight = weight * fade + tl.sum(share, 1)
        value = tl.load(v_ptr + at[:, None] * D + depth[None, :], mask=at[:, None] < L, other=0.0)
        total = total * fade[:, None] + tl.dot(share.to(tl.float16), value)
        highest = higher
    tl.store(o_ptr + rows[:, None] * D + depth[None, :], (total / weight[:, None]).to(tl.float16))


@triton.jit
def causal_attention(q_ptr, k_ptr, v_ptr, o_ptr, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    block = tl.program_id(0)
    rows = block * BM + tl.arange(0, BM)
    depth = tl.arange(0, D)
    query = tl.load(q_ptr + rows[:, None] * D + depth[None, :])
    highest = tl.full((BM,), float("-inf"), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for start in range(0, (block + 1) * BM, BN):
        at = start + tl.arange(0, BN)
        key = tl.load(k_ptr + at[None, :] * D + depth[:, None])
        score = tl.where(at[None, :] <= rows[:, None], tl.dot(query, key) * scale, float("-inf"))
        higher = tl.maximum(highest, tl.max(score, 1))
        share = tl.exp(score - higher[:, None])
        fade = tl.exp(highest - higher)
        weight = weight * fade + tl.sum(share, 1)
        value = tl.load(v_ptr + at[:, None] * D + depth[None, :])
        total = total * fade[:, None] + tl.dot(share.to(tl.float16), value)
        highest = higher
    tl.store(o_ptr + rows[:, None] * D + depth[None, :], (total / weight[:, None]).to(tl.float16))


@triton.jit
def linear_attention(q_ptr, k_ptr, v_ptr, o_ptr, L, C: tl.constexpr, D: tl.constexpr):
    depth = tl.arange(0, D)
    step = tl.arange(0, C)
    state = tl.zeros((D, D), tl.float32)
    for start in range(0, L, C):
        at = (start + step)[:, None] * D + depth[None, :]
        query = tl.load(q_ptr + at)
        key = tl.load(k_ptr + at)
        value = tl.load(v_ptr + at)
        near = tl.where(step[:, None] >= step[None, :], tl.dot(query, tl.trans(key)), 0.0)
        out = tl.dot(near.to(tl.float16), value) + tl.dot(query, state.to(tl.float16))
        state += tl.dot(tl.trans(key), value)
        tl.store(o_ptr + at, out.to(tl.float16))


@triton.jit
def layer_norm(x_ptr, y_ptr, w_ptr, b_ptr, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + at, mask=at < N, other=0.0).to(tl.float32)
    mean = tl.sum(x, 0) / N
    apart = tl.where(at < N, x - mean, 0.0)
    scale = tl.rsqrt(tl.sum(apart * apart, 0) / N + eps)
    w = tl.load(w_ptr + at, mask=at < N)
    b = tl.load(b_ptr + at, mask=at < N)
    tl.store(y_ptr + row * N + at, apart * scale * w + b, mask=at < N)


@triton.jit
def softmax(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + at, mask=at < N, other=float("-inf")).to(tl.float32)
    grown = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + row * N + at, grown / tl.sum(grown, 0), mask=at < N)


@triton.jit
def cross_entropy(x_ptr, label_ptr, loss_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    highest = -float("inf")
    weight = 0.0
    for start in range(0, N, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + at, mask=at < N, other=float("-inf")).to(tl.float32)
        higher = tl.maximum(highest, tl.max(x, 0))
        weight = weight * tl.exp(highest - higher) + tl.sum(tl.exp(x - higher), 0)
        highest = higher
    wanted = tl.load(x_ptr + row * N + tl.load(label_ptr + row)).to(tl.float32)
    tl.store(loss_ptr + row, highest + tl.log(weight) - wanted)


@triton.jit
def sort_rows(x_ptr, y_ptr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = rows[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, tl.sort(x, 1))


@triton.jit
def running_mean(x_ptr, y_ptr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    step = tl.arange(0, BLOCK)
    at = rows[:, None] * BLOCK + step[None, :]
    x = tl.load(x_ptr + at).to(tl.float32)
    tl.store(y_ptr + at, tl.cumsum(x, 1) / (step + 1)[None, :])
