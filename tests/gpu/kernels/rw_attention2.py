# SPDX-License-Identifier: Apache-2.0
"""Attention in the manner of published packages: latents, indexes, caches of few bits, gates, packed inputs."""
import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, randint, registry, tensor, uniform
from rw_attention import attend, below

CASES, case = registry()
F16, BF16, F8 = torch.float16, torch.bfloat16, torch.float8_e4m3fn
LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def sparse_latents(Q, Latent, Scales, Rope, indices, Out, scale, H, TOP: tl.constexpr, DL: tl.constexpr, DR: tl.constexpr, BH: tl.constexpr,
                   BN: tl.constexpr):
    """A token's heads see TOP listed latents: fp8 with a scale for each 128, and a part with positions in bf16; -1 names none."""
    t, h = tl.program_id(0), tl.program_id(1) * BH + tl.arange(0, BH)
    dl, dr, n = tl.arange(0, DL), tl.arange(0, DR), tl.arange(0, BN)
    q_at = Q + (t * H + h).to(tl.int64)[:, None] * (DL + DR)
    q, q_rope = tl.load(q_at + dl[None, :]), tl.load(q_at + DL + dr[None, :])
    m_i, l_i = tl.full([BH], -1.0e30, tl.float32), tl.zeros([BH], tl.float32)
    acc = tl.zeros([BH, DL], tl.float32)
    for start in tl.range(0, TOP, BN, num_stages=1):
        place = tl.load(indices + t * TOP + start + n).to(tl.int64)
        some = place >= 0
        latent = tl.load(Latent + place[:, None] * DL + dl[None, :], mask=some[:, None], other=0.0).to(tl.float32)
        factor = tl.load(Scales + place[:, None] * (DL // 128) + dl[None, :] // 128, mask=some[:, None], other=0.0)
        c = (latent * factor).to(q.dtype)
        rope = tl.load(Rope + place[None, :] * DR + dr[:, None], mask=some[None, :], other=0.0)
        s = tl.dot(q_rope, rope, tl.dot(q, tl.trans(c))) * (scale * LOG2E)
        s = tl.where(some[None, :], s, float("-inf"))
        new = tl.maximum(m_i, tl.max(s, 1))
        p, alpha = tl.math.exp2(s - new[:, None]), tl.math.exp2(m_i - new)
        acc = tl.dot(p.to(q.dtype), c, acc * alpha[:, None])
        l_i, m_i = l_i * alpha + tl.sum(p, 1), new
    tl.store(Out + (t * H + h).to(tl.int64)[:, None] * DL + dl[None, :], (acc / l_i[:, None]).to(Out.dtype.element_ty))


@case
def rw_sparse_latents_fp8(T=150, H=128, tokens=9000, top=1024, BH=64):
    q, latent, rope = rand(T, H, 576, dtype=BF16), rand(tokens, 512, dtype=F8), rand(tokens, 64, dtype=BF16)
    scales, o = uniform(tokens, 4, low=0.3, high=1.2), empty(T, H, 512, dtype=BF16)
    indices = uniform(T, tokens).argsort(1)[:, :top].to(torch.int32)
    indices = torch.where(torch.arange(top, device=DEVICE) < top - 40, indices, -1)

    def reference():
        whole = (latent.float().view(tokens, 4, 128) * scales[:, :, None]).view(tokens, 512).to(BF16).float()
        out = torch.empty(o.shape, device=DEVICE)
        for t in range(T):
            mine = indices[t, :top - 40].long()
            out[t] = attend(q[t], torch.cat((whole[mine], rope[mine].float()), 1), whole[mine], 576**-0.5)
        return (out,)

    return Case(sparse_latents, (T, H // BH), (q, latent, scales, rope, indices, o, 576**-0.5, H), dict(TOP=top, DL=512, DR=64, BH=BH, BN=32), (o,),
                reference, rtol=2e-2, options=dict(num_warps=8, num_stages=1), flops=2 * T * H * top * (576 + 512))


@triton.jit
def indexer_logits(Q, K, K_scale, W, starts, ends, Out, S, H: tl.constexpr, D: tl.constexpr, BN: tl.constexpr):
    """Logits of an indexer: of each query's H fp8 heads, the rectified scores by weights; keys outside a row's range give zero."""
    t = tl.program_id(0)
    h, d, n = tl.arange(0, H), tl.arange(0, D), tl.arange(0, BN)
    low, high = tl.load(starts + t), tl.load(ends + t)
    q = tl.load(Q + (t * H + h)[:, None] * D + d[None, :])
    w = tl.load(W + t * H + h)
    for block in tl.range(tl.program_id(1), tl.cdiv(S, BN), tl.num_programs(1), num_stages=4):
        keys = block * BN + n
        y = tl.zeros([BN], tl.float32)
        if (block * BN < high) & (block * BN + BN > low):
            k = tl.load(K + keys[None, :] * D + d[:, None], mask=(keys < S)[None, :], other=0.0)
            s = tl.maximum(tl.dot(q, k), 0.0) * w[:, None]
            y = tl.sum(s, 0) * tl.load(K_scale + keys, mask=keys < S, other=0.0)
            y = tl.where((keys >= low) & (keys < high), y, 0.0)
        tl.store(Out + t.to(tl.int64) * S + keys, y, mask=keys < S)


@case
def rw_indexer_logits(T=700, S=6001, H=64, D=128):
    q, k, k_scale, w, o = rand(T, H, D, dtype=F8), rand(S, D, dtype=F8), uniform(S, low=0.5), rand(T, H), empty(T, S)
    starts = randint(0, S // 3, T)
    ends = torch.minimum(starts + randint(S // 3, S, T), torch.full_like(starts, S))

    def reference():
        out, place = torch.empty(T, S, device=DEVICE), torch.arange(S, device=DEVICE)
        for t in range(0, T, 50):
            s = torch.relu(q[t:t + 50].float() @ k.float().T)
            out[t:t + 50] = (s * w[t:t + 50, :, None]).sum(1) * k_scale
        return (out * ((place >= starts[:, None]) & (place < ends[:, None])),)

    return Case(indexer_logits, (T, 2), (q, k, k_scale, w, starts, ends, o, S), dict(H=H, D=D, BN=128), (o,), reference,
                options=dict(num_warps=4, num_stages=4), flops=2 * T * S * H * D)


@triton.jit
def decode_nibbles(Q, K, K_meta, V, V_meta, lengths, Out, LSE, scale, capacity, HK, SPLITS, G: tl.constexpr, GP: tl.constexpr, D: tl.constexpr,
                   BN: tl.constexpr):
    """Split decoding over a cache of 4 bits: low nibbles hold the first half of a head; a token has a scale and a least value."""
    seq, kv, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    g, d, half = tl.arange(0, GP), tl.arange(0, D // 2), D // 2
    row = (seq * HK + kv) * G + g
    q_lo = tl.load(Q + row[:, None] * D + d[None, :], mask=(g < G)[:, None], other=0.0)
    q_hi = tl.load(Q + row[:, None] * D + half + d[None, :], mask=(g < G)[:, None], other=0.0)
    length = tl.load(lengths + seq)
    share = tl.cdiv(tl.cdiv(length, SPLITS), BN) * BN
    first, last = split * share, tl.minimum(split * share + share, length)
    m_i, l_i = tl.full([GP], -1.0e30, tl.float32), tl.zeros([GP], tl.float32)
    acc_lo, acc_hi = tl.zeros([GP, D // 2], tl.float32), tl.zeros([GP, D // 2], tl.float32)
    for start in range(first, last, BN):
        n = start + tl.arange(0, BN)
        some = n < last
        token = (seq.to(tl.int64) * capacity + n) * HK + kv
        k = tl.load(K + token[None, :] * half + d[:, None], mask=some[None, :], other=0)
        k_scale, k_least = tl.load(K_meta + token * 2, mask=some, other=0.0), tl.load(K_meta + token * 2 + 1, mask=some, other=0.0)
        k_lo = ((k & 0xF).to(tl.float16) * k_scale[None, :] + k_least[None, :])
        k_hi = ((k >> 4).to(tl.float16) * k_scale[None, :] + k_least[None, :])
        s = (tl.dot(q_lo, k_lo) + tl.dot(q_hi, k_hi)) * (scale * LOG2E)
        s = tl.where(some[None, :], s, float("-inf"))
        new = tl.maximum(m_i, tl.max(s, 1))
        p, alpha = tl.math.exp2(s - new[:, None]), tl.math.exp2(m_i - new)
        v = tl.load(V + token[:, None] * half + d[None, :], mask=some[:, None], other=0)
        v_scale, v_least = tl.load(V_meta + token * 2, mask=some, other=0.0), tl.load(V_meta + token * 2 + 1, mask=some, other=0.0)
        p_half = p.to(tl.float16)
        acc_lo = acc_lo * alpha[:, None] + tl.dot(p_half, (v & 0xF).to(tl.float16) * v_scale[:, None] + v_least[:, None])
        acc_hi = acc_hi * alpha[:, None] + tl.dot(p_half, (v >> 4).to(tl.float16) * v_scale[:, None] + v_least[:, None])
        l_i, m_i = l_i * alpha + tl.sum(p, 1), new
    some = l_i > 0
    total = tl.where(some, l_i, 1.0)
    to = row * SPLITS + split
    tl.store(Out + to[:, None] * D + d[None, :], acc_lo / total[:, None], mask=(g < G)[:, None])
    tl.store(Out + to[:, None] * D + half + d[None, :], acc_hi / total[:, None], mask=(g < G)[:, None])
    tl.store(LSE + to, tl.where(some, m_i + tl.math.log2(total), -100.0), mask=g < G)


@case
def rw_decode_nibbles(lengths=(6000, 5000, 4321, 7000, 30, 3000, 6999, 1), capacity=7000, HK=8, G=7, D=128, splits=6):
    seqs = len(lengths)
    q, o, lse = rand(seqs, HK * G, D, dtype=F16), empty(seqs, HK * G, splits, D), empty(seqs, HK * G, splits)
    cache = randint(0, 256, 2, seqs, capacity, HK, D // 2, dtype=torch.uint8)
    meta = torch.stack((uniform(2, seqs, capacity, HK, low=0.1, high=0.2), uniform(2, seqs, capacity, HK, low=-1.5, high=-0.7)), 4).to(F16)

    def reference():
        out, log = torch.zeros(o.shape, device=DEVICE), torch.full(lse.shape, -100.0, device=DEVICE)
        for i, length in enumerate(lengths):
            nibbles = torch.cat((cache[:, i] & 15, cache[:, i] >> 4), 3).float()
            whole = nibbles * meta[:, i, :, :, :1].float() + meta[:, i, :, :, 1:].float()
            share = triton.cdiv(triton.cdiv(length, splits), 64) * 64
            for j in range(splits):
                here = slice(j * share, min(length, (j + 1) * share))
                if j * share < length:
                    k, v = (x[here].transpose(0, 1) for x in whole)
                    s = q[i].float().view(HK, G, D) @ k.transpose(1, 2) * D**-0.5
                    out[i, :, j], log[i, :, j] = (torch.softmax(s, 2) @ v).view(-1, D), torch.logsumexp(s, 2).view(-1) * LOG2E.value
        return out, log

    return Case(decode_nibbles, (seqs, HK, splits),
                (q, cache[0], meta[0], cache[1], meta[1], tensor(lengths, torch.int32), o, lse, D**-0.5, capacity, HK, splits),
                dict(G=G, GP=16, D=D, BN=64), (o, lse), reference, options=dict(num_warps=4, num_stages=2), bytes=sum(lengths) * HK * (D + 8))


@triton.jit
def softplus(x):
    return tl.where(x > 15.0, x, tl.log(1.0 + tl.exp(x)))


@triton.jit
def stick_breaking(Q, K, V, Out, Rest, sm_scale, T, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Each key, from the nearest back, breaks off its part of what is left of a stick; Rest is the logarithm of what remains."""
    block, h = tl.num_programs(0) - 1 - tl.program_id(0), tl.program_id(1)
    base = h.to(tl.int64) * T * D
    m, d = block * BM + tl.arange(0, BM), tl.arange(0, D)
    q = tl.load(Q + base + m[:, None] * D + d[None, :], mask=(m < T)[:, None], other=0.0)
    left = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    start = (tl.cdiv(tl.minimum(block * BM + BM, T), BN) - 1) * BN
    while start >= 0:
        n = start + tl.arange(0, BN)
        k = tl.load(K + base + n[None, :] * D + d[:, None], mask=(n < T)[None, :], other=0.0)
        z = tl.dot(q, k) * sm_scale
        before = n[None, :] < m[:, None]
        kept = tl.where(before, -softplus(z), 0.0)
        log_p = z + tl.cumsum(kept, axis=1, reverse=True) + left[:, None]
        p = tl.where(before, tl.exp(log_p), 0.0)
        v = tl.load(V + base + n[:, None] * D + d[None, :], mask=(n < T)[:, None], other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc)
        left += tl.sum(kept, 1)
        start -= BN
    tl.store(Out + base + m[:, None] * D + d[None, :], acc.to(Out.dtype.element_ty), mask=(m < T)[:, None])
    tl.store(Rest + h * T + m, left, mask=m < T)


@case
def rw_stick_breaking(heads=16, T=2000, D=64):
    q, k, v = (rand(heads, T, D, dtype=BF16) for _ in range(3))
    o, rest = empty(heads, T, D, dtype=BF16), empty(heads, T)

    def reference():
        out, remain, before = torch.empty(o.shape, device=DEVICE), torch.empty(rest.shape, device=DEVICE), below(T, T, -1)
        for h in range(heads):
            z = q[h].float() @ k[h].float().T * D**-0.5
            kept = (-torch.nn.functional.softplus(z)).masked_fill(~before, 0.0).double()
            p = torch.exp(z + kept.flip(1).cumsum(1).flip(1).float()).masked_fill(~before, 0.0)
            out[h], remain[h] = p @ v[h].float(), kept.sum(1)
        return out, remain

    return Case(stick_breaking, (triton.cdiv(T, 64), heads), (q, k, v, o, rest, D**-0.5, T), dict(D=D, BM=64, BN=32), (o, rest), reference, rtol=2e-2,
                options=dict(num_warps=4, num_stages=2), flops=2 * heads * T * T * D)


@triton.jit
def forgetting(Q, K, V, Log_gates, Out, sm_scale, stride_t, T, H, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Causal attention whose scores fall by the sum of the gates' logarithms between a key and a query, which is given as running sums."""
    block, h = tl.program_id(0), tl.program_id(1)
    m, n, d = block * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    at = m[:, None] * stride_t + h * D + d[None, :]
    q = tl.load(Q + at, mask=(m < T)[:, None], other=0.0)
    gate_m = tl.load(Log_gates + m * H + h, mask=m < T, other=0.0)
    m_i, l_i = tl.full([BM], -1.0e30, tl.float32), tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for start in tl.range(0, tl.minimum(block * BM + BM, T), BN, num_stages=3):
        keys = start + n
        k = tl.load(K + keys[None, :] * stride_t + h * D + d[:, None], mask=(keys < T)[None, :], other=0.0)
        gate_n = tl.load(Log_gates + keys * H + h, mask=keys < T, other=0.0)
        s = tl.dot(q, k) * sm_scale + (gate_m[:, None] - gate_n[None, :])
        s = tl.where(m[:, None] >= keys[None, :], s * LOG2E, float("-inf"))
        new = tl.maximum(m_i, tl.max(s, 1))
        p, alpha = tl.math.exp2(s - new[:, None]), tl.math.exp2(m_i - new)
        v = tl.load(V + keys[:, None] * stride_t + h * D + d[None, :], mask=(keys < T)[:, None], other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        l_i, m_i = l_i * alpha + tl.sum(p, 1), new
    tl.store(Out + at, (acc / l_i[:, None]).to(Out.dtype.element_ty), mask=(m < T)[:, None])


@case
def rw_forgetting_d64(T=3700, H=20, D=64):
    q, k, v, o = rand(T, H, D, dtype=F16), rand(T, H, D, dtype=F16), rand(T, H, D, dtype=F16), empty(T, H, D, dtype=F16)
    gates = torch.nn.functional.logsigmoid(rand(T, H) + 4.0).cumsum(0)

    def reference():
        out = torch.empty(o.shape, device=DEVICE)
        for h in range(H):
            out[:, h] = attend(q[:, h], k[:, h], v[:, h], D**-0.5, below(T, T), gates[:, h, None] - gates[:, h])
        return (out,)

    return Case(forgetting, (triton.cdiv(T, 128), H), (q, k, v, gates, o, D**-0.5, H * D, T, H), dict(D=D, BM=128, BN=64), (o,), reference,
                options=dict(num_warps=8, num_stages=3), flops=2 * T * T * H * D)


@triton.jit
def encoder_packed(QKV, lengths, Out, sm_scale, T, H, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """An encoder's attention of (batch, T, 3, H, D) with a length for each of the batch; rows past it give zeros."""
    block, h, b = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    length = tl.load(lengths + b)
    m, n, d = block * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    out = Out + ((b * T + m)[:, None] * H + h) * D + d[None, :]
    if block * BM >= length:
        tl.store(out, tl.zeros([BM, D], Out.dtype.element_ty), mask=(m < T)[:, None])
        return
    QKV += b.to(tl.int64) * T * 3 * H * D + h * D
    row: tl.constexpr = 3
    q = tl.load(QKV + m[:, None] * row * H * D + d[None, :], mask=(m < length)[:, None], other=0.0)
    m_i, l_i = tl.full([BM], -1.0e30, tl.float32), tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for start in range(0, length, BN):
        keys = start + n
        k = tl.load(QKV + (keys[None, :] * row + 1) * H * D + d[:, None], mask=(keys < length)[None, :], other=0.0)
        s = tl.where((keys < length)[None, :], tl.dot(q, k) * (sm_scale * LOG2E), float("-inf"))
        new = tl.maximum(m_i, tl.max(s, 1))
        p, alpha = tl.math.exp2(s - new[:, None]), tl.math.exp2(m_i - new)
        v = tl.load(QKV + (keys[:, None] * row + 2) * H * D + d[None, :], mask=(keys < length)[:, None], other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        l_i, m_i = l_i * alpha + tl.sum(p, 1), new
    acc = tl.where((m < length)[:, None], acc / l_i[:, None], 0.0)
    tl.store(out, acc.to(Out.dtype.element_ty), mask=(m < T)[:, None])


@case
def rw_encoder_packed_qkv(lengths=(512, 384, 77, 500, 211, 450, 129, 512, 300, 511, 64, 400) * 4, T=512, H=12, D=64):
    qkv, o = rand(len(lengths), T, 3, H, D, dtype=F16), empty(len(lengths), T, H, D, dtype=F16)

    def reference():
        out = torch.zeros(o.shape, device=DEVICE)
        for b, length in enumerate(lengths):
            q, k, v = (qkv[b, :length, i].float().transpose(0, 1) for i in range(3))
            out[b, :length] = (torch.softmax(q @ k.transpose(1, 2) * D**-0.5, 2) @ v).transpose(0, 1)
        return (out,)

    return Case(encoder_packed, (triton.cdiv(T, 64), H, len(lengths)), (qkv, tensor(lengths, torch.int32), o, D**-0.5, T, H),
                dict(D=D, BM=64, BN=64), (o,), reference, options=dict(num_warps=2, num_stages=3), flops=4 * sum(x * x for x in lengths) * H * D)
