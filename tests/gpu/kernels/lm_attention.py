# SPDX-License-Identifier: Apache-2.0
"""Attention of training and prefill: forward with GQA, windows, sinks and soft caps, ragged batches, and the backward kernels."""
import math

import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, registry, tensor

CASES, case = registry()
LOG2E = tl.constexpr(1.4426950408889634)
BF16 = torch.bfloat16


@triton.jit
def soft_cap(x, cap):
    # cap * tanh(x / cap), by exp2
    e = tl.exp2(x * (2.0 * LOG2E) / cap)
    return cap * (1.0 - 2.0 / (e + 1.0))


@triton.jit
def attend(acc, total, top, q, k_ptrs, v_ptrs, m, low, high, S, kn, scale, cap, BN: tl.constexpr, WINDOW: tl.constexpr, CAP: tl.constexpr,
           MASK: tl.constexpr):
    for start in range(low, high, BN):
        start = tl.multiple_of(start, BN)
        n = start + tl.arange(0, BN)
        if MASK:
            k = tl.load(k_ptrs + start * kn, mask=n[None, :] < S, other=0.0)
        else:
            k = tl.load(k_ptrs + start * kn)
        s = tl.dot(q, k) * scale
        if CAP:
            s = soft_cap(s, cap)
        s *= LOG2E
        if MASK:
            keep = m[:, None] >= n[None, :]
            if WINDOW > 0:
                keep &= m[:, None] - n[None, :] < WINDOW
            s = tl.where(keep, s, -1.0e30)
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        alpha = tl.exp2(top - new)
        total = total * alpha + tl.sum(p, 1)
        if MASK:
            v = tl.load(v_ptrs + start * kn, mask=n[:, None] < S, other=0.0)
        else:
            v = tl.load(v_ptrs + start * kn)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        top = new
    return acc, total, top


@triton.jit
def forward(q_ptr, k_ptr, v_ptr, sink_ptr, o_ptr, lse_ptr, qb, qm, qh, kb, kn, kh, S, H, scale, cap, GROUP: tl.constexpr, D: tl.constexpr,
            BM: tl.constexpr, BN: tl.constexpr, WINDOW: tl.constexpr, SINK: tl.constexpr, CAP: tl.constexpr):
    tile = tl.num_programs(0) - 1 - tl.program_id(0)  # the longest rows first
    b = (tl.program_id(1) // H).to(tl.int64)
    h = tl.program_id(1) % H
    m = tile * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + b * qb + h * qh + m[:, None] * qm + d[None, :], mask=m[:, None] < S, other=0.0)
    k_ptrs = k_ptr + b * kb + (h // GROUP) * kh + n[None, :] * kn + d[:, None]
    v_ptrs = v_ptr + b * kb + (h // GROUP) * kh + n[:, None] * kn + d[None, :]
    acc = tl.zeros((BM, D), tl.float32)
    if SINK:
        top = tl.zeros((BM,), tl.float32) + tl.load(sink_ptr + h).to(tl.float32) * LOG2E
        total = tl.full((BM,), 1.0, tl.float32)
    else:
        top = tl.full((BM,), float("-inf"), tl.float32)
        total = tl.zeros((BM,), tl.float32)
    high = tl.minimum((tile + 1) * BM, S)
    if WINDOW > 0:
        low = tl.maximum(tile * BM - WINDOW + 1, 0) // BN * BN
    else:
        low = tile * BM
        acc, total, top = attend(acc, total, top, q, k_ptrs, v_ptrs, m, 0, low, S, kn, scale, cap, BN, WINDOW, CAP, False)
    acc, total, top = attend(acc, total, top, q, k_ptrs, v_ptrs, m, low, high, S, kn, scale, cap, BN, WINDOW, CAP, True)
    acc /= total[:, None]
    tl.store(o_ptr + b * qb + h * qh + m[:, None] * qm + d[None, :], acc.to(o_ptr.dtype.element_ty), mask=m[:, None] < S)
    tl.store(lse_ptr + tl.program_id(1).to(tl.int64) * S + m, (top + tl.log2(total)) / LOG2E, mask=m < S)


def forward_case(B, S, H, HK, D, BM, BN, window=0, sink=False, cap=0.0, warps=8, stages=3):
    q, k, v = rand(B, S, H, D, dtype=BF16), rand(B, S, HK, D, dtype=BF16), rand(B, S, HK, D, dtype=BF16)
    sinks = rand(H, dtype=BF16)
    o, lse = empty(B, S, H, D, dtype=BF16), empty(B, H, S)
    scale = D ** -0.5

    def reference():
        out, sums = torch.empty_like(q, dtype=torch.float32), torch.empty_like(lse)
        at = torch.arange(S, device=DEVICE)
        gap = at[:, None] - at[None, :]
        bad = (gap < 0) | (gap >= window) if window else gap < 0
        for b in range(B):
            for h in range(H):
                s = q[b, :, h].float() @ k[b, :, h // (H // HK)].float().T * scale
                if cap:
                    s = cap * torch.tanh(s / cap)
                s.masked_fill_(bad, float("-inf"))
                total = torch.logsumexp(s, 1)
                if sink:
                    total = torch.logaddexp(total, sinks[h].float())
                sums[b, h] = total
                out[b, :, h] = torch.exp(s - total[:, None]) @ v[b, :, h // (H // HK)].float()
        return out, sums

    pairs = S * window if window else S * S / 2
    return Case(forward, (triton.cdiv(S, BM), B * H), (q, k, v, sinks, o, lse, *q.stride()[:3], *k.stride()[:3], S, H, scale, cap),
                dict(GROUP=H // HK, D=D, BM=BM, BN=BN, WINDOW=window, SINK=sink, CAP=cap > 0), (o, lse), reference,
                options=dict(num_warps=warps, num_stages=stages), flops=4 * B * H * D * pairs)


@case
def lm_attn_causal_gqa(B=2, S=4096, H=32, HK=8, D=128):
    return forward_case(B, S, H, HK, D, 128, 64)


@case
def lm_attn_window_sinks(B=2, S=4096, H=64, HK=8, D=64):
    return forward_case(B, S, H, HK, D, 64, 64, window=128, sink=True, warps=4)


@case
def lm_attn_soft_cap(B=1, S=4000, H=16, HK=8, D=256):
    return forward_case(B, S, H, HK, D, 64, 32, cap=50.0, warps=4, stages=2)


@triton.jit
def ragged(Q, K, V, Slopes, Out, Offsets, stride_t, stride_h, sm_scale, HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Sequences of different lengths, one after another, causal, with ALiBi; block pointers."""
    seq, head, tile = tl.program_id(2), tl.program_id(1), tl.program_id(0)
    begin = tl.load(Offsets + seq)
    length = tl.load(Offsets + seq + 1) - begin
    if tile * BLOCK_M >= length:
        return
    base = begin.to(tl.int64) * stride_t + head * stride_h
    q_at = tl.make_block_ptr(Q + base, (length, HEAD), (stride_t, 1), (tile * BLOCK_M, 0), (BLOCK_M, HEAD), (1, 0))
    k_at = tl.make_block_ptr(K + base, (HEAD, length), (1, stride_t), (0, 0), (HEAD, BLOCK_N), (0, 1))
    v_at = tl.make_block_ptr(V + base, (length, HEAD), (stride_t, 1), (0, 0), (BLOCK_N, HEAD), (1, 0))
    o_at = tl.make_block_ptr(Out + base, (length, HEAD), (stride_t, 1), (tile * BLOCK_M, 0), (BLOCK_M, HEAD), (1, 0))
    slope = tl.load(Slopes + head) * LOG2E
    q = tl.load(q_at, boundary_check=(0,), padding_option="zero")
    rows = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    m_i = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD], dtype=tl.float32)
    for start_n in range(0, tl.minimum((tile + 1) * BLOCK_M, length), BLOCK_N):
        cols = start_n + tl.arange(0, BLOCK_N)
        k = tl.load(k_at, boundary_check=(1,), padding_option="zero")
        qk = tl.dot(q, k) * (sm_scale * LOG2E)
        dist = (rows[:, None] - cols[None, :]).to(tl.float32)
        qk = tl.where(dist >= 0, qk - slope * dist, float("-inf"))
        m_ij = tl.maximum(m_i, tl.max(qk, axis=1))
        p = tl.math.exp2(qk - m_ij[:, None])
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, axis=1)
        v = tl.load(v_at, boundary_check=(0,), padding_option="zero")
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        m_i = m_ij
        k_at = tl.advance(k_at, (0, BLOCK_N))
        v_at = tl.advance(v_at, (BLOCK_N, 0))
    tl.store(o_at, (acc / l_i[:, None]).to(Out.dtype.element_ty), boundary_check=(0,))


@case
def lm_attn_ragged_alibi(lengths=(3001, 517, 2048, 77, 1200, 900, 4096, 350), H=16, D=128):
    offsets = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
    q, k, v = (rand(offsets[-1], H, D, dtype=torch.float16) for _ in range(3))
    out = empty(offsets[-1], H, D, dtype=torch.float16)
    slopes = tensor([2.0 ** (-8.0 * (h + 1) / H) for h in range(H)], torch.float32)

    def reference():
        outs = []
        for i, length in enumerate(lengths):
            a, b, c = (x[offsets[i]:offsets[i + 1]].float().transpose(0, 1) for x in (q, k, v))
            at = torch.arange(length, device=DEVICE)
            gap = (at[:, None] - at[None, :]).float()
            s = torch.where(gap >= 0, a @ b.transpose(1, 2) * D ** -0.5 - slopes[:, None, None] * gap, float("-inf"))
            outs.append((torch.softmax(s, -1) @ c).transpose(0, 1))
        return (torch.cat(outs),)

    return Case(ragged, (triton.cdiv(max(lengths), 128), H, len(lengths)),
                (q, k, v, slopes, out, tensor(offsets, torch.int32), H * D, D, D ** -0.5),
                dict(HEAD=D, BLOCK_M=128, BLOCK_N=64), (out,), reference, options=dict(num_warps=8, num_stages=2))


@triton.jit
def delta_kernel(o_ptr, do_ptr, delta_ptr, rows, D: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    at = row[:, None] * D + tl.arange(0, D)[None, :]
    o = tl.load(o_ptr + at, mask=row[:, None] < rows, other=0.0, eviction_policy="evict_first")
    do = tl.load(do_ptr + at, mask=row[:, None] < rows, other=0.0)
    tl.store(delta_ptr + row, tl.sum(o.to(tl.float32) * do.to(tl.float32), 1), mask=row < rows)


@case
def lm_attn_bwd_delta(rows=8 * 32 * 4096, D=64):
    o, do, delta = rand(rows, D, dtype=BF16), rand(rows, D, dtype=BF16), empty(rows)
    return Case(delta_kernel, (triton.cdiv(rows, 64),), (o, do, delta, rows), dict(D=D, BLOCK=64), (delta,),
                lambda: ((o.float() * do.float()).sum(1),), bytes=rows * D * 4)


@triton.jit
def backward_dkv(q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr, S, scale, GROUP: tl.constexpr, D: tl.constexpr,
                 BM: tl.constexpr, BN: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    d = tl.arange(0, D)
    kv = tl.program_id(1).to(tl.int64) * S * D + n[:, None] * D + d[None, :]
    k, v = tl.load(k_ptr + kv), tl.load(v_ptr + kv)
    dk, dv = tl.zeros((BN, D), tl.float32), tl.zeros((BN, D), tl.float32)
    for g in range(GROUP):
        head = (tl.program_id(1) * GROUP + g).to(tl.int64) * S
        for start in range(tl.program_id(0) * BN, S, BM):
            m = start + tl.arange(0, BM)
            q = tl.load(q_ptr + head * D + m[:, None] * D + d[None, :])
            do = tl.load(do_ptr + head * D + m[:, None] * D + d[None, :])
            lse = tl.load(lse_ptr + head + m)
            delta = tl.load(delta_ptr + head + m)
            st = tl.dot(k, tl.trans(q)) * (scale * LOG2E)
            pt = tl.where(m[None, :] >= n[:, None], tl.exp2(st - lse[None, :] * LOG2E), 0.0)
            dv = tl.dot(pt.to(do.dtype), do, dv)
            dpt = tl.dot(v, tl.trans(do))
            dst = pt * (dpt - delta[None, :])
            dk = tl.dot(dst.to(q.dtype), q, dk)
    tl.store(dk_ptr + kv, (dk * scale).to(dk_ptr.dtype.element_ty))
    tl.store(dv_ptr + kv, dv.to(dv_ptr.dtype.element_ty))


@triton.jit
def backward_dq(q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dq_ptr, S, scale, GROUP: tl.constexpr, D: tl.constexpr, BM: tl.constexpr,
                BN: tl.constexpr):
    tile = tl.program_id(0)
    m = tile * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    head = tl.program_id(1).to(tl.int64) * S
    kv = (tl.program_id(1) // GROUP).to(tl.int64) * S * D
    q = tl.load(q_ptr + head * D + m[:, None] * D + d[None, :])
    do = tl.load(do_ptr + head * D + m[:, None] * D + d[None, :])
    lse = tl.load(lse_ptr + head + m)[:, None] * LOG2E
    delta = tl.load(delta_ptr + head + m)[:, None]
    dq = tl.zeros((BM, D), tl.float32)
    for start in tl.range(0, (tile + 1) * BM, BN):
        n = start + tl.arange(0, BN)
        kt = tl.load(k_ptr + kv + n[None, :] * D + d[:, None])
        vt = tl.load(v_ptr + kv + n[None, :] * D + d[:, None])
        p = tl.exp2(tl.dot(q, kt) * (scale * LOG2E) - lse)
        p = tl.where(m[:, None] >= n[None, :], p, 0.0)
        ds = p * (tl.dot(do, vt) - delta)
        dq += tl.dot(ds.to(kt.dtype), tl.trans(kt))
    tl.store(dq_ptr + head * D + m[:, None] * D + d[None, :], (dq * scale).to(dq_ptr.dtype.element_ty))


def backward_case(dq_only, B, S, H, HK, D, BM, BN):
    q, do = rand(B, H, S, D, dtype=BF16), rand(B, H, S, D, dtype=BF16)
    k, v = rand(B, HK, S, D, dtype=BF16), rand(B, HK, S, D, dtype=BF16)
    delta, scale, group = rand(B, H, S, scale=0.1), 1 / math.sqrt(D), H // HK
    lse = (torch.log(torch.arange(1, S + 1, device=DEVICE).float()) + 0.5).expand(B, H, S).contiguous()

    def reference():
        dq, dk, dv = (torch.zeros_like(x, dtype=torch.float32) for x in (q, k, v))
        for b in range(B):
            for h in range(H):
                x, y, key, value = q[b, h].float(), do[b, h].float(), k[b, h // group].float(), v[b, h // group].float()
                p = torch.exp(x @ key.T * scale - lse[b, h, :, None]).tril()
                ds = p * (y @ value.T - delta[b, h, :, None]) * scale
                dq[b, h] = ds @ key
                dk[b, h // group] += ds.T @ x
                dv[b, h // group] += p.T @ y
        return (dq,) if dq_only else (dk, dv)

    options = dict(num_warps=8, num_stages=2)
    shape = dict(GROUP=group, D=D, BM=BM, BN=BN)
    if dq_only:
        dq = empty(B, H, S, D, dtype=BF16)
        return Case(backward_dq, (S // BM, B * H), (q, k, v, do, lse, delta, dq, S, scale), shape, (dq,), reference, options=options,
                    flops=3 * B * H * S * S * D)
    dk, dv = empty(B, HK, S, D, dtype=BF16), empty(B, HK, S, D, dtype=BF16)
    return Case(backward_dkv, (S // BN, B * HK), (q, k, v, do, lse, delta, dk, dv, S, scale), shape, (dk, dv), reference,
                options=options, flops=4 * B * H * S * S * D)


@case
def lm_attn_bwd_dkv(B=2, S=2048, H=32, HK=8, D=128):
    return backward_case(False, B, S, H, HK, D, 64, 128)


@case
def lm_attn_bwd_dq(B=2, S=2048, H=32, HK=8, D=128):
    return backward_case(True, B, S, H, HK, D, 128, 64)
