# SPDX-License-Identifier: Apache-2.0
"""Rows, in configurations from 1 to 32 warps and from 49 to 151936 columns: losses in chunks, norms, gradients, quantized rows, top-k."""
import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, randint, registry, uniform, zeros
from nk_rows import philox

CASES, case = registry()
F = torch.nn.functional
F16, BF16, F8, I32 = torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.int32


def keep_by_seed(seed, p, *shape):
    """Where tl.rand(seed, index) > p."""
    count = 1
    for n in shape:
        count *= n
    words = philox(seed, torch.arange(count, device=DEVICE))[0]
    return (torch.where(words >= 2**31, 2**32 - 1 - words, words).float() * 4.6566127342e-10 > p).view(shape)


@triton.jit
def soft_cap(x, cap):
    return cap * (2.0 * tl.sigmoid(2.0 * x / cap) - 1.0)


@triton.jit
def cross_entropy_chunks(logits, labels, logsumexps, losses, stride, V, cap, BLOCK: tl.constexpr):
    """A part of a vocabulary for each program, all of it in registers; capped logits; the label's logit comes from the first part."""
    row, chunk = tl.program_id(0).to(tl.int64), tl.program_id(1)
    c = chunk * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(logits + row * stride + c, mask=c < V, other=-float("inf")).to(tl.float32)
    x = tl.where(c < V, soft_cap(x, cap), -float("inf"))
    top = tl.max(x, 0)
    tl.store(logsumexps + row * tl.num_programs(1) + chunk, top + tl.log(tl.sum(tl.exp(x - top), 0)))
    if chunk == 0:
        label = tl.load(labels + row)
        if label != -100:
            loss = -soft_cap(tl.load(logits + row * stride + label).to(tl.float32), cap)
        else:
            loss = 0.0
        tl.store(losses + row, loss)


def vocabulary(rows, V, stride):
    logits, labels = rand(rows, stride, dtype=BF16, scale=4.0)[:, :V], randint(0, V, rows, dtype=torch.int64)
    return logits, torch.where(torch.arange(rows, device=DEVICE) % 7 == 3, -100, labels)


@case
def nu_cross_entropy_chunks(rows=1024, V=128256, stride=131072, block=65536, cap=30.0):
    logits, labels = vocabulary(rows, V, stride)
    chunks = triton.cdiv(V, block)
    logsumexps, losses = empty(rows, chunks), empty(rows)

    def reference():
        x = cap * torch.tanh(logits.float() / cap)
        label = x.gather(1, labels.clamp_min(0)[:, None])[:, 0]
        return torch.stack([x[:, i:i + block].logsumexp(1) for i in range(0, V, block)], 1), torch.where(labels == -100, 0, -label)

    return Case(cross_entropy_chunks, (rows, chunks), (logits, labels, logsumexps, losses, stride, V, cap), dict(BLOCK=block),
                (logsumexps, losses), reference, rtol=1e-3, options=dict(num_warps=32), bytes=rows * V * 2)


@triton.jit
def cross_entropy_chunks_backward(logits, labels, logsumexps, dloss, grad, stride, V, cap, smoothing, BLOCK: tl.constexpr):
    """Gradients of smoothed losses with capped logits, blocks of columns in programs of their own; ignored rows are zero."""
    row = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    label = tl.load(labels + row)
    g = tl.load(dloss + row) if label != -100 else 0.0
    x = tl.load(logits + row * stride + c, mask=c < V, other=-float("inf")).to(tl.float32)
    t = 2.0 * tl.sigmoid(2.0 * x / cap) - 1.0
    d = tl.exp(cap * t - tl.load(logsumexps + row)) - smoothing / V - tl.where(c == label, 1.0 - smoothing, 0.0)
    tl.store(grad + row * V + c, (g * d * (1.0 - t * t)).to(grad.dtype.element_ty), mask=c < V)


@case
def nu_cross_entropy_chunks_bwd(rows=1000, V=128256, stride=131072, cap=30.0):
    logits, labels = vocabulary(rows, V, stride)
    logsumexps, dloss, grad = empty(rows), rand(rows), empty(rows, V, dtype=BF16)
    logsumexps.copy_((cap * torch.tanh(logits.float() / cap)).logsumexp(1))

    def reference():
        t = torch.tanh(logits.float() / cap)
        d = torch.exp(cap * t - logsumexps[:, None]) - 0.1 / V
        d.scatter_add_(1, labels.clamp_min(0)[:, None], torch.full((rows, 1), -0.9, device=DEVICE))
        return (d * torch.where(labels == -100, 0, dloss)[:, None] * (1 - t * t),)

    return Case(cross_entropy_chunks_backward, (rows, triton.cdiv(V, 4096)), (logits, labels, logsumexps, dloss, grad, stride, V, cap, 0.1),
                dict(BLOCK=4096), (grad,), reference, options=dict(num_warps=8), bytes=rows * V * 4)


@triton.jit
def masked_softmax(x, mask, y, rows, per_mask, heads, scale, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Short rows, many of them in a program; a byte mask that heads share; fully masked rows are zero."""
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.arange(0, BN)
    ok = (r < rows)[:, None] & (c < N)[None, :]
    v = tl.load(x + r[:, None] * N + c[None, :], mask=ok, other=0.0).to(tl.float32) * scale
    shared = r // (per_mask * heads) * per_mask + r % per_mask
    live = tl.load(mask + shared[:, None] * N + c[None, :], mask=ok, other=0) != 0
    v = tl.where(live, v, -float("inf"))
    top = tl.max(v, 1)
    e = tl.exp(v - tl.where(top == -float("inf"), 0.0, top)[:, None])
    total = tl.sum(e, 1)
    tl.store(y + r[:, None] * N + c[None, :], (e / tl.where(total == 0.0, 1.0, total)[:, None]).to(y.dtype.element_ty), mask=ok)


@case
def nu_masked_softmax_49(windows=4000, heads=8, T=49):
    x, mask = rand(windows, heads, T, T, dtype=F16), randint(0, 4, windows, T, T, dtype=torch.uint8)
    y = empty(windows, heads, T, T, dtype=F16)
    mask[:, 5] = 0

    def reference():
        v = torch.where(mask[:, None] != 0, x.float() * 0.7, -float("inf"))
        return (torch.softmax(v, -1).nan_to_num(0.0),)

    rows = windows * heads * T
    return Case(masked_softmax, (triton.cdiv(rows, 64),), (x, mask, y, rows, T, heads, 0.7), dict(N=T, BM=64, BN=64), (y,), reference,
                options=dict(num_warps=2), bytes=rows * T * 4)


@triton.jit
def layer_norm_backward_atomic(dy, x, w, mean, rstd, dx, dw, db, rows, per, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """A few rows at a time; sums for weights stay in registers over a program's blocks of rows and are then added to memory."""
    c = tl.arange(0, BN)
    weight = tl.load(w + c, mask=c < N, other=0.0)
    sum_w, sum_b = tl.zeros((BN,), tl.float32), tl.zeros((BN,), tl.float32)
    for i in range(per):
        r = (tl.program_id(0) * per + i) * BM + tl.arange(0, BM)
        ok = (r < rows)[:, None] & (c < N)[None, :]
        at = r[:, None] * N + c[None, :]
        g = tl.load(dy + at, mask=ok, other=0.0).to(tl.float32)
        scale = tl.load(rstd + r, mask=r < rows, other=0.0)[:, None]
        hat = (tl.load(x + at, mask=ok, other=0.0).to(tl.float32) - tl.load(mean + r, mask=r < rows, other=0.0)[:, None]) * scale
        hat = tl.where(ok, hat, 0.0)
        wg = g * weight[None, :]
        d = wg - (tl.sum(wg * hat, 1)[:, None] * hat + tl.sum(wg, 1)[:, None]) * (1.0 / N)
        tl.store(dx + at, (d * scale).to(dx.dtype.element_ty), mask=ok)
        sum_w += tl.sum(g * hat, 0)
        sum_b += tl.sum(g, 0)
    tl.atomic_add(dw + c, sum_w, mask=c < N, sem="relaxed")
    tl.atomic_add(db + c, sum_b, mask=c < N, sem="relaxed")


@case
def nu_layer_norm_bwd_atomic(rows=65500, N=768, per=8):
    dy, x, w = rand(rows, N, dtype=BF16), rand(rows, N, dtype=BF16), rand(N)
    mean, rstd = empty(rows), empty(rows)
    mean.copy_(x.float().mean(1))
    rstd.copy_(torch.rsqrt(x.float().var(1, unbiased=False) + 1e-5))
    dx, dw, db = empty(rows, N, dtype=BF16), zeros(N), zeros(N)

    def reference():
        g, hat = dy.float(), (x.float() - mean[:, None]) * rstd[:, None]
        wg = g * w
        d = wg - (wg * hat).mean(1, keepdim=True) * hat - wg.mean(1, keepdim=True)
        return d * rstd[:, None], (g * hat).sum(0), g.sum(0)

    return Case(layer_norm_backward_atomic, (triton.cdiv(rows, 4 * per),), (dy, x, w, mean, rstd, dx, dw, db, rows, per),
                dict(N=N, BM=4, BN=1024), (dx, dw, db), reference, accumulate=True, options=dict(num_warps=4), bytes=rows * N * 6)


@triton.jit
def add_rms_quant_mx(x, residual, w, sum_out, y, scales, eps, N: tl.constexpr, GROUPS: tl.constexpr, GROUP: tl.constexpr):
    """Add, norm, fp8 in groups of 32 with scales that are powers of two, stored as bytes in blocks of 128 x 4 as tensor cores read them."""
    row = tl.program_id(0).to(tl.int64)
    g = tl.arange(0, GROUPS)
    c = g[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
    v = tl.load(x + row * N + c, mask=c < N, other=0.0).to(tl.float32)
    v += tl.load(residual + row * N + c, mask=c < N, other=0.0).to(tl.float32)
    tl.store(sum_out + row * N + c, v.to(sum_out.dtype.element_ty), mask=c < N)
    rstd = tl.rsqrt(tl.sum(tl.sum(v * v, 1), 0) / N + eps)
    v = v * rstd * tl.load(w + c, mask=c < N, other=0.0).to(tl.float32)
    amax = tl.maximum(tl.max(tl.abs(v), 1), 1e-20)
    exponent = ((amax * (1.0 / 448.0)).to(tl.int32, bitcast=True) + 0x7FFFFF) >> 23
    inverse = ((254 - exponent) << 23).to(tl.float32, bitcast=True)
    tl.store(y + row * N + c, (v * inverse[:, None]).to(tl.float8e4nv), mask=c < N)
    at = (row // 128 * (N // GROUP // 4) + g // 4) * 512 + row % 32 * 16 + row % 128 // 32 * 4 + g % 4
    tl.store(scales + at, exponent.to(tl.uint8), mask=g < N // GROUP)


@case
def nu_add_rms_quant_mx(rows=8192, N=5120):
    x, residual, w = rand(rows, N, dtype=BF16), rand(rows, N, dtype=BF16), rand(N, dtype=BF16)
    total, y, scales = empty(rows, N, dtype=BF16), empty(rows, N, dtype=F8), empty(rows * N // 32, dtype=torch.uint8)

    def reference():
        v = x.float() + residual.float()
        out = v * torch.rsqrt(v.square().mean(1, keepdim=True) + 1e-6) * w.float()
        amax = out.view(rows, N // 32, 32).abs().amax(2).clamp_min(1e-20)
        exponent = ((amax * (1.0 / 448.0)).view(I32) + 0x7FFFFF) >> 23
        inverse = ((254 - exponent) << 23).view(torch.float32)
        swizzled = exponent.view(rows // 128, 4, 32, N // 128, 4).permute(0, 3, 2, 1, 4)
        return v, (out.view(rows, N // 32, 32) * inverse[:, :, None]).to(F8).float(), swizzled.to(torch.uint8)

    return Case(add_rms_quant_mx, (rows,), (x, residual, w, total, y, scales, 1e-6), dict(N=N, GROUPS=256, GROUP=32), (total, y, scales),
                reference, rtol=3e-2, options=dict(num_warps=16), bytes=rows * N * 7)


@triton.jit
def top_k_packed(x, values, indices, rows, N: tl.constexpr, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """16-bit keys over 16-bit places in a word, so ties are ordered; bitonic top-k of blocks of columns, merged into what was found."""
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.arange(0, BN)
    best = tl.zeros((BM, K), tl.uint32)
    for start in tl.static_range(0, N, BN):
        ok = (r < rows)[:, None] & (start + c < N)[None, :]
        bits = tl.load(x + r[:, None] * N + start + c[None, :], mask=ok, other=0.0).to(tl.uint16, bitcast=True).to(tl.uint32)
        key = tl.where(bits >= 0x8000, bits ^ 0xFFFF, bits | 0x8000)
        key = tl.where(ok, key << 16 | (0xFFFF - start - c)[None, :].to(tl.uint32), 0)
        if start == 0:
            best = tl.topk(key, K, dim=1)
        else:
            best = tl.maximum(tl.sort(best, dim=1), tl.topk(key, K, dim=1))
    best = tl.sort(best, dim=1, descending=True)
    key = best >> 16
    bits = tl.where(key >= 0x8000, key & 0x7FFF, key ^ 0xFFFF).to(tl.uint16)
    at = r[:, None] * K + tl.arange(0, K)[None, :]
    tl.store(values + at, bits.to(values.dtype.element_ty, bitcast=True), mask=(r < rows)[:, None])
    tl.store(indices + at, (0xFFFF - (best & 0xFFFF)).to(tl.int32), mask=(r < rows)[:, None])


@case
def nu_top_k_packed(rows=60001, N=700, K=16):
    x, values, indices = rand(rows, N, dtype=BF16), empty(rows, K, dtype=BF16), empty(rows, K, dtype=I32)

    def reference():
        bits = x.view(torch.int16).to(torch.int64) & 0xFFFF
        key = torch.where(bits >= 0x8000, bits ^ 0xFFFF, bits | 0x8000) << 16 | 0xFFFF - torch.arange(N, device=DEVICE)
        place = 0xFFFF - (key.topk(K, 1)[0] & 0xFFFF)
        return x.gather(1, place), place

    return Case(top_k_packed, (triton.cdiv(rows, 8),), (x, values, indices, rows), dict(N=N, K=K, BM=8, BN=256), (values, indices),
                reference, rtol=1e-9, options=dict(num_warps=4), bytes=rows * N * 2)


@triton.jit
def greedy_token(logits, tokens, logprobs, V, stride, BLOCK: tl.constexpr):
    """The first of the largest logits and its log probability, online over blocks of columns."""
    row = tl.program_id(0).to(tl.int64)
    top, total, best = -float("inf"), 0.0, 0
    for start in range(0, V, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(logits + row * stride + c, mask=c < V, other=-float("inf")).to(tl.float32)
        most, where = tl.max(x, 0, return_indices=True, return_indices_tie_break_left=True)
        new = tl.maximum(top, most)
        total = total * tl.exp(top - new) + tl.sum(tl.exp(x - new), 0)
        best = tl.where(most > top, start + where, best)
        top = new
    tl.store(tokens + row, best.to(tl.int64))
    tl.store(logprobs + row, -tl.log(total))


@case
def nu_greedy_token(rows=1056, V=151936, stride=152064):
    logits = ((rand(rows, stride) * 4).round() / 4).to(F16)
    tokens, logprobs = empty(rows, dtype=torch.int64), empty(rows)

    def reference():
        x = logits[:, :V]
        first = torch.where(x == x.amax(1, keepdim=True), torch.arange(V, device=DEVICE, dtype=I32), V).amin(1)
        return first, x.amax(1).float() - x.float().logsumexp(1)

    return Case(greedy_token, (rows,), (logits, tokens, logprobs, V, stride), dict(BLOCK=8192), (tokens, logprobs), reference, rtol=1e-3,
                options=dict(num_warps=16), bytes=rows * V * 2)


@triton.jit
def render_rays(density, color, step, out, opacity, rays, S: tl.constexpr, BM: tl.constexpr, BS: tl.constexpr):
    """Light along rays: a running product of what passes samples, a running sum of depths, sums of three colors."""
    r, s = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BS)
    ok = (r < rays)[:, None] & (s < S)[None, :]
    at = r[:, None] * S + s[None, :]
    delta = tl.load(step + at, mask=ok, other=0.0)
    depth = tl.cumsum(delta, axis=1)
    keep = tl.exp(-tl.load(density + at, mask=ok, other=0.0) * delta)
    light = tl.cumprod(keep, axis=1) / keep * (1.0 - keep)
    for channel in tl.static_range(3):
        value = tl.sum(light * tl.sigmoid(tl.load(color + at * 3 + channel, mask=ok, other=0.0)), 1)
        tl.store(out + r * 4 + channel, value, mask=r < rays)
    tl.store(out + r * 4 + 3, tl.sum(light * depth, 1), mask=r < rays)
    tl.store(opacity + r, tl.sum(light, 1), mask=r < rays)


@case
def nu_render_rays(rays=131000, S=192):
    density, color, step = uniform(rays, S, high=2.0), rand(rays, S, 3), uniform(rays, S, high=0.05)
    out, opacity = empty(rays, 4), empty(rays)

    def reference():
        keep = torch.exp(-density * step)
        passed = torch.cat((torch.ones_like(keep[:, :1]), keep.cumprod(1)[:, :-1]), 1)
        light = passed * (1 - keep)
        rgb = (light[:, :, None] * color.sigmoid()).sum(1)
        return torch.cat((rgb, (light * step.cumsum(1)).sum(1, keepdim=True)), 1), light.sum(1)

    return Case(render_rays, (triton.cdiv(rays, 4),), (density, color, step, out, opacity, rays), dict(S=S, BM=4, BS=256), (out, opacity),
                reference, rtol=1e-4, options=dict(num_warps=4), bytes=rays * S * 20)


@triton.jit
def embed_norm_dropout(ids, kinds, words, places, types, w, b, out, T, seed, p, eps, D: tl.constexpr, BD: tl.constexpr):
    """Three embeddings, layer norm, dropout with a seed; a warp for each token."""
    token = tl.program_id(0)
    d = tl.arange(0, BD)
    ok = d < D
    v = tl.load(words + tl.load(ids + token) * D + d, mask=ok, other=0.0).to(tl.float32)
    v += tl.load(places + token % T * D + d, mask=ok, other=0.0).to(tl.float32)
    v += tl.load(types + tl.load(kinds + token) * D + d, mask=ok, other=0.0).to(tl.float32)
    mean = tl.sum(v, 0) / D
    centered = tl.where(ok, v - mean, 0.0)
    rstd = 1.0 / tl.sqrt_rn(tl.sum(centered * centered, 0) / D + eps)
    y = centered * rstd * tl.load(w + d, mask=ok, other=0.0) + tl.load(b + d, mask=ok, other=0.0)
    y = tl.where(tl.rand(seed, token * D + d) > p, y / (1.0 - p), 0.0)
    tl.store(out + token * D + d, y.to(out.dtype.element_ty), mask=ok)


@case
def nu_embed_norm_dropout(B=128, T=512, D=480, V=50000):
    ids, kinds = randint(0, V, B * T, dtype=torch.int64), randint(0, 2, B * T)
    words, places, types, w, b = rand(V, D, dtype=F16), rand(T, D, dtype=F16), rand(2, D, dtype=F16), rand(D), rand(D)
    out = empty(B * T, D, dtype=F16)

    def reference():
        v = words[ids].float() + places.float().repeat(B, 1) + types[kinds.long()].float()
        return (torch.where(keep_by_seed(77, 0.1, B * T, D), F.layer_norm(v, (D,), w, b, 1e-12) / 0.9, 0),)

    return Case(embed_norm_dropout, (B * T,), (ids, kinds, words, places, types, w, b, out, T, 77, 0.1, 1e-12), dict(D=D, BD=512), (out,),
                reference, options=dict(num_warps=1), bytes=B * T * D * 4)


@triton.jit
def swiglu_pairs_backward(dy, x, dx, sums, H, alpha, LIMIT: tl.constexpr, BM: tl.constexpr, BH: tl.constexpr, PER: tl.constexpr):
    """Gate and up in neighbouring columns, clamped; gradients are joined again; sums of columns for a bias go to a row for each program."""
    h = tl.program_id(0) * BH + tl.arange(0, BH)
    sum_gate, sum_up = tl.zeros((BH,), tl.float32), tl.zeros((BH,), tl.float32)
    for i in tl.range(PER, num_stages=2):
        r = (tl.program_id(1) * PER + i) * BM + tl.arange(0, BM)
        pair = tl.program_id(0) * BH * 2 + tl.arange(0, 2 * BH)
        both = tl.load(x + r[:, None].to(tl.int64) * (2 * H) + pair[None, :], mask=(pair < 2 * H)[None, :], other=0.0).to(tl.float32)
        raw_gate, raw_up = tl.split(tl.reshape(both, (BM, BH, 2)))
        gate, up = tl.minimum(raw_gate, LIMIT), tl.clamp(raw_up, -LIMIT, LIMIT)
        g = tl.load(dy + r[:, None].to(tl.int64) * H + h[None, :], mask=(h < H)[None, :], other=0.0).to(tl.float32)
        s = tl.sigmoid(alpha * gate)
        dgate = tl.where(raw_gate <= LIMIT, g * (up + 1.0) * s * (1.0 + alpha * gate * (1.0 - s)), 0.0)
        dup = tl.where(tl.abs(raw_up) <= LIMIT, g * gate * s, 0.0)
        sum_gate += tl.sum(dgate, 0)
        sum_up += tl.sum(dup, 0)
        joined = tl.reshape(tl.join(dgate, dup), (BM, 2 * BH)).to(dx.dtype.element_ty)
        tl.store(dx + r[:, None].to(tl.int64) * (2 * H) + pair[None, :], joined, mask=(pair < 2 * H)[None, :])
    pair = tl.program_id(0) * BH * 2 + tl.arange(0, 2 * BH)
    tl.store(sums + tl.program_id(1) * (2 * H) + pair, tl.interleave(sum_gate, sum_up), mask=pair < 2 * H)


@case
def nu_swiglu_pairs_bwd(tokens=16384, H=2880):
    dy, x, dx = rand(tokens, H, dtype=BF16), rand(tokens, 2 * H, dtype=BF16, scale=4.0), empty(tokens, 2 * H, dtype=BF16)
    parts = tokens // 128
    sums = empty(parts, 2 * H)

    def reference():
        gate, up, g = x[:, ::2].float().clamp(max=7.0), x[:, 1::2].float().clamp(-7.0, 7.0), dy.float()
        s = torch.sigmoid(1.702 * gate)
        dgate = torch.where(x[:, ::2] <= 7, g * (up + 1) * s * (1 + 1.702 * gate * (1 - s)), 0)
        dup = torch.where(x[:, 1::2].abs() <= 7, g * gate * s, 0)
        d = torch.stack((dgate, dup), 2).view(tokens, 2 * H)
        return d, d.view(parts, 128, 2 * H).sum(1)

    return Case(swiglu_pairs_backward, (triton.cdiv(H, 128), parts), (dy, x, dx, sums, H, 1.702), dict(LIMIT=7.0, BM=8, BH=128, PER=16),
                (dx, sums), reference, options=dict(num_warps=4), bytes=tokens * H * 10)


@triton.jit
def norm_quantize_asymmetric(x, w, b, y, scales, zeros_at, sums, stride, eps, N: tl.constexpr, BN: tl.constexpr):
    """Layer norm of strided rows to unsigned bytes between a row's extremes, with the zero point and the row's sum of bytes."""
    row = tl.program_id(0)
    c = tl.arange(0, BN)
    v = tl.load(x + row.to(tl.int64) * stride + c, mask=c < N, other=0.0).to(tl.float32)
    mean = tl.sum(v, 0) / N
    centered = tl.where(c < N, v - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(centered * centered, 0) / N + eps)
    v = centered * rstd * tl.load(w + c, mask=c < N, other=0.0) + tl.load(b + c, mask=c < N, other=0.0)
    low = tl.minimum(tl.min(tl.where(c < N, v, float("inf")), 0), 0.0)
    high = tl.maximum(tl.max(tl.where(c < N, v, -float("inf")), 0), 0.0)
    scale = (high - low) * (1.0 / 255.0)
    zero = tl.floor(-low / scale + 0.5)
    q = tl.clamp(tl.floor(v / scale + 0.5) + zero, 0.0, 255.0).to(tl.int32)
    tl.store(y + row * N + c, q.to(tl.uint8), mask=c < N)
    tl.store(scales + row, scale)
    tl.store(zeros_at + row, zero.to(tl.int32))
    tl.store(sums + row, tl.sum(tl.where(c < N, q, 0), 0))


@case
def nu_norm_quant_asymmetric(rows=16384, N=3584, stride=5376):
    x, w, b = rand(rows, stride, dtype=F16), rand(N), rand(N)
    y, scales, zero, sums = empty(rows, N, dtype=torch.uint8), empty(rows), empty(rows, dtype=I32), empty(rows, dtype=I32)

    def reference():
        v = F.layer_norm(x[:, :N].float(), (N,), w, b, 1e-5)
        low, high = v.amin(1).clamp(max=0), v.amax(1).clamp(min=0)
        scale = (high - low) * (1 / 255)
        at = (-low / scale + 0.5).floor()
        q = ((v / scale[:, None] + 0.5).floor() + at[:, None]).clamp(0, 255)
        return q, scale, at, q.sum(1)

    return Case(norm_quantize_asymmetric, (rows,), (x, w, b, y, scales, zero, sums, stride, 1e-5), dict(N=N, BN=4096),
                (y, scales, zero, sums), reference, options=dict(num_warps=8), bytes=rows * N * 3)


@triton.jit
def group_norm_backward_last(dy, x, w, mean, rstd, dx, dw, db, HW, G: tl.constexpr, CG: tl.constexpr, BHW: tl.constexpr, BC: tl.constexpr):
    """Channels last: a group of an image, 2-D tiles of places and channels in two loops; a row of weight gradients for each image."""
    group, image = tl.program_id(0), tl.program_id(1)
    c = group * CG + tl.arange(0, BC)
    live = (tl.arange(0, BC) < CG)[None, :]
    weight = tl.load(w + c, mask=tl.arange(0, BC) < CG, other=0.0)[None, :]
    m, scale = tl.load(mean + image * G + group), tl.load(rstd + image * G + group)
    sum_g, sum_gx = tl.zeros((BHW, BC), tl.float32), tl.zeros((BHW, BC), tl.float32)
    for start in range(0, HW, BHW):
        p = start + tl.arange(0, BHW)[:, None]
        at, ok = (image * HW + p) * (G * CG) + c[None, :], (p < HW) & live
        g = tl.load(dy + at, mask=ok, other=0.0, eviction_policy="evict_last").to(tl.float32)
        sum_g += g
        sum_gx += g * (tl.load(x + at, mask=ok, other=0.0, eviction_policy="evict_last").to(tl.float32) - m) * scale
    by_channel, by_channel_x = tl.sum(sum_g, 0), tl.sum(sum_gx, 0)
    tl.store(db + image * (G * CG) + c, by_channel, mask=tl.arange(0, BC) < CG)
    tl.store(dw + image * (G * CG) + c, by_channel_x, mask=tl.arange(0, BC) < CG)
    count = HW * CG
    a, b = tl.sum(by_channel * tl.sum(weight, 0), 0) / count, tl.sum(by_channel_x * tl.sum(weight, 0), 0) / count
    for start in range(0, HW, BHW):
        p = start + tl.arange(0, BHW)[:, None]
        at, ok = (image * HW + p) * (G * CG) + c[None, :], (p < HW) & live
        g = tl.load(dy + at, mask=ok, other=0.0, eviction_policy="evict_first").to(tl.float32)
        hat = (tl.load(x + at, mask=ok, other=0.0, eviction_policy="evict_first").to(tl.float32) - m) * scale
        tl.store(dx + at, ((g * weight - a - hat * b) * scale).to(dx.dtype.element_ty), mask=ok)


@case
def nu_group_norm_bwd_last(N=32, HW=31 * 33, C=640, G=32):
    dy, x, w = rand(N, HW, C, dtype=F16), rand(N, HW, C, dtype=F16), rand(C)
    mean, rstd = empty(N, G), empty(N, G)
    grouped = x.float().view(N, HW, G, C // G)
    mean.copy_(grouped.mean((1, 3)))
    rstd.copy_(torch.rsqrt(grouped.var((1, 3), unbiased=False) + 1e-5))
    dx, dw, db = empty(N, HW, C, dtype=F16), empty(N, C), empty(N, C)

    def reference():
        hat = (x.float().view(N, HW, G, -1) - mean[:, None, :, None]) * rstd[:, None, :, None]
        g = dy.float().view(N, HW, G, -1)
        wg = g * w.view(G, -1)
        d = wg - wg.mean((1, 3), keepdim=True) - hat * (wg * hat).mean((1, 3), keepdim=True)
        return d * rstd[:, None, :, None], (g * hat).sum(1), g.sum(1)

    return Case(group_norm_backward_last, (G, N), (dy, x, w, mean, rstd, dx, dw, db, HW), dict(G=G, CG=C // G, BHW=128, BC=32),
                (dx, dw, db), reference, options=dict(num_warps=8), bytes=N * HW * C * 6)
