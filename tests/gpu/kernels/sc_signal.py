# SPDX-License-Identifier: Apache-2.0
"""Signals and sequences: transforms, filters, scans, dynamic programming."""
import math

import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, randint, registry, tensor, uniform, zeros

CASES, case = registry()


@triton.jit
def complex_dot(ar, ai, br, bi):
    re = tl.dot(ar, br, input_precision="tf32x3") - tl.dot(ai, bi, input_precision="tf32x3")
    im = tl.dot(ar, bi, input_precision="tf32x3") + tl.dot(ai, br, input_precision="tf32x3")
    return re, im


@triton.jit
def fft_1024(x, y, cosines, sines, R: tl.constexpr):
    """Four steps: columns by a DFT of 32, twiddles, rows by a DFT of 32, transposed when stored. Complex numbers lie as pairs."""
    i = tl.arange(0, R)[:, None]
    j = tl.arange(0, R)[None, :]
    root = i * j * R % (R * R)
    dr, di = tl.load(cosines + root), -tl.load(sines + root)
    tr, ti = tl.load(cosines + i * j), -tl.load(sines + i * j)
    base = tl.program_id(0) * 2 * R * R
    at = x + base + 2 * (i * R + j)
    cr, ci = complex_dot(dr, di, tl.load(at), tl.load(at + 1))
    cr, ci = cr * tr - ci * ti, cr * ti + ci * tr
    cr, ci = complex_dot(cr, ci, dr, di)
    to = y + base + 2 * (j * R + i)
    tl.store(to, cr)
    tl.store(to + 1, ci)


@case
def sc_fft_1024(batch=16384):
    x, y = rand(batch, 1024, 2), empty(batch, 1024, 2)
    turn = [2 * math.pi * k / 1024 for k in range(1024)]
    cosines, sines = tensor([math.cos(t) for t in turn], torch.float32), tensor([math.sin(t) for t in turn], torch.float32)
    return Case(fft_1024, (batch,), (x, y, cosines, sines), dict(R=32), (y,),
                lambda: (torch.view_as_real(torch.fft.fft(torch.view_as_complex(x))),), rtol=1e-3, options=dict(num_warps=4), bytes=16384 * batch)


@triton.jit
def hadamard(x, y, scale, LOG: tl.constexpr, R: tl.constexpr):
    """Butterflies of neighbours, each followed by a perfect shuffle: after LOG of them all is in its place again."""
    N: tl.constexpr = 1 << LOG
    at = (tl.program_id(0) * R + tl.arange(0, R))[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + at).to(tl.float32)
    for _ in tl.static_range(LOG):
        a, b = tl.split(tl.reshape(v, (R, N // 2, 2)))
        v = tl.reshape(tl.permute(tl.join(a + b, a - b), (0, 2, 1)), (R, N))
    tl.store(y + at, (v * scale).to(y.dtype.element_ty))


@case
def sc_hadamard_256(rows=131072):
    x, y = rand(rows, 256, dtype=torch.bfloat16), empty(rows, 256, dtype=torch.bfloat16)

    def reference():
        h = torch.ones(1, 1, device=DEVICE)
        for _ in range(8):
            h = torch.cat((torch.cat((h, h), 1), torch.cat((h, -h), 1)))
        return (x.float() @ h / 16,)

    return Case(hadamard, (rows // 4,), (x, y, 1 / 16), dict(LOG=8, R=4), (y,), reference, options=dict(num_warps=4), bytes=1024 * rows)


@triton.jit
def dct_tiles(image, basis, out, H, W, T: tl.constexpr):
    """basis @ tile @ basis^T of all T x T tiles of an image, by block pointers."""
    ty, tx = tl.program_id(1), tl.program_id(0)
    src = tl.make_block_ptr(image, (H, W), (W, 1), (ty * T, tx * T), (T, T), (1, 0))
    dst = tl.make_block_ptr(out, (H, W), (W, 1), (ty * T, tx * T), (T, T), (1, 0))
    c = tl.load(tl.make_block_ptr(basis, (T, T), (T, 1), (0, 0), (T, T), (1, 0)))
    tile = tl.load(src, boundary_check=(0, 1), padding_option="zero").to(tl.float16)
    half = tl.dot(c, tile).to(tl.float16)
    tl.store(dst, tl.dot(half, tl.trans(c)).to(tl.float16), boundary_check=(0, 1))


@case
def sc_dct_32(H=8000, W=12000):
    image, out = randint(-128, 128, H, W, dtype=torch.int8), empty(H, W, dtype=torch.float16)
    rows = [[math.cos(math.pi * (2 * n + 1) * k / 64) * (0.25 if k else 0.125**0.5 / 2) for n in range(32)] for k in range(32)]
    basis = tensor(rows, torch.float16)

    def reference():
        t = image.float().view(H // 32, 32, W // 32, 32).transpose(1, 2)
        return ((basis.float() @ t @ basis.float().T).transpose(1, 2).reshape(H, W),)

    return Case(dct_tiles, (W // 32, H // 32), (image, basis, out, H, W), dict(T=32), (out,), reference, options=dict(num_warps=1), bytes=3 * H * W)


@triton.jit
def compose(a1, b1, a2, b2):
    return a1 * a2, a2 * b1 + b2


@triton.jit
def leaky_filter(x, decay, y, T, C, BT: tl.constexpr, BC: tl.constexpr):
    """y[t] = decay[t] y[t - 1] + x[t] along time, channels side by side."""
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    base = tl.program_id(1) * T * C
    state = tl.zeros((BC,), tl.float32)
    last = (tl.arange(0, BT) == BT - 1)[:, None]
    for t0 in range(0, T, BT):
        at = base + (t0 + tl.arange(0, BT))[:, None] * C + c[None, :]
        a = tl.load(decay + at).to(tl.float32)
        v = tl.load(x + at).to(tl.float32)
        total, inner = tl.associative_scan((a, v), 0, compose)
        out = inner + total * state[None, :]
        tl.store(y + at, out.to(y.dtype.element_ty))
        state = tl.sum(tl.where(last, out, 0.0), 0)


@case
def sc_leaky_filter(B=8, T=2048, C=2560):
    x, decay = rand(B, T, C, dtype=torch.bfloat16), uniform(B, T, C, low=0.7, dtype=torch.bfloat16)
    y = empty(B, T, C, dtype=torch.bfloat16)

    def reference():
        a, v, step = decay.float(), x.float(), 1
        while step < T:
            v = torch.cat((v[:, :step], v[:, step:] + a[:, step:] * v[:, :-step]), 1)
            a = torch.cat((a[:, :step], a[:, step:] * a[:, :-step]), 1)
            step *= 2
        return (v,)

    return Case(leaky_filter, (C // 32, B), (x, decay, y, T, C), dict(BT=64, BC=32), (y,), reference, options=dict(num_warps=4, num_stages=2),
                bytes=6 * B * T * C)


@triton.jit
def biquad_step(a, b, c, d, p, q, e, f, g, h, r, s):
    """Affine maps of two numbers, (a b; c d) v + (p, q), one after the other."""
    return e * a + f * c, e * b + f * d, g * a + h * c, g * b + h * d, e * p + f * q + r, g * p + h * q + s


@triton.jit
def biquad(x, y, coefficients, T, BT: tl.constexpr):
    """A second-order section, a signal a program, by scanning 2 x 2 maps."""
    pid = tl.program_id(0)
    a1, a2, b0 = tl.load(coefficients), tl.load(coefficients + 1), tl.load(coefficients + 2)
    s1 = 0.0
    s2 = 0.0
    o = tl.arange(0, BT)
    zero = tl.zeros((BT,), tl.float32)
    for t in range(0, T, BT):
        v = tl.load(x + pid * T + t + o, t + o < T, 0.0)
        a, b, c, d, p, q = tl.associative_scan((zero - a1, zero - a2, zero + 1.0, zero, b0 * v, zero), 0, biquad_step)
        first = a * s1 + b * s2 + p
        second = c * s1 + d * s2 + q
        tl.store(y + pid * T + t + o, first, t + o < T)
        s1 = tl.sum(tl.where(o == BT - 1, first, 0.0), 0)
        s2 = tl.sum(tl.where(o == BT - 1, second, 0.0), 0)


@case
def sc_biquad(B=4096, T=2000):
    x, y = rand(B, T), empty(B, T)
    a1, a2, b0 = -1.2, 0.5, 0.3

    def reference():
        out, one, two = [], zeros(B), zeros(B)
        for v in x.unbind(1):
            one, two = b0 * v - a1 * one - a2 * two, one
            out.append(one)
        return (torch.stack(out, 1),)

    return Case(biquad, (B,), (x, y, tensor([a1, a2, b0], torch.float32), T), dict(BT=512), (y,), reference, rtol=1e-4, options=dict(num_warps=4),
                bytes=8 * B * T)


@triton.jit
def causal_conv1d(x, w, bias, state, y, new_state, C, T, WIDTH: tl.constexpr, BT: tl.constexpr, BC: tl.constexpr):
    """Depthwise over (B, C, T), silu after it; the WIDTH - 1 inputs before come from a state, the last ones go to the next."""
    b = tl.program_id(2)
    c = tl.program_id(1) * BC + tl.arange(0, BC)[:, None]
    t = tl.program_id(0) * BT + tl.arange(0, BT)[None, :]
    row = (b * C + c).to(tl.int64)
    ok = (c < C) & (t < T)
    acc = tl.load(bias + c, c < C, 0.0) + tl.zeros((BC, BT), tl.float32)
    for k in tl.static_range(WIDTH):
        u = t + k - (WIDTH - 1)
        v = tl.load(x + row * T + u, ok & (u >= 0), 0.0).to(tl.float32)
        if tl.program_id(0) == 0:
            v += tl.load(state + row * (WIDTH - 1) + u + WIDTH - 1, ok & (u < 0), 0.0).to(tl.float32)
        acc += v * tl.load(w + c * WIDTH + k, c < C, 0.0)
    tl.store(y + row * T + t, (acc / (1.0 + tl.exp(-acc))).to(tl.bfloat16), ok)
    kept = t - (T - WIDTH + 1)
    tl.store(new_state + row * (WIDTH - 1) + kept, tl.load(x + row * T + t, ok & (kept >= 0), 0.0), ok & (kept >= 0))


@case
def sc_causal_conv1d_state(B=8, C=5120, T=2049):
    x, w, bias = rand(B, C, T, dtype=torch.bfloat16), rand(C, 4), rand(C)
    state, y, new = rand(B, C, 3, dtype=torch.bfloat16), empty(B, C, T, dtype=torch.bfloat16), empty(B, C, 3, dtype=torch.bfloat16)

    def reference():
        both = torch.cat((state, x), 2)
        return torch.nn.functional.silu(torch.nn.functional.conv1d(both.float(), w[:, None], bias, groups=C)), both[:, :, -3:]

    return Case(causal_conv1d, (triton.cdiv(T, 256), triton.cdiv(C, 4), B), (x, w, bias, state, y, new, C, T), dict(WIDTH=4, BT=256, BC=4), (y, new),
                reference, options=dict(num_warps=4), bytes=4 * B * C * T)


@triton.jit
def viterbi(emit, trans, score, back, T, S: tl.constexpr):
    i = tl.arange(0, S)
    table = tl.load(trans + i[:, None] * S + i[None, :])
    emit += tl.program_id(0).to(tl.int64) * T * S
    back += tl.program_id(0).to(tl.int64) * T * S
    alpha = tl.load(emit + i)
    tl.store(back + i, tl.zeros((S,), tl.uint8))
    for t in range(1, T):
        best, arg = tl.max(alpha[:, None] + table, 0, return_indices=True)
        alpha = best + tl.load(emit + t * S + i)
        tl.store(back + t * S + i, arg.to(tl.uint8))
    tl.store(score + tl.program_id(0) * S + i, alpha)


@case
def sc_viterbi(B=512, T=200, S=64):
    emit, trans = rand(B, T, S), rand(S, S)
    score, back = empty(B, S), empty(B, T, S, dtype=torch.uint8)

    def reference():
        alpha, backs = emit[:, 0], [torch.zeros(B, S, dtype=torch.int64, device=DEVICE)]
        for t in range(1, T):
            best, arg = (alpha[:, :, None] + trans).max(1)
            alpha = best + emit[:, t]
            backs.append(arg)
        return alpha, torch.stack(backs, 1)

    return Case(viterbi, (B,), (emit, trans, score, back, T), dict(S=S), (score, back), reference, rtol=1e-3, options=dict(num_warps=4))


@triton.jit
def least(a, b):
    return tl.minimum(a, b)


@triton.jit
def edit_distance(left, right, distance, L: tl.constexpr):
    """A row of the table at a time: gather for the diagonal, a scan of minima for insertions. A pair a warp."""
    pid = tl.program_id(0)
    j = tl.arange(0, L)
    text = tl.load(right + pid * L + j)
    row = j + 1
    for i in range(L):
        letter = tl.load(left + pid * L + i)
        diagonal = tl.where(j == 0, i, tl.gather(row, tl.maximum(j - 1, 0), 0))
        changed = tl.minimum(row + 1, diagonal + (text != letter).to(tl.int32))
        row = tl.minimum(tl.associative_scan(changed - j, 0, least), i + 2) + j
    tl.store(distance + pid, tl.sum(tl.where(j == L - 1, row, 0), 0))


@case
def sc_edit_distance(pairs=8192, L=128):
    left, right = randint(0, 4, pairs, L, dtype=torch.int8), randint(0, 4, pairs, L, dtype=torch.int8)
    distance = empty(pairs, dtype=torch.int32)

    def reference():
        j = torch.arange(L + 1, device=DEVICE)
        row = j.expand(pairs, L + 1)
        for i in range(L):
            inner = torch.minimum(row[:, 1:] + 1, row[:, :-1] + (left[:, i:i + 1] != right))
            row = torch.cummin(torch.cat((torch.full_like(row[:, :1], i + 1), inner), 1) - j, 1)[0] + j
        return (row[:, -1],)

    return Case(edit_distance, (pairs,), (left, right, distance), dict(L=L), (distance,), reference, rtol=1e-6, options=dict(num_warps=1))
