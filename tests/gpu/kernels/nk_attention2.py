# SPDX-License-Identifier: Apache-2.0
"""Attention in further forms, continued: lists of blocks, two widths of heads, biases of pairs, int8, retention, decoding by lanes."""
import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, randint, registry, uniform
from nk_attention import LOG2E, causal, dense, describe, online

CASES, case = registry()
F16 = torch.float16


@triton.jit
def listed_blocks(acc, total, top, query, k, v, ids, docs, m, m_doc, many, scale, D: tl.constexpr, BN: tl.constexpr, MASK: tl.constexpr):
    d = tl.arange(0, D)
    for i in range(many):
        n = tl.load(ids + i) * BN + tl.arange(0, BN)
        kt = tl.load(k + n[None, :] * D + d[:, None])
        s = tl.dot(query, kt) * scale
        if MASK:
            n_doc = tl.load(docs + n)
            s = tl.where((m[:, None] >= n[None, :]) & (m_doc[:, None] == n_doc[None, :]), s, -1.0e6)
        acc, total, top = online(acc, total, top, s, tl.load(v + n[:, None] * D + d[None, :]), tl.float16)
    return acc, total, top


@triton.jit
def document_attention(q, k, v, docs, full_count, full_ids, part_count, part_ids, o, scale, T, blocks, D: tl.constexpr, BM: tl.constexpr,
                       BN: tl.constexpr):
    """Causal within documents: lists of blocks to be masked and of blocks that need none."""
    row, head = tl.program_id(0), tl.program_id(1)
    m, d = row * BM + tl.arange(0, BM), tl.arange(0, D)
    k += head * T * D
    v += head * T * D
    at = head * T * D + m[:, None] * D + d[None, :]
    query = tl.load(q + at)
    top = tl.full((BM,), -1.0e30, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    m_doc = tl.load(docs + m)
    many = tl.load(part_count + row)
    acc, total, top = listed_blocks(acc, total, top, query, k, v, part_ids + row * blocks, docs, m, m_doc, many, scale * LOG2E, D, BN, True)
    many = tl.load(full_count + row)
    acc, total, top = listed_blocks(acc, total, top, query, k, v, full_ids + row * blocks, docs, m, m_doc, many, scale * LOG2E, D, BN, False)
    tl.store(o + at, (acc / total[:, None]).to(tl.float16))


@case
def nk_attn_documents(heads=32, T=4096, D=64, bm=128, bn=64, spread=4):
    q, k, v = (rand(heads, T, D, dtype=F16) for _ in range(3))
    o = empty(heads, T, D, dtype=F16)
    starts = torch.zeros(T, device=DEVICE)
    starts[torch.arange(1, spread + 1, device=DEVICE) * (T // (spread + 1)) - 37] = 1
    docs = starts.cumsum(0).to(torch.int32)
    allowed = causal(T) & (docs[:, None] == docs[None, :])
    some = allowed.view(T // bm, bm, T // bn, bn).sum((1, 3))

    def listed(which):
        return which.sum(1).to(torch.int32), torch.argsort(~which, dim=1, stable=True).to(torch.int32)
    full, part = listed(some == bm * bn), listed((some > 0) & (some < bm * bn))
    return Case(document_attention, (T // bm, heads), (q, k, v, docs, *full, *part, o, D**-0.5, T, T // bn), dict(D=D, BM=bm, BN=bn), (o,),
                lambda: (dense(q, k, v, D**-0.5, allowed),), options=dict(num_warps=4, num_stages=3))


@triton.jit
def mla_prefill(q, q_rope, k, k_rope, v, o, scale, T, NOPE: tl.constexpr, ROPE: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Scores of two products, 128 columns of each head's and 64 that all heads share; long rows of queries first."""
    row, head = tl.num_programs(0) - 1 - tl.program_id(0), tl.program_id(1)
    base = head * T
    m = row * BM + tl.arange(0, BM)
    query, query_rope = q.load([base + row * BM, 0]), q_rope.load([base + row * BM, 0])
    top = tl.full((BM,), -1.0e30, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, NOPE), tl.float32)
    for start in tl.range(0, (row + 1) * BM, BN, disallow_acc_multi_buffer=True):
        s = tl.dot(query, k.load([base + start, 0]).T)
        s = tl.dot(query_rope, k_rope.load([start, 0]).T, s) * (scale * LOG2E)
        if start + BN > row * BM:
            s = tl.where(m[:, None] >= (start + tl.arange(0, BN))[None, :], s, -1.0e6)
        acc, total, top = online(acc, total, top, s, v.load([base + start, 0]), v.dtype)
    o.store([base + row * BM, 0], (acc / total[:, None]).to(o.dtype))


@case
def nk_attn_mla_prefill(heads=32, T=2048):
    q, k, v = (rand(heads * T, 128, dtype=F16) for _ in range(3))
    q_rope, k_rope, o = rand(heads * T, 64, dtype=F16), rand(T, 64, dtype=F16), empty(heads * T, 128, dtype=F16)

    def reference():
        keys = torch.cat((k.view(heads, T, 128), k_rope.expand(heads, T, 64)), 2)
        queries = torch.cat((q, q_rope), 1).view(heads, T, 192)
        return (dense(queries, keys, v.view(heads, T, 128), 192**-0.5, causal(T)),)

    return Case(mla_prefill, (T // 128, heads), (describe(q, 128, 128), describe(q_rope, 128, 64), describe(k, 64, 128), describe(k_rope, 64, 64),
                describe(v, 64, 128), describe(o, 128, 128), 192**-0.5, T), dict(NOPE=128, ROPE=64, BM=128, BN=64), (o,), reference,
                options=dict(num_warps=8, num_stages=2), flops=heads * T * T * 320)


@triton.jit
def retention(q, k, v, o, T, DK: tl.constexpr, DV: tl.constexpr, BV: tl.constexpr, C: tl.constexpr):
    """Chunks in turn: the state is accumulator and operand of products, with a decay that each head has."""
    head = tl.program_id(1)
    dv = tl.program_id(0) * BV + tl.arange(0, BV)
    dk, i = tl.arange(0, DK), tl.arange(0, C)
    decay = tl.math.log2(1.0 - tl.math.exp2(-5.0 - (head % 8).to(tl.float32)))
    lower = tl.where(i[:, None] >= i[None, :], tl.math.exp2((i[:, None] - i[None, :]) * decay), 0.0)
    carried, left = tl.math.exp2((i + 1) * decay), tl.math.exp2((C - 1 - i) * decay)
    whole = tl.math.exp2(C * decay)
    state = tl.zeros((DK, BV), tl.float32)
    base = head.to(tl.int64) * T
    for start in tl.range(0, T, C, num_stages=2):
        t = base + start + i
        query = tl.load(q + t[:, None] * DK + dk[None, :])
        kt = tl.load(k + t[None, :] * DK + dk[:, None])
        value = tl.load(v + t[:, None] * DV + dv[None, :])
        s = tl.dot(query, kt) * lower
        out = tl.dot(s.to(tl.float16), value) + tl.dot(query, state.to(tl.float16)) * carried[:, None]
        state = state * whole + tl.dot((kt * left[None, :]).to(tl.float16), value)
        tl.store(o + t[:, None] * DV + dv[None, :], out.to(tl.float16))


@case
def nk_retention_chunks(heads=128, T=2048, DK=64, DV=128):
    q, k = rand(heads, T, DK, dtype=F16, scale=DK**-0.5), rand(heads, T, DK, dtype=F16)
    v, o = rand(heads, T, DV, dtype=F16), empty(heads, T, DV, dtype=F16)

    def reference():
        i = torch.arange(T, device=DEVICE).float()
        out = []
        for h in range(heads):
            gamma = 1 - 2.0**(-5 - h % 8)
            w = torch.where(i[:, None] >= i[None, :], gamma**(i[:, None] - i[None, :]).clamp_min(0), 0)
            out.append((q[h].float() @ k[h].float().T * w) @ v[h].float())
        return (torch.stack(out),)

    return Case(retention, (DV // 64, heads), (q, k, v, o, T), dict(DK=DK, DV=DV, BV=64, C=64), (o,), reference,
                options=dict(num_warps=4, num_stages=2))


@triton.jit
def pair_bias(q, k, v, bias, gate, o, heads, T, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Rows of a pair representation attend with a bias for each head, then a gate; 3-D descriptors, edges masked by them."""
    row, head, line = tl.program_id(0) * BM, tl.program_id(1), tl.program_id(2)
    at = line * heads + head
    query = q.load([at, row, 0]).reshape(BM, D)
    top = tl.full((BM,), -1.0e30, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in tl.range(0, T, BN, num_stages=3):
        kt = k.load([at, start, 0]).reshape(BN, D).T
        b = bias.load([head, row, start]).reshape(BM, BN).to(tl.float32)
        s = (tl.dot(query, kt) * scale + b) * LOG2E
        s = tl.where((start + tl.arange(0, BN))[None, :] < T, s, -1.0e30)
        acc, total, top = online(acc, total, top, s, v.load([at, start, 0]).reshape(BN, D), v.dtype)
    y = acc / total[:, None] * tl.sigmoid(gate.load([at, row, 0]).reshape(BM, D).to(tl.float32))
    o.store([at, row, 0], y.to(o.dtype).reshape(1, BM, D))


@case
def nk_attn_pair_bias(lines=328, heads=4, T=328, D=32):
    q, k, v, g = (rand(lines * heads, T, D, dtype=F16) for _ in range(4))
    bias, o = rand(heads, T, T, dtype=F16), empty(lines * heads, T, D, dtype=F16)

    def reference():
        q4, k4, v4 = (x.view(lines, heads, T, D).float() for x in (q, k, v))
        y = torch.nn.functional.scaled_dot_product_attention(q4, k4, v4, attn_mask=bias.float().expand(lines, heads, T, T))
        return (y.reshape(lines * heads, T, D) * torch.sigmoid(g.float()),)

    return Case(pair_bias, (triton.cdiv(T, 64), heads, lines), (describe(q, 1, 64, D), describe(k, 1, 64, D), describe(v, 1, 64, D),
                describe(bias, 1, 64, 64), describe(g, 1, 64, D), describe(o, 1, 64, D), heads, T, D**-0.5), dict(D=D, BM=64, BN=64), (o,), reference,
                options=dict(num_warps=4, num_stages=3))


@triton.jit
def decode_int8(q, k, v, k_scale, v_scale, o, T, scale, HK: tl.constexpr, G: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr):
    """A step of decoding over int8 keys and values with a scale for each token and head."""
    seq, kv = tl.program_id(0), tl.program_id(1)
    g, d = tl.arange(0, 16), tl.arange(0, D)
    base = (seq * HK + kv).to(tl.int64) * T
    head = ((seq * HK + kv) * G + g)[:, None] * D + d[None, :]
    query = tl.load(q + head, mask=(g < G)[:, None], other=0.0)
    top = tl.full((16,), -1.0e30, tl.float32)
    total = tl.zeros((16,), tl.float32)
    acc = tl.zeros((16, D), tl.float32)
    for start in tl.range(0, T, BLOCK, num_stages=4):
        t = base + start + tl.arange(0, BLOCK)
        kt = tl.load(k + t[None, :] * D + d[:, None]).to(tl.float16)
        s = tl.dot(query, kt) * (tl.load(k_scale + t) * (scale * LOG2E))[None, :]
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.math.exp2(s - new[:, None])
        alpha = tl.math.exp2(top - new)
        value = tl.load(v + t[:, None] * D + d[None, :]).to(tl.float16)
        acc = tl.dot((p * tl.load(v_scale + t)[None, :]).to(tl.float16), value, acc * alpha[:, None])
        total = total * alpha + tl.sum(p, 1)
        top = new
    tl.store(o + head, (acc / total[:, None]).to(tl.float16), mask=(g < G)[:, None])


@case
def nk_decode_int8_cache(B=64, HK=8, G=4, D=128, T=4096):
    q, o = rand(B, HK * G, D, dtype=F16), empty(B, HK * G, D, dtype=F16)
    k, v = randint(-127, 128, B, HK, T, D, dtype=torch.int8), randint(-127, 128, B, HK, T, D, dtype=torch.int8)
    k_scale, v_scale = uniform(B, HK, T, low=0.005, high=0.015), uniform(B, HK, T, low=0.005, high=0.015)

    def reference():
        rows = [dense(q[b].view(HK, G, D), k[b].float() * k_scale[b][:, :, None], v[b].float() * v_scale[b][:, :, None], D**-0.5) for b in range(B)]
        return (torch.stack(rows),)

    return Case(decode_int8, (B, HK), (q, k, v, k_scale, v_scale, o, T, D**-0.5), dict(HK=HK, G=G, D=D, BLOCK=64), (o,), reference,
                options=dict(num_warps=4), bytes=2 * B * HK * T * D)


@triton.jit
def decode_by_lanes(q, k, v, o, T, scale, D: tl.constexpr, BLOCK: tl.constexpr):
    """One query for each head, without matrix products."""
    head = tl.program_id(0).to(tl.int64)
    t, d = tl.arange(0, BLOCK), tl.arange(0, D)
    query = tl.load(q + head * D + d).to(tl.float32) * (scale * LOG2E)
    top, total = -1.0e30, 0.0
    acc = tl.zeros((D,), tl.float32)
    for start in tl.range(0, T, BLOCK, num_stages=3):
        at = (head * T + start + t)[:, None] * D + d[None, :]
        s = tl.sum(query[None, :] * tl.load(k + at).to(tl.float32), axis=1)
        new = tl.maximum(top, tl.max(s, axis=0))
        p = tl.math.exp2(s - new)
        alpha = tl.math.exp2(top - new)
        acc = acc * alpha + tl.sum(p[:, None] * tl.load(v + at).to(tl.float32), axis=0)
        total = total * alpha + tl.sum(p, axis=0)
        top = new
    tl.store(o + head * D + d, (acc / total).to(tl.float16))


@case
def nk_decode_by_lanes(heads=1056, T=1024, D=128):
    q, k, v, o = rand(heads, 1, D, dtype=F16), rand(heads, T, D, dtype=F16), rand(heads, T, D, dtype=F16), empty(heads, 1, D, dtype=F16)
    return Case(decode_by_lanes, (heads,), (q, k, v, o, T, D**-0.5), dict(D=D, BLOCK=32), (o,), lambda: (dense(q, k, v, D**-0.5),),
                options=dict(num_warps=4), bytes=4 * heads * T * D)


@triton.jit
def attention_received(q, k, lse, out, T, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """How much attention each key gets from all later queries, from the saved logs of sums."""
    col, head = tl.program_id(0), tl.program_id(1)
    n, d = col * BN + tl.arange(0, BN), tl.arange(0, D)
    kt = tl.load(k + head * T * D + n[None, :] * D + d[:, None])
    got = tl.zeros((BN,), tl.float32)
    for start in range(col * BN // BM * BM, T, BM):
        m = start + tl.arange(0, BM)
        s = tl.dot(tl.load(q + head * T * D + m[:, None] * D + d[None, :]), kt) * (scale * LOG2E)
        p = tl.math.exp2(s - tl.load(lse + head * T + m)[:, None])
        got += tl.sum(tl.where(m[:, None] >= n[None, :], p, 0.0), axis=0)
    tl.store(out + head * T + n, got)


@case
def nk_attn_received(heads=32, T=4096, D=128):
    q, k = rand(heads, T, D, dtype=F16), rand(heads, T, D, dtype=F16)
    lse, out = empty(heads, T), empty(heads, T)
    for h in range(heads):
        s = (q[h].float() @ k[h].float().T * D**-0.5).masked_fill(~causal(T), float("-inf"))
        lse[h] = torch.logsumexp(s, 1) * 1.4426950408889634

    def reference():
        rows = [torch.softmax((q[h].float() @ k[h].float().T * D**-0.5).masked_fill(~causal(T), float("-inf")), 1).sum(0) for h in range(heads)]
        return (torch.stack(rows),)

    return Case(attention_received, (T // 64, heads), (q, k, lse, out, T, D**-0.5), dict(D=D, BM=128, BN=64), (out,), reference,
                options=dict(num_warps=4, num_stages=3), flops=heads * T * T * D)


@triton.jit
def int8_scores(q, k, v, q_scale, k_scale, o, T, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Scores of int8 with scales of blocks, then f16 values; the queries' scale holds 1 / sqrt(D) and log2(e)."""
    row, head = tl.program_id(0), tl.program_id(1)
    base = head * T
    rows, d = base + row * BM + tl.arange(0, BM), tl.arange(0, D)
    query = tl.load(q + rows[:, None] * D + d[None, :])
    unit = tl.load(q_scale + head * (T // BM) + row)
    top = tl.full((BM,), -1.0e30, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for i in range(T // BN):
        n = base + i * BN + tl.arange(0, BN)
        kt = tl.load(k + n[None, :] * D + d[:, None])
        s = tl.dot(query, kt, out_dtype=tl.int32).to(tl.float32) * (unit * tl.load(k_scale + head * (T // BN) + i))
        acc, total, top = online(acc, total, top, s, tl.load(v + n[:, None] * D + d[None, :]), tl.float16)
    tl.store(o + rows[:, None] * D + d[None, :], (acc / total[:, None]).to(tl.float16))


@case
def nk_attn_int8_scores(heads=32, T=2048, D=128):
    q, k = randint(-127, 128, heads, T, D, dtype=torch.int8), randint(-127, 128, heads, T, D, dtype=torch.int8)
    v, o = rand(heads, T, D, dtype=F16), empty(heads, T, D, dtype=F16)
    q_scale, k_scale = uniform(heads, T // 128, low=1e-3, high=3e-3), uniform(heads, T // 64, low=0.01, high=0.02)

    def reference():
        real = q.float() * q_scale.repeat_interleave(128, 1)[:, :, None], k.float() * k_scale.repeat_interleave(64, 1)[:, :, None]
        return (dense(*real, v, 0.6931471805599453),)

    return Case(int8_scores, (T // 128, heads), (q, k, v, q_scale, k_scale, o, T), dict(D=D, BM=128, BN=64), (o,), reference,
                options=dict(num_warps=8, num_stages=3), flops=4 * heads * T * T * D)
