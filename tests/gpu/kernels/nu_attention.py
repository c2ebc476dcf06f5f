# SPDX-License-Identifier: Apache-2.0
"""Attention as libraries configure it: odd widths of heads, packed groups, pages, caches by columns, ordered gradients, sparse layouts."""
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from case import DEVICE, Case, empty, rand, randint, registry, tensor, uniform, zeros

CASES, case = registry()
F16, BF16, F8 = torch.float16, torch.bfloat16, torch.float8_e4m3fn
LOG2E = tl.constexpr(1.4426950408889634)


def describe(x, *block):
    return TensorDescriptor(x, list(x.shape), list(x.stride()), list(block))


def near(T, window=None):
    """Which keys a query sees: those up to itself, of a window's width."""
    seen = torch.ones(T, T, dtype=torch.bool, device=DEVICE).tril()
    return seen if window is None else seen.triu(1 - window)


def scores(q, k, scale, seen=None, cap=None, bias=None):
    """Of one head, in f32."""
    s = q.float() @ k.float().T * scale
    s = s if cap is None else cap * torch.tanh(s / cap)
    s = s if bias is None else s + bias
    return s if seen is None else s.masked_fill(~seen, float("-inf"))


@triton.jit
def tanh(x):
    return 1.0 - 2.0 / (1.0 + tl.exp(2.0 * x))


@triton.jit
def step(acc, total, top, s, v):
    """One step of the softmax; s is in base 2."""
    new = tl.maximum(top, tl.max(s, 1))
    p = tl.math.exp2(s - new[:, None])
    alpha = tl.math.exp2(top - new)
    return tl.dot(p.to(v.dtype), v, acc * alpha[:, None]), total * alpha + tl.sum(p, 1), new


@triton.jit
def packed_window_cap(q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, scale, cap, T, HK, stride_qb, stride_qt, stride_kb, stride_kt, G: tl.constexpr,
                      D: tl.constexpr, DP: tl.constexpr, WINDOW: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """A row is a token and a head of its group; D is padded to DP by masks."""
    kv, b = tl.program_id(1), tl.program_id(2).to(tl.int64)
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    t, head, d = r // G, kv * G + r % G, tl.arange(0, DP)
    mine = (t < T)[:, None] & (d < D)[None, :]
    at = b * stride_qb + t[:, None] * stride_qt + head[:, None] * D + d[None, :]
    q = tl.load(q_ptr + at, mask=mine, other=0.0)
    k_ptr += b * stride_kb + kv * D
    v_ptr += b * stride_kb + kv * D
    top = tl.full((BM,), -1.0e30, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, DP), tl.float32)
    low = tl.maximum(tl.program_id(0) * BM // G - WINDOW + 1, 0) // BN * BN
    high = tl.minimum((tl.program_id(0) * BM + BM - 1) // G + 1, T)
    for start in range(low, high, BN):
        n = start + tl.arange(0, BN)
        k = tl.load(k_ptr + n[None, :] * stride_kt + d[:, None], mask=(n < T)[None, :] & (d < D)[:, None], other=0.0)
        s = cap * LOG2E * tanh(tl.dot(q, k) * (scale / cap))
        s = tl.where((n[None, :] <= t[:, None]) & (n[None, :] > t[:, None] - WINDOW), s, -1.0e30)
        v = tl.load(v_ptr + n[:, None] * stride_kt + d[None, :], mask=(n < T)[:, None] & (d < D)[None, :], other=0.0)
        acc, total, top = step(acc, total, top, s, v)
    tl.store(o_ptr + at, (acc / total[:, None]).to(o_ptr.dtype.element_ty), mask=mine)
    tl.store(lse_ptr + (b * HK * G + head) * T + t, (top + tl.math.log2(total)) / LOG2E, mask=t < T)


@case
def nu_packed_window_cap_d96(B=1, T=4000, HK=4, G=6, D=96, window=1024):
    q, kv = rand(B, T, HK * G, D, dtype=BF16), rand(2, B, T, HK, D, dtype=BF16)
    o, lse = empty(B, T, HK * G, D, dtype=BF16), empty(B, HK * G, T)

    def reference():
        out, log, seen = torch.empty(o.shape, device=DEVICE), torch.empty(lse.shape, device=DEVICE), near(T, window)
        for b in range(B):
            for h in range(HK * G):
                s = scores(q[b, :, h], kv[0, b, :, h // G], D**-0.5, seen, cap=3.0)
                out[b, :, h], log[b, h] = torch.softmax(s, 1) @ kv[1, b, :, h // G].float(), torch.logsumexp(s, 1)
        return out, log

    return Case(packed_window_cap, (triton.cdiv(T * G, 64), HK, B),
                (q, kv[0], kv[1], o, lse, D**-0.5, 3.0, T, HK, *q.stride()[:2], *kv.stride()[1:3]),
                dict(G=G, D=D, DP=128, WINDOW=window, BM=64, BN=64), (o, lse), reference, rtol=2e-2,
                options=dict(num_warps=4, num_stages=2), flops=4 * B * T * window * HK * G * D)


@triton.jit
def ragged_cross_alibi(Q, K, V, Out, cu_q, cu_k, slopes, scale, H, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Queries and keys of different ragged lengths, all keys seen; the bias falls with the distance to either side."""
    h, seq = tl.program_id(1), tl.program_id(2)
    q_start, k_start = tl.load(cu_q + seq), tl.load(cu_k + seq)
    q_len, k_len = tl.load(cu_q + seq + 1) - q_start, tl.load(cu_k + seq + 1) - k_start
    if tl.program_id(0) * BM >= q_len:
        return
    m, n, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    at = ((q_start + m).to(tl.int64)[:, None] * H + h) * D + d[None, :]
    q = tl.load(Q + at, mask=m[:, None] < q_len, other=0.0)
    q = (q * (scale * LOG2E)).to(Q.dtype.element_ty)
    slope = tl.load(slopes + h) * LOG2E
    k_at = K + ((k_start + n).to(tl.int64)[None, :] * H + h) * D + d[:, None]
    v_at = V + ((k_start + n).to(tl.int64)[:, None] * H + h) * D + d[None, :]
    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, k_len, BN):
        k = tl.load(k_at, mask=(start + n)[None, :] < k_len, other=0.0)
        v = tl.load(v_at, mask=(start + n)[:, None] < k_len, other=0.0)
        far = tl.abs(m[:, None] + (k_len - q_len) - (start + n)[None, :])
        s = tl.dot(q, k) - slope * far.to(tl.float32)
        s = tl.where((start + n)[None, :] < k_len, s, -float("inf"))
        acc, total, top = step(acc, total, top, s, v)
        k_at += BN * H * D
        v_at += BN * H * D
    tl.store(Out + at, (acc / total[:, None]).to(Out.dtype.element_ty), mask=m[:, None] < q_len)


@case
def nu_ragged_cross_alibi_d32(q_lengths=(1500, 33, 2047, 700, 1, 1100, 900, 128),
                              k_lengths=(1600, 1000, 2048, 900, 777, 1100, 1300, 4000), H=24, D=32):
    starts_q, starts_k = (torch.tensor((0, *x), device="cpu").cumsum(0).tolist() for x in (q_lengths, k_lengths))
    q, k, v = rand(starts_q[-1], H, D, dtype=F16), rand(starts_k[-1], H, D, dtype=F16), rand(starts_k[-1], H, D, dtype=F16)
    o, slopes = empty(starts_q[-1], H, D, dtype=F16), tensor([2.0 ** (-8 * (h + 1) / H) for h in range(H)], torch.float32)

    def reference():
        out = torch.empty(o.shape, device=DEVICE)
        for i, (a, b) in enumerate(zip(q_lengths, k_lengths)):
            far = (torch.arange(a, device=DEVICE)[:, None] + (b - a) - torch.arange(b, device=DEVICE)).abs()
            rows, keys = slice(starts_q[i], starts_q[i + 1]), slice(starts_k[i], starts_k[i + 1])
            for h in range(H):
                out[rows, h] = torch.softmax(scores(q[rows, h], k[keys, h], D**-0.5, bias=-slopes[h] * far), 1) @ v[keys, h].float()
        return (out,)

    return Case(ragged_cross_alibi, (triton.cdiv(max(q_lengths), 128), H, len(q_lengths)),
                (q, k, v, o, tensor(starts_q, torch.int32), tensor(starts_k, torch.int32), slopes, D**-0.5, H),
                dict(D=D, BM=128, BN=32), (o,), reference, options=dict(num_warps=4, num_stages=4),
                flops=4 * sum(a * b for a, b in zip(q_lengths, k_lengths)) * H * D)


@triton.jit
def causal_wide(q_desc, k_desc, v_desc, o_desc, scale, T, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Heads of 256 by the host's descriptors of (heads * T, D); long rows first; what needs no mask, then the diagonal."""
    row = (tl.num_programs(0) - 1 - tl.program_id(0)) * BM
    base = tl.program_id(1) * T
    m, n = row + tl.arange(0, BM), tl.arange(0, BN)
    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    q = q_desc.load([base + row, 0])
    for start in tl.range(0, row, BN):
        s = tl.dot(q, k_desc.load([base + start, 0]).T) * (scale * LOG2E)
        acc, total, top = step(acc, total, top, s, v_desc.load([base + start, 0]))
    for start in tl.range(row, row + BM, BN):
        s = tl.dot(q, k_desc.load([base + start, 0]).T) * (scale * LOG2E)
        s = tl.where(m[:, None] >= (start + n)[None, :], s, -float("inf"))
        acc, total, top = step(acc, total, top, s, v_desc.load([base + start, 0]))
    o_desc.store([base + row, 0], (acc / total[:, None]).to(o_desc.dtype))


@case
def nu_causal_d256(heads=16, T=3072, D=256):
    q, k, v = (rand(heads, T, D, dtype=BF16) for _ in range(3))
    o, flat = empty(heads, T, D, dtype=BF16), (heads * T, D)
    args = (describe(q.view(flat), 128, D), describe(k.view(flat), 64, D), describe(v.view(flat), 64, D), describe(o.view(flat), 128, D))

    def reference():
        return (torch.stack([torch.softmax(scores(q[h], k[h], D**-0.5, near(T)), 1) @ v[h].float() for h in range(heads)]),)

    return Case(causal_wide, (T // 128, heads), (*args, D**-0.5, T), dict(D=D, BM=128, BN=64), (o,), reference, rtol=2e-2,
                options=dict(num_warps=8, num_stages=2), flops=2 * heads * T * T * D)


@triton.jit
def split_192_128(q_ptr, k_ptr, v_ptr, o_ptr, scale, T, H, BM: tl.constexpr, BN: tl.constexpr):
    """Scores over 192 in two boxes of 3-D descriptors that the kernel makes of (T, H, width); values of 128."""
    q_desc = tl.make_tensor_descriptor(q_ptr, [T, H, 192], [H * 192, 192, 1], [BM, 1, 128])
    q_rest = tl.make_tensor_descriptor(q_ptr, [T, H, 192], [H * 192, 192, 1], [BM, 1, 64])
    k_desc = tl.make_tensor_descriptor(k_ptr, [T, H, 192], [H * 192, 192, 1], [BN, 1, 128])
    k_rest = tl.make_tensor_descriptor(k_ptr, [T, H, 192], [H * 192, 192, 1], [BN, 1, 64])
    v_desc = tl.make_tensor_descriptor(v_ptr, [T, H, 128], [H * 128, 128, 1], [BN, 1, 128])
    o_desc = tl.make_tensor_descriptor(o_ptr, [T, H, 128], [H * 128, 128, 1], [BM, 1, 128])
    row, h = (tl.num_programs(0) - 1 - tl.program_id(0)) * BM, tl.program_id(1)
    q, q2 = q_desc.load([row, h, 0]).reshape(BM, 128), q_rest.load([row, h, 128]).reshape(BM, 64)
    m = row + tl.arange(0, BM)
    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, 128), tl.float32)
    for start in tl.range(0, tl.minimum(row + BM, T), BN):
        s = tl.dot(q, k_desc.load([start, h, 0]).reshape(BN, 128).T)
        s = tl.dot(q2, k_rest.load([start, h, 128]).reshape(BN, 64).T, s) * (scale * LOG2E)
        if start + BN > row:
            s = tl.where(m[:, None] >= (start + tl.arange(0, BN))[None, :], s, -float("inf"))
        acc, total, top = step(acc, total, top, s, v_desc.load([start, h, 0]).reshape(BN, 128))
    o_desc.store([row, h, 0], (acc / total[:, None]).to(o_ptr.dtype.element_ty).reshape(BM, 1, 128))


@case
def nu_split_192_128(T=4000, H=16):
    q, k, v, o = rand(T, H, 192, dtype=BF16), rand(T, H, 192, dtype=BF16), rand(T, H, 128, dtype=BF16), empty(T, H, 128, dtype=BF16)

    def reference():
        return (torch.stack([torch.softmax(scores(q[:, h], k[:, h], 192**-0.5, near(T)), 1) @ v[:, h].float() for h in range(H)], 1),)

    return Case(split_192_128, (triton.cdiv(T, 128), H), (q, k, v, o, 192**-0.5, T, H), dict(BM=128, BN=64), (o,), reference, rtol=2e-2,
                options=dict(num_warps=8, num_stages=3), flops=T * T * H * 320)


@triton.jit
def sequence_of(cu, block, seqs, PER: tl.constexpr):
    """The last sequence whose first block is not after `block`; each has one block more than its queries may need."""
    left, right = 0, seqs
    while left < right:
        mid = (left + right) // 2
        if tl.load(cu + mid) // PER + mid <= block:
            left = mid + 1
        else:
            right = mid
    return left - 1


@triton.jit
def paged_mixed(q_ptr, k_ptr, v_ptr, o_ptr, table, cu, lengths, sinks, scale, seqs, pages, HK: tl.constexpr, G: tl.constexpr,
                D: tl.constexpr, PAGE: tl.constexpr, PER: tl.constexpr, BN: tl.constexpr):
    """Prefill and decoding in one batch: a block's sequence by binary search, groups packed into rows, sinks, pages of 16."""
    block, kv = tl.program_id(0), tl.program_id(1)
    seq = sequence_of(cu, block, seqs, PER)
    first = tl.load(cu + seq)
    queries, length = tl.load(cu + seq + 1) - first, tl.load(lengths + seq)
    local = (block - first // PER - seq) * PER
    if local >= queries:
        return
    r, d = tl.arange(0, PER * G), tl.arange(0, D)
    t, head = local + r // G, kv * G + r % G
    at = ((first + t) * (HK * G) + head).to(tl.int64)[:, None] * D + d[None, :]
    q = tl.load(q_ptr + at, mask=(t < queries)[:, None], other=0.0)
    place = length - queries + t
    top = tl.load(sinks + head).to(tl.float32) * LOG2E
    total = tl.full((PER * G,), 1.0, tl.float32)
    acc = tl.zeros((PER * G, D), tl.float32)
    for start in range(0, tl.minimum(length, length - queries + local + PER), BN):
        n = start + tl.arange(0, BN)
        page = tl.load(table + seq * pages + n // PAGE, mask=n < length, other=0).to(tl.int64)
        slot = ((page * PAGE + n % PAGE) * HK + kv) * D
        k = tl.load(k_ptr + slot[None, :] + d[:, None], mask=(n < length)[None, :], other=0.0)
        v = tl.load(v_ptr + slot[:, None] + d[None, :], mask=(n < length)[:, None], other=0.0)
        s = tl.where(n[None, :] <= place[:, None], tl.dot(q, k) * (scale * LOG2E), -float("inf"))
        acc, total, top = step(acc, total, top, s, v)
    tl.store(o_ptr + at, (acc / total[:, None]).to(o_ptr.dtype.element_ty), mask=(t < queries)[:, None])


@case
def nu_paged_mixed_sinks(queries=(1, 700, 1, 1, 2048, 333, 1, 64, 1, 1, 500, 1),
                         before=(3000, 0, 512, 4000, 100, 1000, 77, 2000, 1, 0, 1500, 900), HK=8, G=4, D=64, page=16):
    lengths, seqs = [a + b for a, b in zip(queries, before)], len(queries)
    pages, total = triton.cdiv(max(lengths), page), sum(queries)
    table = torch.randperm(seqs * pages, device=DEVICE).to(torch.int32).view(seqs, pages)
    starts = torch.tensor((0, *queries), device="cpu").cumsum(0).tolist()
    q, cache, o = rand(total, HK * G, D, dtype=BF16), rand(2, seqs * pages, page, HK, D, dtype=BF16), empty(total, HK * G, D, dtype=BF16)
    sinks = rand(HK * G, dtype=BF16)

    def reference():
        out = torch.empty(o.shape, device=DEVICE)
        for i in range(seqs):
            keys, values = (x[table[i].long()].view(-1, HK, D)[:lengths[i]] for x in cache)
            seen = torch.arange(queries[i], device=DEVICE)[:, None] + before[i] >= torch.arange(lengths[i], device=DEVICE)
            for h in range(HK * G):
                s = scores(q[starts[i]:starts[i + 1], h], keys[:, h // G], D**-0.5, seen)
                s = torch.cat((s, sinks[h].float().expand(queries[i], 1)), 1)
                out[starts[i]:starts[i + 1], h] = torch.softmax(s, 1)[:, :-1] @ values[:, h // G].float()
        return (out,)

    return Case(paged_mixed, (total // 16 + seqs, HK),
                (q, cache[0], cache[1], o, table, tensor(starts, torch.int32), tensor(lengths, torch.int32), sinks, D**-0.5, seqs, pages),
                dict(HK=HK, G=G, D=D, PAGE=page, PER=16, BN=64), (o,), reference, rtol=2e-2, options=dict(num_warps=4, num_stages=3))


@triton.jit
def decode_columns_fp8(q_ptr, k_ptr, v_ptr, k_scale, v_scale, table, lengths, part, part_lse, scale, pages, HK: tl.constexpr,
                       G: tl.constexpr, D: tl.constexpr, SHARE: tl.constexpr, BN: tl.constexpr):
    """A share of a sequence a program; fp8 keys lie as (page, head, D / 16, 16 tokens, 16), values as (page, head, D, 16 tokens)."""
    seq, kv, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    g, d, n = tl.arange(0, 16), tl.arange(0, D), tl.arange(0, BN)
    length = tl.load(lengths + seq)
    head = seq * HK * G + kv * G + g
    to = head * tl.num_programs(2) + split
    if split * SHARE >= length:
        tl.store(part + to[:, None] * D + d[None, :], tl.zeros((16, D), tl.float32), mask=(g < G)[:, None])
        tl.store(part_lse + to, tl.zeros((16,), tl.float32), mask=g < G)
        return
    q = tl.load(q_ptr + head[:, None] * D + d[None, :], mask=(g < G)[:, None], other=0.0)
    scale *= tl.load(k_scale + kv) * LOG2E
    top = tl.full((16,), -float("inf"), tl.float32)
    total = tl.zeros((16,), tl.float32)
    acc = tl.zeros((16, D), tl.float32)
    for start in range(split * SHARE, tl.minimum((split + 1) * SHARE, length), BN):
        t = start + n
        page = tl.load(table + seq * pages + t // 16, mask=t < length, other=0).to(tl.int64) * HK + kv
        k = tl.load(k_ptr + page[None, :] * (D * 16) + (d // 16)[:, None] * 256 + (t % 16)[None, :] * 16 + (d % 16)[:, None])
        v = tl.load(v_ptr + page[:, None] * (D * 16) + d[None, :] * 16 + (t % 16)[:, None])
        s = tl.where((t < length)[None, :], tl.dot(q, k.to(q.dtype)) * scale, -float("inf"))
        acc, total, top = step(acc, total, top, s, v.to(q.dtype))
    tl.store(part + to[:, None] * D + d[None, :], acc * (tl.load(v_scale + kv) / total)[:, None], mask=(g < G)[:, None])
    tl.store(part_lse + to, (top + tl.math.log2(total)) / LOG2E, mask=g < G)


@case
def nu_decode_columns_fp8(B=48, HK=8, G=8, D=128, longest=4096, share=512):
    pages, splits, lengths = longest // 16, triton.cdiv(longest, share), randint(longest // 4, longest + 1, B)
    table = torch.randperm(B * pages, device=DEVICE).to(torch.int32).view(B, pages)
    q, keys, values = rand(B, HK * G, D, dtype=F16), rand(B * pages, HK, D // 16, 16, 16, dtype=F8), rand(B * pages, HK, D, 16, dtype=F8)
    ks, vs = uniform(HK, low=0.5, high=1.5), uniform(HK, low=0.5, high=1.5)
    part, lse = empty(B, HK * G, splits, D), empty(B, HK * G, splits)

    def reference():
        out, log = torch.zeros(part.shape, device=DEVICE), torch.zeros(lse.shape, device=DEVICE)
        for b, length in enumerate(lengths.tolist()):
            at = table[b].long()
            k = keys.view(torch.uint8)[at].view(F8).float().permute(1, 0, 3, 2, 4).reshape(HK, -1, D) * ks[:, None, None]
            v = values.view(torch.uint8)[at].view(F8).float().permute(1, 0, 3, 2).reshape(HK, -1, D) * vs[:, None, None]
            for i in range(triton.cdiv(length, share)):
                span = slice(i * share, min((i + 1) * share, length))
                s = q[b].float().view(HK, G, D) @ k[:, span].transpose(1, 2) * D**-0.5
                out[b, :, i], log[b, :, i] = (torch.softmax(s, 2) @ v[:, span]).view(-1, D), torch.logsumexp(s, 2).view(-1)
        return out, log

    return Case(decode_columns_fp8, (B, HK, splits), (q, keys, values, ks, vs, table, lengths, part, lse, D**-0.5, pages),
                dict(HK=HK, G=G, D=D, SHARE=share, BN=64), (part, lse), reference, rtol=2e-2, options=dict(num_warps=4, num_stages=3),
                bytes=B * HK * D * longest * 5 / 4)


@triton.jit
def reduce_splits(part, part_lse, lengths, sinks, out, out_lse, H, SPLITS: tl.constexpr, SHARE: tl.constexpr, D: tl.constexpr):
    """All shares of a sequence and head at once, as many as its length has; a sink only divides."""
    seq, h = tl.program_id(0), tl.program_id(1)
    used = tl.cdiv(tl.load(lengths + seq), SHARE)
    i, d = tl.arange(0, SPLITS), tl.arange(0, D)
    row = seq * H + h
    lse = tl.load(part_lse + row * SPLITS + i, mask=i < used, other=-float("inf"))
    sink = tl.load(sinks + h)
    top = tl.maximum(tl.max(lse, 0), sink)
    w = tl.exp(lse - top)
    total = tl.sum(w, 0) + tl.exp(sink - top)
    x = tl.load(part + (row * SPLITS + i).to(tl.int64)[:, None] * D + d[None, :], mask=(i < used)[:, None], other=0.0)
    tl.store(out + row * D + d, (tl.sum(x * w[:, None], 0) / total).to(out.dtype.element_ty))
    tl.store(out_lse + row, top + tl.log(total))


@case
def nu_reduce_splits(B=192, H=64, D=128, splits=32, share=256):
    lengths, part, lse = randint(1, splits * share + 1, B), rand(B, H, splits, D), rand(B, H, splits, scale=2.0)
    sinks, out, out_lse = rand(H), empty(B, H, D, dtype=BF16), empty(B, H)

    def reference():
        used = torch.arange(splits, device=DEVICE) < ((lengths + share - 1) // share)[:, None]
        all_lse = torch.cat((lse.masked_fill(~used[:, None], float("-inf")), sinks.expand(B, H)[:, :, None]), 2)
        w = torch.softmax(all_lse, 2)[:, :, :-1]
        return (part * w[..., None]).sum(2), torch.logsumexp(all_lse, 2)

    return Case(reduce_splits, (B, H), (part, lse, lengths, sinks, out, out_lse, H), dict(SPLITS=splits, SHARE=share, D=D), (out, out_lse),
                reference, options=dict(num_warps=4), bytes=B * H * splits * D * 2)


def gradient_inputs(B, T, H, HK, D, dtype, seen=None, cap=None):
    """q, k, v, do as (B, T, heads, D); lse and delta as (B, H, T); a function that gives dq, dk and dv."""
    q, k, v, do = (rand(B, T, heads, D, dtype=dtype) for heads in (H, HK, HK, H))
    lse, delta, G = empty(B, H, T), empty(B, H, T), H // HK
    for b in range(B):
        for h in range(H):
            s = scores(q[b, :, h], k[b, :, h // G], D**-0.5, seen, cap)
            lse[b, h] = torch.logsumexp(s, 1)
            delta[b, h] = (torch.softmax(s, 1) @ v[b, :, h // G].float() * do[b, :, h].float()).sum(1)

    def reference():
        grads = [torch.zeros(x.shape, device=DEVICE) for x in (q, k, v)]
        for b in range(B):
            for h in range(H):
                x = [z[b, :, i].float().requires_grad_() for z, i in ((q, h), (k, h // G), (v, h // G))]
                (torch.softmax(scores(x[0], x[1], D**-0.5, seen, cap), 1) @ x[2]).backward(do[b, :, h].float())
                for g, z, i in zip(grads, x, (h, h // G, h // G)):
                    g[b, :, i] += z.grad
        return tuple(grads)

    return q, k, v, do, lse, delta, reference


@triton.jit
def keys_of_groups(q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr, scale, T, H, HK, G: tl.constexpr, D: tl.constexpr,
                   WINDOW: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """dk and dv of a block of keys: the heads of a group in turn, of each the queries that the window holds."""
    start, kv, b = tl.program_id(0) * BN, tl.program_id(1), tl.program_id(2)
    n, d = start + tl.arange(0, BN), tl.arange(0, D)
    here = ((b * T + n).to(tl.int64) * HK + kv)[:, None] * D + d[None, :]
    k = tl.load(k_ptr + here, mask=(n < T)[:, None], other=0.0)
    v = tl.load(v_ptr + here, mask=(n < T)[:, None], other=0.0)
    dk, dv = tl.zeros((BN, D), tl.float32), tl.zeros((BN, D), tl.float32)
    for g in range(G):
        h = kv * G + g
        for low in range(start // BM * BM, tl.minimum(start + BN + WINDOW - 1, T), BM):
            m = low + tl.arange(0, BM)
            at = ((b * T + m).to(tl.int64) * H + h)[:, None] * D + d[None, :]
            q = tl.load(q_ptr + at, mask=(m < T)[:, None], other=0.0)
            do = tl.load(do_ptr + at, mask=(m < T)[:, None], other=0.0)
            lse = tl.load(lse_ptr + (b * H + h) * T + m, mask=m < T, other=0.0)
            delta = tl.load(delta_ptr + (b * H + h) * T + m, mask=m < T, other=0.0)
            s = tl.dot(k, tl.trans(q)) * (scale * LOG2E) - lse[None, :] * LOG2E
            seen = (m[None, :] >= n[:, None]) & (m[None, :] < n[:, None] + WINDOW) & (m < T)[None, :]
            p = tl.where(seen, tl.math.exp2(s), 0.0)
            dv = tl.dot(p.to(do.dtype), do, dv)
            ds = p * (tl.dot(v, tl.trans(do)) - delta[None, :])
            dk = tl.dot(ds.to(q.dtype), q, dk)
    tl.store(dk_ptr + here, (dk * scale).to(dk_ptr.dtype.element_ty), mask=(n < T)[:, None])
    tl.store(dv_ptr + here, dv.to(dv_ptr.dtype.element_ty), mask=(n < T)[:, None])


@case
def nu_bwd_keys_groups_window(B=2, T=3000, H=16, HK=4, D=64, window=700):
    q, k, v, do, lse, delta, reference = gradient_inputs(B, T, H, HK, D, BF16, near(T, window))
    dk, dv = empty(B, T, HK, D, dtype=BF16), empty(B, T, HK, D, dtype=BF16)
    return Case(keys_of_groups, (triton.cdiv(T, 64), HK, B), (q, k, v, do, lse, delta, dk, dv, D**-0.5, T, H, HK),
                dict(G=H // HK, D=D, WINDOW=window, BM=32, BN=64), (dk, dv), lambda: reference()[1:], rtol=2e-2,
                options=dict(num_warps=4, num_stages=2), flops=8 * B * T * window * H * D)


@triton.jit
def queries_capped(q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dq_ptr, scale, cap, T, H, D: tl.constexpr, BM: tl.constexpr,
                   BN: tl.constexpr):
    """dq through a soft cap; causal, heads of 128, edges masked."""
    row, h, b = tl.program_id(0) * BM, tl.program_id(1), tl.program_id(2)
    m, d = row + tl.arange(0, BM), tl.arange(0, D)
    base = (b * T * H + h).to(tl.int64) * D
    here = base + m[:, None] * (H * D) + d[None, :]
    q = tl.load(q_ptr + here, mask=(m < T)[:, None], other=0.0)
    do = tl.load(do_ptr + here, mask=(m < T)[:, None], other=0.0)
    lse = tl.load(lse_ptr + (b * H + h) * T + m, mask=m < T, other=0.0)[:, None]
    delta = tl.load(delta_ptr + (b * H + h) * T + m, mask=m < T, other=0.0)[:, None]
    dq = tl.zeros((BM, D), tl.float32)
    for start in range(0, tl.minimum(row + BM, T), BN):
        n = start + tl.arange(0, BN)
        at = base + n[:, None] * (H * D) + d[None, :]
        k = tl.load(k_ptr + at, mask=(n < T)[:, None], other=0.0)
        v = tl.load(v_ptr + at, mask=(n < T)[:, None], other=0.0)
        t = tanh(tl.dot(q, tl.trans(k)) * (scale / cap))
        p = tl.where(m[:, None] >= n[None, :], tl.exp(cap * t - lse), 0.0)
        ds = p * (tl.dot(do, tl.trans(v)) - delta) * (1.0 - t * t)
        dq = tl.dot(ds.to(k.dtype), k, dq)
    tl.store(dq_ptr + here, (dq * scale).to(dq_ptr.dtype.element_ty), mask=(m < T)[:, None])


@case
def nu_bwd_queries_capped(B=1, T=3000, H=16, D=128):
    q, k, v, do, lse, delta, reference = gradient_inputs(B, T, H, H, D, F16, near(T), cap=5.0)
    dq = empty(B, T, H, D, dtype=F16)
    return Case(queries_capped, (triton.cdiv(T, 64), H, B), (q, k, v, do, lse, delta, dq, D**-0.5, 5.0, T, H),
                dict(D=D, BM=64, BN=64), (dq,), lambda: reference()[:1], rtol=2e-2,
                options=dict(num_warps=8, num_stages=1), flops=3 * B * T * T * H * D)


@triton.jit
def ordered_gradients(q, do, k, v, dk, dv, dq_ptr, turns, lse_ptr, delta_ptr, scale, T, D: tl.constexpr, BM: tl.constexpr,
                      BN: tl.constexpr):
    """All gradients by blocks of keys; dq's parts are added in the order of the keys: a tile has the number of whose turn it is."""
    block, head = tl.program_id(0), tl.program_id(1)
    base = head * T
    key, value = k.load([base + block * BN, 0]), v.load([base + block * BN, 0])
    n, d = block * BN + tl.arange(0, BN), tl.arange(0, D)
    dk_sum, dv_sum = tl.zeros((BN, D), tl.float32), tl.zeros((BN, D), tl.float32)
    for tile in range(block * BN // BM, T // BM):
        m = tile * BM + tl.arange(0, BM)
        query, dout = q.load([base + tile * BM, 0]), do.load([base + tile * BM, 0])
        s = tl.dot(query, key.T) * (scale * LOG2E) - tl.load(lse_ptr + base + m)[:, None] * LOG2E
        p = tl.where(m[:, None] >= n[None, :], tl.math.exp2(s), 0.0)
        dv_sum = tl.dot(tl.trans(p.to(dout.dtype)), dout, dv_sum)
        ds = (p * (tl.dot(dout, value.T) - tl.load(delta_ptr + base + m)[:, None])).to(query.dtype)
        dk_sum = tl.dot(tl.trans(ds), query, dk_sum)
        part = tl.dot(ds, key) * scale
        at = dq_ptr + (base + m).to(tl.int64)[:, None] * D + d[None, :]
        turn = turns + head * (T // BM) + tile
        if block > 0:
            while tl.atomic_add(turn, 0) != block:
                pass
            part += tl.load(at, cache_modifier=".cg")
        tl.store(at, part)
        tl.debug_barrier()
        last = tile * BM // BN
        tl.atomic_xchg(turn, tl.where(block == last, 0, block + 1))
    dk.store([base + block * BN, 0], (dk_sum * scale).to(dk.dtype))
    dv.store([base + block * BN, 0], dv_sum.to(dv.dtype))


@case
def nu_bwd_ordered(heads=16, T=2048, D=64):
    q, k, v, do, lse, delta, reference = gradient_inputs(heads, T, 1, 1, D, F16, near(T))
    dq, dk, dv = empty(heads, T, D), empty(heads, T, D, dtype=F16), empty(heads, T, D, dtype=F16)
    turns = zeros(heads, T // 64, dtype=torch.int32)
    args = [describe(x.view(heads * T, D), block, D) for x, block in ((q, 64), (do, 64), (k, 128), (v, 128), (dk, 128), (dv, 128))]
    return Case(ordered_gradients, (T // 128, heads), (*args, dq, turns, lse, delta, D**-0.5, T), dict(D=D, BM=64, BN=128), (dq, dk, dv),
                reference, rtol=2e-2, options=dict(num_warps=8, num_stages=2), flops=5 * heads * T * T * D)


@triton.jit
def sparse_layout(q_ptr, k_ptr, v_ptr, o_ptr, row_starts, columns, scale, T, D: tl.constexpr, B: tl.constexpr, PER: tl.constexpr):
    """Each head's layout as compressed rows of blocks of B x B; a step takes PER of them, wherever they lie."""
    row, head = tl.program_id(0), tl.program_id(1)
    m, d, j = row * B + tl.arange(0, B), tl.arange(0, D), tl.arange(0, PER * B)
    base = head.to(tl.int64) * T * D
    at = base + m[:, None] * D + d[None, :]
    q = tl.load(q_ptr + at)
    first, end = tl.load(row_starts + head * (T // B + 1) + row), tl.load(row_starts + head * (T // B + 1) + row + 1)
    top = tl.full((B,), -1.0e30, tl.float32)
    total = tl.zeros((B,), tl.float32)
    acc = tl.zeros((B, D), tl.float32)
    for i in range(first, end, PER):
        there = i + j // B < end
        n = tl.load(columns + i + j // B, mask=there, other=0) * B + j % B
        k = tl.load(k_ptr + base + n[None, :] * D + d[:, None], mask=there[None, :], other=0.0)
        s = tl.dot(q, k) * (scale * LOG2E)
        s = tl.where(there[None, :] & (n[None, :] <= m[:, None]), s, -1.0e30)
        v = tl.load(v_ptr + base + n[:, None] * D + d[None, :], mask=there[:, None], other=0.0)
        acc, total, top = step(acc, total, top, s, v)
    tl.store(o_ptr + at, (acc / total[:, None]).to(o_ptr.dtype.element_ty))


@case
def nu_sparse_layout(heads=32, T=4096, D=128, B=32, share=0.25):
    q, k, v = (rand(heads, T, D, dtype=F16) for _ in range(3))
    o = empty(heads, T, D, dtype=F16)
    layout = (uniform(heads, T // B, T // B) < share) | torch.eye(T // B, dtype=torch.bool, device=DEVICE)
    layout = layout.tril()
    starts = torch.cat((zeros(1, dtype=torch.int64), layout.sum(2).view(-1).cumsum(0)))
    rows = torch.arange(heads, device=DEVICE)[:, None] * (T // B) + torch.arange(T // B + 1, device=DEVICE)
    order = torch.argsort((~layout).view(-1).to(torch.int8), stable=True)  # what is set comes first, in order
    columns = (order % (T // B)).to(torch.int32)

    def reference():
        out = torch.empty(o.shape, device=DEVICE)
        for h in range(heads):
            seen = layout[h].repeat_interleave(B, 0).repeat_interleave(B, 1) & near(T)
            out[h] = torch.softmax(scores(q[h], k[h], D**-0.5, seen), 1) @ v[h].float()
        return (out,)

    return Case(sparse_layout, (T // B, heads), (q, k, v, o, starts[rows].to(torch.int32), columns, D**-0.5, T),
                dict(D=D, B=B, PER=2), (o,), reference, options=dict(num_warps=4, num_stages=3), flops=2 * heads * T * T * D * share)


@triton.jit
def window_sinks_boxes(q_desc, k_desc, v_desc, o_desc, sinks, scale, T, G: tl.constexpr, D: tl.constexpr, WINDOW: tl.constexpr,
                       BM: tl.constexpr, BN: tl.constexpr):
    """4-D boxes of (batch, head, token, D); a narrow window; the head's sink is added to the sum at the end."""
    row, h, b = tl.program_id(0) * BM, tl.program_id(1), tl.program_id(2)
    m = row + tl.arange(0, BM)
    sink = tl.load(sinks + h).to(tl.float32) * LOG2E
    q = q_desc.load([b, h, row, 0]).reshape([BM, D])
    top = tl.zeros((BM,), tl.float32) + sink
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    low = tl.maximum(0, row - WINDOW + 1) // BN * BN
    for start in tl.range(low, tl.minimum(row + BM, T), BN):
        k = k_desc.load([b, h // G, start, 0]).reshape([BN, D])
        n = start + tl.arange(0, BN)
        s = tl.dot(q, k.T) * (scale * LOG2E)
        s = tl.where((n[None, :] <= m[:, None]) & (n[None, :] > m[:, None] - WINDOW), s, -1.0e6)
        acc, total, top = step(acc, total, top, s, v_desc.load([b, h // G, start, 0]).reshape([BN, D]))
    total += tl.math.exp2(sink - top)
    o_desc.store([b, h, row, 0], (acc / total[:, None]).to(o_desc.dtype).reshape([1, 1, BM, D]))


@case
def nu_window_sinks_boxes(B=2, T=4064, H=64, HK=8, D=64, window=128):
    q, k, v, o = rand(B, H, T, D, dtype=BF16), rand(B, HK, T, D, dtype=BF16), rand(B, HK, T, D, dtype=BF16), empty(B, H, T, D, dtype=BF16)
    sinks = rand(H, dtype=BF16)

    def reference():
        out, seen = torch.empty(o.shape, device=DEVICE), near(T, window)
        for b in range(B):
            for h in range(H):
                s = torch.cat((scores(q[b, h], k[b, h * HK // H], D**-0.5, seen), sinks[h].float().expand(T, 1)), 1)
                out[b, h] = torch.softmax(s, 1)[:, :-1] @ v[b, h * HK // H].float()
        return (out,)

    args = (describe(q, 1, 1, 64, D), describe(k, 1, 1, 64, D), describe(v, 1, 1, 64, D), describe(o, 1, 1, 64, D))
    return Case(window_sinks_boxes, (triton.cdiv(T, 64), H, B), (*args, sinks, D**-0.5, T),
                dict(G=H // HK, D=D, WINDOW=window, BM=64, BN=64), (o,), reference, rtol=2e-2,
                options=dict(num_warps=4, num_stages=3), flops=4 * B * T * window * H * D)
