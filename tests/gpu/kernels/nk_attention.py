# SPDX-License-Identifier: Apache-2.0
"""Attention in further forms: descriptors made by kernels, fp8, both gradients at once, decoding that merges its own splits."""
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from case import DEVICE, Case, empty, rand, randint, registry, zeros

CASES, case = registry()
F16, F8 = torch.float16, torch.float8_e4m3fn
LOG2E = tl.constexpr(1.4426950408889634)


def describe(x, *block):
    return TensorDescriptor(x, list(x.shape), list(x.stride()), list(block))


def dense(q, k, v, scale, allowed=None, bias=None):
    """softmax(scale q k^T + bias) v of (heads, T, D), a head at a time."""
    out = []
    for h in range(q.shape[0]):
        s = q[h].float() @ k[h].float().T * scale
        s = s if bias is None else s + bias[h].float()
        s = s if allowed is None else s.masked_fill(~allowed, float("-inf"))
        out.append(torch.softmax(s, 1) @ v[h].float())
    return torch.stack(out)


def causal(T):
    return torch.ones(T, T, dtype=torch.bool, device=DEVICE).tril()


@triton.jit
def online(acc, total, top, s, v, precision: tl.constexpr):
    """One step of the softmax in base 2."""
    new = tl.maximum(top, tl.max(s, 1))
    p = tl.math.exp2(s - new[:, None])
    alpha = tl.math.exp2(top - new)
    acc = tl.dot(p.to(precision), v, acc * alpha[:, None])
    return acc, total * alpha + tl.sum(p, 1), new


@triton.jit
def staged_inner(acc, total, top, q, k_desc, v_desc, base, head, row, scale, T: tl.constexpr, D: tl.constexpr, BM: tl.constexpr,
                 BN: tl.constexpr, STAGE: tl.constexpr, WS: tl.constexpr, V_ROWS: tl.constexpr):
    if STAGE == 1:
        low, high = 0, row * BM
    elif STAGE == 2:
        low, high = row * BM, (row + 1) * BM
        low = tl.multiple_of(low, BM)
    else:
        low, high = 0, T
    m = row * BM + tl.arange(0, BM)
    for start in tl.range(low, high, BN, warp_specialize=WS):
        start = tl.multiple_of(start, BN)
        s = tl.dot(q, k_desc.load([base + start, 0]).T) * scale
        if STAGE == 2:
            s = tl.where(m[:, None] >= (start + tl.arange(0, BN))[None, :], s, -1.0e6)
        if V_ROWS:
            v = v_desc.load([base + start, 0])
        else:
            v = v_desc.load([head * D, start]).T
        acc, total, top = online(acc, total, top, s, v, v_desc.dtype)
    return acc, total, top


@triton.jit
def staged(q_ptr, k_ptr, v_ptr, o_ptr, m_ptr, scale, heads, T: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
           STAGE: tl.constexpr, WS: tl.constexpr, V_ROWS: tl.constexpr):
    """Descriptors made by the kernel; STAGE 3: tiles below the diagonal, then those on it. v may lie as (heads, D, T)."""
    row, head = tl.program_id(0), tl.program_id(1)
    rows = heads * T
    q_desc = tl.make_tensor_descriptor(q_ptr, shape=[rows, D], strides=[D, 1], block_shape=[BM, D])
    k_desc = tl.make_tensor_descriptor(k_ptr, shape=[rows, D], strides=[D, 1], block_shape=[BN, D])
    if V_ROWS:
        v_desc = tl.make_tensor_descriptor(v_ptr, shape=[rows, D], strides=[D, 1], block_shape=[BN, D])
    else:
        v_desc = tl.make_tensor_descriptor(v_ptr, shape=[heads * D, T], strides=[T, 1], block_shape=[D, BN])
    o_desc = tl.make_tensor_descriptor(o_ptr, shape=[rows, D], strides=[D, 1], block_shape=[BM, D])
    base = head * T
    top = tl.zeros((BM,), tl.float32) - float("inf")
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    scale *= LOG2E
    q = q_desc.load([base + row * BM, 0])
    if STAGE & 1:
        acc, total, top = staged_inner(acc, total, top, q, k_desc, v_desc, base, head, row, scale, T, D, BM, BN, 4 - STAGE, WS, V_ROWS)
    if STAGE & 2:
        acc, total, top = staged_inner(acc, total, top, q, k_desc, v_desc, base, head, row, scale, T, D, BM, BN, 2, WS, V_ROWS)
    tl.store(m_ptr + base + row * BM + tl.arange(0, BM), top + tl.math.log2(total))
    o_desc.store([base + row * BM, 0], (acc / total[:, None]).to(o_ptr.dtype.element_ty))


def staged_case(heads, T, D, bm, bn, stage, ws, dtype, warps, stages):
    q, k, v = (rand(heads, T, D, dtype=dtype) for _ in range(3))
    v_in = v if dtype == F16 else v.transpose(1, 2).contiguous()
    o, m = empty(heads, T, D, dtype=F16), empty(heads, T)
    return Case(staged, (T // bm, heads), (q, k, v_in, o, m, D**-0.5, heads),
                dict(T=T, D=D, BM=bm, BN=bn, STAGE=stage, WS=ws, V_ROWS=dtype == F16), (o,),
                lambda: (dense(q, k, v, D**-0.5, causal(T) if stage == 3 else None),), rtol=2e-2 if dtype == F16 else 0.1,
                options=dict(num_warps=warps, num_stages=stages), flops=4 * heads * T * T * D // (2 if stage == 3 else 1))


@case
def nk_attn_device_causal_d64(heads=64, T=2048):
    return staged_case(heads, T, 64, 128, 64, 3, False, F16, 4, 3)


@case
def nk_attn_device_causal_d128(heads=32, T=2048):
    return staged_case(heads, T, 128, 128, 128, 3, False, F16, 8, 2)


@case
def nk_attn_device_fp8(heads=32, T=2048):
    return staged_case(heads, T, 128, 128, 128, 1, False, F8, 8, 3)


@triton.jit
def keys_part(dk, dv, q_ptr, k, v, do_ptr, m_ptr, delta_ptr, n, start, steps, D: tl.constexpr, BM: tl.constexpr, MASK: tl.constexpr):
    m, d = start + tl.arange(0, BM), tl.arange(0, D)
    qt_at = q_ptr + m[None, :] * D + d[:, None]
    do_at = do_ptr + m[:, None] * D + d[None, :]
    for _ in range(steps):
        qt = tl.load(qt_at)
        lse = tl.load(m_ptr + m)
        pt = tl.math.exp2(tl.dot(k, qt) - lse[None, :])
        if MASK:
            pt = tl.where(m[None, :] >= n[:, None], pt, 0.0)
        do = tl.load(do_at)
        dv += tl.dot(pt.to(tl.float16), do)
        delta = tl.load(delta_ptr + m)
        dst = pt * (tl.dot(v, tl.trans(do)) - delta[None, :])
        dk += tl.dot(dst.to(tl.float16), tl.trans(qt))
        m += BM
        qt_at += BM * D
        do_at += BM * D
    return dk, dv


@triton.jit
def query_part(dq, q, k_ptr, v_ptr, do, lse, delta, m, start, steps, D: tl.constexpr, BN: tl.constexpr, MASK: tl.constexpr):
    n, d = start + tl.arange(0, BN), tl.arange(0, D)
    kt_at = k_ptr + n[None, :] * D + d[:, None]
    vt_at = v_ptr + n[None, :] * D + d[:, None]
    for _ in range(steps):
        kt = tl.load(kt_at)
        vt = tl.load(vt_at)
        p = tl.math.exp2(tl.dot(q, kt) - lse)
        if MASK:
            p = tl.where(m[:, None] >= n[None, :], p, 0.0)
        ds = p * (tl.dot(do, vt) - delta)
        dq += tl.dot(ds.to(tl.float16), tl.trans(kt))
        n += BN
        kt_at += BN * D
        vt_at += BN * D
    return dq


@triton.jit
def backward_all(q_ptr, k_ptr, v_ptr, do_ptr, dq_ptr, dk_ptr, dv_ptr, m_ptr, delta_ptr, scale, T, D: tl.constexpr, SMALL: tl.constexpr,
                 BIG: tl.constexpr):
    """All causal gradients in a launch: dk and dv of a block of keys, then dq of the same rows. k is scaled before, in base 2."""
    PIECE: tl.constexpr = SMALL // 2
    pid, head = tl.program_id(0), tl.program_id(1)
    base = head.to(tl.int64) * T
    q_ptr += base * D
    k_ptr += base * D
    v_ptr += base * D
    do_ptr += base * D
    m_ptr += base
    delta_ptr += base
    block = pid * BIG + tl.arange(0, BIG)
    d = tl.arange(0, D)
    tile = block[:, None] * D + d[None, :]
    dk, dv = tl.zeros((BIG, D), tl.float32), tl.zeros((BIG, D), tl.float32)
    k, v = tl.load(k_ptr + tile), tl.load(v_ptr + tile)
    dk, dv = keys_part(dk, dv, q_ptr, k, v, do_ptr, m_ptr, delta_ptr, block, pid * BIG, BIG // PIECE, D, PIECE, True)
    after = (pid + 1) * BIG
    dk, dv = keys_part(dk, dv, q_ptr, k, v, do_ptr, m_ptr, delta_ptr, block, after, (T - after) // SMALL, D, SMALL, False)
    tl.store(dv_ptr + base * D + tile, dv)
    tl.store(dk_ptr + base * D + tile, dk * scale)
    q, do = tl.load(q_ptr + tile), tl.load(do_ptr + tile)
    lse, delta = tl.load(m_ptr + block)[:, None], tl.load(delta_ptr + block)[:, None]
    dq = tl.zeros((BIG, D), tl.float32)
    dq = query_part(dq, q, k_ptr, v_ptr, do, lse, delta, block, pid * BIG, BIG // PIECE, D, PIECE, True)
    dq = query_part(dq, q, k_ptr, v_ptr, do, lse, delta, block, 0, pid * BIG // SMALL, D, SMALL, False)
    tl.store(dq_ptr + base * D + tile, dq * 0.6931471805599453)


@triton.jit
def backward_described(q, k, v, do, q_block, k_block, v_block, do_block, dq, dk, dv, m_ptr, delta_ptr, scale, T, BIG: tl.constexpr,
                       SMALL: tl.constexpr, D: tl.constexpr):
    """Not causal; everything by descriptors, two for each input: blocks that stay and blocks that pass."""
    pid, head = tl.program_id(0), tl.program_id(1)
    base = head * T
    here = base + pid * BIG
    key, value = k_block.load([here, 0]), v_block.load([here, 0])
    dk_sum, dv_sum = tl.zeros((BIG, D), tl.float32), tl.zeros((BIG, D), tl.float32)
    for start in tl.range(0, T, SMALL):
        query, dout = q.load([base + start, 0]), do.load([base + start, 0])
        at = base + start + tl.arange(0, SMALL)
        pt = tl.math.exp2(tl.dot(key, query.T) - tl.load(m_ptr + at)[None, :])
        dv_sum = tl.dot(pt.to(tl.float16), dout, dv_sum)
        dst = pt * (tl.dot(value, dout.T) - tl.load(delta_ptr + at)[None, :])
        dk_sum = tl.dot(dst.to(tl.float16), query, dk_sum)
    dv.store([here, 0], dv_sum.to(tl.float16))
    dk.store([here, 0], (dk_sum * scale).to(tl.float16))
    query, dout = q_block.load([here, 0]), do_block.load([here, 0])
    at = here + tl.arange(0, BIG)
    lse, delta = tl.load(m_ptr + at)[:, None], tl.load(delta_ptr + at)[:, None]
    dq_sum = tl.zeros((BIG, D), tl.float32)
    for start in tl.range(0, T, SMALL):
        key_s, value_s = k.load([base + start, 0]), v.load([base + start, 0])
        p = tl.math.exp2(tl.dot(query, key_s.T) - lse)
        ds = p * (tl.dot(dout, value_s.T) - delta)
        dq_sum = tl.dot(ds.to(tl.float16), key_s, dq_sum)
    dq.store([here, 0], (dq_sum * 0.6931471805599453).to(tl.float16))


def backward_inputs(heads, T, D, is_causal):
    """q, k scaled by scale * log2(e), v, do, the softmax's log in base 2, delta, and the reference."""
    scale = D**-0.5
    q, k, v, do = (rand(heads, T, D, dtype=F16) for _ in range(4))
    scaled = (k.float() * (scale * 1.4426950408889634)).to(F16)
    lse, delta = empty(heads, T), empty(heads, T)
    for h in range(heads):
        s = q[h].float() @ scaled[h].float().T
        s = s.masked_fill(~causal(T), float("-inf")) if is_causal else s
        lse[h] = torch.logsumexp(s * 0.6931471805599453, 1) * 1.4426950408889634
        delta[h] = (torch.exp2(s - lse[h][:, None]) @ v[h].float() * do[h].float()).sum(1)

    def reference():
        grads = []
        for h in range(heads):
            p = torch.exp2(q[h].float() @ scaled[h].float().T - lse[h][:, None])
            p = p * causal(T) if is_causal else p
            ds = p * (do[h].float() @ v[h].float().T - delta[h][:, None])
            grads.append((ds @ k[h].float() * scale, ds.T @ q[h].float() * scale, p.T @ do[h].float()))
        return tuple(torch.stack(g) for g in zip(*grads))

    return q, scaled, v, do, lse, delta, reference


@case
def nk_attn_bwd_all_causal(heads=48, T=2048, D=64):
    q, k, v, do, lse, delta, reference = backward_inputs(heads, T, D, True)
    dq, dk, dv = (empty(heads, T, D, dtype=F16) for _ in range(3))
    return Case(backward_all, (T // 128, heads), (q, k, v, do, dq, dk, dv, lse, delta, D**-0.5, T), dict(D=D, SMALL=32, BIG=128), (dq, dk, dv),
                reference, rtol=2e-2, options=dict(num_warps=4, num_stages=3), flops=7 * heads * T * T * D)


@case
def nk_attn_bwd_descriptors(heads=16, T=2048, D=64):
    q, k, v, do, lse, delta, reference = backward_inputs(heads, T, D, False)
    dq, dk, dv = (empty(heads, T, D, dtype=F16) for _ in range(3))
    flat = [t.view(heads * T, D) for t in (q, k, v, do)]
    small, big = [describe(t, 64, D) for t in flat], [describe(t, 128, D) for t in flat]
    out = [describe(t.view(heads * T, D), 128, D) for t in (dq, dk, dv)]
    return Case(backward_described, (T // 128, heads), (*small, *big, *out, lse, delta, D**-0.5, T), dict(BIG=128, SMALL=64, D=D), (dq, dk, dv),
                reference, rtol=2e-2, options=dict(num_warps=8, num_stages=2), flops=14 * heads * T * T * D)


@triton.jit
def decode_and_merge(q, cache_k, cache_v, table, lengths, part, part_lse, arrived, out, scale, pages, HK: tl.constexpr, G: tl.constexpr,
                     D: tl.constexpr, PAGE: tl.constexpr, SPLITS: tl.constexpr, BLOCK: tl.constexpr):
    """Paged decoding; the last program of a sequence and head to arrive merges the splits."""
    seq, kv, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    g, d = tl.arange(0, 16), tl.arange(0, D)
    head = kv * G + g
    length = tl.load(lengths + seq)
    share = tl.cdiv(tl.cdiv(length, SPLITS), BLOCK) * BLOCK
    query = tl.load(q + (seq * HK * G + head)[:, None] * D + d[None, :], mask=(g < G)[:, None], other=0.0)
    top = tl.full((16,), -1.0e30, tl.float32)
    total = tl.zeros((16,), tl.float32)
    acc = tl.zeros((16, D), tl.float32)
    for start in range(split * share, min((split + 1) * share, length), BLOCK):
        t = start + tl.arange(0, BLOCK)
        page = tl.load(table + seq * pages + t // PAGE, mask=t < length, other=0).to(tl.int64)
        at = ((page * PAGE + t % PAGE) * HK + kv) * D
        k = tl.load(cache_k + at[None, :] + d[:, None], mask=(t < length)[None, :], other=0.0)
        s = tl.where((t < length)[None, :], tl.dot(query, k) * (scale * LOG2E), -1.0e30)
        v = tl.load(cache_v + at[:, None] + d[None, :], mask=(t < length)[:, None], other=0.0)
        acc, total, top = online(acc, total, top, s, v, tl.float16)
    row = (seq * HK + kv) * SPLITS
    used = split * share < length
    tl.store(part + ((row + split) * 16 + g)[:, None] * D + d[None, :], acc / tl.where(used, total, 1.0)[:, None])
    tl.store(part_lse + (row + split) * 16 + g, tl.where(used, top + tl.math.log2(total), -1.0e30))
    tl.debug_barrier()
    if tl.atomic_add(arrived + seq * HK + kv, 1) % SPLITS == SPLITS - 1:
        acc = tl.zeros((16, D), tl.float32)
        top = tl.full((16,), -1.0e30, tl.float32)
        total = tl.zeros((16,), tl.float32)
        for i in range(SPLITS):
            lse = tl.load(part_lse + (row + i) * 16 + g, cache_modifier=".cg")
            o = tl.load(part + ((row + i) * 16 + g)[:, None] * D + d[None, :], cache_modifier=".cg")
            new = tl.maximum(top, lse)
            old, now = tl.math.exp2(top - new), tl.math.exp2(lse - new)
            acc = acc * old[:, None] + o * now[:, None]
            total = total * old + now
            top = new
        tl.store(out + (seq * HK * G + head)[:, None] * D + d[None, :], (acc / total[:, None]).to(tl.float16), mask=(g < G)[:, None])


@case
def nk_decode_last_merges(B=32, HK=8, G=4, D=128, longest=4096, page=16, splits=8):
    pages = longest // page
    lengths = randint(longest // 4, longest + 1, B)
    q, k, v = rand(B, HK * G, D, dtype=F16), rand(B * pages, page, HK, D, dtype=F16), rand(B * pages, page, HK, D, dtype=F16)
    table = torch.randperm(B * pages, device=DEVICE).to(torch.int32).view(B, pages)
    part, lse, arrived = empty(B * HK * splits * 16, D), empty(B * HK * splits * 16), zeros(B, HK, dtype=torch.int32)
    out = empty(B, HK * G, D, dtype=F16)

    def reference():
        rows = []
        for b in range(B):
            at = table[b].long()
            keys, values = (c[at].reshape(-1, HK, D)[:int(lengths[b])].transpose(0, 1) for c in (k, v))
            rows.append(dense(q[b].view(HK, G, D), keys, values, D**-0.5).view(HK * G, D))
        return (torch.stack(rows),)

    return Case(decode_and_merge, (B, HK, splits), (q, k, v, table, lengths, part, lse, arrived, out, D**-0.5, pages),
                dict(HK=HK, G=G, D=D, PAGE=page, SPLITS=splits, BLOCK=64), (out,), reference, options=dict(num_warps=4, num_stages=3),
                bytes=B * longest * HK * D * 2.5)
