# SPDX-License-Identifier: Apache-2.0
"""Products as libraries configure them: weights of 2, 3, 4 and 8 bits, scales of rows and groups, sums by semaphores, fused epilogues."""
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from case import DEVICE, Case, empty, rand, randint, registry, uniform, zeros
from lm_experts import align
from nk_gemm import tile_at

CASES, case = registry()
F16, BF16, F8, F64 = torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float64


def describe(x, *block):
    return TensorDescriptor(x, list(x.shape), list(x.stride()), list(block))


@triton.jit
def int8_by_groups(x_ptr, w_ptr, scales, y_ptr, M, N, K, GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """bf16 rows times int8 weights; the scale of a group along K multiplies its part of the sum."""
    x = tl.make_tensor_descriptor(x_ptr, [M, K], [K, 1], [BM, GROUP])
    w = tl.make_tensor_descriptor(w_ptr, [N, K], [K, 1], [BN, GROUP])
    row, col = tile_at(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), 8)
    m, n = row * BM + tl.arange(0, BM), col * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for g in range(K // GROUP):
        s = tl.load(scales + g * N + n, mask=n < N, other=0.0)
        part = tl.dot(x.load([row * BM, g * GROUP]), w.load([col * BN, g * GROUP]).to(x.dtype).T)
        acc += part * s[None, :]
    tl.store(y_ptr + m[:, None] * N + n[None, :], acc.to(y_ptr.dtype.element_ty), mask=(m < M)[:, None] & (n < N)[None, :])


@case
def nu_int8_by_groups(M=500, N=8000, K=4096, group=128):
    x, w, s = rand(M, K, dtype=BF16), randint(-127, 128, N, K, dtype=torch.int8), uniform(K // group, N, low=0.002, high=0.01)
    y = empty(M, N, dtype=BF16)
    return Case(int8_by_groups, (triton.cdiv(M, 128) * triton.cdiv(N, 128),), (x, w, s, y, M, N, K),
                dict(GROUP=group, BM=128, BN=128), (y,), lambda: (x.float() @ (w.T.float() * s.repeat_interleave(group, 0)),),
                options=dict(num_warps=8, num_stages=3), flops=2 * M * N * K)


@triton.jit
def two_bit_planes(x, w, scales, mids, y, M, N, K, GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Weights of 2 bits: a byte has a value of each quarter of K, so that a load feeds four products."""
    m, n, k = tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN), tl.arange(0, GROUP)
    acc = tl.zeros((BM, BN), tl.float32)
    quarter = K // 4
    for start in range(0, quarter, GROUP):
        bytes_ = tl.load(w + (start + k)[:, None] * N + n[None, :])
        for i in tl.static_range(4):
            at = i * quarter + start
            a = tl.load(x + m[:, None] * K + at + k[None, :], mask=(m < M)[:, None], other=0.0)
            s, mid = tl.load(scales + at // GROUP * N + n), tl.load(mids + at // GROUP * N + n)
            b = (((bytes_ >> (2 * i)) & 3).to(a.dtype) - mid[None, :]) * s[None, :]
            acc = tl.dot(a, b, acc)
    tl.store(y + m[:, None] * N + n[None, :], acc.to(y.dtype.element_ty), mask=(m < M)[:, None])


@case
def nu_two_bit_planes(M=15, N=28672, K=8192, group=64):
    x, w, y = rand(M, K, dtype=F16), randint(0, 256, K // 4, N, dtype=torch.uint8), empty(M, N, dtype=F16)
    s, mid = uniform(K // group, N, low=0.01, high=0.05, dtype=F16), uniform(K // group, N, low=1.0, high=2.0, dtype=F16)

    def reference():
        total = torch.zeros(M, N, device=DEVICE)
        for i in range(4):
            rows, groups = slice(i * K // 4, (i + 1) * K // 4), slice(i * K // 4 // group, (i + 1) * K // 4 // group)
            b = ((w >> (2 * i)) & 3).half() - mid[groups].repeat_interleave(group, 0)
            total += x[:, rows].float() @ (b * s[groups].repeat_interleave(group, 0)).float()
        return (total,)

    return Case(two_bit_planes, (N // 128,), (x, w, s, mid, y, M, N, K), dict(GROUP=group, BM=16, BN=128), (y,), reference,
                options=dict(num_warps=4, num_stages=3), bytes=N * K / 4)


@triton.jit
def three_bit_words(x, w, scales, mids, group_of, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """32 weights of 3 bits in three words along K, two of them across words; every k names its group."""
    n, m, k = tl.program_id(0) * BN + tl.arange(0, BN), tl.program_id(1) * BM + tl.arange(0, BM), tl.arange(0, BK)
    bit = k % 32 * 3
    shift, crosses = (bit % 32)[:, None], (bit % 32 > 29)[:, None]
    at = w + (k // 32 * 3 + bit // 32)[:, None] * N + n[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        a = tl.load(x + m[:, None] * K + start + k[None, :], mask=(m < M)[:, None], other=0.0)
        low = tl.load(at).to(tl.uint32, bitcast=True) >> shift
        high = tl.load(at + N, mask=crosses, other=0).to(tl.uint32, bitcast=True) << ((32 - shift) & 31)
        g = tl.load(group_of + start + k)
        s, mid = tl.load(scales + g[:, None] * N + n[None, :]), tl.load(mids + g[:, None] * N + n[None, :])
        b = (tl.where(crosses, low | high, low) & 7).to(tl.float16)
        acc = tl.dot(a, (b - mid) * s, acc)
        at += BK // 32 * 3 * N
    tl.store(y + m[:, None] * N + n[None, :], acc.to(y.dtype.element_ty), mask=(m < M)[:, None])


@case
def nu_three_bit_words(M=30, N=8192, K=4096, group=128):
    x, w, y = rand(M, K, dtype=F16), randint(-2**31, 2**31, K // 32 * 3, N), empty(M, N, dtype=F16)
    s, mid = uniform(K // group, N, low=0.01, high=0.03, dtype=F16), uniform(K // group, N, low=2.0, high=5.0, dtype=F16)
    group_of = (torch.randperm(K, device=DEVICE) // group).to(torch.int32)

    def reference():
        words, values = (w.long() & 0xFFFFFFFF).view(K // 32, 3, N), []
        for bit in range(0, 96, 3):
            value = words[:, bit // 32] >> (bit % 32)
            values.append(((value | words[:, bit // 32 + 1] << (32 - bit % 32)) if bit % 32 > 29 else value) & 7)
        b = torch.stack(values, 1).view(K, N).half() - mid[group_of.long()]
        return (x.float() @ (b * s[group_of.long()]).float(),)

    return Case(three_bit_words, (N // 64, triton.cdiv(M, 32)), (x, w, s, mid, group_of, y, M, N, K),
                dict(BM=32, BN=64, BK=64), (y,), reference, options=dict(num_warps=4, num_stages=3), bytes=N * K * 3 / 8)


@triton.jit
def int8_by_nibbles(x_desc, w_desc, x_scales, w_scales, y_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr):
    """int8 rows times signed nibbles; of a group of 128 along K, the low ones are the first half; integer sums within a group."""
    row, col = tile_at(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), 8)
    m, n = row * BM + tl.arange(0, BM), col * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for g in range(K // 128):
        packed = w_desc.load([col * BN, g * 64])
        part = tl.dot(x_desc.load([row * BM, g * 128]), ((packed << 4) >> 4).T, out_dtype=tl.int32)
        part = tl.dot(x_desc.load([row * BM, g * 128 + 64]), (packed >> 4).T, part, out_dtype=tl.int32)
        acc += part.to(tl.float32) * tl.load(w_scales + g * N + n)[None, :]
    acc *= tl.load(x_scales + m, mask=m < M, other=0.0)[:, None]
    tl.store(y_ptr + m[:, None] * N + n[None, :], acc.to(y_ptr.dtype.element_ty), mask=(m < M)[:, None])


@case
def nu_int8_by_nibbles(M=1000, N=8192, K=4096):
    x, w, y = randint(-127, 128, M, K, dtype=torch.int8), randint(-128, 128, N, K // 2, dtype=torch.int8), empty(M, N, dtype=BF16)
    xs, ws = uniform(M, low=0.005, high=0.02), uniform(K // 128, N, low=0.01, high=0.05)

    def reference():
        b = torch.stack(((w << 4) >> 4, w >> 4), 0).view(2, N, K // 128, 64).permute(2, 0, 3, 1).reshape(K, N)
        return (x.float() * xs[:, None] @ (b.float() * ws.repeat_interleave(128, 0)),)

    return Case(int8_by_nibbles, (triton.cdiv(M, 128) * (N // 128),), (describe(x, 128, 64), describe(w, 128, 64), xs, ws, y, M, N, K),
                dict(BM=128, BN=128), (y,), reference, options=dict(num_warps=8, num_stages=3), flops=2 * M * N * K)


@triton.jit
def fp8_rows_columns(a_desc, b_desc, c_desc, row_scales, column_scales, bias, M, N, K, BM: tl.constexpr, BN: tl.constexpr,
                     BK: tl.constexpr):
    """Persistent; fp8 with a scale for each row and column, and a bias, all of them at the end."""
    rows, cols = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), rows * cols, tl.num_programs(0), flatten=True):
        row, col = tile_at(tile, rows, cols, 8)
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(a_desc.load([row * BM, k]), b_desc.load([col * BN, k]).T, acc)
        m, n = row * BM + tl.arange(0, BM), col * BN + tl.arange(0, BN)
        s = tl.load(row_scales + m, mask=m < M, other=0.0)[:, None] * tl.load(column_scales + n, mask=n < N, other=0.0)[None, :]
        y = acc * s + tl.load(bias + n, mask=n < N, other=0.0).to(tl.float32)[None, :]
        c_desc.store([row * BM, col * BN], y.to(c_desc.dtype))


@case
def nu_fp8_rows_columns(M=4000, N=4608, K=4096):
    a, b, c = rand(M, K, dtype=F8), rand(N, K, dtype=F8), empty(M, N, dtype=BF16)
    rs, cs, bias = uniform(M, low=0.5, high=1.5), uniform(N, low=0.01, high=0.03), rand(N, dtype=BF16)
    args = (describe(a, 128, 128), describe(b, 128, 128), describe(c, 128, 128), rs, cs, bias, M, N, K)
    return Case(fp8_rows_columns, (132,), args, dict(BM=128, BN=128, BK=128), (c,),
                lambda: (a.float() @ b.float().T * rs[:, None] * cs + bias.float(),), rtol=2e-2, options=dict(num_warps=8, num_stages=4),
                flops=2 * M * N * K)


@triton.jit
def experts_swiglu(x_ptr, w_ptr, scales, y_ptr, slots, owners, padded, valid, N, K, TOP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
                   BK: tl.constexpr):
    """A block of slots of one expert: gate and up share the gathered rows; int8 weights with a scale for each channel."""
    block, col = tl.program_id(1), tl.program_id(0)
    if block * BM >= tl.load(padded):
        return
    slot = tl.load(slots + block * BM + tl.arange(0, BM))
    e = tl.load(owners + block).to(tl.int64)
    n, k = col * BN + tl.arange(0, BN), tl.arange(0, BK)
    x_at = x_ptr + (slot // TOP)[:, None] * K + k[None, :]
    gate_at = w_ptr + e * 2 * N * K + n[None, :] * K + k[:, None]
    gate, up = tl.zeros((BM, BN), tl.float32), tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        x = tl.load(x_at, mask=(slot < valid)[:, None], other=0.0)
        gate = tl.dot(x, tl.load(gate_at).to(x.dtype), gate)
        up = tl.dot(x, tl.load(gate_at + N * K).to(x.dtype), up)
        x_at += BK
        gate_at += BK
    gate *= tl.load(scales + e * 2 * N + n)[None, :]
    up *= tl.load(scales + e * 2 * N + N + n)[None, :]
    y = gate * tl.sigmoid(gate) * up
    tl.store(y_ptr + slot.to(tl.int64)[:, None] * N + n[None, :], y.to(y_ptr.dtype.element_ty), mask=(slot < valid)[:, None])


def experts_case(tokens, top, experts, N, K, bm, bn, warps, stages):
    flat, slots, owners, padded, blocks = align(tokens, experts, top, bm)
    x, w, y = rand(tokens, K, dtype=BF16), randint(-127, 128, experts, 2 * N, K, dtype=torch.int8), empty(tokens * top, N, dtype=BF16)
    s = uniform(experts, 2 * N, low=0.0002, high=0.0008)

    def reference():
        rows, out = x.float().repeat_interleave(top, 0), torch.zeros(tokens * top, N, device=DEVICE)
        for e in range(experts):
            chosen = (flat == e).nonzero()[:, 0]
            gate, up = (rows[chosen] @ w[e].float().T * s[e]).split(N, 1)
            out[chosen] = torch.nn.functional.silu(gate) * up
        return (out,)

    return Case(experts_swiglu, (N // bn, blocks), (x, w, s, y, slots, owners, padded, tokens * top, N, K),
                dict(TOP=top, BM=bm, BN=bn, BK=128 if bm == 16 else 64), (y,), reference, options=dict(num_warps=warps, num_stages=stages),
                flops=4 * tokens * top * N * K)


@case
def nu_experts_swiglu_rows16(tokens=128, top=8, experts=64, N=1024, K=2048):
    return experts_case(tokens, top, experts, N, K, 16, 64, 4, 3)


@case
def nu_experts_swiglu_rows64(tokens=1024, top=4, experts=16, N=1408, K=2048):
    return experts_case(tokens, top, experts, N, K, 64, 128, 8, 3)


@triton.jit
def product_residual_norm(x, w, residual, gain, sum_out, y, M, K, eps, N: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr):
    """A program has whole rows of the result, adds the residual, keeps the sum and normalizes it."""
    m, n, k = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, N), tl.arange(0, BK)
    acc = tl.zeros((BM, N), tl.float32)
    for start in range(0, K, BK):
        a = tl.load(x + m[:, None] * K + start + k[None, :], mask=(m < M)[:, None], other=0.0)
        b = tl.load(w + (start + k)[:, None] * N + n[None, :])
        acc = tl.dot(a, b, acc)
    at, inside = m[:, None] * N + n[None, :], (m < M)[:, None]
    acc += tl.load(residual + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(sum_out + at, acc.to(sum_out.dtype.element_ty), mask=inside)
    acc *= tl.rsqrt(tl.sum(acc * acc, 1) / N + eps)[:, None]
    tl.store(y + at, (acc * tl.load(gain + n).to(tl.float32)[None, :]).to(y.dtype.element_ty), mask=inside)


@case
def nu_product_residual_norm(M=16000, N=512, K=2048):
    x, w, residual = rand(M, K, dtype=BF16), rand(K, N, dtype=BF16, scale=0.02), rand(M, N, dtype=BF16)
    gain, total, y = uniform(N, low=0.5, high=1.5, dtype=BF16), empty(M, N, dtype=BF16), empty(M, N, dtype=BF16)

    def reference():
        r = x.float() @ w.float() + residual.float()
        return r, r * torch.rsqrt(r.square().mean(1, keepdim=True) + 1e-5) * gain.float()

    return Case(product_residual_norm, (triton.cdiv(M, 64),), (x, w, residual, gain, total, y, M, K, 1e-5),
                dict(N=N, BM=64, BK=32), (total, y), reference, options=dict(num_warps=8, num_stages=3), flops=2 * M * N * K)


@triton.jit
def stream_k_fixed_up(a_desc, b_desc, c_ptr, space, flags, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Equal shares of all steps, walked backwards: a share's last part waits in `space` for whoever ends its tile, who adds in order."""
    p, programs = tl.program_id(0), tl.num_programs(0)
    cols, steps = tl.cdiv(N, BN), tl.cdiv(K, BK)
    total = tl.cdiv(M, BM) * cols * steps
    low, at = p * total // programs, (p + 1) * total // programs
    inner = tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]
    while at > low:
        tile = (at - 1) // steps
        start = tile * steps
        first = tl.maximum(start, low)
        row, col = tile // cols * BM, tile % cols * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for i in range(first - start, at - start):
            acc = tl.dot(a_desc.load([row, i * BK]), b_desc.load([col, i * BK]).T, acc)
        if at < start + steps:
            tl.store(space + p * (BM * BN) + inner, acc)
            tl.debug_barrier()
            tl.atomic_xchg(flags + p, 1)
        else:
            q, reached = p - 1, first
            while reached > start:
                while tl.atomic_add(flags + q, 0) == 0:
                    pass
                acc += tl.load(space + q * (BM * BN) + inner, cache_modifier=".cg")
                tl.debug_barrier()
                tl.atomic_xchg(flags + q, 0)
                reached = q * total // programs
                q -= 1
            m, n = row + tl.arange(0, BM), col + tl.arange(0, BN)
            tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(c_ptr.dtype.element_ty), mask=(m < M)[:, None] & (n < N)[None, :])
        at = first


@case
def nu_stream_k_fixed_up(M=1200, N=1984, K=8192, programs=132):
    a, b, c = rand(M, K, dtype=BF16), rand(N, K, dtype=BF16), empty(M, N, dtype=BF16)
    space, flags = empty(programs, 128, 128), zeros(programs, dtype=torch.int32)
    return Case(stream_k_fixed_up, (programs,), (describe(a, 128, 64), describe(b, 128, 64), c, space, flags, M, N, K),
                dict(BM=128, BN=128, BK=64), (c,), lambda: (a.float() @ b.float().T,), options=dict(num_warps=8, num_stages=4),
                flops=2 * M * N * K)


@triton.jit
def split_k_last_adds(x, w, bias, y, space, arrived, M, N, K, SPLIT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Each share of K has its place in `space`; who arrives last adds them in order, with bias and activation, and resets the counter."""
    col, split = tl.program_id(0), tl.program_id(1)
    m, n, k = tl.arange(0, BM), col * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    share = tl.cdiv(tl.cdiv(K, BK), SPLIT) * BK
    for start in range(split * share, tl.minimum((split + 1) * share, K), BK):
        a = tl.load(x + m[:, None] * K + start + k[None, :], mask=(m < M)[:, None] & (start + k < K)[None, :], other=0.0)
        b = tl.load(w + n[None, :] * K + start + k[:, None], mask=(n < N)[None, :] & (start + k < K)[:, None], other=0.0)
        acc = tl.dot(a, b, acc)
    at = m[:, None] * N + n[None, :]
    inside = (m < M)[:, None] & (n < N)[None, :]
    tl.store(space + split * M * N + at, acc, mask=inside)
    tl.debug_barrier()
    if tl.atomic_add(arrived + col, 1) == SPLIT - 1:
        total = tl.zeros((BM, BN), tl.float32)
        for i in range(SPLIT):
            total += tl.load(space + i * M * N + at, mask=inside, other=0.0, cache_modifier=".cg")
        total += tl.load(bias + n, mask=n < N, other=0.0)[None, :]
        tl.store(y + at, (total * tl.sigmoid(1.702 * total)).to(y.dtype.element_ty), mask=inside)
        tl.atomic_xchg(arrived + col, 0)


@case
def nu_split_k_last_adds(M=60, N=5000, K=16000, split=7):
    x, w, bias, y = rand(M, K, dtype=F16), rand(N, K, dtype=F16, scale=0.01), rand(N), empty(M, N, dtype=F16)
    space, arrived = empty(split, M, N), zeros(triton.cdiv(N, 128), dtype=torch.int32)

    def reference():
        total = x.float() @ w.float().T + bias
        return (total * torch.sigmoid(1.702 * total),)

    return Case(split_k_last_adds, (triton.cdiv(N, 128), split), (x, w, bias, y, space, arrived, M, N, K),
                dict(SPLIT=split, BM=64, BN=128, BK=64), (y,), reference, options=dict(num_warps=4, num_stages=4), bytes=2 * N * K)


@triton.jit
def adapters_of_tokens(x, w, which, y, tokens, N, N1, N2, R: tl.constexpr, BN: tl.constexpr):
    """y[t] += w[adapter of t] x[part of the columns, t]: a token a program, no matrix products; -1 has no adapter."""
    t, n = tl.program_id(1), tl.program_id(0) * BN + tl.arange(0, BN)
    a = tl.load(which + t)
    if a < 0:
        return
    part = (tl.program_id(0) * BN >= N1).to(tl.int32) + (tl.program_id(0) * BN >= N2).to(tl.int32)
    r = tl.arange(0, R)
    row = tl.load(x + (part * tokens + t) * R + r)
    b = tl.load(w + (a.to(tl.int64) * N + n)[:, None] * R + r[None, :], mask=(n < N)[:, None], other=0.0).to(tl.float32)
    at = y + t.to(tl.int64) * N + n
    old = tl.load(at, mask=n < N, other=0.0).to(tl.float32)
    tl.store(at, (old + tl.sum(b * row[None, :], 1)).to(y.dtype.element_ty), mask=n < N)


@case
def nu_adapters_of_tokens(tokens=1000, adapters=48, N1=4096, N2=1024, R=32):
    N = N1 + 2 * N2
    x, w, y = rand(3, tokens, R, scale=0.1), rand(adapters, N, R, dtype=BF16), zeros(tokens, N, dtype=BF16)
    which = randint(-1, adapters, tokens)

    def reference():
        out = torch.zeros(tokens, N, device=DEVICE)
        for a in range(adapters):
            mine = (which == a).nonzero()[:, 0]
            for i, (low, high) in enumerate(((0, N1), (N1, N1 + N2), (N1 + N2, N))):
                out[mine, low:high] = x[i, mine] @ w[a, low:high].float().T
        return (out,)

    return Case(adapters_of_tokens, (triton.cdiv(N, 256), tokens), (x, w, which, y, tokens, N, N1, N1 + N2),
                dict(R=R, BN=256), (y,), reference, options=dict(num_warps=4), accumulate=True, bytes=tokens * N * (R + 2) * 2)


@triton.jit
def conv_stride_two(x, w, bias, y, images, H, W, F, C: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """3 x 3, stride 2, padding 1, NHWC, as one product: rows are pixels of the result, k counts taps and channels; bias and silu."""
    OH, OW = (H + 1) // 2, (W + 1) // 2
    m, n, k = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    image, top, left = m // (OH * OW), m // OW % OH * 2 - 1, m % OW * 2 - 1
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, 9 * C, BK):
        tap, c = (start + k) // C, (start + k) % C
        h, v = top[:, None] + (tap // 3)[None, :], left[:, None] + (tap % 3)[None, :]
        inside = (h >= 0) & (h < H) & (v >= 0) & (v < W) & (image < images)[:, None]
        a = tl.load(x + ((image[:, None] * H + h) * W + v) * C + c[None, :], mask=inside, other=0.0)
        b = tl.load(w + n[None, :] * (9 * C) + (start + k)[:, None], mask=(n < F)[None, :], other=0.0)
        acc = tl.dot(a, b, acc)
    acc += tl.load(bias + n, mask=n < F, other=0.0)[None, :]
    mask = (image < images)[:, None] & (n < F)[None, :]
    tl.store(y + m[:, None] * F + n[None, :], (acc * tl.sigmoid(acc)).to(y.dtype.element_ty), mask=mask)


@case
def nu_conv_stride_two(images=15, H=111, W=112, C=96, F=192):
    x, w, bias = rand(images, H, W, C, dtype=F16), rand(F, 3, 3, C, dtype=F16, scale=0.05), rand(F)
    OH, OW = (H + 1) // 2, (W + 1) // 2
    y = empty(images, OH, OW, F, dtype=F16)

    def reference():
        out = torch.nn.functional.conv2d(x.float().permute(0, 3, 1, 2), w.float().permute(0, 3, 1, 2), bias, stride=2, padding=1)
        return (torch.nn.functional.silu(out).permute(0, 2, 3, 1),)

    return Case(conv_stride_two, (triton.cdiv(images * OH * OW, 128), triton.cdiv(F, 64)), (x, w, bias, y, images, H, W, F),
                dict(C=C, BM=128, BN=64, BK=32), (y,), reference, options=dict(num_warps=4, num_stages=4),
                flops=2 * images * OH * OW * F * 9 * C)


@triton.jit
def best_logits(x_desc, w_desc, values, ids, M, V, K, TOP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Logits that are never written: of each strip of the vocabulary, the best and where they are."""
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(x_desc.load([row, k]), w_desc.load([col, k]).T, acc)
    m, n, slot = row + tl.arange(0, BM), col + tl.arange(0, BN), tl.arange(0, TOP)
    acc = tl.where((n < V)[None, :], acc, -float("inf"))
    best, where = tl.zeros((BM, TOP), tl.float32), tl.zeros((BM, TOP), tl.int32)
    for i in tl.static_range(TOP):
        top, at = tl.max(acc, 1, return_indices=True)
        best = tl.where((slot == i)[None, :], top[:, None], best)
        where = tl.where((slot == i)[None, :], at[:, None] + col, where)
        acc = tl.where(tl.arange(0, BN)[None, :] == at[:, None], -float("inf"), acc)
    to = (m[:, None] * tl.num_programs(1) + tl.program_id(1)) * TOP + slot[None, :]
    tl.store(values + to, best, mask=(m < M)[:, None])
    tl.store(ids + to, where, mask=(m < M)[:, None])


@case
def nu_best_logits(M=120, V=50257, K=2048, top=4):
    x, w, strips = rand(M, K, dtype=BF16), rand(V, K, dtype=BF16, scale=0.05), triton.cdiv(V, 128)
    values, ids = empty(M, strips, top), empty(M, strips, top, dtype=torch.int32)

    def reference():
        logits = torch.full((M, strips * 128), float("-inf"), device=DEVICE)
        logits[:, :V] = x.float() @ w.float().T
        best, at = torch.topk(logits.view(M, strips, 128), top, 2)
        return best, at + torch.arange(strips, device=DEVICE)[:, None] * 128

    return Case(best_logits, (triton.cdiv(M, 64), strips), (describe(x, 64, 64), describe(w, 128, 64), values, ids, M, V, K),
                dict(TOP=top, BM=64, BN=128, BK=64), (values, ids), reference, options=dict(num_warps=4, num_stages=4), flops=2 * M * V * K)


@triton.jit
def batches_transposed(a_ptr, b_ptr, c_ptr, B, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """(a b)^T of small matrices: 3-D descriptors made by the kernel, a matrix a program in turns."""
    a = tl.make_tensor_descriptor(a_ptr, [B, M, K], [M * K, K, 1], [1, M, K])
    b = tl.make_tensor_descriptor(b_ptr, [B, K, N], [K * N, N, 1], [1, K, N])
    c = tl.make_tensor_descriptor(c_ptr, [B, N, M], [N * M, M, 1], [1, N, M])
    for i in tl.range(tl.program_id(0), B, tl.num_programs(0)):
        y = tl.dot(a.load([i, 0, 0]).reshape(M, K), b.load([i, 0, 0]).reshape(K, N))
        c.store([i, 0, 0], y.to(c_ptr.dtype.element_ty).T.reshape(1, N, M))


@case
def nu_batches_transposed(B=3000, M=128, N=64, K=64):
    a, b, c = rand(B, M, K, dtype=F16), rand(B, K, N, dtype=F16), empty(B, N, M, dtype=F16)
    return Case(batches_transposed, (528,), (a, b, c, B), dict(M=M, N=N, K=K), (c,), lambda: ((a.float() @ b.float()).transpose(1, 2),),
                options=dict(num_warps=4, num_stages=3), bytes=B * (M * K + K * N + N * M) * 2)


@triton.jit
def f32_by_columns(a_desc, b_ptr, c_ptr, M, N, K, PRECISION: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """f32, a^T b with a by boxes of a descriptor and b by masked pointers; both lie along the result's dimensions."""
    row, col = tile_at(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), 8)
    m, n, k = row * BM + tl.arange(0, BM), col * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        b = tl.load(b_ptr + (start + k)[:, None] * N + n[None, :], mask=(start + k < K)[:, None] & (n < N)[None, :], other=0.0)
        acc = tl.dot(a_desc.load([start, row * BM]).T, b, acc, input_precision=PRECISION)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc, mask=(m < M)[:, None] & (n < N)[None, :])


@case
def nu_tf32_by_columns(M=2000, N=2050, K=2044):
    a, b, c = rand(K, M), rand(K, N), empty(M, N)
    return Case(f32_by_columns, (triton.cdiv(M, 128) * triton.cdiv(N, 64),), (describe(a, 32, 128), b, c, M, N, K),
                dict(PRECISION="tf32", BM=128, BN=64, BK=32), (c,), lambda: (a.T @ b,), options=dict(num_warps=4, num_stages=3),
                flops=2 * M * N * K)


@triton.jit
def f64_batches(a_ptr, b_ptr, c_ptr, alpha, beta, batches, S: tl.constexpr, K: tl.constexpr, BK: tl.constexpr):
    """c = alpha a b^T + beta c0 of f64 matrices of S x S, one a program; c0 is one that all share and lies after a."""
    i = tl.program_id(0).to(tl.int64)
    s, k = tl.arange(0, S), tl.arange(0, BK)
    acc = tl.zeros((S, S), tl.float64)
    for start in range(0, K, BK):
        a = tl.load(a_ptr + i * S * K + s[:, None] * K + start + k[None, :], mask=(start + k < K)[None, :], other=0.0)
        b = tl.load(b_ptr + i * S * K + s[None, :] * K + start + k[:, None], mask=(start + k < K)[:, None], other=0.0)
        acc = tl.dot(a, b, acc, out_dtype=tl.float64)
    tile = s[:, None] * S + s[None, :]
    acc = alpha * acc + beta * tl.load(a_ptr + batches * S * K + tile)
    tl.store(c_ptr + i * S * S + tile, acc)


@case
def nu_f64_batches(batches=3000, S=64, K=60):
    a, b, c = rand(batches * S * K + S * S, dtype=F64), rand(batches, S, K, dtype=F64), empty(batches, S, S, dtype=F64)

    def reference():
        left, first = a[:batches * S * K].view(batches, S, K), a[batches * S * K:].view(S, S)
        return (0.5 * left @ b.transpose(1, 2) + 2.0 * first,)

    return Case(f64_batches, (batches,), (a, b, c, 0.5, 2.0, batches), dict(S=S, K=K, BK=16), (c,), reference, rtol=1e-12,
                options=dict(num_warps=4, num_stages=2), bytes=batches * S * (2 * K + S) * 8)


@triton.jit
def depthwise(x, w, bias, y, H, W, C, TAPS: tl.constexpr, BW: tl.constexpr, BC: tl.constexpr):
    """TAPS x TAPS for each channel, NHWC, same size: a piece of a line by a piece of the channels."""
    line, c = tl.program_id(0), tl.program_id(2) * BC + tl.arange(0, BC)
    h, v = line % H, tl.program_id(1) * BW + tl.arange(0, BW)
    acc = tl.zeros((BW, BC), tl.float32) + tl.load(bias + c, mask=c < C, other=0.0)[None, :]
    for i in range(TAPS):
        above = h + i - TAPS // 2
        if (above >= 0) & (above < H):
            base = (line + i - TAPS // 2).to(tl.int64) * W * C
            for j in tl.static_range(TAPS):
                at = v + (j - TAPS // 2)
                inside = ((at >= 0) & (at < W))[:, None] & (c < C)[None, :]
                pixels = tl.load(x + base + at[:, None] * C + c[None, :], mask=inside, other=0.0)
                acc += pixels.to(tl.float32) * tl.load(w + (i * TAPS + j) * C + c, mask=c < C, other=0.0).to(tl.float32)[None, :]
    to = y + line.to(tl.int64) * W * C + v[:, None] * C + c[None, :]
    tl.store(to, acc.to(y.dtype.element_ty), mask=(v < W)[:, None] & (c < C)[None, :])


@case
def nu_depthwise_7x7(images=24, H=56, W=56, C=192):
    x, w, bias, y = rand(images, H, W, C, dtype=F16), rand(7, 7, C, dtype=F16, scale=0.2), rand(C), empty(images, H, W, C, dtype=F16)

    def reference():
        taps = w.float().permute(2, 0, 1)[:, None]
        return (torch.nn.functional.conv2d(x.float().permute(0, 3, 1, 2), taps, bias, padding=3, groups=C).permute(0, 2, 3, 1),)

    return Case(depthwise, (images * H, triton.cdiv(W, 32), triton.cdiv(C, 64)), (x, w, bias, y, H, W, C), dict(TAPS=7, BW=32, BC=64), (y,),
                reference, options=dict(num_warps=4), bytes=images * H * W * C * 4)
