# SPDX-License-Identifier: Apache-2.0
"""Small matrices in registers, transforms, tridiagonal systems, differential equations and recurrences along time."""
import math

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from case import DEVICE, Case, empty, rand, registry, uniform

CASES, case = registry()
F64, BF16 = torch.float64, torch.bfloat16


@triton.jit
def lu_pivoted(a, lu, pivots, S: tl.constexpr):
    """LU with row exchanges, a matrix a program: pivots by argmax, rows and columns picked by masked sums."""
    b = tl.program_id(0)
    r, c = tl.arange(0, S)[:, None], tl.arange(0, S)[None, :]
    x = tl.load(a + b * S * S + r * S + c)
    rows = tl.arange(0, S)
    for k in range(S):
        col = tl.sum(tl.where(c == k, x, 0.0), axis=1)
        p = tl.argmax(tl.where(rows >= k, tl.abs(col), -1.0), axis=0)
        tl.store(pivots + b * S + k, p + 1)
        row_k = tl.sum(tl.where(r == k, x, 0.0), axis=0)
        row_p = tl.sum(tl.where(r == p, x, 0.0), axis=0)
        x = tl.where(r == p, row_k[None, :], x)
        x = tl.where(r == k, row_p[None, :], x)
        pivot = tl.sum(tl.where(rows == k, row_p, 0.0), axis=0)
        factor = tl.sum(tl.where(c == k, x, 0.0), axis=1) / pivot
        x = tl.where((r > k) & (c > k), x - factor[:, None] * row_p[None, :], x)
        x = tl.where((r > k) & (c == k), factor[:, None], x)
    tl.store(lu + b * S * S + r * S + c, x)


@case
def nk_lu_pivoted_32(batch=8192, S=32):
    order = uniform(batch, S).argsort(1)
    a = rand(batch, S, S, scale=0.1) + 3.0 * torch.eye(S, device=DEVICE)[order]  # which rows are exchanged is beyond doubt
    lu, pivots = empty(batch, S, S), empty(batch, S, dtype=torch.int32)
    return Case(lu_pivoted, (batch,), (a, lu, pivots), dict(S=S), (lu, pivots), lambda: tuple(torch.linalg.lu_factor(a)), rtol=1e-2,
                options=dict(num_warps=1), bytes=batch * S * S * 8)


@triton.jit
def householder(a, out, M: tl.constexpr, N: tl.constexpr):
    """R of tall blocks by reflections, its diagonal made positive."""
    b = tl.program_id(0)
    r, c = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(a + b * M * N + r[:, None] * N + c[None, :])
    for k in tl.static_range(N):
        col = tl.sum(tl.where((c == k)[None, :], x, 0.0), axis=1)
        v = tl.where(r >= k, col, 0.0)
        head = tl.sum(tl.where(r == k, col, 0.0), axis=0)
        norm = tl.sqrt(tl.sum(v * v, axis=0))
        v = tl.where(r == k, head + tl.where(head < 0, -norm, norm), v)
        factor = 2.0 / tl.maximum(tl.sum(v * v, axis=0), 1e-30)
        x -= factor * v[:, None] * tl.sum(v[:, None] * x, axis=0)[None, :]
    diagonal = tl.sum(tl.where(r[:, None] == c[None, :], x, 0.0), axis=0)
    sign = tl.sum(tl.where(r[:, None] == c[None, :], tl.where(diagonal < 0, -1.0, 1.0)[None, :], 0.0), axis=1)
    upper = tl.where(r[:, None] <= c[None, :], x * sign[:, None], 0.0)
    tl.store(out + b * N * N + r[:, None] * N + c[None, :], upper, mask=(r < N)[:, None])


@case
def nk_householder_64x16(batch=16384, M=64, N=16):
    a, out = rand(batch, M, N), empty(batch, N, N)
    return Case(householder, (batch,), (a, out), dict(M=M, N=N), (out,),
                lambda: (torch.linalg.cholesky(a.double().transpose(1, 2) @ a.double()).transpose(1, 2),), rtol=1e-4, options=dict(num_warps=2),
                bytes=batch * (M + N) * N * 4)


@triton.jit
def exponential(a, out, S: tl.constexpr, TERMS: tl.constexpr, SQUARINGS: tl.constexpr):
    """exp of a matrix: Horner's rule for a scaled one, then squarings; every product is an operand of the next."""
    b = tl.program_id(0)
    r, c = tl.arange(0, S)[:, None], tl.arange(0, S)[None, :]
    x = tl.load(a + b * S * S + r * S + c) * (1.0 / (1 << SQUARINGS))
    one = tl.where(r == c, 1.0, 0.0)
    e = one + x / TERMS
    for i in tl.static_range(TERMS - 1):
        e = one + tl.dot(x, e, input_precision="tf32x3") / (TERMS - 1 - i)
    for _ in range(SQUARINGS):
        e = tl.dot(e, e, input_precision="tf32x3")
    tl.store(out + b * S * S + r * S + c, e)


@case
def nk_matrix_exponential_64(batch=2048, S=64):
    a, out = rand(batch, S, S, scale=0.1), empty(batch, S, S)
    return Case(exponential, (batch,), (a, out), dict(S=S, TERMS=6, SQUARINGS=5), (out,), lambda: (torch.linalg.matrix_exp(a),), rtol=1e-3,
                options=dict(num_warps=4), flops=batch * 10 * 2 * S**3)


@triton.jit
def largest_singular(a, out, steps_out, tolerance, limit, S: tl.constexpr):
    """Power iteration until the value stays; the number of steps depends on the matrix."""
    b = tl.program_id(0)
    r, c = tl.arange(0, S)[:, None], tl.arange(0, S)[None, :]
    x = tl.load(a + b * S * S + r * S + c)
    v = tl.full((S,), 1.0 / S, tl.float32)
    value, change, steps = 0.0, 1.0, 0
    while (change > tolerance) & (steps < limit):
        u = tl.sum(x * v[None, :], axis=1)
        w = tl.sum(x * u[:, None], axis=0)
        norm = tl.sqrt(tl.sum(w * w, axis=0))
        v = w / norm
        now = tl.sqrt(norm)
        change = tl.abs(now - value) / now
        value = now
        steps += 1
    tl.store(out + b, value)
    tl.store(steps_out + b, (steps < limit).to(tl.int32))


@case
def nk_power_iteration_64(batch=8192, S=64):
    a = rand(batch, S, S, scale=0.3) + rand(batch, S, 1) * rand(batch, 1, S)
    out, steps = empty(batch), empty(batch, dtype=torch.int32)
    return Case(largest_singular, (batch,), (a, out, steps, 1e-6, 200), dict(S=S), (out, steps),
                lambda: (torch.linalg.eigvalsh(a.double().transpose(1, 2) @ a.double())[:, -1].sqrt(), torch.ones(batch, device=DEVICE)), rtol=1e-3,
                options=dict(num_warps=4), bytes=batch * S * S * 4)


@triton.jit
def fft_by_shuffles(x, cos, sin, y, R: tl.constexpr, LOG: tl.constexpr):
    """Radix-2 steps in registers: halves are split off, joined, and put in order by permutations. x, y: pairs."""
    N: tl.constexpr = 1 << LOG
    HALF: tl.constexpr = N // 2
    rows = tl.program_id(0) * R + tl.arange(0, R)
    i = tl.arange(0, N)
    at = (rows[:, None] * N + i[None, :]) * 2
    re, im = tl.load(x + at), tl.load(x + at + 1)
    j = tl.arange(0, HALF)
    for step in tl.static_range(LOG):
        a_re, b_re = tl.split(tl.permute(tl.reshape(re, (R, 2, HALF)), (0, 2, 1)))
        a_im, b_im = tl.split(tl.permute(tl.reshape(im, (R, 2, HALF)), (0, 2, 1)))
        w_re, w_im = tl.load(cos + ((j >> step) << step))[None, :], tl.load(sin + ((j >> step) << step))[None, :]
        d_re, d_im = a_re - b_re, a_im - b_im
        v_re, v_im = d_re * w_re + d_im * w_im, d_im * w_re - d_re * w_im
        re = tl.reshape(tl.permute(tl.reshape(tl.join(a_re + b_re, v_re), (R, HALF >> step, 1 << step, 2)), (0, 1, 3, 2)), (R, N))
        im = tl.reshape(tl.permute(tl.reshape(tl.join(a_im + b_im, v_im), (R, HALF >> step, 1 << step, 2)), (0, 1, 3, 2)), (R, N))
    tl.store(y + at, re)
    tl.store(y + at + 1, im)


@case
def nk_fft_by_shuffles(rows=32768, log=8):
    x, y = rand(rows, 1 << log, 2), empty(rows, 1 << log, 2)
    angle = torch.arange(1 << log - 1, device=DEVICE).double() * (2 * math.pi / (1 << log))
    cos, sin = angle.cos().float(), angle.sin().float()
    return Case(fft_by_shuffles, (rows // 4,), (x, cos, sin, y), dict(R=4, LOG=log), (y,),
                lambda: (torch.view_as_real(torch.fft.fft(torch.view_as_complex(x))),), rtol=1e-5, options=dict(num_warps=4), bytes=rows * 16 << log)


@triton.jit
def selective_steps(x, dt, a, b, c, d, z, y, L, D, BD: tl.constexpr, N: tl.constexpr):
    """Mamba's scan a step at a time: states of BD channels stay in registers; gated output."""
    seq = tl.program_id(1)
    ch, n = tl.program_id(0) * BD + tl.arange(0, BD), tl.arange(0, N)
    rate = -tl.exp(tl.load(a + ch[:, None] * N + n[None, :]))
    skip = tl.load(d + ch)
    h = tl.zeros((BD, N), tl.float32)
    at, at_n = seq * L * D + ch, seq * L * N + n
    for _ in range(L):
        step = tl.load(dt + at).to(tl.float32)
        step = tl.where(step > 20.0, step, tl.log(1.0 + tl.exp(step)))
        v = tl.load(x + at).to(tl.float32)
        h = h * tl.exp(step[:, None] * rate) + (step * v)[:, None] * tl.load(b + at_n).to(tl.float32)[None, :]
        out = tl.sum(h * tl.load(c + at_n).to(tl.float32)[None, :], axis=1) + skip * v
        gate = tl.load(z + at).to(tl.float32)
        tl.store(y + at, (out * gate * tl.sigmoid(gate)).to(y.dtype.element_ty))
        at += D
        at_n += N


@triton.jit
def affine(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def selective_blocks(x, dt, a, b, c, d, z, y, L, D, BT: tl.constexpr, BD: tl.constexpr, N: tl.constexpr):
    """The same by associative scans along the first of three dimensions, blocks of time in turn."""
    seq = tl.program_id(1)
    ch, n, t = tl.program_id(0) * BD + tl.arange(0, BD), tl.arange(0, N), tl.arange(0, BT)
    rate = -tl.exp(tl.load(a + ch[:, None] * N + n[None, :]))
    skip = tl.load(d + ch)
    h = tl.zeros((BD, N), tl.float32)
    for start in range(0, L, BT):
        at = (seq * L + start + t)[:, None] * D + ch[None, :]
        at_n = (seq * L + start + t)[:, None] * N + n[None, :]
        step = tl.load(dt + at).to(tl.float32)
        step = tl.where(step > 20.0, step, tl.log(1.0 + tl.exp(step)))
        v = tl.load(x + at).to(tl.float32)
        keep = tl.exp(step[:, :, None] * rate[None, :, :])
        add = (step * v)[:, :, None] * tl.load(b + at_n).to(tl.float32)[:, None, :]
        kept, sums = tl.associative_scan((keep, add), 0, affine)
        state = sums + kept * h[None, :, :]
        out = tl.sum(state * tl.load(c + at_n).to(tl.float32)[:, None, :], axis=2) + skip[None, :] * v
        gate = tl.load(z + at).to(tl.float32)
        tl.store(y + at, (out * gate * tl.sigmoid(gate)).to(y.dtype.element_ty))
        h = tl.sum(tl.where((t == BT - 1)[:, None, None], state, 0.0), axis=0)


def selective_case(kernel, B, L, D, N, bd, extra, warps):
    x, dt, z = rand(B, L, D, dtype=BF16), rand(B, L, D, dtype=BF16), rand(B, L, D, dtype=BF16)
    b, c, a, d = rand(B, L, N, dtype=BF16), rand(B, L, N, dtype=BF16), rand(D, N, scale=0.5), rand(D)
    y = empty(B, L, D, dtype=BF16)

    def reference():
        h, rows, rate = torch.zeros(B, D, N, device=DEVICE), [], -a.exp()
        for t in range(L):
            step, v, gate = torch.nn.functional.softplus(dt[:, t].float()), x[:, t].float(), z[:, t].float()
            h = h * torch.exp(step[:, :, None] * rate) + (step * v)[:, :, None] * b[:, t].float()[:, None]
            rows.append(((h * c[:, t].float()[:, None]).sum(2) + d * v) * torch.nn.functional.silu(gate))
        return (torch.stack(rows, 1),)

    return Case(kernel, (D // bd, B), (x, dt, a, b, c, d, z, y, L, D), dict(BD=bd, N=N, **extra), (y,), reference, options=dict(num_warps=warps),
                bytes=B * L * D * 8)


@case
def nk_selective_scan_steps(B=8, L=384, D=4096, N=16):
    return selective_case(selective_steps, B, L, D, N, 64, {}, 4)


@case
def nk_selective_scan_blocks(B=4, L=512, D=2048, N=16):
    return selective_case(selective_blocks, B, L, D, N, 8, dict(BT=32), 4)


@triton.jit
def wkv(r, k, v, w, u, y, T, H, S: tl.constexpr):
    """RWKV's state of S x S for each head, a step at a time, with decays for each channel that depend on the token."""
    head = tl.program_id(0)
    i = tl.arange(0, S)
    bonus = tl.load(u + head % H * S + i)
    state = tl.zeros((S, S), tl.float32)
    at = head // H * T * H * S + head % H * S + i
    for _ in range(T):
        key, value, query = tl.load(k + at), tl.load(v + at), tl.load(r + at)
        outer = key[:, None] * value[None, :]
        tl.store(y + at, tl.sum(query[:, None] * (state + bonus[:, None] * outer), axis=0))
        state = state * tl.exp(-tl.exp(tl.load(w + at)))[:, None] + outer
        at += H * S


@case
def nk_wkv_steps(B=16, T=256, H=32, S=64):
    r, k, v, w = rand(B, T, H, S), rand(B, T, H, S), rand(B, T, H, S), rand(B, T, H, S, scale=0.5) - 2.0
    u, y = rand(H, S), empty(B, T, H, S)

    def reference():
        state, rows = torch.zeros(B, H, S, S, device=DEVICE), []
        for t in range(T):
            outer = k[:, t, :, :, None] * v[:, t, :, None, :]
            rows.append((r[:, t, :, :, None] * (state + u[:, :, None] * outer)).sum(2))
            state = state * torch.exp(-torch.exp(w[:, t]))[:, :, :, None] + outer
        return (torch.stack(rows, 1),)

    return Case(wkv, (B * H,), (r, k, v, w, u, y, T, H), dict(S=S), (y,), reference, rtol=1e-4, options=dict(num_warps=4), bytes=B * T * H * S * 20)


@triton.jit
def thomas(low, diag, up, rhs, scratch, x, systems, n, BLOCK: tl.constexpr):
    """Tridiagonal systems in f64, one a lane: a sweep down that is kept in memory and a sweep up."""
    s = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = s < systems
    c, d = tl.zeros((BLOCK,), tl.float64), tl.zeros((BLOCK,), tl.float64)
    for i in range(n):
        at = i * systems + s
        a = tl.load(low + at, mask=ok, other=0.0)
        m = 1.0 / (tl.load(diag + at, mask=ok, other=1.0) - a * c)
        c = tl.load(up + at, mask=ok, other=0.0) * m
        d = (tl.load(rhs + at, mask=ok, other=0.0) - a * d) * m
        tl.store(scratch + at, c, mask=ok)
        tl.store(x + at, d, mask=ok)
    for i in range(n - 2, -1, -1):
        at = i * systems + s
        d = tl.load(x + at, mask=ok, other=0.0) - tl.load(scratch + at, mask=ok, other=0.0) * d
        tl.store(x + at, d, mask=ok)


def swept(low, diag, up, rhs):
    """Solves tridiagonal systems along the first dimension."""
    c, d = [up[0] / diag[0]], [rhs[0] / diag[0]]
    for i in range(1, len(low)):
        m = 1 / (diag[i] - low[i] * c[-1])
        c.append(up[i] * m)
        d.append((rhs[i] - low[i] * d[-1]) * m)
    for i in range(len(low) - 2, -1, -1):
        d[i] = d[i] - c[i] * d[i + 1]
    return torch.stack(d)


@case
def nk_thomas_f64(systems=100000, n=96):
    low, up, rhs = (uniform(n, systems, low=-1.0, dtype=F64) for _ in range(3))
    low[0] = 0
    diag, scratch, x = uniform(n, systems, low=2.5, high=4.0, dtype=F64), empty(n, systems, dtype=F64), empty(n, systems, dtype=F64)
    return Case(thomas, (triton.cdiv(systems, 128),), (low, diag, up, rhs, scratch, x, systems, n), dict(BLOCK=128), (x,),
                lambda: (swept(low, diag, up, rhs),), rtol=1e-10, options=dict(num_warps=4), bytes=n * systems * 72)


@triton.jit
def cyclic_reduction(low, diag, up, rhs, x, R: tl.constexpr, N: tl.constexpr, LOG: tl.constexpr):
    """Tridiagonal systems along rows: every step gathers both neighbours at twice the distance."""
    rows = tl.program_id(0) * R + tl.arange(0, R)
    i = tl.broadcast_to(tl.arange(0, N)[None, :], (R, N))
    at = rows[:, None] * N + i
    a, b, c, d = tl.load(low + at), tl.load(diag + at), tl.load(up + at), tl.load(rhs + at)
    for step in tl.static_range(LOG):
        left, right = tl.maximum(i - (1 << step), 0), tl.minimum(i + (1 << step), N - 1)
        has_left, has_right = i >= (1 << step), i < N - (1 << step)
        k1 = tl.where(has_left, a / tl.gather(b, left, 1), 0.0)
        k2 = tl.where(has_right, c / tl.gather(b, right, 1), 0.0)
        b = b - tl.gather(c, left, 1) * k1 - tl.gather(a, right, 1) * k2
        d = d - tl.gather(d, left, 1) * k1 - tl.gather(d, right, 1) * k2
        a, c = -tl.gather(a, left, 1) * k1, -tl.gather(c, right, 1) * k2
    tl.store(x + at, d / b)


@case
def nk_cyclic_reduction(rows=32768, N=256):
    low, up, rhs = (uniform(rows, N, low=-1.0) for _ in range(3))
    low[:, 0] = 0
    up[:, -1] = 0
    diag, x = uniform(rows, N, low=2.5, high=4.0), empty(rows, N)
    return Case(cyclic_reduction, (rows // 4,), (low, diag, up, rhs, x), dict(R=4, N=N, LOG=N.bit_length() - 1), (x,),
                lambda: (swept(low.T.double(), diag.T.double(), up.T.double(), rhs.T.double()).T,), rtol=1e-4, options=dict(num_warps=4),
                bytes=rows * N * 20)


@triton.jit
def eigenvalues_3x3(m, out, n, BLOCK: tl.constexpr):
    """Symmetric 3 x 3 matrices, one a lane, by the cubic's angle; six numbers in planes, libdevice's acos and cos."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    a, b, c = tl.load(m + i, ok, 0.0), tl.load(m + n + i, ok, 0.0), tl.load(m + 2 * n + i, ok, 0.0)
    d, e, f = tl.load(m + 3 * n + i, ok, 0.0), tl.load(m + 4 * n + i, ok, 0.0), tl.load(m + 5 * n + i, ok, 0.0)
    mean = (a + b + c) / 3.0
    p = tl.sqrt(((a - mean) * (a - mean) + (b - mean) * (b - mean) + (c - mean) * (c - mean) + 2.0 * (d * d + e * e + f * f)) / 6.0) + 1e-20
    x, y, z, u, v, w = (a - mean) / p, (b - mean) / p, (c - mean) / p, d / p, e / p, f / p
    half = 0.5 * (x * (y * z - w * w) - u * (u * z - w * v) + v * (u * w - y * v))
    phi = libdevice.acos(tl.clamp(half, -1.0, 1.0)) / 3.0
    top = mean + 2.0 * p * libdevice.cos(phi)
    least = mean + 2.0 * p * libdevice.cos(phi + 2.0943951023931953)
    tl.store(out + 3 * i, least, ok)
    tl.store(out + 3 * i + 1, 3.0 * mean - top - least, ok)
    tl.store(out + 3 * i + 2, top, ok)


@case
def nk_eigenvalues_3x3(n=6000001):
    m, out = rand(6, n), empty(n, 3)

    def reference():
        a, b, c, d, e, f = m.double()
        q = (a + b + c) / 3
        p = (((a - q)**2 + (b - q)**2 + (c - q)**2 + 2 * (d * d + e * e + f * f)) / 6).sqrt()
        det = (a - q) * ((b - q) * (c - q) - f * f) - d * (d * (c - q) - f * e) + e * (d * f - (b - q) * e)
        phi = torch.acos((det / (2 * p**3)).clamp(-1, 1)) / 3
        top, least = q + 2 * p * torch.cos(phi), q + 2 * p * torch.cos(phi + 2 * math.pi / 3)
        return (torch.stack((least, 3 * q - top - least, top), 1),)

    return Case(eigenvalues_3x3, (triton.cdiv(n, 256),), (m, out, n), dict(BLOCK=256), (out,), reference, rtol=1e-3, options=dict(num_warps=4),
                bytes=n * 36)


@triton.jit
def lorenz_slope(x, y, z, sigma, rho, beta):
    return sigma * (y - x), x * (rho - z) - y, x * y - beta * z


@triton.jit
def lorenz(points, rho_ptr, out, n, dt, steps, BLOCK: tl.constexpr):
    """Runge-Kutta's fourth order in f64 for an ensemble with a parameter each."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    x, y, z = tl.load(points + i, ok), tl.load(points + n + i, ok), tl.load(points + 2 * n + i, ok)
    rho = tl.load(rho_ptr + i, ok)
    for _ in range(steps):
        a1, b1, c1 = lorenz_slope(x, y, z, 10.0, rho, 2.5)
        a2, b2, c2 = lorenz_slope(x + 0.5 * dt * a1, y + 0.5 * dt * b1, z + 0.5 * dt * c1, 10.0, rho, 2.5)
        a3, b3, c3 = lorenz_slope(x + 0.5 * dt * a2, y + 0.5 * dt * b2, z + 0.5 * dt * c2, 10.0, rho, 2.5)
        a4, b4, c4 = lorenz_slope(x + dt * a3, y + dt * b3, z + dt * c3, 10.0, rho, 2.5)
        x += (a1 + 2.0 * a2 + 2.0 * a3 + a4) * dt / 6.0
        y += (b1 + 2.0 * b2 + 2.0 * b3 + b4) * dt / 6.0
        z += (c1 + 2.0 * c2 + 2.0 * c3 + c4) * dt / 6.0
    tl.store(out + i, x, ok)
    tl.store(out + n + i, y, ok)
    tl.store(out + 2 * n + i, z, ok)


@case
def nk_lorenz_rk4_f64(n=400000, steps=100):
    points, rho, out = rand(3, n, dtype=F64), uniform(n, low=20.0, high=30.0, dtype=F64), empty(3, n, dtype=F64)

    def reference():
        h = 0.0078125

        def slope(s):
            x, y, z = s
            return torch.stack((10 * (y - x), x * (rho - z) - y, x * y - 2.5 * z))
        s = points.clone()
        for _ in range(steps):
            k1 = slope(s)
            k2 = slope(s + 0.5 * h * k1)
            k3 = slope(s + 0.5 * h * k2)
            s = s + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(s + h * k3))
        return (s,)

    return Case(lorenz, (triton.cdiv(n, 128),), (points, rho, out, n, 0.0078125, steps), dict(BLOCK=128), (out,), reference, rtol=1e-6,
                options=dict(num_warps=4), flops=n * steps * 80)


@triton.jit
def hmm_forward(emission, transition, start, out, T, S: tl.constexpr):
    """Log likelihood of a hidden Markov model: a product over (log-sum-exp, +) for each step, a sequence a program."""
    seq = tl.program_id(0)
    i = tl.arange(0, S)
    trans = tl.load(transition + i[:, None] * S + i[None, :])
    alpha = tl.load(start + i) + tl.load(emission + seq * T * S + i)
    for t in tl.range(1, T, num_stages=3):
        e = tl.load(emission + (seq * T + t) * S + i)
        joint = alpha[:, None] + trans
        top = tl.max(joint, axis=0)
        alpha = top + tl.log(tl.sum(tl.exp(joint - top[None, :]), axis=0)) + e
    top = tl.max(alpha, axis=0)
    tl.store(out + seq, top + tl.log(tl.sum(tl.exp(alpha - top), axis=0)))


@case
def nk_hmm_forward(seqs=2048, T=64, S=64):
    emission, out = rand(seqs, T, S), empty(seqs)
    transition, start = torch.log_softmax(rand(S, S), 1), torch.log_softmax(rand(S), 0)

    def reference():
        alpha = start + emission[:, 0]
        for t in range(1, T):
            alpha = torch.logsumexp(alpha[:, :, None] + transition, 1) + emission[:, t]
        return (torch.logsumexp(alpha, 1),)

    return Case(hmm_forward, (seqs,), (emission, transition, start, out, T), dict(S=S), (out,), reference, rtol=1e-4, options=dict(num_warps=4))
