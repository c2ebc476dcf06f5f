# SPDX-License-Identifier: Apache-2.0
"""Products as packages write them: packed and sparse weights, adapters, groups of rows, epilogues with two results, images and sounds."""
import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, randint, registry, tensor, uniform, zeros

CASES, case = registry()
F16, BF16, F8, F8W = torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2


@triton.jit
def swizzled(pid, M, N, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    """The tile of a program, in groups of GROUP rows of tiles."""
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    group = pid // (GROUP * tiles_n)
    first = group * GROUP
    size = min(tiles_m - first, GROUP)
    return first + (pid % (GROUP * tiles_n)) % size, (pid % (GROUP * tiles_n)) // size


@triton.jit
def fp8_groups_contiguous(A, A_scale, B, B_scale, C, group_of, M, N, K, stride_as, BM: tl.constexpr, BN: tl.constexpr):
    """Rows of fp8 by the matrix of their group, both with scales of 128; a group's rows fill whole tiles."""
    pid_m, pid_n = tl.program_id(1), tl.program_id(0)
    group = tl.load(group_of + pid_m * BM).to(tl.int64)
    m, n, k = pid_m * BM + tl.arange(0, BM), pid_n * BN + tl.arange(0, BN), tl.arange(0, 128)
    a_ptrs = A + m[:, None].to(tl.int64) * K + k[None, :]
    b_ptrs = B + group * N * K + n[None, :] * K + k[:, None]
    b_scales = B_scale + (group * tl.cdiv(N, 128) + pid_n * BN // 128) * (K // 128)
    acc = tl.zeros((BM, BN), tl.float32)
    for step in range(0, K // 128):
        a = tl.load(a_ptrs)
        b = tl.load(b_ptrs, mask=(n < N)[None, :], other=0.0)
        factor = tl.load(A_scale + step * stride_as + m) * tl.load(b_scales + step)
        acc += tl.dot(a, b) * factor[:, None]
        a_ptrs += 128
        b_ptrs += 128
    tl.store(C + m[:, None].to(tl.int64) * N + n[None, :], acc.to(C.dtype.element_ty), mask=(n < N)[None, :])


@case
def rw_fp8_groups_contiguous(tiles=(5, 1, 9, 3, 0, 7, 2, 6), N=2112, K=2048, BM=64):
    groups, M = len(tiles), sum(tiles) * BM
    a, b, c = rand(M, K, dtype=F8), rand(groups, N, K, dtype=F8), empty(M, N, dtype=BF16)
    a_scale, b_scale = uniform(K // 128, M, low=0.01, high=0.02), uniform(groups, triton.cdiv(N, 128), K // 128, low=0.5)
    of = tensor([i for i, t in enumerate(tiles) for _ in range(t * BM)], torch.int32)

    def reference():
        whole = a.float() * a_scale.T.repeat_interleave(128, 1)
        out, start = torch.empty(M, N, device=DEVICE), 0
        for i, t in enumerate(tiles):
            weight = b[i].float() * b_scale[i].repeat_interleave(128, 0)[:N].repeat_interleave(128, 1)
            out[start:start + t * BM] = whole[start:start + t * BM] @ weight.T
            start += t * BM
        return (out,)

    return Case(fp8_groups_contiguous, (triton.cdiv(N, 128), M // BM), (a, a_scale, b, b_scale, c, of, M, N, K, M), dict(BM=BM, BN=128), (c,),
                reference, options=dict(num_warps=4, num_stages=4), flops=2 * M * N * K)


@triton.jit
def int4_int8_groups(A, A_scale, W, W_scale, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, EVEN_K: tl.constexpr):
    """int8 rows by int4 weights of (K / 2, N), even k low; a scale for each BK weights of a column and for each row."""
    pid_m, pid_n = swizzled(tl.program_id(0), M, N, BM, BN, 8)
    m, n = (pid_m * BM + tl.arange(0, BM)) % M, (pid_n * BN + tl.arange(0, BN)) % N
    n = tl.max_contiguous(tl.multiple_of(n, BN), BN)
    half = tl.arange(0, BK // 2)
    acc = tl.zeros((BM, BN), tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        k = step * BK + tl.arange(0, BK)
        if EVEN_K:
            a = tl.load(A + m[:, None] * K + k[None, :])
            w = tl.load(W + (step * (BK // 2) + half)[:, None] * N + n[None, :])
        else:
            a = tl.load(A + m[:, None] * K + k[None, :], mask=(k < K)[None, :], other=0)
            w = tl.load(W + (step * (BK // 2) + half)[:, None] * N + n[None, :], mask=(step * BK + 2 * half < K)[:, None], other=0)
        low = (w << 4) >> 4
        high = w >> 4
        b = tl.join(low, high).permute(0, 2, 1).reshape(BK, BN)
        acc += tl.dot(a, b, out_dtype=tl.int32).to(tl.float32) * tl.load(W_scale + step * N + n)[None, :]
    acc *= tl.load(A_scale + m)[:, None]
    rows, cols = pid_m * BM + tl.arange(0, BM), pid_n * BN + tl.arange(0, BN)
    tl.store(C + rows[:, None] * N + cols[None, :], acc.to(C.dtype.element_ty), mask=(rows < M)[:, None] & (cols < N)[None, :])


@case
def rw_int4_int8_groups(M=1000, N=4096, K=3072, BK=128):
    a, w = randint(-128, 128, M, K, dtype=torch.int8), randint(-128, 128, K // 2, N, dtype=torch.int8)
    a_scale, w_scale, c = uniform(M, low=0.01, high=0.02), uniform(K // BK, N, low=0.01, high=0.02), empty(M, N, dtype=F16)

    def reference():
        wide = w.to(torch.int32)
        whole = torch.stack((wide << 28 >> 28, wide >> 4), 1).view(K, N).float() * w_scale.repeat_interleave(BK, 0)
        return (a.float() @ whole * a_scale[:, None],)

    return Case(int4_int8_groups, (triton.cdiv(M, 64) * triton.cdiv(N, 128),), (a, a_scale, w, w_scale, c, M, N, K),
                dict(BM=64, BN=128, BK=BK, EVEN_K=True), (c,), reference, options=dict(num_warps=4, num_stages=3), flops=2 * M * N * K)


@triton.jit
def int8_weight_only(A, W, W_scale, Bias, C, M, N, K, stride_am, stride_ak, stride_wn, stride_wk, BM: tl.constexpr, BN: tl.constexpr,
                     BK: tl.constexpr, EVEN_K: tl.constexpr, HAS_BIAS: tl.constexpr):
    """bf16 rows by int8 weights with a scale for each output."""
    pid_m, pid_n = swizzled(tl.program_id(0), M, N, BM, BN, 4)
    rm, rn, rk = pid_m * BM + tl.arange(0, BM), pid_n * BN + tl.arange(0, BN), tl.arange(0, BK)
    ram, rbn = tl.max_contiguous(tl.multiple_of(rm % M, BM), BM), tl.max_contiguous(tl.multiple_of(rn % N, BN), BN)
    A += ram[:, None] * stride_am + rk[None, :] * stride_ak
    W += rbn[None, :] * stride_wn + rk[:, None] * stride_wk
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(K, 0, -BK):
        if EVEN_K:
            a, w = tl.load(A), tl.load(W)
        else:
            a, w = tl.load(A, mask=rk[None, :] < k, other=0.0), tl.load(W, mask=rk[:, None] < k, other=0)
        acc += tl.dot(a, w.to(a.dtype), allow_tf32=True)
        A += BK * stride_ak
        W += BK * stride_wk
    acc *= tl.load(W_scale + rn, mask=rn < N, other=0.0)[None, :]
    if HAS_BIAS:
        acc += tl.load(Bias + rn, mask=rn < N, other=0.0).to(tl.float32)[None, :]
    tl.store(C + rm[:, None] * N + rn[None, :], acc.to(C.dtype.element_ty), mask=(rm < M)[:, None] & (rn < N)[None, :])


@case
def rw_int8_weight_only(M=700, N=4000, K=2500):
    a, w, bias, c = rand(M, K, dtype=BF16), randint(-127, 128, N, K, dtype=torch.int8), rand(N, dtype=BF16), empty(M, N, dtype=BF16)
    scale = uniform(N, low=0.005, high=0.01)
    return Case(int8_weight_only, (triton.cdiv(M, 64) * triton.cdiv(N, 64),), (a, w, scale, bias, c, M, N, K, K, 1, K, 1),
                dict(BM=64, BN=64, BK=64, EVEN_K=False, HAS_BIAS=True), (c,), lambda: (a.float() @ (w.float() * scale[:, None]).T + bias.float(),),
                options=dict(num_warps=4, num_stages=4), flops=2 * M * N * K)


@triton.jit
def lora_segments(X, A, B, Base, Y, starts, ids, factors, N, K, R: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Segments of tokens by their adapters, both products in one kernel, added to what the base gave."""
    seg, block = tl.program_id(0), tl.program_id(1)
    first, last = tl.load(starts + seg), tl.load(starts + seg + 1)
    adapter = tl.load(ids + seg)
    if first + block * BM >= last:
        return
    m, r, k, n = first + block * BM + tl.arange(0, BM), tl.arange(0, R), tl.arange(0, BK), tl.arange(0, BN)
    inside = m < last
    low = tl.zeros((BM, R), tl.float32)
    if adapter >= 0:
        for start in range(0, K, BK):
            x = tl.load(X + m[:, None] * K + start + k[None, :], mask=inside[:, None], other=0.0)
            a = tl.load(A + adapter.to(tl.int64) * R * K + r[None, :] * K + start + k[:, None])
            low = tl.dot(x, a, low)
        low = low * tl.load(factors + adapter)
    low = low.to(X.dtype.element_ty)
    for start in range(0, N, BN):
        cols = start + n
        mask = inside[:, None] & (cols < N)[None, :]
        y = tl.load(Base + m[:, None] * N + cols[None, :], mask=mask, other=0.0).to(tl.float32)
        if adapter >= 0:
            b = tl.load(B + adapter.to(tl.int64) * N * R + cols[None, :] * R + r[:, None], mask=(cols < N)[None, :], other=0.0)
            y = tl.dot(low, b, y)
        tl.store(Y + m[:, None] * N + cols[None, :], y.to(Y.dtype.element_ty), mask=mask)


@case
def rw_lora_segments(lengths=(300, 33, 1, 700, 128, 64, 1500, 5, 900, 250), N=3000, K=4096, R=16, adapters=7):
    starts = torch.tensor((0, *lengths), device="cpu").cumsum(0).tolist()
    T = starts[-1]
    x, base, y = rand(T, K, dtype=BF16), rand(T, N, dtype=BF16), empty(T, N, dtype=BF16)
    a, b, factors = rand(adapters, R, K, dtype=BF16, scale=0.02), rand(adapters, N, R, dtype=BF16), uniform(adapters, low=0.5, high=2.0)
    ids = [(i * 3) % (adapters + 1) - 1 for i in range(len(lengths))]

    def reference():
        out = base.float().clone()
        for i, which in enumerate(ids):
            if which >= 0:
                rows = slice(starts[i], starts[i + 1])
                out[rows] += x[rows].float() @ a[which].float().T * factors[which] @ b[which].float().T
        return (out,)

    return Case(lora_segments, (len(lengths), triton.cdiv(max(lengths), 32)),
                (x, a, b, base, y, tensor(starts, torch.int32), tensor(ids, torch.int32), factors, N, K), dict(R=R, BM=32, BN=64, BK=128), (y,),
                reference, options=dict(num_warps=4, num_stages=3), bytes=T * (K + 2 * N) * 2)


@triton.jit
def blocks_sampled(A, B, C, row_of, col_of, K, N, BS: tl.constexpr, BK: tl.constexpr):
    """Blocks of a b^T that a layout lists, one after another; b is (N, K)."""
    pid = tl.program_id(0)
    row, col = tl.load(row_of + pid).to(tl.int32), tl.load(col_of + pid).to(tl.int32)
    m, n, k = row * BS + tl.arange(0, BS), col * BS + tl.arange(0, BS), tl.arange(0, BK)
    a_ptrs = A + m[:, None].to(tl.int64) * K + k[None, :]
    b_ptrs = B + n[None, :].to(tl.int64) * K + k[:, None]
    acc = tl.zeros((BS, BS), dtype=tl.float32)
    for _ in range(0, tl.cdiv(K, BK)):
        acc += tl.dot(tl.load(a_ptrs), tl.load(b_ptrs))
        a_ptrs += BK
        b_ptrs += BK
    s = tl.arange(0, BS)
    tl.store(C + pid.to(tl.int64) * BS * BS + s[:, None] * BS + s[None, :], acc.to(C.dtype.element_ty))


def moe_layout(rows_of, cols):
    """The blocks of a block-diagonal layout: expert i has rows_of[i] rows of blocks and `cols` columns of its own."""
    rows, columns, r = [], [], 0
    for i, count in enumerate(rows_of):
        for _ in range(count):
            rows += [r] * cols
            columns += range(i * cols, i * cols + cols)
            r += 1
    return rows, columns


@case
def rw_blocks_sampled_128(rows_of=(3, 1, 5, 0, 2, 4), cols=7, K=2048):
    rows, columns = moe_layout(rows_of, cols)
    M, N = sum(rows_of) * 128, len(rows_of) * cols * 128
    a, b, c = rand(M, K, dtype=F16), rand(N, K, dtype=F16), empty(len(rows), 128, 128, dtype=F16)

    def reference():
        left, right = a.float().view(-1, 128, K), b.float().view(-1, 128, K)
        return (left[torch.tensor(rows)] @ right[torch.tensor(columns)].transpose(1, 2),)

    return Case(blocks_sampled, (len(rows),), (a, b, c, tensor(rows, torch.int16), tensor(columns, torch.int16), K, N), dict(BS=128, BK=32), (c,),
                reference, options=dict(num_warps=8, num_stages=4), flops=2 * len(rows) * 128 * 128 * K)


@triton.jit
def sparse_by_dense(S, offsets, columns, block_at, D, Y, N, BS: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TRANSPOSED: tl.constexpr):
    """A matrix of listed blocks by a dense one; transposed, blocks are found by an index and read across."""
    pid_n, pid_m = tl.program_id(0), tl.program_id(1)
    first, last = tl.load(offsets + pid_m), tl.load(offsets + pid_m + 1)
    m, n, k = tl.arange(0, BS), pid_n * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BS, BN), tl.float32)
    parts: tl.constexpr = BS // BK
    for i in range(0, parts * (last - first)):
        at, part = first + i // parts, (i % parts) * BK
        if TRANSPOSED:
            block = tl.load(block_at + at).to(tl.int64)
            s = tl.load(S + block * BS * BS + (part + k)[None, :] * BS + m[:, None])
        else:
            s = tl.load(S + at.to(tl.int64) * BS * BS + m[:, None] * BS + (part + k)[None, :])
        row = tl.load(columns + at).to(tl.int32) * BS + part + k
        d = tl.load(D + row[:, None].to(tl.int64) * N + n[None, :], mask=(n < N)[None, :], other=0.0)
        acc = tl.dot(s, d, acc)
    tl.store(Y + (pid_m * BS + m)[:, None].to(tl.int64) * N + n[None, :], acc.to(Y.dtype.element_ty), mask=(n < N)[None, :])


def sparse_product(rows_of, cols, N, dtype, transposed, **options):
    """A case of sparse_by_dense."""
    rows, columns = moe_layout(rows_of, cols)
    R, C = sum(rows_of), len(rows_of) * cols
    order = sorted(range(len(rows)), key=lambda i: (columns[i], rows[i])) if transposed else range(len(rows))
    along, across = (columns, rows) if transposed else (rows, columns)
    offsets = [sum(1 for x in along if x < i) for i in range((C if transposed else R) + 1)]
    s, d = rand(len(rows), 128, 128, dtype=dtype), rand((R if transposed else C) * 128, N, dtype=dtype)
    y = empty((C if transposed else R) * 128, N, dtype=dtype)

    def reference():
        whole = torch.zeros(R, 128, C, 128, device=DEVICE)
        whole[torch.tensor(rows, device=DEVICE), :, torch.tensor(columns, device=DEVICE)] = s.float()
        whole = whole.view(R * 128, C * 128)
        return ((whole.T if transposed else whole) @ d.float(),)

    return Case(sparse_by_dense, (triton.cdiv(N, 64), C if transposed else R),
                (s, tensor(offsets, torch.int32), tensor([across[i] for i in order], torch.int16), tensor(list(order), torch.int32), d, y, N),
                dict(BS=128, BN=64, BK=64, TRANSPOSED=transposed), (y,), reference, options=options, flops=2 * len(rows) * 128 * 128 * N)


@case
def rw_sparse_by_dense_128(rows_of=(3, 1, 5, 0, 2, 4), cols=7, N=5000):
    return sparse_product(rows_of, cols, N, BF16, False, num_warps=4, num_stages=3)


@case
def rw_sparse_across_128(rows_of=(3, 1, 5, 0, 2, 4), cols=7, N=5000):
    return sparse_product(rows_of, cols, N, F16, True, num_warps=4, num_stages=4)


@triton.jit
def experts_int4(A, W, Scales, Zeros, C, weights, sorted_ids, expert_ids, padded, N, K, tokens, TOP: tl.constexpr, GROUP: tl.constexpr,
                 BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GM: tl.constexpr):
    """Experts of 4-bit weights: (E, N, K / 2) bytes, low nibble first, with scales and packed zeros of groups; rows are weighted."""
    pid_m, pid_n = swizzled(tl.program_id(0), tl.load(padded), N, BM, BN, GM)
    if pid_m * BM >= tl.load(padded):
        return
    expert = tl.load(expert_ids + pid_m).to(tl.int64)
    token = tl.load(sorted_ids + pid_m * BM + tl.arange(0, BM)).to(tl.int64)
    inside = token < tokens
    n, k = (pid_n * BN + tl.arange(0, BN)) % N, tl.arange(0, BK)
    a_ptrs = A + (token // TOP)[:, None] * K + k[None, :]
    w_ptrs = W + expert * N * (K // 2) + n[None, :] * (K // 2) + k[:, None] // 2
    shift = (k % 2)[:, None] * 4
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        a = tl.load(a_ptrs, mask=inside[:, None], other=0.0)
        w = (tl.load(w_ptrs) >> shift) & 0xF
        g = (start + k[:, None]) // GROUP
        scale = tl.load(Scales + expert * N * (K // GROUP) + n[None, :] * (K // GROUP) + g).to(tl.float32)
        zero = tl.load(Zeros + expert * (N // 2) * (K // GROUP) + (n[None, :] // 2) * (K // GROUP) + g)
        zero = ((zero >> ((n % 2)[None, :] * 4)) & 0xF).to(tl.float32)
        acc = tl.dot(a, ((w.to(tl.float32) - zero) * scale).to(a.dtype), acc=acc)
        a_ptrs += BK
        w_ptrs += BK // 2
    acc *= tl.load(weights + token, mask=inside, other=0.0)[:, None]
    cols = pid_n * BN + tl.arange(0, BN)
    tl.store(C + token[:, None] * N + cols[None, :], acc.to(C.dtype.element_ty), mask=inside[:, None] & (cols < N)[None, :])


@case
def rw_experts_int4(tokens=150, E=16, TOP=4, N=1536, K=2048, group=64, BM=16):
    ids = [(t * 7 + j * 5 + t * t // 3) % E for t in range(tokens) for j in range(TOP)]
    order, experts = [], []
    for e in range(E):
        mine = [i for i, x in enumerate(ids) if x == e]
        mine += [tokens * TOP] * (-len(mine) % BM)
        order, experts = order + mine, experts + [e] * (len(mine) // BM)
    a, c = rand(tokens, K, dtype=F16), empty(tokens * TOP, N, dtype=F16)
    w, zero = randint(0, 256, E, N, K // 2, dtype=torch.uint8), randint(0, 256, E, N // 2, K // group, dtype=torch.uint8)
    scale, weights = uniform(E, N, K // group, low=0.01, high=0.02, dtype=F16), uniform(tokens * TOP)

    def reference():
        out = torch.empty(tokens * TOP, N, device=DEVICE)
        for e in range(E):
            rows = torch.tensor([i for i, x in enumerate(ids) if x == e], device=DEVICE, dtype=torch.int64)
            zeros_of = torch.stack((zero[e] & 15, zero[e] >> 4), 1).view(N, K // group).repeat_interleave(group, 1).float()
            whole = torch.stack((w[e] & 15, w[e] >> 4), 2).view(N, K).float() - zeros_of
            out[rows] = a[rows // TOP].float() @ (whole * scale[e].float().repeat_interleave(group, 1)).T * weights[rows, None]
        return (out,)

    return Case(experts_int4, (triton.cdiv(len(order), BM) * triton.cdiv(N, 64),),
                (a, w, scale, zero, c, weights, tensor(order, torch.int32), tensor(experts, torch.int32), tensor([len(order)], torch.int32), N, K,
                 tokens * TOP), dict(TOP=TOP, GROUP=group, BM=BM, BN=64, BK=128, GM=1), (c,), reference,
                options=dict(num_warps=4, num_stages=3), flops=2 * tokens * TOP * N * K)


@triton.jit
def squared_relu_two(A, B, Pre, Post, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A product and the square of its positive part, both stored, a tile in two halves."""
    pid_m, pid_n = swizzled(tl.program_id(0), M, N, BM, BN, 8)
    m, k = pid_m * BM + tl.arange(0, BM), tl.arange(0, BK)
    n = pid_n * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in tl.range(0, K, BK):
        a = tl.load(A + m[:, None] * K + start + k[None, :], mask=(m < M)[:, None], other=0.0)
        b = tl.load(B + n[None, :] * K + start + k[:, None], mask=(n < N)[None, :], other=0.0)
        acc = tl.dot(a, b, acc)
    first, second = acc.reshape(BM, 2, BN // 2).permute(0, 2, 1).split()
    half = pid_n * BN + tl.arange(0, BN // 2)
    at = m[:, None] * N + half[None, :]
    mask, mask2 = (m < M)[:, None] & (half < N)[None, :], (m < M)[:, None] & (half + BN // 2 < N)[None, :]
    tl.store(Pre + at, first.to(Pre.dtype.element_ty), mask=mask)
    tl.store(Pre + at + BN // 2, second.to(Pre.dtype.element_ty), mask=mask2)
    first, second = tl.maximum(first, 0.0), tl.maximum(second, 0.0)
    tl.store(Post + at, (first * first).to(Post.dtype.element_ty), mask=mask)
    tl.store(Post + at + BN // 2, (second * second).to(Post.dtype.element_ty), mask=mask2)


@case
def rw_squared_relu_two(M=4000, N=3072, K=768):
    a, b, pre, post = rand(M, K, dtype=BF16), rand(N, K, dtype=BF16, scale=0.04), empty(M, N, dtype=BF16), empty(M, N, dtype=BF16)

    def reference():
        y = a.float() @ b.float().T
        return y, torch.relu(y).square()

    return Case(squared_relu_two, (triton.cdiv(M, 128) * triton.cdiv(N, 256),), (a, b, pre, post, M, N, K), dict(BM=128, BN=256, BK=64),
                (pre, post), reference, options=dict(num_warps=8, num_stages=4), flops=2 * M * N * K)


@triton.jit
def addmm_scaled(A, B, C, Y, alpha, beta, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, BM: tl.constexpr, BN: tl.constexpr,
                 BK: tl.constexpr):
    """alpha a b + beta c of any sizes, all bounds checked."""
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    m, n, k = pid_m * BM + tl.arange(0, BM), pid_n * BN + tl.arange(0, BN), tl.arange(0, BK)
    a_ptrs, b_ptrs = A + m[:, None] * stride_am + k[None, :] * stride_ak, B + k[:, None] * stride_bk + n[None, :] * stride_bn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    left = K
    while left > 0:
        a = tl.load(a_ptrs, mask=(m[:, None] < M) & (k[None, :] < left), other=0.0)
        b = tl.load(b_ptrs, mask=(n[None, :] < N) & (k[:, None] < left), other=0.0)
        acc += tl.dot(a, b, allow_tf32=False)
        a_ptrs += BK * stride_ak
        b_ptrs += BK * stride_bk
        left -= BK
    mask = (m[:, None] < M) & (n[None, :] < N)
    c = tl.load(C + n[None, :], mask=(n < N)[None, :], other=0.0)
    tl.store(Y + m[:, None] * N + n[None, :], (acc * alpha + c * beta).to(Y.dtype.element_ty), mask=mask)


@case
def rw_addmm_odd_f16(M=1543, N=1021, K=999):
    a, b, c, y = rand(M, K, dtype=F16), rand(K, N, dtype=F16), rand(N, dtype=F16), empty(M, N, dtype=F16)
    return Case(addmm_scaled, (triton.cdiv(M, 64), triton.cdiv(N, 64)), (a, b, c, y, 0.5, 2.0, M, N, K, *a.stride(), *b.stride()),
                dict(BM=64, BN=64, BK=32), (y,), lambda: (a.float() @ b.float() * 0.5 + c.float() * 2.0,), options=dict(num_warps=2, num_stages=5),
                flops=2 * M * N * K)


@case
def rw_addmm_transposed_bf16(M=2048, N=2304, K=1536):
    a, b, c, y = rand(K, M, dtype=BF16), rand(N, K, dtype=BF16), rand(N, dtype=BF16), empty(M, N, dtype=BF16)
    return Case(addmm_scaled, (triton.cdiv(M, 128), triton.cdiv(N, 64)), (a, b, c, y, 0.25, 1.0, M, N, K, 1, M, 1, K),
                dict(BM=128, BN=64, BK=64), (y,), lambda: (a.float().T @ b.float().T * 0.25 + c.float(),),
                options=dict(num_warps=4, num_stages=3), flops=2 * M * N * K)


@triton.jit
def f32_precise(A, B, C, M, N, K, PRECISION: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """An f32 product with a named way of splitting."""
    pid_m, pid_n = swizzled(tl.program_id(0), M, N, BM, BN, 8)
    m, n, k = pid_m * BM + tl.arange(0, BM), pid_n * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        a = tl.load(A + m[:, None] * K + start + k[None, :], mask=(m < M)[:, None], other=0.0)
        b = tl.load(B + (start + k)[:, None] * N + n[None, :], mask=(n < N)[None, :], other=0.0)
        acc = tl.dot(a, b, acc, input_precision=PRECISION)
    tl.store(C + m[:, None] * N + n[None, :], acc, mask=(m < M)[:, None] & (n < N)[None, :])


@case
def rw_f32_bf16x6(M=1200, N=1100, K=1024):
    a, b, c = rand(M, K), rand(K, N), empty(M, N)
    return Case(f32_precise, (triton.cdiv(M, 64) * triton.cdiv(N, 64),), (a, b, c, M, N, K), dict(PRECISION="bf16x6", BM=64, BN=64, BK=32), (c,),
                lambda: ((a.double() @ b.double()).float(),), rtol=3e-5, options=dict(num_warps=4, num_stages=3), flops=2 * M * N * K)


@triton.jit
def weight_and_bias_grad(X, DY, DW, DB, T, N, K, BN: tl.constexpr, BK: tl.constexpr, BT: tl.constexpr):
    """dy^T x over tokens; the first column of tiles also sums dy."""
    pid_n, pid_k = tl.program_id(0), tl.program_id(1)
    n, k = pid_n * BN + tl.arange(0, BN), pid_k * BK + tl.arange(0, BK)
    acc = tl.zeros((BN, BK), tl.float32)
    sums = tl.zeros((BN,), tl.float32)
    for start in range(0, T, BT):
        t = start + tl.arange(0, BT)
        dy = tl.load(DY + t[:, None] * N + n[None, :], mask=(t < T)[:, None] & (n < N)[None, :], other=0.0)
        x = tl.load(X + t[:, None] * K + k[None, :], mask=(t < T)[:, None] & (k < K)[None, :], other=0.0)
        acc = tl.dot(tl.trans(dy), x, acc)
        if pid_k == 0:
            sums += tl.sum(dy.to(tl.float32), 0)
    tl.store(DW + n[:, None] * K + k[None, :], acc.to(DW.dtype.element_ty), mask=(n < N)[:, None] & (k < K)[None, :])
    if pid_k == 0:
        tl.store(DB + n, sums, mask=n < N)


@case
def rw_weight_and_bias_grad(T=5000, N=1540, K=1032):
    x, dy, dw, db = rand(T, K, dtype=F16), rand(T, N, dtype=F16), empty(N, K), empty(N)
    return Case(weight_and_bias_grad, (triton.cdiv(N, 128), triton.cdiv(K, 128)), (x, dy, dw, db, T, N, K), dict(BN=128, BK=128, BT=32), (dw, db),
                lambda: (dy.float().T @ x.float(), dy.float().sum(0)), options=dict(num_warps=4, num_stages=4), flops=2 * T * N * K)


@triton.jit
def fp8_input_grad(DY, W, DX, dy_scale, w_scale, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Gradients of e5m2 by the transposed weights of e4m3, each with one scale in memory; w lies as (N, K), outputs along K."""
    pid_m, pid_n = swizzled(tl.program_id(0), M, K, BM, BN, 8)
    m, c, n = pid_m * BM + tl.arange(0, BM), pid_n * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, N, BK):
        dy = tl.load(DY + m[:, None] * N + start + n[None, :], mask=(m < M)[:, None], other=0.0)
        w = tl.load(W + c[None, :] * N + start + n[:, None], mask=(c < K)[None, :], other=0.0)
        acc = tl.dot(dy, w, acc, max_num_imprecise_acc=0)
    acc = acc * (tl.load(dy_scale) * tl.load(w_scale))
    tl.store(DX + m[:, None] * K + c[None, :], acc.to(DX.dtype.element_ty), mask=(m < M)[:, None] & (c < K)[None, :])


@case
def rw_fp8_input_grad(M=3000, N=2560, K=2176):
    dy, w, dx = rand(M, N, dtype=F8W), rand(K, N, dtype=F8), empty(M, K, dtype=BF16)
    dy_scale, w_scale = uniform(1, low=0.5, high=1.5), uniform(1, low=0.01, high=0.02)
    return Case(fp8_input_grad, (triton.cdiv(M, 128) * triton.cdiv(K, 128),), (dy, w, dx, dy_scale, w_scale, M, N, K),
                dict(BM=128, BN=128, BK=128), (dx,), lambda: (dy.float() @ w.float().T * (dy_scale * w_scale),),
                options=dict(num_warps=8, num_stages=3), flops=2 * M * N * K)


@triton.jit
def conv1d_gelu(X, W, Bias, Y, T, OUT, F, C: tl.constexpr, TAPS: tl.constexpr, STEP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
                BK: tl.constexpr):
    """A convolution along time of (batch, T, C) with a step, as a product over taps and channels, then gelu."""
    m, n, k = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    b = tl.program_id(2)
    acc = tl.zeros((BM, BN), tl.float32)
    for tap in tl.static_range(TAPS):
        t = m * STEP + tap - TAPS // 2
        inside = (t >= 0) & (t < T) & (m < OUT)
        for start in range(0, C, BK):
            x = tl.load(X + (b * T + t)[:, None] * C + start + k[None, :], mask=inside[:, None], other=0.0)
            w = tl.load(W + (tap * C + start + k)[:, None] * F + n[None, :], mask=(n < F)[None, :], other=0.0)
            acc = tl.dot(x, w, acc)
    acc += tl.load(Bias + n, mask=n < F, other=0.0).to(tl.float32)[None, :]
    acc = 0.5 * acc * (1.0 + tl.erf(acc * 0.7071067811865476))
    tl.store(Y + (b * OUT + m)[:, None] * F + n[None, :], acc.to(Y.dtype.element_ty), mask=(m < OUT)[:, None] & (n < F)[None, :])


@case
def rw_conv1d_step2_gelu(B=5, T=3000, C=384, F=768):
    x, w, bias, y = rand(B, T, C, dtype=F16), rand(3, C, F, dtype=F16, scale=0.03), rand(F, dtype=F16), empty(B, (T + 1) // 2, F, dtype=F16)

    def reference():
        out = torch.nn.functional.conv1d(x.float().transpose(1, 2), w.float().permute(2, 1, 0), bias.float(), stride=2, padding=1)
        return (torch.nn.functional.gelu(out).transpose(1, 2),)

    return Case(conv1d_gelu, (triton.cdiv((T + 1) // 2, 128), triton.cdiv(F, 128), B), (x, w, bias, y, T, (T + 1) // 2, F),
                dict(C=C, TAPS=3, STEP=2, BM=128, BN=128, BK=64), (y,), reference, options=dict(num_warps=8, num_stages=3),
                flops=B * T * 3 * C * F)


@triton.jit
def monarch_half(X, W, Y, M, NB: tl.constexpr, BS: tl.constexpr, BM: tl.constexpr):
    """One factor of a butterfly: each block of a row by its own small matrix; the result's blocks are interleaved."""
    pid_m, block = tl.program_id(0), tl.program_id(1)
    m, s = pid_m * BM + tl.arange(0, BM), tl.arange(0, BS)
    x = tl.load(X + m[:, None] * (NB * BS) + block * BS + s[None, :], mask=(m < M)[:, None], other=0.0, eviction_policy="evict_first")
    w = tl.load(W + block * BS * BS + s[None, :] * BS + s[:, None], eviction_policy="evict_last")
    y = tl.dot(x, w)
    tl.store(Y + m[:, None] * (NB * BS) + s[None, :] * NB + block, y.to(Y.dtype.element_ty), mask=(m < M)[:, None])


@case
def rw_monarch_half(M=10000, NB=24, BS=64):
    x, w, y = rand(M, NB * BS, dtype=BF16), rand(NB, BS, BS, dtype=BF16, scale=0.1), empty(M, BS * NB, dtype=BF16)

    def reference():
        return (torch.einsum("mbk,bnk->mnb", x.view(M, NB, BS).float(), w.float()),)

    return Case(monarch_half, (triton.cdiv(M, 128), NB), (x, w, y, M), dict(NB=NB, BS=BS, BM=128), (y,), reference, options=dict(num_warps=4),
                bytes=4 * M * NB * BS)


@triton.jit
def two_of_four(X, W, Meta, Y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Weights with two of each four kept, and a nibble of two places for each four; they are spread out before the product."""
    pid_m, pid_n = swizzled(tl.program_id(0), M, N, BM, BN, 8)
    m, n, k = pid_m * BM + tl.arange(0, BM), pid_n * BN + tl.arange(0, BN), tl.arange(0, BK)
    pair = (k // 4 * 2)[:, None]
    place = (k % 4)[:, None]
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(X + m[:, None] * K + start + k[None, :], mask=(m < M)[:, None], other=0.0)
        row = W + n[None, :] * (K // 2) + start // 2 + pair
        first, second = tl.load(row), tl.load(row + 1)
        byte = tl.load(Meta + n[None, :] * (K // 8) + (start + k)[:, None] // 8)
        both = (byte >> ((k // 4 % 2)[:, None] * 4)).to(tl.int32)
        w = tl.where(place == (both & 3), first, 0.0) + tl.where(place == ((both >> 2) & 3), second, 0.0)
        acc = tl.dot(x, w.to(x.dtype), acc)
    tl.store(Y + m[:, None] * N + n[None, :], acc.to(Y.dtype.element_ty), mask=(m < M)[:, None] & (n < N)[None, :])


@case
def rw_two_of_four(M=500, N=3072, K=2048):
    x, w, y = rand(M, K, dtype=F16), rand(N, K // 2, dtype=F16), empty(M, N, dtype=F16)
    codes = tensor([a | b << 2 for a in range(4) for b in range(a + 1, 4)], torch.uint8)[randint(0, 6, N, K // 4).long()]
    meta = (codes.view(N, K // 8, 2)[:, :, 0] | codes.view(N, K // 8, 2)[:, :, 1] << 4).contiguous()

    def reference():
        places = torch.stack((codes & 3, codes >> 2), 2).long()
        whole = torch.zeros(N, K // 4, 4, device=DEVICE).scatter_(2, places, w.view(N, K // 4, 2).float())
        return (x.float() @ whole.view(N, K).T,)

    return Case(two_of_four, (triton.cdiv(M, 64) * triton.cdiv(N, 64),), (x, w, meta, y, M, N, K), dict(BM=64, BN=64, BK=64), (y,), reference,
                options=dict(num_warps=4, num_stages=2), flops=2 * M * N * K)


@triton.jit
def ternary(X, X_scale, W, Y, w_scale, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BQ: tl.constexpr):
    """int8 rows by weights of -1, 0 and 1: a byte holds those of four strips of K, each minus one."""
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    m, n, k, quarter = pid_m * BM + tl.arange(0, BM), pid_n * BN + tl.arange(0, BN), tl.arange(0, BQ), K // 4
    acc = tl.zeros((BM, BN), tl.int32)
    for start in range(0, quarter, BQ):
        packed = tl.load(W + n[None, :] * quarter + start + k[:, None], mask=(n < N)[None, :], other=0)
        for strip in tl.static_range(4):
            x = tl.load(X + m[:, None] * K + strip * quarter + start + k[None, :], mask=(m < M)[:, None], other=0)
            w = ((packed >> (2 * strip)) & 3).to(tl.int8) - 1
            acc = tl.dot(x, w, acc, out_dtype=tl.int32)
    y = acc.to(tl.float32) * tl.load(X_scale + m, mask=m < M, other=0.0)[:, None] * w_scale
    tl.store(Y + m[:, None] * N + n[None, :], y.to(Y.dtype.element_ty), mask=(m < M)[:, None] & (n < N)[None, :])


@case
def rw_ternary_strips(M=250, N=6912, K=2560):
    x, w, scale, y = randint(-128, 128, M, K, dtype=torch.int8), randint(0, 3, N, 4, K // 4, dtype=torch.uint8), uniform(M), empty(M, N, dtype=BF16)
    packed = w[:, 0] | w[:, 1] << 2 | w[:, 2] << 4 | w[:, 3] << 6
    return Case(ternary, (triton.cdiv(M, 64), triton.cdiv(N, 64)), (x, scale, packed, y, 0.02, M, N, K), dict(BM=64, BN=64, BQ=64), (y,),
                lambda: (x.float() @ (w.float() - 1).view(N, K).T * scale[:, None] * 0.02,), options=dict(num_warps=4, num_stages=3),
                flops=2 * M * N * K)


@triton.jit
def patches(X, W, Bias, Place, Y, images, F, SIDE: tl.constexpr, P: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Patches of P x P x 3 of planar images by a matrix of (F, 3 P P), with a bias and a vector of the place."""
    across: tl.constexpr = SIDE // P
    K: tl.constexpr = 3 * P * P
    m, n, k = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    image, patch = m // (across * across), m % (across * across)
    corner = image.to(tl.int64) * 3 * SIDE * SIDE + (patch // across) * P * SIDE + (patch % across) * P
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        kk = start + k
        at = kk // (P * P) * (SIDE * SIDE) + kk % (P * P) // P * SIDE + kk % P
        x = tl.load(X + corner[:, None] + at[None, :], mask=(image < images)[:, None] & (kk < K)[None, :], other=0.0)
        w = tl.load(W + n[None, :] * K + kk[:, None], mask=(kk < K)[:, None] & (n < F)[None, :], other=0.0)
        acc = tl.dot(x.to(w.dtype), w, acc)
    mask = (image < images)[:, None] & (n < F)[None, :]
    acc += tl.load(Bias + n, mask=n < F, other=0.0)[None, :] + tl.load(Place + patch[:, None] * F + n[None, :], mask=mask, other=0.0)
    tl.store(Y + m[:, None] * F + n[None, :], acc.to(Y.dtype.element_ty), mask=mask)


@case
def rw_patches_14(images=30, side=224, P=14, F=1024):
    x, w, bias = rand(images, 3, side, side), rand(F, 3, P, P, dtype=BF16, scale=0.05), rand(F)
    count = (side // P)**2
    place, y = rand(count, F), empty(images, count, F, dtype=BF16)

    def reference():
        out = torch.nn.functional.conv2d(x.to(BF16).float(), w.float(), bias, stride=P).flatten(2).transpose(1, 2)
        return (out + place,)

    return Case(patches, (triton.cdiv(images * count, 128), triton.cdiv(F, 64)), (x, w, bias, place, y, images, F),
                dict(SIDE=side, P=P, BM=128, BN=64, BK=32), (y,), reference, options=dict(num_warps=4, num_stages=3),
                flops=2 * images * count * F * 3 * P * P)


@triton.jit
def short_batches(A, B, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Many products of sizes that fill no tile, a matrix a program."""
    base = tl.program_id(0).to(tl.int64)
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        kk = start + k
        a = tl.load(A + base * M * K + m[:, None] * K + kk[None, :], mask=(m < M)[:, None] & (kk < K)[None, :], other=0.0)
        b = tl.load(B + base * N * K + n[None, :] * K + kk[:, None], mask=(n < N)[None, :] & (kk < K)[:, None], other=0.0)
        acc += tl.dot(a, b)
    tl.store(C + base * M * N + m[:, None] * N + n[None, :], acc.to(C.dtype.element_ty), mask=(m < M)[:, None] & (n < N)[None, :])


@case
def rw_short_batches_77(batch=1500, M=77, N=77, K=80):
    a, b, c = rand(batch, M, K, dtype=F16), rand(batch, N, K, dtype=F16), empty(batch, M, N, dtype=F16)
    return Case(short_batches, (batch,), (a, b, c, M, N, K), dict(BM=128, BN=128, BK=16), (c,), lambda: (a.float() @ b.float().transpose(1, 2),),
                options=dict(num_warps=8, num_stages=2), bytes=batch * (M * K + N * K + M * N) * 2)


@triton.jit
def hqq_skinny(X, Wq, Scales, Zeros, Y, M, N, K, GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr):
    """Few rows by 4-bit weights packed along K in int32 of eight, f16 zeros, K split over programs that add to the result."""
    pid_n, pid_k = tl.program_id(0), tl.program_id(1)
    m, n, k = tl.arange(0, BM), pid_n * BN + tl.arange(0, BN), pid_k * BK + tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, tl.cdiv(K, BK * SPLIT)):
        x = tl.load(X + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :], other=0.0, eviction_policy="evict_last")
        inside = (k < K)[:, None]
        q = tl.load(Wq + (k // 8)[:, None] * N + n[None, :], mask=inside, other=0, eviction_policy="evict_first")
        group = (k // GROUP)[:, None] * N + n[None, :]
        scale, zero = tl.load(Scales + group, mask=inside, other=0.0), tl.load(Zeros + group, mask=inside, other=0.0)
        w = ((q >> ((k % 8) * 4)[:, None]) & 0xF).to(scale.dtype)
        acc = tl.dot(x, ((w - zero) * scale).to(x.dtype), acc)
        k += BK * SPLIT
    tl.atomic_add(Y + m[:, None] * N + n[None, :], acc, mask=(m < M)[:, None], sem="relaxed")


@case
def rw_hqq_skinny(M=5, N=14336, K=4096, group=64, split=4):
    x, packed, y = rand(M, K, dtype=F16), randint(-2**31, 2**31 - 1, K // 8, N, dtype=torch.int32), zeros(M, N)
    scale, zero = uniform(K // group, N, low=0.01, high=0.02, dtype=F16), uniform(K // group, N, low=6.0, high=9.0, dtype=F16)

    def reference():
        w = torch.stack([packed >> (4 * i) & 15 for i in range(8)], 1).view(K, N).float()
        return (x.float() @ ((w - zero.float().repeat_interleave(group, 0)) * scale.float().repeat_interleave(group, 0)),)

    return Case(hqq_skinny, (N // 64, split), (x, packed, scale, zero, y, M, N, K), dict(GROUP=group, BM=16, BN=64, BK=64, SPLIT=split), (y,), reference,
                options=dict(num_warps=4, num_stages=4), accumulate=True, bytes=N * K / 2)
