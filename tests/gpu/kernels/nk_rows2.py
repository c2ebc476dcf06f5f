# SPDX-License-Identifier: Apache-2.0
"""Rows, continued: jagged batches, bags, 8-bit optimizer states, rotations, descriptors, routing of tokens, codebooks, stochastic rounding."""
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from case import DEVICE, Case, empty, rand, randint, registry, uniform, zeros
from nk_rows import philox

CASES, case = registry()
F16, BF16, I32 = torch.float16, torch.bfloat16, torch.int32


def describe(x, *block):
    return TensorDescriptor(x, list(x.shape), list(x.stride()), list(block))


@triton.jit
def jagged_layer_norm(x, offsets, w, b, y, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """A sequence of a jagged batch for each program, normalized as a whole: while loops over its rows."""
    seq = tl.program_id(0)
    first, last = tl.load(offsets + seq), tl.load(offsets + seq + 1)
    c = tl.arange(0, BN)
    rows = tl.arange(0, BM)
    sums, squares = tl.zeros((BM, BN), tl.float32), tl.zeros((BM, BN), tl.float32)
    row = first
    while row < last:
        ok = (row + rows < last)[:, None] & (c < N)[None, :]
        v = tl.load(x + (row + rows)[:, None] * N + c[None, :], mask=ok, other=0.0).to(tl.float32)
        sums += v
        squares += v * v
        row += BM
    count = tl.maximum((last - first) * N, 1).to(tl.float32)
    mean = tl.sum(sums) / count
    rstd = 1.0 / tl.sqrt(tl.sum(squares) / count - mean * mean + 1e-5)
    weight, bias = tl.load(w + c, c < N, 0.0), tl.load(b + c, c < N, 0.0)
    row = first
    while row < last:
        ok = (row + rows < last)[:, None] & (c < N)[None, :]
        v = tl.load(x + (row + rows)[:, None] * N + c[None, :], mask=ok, other=0.0).to(tl.float32)
        tl.store(y + (row + rows)[:, None] * N + c[None, :], ((v - mean) * rstd * weight + bias).to(y.dtype.element_ty), mask=ok)
        row += BM


def ragged_offsets(rows, spread):
    """Lengths from 0 to spread - 1 in no visible order."""
    lengths = torch.arange(rows, device=DEVICE) * 7919 % spread
    total = sum(i * 7919 % spread for i in range(rows))
    return torch.cat((torch.zeros(1, device=DEVICE, dtype=torch.int64), lengths.cumsum(0))).to(torch.int32), lengths, total


@case
def nk_jagged_layer_norm(seqs=2000, spread=300, N=200):
    offsets, lengths, total = ragged_offsets(seqs, spread)
    x, w, b, y = rand(total, N, dtype=F16), rand(N), rand(N), empty(total, N, dtype=F16)

    def reference():
        seq = torch.repeat_interleave(torch.arange(seqs, device=DEVICE), lengths)
        count = (lengths * N).clamp_min(1).float()
        mean = zeros(seqs).index_add_(0, seq, x.float().sum(1)) / count
        d = x.float() - mean[seq][:, None]
        var = zeros(seqs).index_add_(0, seq, d.square().sum(1)) / count
        return (d * torch.rsqrt(var + 1e-5)[seq][:, None] * w + b,)

    return Case(jagged_layer_norm, (seqs,), (x, offsets, w, b, y), dict(N=N, BM=16, BN=256), (y,), reference, options=dict(num_warps=4),
                bytes=total * N * 4)


@triton.jit
def jagged_to_dense(x, offsets, dense, longest, N, pad, BM: tl.constexpr, BN: tl.constexpr):
    """A jagged batch padded to (sequences, longest, N)."""
    seq = tl.program_id(2)
    first, last = tl.load(offsets + seq), tl.load(offsets + seq + 1)
    r, c = tl.program_id(1) * BM + tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN)
    inside = (first + r < last)[:, None] & (c < N)[None, :]
    v = tl.load(x + (first + r)[:, None].to(tl.int64) * N + c[None, :], mask=inside, other=pad)
    tl.store(dense + (seq * longest + r)[:, None].to(tl.int64) * N + c[None, :], v, mask=(r < longest)[:, None] & (c < N)[None, :])


@case
def nk_jagged_to_dense(seqs=1000, spread=200, N=250):
    offsets, lengths, total = ragged_offsets(seqs, spread)
    x, dense = rand(total, N), empty(seqs, spread, N)

    def reference():
        at = torch.arange(spread, device=DEVICE)
        row = (offsets[:-1, None] + at).clamp(max=total - 1).long()
        return (torch.where((at < lengths[:, None])[:, :, None], x[row], -1.0),)

    return Case(jagged_to_dense, (triton.cdiv(N, 128), triton.cdiv(spread, 16), seqs), (x, offsets, dense, spread, N, -1.0), dict(BM=16, BN=128),
                (dense,), reference, rtol=1e-6, options=dict(num_warps=4), bytes=seqs * spread * N * 6)


@triton.jit
def embedding_bag(table, ids, weights, offsets, out, D: tl.constexpr):
    """Weighted means of rows of a table, a bag for each program; counts are known only at run time."""
    bag = tl.program_id(0)
    d = tl.arange(0, D)
    first, last = tl.load(offsets + bag), tl.load(offsets + bag + 1)
    acc = tl.zeros((D,), tl.float32)
    total = 0.0
    for i in tl.range(first, last, loop_unroll_factor=4):
        w = tl.load(weights + i)
        acc += w * tl.load(table + tl.load(ids + i).to(tl.int64) * D + d).to(tl.float32)
        total += w
    tl.store(out + bag * D + d, (acc / tl.maximum(total, 1e-6)).to(tl.float16))


@case
def nk_embedding_bag(bags=20000, spread=60, D=256, table_rows=200000):
    offsets, lengths, total = ragged_offsets(bags, spread)
    table, ids, weights, out = rand(table_rows, D, dtype=F16), randint(0, table_rows, total), uniform(total, low=0.1), empty(bags, D, dtype=F16)

    def reference():
        bag = torch.repeat_interleave(torch.arange(bags, device=DEVICE), lengths)
        sums, weight = zeros(bags, D), zeros(bags).index_add_(0, bag, weights)
        sums.index_add_(0, bag, table[ids.long()].float() * weights[:, None])
        return (sums / weight.clamp_min(1e-6)[:, None],)

    return Case(embedding_bag, (bags,), (table, ids, weights, offsets, out), dict(D=D), (out,), reference, options=dict(num_warps=1),
                bytes=total * D * 2)


@triton.jit
def adam_8_bit(p_ptr, g_ptr, m_ptr, v_ptr, m_scale, v_scale, p_out, m_out, v_out, ms_out, vs_out, lr, b1, b2, eps, BLOCK: tl.constexpr):
    """Adam whose moments are 8-bit with a scale for each block; the root of the second is what is stored."""
    block = tl.program_id(0)
    i = block * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(g_ptr + i).to(tl.float32)
    m = tl.load(m_ptr + i).to(tl.float32) * (tl.load(m_scale + block) / 127.0)
    root = tl.load(v_ptr + i).to(tl.float32) * (tl.load(v_scale + block) / 255.0)
    m = b1 * m + (1 - b1) * g
    v = b2 * root * root + (1 - b2) * g * g
    root = tl.sqrt(v)
    tl.store(p_out + i, tl.load(p_ptr + i) - lr * m / (root + eps))
    m_top, v_top = tl.maximum(tl.max(tl.abs(m), axis=0), 1e-20), tl.maximum(tl.max(root, axis=0), 1e-20)
    tl.store(m_out + i, tl.floor(m / m_top * 127.0 + 0.5).to(tl.int8))
    tl.store(v_out + i, tl.floor(root / v_top * 255.0 + 0.5).to(tl.int32).to(tl.uint8))
    tl.store(ms_out + block, m_top)
    tl.store(vs_out + block, v_top)


@case
def nk_adam_8_bit(blocks=16000, block=2048):
    n = blocks * block
    p, g = rand(n), rand(n, dtype=BF16)
    m, v = randint(-127, 128, n, dtype=torch.int8), randint(0, 256, n, dtype=torch.uint8)
    ms, vs = uniform(blocks, low=0.5, high=1.0), uniform(blocks, low=0.5, high=1.0)
    outs = empty(n), empty(n, dtype=torch.int8), empty(n, dtype=torch.uint8), empty(blocks), empty(blocks)

    def reference():
        grad = g.float().view(blocks, block)
        first = 0.9 * m.float().view(blocks, block) * (ms / 127)[:, None] + 0.1 * grad
        root = torch.sqrt(0.99 * (v.float().view(blocks, block) * (vs / 255)[:, None]).square() + 0.01 * grad.square())
        a, b = first.abs().amax(1), root.amax(1)
        return (p.view(blocks, block) - 1e-3 * first / (root + 1e-8), torch.floor(first / a[:, None] * 127 + 0.5),
                torch.floor(root / b[:, None] * 255 + 0.5), a, b)

    return Case(adam_8_bit, (blocks,), (p, g, m, v, ms, vs, *outs, 1e-3, 0.9, 0.99, 1e-8), dict(BLOCK=block), outs, reference, rtol=2e-3,
                options=dict(num_warps=4), bytes=n * 14)


@triton.jit
def rope_pairs(q, k, cos, sin, q_out, k_out, T, H: tl.constexpr, HK: tl.constexpr, D: tl.constexpr):
    """Rotates neighbours (2 i, 2 i + 1) of all heads of a token: reshape, split, interleave."""
    token = tl.program_id(0).to(tl.int64)
    t = token % T
    half = tl.arange(0, D // 2)
    c, s = tl.load(cos + t * (D // 2) + half)[None, :], tl.load(sin + t * (D // 2) + half)[None, :]
    d = tl.arange(0, D)
    at = token * H * D + tl.arange(0, H)[:, None] * D + d[None, :]
    a, b = tl.split(tl.reshape(tl.load(q + at).to(tl.float32), (H, D // 2, 2)))
    tl.store(q_out + at, tl.interleave(a * c - b * s, a * s + b * c).to(q_out.dtype.element_ty))
    at = token * HK * D + tl.arange(0, HK)[:, None] * D + d[None, :]
    a, b = tl.split(tl.reshape(tl.load(k + at).to(tl.float32), (HK, D // 2, 2)))
    tl.store(k_out + at, tl.interleave(a * c - b * s, a * s + b * c).to(k_out.dtype.element_ty))


@case
def nk_rope_pairs(B=4, T=4096, H=32, HK=8, D=128):
    q, k, angle = rand(B * T, H, D, dtype=BF16), rand(B * T, HK, D, dtype=BF16), uniform(T, D // 2, high=6.28)
    cos, sin, q_out, k_out = angle.cos(), angle.sin(), empty(B * T, H, D, dtype=BF16), empty(B * T, HK, D, dtype=BF16)

    def turned(x):
        z = torch.view_as_complex(x.float().view(B, T, -1, D // 2, 2)) * torch.complex(cos, sin)[:, None]
        return torch.view_as_real(z).reshape(x.shape)

    return Case(rope_pairs, (B * T,), (q, k, cos, sin, q_out, k_out, T), dict(H=H, HK=HK, D=D), (q_out, k_out), lambda: (turned(q), turned(k)),
                options=dict(num_warps=4), bytes=B * T * (H + HK) * D * 4)


@triton.jit
def heads_first(x, y, T, BT: tl.constexpr, BH: tl.constexpr, D: tl.constexpr):
    """(B, T, H, D) to (B, H, T, D) by 4-D descriptors, scaled."""
    t, h, b = tl.program_id(0) * BT, tl.program_id(1) * BH, tl.program_id(2)
    v = x.load([b, t, h, 0]).reshape(BT, BH, D)
    y.store([b, h, t, 0], (v.to(tl.float32) * 0.125).to(y.dtype).permute(1, 0, 2).reshape(1, BH, BT, D))


@case
def nk_heads_first(B=8, T=4096, H=32, D=64):
    x, y = rand(B, T, H, D, dtype=F16), empty(B, H, T, D, dtype=F16)
    return Case(heads_first, (T // 32, H // 4, B), (describe(x, 1, 32, 4, D), describe(y, 1, 4, 32, D), T), dict(BT=32, BH=4, D=D), (y,),
                lambda: (x.float().transpose(1, 2) * 0.125,), options=dict(num_warps=4), bytes=4 * B * T * H * D)


@triton.jit
def log_softmax_backward(dy, y, dx, col_sums, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Host's descriptors in, out, and one to which sums of columns are added."""
    row = tl.program_id(0) * BM
    g = dy.load([row, 0]).to(tl.float32)
    out = g - tl.exp(y.load([row, 0]).to(tl.float32)) * tl.sum(g, 1)[:, None]
    dx.store([row, 0], out.to(dx.dtype))
    col_sums.atomic_add([0, 0], tl.sum(out, 0, keep_dims=True))


@case
def nk_log_softmax_backward(rows=32768, N=1024):
    dy, y = rand(rows, N, dtype=F16), torch.log_softmax(rand(rows, N), 1).to(F16)
    dx, sums = empty(rows, N, dtype=F16), zeros(1, N)

    def reference():
        g = dy.float() - y.float().exp() * dy.float().sum(1, keepdim=True)
        return g, g.sum(0)

    return Case(log_softmax_backward, (rows // 16,),
                (describe(dy, 16, 1024), describe(y, 16, 1024), describe(dx, 16, 1024), describe(sums, 1, 1024)),
                dict(N=N, BM=16, BN=1024), (dx, sums), reference, accumulate=True, options=dict(num_warps=8), bytes=rows * N * 6)


@triton.jit
def align_experts(experts, slots, block_expert, padded, n, E: tl.constexpr, PAD: tl.constexpr, BLOCK: tl.constexpr):
    """One program sorts token slots by expert, each expert's padded to whole blocks: histograms, then ranks by running one-hot sums."""
    e, lane = tl.arange(0, E), tl.arange(0, BLOCK)
    counts = tl.zeros((E,), tl.int32)
    for start in range(0, n, BLOCK):
        i = start + lane
        counts += tl.histogram(tl.load(experts + i, mask=i < n, other=0), E, mask=i < n)
    blocks = (counts + PAD - 1) // PAD
    ends = tl.cumsum(blocks, axis=0)
    begin = (ends - blocks) * PAD
    for j in range(tl.max(blocks, axis=0)):
        tl.store(block_expert + ends - blocks + j, e, mask=j < blocks)
    tl.store(padded, tl.sum(blocks, axis=0) * PAD)
    for start in range(0, n, BLOCK):
        i = start + lane
        x = tl.load(experts + i, mask=i < n, other=-1)
        hot = (x[:, None] == e[None, :]).to(tl.int32)
        upto = tl.cumsum(hot, axis=0)
        place = tl.sum(hot * (begin[None, :] + upto - 1), axis=1)
        tl.store(slots + place, i, mask=i < n)
        begin += tl.sum(hot, axis=0)


@case
def nk_align_experts(n=16384, E=64, pad=64):
    experts = (randint(0, E, n) * randint(1, E + 1, n)) % E
    most = n // pad + E
    slots, block_expert, padded = zeros(most * pad, dtype=I32), zeros(most, dtype=I32), zeros(1, dtype=I32)

    def reference():
        counts = torch.bincount(experts, minlength=E)
        blocks = (counts + pad - 1) // pad
        begin = (blocks.cumsum(0) - blocks) * pad
        kinds, order = experts.sort(stable=True)
        rank = torch.arange(n, device=DEVICE) - (counts.cumsum(0) - counts)[kinds]
        places, owners = zeros(most * pad, dtype=I32), zeros(most, dtype=I32)
        places[begin[kinds] + rank] = order.to(I32)
        owner = torch.repeat_interleave(torch.arange(E, device=DEVICE), blocks).to(I32)
        owners[:len(owner)] = owner
        return places, owners, blocks.sum().view(1) * pad

    return Case(align_experts, (1,), (experts, slots, block_expert, padded, n), dict(E=E, PAD=pad, BLOCK=256), (slots, block_expert, padded),
                reference, rtol=1e-9, accumulate=True, options=dict(num_warps=16))


@triton.jit
def scatter_combine(rows, token, weight, out, n, D, BLOCK: tl.constexpr, BD: tl.constexpr):
    """Adds weighted rows of experts to their tokens: bf16 rows, f32 atomics."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.program_id(1) * BD + tl.arange(0, BD)
    t = tl.load(token + i, mask=i < n, other=0)
    w = tl.load(weight + i, mask=i < n, other=0.0)
    ok = (i < n)[:, None] & (d < D)[None, :]
    x = tl.load(rows + i[:, None] * D + d[None, :], mask=ok, other=0.0).to(tl.float32)
    tl.atomic_add(out + t[:, None] * D + d[None, :], x * w[:, None], mask=ok, sem="relaxed")


@case
def nk_scatter_combine(tokens=8192, top=4, D=2880):
    n = tokens * top
    rows, weight, out = rand(n, D, dtype=BF16), uniform(n), zeros(tokens, D)
    token = (torch.randperm(n, device=DEVICE) // top).to(I32)
    return Case(scatter_combine, (triton.cdiv(n, 16), triton.cdiv(D, 256)), (rows, token, weight, out, n, D), dict(BLOCK=16, BD=256), (out,),
                lambda: (zeros(tokens, D).index_add_(0, token, rows.float() * weight[:, None]),), rtol=1e-4, accumulate=True,
                options=dict(num_warps=4), bytes=n * D * 6)


@triton.jit
def decode_codebooks(codes, books, out, rows, C, BM: tl.constexpr, BC: tl.constexpr, CODES: tl.constexpr):
    """Vectors from codes: each column has a codebook of its own, gathered from along the first dimension."""
    r, c = tl.program_id(1) * BM + tl.arange(0, BM), tl.program_id(0) * BC + tl.arange(0, BC)
    book = tl.load(books + tl.arange(0, CODES)[:, None] * C + c[None, :])
    at = r[:, None] * C + c[None, :]
    code = tl.load(codes + at, mask=(r < rows)[:, None], other=0).to(tl.int32)
    tl.store(out + at, tl.gather(book, code, 0), mask=(r < rows)[:, None])


@case
def nk_decode_codebooks(rows=20001, C=2048, codes_each=32):
    codes, books, out = randint(0, codes_each, rows, C, dtype=torch.uint8), rand(codes_each, C), empty(rows, C)
    return Case(decode_codebooks, (C // 64, triton.cdiv(rows, 64)), (codes, books, out, rows, C), dict(BM=64, BC=64, CODES=codes_each), (out,),
                lambda: (books.gather(0, codes.long()),), rtol=1e-7, options=dict(num_warps=4), bytes=rows * C * 5)


@triton.jit
def round_stochastically(x, momentum, out, momentum_out, n, lr, seed, BLOCK: tl.constexpr):
    """A step with momentum, the result rounded up or down to bf16 by chance: random bits are added below the mantissa."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = tl.load(momentum + i, mask=i < n, other=0.0)
    y = tl.load(x + i, mask=i < n, other=0.0) - lr * m
    bits = y.to(tl.uint32, bitcast=True) + (tl.randint(seed, i).to(tl.uint32, bitcast=True) & 0xFFFF)
    tl.store(out + i, (bits >> 16).to(tl.uint16).to(tl.bfloat16, bitcast=True), mask=i < n)
    tl.store(momentum_out + i, m.to(tl.float8e5, fp_downcast_rounding="rtne"), mask=i < n)


@case
def nk_round_stochastically(n=20000001):
    x, m, out, m_out = rand(n), rand(n), empty(n, dtype=BF16), empty(n, dtype=torch.float8_e5m2)

    def reference():
        noise = philox(99, torch.arange(n, device=DEVICE))[0] & 0xFFFF
        bits = ((x - 0.125 * m).view(I32).long() & 0xFFFFFFFF) + noise >> 16 << 16
        return (bits - (bits >> 31 << 32)).to(I32).view(torch.float32), m.to(torch.float8_e5m2).float()

    return Case(round_stochastically, (triton.cdiv(n, 1024),), (x, m, out, m_out, n, 0.125, 99), dict(BLOCK=1024), (out, m_out), reference, rtol=1e-3,
                options=dict(num_warps=4), bytes=11 * n)


@triton.jit
def nearest_points(p, q, distance, index, n, m, BM: tl.constexpr, BN: tl.constexpr):
    """The nearest of q for each of p in three dimensions: minima with their places, the best so far kept."""
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    x, y, z = tl.load(p + 3 * i, i < n, 0.0), tl.load(p + 3 * i + 1, i < n, 0.0), tl.load(p + 3 * i + 2, i < n, 0.0)
    best, where = tl.full((BM,), float("inf"), tl.float32), tl.zeros((BM,), tl.int32)
    for start in range(0, m, BN):
        j = start + tl.arange(0, BN)
        ok = j < m
        dx = x[:, None] - tl.load(q + 3 * j, ok, 1.0e9)[None, :]
        dy = y[:, None] - tl.load(q + 3 * j + 1, ok, 1.0e9)[None, :]
        dz = z[:, None] - tl.load(q + 3 * j + 2, ok, 1.0e9)[None, :]
        least, at = tl.min(dx * dx + dy * dy + dz * dz, axis=1, return_indices=True)
        where = tl.where(least < best, start + at, where)
        best = tl.minimum(best, least)
    tl.store(distance + i, best, mask=i < n)
    tl.store(index + i, where, mask=i < n)


@case
def nk_nearest_points(n=20000, m=9001):
    p, q, distance, index = rand(n, 3), rand(m, 3), empty(n), empty(n, dtype=I32)

    def reference():
        parts = [((a[:, None] - q).square().sum(2)).min(1) for a in p.split(2000)]
        return torch.cat([r[0] for r in parts]), torch.cat([r[1] for r in parts])

    return Case(nearest_points, (triton.cdiv(n, 64),), (p, q, distance, index, n, m), dict(BM=64, BN=64), (distance, index), reference, rtol=1e-3,
                options=dict(num_warps=4), flops=8 * n * m)
