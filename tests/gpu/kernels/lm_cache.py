# SPDX-License-Identifier: Apache-2.0
"""Serving: what reads and writes paged caches of keys and values, and attention of decoding."""
import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, randint, registry, tensor, uniform, zeros

CASES, case = registry()
BF16, F8 = torch.bfloat16, torch.float8_e4m3fn


@triton.jit
def decode_split(q_ptr, kv_ptr, table_ptr, lens_ptr, part_ptr, lse_ptr, scale, k_scale, v_scale, stride_q, stride_page, stride_table,
                 HK: tl.constexpr, GROUP: tl.constexpr, GROUP_PAD: tl.constexpr, D: tl.constexpr, PAGE: tl.constexpr, BN: tl.constexpr,
                 SPLITS: tl.constexpr):
    """A sequence, a head of keys and a share of the sequence for each program; cache [page, 2, PAGE, HK, D], fp8 or bf16."""
    seq, head, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    length = tl.load(lens_ptr + seq)
    share = tl.cdiv(tl.cdiv(length, SPLITS), BN) * BN
    first = split * share
    last = tl.minimum(first + share, length)
    g, d = tl.arange(0, GROUP_PAD), tl.arange(0, D)
    live = g < GROUP
    row = seq * HK * GROUP + head * GROUP + g
    q = tl.load(q_ptr + seq.to(tl.int64) * stride_q + (head * GROUP + g)[:, None] * D + d[None, :], mask=live[:, None], other=0.0)
    top = tl.full((GROUP_PAD,), float("-inf"), tl.float32)
    total = tl.zeros((GROUP_PAD,), tl.float32)
    acc = tl.zeros((GROUP_PAD, D), tl.float32)
    for start in range(first, last, BN):
        n = start + tl.arange(0, BN)
        ok = n < last
        page = tl.load(table_ptr + seq * stride_table + n // PAGE, mask=ok, other=0).to(tl.int64)
        at = page * stride_page + (n % PAGE) * (HK * D) + head * D
        k = tl.load(kv_ptr + at[None, :] + d[:, None], mask=ok[None, :], other=0.0)
        s = tl.dot(q, k.to(q.dtype)) * (scale * k_scale * 1.4426950408889634)
        s = tl.where(ok[None, :], s, float("-inf"))
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        alpha = tl.exp2(top - new)
        v = tl.load(kv_ptr + at[:, None] + PAGE * HK * D + d[None, :], mask=ok[:, None], other=0.0)
        acc = acc * alpha[:, None] + tl.dot(p.to(q.dtype), v.to(q.dtype))
        total = total * alpha + tl.sum(p, 1)
        top = new
    safe = tl.where(total > 0, total, 1.0)
    lse = tl.where(total > 0, (top + tl.log2(safe)) * 0.6931471805599453, -1e30)
    part = (row * SPLITS + split).to(tl.int64)
    tl.store(part_ptr + part[:, None] * D + d[None, :], acc * v_scale / safe[:, None], mask=live[:, None])
    tl.store(lse_ptr + part, lse, mask=live)


def decode_case(B, H, HK, D, longest, dtype, splits, bn, warps, page=16):
    pages = triton.cdiv(longest, page)
    q, kv = rand(B, H, D, dtype=BF16), rand(B * pages, 2, page, HK, D, dtype=dtype)
    table = torch.argsort(torch.rand(B * pages, device=DEVICE)).to(torch.int32).view(B, pages)
    lens = randint(longest // 2, longest + 1, B)
    part, lse = empty(B, H, splits, D), empty(B, H, splits)
    k_scale, v_scale, group, scale = 0.9, 1.2, H // HK, D ** -0.5

    def reference():
        out, sums = torch.zeros(B, H, splits, D, device=DEVICE), torch.full((B, H, splits), -1e30, device=DEVICE)
        for b, length in enumerate(lens.tolist()):
            x = kv[table[b].long()].float()  # pages, 2, page, HK, D
            k, v = (x[:, i].reshape(-1, HK, D)[:length].repeat_interleave(group, 1) for i in range(2))
            s = torch.einsum("hd,nhd->hn", q[b].float(), k) * scale * k_scale
            share = triton.cdiv(triton.cdiv(length, splits), bn) * bn
            for i in range(splits):
                if i * share < length:
                    piece = slice(i * share, (i + 1) * share)
                    sums[b, :, i] = torch.logsumexp(s[:, piece], 1)
                    out[b, :, i] = torch.einsum("hn,nhd->hd", torch.softmax(s[:, piece], 1), v[piece]) * v_scale
        return out, sums

    return Case(decode_split, (B, HK, splits),
                (q, kv, table, lens, part, lse, scale, k_scale, v_scale, H * D, 2 * page * HK * D, pages),
                dict(HK=HK, GROUP=group, GROUP_PAD=max(16, triton.next_power_of_2(group)), D=D, PAGE=page, BN=bn, SPLITS=splits), (part, lse),
                reference, options=dict(num_warps=warps, num_stages=3), bytes=kv.numel() * kv.element_size() * 0.75)


@case
def lm_decode_paged(B=64, H=32, HK=8, D=128, longest=4096):
    return decode_case(B, H, HK, D, longest, BF16, 4, 64, 4)


@case
def lm_decode_paged_fp8(B=32, H=64, HK=8, D=128, longest=16384):
    return decode_case(B, H, HK, D, longest, F8, 8, 64, 4, page=32)


@triton.jit
def combine_splits(part_ptr, lse_ptr, out_ptr, rows, SPLITS: tl.constexpr, D: tl.constexpr, ROWS: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    s, d = tl.arange(0, SPLITS), tl.arange(0, D)
    ok = r < rows
    lse = tl.load(lse_ptr + r[:, None] * SPLITS + s[None, :], mask=ok[:, None], other=0.0)
    w = tl.exp(lse - tl.max(lse, axis=1, keep_dims=True))
    w = w / tl.sum(w, axis=1, keep_dims=True)
    at = (r.to(tl.int64)[:, None, None] * SPLITS + s[None, :, None]) * D + d[None, None, :]
    parts = tl.load(part_ptr + at, mask=ok[:, None, None], other=0.0)
    out = tl.sum(parts * w[:, :, None], axis=1)
    tl.store(out_ptr + r.to(tl.int64)[:, None] * D + d[None, :], out.to(out_ptr.dtype.element_ty), mask=ok[:, None])


@case
def lm_decode_combine(rows=256 * 64, splits=16, D=128):
    part, lse, out = rand(rows, splits, D), rand(rows, splits), empty(rows, D, dtype=BF16)
    return Case(combine_splits, (triton.cdiv(rows, 2),), (part, lse, out, rows), dict(SPLITS=splits, D=D, ROWS=2), (out,),
                lambda: (torch.einsum("rs,rsd->rd", torch.softmax(lse, 1), part),), options=dict(num_warps=4), bytes=rows * splits * D * 4)


@triton.jit
def mla_decode(Q_nope, Q_rope, Latent, Indptr, Indices, Out, Lse, sm_scale, H: tl.constexpr, C: tl.constexpr, R: tl.constexpr,
               BLOCK_H: tl.constexpr, BLOCK_N: tl.constexpr, SPLITS: tl.constexpr):
    """One latent of C + R for all heads; the first C are the values too. Token indices by a ragged list."""
    b, hb, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    begin = tl.load(Indptr + b)
    length = tl.load(Indptr + b + 1) - begin
    per = tl.cdiv(length, SPLITS)
    lo = per * split
    hi = tl.minimum(lo + per, length)
    h = hb * BLOCK_H + tl.arange(0, BLOCK_H)
    c, r = tl.arange(0, C), tl.arange(0, R)
    qn = tl.load(Q_nope + (b * H + h)[:, None] * C + c[None, :])
    qr = tl.load(Q_rope + (b * H + h)[:, None] * R + r[None, :])
    m_i = tl.zeros([BLOCK_H], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_H], dtype=tl.float32)
    acc = tl.zeros([BLOCK_H, C], dtype=tl.float32)
    for start in range(lo, hi, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        loc = tl.load(Indices + begin + n, mask=n < hi, other=0).to(tl.int64) * (C + R)
        kv = tl.load(Latent + loc[:, None] + c[None, :], mask=(n < hi)[:, None], other=0.0)
        kr = tl.load(Latent + loc[None, :] + C + r[:, None], mask=(n < hi)[None, :], other=0.0)
        qk = tl.dot(qr, kr)
        qk = tl.dot(qn, tl.trans(kv), qk) * sm_scale
        qk = tl.where((n < hi)[None, :], qk, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(qk, 1))
        re = tl.exp(m_i - m_new)
        p = tl.exp(qk - m_new[:, None])
        acc = tl.dot(p.to(kv.dtype), kv, acc * re[:, None])
        l_i = l_i * re + tl.sum(p, 1)
        m_i = m_new
    o = (b * H + h) * SPLITS + split
    tl.store(Out + o[:, None].to(tl.int64) * C + c[None, :], acc / l_i[:, None])
    tl.store(Lse + o, m_i + tl.log(l_i))


@case
def lm_mla_decode(lengths=(4096, 1111, 8192, 2500, 3000, 4000, 512, 6000) * 8, H=16, C=512, R=64, splits=4):
    B, total = len(lengths), sum(lengths)
    indptr = tensor([sum(lengths[:i]) for i in range(B + 1)], torch.int32)
    indices = torch.argsort(torch.rand(total, device=DEVICE)).to(torch.int32)
    qn, qr, latent = rand(B, H, C, dtype=BF16), rand(B, H, R, dtype=BF16), rand(total, C + R, dtype=BF16)
    out, lse, scale = empty(B, H, splits, C), empty(B, H, splits), 192 ** -0.5

    def reference():
        outs, sums, at = torch.zeros(B, H, splits, C, device=DEVICE), torch.zeros(B, H, splits, device=DEVICE), 0
        for b, length in enumerate(lengths):
            x = latent[indices[at:at + length].long()].float()
            s = torch.cat((qn[b], qr[b]), 1).float() @ x.T * scale
            per = triton.cdiv(length, splits)
            for i in range(splits):
                piece = slice(i * per, (i + 1) * per)
                sums[b, :, i] = torch.logsumexp(s[:, piece], 1)
                outs[b, :, i] = torch.softmax(s[:, piece], 1) @ x[piece, :C]
            at += length
        return outs, sums

    return Case(mla_decode, (B, H // 16, splits), (qn, qr, latent, indptr, indices, out, lse, scale),
                dict(H=H, C=C, R=R, BLOCK_H=16, BLOCK_N=32, SPLITS=splits), (out, lse), reference, options=dict(num_warps=4, num_stages=2),
                bytes=total * (C + R) * 2)


@triton.jit
def prefix_tree(q_ptr, k_ptr, v_ptr, kc_ptr, vc_ptr, loc_ptr, mask_ptr, o_ptr, prefix, H, scale, T: tl.constexpr, GROUP: tl.constexpr,
                D: tl.constexpr, BN: tl.constexpr, HK: tl.constexpr):
    """T draft tokens of a tree: all of them see the prefix in the cache, and of each other what the mask says."""
    seq, h = tl.program_id(0).to(tl.int64), tl.program_id(1)
    t, d = tl.arange(0, T), tl.arange(0, D)
    q = tl.load(q_ptr + ((seq * T + t[:, None]) * H + h) * D + d[None, :])
    top = tl.full((T,), -1e30, tl.float32)
    total = tl.zeros((T,), tl.float32)
    acc = tl.zeros((T, D), tl.float32)
    for start in tl.range(0, prefix + T, BN, num_stages=3):
        n = start + tl.arange(0, BN)
        old = n < prefix
        new = (n >= prefix) & (n < prefix + T)
        loc = tl.load(loc_ptr + seq * prefix + n, mask=old, other=0).to(tl.int64)
        cached = (loc * HK + h // GROUP) * D
        fresh = ((seq * T + n - prefix) * HK + h // GROUP) * D
        k = tl.load(kc_ptr + cached[None, :] + d[:, None], mask=old[None, :], other=0.0)
        k += tl.load(k_ptr + fresh[None, :] + d[:, None], mask=new[None, :], other=0.0)
        see = tl.load(mask_ptr + (seq * T + t[:, None]) * T + n[None, :] - prefix, mask=new[None, :], other=0)
        s = tl.dot(q, k) * scale
        s = tl.where(old[None, :] | (see > 0), s, float("-inf"))
        most = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - most[:, None])
        alpha = tl.exp(top - most)
        v = tl.load(vc_ptr + cached[:, None] + d[None, :], mask=old[:, None], other=0.0)
        v += tl.load(v_ptr + fresh[:, None] + d[None, :], mask=new[:, None], other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        total = total * alpha + tl.sum(p, 1)
        top = most
    tl.store(o_ptr + ((seq * T + t[:, None]) * H + h) * D + d[None, :], (acc / total[:, None]).to(o_ptr.dtype.element_ty))


@case
def lm_prefix_tree(B=16, T=64, H=32, HK=8, D=128, prefix=2021):
    f16 = torch.float16
    q, o = rand(B, T, H, D, dtype=f16), empty(B, T, H, D, dtype=f16)
    k, v = rand(B, T, HK, D, dtype=f16), rand(B, T, HK, D, dtype=f16)
    kc, vc = rand(B * prefix, HK, D, dtype=f16), rand(B * prefix, HK, D, dtype=f16)
    loc = torch.argsort(torch.rand(B * prefix, device=DEVICE)).to(torch.int32)
    at = torch.arange(T, device=DEVICE)
    mask = ((torch.rand(B, T, T, device=DEVICE) < 0.3) & (at[:, None] > at) | (at[:, None] == at)).to(torch.int8)

    def reference():
        outs = []
        for b in range(B):
            mine = loc[b * prefix:(b + 1) * prefix].long()
            keys, values = (torch.cat((x[mine], y[b])).float().repeat_interleave(H // HK, 1) for x, y in ((kc, k), (vc, v)))
            s = torch.einsum("thd,nhd->htn", q[b].float(), keys) * D ** -0.5
            s[:, :, prefix:].masked_fill_(mask[b] == 0, float("-inf"))
            outs.append(torch.einsum("htn,nhd->thd", torch.softmax(s, 2), values))
        return (torch.stack(outs),)

    return Case(prefix_tree, (B, H), (q, k, v, kc, vc, loc, mask, o, prefix, H, D ** -0.5), dict(T=T, GROUP=H // HK, D=D, BN=64, HK=HK), (o,),
                reference, options=dict(num_warps=4, num_stages=3), flops=4 * B * H * T * (prefix + T) * D)


@triton.jit
def norm_rope(ptr, w, cos, sin, live, eps, HALF: tl.constexpr):
    d = tl.arange(0, HALF)
    a = tl.load(ptr + d[None, :], mask=live, other=0.0).to(tl.float32)
    b = tl.load(ptr + HALF + d[None, :], mask=live, other=0.0).to(tl.float32)
    r = tl.rsqrt((tl.sum(a * a, 1) + tl.sum(b * b, 1)) / (2 * HALF) + eps)[:, None]
    a = a * r * tl.load(w + d).to(tl.float32)[None, :]
    b = b * r * tl.load(w + HALF + d).to(tl.float32)[None, :]
    return a * cos - b * sin, b * cos + a * sin


@triton.jit
def qk_norm_rope_cache(qkv_ptr, qw_ptr, kw_ptr, cos_ptr, sin_ptr, pos_ptr, slot_ptr, q_ptr, kc_ptr, vc_ptr, k_scale, v_scale, eps,
                       H: tl.constexpr, HK: tl.constexpr, H_PAD: tl.constexpr, HK_PAD: tl.constexpr, HALF: tl.constexpr):
    """Of a token's qkv: normalizes and turns q and k, writes q in bf16 and k and v to the token's slot of the fp8 cache."""
    t = tl.program_id(0).to(tl.int64)
    D: tl.constexpr = 2 * HALF
    d = tl.arange(0, HALF)
    pos = tl.load(pos_ptr + t)
    slot = tl.load(slot_ptr + t).to(tl.int64)
    cos = tl.load(cos_ptr + pos * HALF + d)[None, :]
    sin = tl.load(sin_ptr + pos * HALF + d)[None, :]
    base = qkv_ptr + t * ((H + 2 * HK) * D)
    h = tl.arange(0, H_PAD)[:, None]
    a, b = norm_rope(base + h * D, qw_ptr, cos, sin, h < H, eps, HALF)
    q = q_ptr + t * (H * D) + h * D + d[None, :]
    tl.store(q, a.to(q_ptr.dtype.element_ty), mask=h < H)
    tl.store(q + HALF, b.to(q_ptr.dtype.element_ty), mask=h < H)
    g = tl.arange(0, HK_PAD)[:, None]
    a, b = norm_rope(base + (H + g) * D, kw_ptr, cos, sin, g < HK, eps, HALF)
    k = kc_ptr + slot * (HK * D) + g * D + d[None, :]
    tl.store(k, tl.clamp(a / k_scale, -448.0, 448.0).to(kc_ptr.dtype.element_ty), mask=g < HK)
    tl.store(k + HALF, tl.clamp(b / k_scale, -448.0, 448.0).to(kc_ptr.dtype.element_ty), mask=g < HK)
    e = tl.arange(0, D)[None, :]
    v = tl.load(base + (H + HK + g) * D + e, mask=g < HK, other=0.0).to(tl.float32)
    tl.store(vc_ptr + slot * (HK * D) + g * D + e, tl.clamp(v / v_scale, -448.0, 448.0).to(vc_ptr.dtype.element_ty), mask=g < HK)


@case
def lm_qk_norm_rope_cache_fp8(tokens=16384, H=32, HK=4, D=128, longest=8192):
    qkv, qw, kw = rand(tokens, H + 2 * HK, D, dtype=BF16), uniform(D, low=0.5, high=1.5, dtype=BF16), uniform(D, low=0.5, high=1.5, dtype=BF16)
    angles = torch.arange(longest, device=DEVICE)[:, None] * 1e6 ** (-torch.arange(D // 2, device=DEVICE) / (D // 2))
    cos, sin, pos = torch.cos(angles), torch.sin(angles), randint(0, longest, tokens)
    slot = torch.argsort(torch.rand(tokens, device=DEVICE)).to(torch.int32)
    q, kc, vc = empty(tokens, H, D, dtype=BF16), empty(tokens, HK, D, dtype=F8), empty(tokens, HK, D, dtype=F8)

    def turned(x, w):
        x = x.float() * torch.rsqrt(x.float().square().mean(2, keepdim=True) + 1e-6) * w.float()
        (a, b), c, s = x.chunk(2, 2), cos[pos.long()][:, None], sin[pos.long()][:, None]
        return torch.cat((a * c - b * s, b * c + a * s), 2)

    def reference():
        keys, values = torch.empty(tokens, HK, D, device=DEVICE), torch.empty(tokens, HK, D, device=DEVICE)
        keys[slot.long()] = turned(qkv[:, H:H + HK], kw) / 0.05
        values[slot.long()] = qkv[:, H + HK:].float() / 0.02
        return turned(qkv[:, :H], qw), keys, values

    return Case(qk_norm_rope_cache, (tokens,), (qkv, qw, kw, cos, sin, pos, slot, q, kc, vc, 0.05, 0.02, 1e-6),
                dict(H=H, HK=HK, H_PAD=triton.next_power_of_2(H), HK_PAD=triton.next_power_of_2(HK), HALF=D // 2), (q, kc, vc), reference,
                options=dict(num_warps=4), rtol=5e-2, bytes=tokens * (2 * H + 3 * HK) * D * 2)
