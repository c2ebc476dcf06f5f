# SPDX-License-Identifier: Apache-2.0
"""Attention as serving and training packages write it: tutorial gradients, paged layouts, chosen blocks, few bits, other weightings."""
import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, randint, registry, tensor, uniform

CASES, case = registry()
F16, BF16, F8 = torch.float16, torch.bfloat16, torch.float8_e4m3fn
LOG2E = tl.constexpr(1.4426950408889634)


def below(M, N, shift=0):
    """Which keys a query sees: those up to itself."""
    return torch.arange(M, device=DEVICE)[:, None] + shift >= torch.arange(N, device=DEVICE)


def attend(q, k, v, scale, seen=None, bias=None):
    """Of one head, in f32; rows that see nothing give zeros."""
    s = q.float() @ k.float().T * scale
    s = s if bias is None else s + bias
    s = s if seen is None else s.masked_fill(~seen, float("-inf"))
    return torch.softmax(s, 1).nan_to_num(0.0) @ v.float()


@triton.jit
def _bwd_keys(dk, dv, Q, k, v, DO, LSE, Delta, stride_t, T, start_n, start_m, end_m, D: tl.constexpr, DP: tl.constexpr, BM: tl.constexpr,
              BN: tl.constexpr, MASK: tl.constexpr):
    """Gradients of a block of keys and values from a range of queries."""
    n, d = start_n + tl.arange(0, BN), tl.arange(0, DP)
    for first in range(start_m, end_m, BM):
        m = first + tl.arange(0, BM)
        inside = (m < T)[:, None] & (d < D)[None, :]
        q = tl.load(Q + m[:, None] * stride_t + d[None, :], mask=inside, other=0.0)
        lse = tl.load(LSE + m, mask=m < T, other=float("inf"))
        p_t = tl.math.exp2(tl.dot(k, tl.trans(q)) - lse[None, :])
        if MASK:
            p_t = tl.where(m[None, :] >= n[:, None], p_t, 0.0)
        do = tl.load(DO + m[:, None] * stride_t + d[None, :], mask=inside, other=0.0)
        dv += tl.dot(p_t.to(do.dtype), do)
        delta = tl.load(Delta + m, mask=m < T, other=0.0)
        ds_t = p_t * (tl.dot(v, tl.trans(do)) - delta[None, :])
        dk += tl.dot(ds_t.to(q.dtype), q)
    return dk, dv


@triton.jit
def _bwd_queries(dq, q, K, V, do, lse, delta, stride_t, T, start_m, start_n, end_n, D: tl.constexpr, DP: tl.constexpr, BM: tl.constexpr,
                 BN: tl.constexpr, MASK: tl.constexpr):
    """Gradients of a block of queries from a range of keys."""
    m, d = start_m + tl.arange(0, BM), tl.arange(0, DP)
    for first in range(start_n, end_n, BN):
        n = first + tl.arange(0, BN)
        inside = (n < T)[None, :] & (d < D)[:, None]
        k_t = tl.load(K + n[None, :] * stride_t + d[:, None], mask=inside, other=0.0)
        v_t = tl.load(V + n[None, :] * stride_t + d[:, None], mask=inside, other=0.0)
        p = tl.math.exp2(tl.dot(q, k_t) - lse[:, None])
        if MASK:
            p = tl.where((m[:, None] >= n[None, :]), p, 0.0)
        ds = p * (tl.dot(do, v_t) - delta[:, None])
        dq += tl.dot(ds.to(k_t.dtype), tl.trans(k_t))
    return dq


@triton.jit
def attn_bwd(Q, K, V, DO, DQ, DK, DV, LSE, Delta, sm_scale, stride_h, stride_t, T, D: tl.constexpr, DP: tl.constexpr, BM1: tl.constexpr,
             BN1: tl.constexpr, BM2: tl.constexpr, BN2: tl.constexpr, CAUSAL: tl.constexpr):
    """Gradients of q, k and v in one kernel: a block of keys, then the block of queries at the same place; K holds log2(e) scale k."""
    head, pid = tl.program_id(1).to(tl.int64), tl.program_id(0)
    Q += head * stride_h
    K += head * stride_h
    V += head * stride_h
    DO += head * stride_h
    LSE += head * T
    Delta += head * T
    start_n, d = pid * BN1, tl.arange(0, DP)
    n = start_n + tl.arange(0, BN1)
    at = n[:, None] * stride_t + d[None, :]
    inside = (n < T)[:, None] & (d < D)[None, :]
    k, v = tl.load(K + at, mask=inside, other=0.0), tl.load(V + at, mask=inside, other=0.0)
    dk, dv = tl.zeros((BN1, DP), tl.float32), tl.zeros((BN1, DP), tl.float32)
    start_m = 0
    if CAUSAL:
        start_m = start_n + BN1
        dk, dv = _bwd_keys(dk, dv, Q, k, v, DO, LSE, Delta, stride_t, T, start_n, start_n, start_m, D, DP, BM1, BN1, True)
    dk, dv = _bwd_keys(dk, dv, Q, k, v, DO, LSE, Delta, stride_t, T, start_n, start_m, T, D, DP, BM1, BN1, False)
    tl.store(DV + head * stride_h + at, dv.to(DV.dtype.element_ty), mask=inside)
    tl.store(DK + head * stride_h + at, (dk * sm_scale).to(DK.dtype.element_ty), mask=inside)

    start_m = pid * BM2
    m = start_m + tl.arange(0, BM2)
    at = m[:, None] * stride_t + d[None, :]
    inside = (m < T)[:, None] & (d < D)[None, :]
    q, do = tl.load(Q + at, mask=inside, other=0.0), tl.load(DO + at, mask=inside, other=0.0)
    lse, delta = tl.load(LSE + m, mask=m < T, other=float("inf")), tl.load(Delta + m, mask=m < T, other=0.0)
    dq, end_n = tl.zeros((BM2, DP), tl.float32), T
    if CAUSAL:
        dq = _bwd_queries(dq, q, K, V, do, lse, delta, stride_t, T, start_m, start_m, start_m + BM2, D, DP, BM2, BN2, True)
        end_n = start_m
    dq = _bwd_queries(dq, q, K, V, do, lse, delta, stride_t, T, start_m, 0, end_n, D, DP, BM2, BN2, False)
    tl.store(DQ + head * stride_h + at, (dq * 0.6931471824645996).to(DQ.dtype.element_ty), mask=inside)


def backward(heads, T, D, DP, dtype, causal, block, small, **options):
    """A case of attn_bwd."""
    q, v, do = (rand(heads, T, D, dtype=dtype) for _ in range(3))
    k = rand(heads, T, D, dtype=dtype, scale=LOG2E.value * D**-0.5)
    dq, dk, dv = (empty(heads, T, D, dtype=dtype) for _ in range(3))
    lse, delta = torch.empty(heads, T, device=DEVICE), torch.empty(heads, T, device=DEVICE)
    seen = below(T, T) if causal else None

    def weights(h):
        s = q[h].float() @ k[h].float().T / LOG2E.value
        return s if seen is None else s.masked_fill(~seen, float("-inf"))

    for h in range(heads):
        s = weights(h)
        lse[h] = torch.logsumexp(s, 1) * LOG2E.value
        delta[h] = ((torch.softmax(s, 1) @ v[h].float()) * do[h].float()).sum(1)

    def reference():
        grads = [torch.empty(heads, T, D, device=DEVICE) for _ in range(3)]
        for h in range(heads):
            p = torch.softmax(weights(h), 1)
            ds = p * (do[h].float() @ v[h].float().T - delta[h][:, None])
            grads[0][h], grads[1][h], grads[2][h] = ds @ k[h].float() / LOG2E.value, ds.T @ q[h].float() * D**-0.5, p.T @ do[h].float()
        return tuple(grads)

    return Case(attn_bwd, (triton.cdiv(T, block), heads), (q, k, v, do, dq, dk, dv, lse, delta, D**-0.5, T * D, D, T),
                dict(D=D, DP=DP, BM1=small, BN1=block, BM2=block, BN2=small, CAUSAL=causal), (dq, dk, dv), reference, rtol=2e-2,
                options=options, flops=(5 if causal else 10) * heads * T * T * D)


@case
def rw_tutorial_bwd_d80_causal(heads=24, T=2000):
    return backward(heads, T, 80, 128, F16, True, 64, 32, num_warps=4, num_stages=3)


@case
def rw_tutorial_bwd_d96(heads=16, T=1536):
    return backward(heads, T, 96, 128, BF16, False, 128, 32, num_warps=8, num_stages=2)


@case
def rw_tutorial_bwd_d32_causal(heads=48, T=2100):
    return backward(heads, T, 32, 32, BF16, True, 128, 32, num_warps=4, num_stages=5)


@triton.jit
def fwd_d160(Q, K, V, Out, sm_scale, stride_qt, stride_qh, stride_kt, stride_kh, T, G, BM: tl.constexpr, BN: tl.constexpr):
    """Causal attention of heads of 160: 128 and 32 in separate products, groups of G queries a key."""
    block, h = tl.num_programs(0) - 1 - tl.program_id(0), tl.program_id(1)
    m, n, d1, d2 = block * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, 128), 128 + tl.arange(0, 32)
    q_row = Q + m[:, None] * stride_qt + h * stride_qh
    q1 = tl.load(q_row + d1[None, :], mask=(m < T)[:, None], other=0.0)
    q2 = tl.load(q_row + d2[None, :], mask=(m < T)[:, None], other=0.0)
    K += (h // G) * stride_kh
    V += (h // G) * stride_kh
    m_i, l_i = tl.full((BM,), float("-inf"), tl.float32), tl.zeros((BM,), tl.float32)
    acc1, acc2 = tl.zeros((BM, 128), tl.float32), tl.zeros((BM, 32), tl.float32)
    qk_scale = sm_scale * LOG2E
    for start in range(0, tl.minimum((block + 1) * BM, T), BN):
        start = tl.multiple_of(start, BN)
        keys = start + n
        k_col = K + keys[None, :] * stride_kt
        v_row = V + keys[:, None] * stride_kt
        qk = tl.dot(q1, tl.load(k_col + d1[:, None], mask=(keys < T)[None, :], other=0.0))
        qk += tl.dot(q2, tl.load(k_col + d2[:, None], mask=(keys < T)[None, :], other=0.0))
        qk = tl.where(m[:, None] >= keys[None, :], qk * qk_scale, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(qk, 1))
        p, alpha = tl.math.exp2(qk - m_new[:, None]), tl.math.exp2(m_i - m_new)
        l_i, m_i = l_i * alpha + tl.sum(p, 1), m_new
        p = p.to(V.dtype.element_ty)
        acc1 = acc1 * alpha[:, None] + tl.dot(p, tl.load(v_row + d1[None, :], mask=(keys < T)[:, None], other=0.0))
        acc2 = acc2 * alpha[:, None] + tl.dot(p, tl.load(v_row + d2[None, :], mask=(keys < T)[:, None], other=0.0))
    o_row = Out + m[:, None] * stride_qt + h * stride_qh
    tl.store(o_row + d1[None, :], (acc1 / l_i[:, None]).to(Out.dtype.element_ty), mask=(m < T)[:, None])
    tl.store(o_row + d2[None, :], (acc2 / l_i[:, None]).to(Out.dtype.element_ty), mask=(m < T)[:, None])


@case
def rw_causal_d160(T=3000, HK=8, G=3, D=160):
    q, k, v, o = rand(T, HK * G, D, dtype=BF16), rand(T, HK, D, dtype=BF16), rand(T, HK, D, dtype=BF16), empty(T, HK * G, D, dtype=BF16)

    def reference():
        return (torch.stack([attend(q[:, h], k[:, h // G], v[:, h // G], D**-0.5, below(T, T)) for h in range(HK * G)], 1),)

    return Case(fwd_d160, (triton.cdiv(T, 64), HK * G), (q, k, v, o, D**-0.5, *q.stride()[:2], *k.stride()[:2], T, G), dict(BM=64, BN=64),
                (o,), reference, rtol=2e-2, options=dict(num_warps=4, num_stages=2), flops=2 * T * T * HK * G * D)


@triton.jit
def paged_partitions(out_ptr, max_ptr, sum_ptr, q_ptr, k_cache, v_cache, tables, lengths, scale, max_pages, G: tl.constexpr, GP: tl.constexpr,
                     D: tl.constexpr, PAGE: tl.constexpr, X: tl.constexpr, PART: tl.constexpr):
    """A partition of decoding over pages: keys as (page, head, D / X, PAGE, X), values as (page, head, D, PAGE)."""
    seq, kv, part = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    heads, parts = tl.num_programs(1), tl.num_programs(2)
    g, d, n = tl.arange(0, GP), tl.arange(0, D), tl.arange(0, PAGE)
    row = seq * heads * G + kv * G + g
    length = tl.load(lengths + seq)
    q = tl.load(q_ptr + row[:, None] * D + d[None, :], mask=(g < G)[:, None], other=0.0)
    q = (q * scale).to(q.dtype)
    acc = tl.zeros((GP, D), tl.float32)
    m_i, l_i = tl.full((GP,), -1.0e20, tl.float32), tl.zeros((GP,), tl.float32)
    page, last = part * (PART // PAGE), tl.cdiv(tl.minimum((part + 1) * PART, length), PAGE)
    k_at = (d[:, None] // X) * PAGE * X + n[None, :] * X + d[:, None] % X
    v_at = d[None, :] * PAGE + n[:, None]
    while page < last:
        number = tl.load(tables + seq * max_pages + page).to(tl.int64)
        base = (number * heads + kv) * D * PAGE
        k = tl.load(k_cache + base + k_at, eviction_policy="evict_first")
        v = tl.load(v_cache + base + v_at, eviction_policy="evict_first")
        s = tl.where((page * PAGE + n < length)[None, :], tl.dot(q, k), float("-inf"))
        top = tl.maximum(m_i, tl.max(s, 1))
        p, alpha = tl.exp(s - top[:, None]), tl.exp(m_i - top)
        acc = tl.dot(p.to(v.dtype), v, acc=acc * alpha[:, None])
        l_i, m_i = l_i * alpha + tl.sum(p, 1), top
        page += 1
    to = row * parts + part
    some = part * PART < length
    tl.store(max_ptr + to, tl.where(some, m_i, 0.0), mask=g < G)
    tl.store(sum_ptr + to, l_i, mask=g < G)
    acc = acc / tl.where(some, l_i, 1.0)[:, None]
    tl.store(out_ptr + to[:, None] * D + d[None, :], acc.to(out_ptr.dtype.element_ty), mask=(g < G)[:, None])


@case
def rw_paged_v2_split_keys(lengths=(4000, 3100, 17, 2048, 1, 900, 3333, 512, 2500, 3999, 64, 1777), HK=8, G=5, D=128, page=16, X=8, part=512):
    seqs, parts, pages = len(lengths), triton.cdiv(max(lengths), part), triton.cdiv(max(lengths), page)
    q = rand(seqs, HK * G, D, dtype=F16)
    keys, values = rand(seqs * pages, HK, D // X, page, X, dtype=F16), rand(seqs * pages, HK, D, page, dtype=F16)
    tables = torch.randperm(seqs * pages, device=DEVICE).to(torch.int32).view(seqs, pages)
    o, top, total = empty(seqs, HK * G, parts, D, dtype=F16), empty(seqs, HK * G, parts), empty(seqs, HK * G, parts)

    def reference():
        out, high, sums = (torch.zeros(t.shape, device=DEVICE) for t in (o, top, total))
        for i, length in enumerate(lengths):
            k = keys[tables[i].long()].permute(1, 2, 4, 0, 3).reshape(HK, D, pages * page).float()
            v = values[tables[i].long()].permute(1, 0, 3, 2).reshape(HK, pages * page, D).float()
            s = (q[i].float() * D**-0.5).to(F16).float().view(HK, G, D) @ k
            for j in range(triton.cdiv(length, part)):
                here = slice(j * part, min(length, (j + 1) * part))
                high[i, :, j] = s[:, :, here].amax(2).view(-1)
                p = torch.exp(s[:, :, here] - s[:, :, here].amax(2, keepdim=True))
                sums[i, :, j], out[i, :, j] = p.sum(2).view(-1), (p / p.sum(2, keepdim=True) @ v[:, here]).view(-1, D)
        return out, high, sums

    return Case(paged_partitions, (seqs, HK, parts), (o, top, total, q, keys, values, tables, tensor(lengths, torch.int32), D**-0.5, pages),
                dict(G=G, GP=16, D=D, PAGE=page, X=X, PART=part), (o, top, total), reference, options=dict(num_warps=4, num_stages=3),
                bytes=4 * sum(lengths) * HK * D)


@triton.jit
def prefix_prefill(Q, K, V, K_cache, V_cache, B_Loc, Start, CtxLen, Out, sm_scale, stride_table, stride_qt, stride_kt, stride_page,
                   stride_slot, G: tl.constexpr, D: tl.constexpr, PAGE: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """New tokens see a context in pages, without a mask, then each other, causally."""
    seq, h, block = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    kv = h // G
    ctx_len, first = tl.load(CtxLen + seq), tl.load(Start + seq)
    query_len = tl.load(Start + seq + 1) - first
    if block * BM >= query_len:
        return
    m, n, d = block * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    at = (first + m).to(tl.int64)[:, None] * stride_qt + h * D + d[None, :]
    q = tl.load(Q + at, mask=(m < query_len)[:, None], other=0.0)
    m_i = tl.full((BM,), float("-inf"), tl.float32)
    l_i = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, ctx_len, BN):
        start = tl.multiple_of(start, BN)
        place = start + n
        page = tl.load(B_Loc + seq * stride_table + place // PAGE, mask=place < ctx_len, other=0).to(tl.int64)
        slot = page * stride_page + (place % PAGE) * stride_slot + kv * D
        k = tl.load(K_cache + slot[None, :] + d[:, None], mask=(place < ctx_len)[None, :], other=0.0)
        qk = tl.dot(q, k, out_dtype=tl.float32) * sm_scale
        qk = tl.where((place < ctx_len)[None, :], qk, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(qk, 1))
        p, alpha = tl.exp(qk - m_new[:, None]), tl.exp(m_i - m_new)
        v = tl.load(V_cache + slot[:, None] + d[None, :], mask=(place < ctx_len)[:, None], other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc=acc * alpha[:, None])
        l_i, m_i = l_i * alpha + tl.sum(p, 1), m_new
    for start in range(0, tl.minimum((block + 1) * BM, query_len), BN):
        place = start + n
        row = (first + place).to(tl.int64) * stride_kt + kv * D
        k = tl.load(K + row[None, :] + d[:, None], mask=(place < query_len)[None, :], other=0.0)
        qk = tl.dot(q, k, out_dtype=tl.float32) * sm_scale
        qk = tl.where(m[:, None] >= place[None, :], qk, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(qk, 1))
        p, alpha = tl.exp(qk - m_new[:, None]), tl.exp(m_i - m_new)
        v = tl.load(V + row[:, None] + d[None, :], mask=(place < query_len)[:, None], other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc=acc * alpha[:, None])
        l_i, m_i = l_i * alpha + tl.sum(p, 1), m_new
    tl.store(Out + at, (acc / l_i[:, None]).to(Out.dtype.element_ty), mask=(m < query_len)[:, None])


@case
def rw_prefix_prefill(queries=(500, 1, 900, 1300, 77, 256), contexts=(2000, 3000, 0, 640, 1500, 100), HK=4, G=6, D=128, page=32):
    seqs, pages, total = len(queries), triton.cdiv(max(contexts), page), sum(queries)
    starts = torch.tensor((0, *queries), device="cpu").cumsum(0).tolist()
    q, k, v, o = rand(total, HK * G, D, dtype=F16), rand(total, HK, D, dtype=F16), rand(total, HK, D, dtype=F16), empty(total, HK * G, D, dtype=F16)
    cache = rand(2, seqs * pages, page, HK, D, dtype=F16)
    tables = torch.randperm(seqs * pages, device=DEVICE).to(torch.int32).view(seqs, pages)

    def reference():
        out = torch.empty(o.shape, device=DEVICE)
        for i in range(seqs):
            rows = slice(starts[i], starts[i + 1])
            old = [x[tables[i].long()].view(-1, HK, D)[:contexts[i]] for x in cache]
            keys, values = torch.cat((old[0], k[rows])), torch.cat((old[1], v[rows]))
            seen = below(queries[i], contexts[i] + queries[i], contexts[i])
            for h in range(HK * G):
                out[rows, h] = attend(q[rows, h], keys[:, h // G], values[:, h // G], D**-0.5, seen)
        return (out,)

    return Case(prefix_prefill, (seqs, HK * G, triton.cdiv(max(queries), 128)),
                (q, k, v, cache[0], cache[1], tables, tensor(starts, torch.int32), tensor(contexts, torch.int32), o, D**-0.5, pages, HK * G * D,
                 HK * D, page * HK * D, HK * D), dict(G=G, D=D, PAGE=page, BM=128, BN=64), (o,), reference,
                options=dict(num_warps=8, num_stages=1), flops=4 * sum(a * (b + a / 2) for a, b in zip(queries, contexts)) * HK * G * D)


@triton.jit
def int8_scores_half_sums(Q, Q_scale, K, K_scale, V, Out, T, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Scores of int8 with a scale for each block, and products with the values that are summed in f16."""
    block, head = tl.program_id(0), tl.program_id(1).to(tl.int64)
    m, n, d = block * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    q = tl.load(Q + (head * T + m)[:, None] * D + d[None, :], mask=(m < T)[:, None], other=0)
    q_scale = tl.load(Q_scale + head * tl.cdiv(T, BM) + block)
    k_scales = K_scale + head * tl.cdiv(T, BN)
    k_ptrs = K + (head * T + n)[None, :] * D + d[:, None]
    v_ptrs = V + (head * T + n)[:, None] * D + d[None, :]
    m_i = tl.zeros([BM], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BM], dtype=tl.float32) + 1.0
    acc = tl.zeros([BM, D], dtype=tl.float32)
    for start in range(0, T, BN):
        k_mask = n[None, :] < (T - start)
        k = tl.load(k_ptrs, mask=k_mask, other=0)
        qk = tl.dot(q, k).to(tl.float32) * (q_scale * tl.load(k_scales))
        qk += tl.where(k_mask, 0.0, -1.0e6)
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.math.exp2(qk - m_ij[:, None])
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(v_ptrs, mask=n[:, None] < (T - start), other=0.0)
        acc += tl.dot(p.to(tl.float16), v, out_dtype=tl.float16)
        m_i = m_ij
        k_ptrs += BN * D
        k_scales += 1
        v_ptrs += BN * D
    acc = acc / l_i[:, None]
    tl.store(Out + (head * T + m)[:, None] * D + d[None, :], acc.to(Out.dtype.element_ty), mask=(m < T)[:, None])


@case
def rw_int8_scores_half_sums(heads=30, T=4500, D=64):
    q, k = randint(-127, 128, heads, T, D, dtype=torch.int8), randint(-127, 128, heads, T, D, dtype=torch.int8)
    v, o = rand(heads, T, D, dtype=F16), empty(heads, T, D, dtype=BF16)
    q_scale = uniform(heads, triton.cdiv(T, 128), low=0.01, high=0.02)
    k_scale = uniform(heads, triton.cdiv(T, 64), low=0.01, high=0.02)

    def reference():
        out = torch.empty(o.shape, device=DEVICE)
        for h in range(heads):
            s = q[h].float() * q_scale[h].repeat_interleave(128)[:T, None] @ (k[h].float() * k_scale[h].repeat_interleave(64)[:T, None]).T
            out[h] = torch.softmax(s / LOG2E.value, 1) @ v[h].float()
        return (out,)

    return Case(int8_scores_half_sums, (triton.cdiv(T, 128), heads), (q, q_scale, k, k_scale, v, o, T), dict(D=D, BM=128, BN=64), (o,), reference,
                rtol=2e-2, options=dict(num_warps=4, num_stages=3), flops=4 * heads * T * T * D)


@triton.jit
def one_map(q, k, m, keys, scale, m_i, l_i):
    """Weights of one of the two maps; also the factor of what is summed."""
    s = tl.where(m[:, None] >= keys[None, :], tl.dot(q, k) * scale, float("-inf"))
    top = tl.maximum(m_i, tl.max(s, 1))
    p, alpha = tl.math.exp2(s - top[:, None]), tl.math.exp2(m_i - top)
    return p, alpha, top, l_i * alpha + tl.sum(p, 1)


@triton.jit
def differential(Q, K, V, W, Out, lam, gain, scale, eps, T, H, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """The difference of two causal maps by values of 2 D, then a norm of the head: q and k are (T, H, 2, D)."""
    block, h = tl.num_programs(0) - 1 - tl.program_id(0), tl.program_id(1)
    m, n, d, dv = block * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D), tl.arange(0, 2 * D)
    q_at = Q + (m[:, None] * H + h) * 2 * D + d[None, :]
    q1, q2 = tl.load(q_at, mask=(m < T)[:, None], other=0.0), tl.load(q_at + D, mask=(m < T)[:, None], other=0.0)
    m1, m2 = tl.full((BM,), float("-inf"), tl.float32), tl.full((BM,), float("-inf"), tl.float32)
    l1, l2 = tl.zeros((BM,), tl.float32), tl.zeros((BM,), tl.float32)
    acc1, acc2 = tl.zeros((BM, 2 * D), tl.float32), tl.zeros((BM, 2 * D), tl.float32)
    for start in tl.range(0, tl.minimum((block + 1) * BM, T), BN):
        keys = start + n
        k_at = K + (keys[None, :] * H + h) * 2 * D + d[:, None]
        k1, k2 = tl.load(k_at, mask=(keys < T)[None, :], other=0.0), tl.load(k_at + D, mask=(keys < T)[None, :], other=0.0)
        v = tl.load(V + (keys[:, None] * H + h) * 2 * D + dv[None, :], mask=(keys < T)[:, None], other=0.0)
        p1, alpha1, m1, l1 = one_map(q1, k1, m, keys, scale * LOG2E, m1, l1)
        acc1 = tl.dot(p1.to(v.dtype), v, acc1 * alpha1[:, None])
        p2, alpha2, m2, l2 = one_map(q2, k2, m, keys, scale * LOG2E, m2, l2)
        acc2 = tl.dot(p2.to(v.dtype), v, acc2 * alpha2[:, None])
    o = acc1 / l1[:, None] - lam * (acc2 / l2[:, None])
    o = o * tl.rsqrt(tl.sum(o * o, 1) / (2 * D) + eps)[:, None] * tl.load(W + dv)[None, :] * gain
    tl.store(Out + (m[:, None] * H + h) * 2 * D + dv[None, :], o.to(Out.dtype.element_ty), mask=(m < T)[:, None])


@case
def rw_differential_d64(T=2900, H=16, D=64, lam=0.3):
    q, k, v = rand(T, H, 2, D, dtype=BF16), rand(T, H, 2, D, dtype=BF16), rand(T, H, 2 * D, dtype=BF16)
    w, o = uniform(2 * D, low=0.5, high=1.5), empty(T, H, 2 * D, dtype=BF16)

    def reference():
        out, seen = torch.empty(o.shape, device=DEVICE), below(T, T)
        for h in range(H):
            first, second = (attend(q[:, h, i], k[:, h, i], v[:, h], D**-0.5, seen) for i in range(2))
            y = first - lam * second
            out[:, h] = y * torch.rsqrt(y.square().mean(1, keepdim=True) + 1e-5) * w * 0.8
        return (out,)

    return Case(differential, (triton.cdiv(T, 64), H), (q, k, v, w, o, lam, 0.8, D**-0.5, 1e-5, T, H), dict(D=D, BM=64, BN=64), (o,), reference,
                rtol=3e-2, options=dict(num_warps=8, num_stages=2), flops=T * T * H * 6 * D)


@triton.jit
def chosen_blocks(q, k, v, o, lse, scale, block_indices, T, HK: tl.constexpr, G: tl.constexpr, D: tl.constexpr, S: tl.constexpr,
                  BS: tl.constexpr):
    """A token's group of G heads sees up to S chosen blocks of BS keys; -1 names none."""
    i_t, i_h = tl.program_id(0), tl.program_id(1)
    g, d, n = tl.arange(0, G), tl.arange(0, D), tl.arange(0, BS)
    row = (i_t * HK + i_h) * G + g
    b_q = tl.load(q + row[:, None] * D + d[None, :])
    b_q = (b_q * scale).to(b_q.dtype)
    b_o = tl.zeros([G, D], dtype=tl.float32)
    b_m = tl.full([G], float("-inf"), dtype=tl.float32)
    b_acc = tl.zeros([G], dtype=tl.float32)
    for i in range(S):
        i_s = tl.load(block_indices + (i_t * HK + i_h) * S + i).to(tl.int32) * BS
        if i_s >= 0 and i_s <= i_t:
            keys = i_s + n
            b_k = tl.load(k + (keys[None, :] * HK + i_h) * D + d[:, None], mask=(keys < T)[None, :], other=0.0)
            b_v = tl.load(v + (keys[:, None] * HK + i_h) * D + d[None, :], mask=(keys < T)[:, None], other=0.0)
            b_s = tl.where((keys <= i_t)[None, :], tl.dot(b_q, b_k), float("-inf"))
            b_m, b_mp = tl.maximum(b_m, tl.max(b_s, 1)), b_m
            b_r = tl.exp(b_mp - b_m)
            b_p = tl.exp(b_s - b_m[:, None])
            b_acc = b_acc * b_r + tl.sum(b_p, 1)
            b_o = b_o * b_r[:, None] + tl.dot(b_p.to(b_q.dtype), b_v)
    tl.store(o + row[:, None] * D + d[None, :], (b_o / b_acc[:, None]).to(o.dtype.element_ty))
    tl.store(lse + row, b_m + tl.log(b_acc))


@case
def rw_chosen_blocks(T=4000, HK=4, G=16, D=128, S=12, BS=64):
    q, k, v = rand(T, HK * G, D, dtype=BF16), rand(T, HK, D, dtype=BF16), rand(T, HK, D, dtype=BF16)
    o, lse, blocks = empty(T, HK * G, D, dtype=BF16), empty(T, HK * G), triton.cdiv(T, BS)
    own = torch.arange(T, device=DEVICE)[:, None, None] // BS
    order = torch.arange(blocks, device=DEVICE)
    marks = uniform(T, HK, blocks).masked_fill(order == own, 2.0).masked_fill(order > own, -1.0)
    best, chosen = marks.topk(S, 2)
    chosen = torch.where(best < 0, -1, chosen).to(torch.int32)

    def reference():
        out, log = torch.empty(o.shape, device=DEVICE), torch.empty(lse.shape, device=DEVICE)
        for i in range(HK):
            seen = torch.zeros(T, blocks + 1, dtype=torch.bool, device=DEVICE).scatter_(1, chosen[:, i].long() % (blocks + 1), True)[:, :blocks]
            seen = seen.repeat_interleave(BS, 1)[:, :T] & below(T, T)
            for h in range(i * G, i * G + G):
                s = ((q[:, h].float() * D**-0.5).to(BF16).float() @ k[:, i].float().T).masked_fill(~seen, float("-inf"))
                out[:, h], log[:, h] = torch.softmax(s, 1) @ v[:, i].float(), torch.logsumexp(s, 1)
        return out, log

    return Case(chosen_blocks, (T, HK), (q, k, v, o, lse, D**-0.5, chosen, T), dict(HK=HK, G=G, D=D, S=S, BS=BS), (o, lse), reference, rtol=2e-2,
                options=dict(num_warps=2, num_stages=3), flops=4 * T * HK * G * S * BS * D)


@triton.jit
def extend_with_mask(Q, K, V, O, K_Buffer, V_Buffer, qo_indptr, kv_indptr, kv_indices, mask_ptr, mask_indptr, sm_scale, stride_q, stride_k,
                     G: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """New tokens and a prefix whose slots are listed; which keys each sees is read from bytes."""
    seq, h, block = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    q_start, kv_start = tl.load(qo_indptr + seq), tl.load(kv_indptr + seq)
    q_len, prefix = tl.load(qo_indptr + seq + 1) - q_start, tl.load(kv_indptr + seq + 1) - kv_start
    mask_start = tl.load(mask_indptr + seq)
    m, d = block * BM + tl.arange(0, BM), tl.arange(0, D)
    mask_m = m < q_len
    q = tl.load(Q + (q_start + m)[:, None] * stride_q + h * D + d[None, :], mask=mask_m[:, None], other=0.0)
    acc = tl.zeros([BM, D], dtype=tl.float32)
    deno = tl.zeros([BM], dtype=tl.float32)
    e_max = tl.full([BM], -1.0e30, tl.float32)
    for start in range(0, prefix, BN):
        n = start + tl.arange(0, BN)
        mask_n = n < prefix
        slots = tl.load(kv_indices + kv_start + n, mask=mask_n, other=0)
        k = tl.load(K_Buffer + slots[None, :] * stride_k + (h // G) * D + d[:, None], mask=mask_n[None, :], other=0.0)
        qk = tl.dot(q, k) * sm_scale
        seen = tl.load(mask_ptr + mask_start + m[:, None] * (prefix + q_len) + n[None, :], mask=mask_m[:, None] & mask_n[None, :], other=0)
        qk = tl.where(seen != 0, qk, float("-inf"))
        new = tl.maximum(e_max, tl.max(qk, 1))
        re_scale, p = tl.exp(e_max - new), tl.exp(qk - new[:, None])
        deno = deno * re_scale + tl.sum(p, 1)
        v = tl.load(V_Buffer + slots[:, None] * stride_k + (h // G) * D + d[None, :], mask=mask_n[:, None], other=0.0)
        acc = acc * re_scale[:, None] + tl.dot(p.to(v.dtype), v)
        e_max = new
    for start in range(0, tl.minimum(q_len, (block + 1) * BM), BN):
        n = start + tl.arange(0, BN)
        mask_n = n < q_len
        k = tl.load(K + (q_start + n)[None, :] * stride_k + (h // G) * D + d[:, None], mask=mask_n[None, :], other=0.0)
        qk = tl.dot(q, k) * sm_scale
        at = mask_start + m[:, None] * (prefix + q_len) + prefix + n[None, :]
        seen = tl.load(mask_ptr + at, mask=mask_m[:, None] & mask_n[None, :], other=0)
        qk = tl.where((seen != 0) & (m[:, None] >= n[None, :]), qk, float("-inf"))
        new = tl.maximum(e_max, tl.max(qk, 1))
        re_scale, p = tl.exp(e_max - new), tl.exp(qk - new[:, None])
        deno = deno * re_scale + tl.sum(p, 1)
        v = tl.load(V + (q_start + n)[:, None] * stride_k + (h // G) * D + d[None, :], mask=mask_n[:, None], other=0.0)
        acc = acc * re_scale[:, None] + tl.dot(p.to(v.dtype), v)
        e_max = new
    tl.store(O + (q_start + m)[:, None] * stride_q + h * D + d[None, :], (acc / deno[:, None]).to(O.dtype.element_ty), mask=mask_m[:, None])


@case
def rw_extend_custom_mask(queries=(64, 200, 13, 130, 64, 77, 600, 33), prefixes=(2000, 1500, 3000, 0, 777, 2500, 400, 4000), H=32, G=4, D=64):
    HK, total = H // G, sum(queries)
    starts, kv_starts, mask_starts = [0], [0], [0]
    for a, b in zip(queries, prefixes):
        starts, kv_starts, mask_starts = starts + [starts[-1] + a], kv_starts + [kv_starts[-1] + b], mask_starts + [mask_starts[-1] + a * (a + b)]
    q, k, v, o = rand(total, H, D, dtype=BF16), rand(total, HK, D, dtype=BF16), rand(total, HK, D, dtype=BF16), empty(total, H, D, dtype=BF16)
    buffer = rand(2, kv_starts[-1], HK, D, dtype=BF16)
    slots = torch.randperm(kv_starts[-1], device=DEVICE)
    bits = (uniform(mask_starts[-1]) < 0.8).to(torch.uint8)
    for i, (a, b) in enumerate(zip(queries, prefixes)):  # each sees itself
        bits[mask_starts[i]:mask_starts[i + 1]].view(a, a + b)[:, b:].fill_diagonal_(1)

    def reference():
        out = torch.empty(o.shape, device=DEVICE)
        for i, (a, b) in enumerate(zip(queries, prefixes)):
            rows, mine = slice(starts[i], starts[i + 1]), slots[kv_starts[i]:kv_starts[i + 1]]
            keys, values = torch.cat((buffer[0][mine], k[rows])), torch.cat((buffer[1][mine], v[rows]))
            seen = bits[mask_starts[i]:mask_starts[i + 1]].view(a, a + b).bool() & below(a, a + b, b)
            for h in range(H):
                out[rows, h] = attend(q[rows, h], keys[:, h // G], values[:, h // G], D**-0.5, seen)
        return (out,)

    return Case(extend_with_mask, (len(queries), H, triton.cdiv(max(queries), 64)),
                (q, k, v, o, buffer[0], buffer[1], tensor(starts, torch.int32), tensor(kv_starts, torch.int32), slots, bits,
                 tensor(mask_starts, torch.int64), D**-0.5, H * D, HK * D), dict(G=G, D=D, BM=64, BN=64), (o,), reference, rtol=2e-2,
                options=dict(num_warps=4, num_stages=1), flops=4 * sum(a * (a / 2 + b) for a, b in zip(queries, prefixes)) * H * D)


@triton.jit
def fp8_inner(acc, l_i, m_i, q, K, V_t, m, low, high, T, qk_scale, D: tl.constexpr, BN: tl.constexpr, MASK: tl.constexpr):
    """One stage: keys from low to high."""
    d, n = tl.arange(0, D), tl.arange(0, BN)
    for start in tl.range(low, high, BN):
        start = tl.multiple_of(start, BN)
        k = tl.load(K + (start + n)[None, :] * D + d[:, None])
        qk = tl.dot(q, k) * qk_scale
        if MASK:
            qk = tl.where(m[:, None] >= (start + n)[None, :], qk, -1.0e6)
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.math.exp2(qk - m_ij[:, None])
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(V_t + d[None, :] * T + (start + n)[:, None])
        acc = tl.dot(p.to(tl.float8e4nv), v, acc * alpha[:, None])
        m_i = m_ij
    return acc, l_i, m_i


@triton.jit
def fp8_causal(Q, K, V_t, Q_scale, K_scale, V_scale, Out, sm_scale, T, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Causal attention of fp8 with scales of the heads; the values lie as (head, D, T); two stages."""
    block, h = tl.program_id(0), tl.program_id(1)
    base = h.to(tl.int64) * T * D
    m, d = block * BM + tl.arange(0, BM), tl.arange(0, D)
    q = tl.load(Q + base + m[:, None] * D + d[None, :])
    qk_scale = tl.load(Q_scale + h) * tl.load(K_scale + h) * sm_scale * LOG2E
    acc = tl.zeros([BM, D], tl.float32)
    l_i = tl.zeros([BM], tl.float32)
    m_i = tl.full([BM], float("-inf"), tl.float32)
    acc, l_i, m_i = fp8_inner(acc, l_i, m_i, q, K + base, V_t + base, m, 0, block * BM, T, qk_scale, D, BN, False)
    acc, l_i, m_i = fp8_inner(acc, l_i, m_i, q, K + base, V_t + base, m, block * BM, (block + 1) * BM, T, qk_scale, D, BN, True)
    acc = acc * (tl.load(V_scale + h) / l_i)[:, None]
    tl.store(Out + base + m[:, None] * D + d[None, :], acc.to(Out.dtype.element_ty))


@case
def rw_fp8_causal_d128(heads=24, T=4352, D=128):
    q, k, v_t, o = rand(heads, T, D, dtype=F8), rand(heads, T, D, dtype=F8), rand(heads, D, T, dtype=F8), empty(heads, T, D, dtype=BF16)
    q_scale, k_scale, v_scale = (uniform(heads, low=0.5, high=1.5) for _ in range(3))

    def reference():
        scale = q_scale * k_scale * D**-0.5
        return (torch.stack([attend(q[h], k[h], v_t[h].float().T * v_scale[h], scale[h], below(T, T)) for h in range(heads)]),)

    return Case(fp8_causal, (T // 128, heads), (q, k, v_t, q_scale, k_scale, v_scale, o, D**-0.5, T), dict(D=D, BM=128, BN=128), (o,), reference,
                rtol=8e-2, options=dict(num_warps=8, num_stages=3), flops=2 * heads * T * T * D)


@triton.jit
def blocks_and_columns(Q, K, V, Out, block_count, block_offset, column_count, column_index, sm_scale, T, ROWS, NB: tl.constexpr,
                       NC: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Causal attention to listed blocks, then to listed single keys that are gathered."""
    row, h = tl.program_id(0), tl.program_id(1)
    base = h.to(tl.int64) * T * D
    m, n, d = row * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    q = tl.load(Q + base + m[:, None] * D + d[None, :], mask=(m < T)[:, None], other=0.0)
    q = (q * (sm_scale * LOG2E)).to(q.dtype)
    blocks, columns = tl.load(block_count + h * ROWS + row), tl.load(column_count + h * ROWS + row)
    offsets, indices = block_offset + (h * ROWS + row) * NB, column_index + (h * ROWS + row) * NC
    m_i, l_i = tl.full([BM], float("-inf"), tl.float32), tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for i in range(blocks):
        keys = tl.load(offsets + i) + n
        k = tl.load(K + base + keys[None, :] * D + d[:, None], mask=(keys < T)[None, :], other=0.0)
        v = tl.load(V + base + keys[:, None] * D + d[None, :], mask=(keys < T)[:, None], other=0.0)
        qk = tl.where(m[:, None] >= keys[None, :], tl.dot(q, k), float("-inf"))
        new = tl.maximum(m_i, tl.max(qk, 1))
        alpha, p = tl.math.exp2(m_i - new), tl.math.exp2(qk - new[:, None])
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        l_i, m_i = l_i * alpha + tl.sum(p, 1), new
    for start in range(0, columns, BN):
        some = start + n < columns
        keys = tl.load(indices + start + n, mask=some, other=0)
        k = tl.load(K + base + keys[None, :] * D + d[:, None], mask=some[None, :], other=0.0)
        v = tl.load(V + base + keys[:, None] * D + d[None, :], mask=some[:, None], other=0.0)
        qk = tl.where(some[None, :], tl.dot(q, k), float("-inf"))
        new = tl.maximum(m_i, tl.max(qk, 1))
        alpha, p = tl.math.exp2(m_i - new), tl.math.exp2(qk - new[:, None])
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        l_i, m_i = l_i * alpha + tl.sum(p, 1), new
    tl.store(Out + base + m[:, None] * D + d[None, :], (acc / l_i[:, None]).to(Out.dtype.element_ty), mask=(m < T)[:, None])


@case
def rw_blocks_and_columns(heads=16, T=7000, D=128, NB=10, NC=500):
    q, k, v, o = rand(heads, T, D, dtype=BF16), rand(heads, T, D, dtype=BF16), rand(heads, T, D, dtype=BF16), empty(heads, T, D, dtype=BF16)
    rows = triton.cdiv(T, 64)
    order, key = torch.arange(rows, device=DEVICE), torch.arange(T, device=DEVICE)
    marks = uniform(heads, rows, rows).masked_fill(order == order[:, None], 2.0).masked_fill(order > order[:, None], -1.0)
    best, chosen = marks.topk(min(NB, rows), 2)
    count = (best >= 0).sum(2).to(torch.int32)
    taken = torch.zeros(heads, rows, rows + 1, dtype=torch.bool, device=DEVICE).scatter_(2, torch.where(best >= 0, chosen, rows), True)[:, :, :rows]
    marks = uniform(heads, rows, T).masked_fill(taken.repeat_interleave(64, 2)[:, :, :T] | (key >= order[:, None] * 64), -1.0)
    best_keys, keys = marks.topk(NC, 2)
    keys_count = (best_keys >= 0).sum(2).to(torch.int32)

    def reference():
        out, own = torch.empty(o.shape, device=DEVICE), key // 64
        for h in range(heads):
            single = torch.zeros(rows, T + 1, dtype=torch.bool, device=DEVICE).scatter_(1, torch.where(best_keys[h] >= 0, keys[h], T), True)[:, :T]
            seen = (single | taken[h].repeat_interleave(64, 1)[:, :T])[own] & below(T, T)
            out[h] = attend(q[h], k[h], v[h], D**-0.5, seen)
        return (out,)

    return Case(blocks_and_columns, (rows, heads),
                (q, k, v, o, count, (chosen * 64).to(torch.int32), keys_count, keys.to(torch.int32), D**-0.5, T, rows),
                dict(NB=min(NB, rows), NC=NC, D=D, BM=64, BN=64), (o,), reference, rtol=2e-2, options=dict(num_warps=4, num_stages=2),
                flops=4 * heads * T * (NB * 64 + NC) * D)


@triton.jit
def f32_bucket_bias(Q, K, V, Table, Out, T, H, BUCKETS: tl.constexpr, FAR: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """f32 attention without a scale; the bias is a table's, by the logarithm of the distance to either side."""
    h, b = tl.program_id(1), tl.program_id(2)
    base = (b * H + h).to(tl.int64) * T * D
    m, n, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    q = tl.load(Q + base + m[:, None] * D + d[None, :], mask=(m < T)[:, None], other=0.0)
    m_i, l_i = tl.full([BM], float("-inf"), tl.float32), tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for start in range(0, T, BN):
        keys = start + n
        away = keys[None, :] - m[:, None]
        far = tl.abs(away)
        half: tl.constexpr = BUCKETS // 2
        exact: tl.constexpr = BUCKETS // 4
        large = exact + (tl.log(tl.maximum(far, 1).to(tl.float32) / exact) * ((half - exact) / tl.log(FAR / exact))).to(tl.int32)
        bucket = tl.where(away > 0, half, 0) + tl.where(far < exact, far, tl.minimum(large, half - 1))
        bias = tl.load(Table + bucket * H + h, cache_modifier=".ca")
        k = tl.load(K + base + keys[None, :] * D + d[:, None], mask=(keys < T)[None, :], other=0.0)
        s = tl.dot(q, k, input_precision="tf32") + bias
        s = tl.where((keys < T)[None, :], s, float("-inf")) * LOG2E
        new = tl.maximum(m_i, tl.max(s, 1))
        p, alpha = tl.math.exp2(s - new[:, None]), tl.math.exp2(m_i - new)
        v = tl.load(V + base + keys[:, None] * D + d[None, :], mask=(keys < T)[:, None], other=0.0)
        acc = tl.dot(p, v, acc * alpha[:, None], input_precision="tf32")
        l_i, m_i = l_i * alpha + tl.sum(p, 1), new
    tl.store(Out + base + m[:, None] * D + d[None, :], acc / l_i[:, None], mask=(m < T)[:, None])


@case
def rw_f32_bucket_bias(B=3, H=12, T=1400, D=64):
    q, k, v, o = rand(B, H, T, D, scale=0.2), rand(B, H, T, D), rand(B, H, T, D), empty(B, H, T, D)
    table = rand(32, H)

    def reference():
        away = torch.arange(T, device=DEVICE) - torch.arange(T, device=DEVICE)[:, None]
        large = 8 + (torch.log(away.abs().clamp_min(1).double() / 8) * (8 / torch.log(torch.tensor(16.0).double()).item()) + 1e-6).int()
        bucket = (away > 0) * 16 + torch.where(away.abs() < 8, away.abs(), large.clamp_max(15))
        out = torch.empty(o.shape, device=DEVICE)
        for h in range(H):
            bias = table[:, h][bucket]
            for b in range(B):
                out[b, h] = attend(q[b, h], k[b, h], v[b, h], 1.0, bias=bias)
        return (out,)

    return Case(f32_bucket_bias, (triton.cdiv(T, 64), H, B), (q, k, v, table, o, T, H), dict(BUCKETS=32, FAR=128.0, D=D, BM=64, BN=32), (o,),
                reference, options=dict(num_warps=4, num_stages=2), flops=4 * B * H * T * T * D)
