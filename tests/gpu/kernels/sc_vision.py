# SPDX-License-Identifier: Apache-2.0
"""Layers of vision networks."""
import torch
import triton
import triton.language as tl

from case import Case, empty, rand, registry, uniform

CASES, case = registry()
F = torch.nn.functional


@triton.jit
def conv_nhwc(x, w, bias, y, N, H, W, C, K, P, Q, S: tl.constexpr, TAPS: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr,
              BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Implicit GEMM: rows are pixels of the output, the inner dimension runs over taps and channels."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    k = tl.program_id(1) * BN + tl.arange(0, BN)
    n = m // (P * Q)
    p = m % (P * Q) // Q * STRIDE - PAD
    q = m % Q * STRIDE - PAD
    c = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    per_tap = tl.cdiv(C, BK)
    for step in range(TAPS * per_tap):
        tap = step // per_tap
        channel = step % per_tap * BK + c
        h = p + tap // S
        v = q + tap % S
        inside = (n < N) & (h >= 0) & (h < H) & (v >= 0) & (v < W)
        a = tl.load(x + ((n * H + h) * W + v)[:, None] * C + channel[None, :], mask=inside[:, None] & (channel < C)[None, :], other=0.0)
        b = tl.load(w + (tap * C + channel)[:, None] * K + k[None, :], mask=(channel < C)[:, None] & (k < K)[None, :], other=0.0)
        acc = tl.dot(a, b, acc)
    acc = tl.maximum(acc + tl.load(bias + k, mask=k < K, other=0.0)[None, :], 0.0)
    tl.store(y + m[:, None] * K + k[None, :], acc.to(y.dtype.element_ty), mask=(m < N * P * Q)[:, None] & (k < K)[None, :])


def conv_case(N, H, W, C, K, R, stride, pad, BM, BN, BK, warps, stages):
    P, Q = (H + 2 * pad - R) // stride + 1, (W + 2 * pad - R) // stride + 1
    x, w, bias = rand(N, H, W, C, dtype=torch.float16), rand(R, R, C, K, dtype=torch.float16, scale=0.1), rand(K)
    y = empty(N, P, Q, K, dtype=torch.float16)
    return Case(conv_nhwc, (triton.cdiv(N * P * Q, BM), triton.cdiv(K, BN)), (x, w, bias, y, N, H, W, C, K, P, Q),
                dict(S=R, TAPS=R * R, STRIDE=stride, PAD=pad, BM=BM, BN=BN, BK=BK), (y,),
                lambda: (F.conv2d(x.permute(0, 3, 1, 2).float(), w.permute(3, 2, 0, 1).float(), bias, stride, pad).relu().permute(0, 2, 3, 1),),
                options=dict(num_warps=warps, num_stages=stages), flops=2 * N * P * Q * K * C * R * R)


@case
def sc_conv_nhwc_3x3(N=32, H=56, W=56, C=128, K=128):
    return conv_case(N, H, W, C, K, 3, 1, 1, 128, 128, 64, 8, 3)


@case
def sc_conv_nhwc_5x5_odd(N=64, H=61, W=67, C=48, K=72):
    return conv_case(N, H, W, C, K, 5, 2, 2, 64, 128, 32, 4, 4)


@triton.jit
def conv_transpose_4x4(x, w, y, N, H, W, C: tl.constexpr, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Stride 2, padding 1: a program makes outputs of one parity, to which 2 x 2 of the taps come."""
    py = tl.program_id(2) // 2
    px = tl.program_id(2) % 2
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n, iy, ix = m // (H * W), m // W % H, m % W
    k = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for ty in tl.static_range(2):
        for tx in tl.static_range(2):
            sy = iy + py - ty
            sx = ix + px - tx
            ok = (n < N) & (sy >= 0) & (sy < H) & (sx >= 0) & (sx < W)
            tap = (1 - py + 2 * ty) * 4 + 1 - px + 2 * tx
            for c0 in range(0, C, BK):
                c = c0 + tl.arange(0, BK)
                a = tl.load(x + ((n * H + sy) * W + sx)[:, None] * C + c, ok[:, None], 0.0)
                acc += tl.dot(a, tl.load(w + (tap * C + c)[:, None] * K + k))
    to = (n * 2 * H + 2 * iy + py) * 2 * W + 2 * ix + px
    tl.store(y + to[:, None] * K + k, acc.to(tl.bfloat16), (n < N)[:, None])


@case
def sc_conv_transpose_4x4(N=16, H=32, W=30, C=256, K=128):
    x, w = rand(N, H, W, C, dtype=torch.bfloat16), rand(4, 4, C, K, dtype=torch.bfloat16, scale=0.1)
    y = empty(N, 2 * H, 2 * W, K, dtype=torch.bfloat16)
    return Case(conv_transpose_4x4, (triton.cdiv(N * H * W, 128), K // 128, 4), (x, w, y, N, H, W), dict(C=C, K=K, BM=128, BN=128, BK=64), (y,),
                lambda: (F.conv_transpose2d(x.permute(0, 3, 1, 2).float(), w.permute(2, 3, 0, 1).float(), stride=2, padding=1).permute(0, 2, 3, 1),),
                options=dict(num_warps=8, num_stages=3), flops=32 * N * H * W * C * K)


@triton.jit
def depthwise_7x7(x, w, bias, y, H, W, C, BX: tl.constexpr, BC: tl.constexpr):
    row = tl.program_id(1)
    n, h = row // H, row % H
    v = tl.program_id(0) * BX + tl.arange(0, BX)
    c = tl.program_id(2) * BC + tl.arange(0, BC)
    cm = (c < C)[None, :]
    acc = tl.zeros((BX, BC), tl.float32) + tl.load(bias + c, c < C, 0.0)[None, :]
    for r in range(7):
        if (h + r >= 3) & (h + r < H + 3):
            line = x + ((n * H + h + r - 3) * W).to(tl.int64) * C
            for s in tl.static_range(7):
                u = v + s - 3
                tile = tl.load(line + u[:, None] * C + c[None, :], ((u >= 0) & (u < W))[:, None] & cm, 0.0)
                acc += tile.to(tl.float32) * tl.load(w + (r * 7 + s) * C + c, c < C, 0.0)[None, :]
    tl.store(y + row.to(tl.int64) * W * C + v[:, None] * C + c[None, :], acc.to(tl.bfloat16), (v < W)[:, None] & cm)


@case
def sc_depthwise_7x7(N=32, H=56, W=56, C=96):
    x, w, bias, y = rand(N, H, W, C, dtype=torch.bfloat16), rand(7, 7, C), rand(C), empty(N, H, W, C, dtype=torch.bfloat16)
    return Case(depthwise_7x7, (triton.cdiv(W, 16), N * H, triton.cdiv(C, 32)), (x, w, bias, y, H, W, C), dict(BX=16, BC=32), (y,),
                lambda: (F.conv2d(x.permute(0, 3, 1, 2).float(), w.permute(2, 0, 1)[:, None], bias, padding=3, groups=C).permute(0, 2, 3, 1),),
                options=dict(num_warps=2), bytes=4 * N * H * W * C)


@triton.jit
def max_pool(x, y, where, H, W, P, Q, BP: tl.constexpr, BQ: tl.constexpr):
    """3 x 3, stride 2, padding 1, with the places of the maxima."""
    plane = tl.program_id(2).to(tl.int64)
    p = tl.program_id(1) * BP + tl.arange(0, BP)[:, None]
    q = tl.program_id(0) * BQ + tl.arange(0, BQ)[None, :]
    best = tl.full((BP, BQ), float("-inf"), x.dtype.element_ty)
    place = tl.zeros((BP, BQ), tl.int32)
    for i in tl.static_range(3):
        for j in tl.static_range(3):
            h, w = 2 * p - 1 + i, 2 * q - 1 + j
            v = tl.load(x + plane * H * W + h * W + w, mask=(h >= 0) & (h < H) & (w >= 0) & (w < W), other=float("-inf"))
            better = v > best
            best = tl.where(better, v, best)
            place = tl.where(better, h * W + w, place)
    ok = (p < P) & (q < Q)
    tl.store(y + plane * P * Q + p * Q + q, best, ok)
    tl.store(where + plane * P * Q + p * Q + q, place, ok)


@case
def sc_max_pool_indices(planes=32 * 64, H=112, W=112):
    P, Q = (H + 1) // 2, (W + 1) // 2
    x, y, where = rand(planes, H, W, dtype=torch.float16), empty(planes, P, Q, dtype=torch.float16), empty(planes, P, Q, dtype=torch.int32)
    return Case(max_pool, (triton.cdiv(Q, 64), triton.cdiv(P, 8), planes), (x, y, where, H, W, P, Q), dict(BP=8, BQ=64), (y, where),
                lambda: F.max_pool2d(x.float(), 3, 2, 1, return_indices=True), options=dict(num_warps=2),
                bytes=planes * (2 * H * W + 6 * P * Q))


@triton.jit
def group_norm_silu(x, gamma, beta, y, mean_out, rstd_out, eps, G, HW, PER: tl.constexpr, BLOCK: tl.constexpr):
    """NCHW; a program per image and group, the second pass reads again what should be in L2."""
    pid = tl.program_id(0)
    size = PER * HW
    base = pid.to(tl.int64) * size
    total = tl.zeros((BLOCK,), tl.float32)
    square = tl.zeros((BLOCK,), tl.float32)
    for i in range(0, size, BLOCK):
        at = i + tl.arange(0, BLOCK)
        v = tl.load(x + base + at, at < size, 0.0, eviction_policy="evict_last").to(tl.float32)
        total += v
        square += v * v
    mean = tl.sum(total) / size
    rstd = 1.0 / tl.sqrt(tl.sum(square) / size - mean * mean + eps)
    tl.store(mean_out + pid, mean)
    tl.store(rstd_out + pid, rstd)
    first = pid % G * PER
    for i in range(0, size, BLOCK):
        at = i + tl.arange(0, BLOCK)
        c = first + at // HW
        v = (tl.load(x + base + at, at < size, 0.0).to(tl.float32) - mean) * rstd
        v = v * tl.load(gamma + c, at < size, 0.0) + tl.load(beta + c, at < size, 0.0)
        tl.store(y + base + at, v * tl.sigmoid(v), at < size)


@case
def sc_group_norm_silu(N=64, C=320, HW=64 * 63, G=32):
    x, gamma, beta = rand(N, C, HW, dtype=torch.float16), rand(C), rand(C)
    y, mean, rstd = empty(N, C, HW, dtype=torch.float16), empty(N, G), empty(N, G)

    def reference():
        v = x.float().view(N, G, -1)
        return F.silu(F.group_norm(x.float(), G, gamma, beta)), v.mean(-1), (v.var(-1, unbiased=False) + 1e-5).rsqrt()

    return Case(group_norm_silu, (N * G,), (x, gamma, beta, y, mean, rstd, 1e-5, G, HW), dict(PER=C // G, BLOCK=4096), (y, mean, rstd), reference,
                options=dict(num_warps=16), bytes=6 * N * C * HW)


@triton.jit
def instance_norm_bwd(dy, x, gamma, dx, dgamma, dbeta, C, HW, eps, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    at = plane * HW + o
    v = tl.load(x + at, o < HW, 0.0)
    g = tl.load(dy + at, o < HW, 0.0)
    mean = tl.sum(v, 0) / HW
    v = tl.where(o < HW, v - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(v * v, 0) / HW + eps)
    v *= rstd
    sum_g = tl.sum(g, 0)
    sum_gv = tl.sum(g * v, 0)
    tl.store(dgamma + plane, sum_gv)
    tl.store(dbeta + plane, sum_g)
    scale = tl.load(gamma + plane % C) * rstd
    tl.store(dx + at, scale * (g - (sum_g + v * sum_gv) / HW), o < HW)


@case
def sc_instance_norm_bwd(N=32, C=256, HW=57 * 57):
    dy, x, gamma = rand(N, C, HW), rand(N, C, HW), rand(C)
    dx, dgamma, dbeta = empty(N, C, HW), empty(N, C), empty(N, C)

    def reference():
        v = x - x.mean(-1, keepdim=True)
        rstd = (v.square().mean(-1, keepdim=True) + 1e-5).rsqrt()
        v = v * rstd
        gv = (dy * v).sum(-1)
        return gamma[None, :, None] * rstd * (dy - dy.mean(-1, keepdim=True) - v * gv[..., None] / HW), gv, dy.sum(-1)

    return Case(instance_norm_bwd, (N * C,), (dy, x, gamma, dx, dgamma, dbeta, C, HW, 1e-5), dict(BLOCK=triton.next_power_of_2(HW)),
                (dx, dgamma, dbeta), reference, rtol=1e-3, options=dict(num_warps=8), bytes=12 * N * C * HW)


@triton.jit
def merge(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    n = n_a + n_b
    part = tl.where(n == 0.0, 0.0, n_b / n)
    d = mean_b - mean_a
    return mean_a + d * part, m2_a + m2_b + d * d * n_a * part, n


@triton.jit
def batch_norm_stats(x, mean_out, var_out, N, C, HW, BLOCK: tl.constexpr):
    """Welford's sums per lane, then Chan's rule over lanes. NCHW, a channel a program."""
    c = tl.program_id(0)
    mean = tl.zeros((BLOCK,), tl.float32)
    m2 = tl.zeros((BLOCK,), tl.float32)
    count = tl.zeros((BLOCK,), tl.float32)
    for n in range(N):
        for start in range(0, HW, BLOCK):
            o = start + tl.arange(0, BLOCK)
            v = tl.load(x + (n * C + c) * HW + o, o < HW, 0.0).to(tl.float32)
            more = tl.where(o < HW, count + 1.0, count)
            d = tl.where(o < HW, v - mean, 0.0)
            mean += d / tl.maximum(more, 1.0)
            m2 += tl.where(o < HW, d * (v - mean), 0.0)
            count = more
    mean_c, m2_c, n_c = tl.reduce((mean, m2, count), 0, merge)
    tl.store(mean_out + c, mean_c)
    tl.store(var_out + c, m2_c / n_c)


@case
def sc_batch_norm_stats(N=64, C=512, HW=28 * 28):
    x, mean, var = (rand(N, C, HW) + 1).half(), empty(C), empty(C)
    return Case(batch_norm_stats, (C,), (x, mean, var, N, C, HW), dict(BLOCK=1024), (mean, var),
                lambda: (x.double().mean((0, 2)), x.double().var((0, 2), unbiased=False)), rtol=1e-4, options=dict(num_warps=4), bytes=2 * N * C * HW)


@triton.jit
def window_attention(qkv, bias, shift, out, scale, windows, H, T: tl.constexpr, D: tl.constexpr, B: tl.constexpr):
    """Attention in windows of T tokens with a bias per pair and a mask for windows that were shifted over the edge."""
    w, h = tl.program_id(0), tl.program_id(1)
    i = tl.arange(0, B)
    d = tl.arange(0, D)
    at = qkv + (w * T + i)[:, None] * (3 * H * D) + h * D + d[None, :]
    q = tl.load(at, (i < T)[:, None], 0.0)
    k = tl.load(at + H * D, (i < T)[:, None], 0.0)
    v = tl.load(at + 2 * H * D, (i < T)[:, None], 0.0)
    pair = i[:, None] * T + i[None, :]
    ok = (i < T)[:, None] & (i < T)[None, :]
    s = tl.dot(q, tl.trans(k)) * scale
    s += tl.load(bias + h * T * T + pair, ok, 0.0) + tl.load(shift + w % windows * T * T + pair, ok, 0.0)
    s = tl.where((i < T)[None, :], s, -1e9)
    p = tl.exp(s - tl.max(s, 1)[:, None])
    p = p / tl.sum(p, 1)[:, None]
    o = tl.dot(p.to(v.dtype), v)
    tl.store(out + (w * T + i)[:, None] * (H * D) + h * D + d[None, :], o.to(out.dtype.element_ty), (i < T)[:, None])


@case
def sc_window_attention(images=64, windows=64, H=6, T=49, D=32):
    qkv, bias = rand(images * windows, T, 3, H, D, dtype=torch.float16), rand(H, T, T)
    shift = torch.where(uniform(windows, T, T) < 0.3, -100.0, 0.0)
    out = empty(images * windows, T, H, D, dtype=torch.float16)

    def reference():
        q, k, v = (t.transpose(1, 2).float() for t in qkv.unbind(2))
        s = (q @ k.transpose(2, 3) * D**-0.5 + bias).view(images, windows, H, T, T) + shift[:, None]
        return ((s.softmax(-1).view(-1, H, T, T) @ v).transpose(1, 2),)

    return Case(window_attention, (images * windows, H), (qkv, bias, shift, out, D**-0.5, windows, H), dict(T=T, D=D, B=64), (out,), reference,
                options=dict(num_warps=4), bytes=8 * images * windows * T * H * D)
