# SPDX-License-Identifier: Apache-2.0
"""Rows as training and serving packages write them: norms and their gradients, losses, positions, quantization, routers, optimisers."""
import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, randint, registry, tensor, uniform

CASES, case = registry()
F16, BF16, F8 = torch.float16, torch.bfloat16, torch.float8_e4m3fn


@triton.jit
def rms_bwd_rows(DY, X, W, RSTD, DX, DW, rows, cols, rows_per_program, stride, offset, BLOCK: tl.constexpr):
    """Gradients of a norm of the root mean square with weights of 1 + w; each program sums its rows' gradients of w."""
    pid = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    mask = c < cols
    dw = tl.zeros((BLOCK,), tl.float32)
    w = tl.load(W + c, mask=mask, other=0.0).to(tl.float32) + offset
    first, last = pid * rows_per_program, min((pid + 1) * rows_per_program, rows)
    for row in range(first, last):
        dy = tl.load(DY + row * stride + c, mask=mask, other=0.0).to(tl.float32)
        x = tl.load(X + row * stride + c, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(RSTD + row)
        m = dy * w
        dx = rstd * m - rstd * rstd * rstd * x * (tl.sum(m * x, axis=0) / cols)
        dw += dy * (x * rstd)
        tl.store(DX + row * stride + c, dx.to(DX.dtype.element_ty), mask=mask)
    tl.store(DW + pid * cols + c, dw, mask=mask)


def rms_backward(rows, cols, dtype, programs, block, warps):
    """A case of rms_bwd_rows."""
    dy, x, w, dx, dw = rand(rows, cols, dtype=dtype), rand(rows, cols, dtype=dtype), rand(cols, dtype=dtype), empty(rows, cols, dtype=dtype), \
        empty(programs, cols)
    rstd, per = torch.rsqrt(x.float().square().mean(1) + 1e-6), triton.cdiv(rows, programs)

    def reference():
        m, xf, r = dy.float() * (w.float() + 1.0), x.float(), rstd[:, None]
        parts = torch.zeros(programs, cols, device=DEVICE)
        parts.index_add_(0, torch.arange(rows, device=DEVICE) // per, dy.float() * xf * r)
        return r * m - r**3 * xf * (m * xf).mean(1, keepdim=True), parts

    return Case(rms_bwd_rows, (programs,), (dy, x, w, rstd, dx, dw, rows, cols, per, cols, 1.0), dict(BLOCK=block), (dx, dw), reference,
                options=dict(num_warps=warps), bytes=6 * rows * cols)


@case
def rw_rms_bwd_3072(rows=6000, cols=3072, programs=132):
    return rms_backward(rows, cols, BF16, programs, 4096, 8)


@case
def rw_rms_bwd_7168(rows=4000, cols=7168, programs=264):
    return rms_backward(rows, cols, F16, programs, 8192, 16)


@triton.jit
def dyt_bwd(DY, X, Alpha, Gamma, DX, DA, DG, DB, rows, cols, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    """Gradients of gamma tanh(alpha x) + beta: a block of columns by all rows of its turn."""
    c, turn = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.program_id(1).to(tl.int64)
    mask = c < cols
    alpha = tl.load(Alpha).to(tl.float32)
    gamma = tl.load(Gamma + c, mask=mask, other=0.0).to(tl.float32)
    da, dg, db = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for row in tl.range(turn, rows, ROWS, num_stages=3):
        x = tl.load(X + row * cols + c, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(DY + row * cols + c, mask=mask, other=0.0).to(tl.float32)
        t = 2.0 * tl.sigmoid(2.0 * alpha * x) - 1.0
        inner = dy * gamma * (1.0 - t * t)
        da += inner * x
        dg += dy * t
        db += dy
        tl.store(DX + row * cols + c, (inner * alpha).to(DX.dtype.element_ty), mask=mask)
    tl.store(DA + turn * tl.num_programs(0) + tl.program_id(0), tl.sum(da))
    tl.store(DG + turn * cols + c, dg, mask=mask)
    tl.store(DB + turn * cols + c, db, mask=mask)


@case
def rw_dyt_bwd(rows=8000, cols=4160, turns=64):
    dy, x, alpha, gamma = rand(rows, cols, dtype=BF16), rand(rows, cols, dtype=BF16), tensor([0.6], torch.float32), uniform(cols, low=0.5, dtype=BF16)
    blocks = triton.cdiv(cols, 1024)
    dx, da, dg, db = empty(rows, cols, dtype=BF16), empty(turns, blocks), empty(turns, cols), empty(turns, cols)

    def reference():
        t, turn = torch.tanh(alpha * x.float()), torch.arange(rows, device=DEVICE) % turns
        inner = dy.float() * gamma.float() * (1 - t * t)
        sums = [torch.zeros(turns, cols, device=DEVICE).index_add_(0, turn, y) for y in (inner * x.float(), dy.float() * t, dy.float())]
        wide = torch.nn.functional.pad(sums[0], (0, blocks * 1024 - cols)).view(turns, blocks, 1024).sum(2)
        return inner * alpha, wide, sums[1], sums[2]

    return Case(dyt_bwd, (blocks, turns), (dy, x, alpha, gamma, dx, da, dg, db, rows, cols), dict(BLOCK=1024, ROWS=turns), (dx, da, dg, db), reference,
                options=dict(num_warps=4), bytes=6 * rows * cols)


@triton.jit
def group_norm_planar(X, W, B, Y, Mean, RSTD, C, HW, eps, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    """Norm of a group of channels of (batch, C, HW): sums in one pass, then channel by channel."""
    b, group = tl.program_id(0).to(tl.int64), tl.program_id(1)
    base = (b * C + group * GROUP) * HW
    size = GROUP * HW
    total, squares = 0.0, 0.0
    for start in range(0, size, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(X + base + i, mask=i < size, other=0.0).to(tl.float32)
        total += tl.sum(x)
        squares += tl.sum(x * x)
    mean = total / size
    rstd = 1.0 / tl.sqrt(squares / size - mean * mean + eps)
    for channel in tl.range(GROUP):
        w, shift = tl.load(W + group * GROUP + channel), tl.load(B + group * GROUP + channel)
        for start in range(0, HW, BLOCK):
            i = start + tl.arange(0, BLOCK)
            x = tl.load(X + base + channel * HW + i, mask=i < HW, other=0.0).to(tl.float32)
            y = (x - mean) * rstd * w + shift
            tl.store(Y + base + channel * HW + i, y.to(Y.dtype.element_ty), mask=i < HW)
    tl.store(Mean + b * (C // GROUP) + group, mean)
    tl.store(RSTD + b * (C // GROUP) + group, rstd)


@case
def rw_group_norm_planar(B=24, C=320, HW=3600, groups=32):
    x, w, shift, y, mean, rstd = rand(B, C, HW, dtype=F16), rand(C), rand(C), empty(B, C, HW, dtype=F16), empty(B, groups), empty(B, groups)
    x += 0.5

    def reference():
        whole = x.float().view(B, groups, -1)
        out = torch.nn.functional.group_norm(x.float(), groups, w, shift, 1e-5)
        return out, whole.mean(2), torch.rsqrt(whole.var(2, unbiased=False) + 1e-5)

    return Case(group_norm_planar, (B, groups), (x, w, shift, y, mean, rstd, C, HW, 1e-5), dict(GROUP=C // groups, BLOCK=2048), (y, mean, rstd),
                reference, options=dict(num_warps=8), bytes=6 * B * C * HW)


@triton.jit
def total_variation(P, Q, Loss, Grad, stride, V, scale, BLOCK: tl.constexpr):
    """Half of the sum of |p - q| of a row, and the gradient by p, of probabilities."""
    row = tl.program_id(0).to(tl.int64)
    loss = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, V, BLOCK):
        c = start + tl.arange(0, BLOCK)
        mask = c < V
        p, q = tl.load(P + row * stride + c, mask=mask, other=0.0), tl.load(Q + row * stride + c, mask=mask, other=0.0)
        loss += 0.5 * tl.abs(p.to(tl.float32) - q.to(tl.float32))
        grad = tl.where(p > q, 0.5, -0.5) * scale
        tl.store(Grad + row * stride + c, grad.to(Grad.dtype.element_ty), mask=mask)
    tl.store(Loss + row, tl.sum(loss) * scale)


@case
def rw_total_variation(rows=2000, V=50304):
    p, q = (uniform(rows, V, high=2.0 / V, dtype=BF16) for _ in range(2))
    loss, grad = empty(rows), empty(rows, V, dtype=BF16)

    def reference():
        return (p.float() - q.float()).abs().sum(1) * 0.5 * 0.25, torch.where(p > q, 0.5, -0.5) * 0.25

    return Case(total_variation, (rows,), (p, q, loss, grad, V, V, 0.25), dict(BLOCK=4096), (loss, grad), reference, options=dict(num_warps=16),
                bytes=6 * rows * V)


@triton.jit
def capped_cross_entropy(X, Y, Weights, Loss, ZLoss, Grad, stride, V, count, weight_sum, cap, smoothing, z_scale, IGNORED: tl.constexpr,
                         BLOCK: tl.constexpr):
    """Cross entropy of capped logits with class weights, smoothing and a loss of the normaliser, and its gradient, in two passes."""
    row = tl.program_id(0).to(tl.int64)
    y = tl.load(Y + row)
    X += row * stride
    Grad += row * stride
    if y == IGNORED:
        for start in range(0, V, BLOCK):
            c = start + tl.arange(0, BLOCK)
            tl.store(Grad + c, tl.zeros((BLOCK,), Grad.dtype.element_ty), mask=c < V)
        tl.store(Loss + row, 0.0)
        tl.store(ZLoss + row, 0.0)
        return
    m, d, smooth = float("-inf"), 0.0, 0.0
    target = 2.0 * tl.sigmoid(2.0 * tl.load(X + y).to(tl.float32) / cap) - 1.0
    target = target * cap
    weight_y = tl.load(Weights + y)
    eps = smoothing / V
    for start in range(0, V, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(X + c, mask=c < V, other=float("-inf")).to(tl.float32)
        x = tl.where(c < V, cap * (2.0 * tl.sigmoid(2.0 * x / cap) - 1.0), float("-inf"))
        w = tl.load(Weights + c, mask=c < V, other=0.0)
        smooth += tl.sum(tl.where(c < V, -eps * x * w, 0.0))
        new = tl.maximum(m, tl.max(x))
        d = d * tl.exp(m - new) + tl.sum(tl.exp(x - new))
        m = new
    lse = m + tl.log(d)
    for start in range(0, V, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(X + c, mask=c < V, other=0.0, eviction_policy="evict_first").to(tl.float32)
        t = 2.0 * tl.sigmoid(2.0 * x / cap) - 1.0
        w = tl.load(Weights + c, mask=c < V, other=0.0)
        p = tl.exp(t * cap - lse)
        grad = (1.0 - smoothing) * weight_y * (p - tl.where(c == y, 1.0, 0.0)) / weight_sum
        grad += eps * (p * weight_sum - w) / weight_sum
        grad += 2.0 * z_scale * lse * p / count
        tl.store(Grad + c, (grad * (1.0 - t * t)).to(Grad.dtype.element_ty), mask=c < V)
    loss = (1.0 - smoothing) * weight_y * (lse - target) / weight_sum + (smooth + eps * lse * weight_sum) / weight_sum
    z = z_scale * lse * lse / count
    tl.store(Loss + row, loss + z)
    tl.store(ZLoss + row, z)


@case
def rw_capped_cross_entropy(rows=1100, V=64007, cap=20.0, smoothing=0.1, z_scale=0.01):
    x, y, w = rand(rows, V, dtype=BF16, scale=6.0), randint(0, V, rows, dtype=torch.int64), uniform(V, low=0.5, high=1.5)
    y[::9] = -100
    count, total = float(rows - len(range(0, rows, 9))), float(V)
    loss, z, grad = empty(rows), empty(rows), empty(rows, V, dtype=F16)
    scale = 1e4  # keeps the gradients in the range of f16

    def reference():
        t = torch.tanh(x.float() / cap)
        s, eps, kept = t * cap, smoothing / V, (y >= 0)[:, None]
        lse, p = torch.logsumexp(s, 1, keepdim=True), torch.softmax(s, 1)
        to, wy = y.clamp_min(0)[:, None], w[y.clamp_min(0)][:, None]
        sums, members = total / scale, count / scale
        one = torch.zeros_like(p).scatter_(1, to, 1.0)
        g = (1 - smoothing) * wy * (p - one) / sums + eps * (p * sums - w) / sums + 2 * z_scale * lse * p / members
        zl = z_scale * lse * lse / members
        full = (1 - smoothing) * wy * (lse - s.gather(1, to)) / sums - eps * (s * w).sum(1, keepdim=True) / sums + eps * lse + zl
        return full * kept, zl * kept, g * (1 - t * t) * kept

    return Case(capped_cross_entropy, (rows,), (x, y, w, loss, z, grad, V, V, count / scale, total / scale, cap, smoothing, z_scale),
                dict(IGNORED=-100, BLOCK=8192), (loss, z, grad), reference, options=dict(num_warps=16), bytes=6 * rows * V)


@triton.jit
def clamped_swiglu(X, Y, tokens, F, alpha, limit, BT: tl.constexpr, BF: tl.constexpr):
    """Gates and values in turns, both limited: (value + 1) gate sigmoid(alpha gate)."""
    t = tl.program_id(0).to(tl.int64) * BT + tl.arange(0, BT)
    f = tl.program_id(1) * 2 * BF + tl.arange(0, 2 * BF)
    x = tl.load(X + t[:, None] * (2 * F) + f[None, :], mask=(t < tokens)[:, None] & (f < 2 * F)[None, :], other=0.0)
    gate, value = x.reshape(BT, BF, 2).split()
    gate = tl.minimum(gate.to(tl.float32), limit)
    value = tl.clamp(value.to(tl.float32), -limit, limit)
    y = gate / (1.0 + tl.exp(-alpha * gate)) * (value + 1.0)
    c = tl.program_id(1) * BF + tl.arange(0, BF)
    tl.store(Y + t[:, None] * F + c[None, :], y.to(Y.dtype.element_ty), mask=(t < tokens)[:, None] & (c < F)[None, :])


@case
def rw_clamped_swiglu(tokens=9000, F=2880):
    x, y = rand(tokens, 2 * F, dtype=BF16, scale=4.0), empty(tokens, F, dtype=BF16)

    def reference():
        gate, value = x[:, ::2].float().clamp(max=7.0), x[:, 1::2].float().clamp(-7.0, 7.0)
        return (gate * torch.sigmoid(1.702 * gate) * (value + 1),)

    return Case(clamped_swiglu, (triton.cdiv(tokens, 8), triton.cdiv(F, 256)), (x, y, tokens, F, 1.702, 7.0), dict(BT=8, BF=256), (y,), reference,
                options=dict(num_warps=4), bytes=6 * tokens * F)


@triton.jit
def exact_geglu_bwd(DH, E, G, H, DE, DG, n, BLOCK: tl.constexpr):
    """What a step of a gated gelu by the error function needs again, and the gradients of both parts; 64-bit places."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK).to(tl.int64)
    mask = i < n
    dh, e, g = tl.load(DH + i, mask=mask, other=0), tl.load(E + i, mask=mask, other=0).to(tl.float32), tl.load(G + i, mask=mask, other=0)
    part = 0.5 * (tl.math.erf(tl.math.rsqrt(2.0) * e) + 1.0)
    f = (part * e).to(dh.dtype)
    slope = part + 0.3989422804014327 * e * tl.exp(-0.5 * e * e)
    tl.store(H + i, f * g, mask=mask)
    tl.store(DG + i, dh * f, mask=mask)
    tl.store(DE + i, ((dh * g).to(tl.float32) * slope).to(dh.dtype), mask=mask)


@case
def rw_exact_geglu_bwd(n=6000 * 8200):
    dh, e, g, h, de, dg = (rand(n, dtype=F16) if i < 3 else empty(n, dtype=F16) for i in range(6))

    def reference():
        x = e.float()
        part = 0.5 * (torch.erf(x * 0.7071067811865476) + 1)
        return part * x * g, dh * g * (part + 0.3989422804014327 * x * torch.exp(-0.5 * x * x)), dh * part * x

    return Case(exact_geglu_bwd, (triton.cdiv(n, 1024),), (dh, e, g, h, de, dg, n), dict(BLOCK=1024), (h, de, dg), reference,
                options=dict(num_warps=4), bytes=12 * n)


@triton.jit
def rope_sections(Q, K, Cos, Sin, QO, KO, T, HQ: tl.constexpr, HK: tl.constexpr, HQP: tl.constexpr, HKP: tl.constexpr, D: tl.constexpr,
                  S0: tl.constexpr, S1: tl.constexpr):
    """Rotation by three kinds of places, time, height and width, each for its section of a head; queries and keys of a token."""
    t, d = tl.program_id(0).to(tl.int64), tl.arange(0, D // 2)
    kind = tl.where(d < S0, 0, tl.where(d < S1, 1, 2))
    at = (kind * T + t) * (D // 2) + d
    cos, sin = tl.load(Cos + at)[None, :], tl.load(Sin + at)[None, :]
    hq, hk = tl.arange(0, HQP)[:, None], tl.arange(0, HKP)[:, None]
    q_at, k_at = (t * HQ + hq) * D + d[None, :], (t * HK + hk) * D + d[None, :]
    q1, q2 = tl.load(Q + q_at, mask=hq < HQ, other=0).to(tl.float32), tl.load(Q + q_at + D // 2, mask=hq < HQ, other=0).to(tl.float32)
    k1, k2 = tl.load(K + k_at, mask=hk < HK, other=0).to(tl.float32), tl.load(K + k_at + D // 2, mask=hk < HK, other=0).to(tl.float32)
    tl.store(QO + q_at, (q1 * cos - q2 * sin).to(QO.dtype.element_ty), mask=hq < HQ)
    tl.store(QO + q_at + D // 2, (q2 * cos + q1 * sin).to(QO.dtype.element_ty), mask=hq < HQ)
    tl.store(KO + k_at, (k1 * cos - k2 * sin).to(KO.dtype.element_ty), mask=hk < HK)
    tl.store(KO + k_at + D // 2, (k2 * cos + k1 * sin).to(KO.dtype.element_ty), mask=hk < HK)


@case
def rw_rope_sections(T=9000, HQ=28, HK=4, D=128):
    q, k, angle = rand(T, HQ, D, dtype=BF16), rand(T, HK, D, dtype=BF16), uniform(3, T, D // 2, high=6.0)
    cos, sin, qo, ko = torch.cos(angle), torch.sin(angle), empty(T, HQ, D, dtype=BF16), empty(T, HK, D, dtype=BF16)

    def reference():
        c, s = (torch.cat((x[0, :, :16], x[1, :, 16:40], x[2, :, 40:]), 1)[:, None] for x in (cos, sin))
        halves = [(x[..., :D // 2].float(), x[..., D // 2:].float()) for x in (q, k)]
        return tuple(torch.cat((a * c - b * s, b * c + a * s), 2) for a, b in halves)

    return Case(rope_sections, (T,), (q, k, cos, sin, qo, ko, T), dict(HQ=HQ, HK=HK, HQP=32, HKP=4, D=D, S0=16, S1=40), (qo, ko), reference,
                options=dict(num_warps=4), bytes=4 * T * (HQ + HK) * D)


@triton.jit
def cache_nibbles(K, slots, Cache, Meta, T, H, D: tl.constexpr, GROUP: tl.constexpr, BT: tl.constexpr):
    """Keys into a cache of 4 bits: two neighbours a byte, and a scale and a least value for each group of a head."""
    t, h = tl.program_id(0) * BT + tl.arange(0, BT), tl.program_id(1)
    inside, d = t < T, tl.arange(0, D)
    slot = tl.load(slots + t, mask=inside, other=-1)
    x = tl.load(K + (t[:, None] * H + h) * D + d[None, :], mask=inside[:, None], other=0.0).to(tl.float32)
    x = x.reshape(BT, D // GROUP, GROUP)
    least, most = tl.min(x, 2), tl.max(x, 2)
    scale = tl.maximum((most - least) / 15.0, 1.0e-6)
    q = tl.minimum(tl.floor((x - least[:, :, None]) / scale[:, :, None] + 0.5), 15.0).to(tl.uint8)
    low, high = q.reshape(BT, D // 2, 2).split()
    live = inside & (slot >= 0)
    byte, g = tl.arange(0, D // 2), tl.arange(0, D // GROUP)
    tl.store(Cache + (slot[:, None] * H + h) * (D // 2) + byte[None, :], low | (high << 4), mask=live[:, None])
    at = ((slot[:, None] * H + h) * (D // GROUP) + g[None, :]) * 2
    tl.store(Meta + at, scale, mask=live[:, None])
    tl.store(Meta + at + 1, least, mask=live[:, None])


@case
def rw_cache_nibbles(T=30000, H=8, D=128, group=32):
    k, slots = rand(T, H, D, dtype=BF16), torch.randperm(T, device=DEVICE)
    cache, meta = empty(T, H, D // 2, dtype=torch.uint8), empty(T, H, D // group, 2)

    def reference():
        x = k.float().view(T, H, D // group, group)
        least = x.amin(3, keepdim=True)
        scale = ((x.amax(3, keepdim=True) - least) / 15).clamp_min(1e-6)
        q = torch.floor((x - least) / scale + 0.5).clamp(max=15).to(torch.uint8).view(T, H, D // 2, 2)
        out, info = torch.empty_like(cache), torch.empty_like(meta)
        out[slots], info[slots] = q[..., 0] | q[..., 1] << 4, torch.cat((scale, least), 3)
        return out, info

    return Case(cache_nibbles, (triton.cdiv(T, 16), H), (k, slots, cache, meta, T, H), dict(D=D, GROUP=group, BT=16), (cache, meta), reference,
                options=dict(num_warps=4), bytes=T * H * (2.5 * D + 8 * D // group))


@triton.jit
def sparsemax(X, Y, cols, stride, BLOCK: tl.constexpr):
    """The nearest point of the simplex to a row: the support is found by sorting and running sums."""
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    x = tl.load(X + row * stride + c, mask=c < cols, other=-1.0e9).to(tl.float32)
    z = tl.sort(x, descending=True)
    sums = tl.cumsum(tl.where(c < cols, z, 0.0), 0)
    support = (1.0 + (c + 1) * z > sums) & (c < cols)
    size = tl.sum(support.to(tl.int32))
    tau = (tl.sum(tl.where(support, z, 0.0)) - 1.0) / size
    tl.store(Y + row * stride + c, tl.maximum(x - tau, 0.0).to(Y.dtype.element_ty), mask=c < cols)


@case
def rw_sparsemax(rows=6000, cols=1500):
    x, y = rand(rows, cols), empty(rows, cols)

    def reference():
        z = x.sort(1, descending=True).values
        sums, place = z.cumsum(1), torch.arange(1, cols + 1, device=DEVICE)
        size = (1 + place * z > sums).sum(1, keepdim=True)
        return (torch.relu(x - (sums.gather(1, size - 1) - 1) / size),)

    return Case(sparsemax, (rows,), (x, y, cols, cols), dict(BLOCK=2048), (y,), reference, options=dict(num_warps=8), bytes=8 * rows * cols)


@triton.jit
def router_bwd(Scores, Ids, DWeights, DScores, tokens, E: tl.constexpr, TOP: tl.constexpr, BT: tl.constexpr):
    """Gradients of logits through a softmax, the choice of TOP and their normalisation."""
    t, e, j = tl.program_id(0) * BT + tl.arange(0, BT), tl.arange(0, E), tl.arange(0, TOP)
    inside = t < tokens
    ids = tl.load(Ids + t[:, None] * TOP + j[None, :], mask=inside[:, None], other=0)
    dw = tl.load(DWeights + t[:, None] * TOP + j[None, :], mask=inside[:, None], other=0.0)
    x = tl.load(Scores + t[:, None] * E + e[None, :], mask=inside[:, None], other=0.0).to(tl.float32)
    p = tl.exp(x - tl.max(x, 1)[:, None])
    p = p / tl.sum(p, 1)[:, None]
    chosen = ids[:, :, None] == e[None, None, :]
    kept = tl.sum(tl.where(chosen, p[:, None, :], 0.0), 2)
    total = tl.sum(kept, 1)[:, None]
    dkept = (dw - tl.sum(dw * kept, 1)[:, None] / total) / total
    dp = tl.sum(tl.where(chosen, dkept[:, :, None], 0.0), 1)
    dx = p * (dp - tl.sum(p * dp, 1)[:, None])
    tl.store(DScores + t[:, None] * E + e[None, :], dx, mask=inside[:, None])


@case
def rw_router_bwd(tokens=70000, E=64, TOP=8):
    scores, dw, dx = rand(tokens, E, dtype=BF16), rand(tokens, TOP), empty(tokens, E)
    ids = scores.float().topk(TOP, 1).indices.to(torch.int32)

    def reference():
        p = torch.softmax(scores.float(), 1)
        kept = p.gather(1, ids.long())
        total = kept.sum(1, keepdim=True)
        dkept = (dw - (dw * kept).sum(1, keepdim=True) / total) / total
        dp = torch.zeros_like(p).scatter_(1, ids.long(), dkept)
        return (p * (dp - (p * dp).sum(1, keepdim=True)),)

    return Case(router_bwd, (triton.cdiv(tokens, 8),), (scores, ids, dw, dx, tokens), dict(E=E, TOP=TOP, BT=8), (dx,), reference,
                options=dict(num_warps=4), bytes=tokens * (E * 6 + TOP * 8))


@triton.jit
def permute_quantized(X, Places, Y, S, tokens, D, TOP: tl.constexpr, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    """A token's row as fp8 with a scale for each GROUP, written to the places of its experts; -1 is none."""
    t, block = tl.program_id(0), tl.program_id(1)
    g, i = block * (BLOCK // GROUP) + tl.arange(0, BLOCK // GROUP), tl.arange(0, GROUP)
    at = g[:, None] * GROUP + i[None, :]
    x = tl.load(X + t.to(tl.int64) * D + at, mask=at < D, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(x), 1), 1.0e-10) / 448.0
    y = (x / scale[:, None]).to(Y.dtype.element_ty)
    for j in tl.static_range(TOP):
        place = tl.load(Places + t * TOP + j).to(tl.int64)
        if place >= 0:
            tl.store(Y + place * D + at, y, mask=at < D)
            tl.store(S + place * (D // GROUP) + g, scale, mask=g < D // GROUP)


@case
def rw_permute_quantized(tokens=5000, D=5120, TOP=6):
    x, places = rand(tokens, D, dtype=BF16), torch.randperm(tokens * TOP, device=DEVICE).to(torch.int32).view(tokens, TOP)
    y, s = empty(tokens * TOP, D, dtype=F8), empty(tokens * TOP, D // 128)

    def reference():
        groups = x.float().view(tokens, D // 128, 128)
        scale = groups.abs().amax(2) / 448.0
        q = (groups / scale[:, :, None]).to(F8).view(tokens, D).view(torch.uint8)
        out, scales = torch.empty(tokens * TOP, D, dtype=torch.uint8, device=DEVICE), torch.empty_like(s)
        for j in range(TOP):
            out[places[:, j].long()], scales[places[:, j].long()] = q, scale
        return out.view(F8), scales

    return Case(permute_quantized, (tokens, triton.cdiv(D, 2048)), (x, places, y, s, tokens, D), dict(TOP=TOP, GROUP=128, BLOCK=2048), (y, s),
                reference, rtol=2e-2, options=dict(num_warps=4), bytes=tokens * D * (2 + TOP))


@triton.jit
def chosen_tokens_add(X, Y, Place, Router, Out, D, BLOCK: tl.constexpr):
    """Each token, with what a block gave for it where it was chosen, by the router's weight."""
    t = tl.program_id(0).to(tl.int64)
    place = tl.load(Place + t).to(tl.int64)
    weight = tl.sigmoid(tl.load(Router + t).to(tl.float32))
    for start in range(0, D, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(X + t * D + c, mask=c < D, other=0.0, cache_modifier=".cg")
        y = tl.load(Y + place * D + c, mask=(c < D) & (place >= 0), other=0.0, cache_modifier=".cg")
        tl.store(Out + t * D + c, (x.to(tl.float32) + weight * y.to(tl.float32)).to(Out.dtype.element_ty), mask=c < D, cache_modifier=".cs")


@case
def rw_chosen_tokens_add(T=12000, chosen=1536, D=4096):
    x, y, router, out = rand(T, D, dtype=BF16), rand(chosen, D, dtype=BF16), rand(T, dtype=BF16), empty(T, D, dtype=BF16)
    which = torch.randperm(T, device=DEVICE)[:chosen]
    place = torch.full((T,), -1, dtype=torch.int32, device=DEVICE)
    place[which] = torch.arange(chosen, device=DEVICE, dtype=torch.int32)

    def reference():
        total = x.float().clone()
        total[which] += torch.sigmoid(router[which].float())[:, None] * y.float()
        return (total,)

    return Case(chosen_tokens_add, (T,), (x, y, place, router, out, D), dict(BLOCK=2048), (out,), reference, options=dict(num_warps=8),
                bytes=(2 * T + chosen) * D * 2)


@triton.jit
def code_by_search(X, Code, Q, AbsMax, n, BLOCK: tl.constexpr, PER: tl.constexpr):
    """Blocks by their largest magnitude and the nearest of 256 codes, by binary search in a sorted table."""
    block = tl.program_id(0) * PER + tl.arange(0, PER)
    at = block[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(X + at, mask=at < n, other=0.0)
    top = tl.max(tl.abs(x), 1)
    y = x / tl.maximum(top, 1.0e-20)[:, None]
    low, high = tl.zeros((PER, BLOCK), tl.int32), tl.full((PER, BLOCK), 255, tl.int32)
    for _ in range(8):
        middle = (low + high) // 2
        under = y > tl.load(Code + middle)
        low, high = tl.where(under, middle, low), tl.where(under, high, middle)
    nearer = y - tl.load(Code + low) < tl.load(Code + high) - y
    tl.store(Q + at, tl.where(nearer, low, high).to(tl.uint8), mask=at < n)
    tl.store(AbsMax + block, top, mask=block * BLOCK < n)


@case
def rw_code_by_search(n=9_000_000, block=256):
    grid = torch.linspace(-1, 1, 256, device="cpu", dtype=torch.float64)
    code = (grid.sign() * grid.abs()**1.7).float().tolist()
    x, table = rand(n), tensor(code, torch.float32)
    blocks = triton.cdiv(n, block)
    q, top = empty(n, dtype=torch.uint8), empty(blocks)

    def reference():
        wide = torch.nn.functional.pad(x, (0, blocks * block - n)).view(blocks, block)
        high = wide.abs().amax(1)
        y = (wide / high[:, None]).view(-1)[:n]
        upper = torch.searchsorted(table, y).clamp(1, 255)
        return torch.where(y - table[upper - 1] < table[upper] - y, upper - 1, upper).to(torch.uint8), high

    return Case(code_by_search, (triton.cdiv(blocks, 4),), (x, table, q, top, n), dict(BLOCK=block, PER=4), (q, top), reference,
                options=dict(num_warps=4), bytes=5 * n)


@triton.jit
def min_p_renormalised(Logits, Temperature, MinP, Probs, V, stride, BLOCK: tl.constexpr):
    """Probabilities at a row's temperature without those below a part of the largest; three passes."""
    row = tl.program_id(0).to(tl.int64)
    scale, least = 1.4426950408889634 / tl.load(Temperature + row), tl.load(MinP + row)
    i = tl.arange(0, BLOCK)
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    for start in range(0, V, BLOCK):
        best = tl.maximum(best, tl.load(Logits + row * stride + start + i, mask=start + i < V, other=float("-inf")).to(tl.float32))
    top = tl.max(best) * scale
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, V, BLOCK):
        x = tl.load(Logits + row * stride + start + i, mask=start + i < V, other=float("-inf")).to(tl.float32)
        p = tl.math.exp2(x * scale - top)
        total += tl.where(p >= least, p, 0.0)
    norm = 1.0 / tl.sum(total)
    for start in range(0, V, BLOCK):
        x = tl.load(Logits + row * stride + start + i, mask=start + i < V, other=float("-inf")).to(tl.float32)
        p = tl.math.exp2(x * scale - top)
        tl.store(Probs + row * stride + start + i, tl.where(p >= least, p * norm, 0.0), mask=start + i < V)


@case
def rw_min_p_renormalised(rows=256, V=151936):
    x, temperature, least, probs = rand(rows, V, scale=2.0, dtype=F16), uniform(rows, low=0.5, high=1.5), uniform(rows, low=0.02, high=0.2), empty(rows, V)

    def reference():
        p = torch.softmax(x.float() / temperature[:, None], 1)
        p = torch.where(p >= least[:, None] * p.amax(1, keepdim=True), p, 0.0)
        return (p / p.sum(1, keepdim=True),)

    return Case(min_p_renormalised, (rows,), (x, temperature, least, probs, V, V), dict(BLOCK=4096), (probs,), reference, options=dict(num_warps=8),
                bytes=6 * rows * V)


@triton.jit
def clipped_policy(Logits, Ids, Old, Ref, Advantage, Loss, Grad, T, V, beta, eps_low, eps_high, temperature, BLOCK: tl.constexpr):
    """A clipped ratio's loss with a penalty of divergence, of a token's logits, and its gradient by them."""
    b, t = tl.program_id(0), tl.program_id(1)
    row = (b * T + t).to(tl.int64)
    m, d = float("-inf"), 0.0
    for start in range(0, V, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(Logits + row * V + c, mask=c < V, other=float("-inf")).to(tl.float32) / temperature
        new = tl.maximum(m, tl.max(x))
        d = d * tl.exp(m - new) + tl.sum(tl.exp(x - new))
        m = new
    lse, token = m + tl.log(d), tl.load(Ids + row)
    logp = tl.load(Logits + row * V + token).to(tl.float32) / temperature - lse
    advantage, away = tl.load(Advantage + b), tl.load(Ref + row) - logp
    ratio = tl.exp(logp - tl.load(Old + row))
    clipped = tl.clamp(ratio, 1.0 - eps_low, 1.0 + eps_high)
    free = ratio * advantage <= clipped * advantage
    loss = -tl.minimum(ratio * advantage, clipped * advantage) + beta * (tl.exp(away) - away - 1.0)
    tl.store(Loss + row, loss)
    slope = (tl.where(free, -ratio * advantage, 0.0) + beta * (1.0 - tl.exp(away))) / temperature
    for start in range(0, V, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(Logits + row * V + c, mask=c < V, other=float("-inf")).to(tl.float32) / temperature
        grad = (tl.where(c == token, 1.0, 0.0) - tl.exp(x - lse)) * slope
        tl.store(Grad + row * V + c, grad.to(Grad.dtype.element_ty), mask=c < V)


@case
def rw_clipped_policy(B=6, T=200, V=50000):
    logits, ids, advantage = rand(B, T, V, dtype=BF16), randint(0, V, B, T, dtype=torch.int64), rand(B)
    now = torch.log_softmax(logits.float() / 0.9, 2).gather(2, ids[:, :, None])[:, :, 0]
    old, ref, loss, grad = now + rand(B, T, scale=0.3), now + rand(B, T, scale=0.3), empty(B, T), empty(B, T, V, dtype=BF16)

    def reference():
        all_logp = torch.log_softmax(logits.float() / 0.9, 2)
        logp = all_logp.gather(2, ids[:, :, None])[:, :, 0]
        ratio, a, away = torch.exp(logp - old), advantage[:, None], ref - logp
        clipped = ratio.clamp(0.8, 1.25)
        slope = torch.where(ratio * a <= clipped * a, -ratio * a, 0.0) + 0.04 * (1 - torch.exp(away))
        out = -torch.exp(all_logp)
        out.scatter_add_(2, ids[:, :, None], torch.ones_like(ids[:, :, None], dtype=torch.float32))
        return -torch.minimum(ratio * a, clipped * a) + 0.04 * (torch.exp(away) - away - 1), out * slope[:, :, None] / 0.9

    return Case(clipped_policy, (B, T), (logits, ids, old, ref, advantage, loss, grad, T, V, 0.04, 0.2, 0.25, 0.9), dict(BLOCK=2048), (loss, grad),
                reference, options=dict(num_warps=8), bytes=6 * B * T * V)


@triton.jit
def unit_rows_bwd(Y, RSTD, DY, DX, T, D: tl.constexpr, BT: tl.constexpr):
    """Gradients of rows scaled to unit length, by a tile of rows: block pointers."""
    shape, at = (T, D), (tl.program_id(0) * BT, 0)
    y_at = tl.make_block_ptr(Y, shape, (D, 1), at, (BT, D), (1, 0))
    dy_at = tl.make_block_ptr(DY, shape, (D, 1), at, (BT, D), (1, 0))
    dx_at = tl.make_block_ptr(DX, shape, (D, 1), at, (BT, D), (1, 0))
    r_at = tl.make_block_ptr(RSTD, (T,), (1,), (tl.program_id(0) * BT,), (BT,), (0,))
    y, dy = tl.load(y_at, boundary_check=(0,)).to(tl.float32), tl.load(dy_at, boundary_check=(0,)).to(tl.float32)
    r = tl.load(r_at, boundary_check=(0,))
    dx = (dy - tl.sum(dy * y, 1)[:, None] * y) * r[:, None]
    tl.store(dx_at, dx.to(DX.dtype.element_ty), boundary_check=(0,))


@case
def rw_unit_rows_bwd(T=250_001, D=128):
    x, dy, dx = rand(T, D), rand(T, D, dtype=BF16), empty(T, D, dtype=BF16)
    rstd = torch.rsqrt(x.square().sum(1) + 1e-6)
    y = (x * rstd[:, None]).to(BF16)

    def reference():
        return ((dy.float() - (dy.float() * y.float()).sum(1, keepdim=True) * y.float()) * rstd[:, None],)

    return Case(unit_rows_bwd, (triton.cdiv(T, 32),), (y, rstd, dy, dx, T), dict(D=D, BT=32), (dx,), reference, options=dict(num_warps=8),
                bytes=6 * T * D)


@triton.jit
def adamw_compensated(P, G, M, S, C, PO, MO, SO, CO, lr, beta1, beta2, eps, decay, bias1, bias2, n, BLOCK: tl.constexpr):
    """A step of AdamW on bf16 with a second bf16 of what rounding lost; states of bf16 too; results lie apart."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    p, g = tl.load(P + i, mask=mask).to(tl.float32), tl.load(G + i, mask=mask).to(tl.float32)
    m, s, c = tl.load(M + i, mask=mask).to(tl.float32), tl.load(S + i, mask=mask).to(tl.float32), tl.load(C + i, mask=mask).to(tl.float32)
    m = beta1 * m + (1.0 - beta1) * g
    s = beta2 * s + (1.0 - beta2) * g * g
    step = -lr * (m / bias1 / (tl.sqrt_rn(s / bias2) + eps) + decay * p) + c
    new = (p + step).to(PO.dtype.element_ty)
    tl.store(PO + i, new, mask=mask)
    tl.store(CO + i, (step - (new.to(tl.float32) - p)).to(CO.dtype.element_ty), mask=mask)
    tl.store(MO + i, m.to(MO.dtype.element_ty), mask=mask)
    tl.store(SO + i, s.to(SO.dtype.element_ty), mask=mask)


@case
def rw_adamw_compensated(n=40_000_003):
    p, g, m = rand(n, dtype=BF16), rand(n, dtype=BF16), rand(n, dtype=BF16, scale=0.1)
    s, c = uniform(n, low=0.1, dtype=BF16), rand(n, dtype=BF16, scale=1e-4)
    po, mo, so, co = (empty(n, dtype=BF16) for _ in range(4))

    def reference():
        m1, s1 = 0.9 * m.float() + (1 - 0.9) * g.float(), 0.95 * s.float() + (1 - 0.95) * g.float().square()
        step = -1e-2 * (m1 / 0.5 / (torch.sqrt(s1 / 0.7) + 1e-8) + 0.1 * p.float()) + c.float()
        new = (p.float() + step).to(p.dtype)
        return new, m1, s1, step - (new.float() - p.float())

    return Case(adamw_compensated, (triton.cdiv(n, 1024),), (p, g, m, s, c, po, mo, so, co, 1e-2, 0.9, 0.95, 1e-8, 0.1, 0.5, 0.7, n),
                dict(BLOCK=1024), (po, mo, so, co), reference, rtol=5e-2, options=dict(num_warps=4), bytes=18 * n)


@triton.jit
def masked_softmax_4d(X, Mask, Y, scale, H, M, N, BLOCK: tl.constexpr):
    """Scaled scores of (batch, H, M, N) with a mask of bytes that the heads share; hidden rows give zeros."""
    row = tl.program_id(0)
    b, m = row // (H * M), row % M
    c = tl.arange(0, BLOCK)
    hidden = tl.load(Mask + (b * M + m) * N + c, mask=c < N, other=1)
    x = tl.load(X + row.to(tl.int64) * N + c, mask=c < N, other=0.0).to(tl.float32) * scale
    x = tl.where(hidden == 1, -10000.0, x)
    x = tl.where(c < N, x, float("-inf"))
    top = tl.max(x, 0)
    p = tl.exp(x - top)
    p = tl.where(top == -10000.0, 0.0, p / tl.sum(p, 0))
    tl.store(Y + row.to(tl.int64) * N + c, p.to(Y.dtype.element_ty), mask=c < N)


@case
def rw_masked_softmax_4d(B=4, H=16, M=1000, N=1000):
    x, hidden, y = rand(B, H, M, N, dtype=F16), (uniform(B, M, N) < 0.3).to(torch.uint8), empty(B, H, M, N, dtype=F16)
    hidden[:, ::50] = 1

    def reference():
        s = (x.float() * 0.5).masked_fill(hidden[:, None].bool(), float("-inf"))
        return (torch.softmax(s, 3).nan_to_num(0.0),)

    return Case(masked_softmax_4d, (B * H * M,), (x, hidden, y, 0.5, H, M, N), dict(BLOCK=1024), (y,), reference, options=dict(num_warps=1),
                bytes=4 * B * H * M * N)
