# SPDX-License-Identifier: Apache-2.0
"""Normalizations, gates and fp8 quantization: what surrounds the products of a transformer."""
import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, registry, uniform

CASES, case = registry()
BF16, F8 = torch.bfloat16, torch.float8_e4m3fn


@triton.jit
def _add_rms_norm_kernel(x_ptr, residual_ptr, weight_ptr, y_ptr, sum_ptr, rstd_ptr, x_stride, n_cols, eps, OFFSET: tl.constexpr,
                         BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * x_stride + cols, mask=mask, other=0).to(tl.float32)
    x += tl.load(residual_ptr + row * x_stride + cols, mask=mask, other=0).to(tl.float32)
    tl.store(sum_ptr + row * x_stride + cols, x.to(sum_ptr.dtype.element_ty), mask=mask)
    rstd = tl.rsqrt(tl.sum(x * x, axis=0) / n_cols + eps)
    tl.store(rstd_ptr + row, rstd)
    w = tl.load(weight_ptr + cols, mask=mask, other=0).to(tl.float32)
    tl.store(y_ptr + row * x_stride + cols, (x * rstd * (OFFSET + w)).to(y_ptr.dtype.element_ty), mask=mask)


def add_rms_case(rows, n, offset, warps):
    x, residual, w = rand(rows, n, dtype=BF16), rand(rows, n, dtype=BF16), uniform(n, low=-0.5, high=1.0, dtype=BF16)
    y, total, rstd = empty(rows, n, dtype=BF16), empty(rows, n, dtype=BF16), empty(rows)

    def reference():
        s = x.float() + residual.float()
        r = torch.rsqrt(s.square().mean(1) + 1e-6)
        return s * r[:, None] * (offset + w.float()), s, r

    return Case(_add_rms_norm_kernel, (rows,), (x, residual, w, y, total, rstd, n, n, 1e-6),
                dict(OFFSET=offset, BLOCK=triton.next_power_of_2(n)), (y, total, rstd), reference, options=dict(num_warps=warps),
                bytes=rows * n * 8)


@case
def lm_add_rms_norm(rows=8192, n=8192):
    return add_rms_case(rows, n, 0.0, 16)


@case
def lm_add_rms_norm_gemma(rows=16384, n=3584):
    return add_rms_case(rows, n, 1.0, 8)


@triton.jit
def rms_backward(dy_ptr, s_ptr, w_ptr, rstd_ptr, ds_ptr, dx_ptr, dw_ptr, rows, per_program, N: tl.constexpr, BLOCK_N: tl.constexpr):
    """Gradient of x and of the residual (the same), and a part of the weight's for each program."""
    pid = tl.program_id(0)
    cols = tl.arange(0, BLOCK_N)
    ok = cols < N
    w = tl.load(w_ptr + cols, mask=ok, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK_N,), dtype=tl.float32)
    first = pid * per_program
    at = first.to(tl.int64) * N
    for row in range(first, min(first + per_program, rows)):
        dy = tl.load(dy_ptr + at + cols, mask=ok, other=0.0).to(tl.float32)
        s = tl.load(s_ptr + at + cols, mask=ok, other=0.0).to(tl.float32)
        ds = tl.load(ds_ptr + at + cols, mask=ok, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        hat = s * rstd
        m = dy * w
        dx = rstd * (m - hat * (tl.sum(m * hat, axis=0) / N)) + ds
        dw += dy * hat
        tl.store(dx_ptr + at + cols, dx.to(dx_ptr.dtype.element_ty), mask=ok)
        at += N
    tl.store(dw_ptr + pid * N + cols, dw, mask=ok)


@case
def lm_rms_norm_bwd(rows=16384, n=4096, programs=264):
    dy, s, ds, w = rand(rows, n, dtype=BF16), rand(rows, n, dtype=BF16), rand(rows, n, dtype=BF16), uniform(n, low=0.5, dtype=BF16)
    rstd, dx, dw = uniform(rows, low=0.9, high=1.1), empty(rows, n, dtype=BF16), empty(programs, n)
    each = triton.cdiv(rows, programs)

    def reference():
        hat = s.float() * rstd[:, None]
        m = dy.float() * w.float()
        parts = torch.zeros(programs * each, n, device=DEVICE)
        parts[:rows] = dy.float() * hat
        return rstd[:, None] * (m - hat * (m * hat).mean(1, keepdim=True)) + ds.float(), parts.view(programs, each, n).sum(1)

    return Case(rms_backward, (programs,), (dy, s, w, rstd, ds, dx, dw, rows, each), dict(N=n, BLOCK_N=triton.next_power_of_2(n)), (dx, dw),
                reference, options=dict(num_warps=8), bytes=rows * n * 8)


@triton.jit
def layer_norm_loop(X, W, B, Y, Mean, Rstd, stride, N, eps, BLOCK_SIZE: tl.constexpr):
    """Three passes over a long row, f16."""
    row = tl.program_id(0)
    X += row.to(tl.int64) * stride
    Y += row.to(tl.int64) * stride
    acc = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        acc += tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
    mean = tl.sum(acc, axis=0) / N
    acc = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        x = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
        x = tl.where(cols < N, x - mean, 0.0)
        acc += x * x
    rstd = 1 / tl.sqrt(tl.sum(acc, axis=0) / N + eps)
    tl.store(Mean + row, mean)
    tl.store(Rstd + row, rstd)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        mask = cols < N
        w = tl.load(W + cols, mask=mask, eviction_policy="evict_last").to(tl.float32)
        b = tl.load(B + cols, mask=mask, eviction_policy="evict_last").to(tl.float32)
        x = tl.load(X + cols, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
        tl.store(Y + cols, ((x - mean) * rstd * w + b).to(Y.dtype.element_ty), mask=mask)


@case
def lm_layer_norm_loop(rows=8192, n=12288):
    x, w, b, y = rand(rows, n, dtype=torch.float16), rand(n), rand(n), empty(rows, n, dtype=torch.float16)
    mean, rstd = empty(rows), empty(rows)

    def reference():
        m = x.float().mean(1)
        r = torch.rsqrt(x.float().var(1, correction=0) + 1e-5)
        return (x.float() - m[:, None]) * r[:, None] * w + b, m, r

    return Case(layer_norm_loop, (rows,), (x, w, b, y, mean, rstd, n, n, 1e-5), dict(BLOCK_SIZE=4096), (y, mean, rstd), reference,
                options=dict(num_warps=8), bytes=rows * n * 4)


@triton.jit
def layer_norm_dwdb(dy_ptr, x_ptr, mean_ptr, rstd_ptr, dw_ptr, db_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, SPLIT: tl.constexpr):
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    dw = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    db = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for i in range(tl.program_id(1) * BLOCK_M, M, BLOCK_M * SPLIT):
        rows = i + tl.arange(0, BLOCK_M)
        mask = (rows[:, None] < M) & (cols[None, :] < N)
        at = rows.to(tl.int64)[:, None] * N + cols[None, :]
        dy = tl.load(dy_ptr + at, mask=mask, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
        mean = tl.load(mean_ptr + rows, mask=rows < M, other=0.0)
        rstd = tl.load(rstd_ptr + rows, mask=rows < M, other=0.0)
        dw += dy * (x - mean[:, None]) * rstd[:, None]
        db += dy
    tl.atomic_add(dw_ptr + cols, tl.sum(dw, axis=0), mask=cols < N, sem="relaxed")
    tl.atomic_add(db_ptr + cols, tl.sum(db, axis=0), mask=cols < N, sem="relaxed")


@case
def lm_layer_norm_bwd_dwdb(M=16384, N=5120, split=16):
    dy, x, mean, rstd = rand(M, N, dtype=BF16), rand(M, N, dtype=BF16), rand(M, scale=0.1), uniform(M, low=0.5, high=1.5)
    dw, db = empty(N), empty(N)
    return Case(layer_norm_dwdb, (triton.cdiv(N, 128), split), (dy, x, mean, rstd, dw, db, M, N), dict(BLOCK_M=32, BLOCK_N=128, SPLIT=split),
                (dw, db), lambda: ((dy.float() * (x.float() - mean[:, None]) * rstd[:, None]).sum(0), dy.float().sum(0)),
                options=dict(num_warps=8), accumulate=True, bytes=M * N * 4)


@triton.jit
def gated_group_norm(x_ptr, z_ptr, w_ptr, y_ptr, rows, N: tl.constexpr, GROUP: tl.constexpr, ROWS: tl.constexpr):
    """Mamba's: rms_norm(x * silu(z)) over groups of columns."""
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.program_id(1) * GROUP + tl.arange(0, GROUP)
    at = r[:, None].to(tl.int64) * N + c[None, :]
    keep = (r < rows)[:, None]
    x = tl.load(x_ptr + at, keep, other=0.0).to(tl.float32)
    z = tl.load(z_ptr + at, keep, other=0.0).to(tl.float32)
    x *= z * tl.sigmoid(z)
    x *= tl.rsqrt(tl.sum(x * x, 1, keep_dims=True) / GROUP + 1e-5)
    tl.store(y_ptr + at, (x * tl.load(w_ptr + c).to(tl.float32)[None, :]).to(y_ptr.type.element_ty), keep)


@case
def lm_gated_group_norm(rows=16384, n=8192, group=1024):
    x, z, w, y = rand(rows, n, dtype=BF16), rand(rows, n, dtype=BF16), rand(n), empty(rows, n, dtype=BF16)

    def reference():
        g = (x.float() * torch.nn.functional.silu(z.float())).view(rows, n // group, group)
        return ((g * torch.rsqrt(g.square().mean(2, keepdim=True) + 1e-5)).view(rows, n) * w,)

    return Case(gated_group_norm, (triton.cdiv(rows, 4), n // group), (x, z, w, y, rows), dict(N=n, GROUP=group, ROWS=4), (y,), reference,
                options=dict(num_warps=4), bytes=rows * n * 6)


@triton.jit
def block_quant_transpose(x_ptr, q_ptr, t_ptr, s_ptr, M, N, B: tl.constexpr):
    """Scales of 128x128 blocks, powers of two; the quantized tensor and its transpose."""
    x_at = tl.make_block_ptr(x_ptr, (M, N), (N, 1), (tl.program_id(0) * B, tl.program_id(1) * B), (B, B), (1, 0))
    x = tl.load(x_at).to(tl.float32)
    top = tl.maximum(tl.max(tl.abs(x)), 1e-12)
    scale = tl.exp2(tl.ceil(tl.log2(top / 448.0)))
    q = (x / scale).to(q_ptr.dtype.element_ty)
    q_at = tl.make_block_ptr(q_ptr, (M, N), (N, 1), (tl.program_id(0) * B, tl.program_id(1) * B), (B, B), (1, 0))
    t_at = tl.make_block_ptr(t_ptr, (N, M), (M, 1), (tl.program_id(1) * B, tl.program_id(0) * B), (B, B), (1, 0))
    tl.store(q_at, q)
    tl.store(t_at, tl.trans(q))
    tl.store(s_ptr + tl.program_id(0) * tl.num_programs(1) + tl.program_id(1), scale)


@case
def lm_fp8_block_quant_transpose(M=8192, N=8192):
    x, q, t, s = rand(M, N, dtype=BF16), empty(M, N, dtype=F8), empty(N, M, dtype=F8), empty(M // 128, N // 128)

    def reference():
        v = x.float().view(M // 128, 128, N // 128, 128)
        scale = torch.exp2(torch.ceil(torch.log2(v.abs().amax((1, 3)) / 448.0)))
        out = (v / scale[:, None, :, None]).reshape(M, N)
        return out, out.T, scale

    return Case(block_quant_transpose, (M // 128, N // 128), (x, q, t, s, M, N), dict(B=128), (q, t, s), reference, rtol=5e-2,
                options=dict(num_warps=8), bytes=M * N * 4)


@triton.jit
def swiglu_quant(gate_up, out, scales, stride, H, LIMIT: tl.constexpr, GROUPS: tl.constexpr, GROUP: tl.constexpr):
    """silu(gate) * up with clamps, quantized for each token and 128 columns."""
    token = tl.program_id(1).to(tl.int64)
    g = tl.program_id(0) * GROUPS + tl.arange(0, GROUPS)
    at = g[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
    a = tl.load(gate_up + token * stride + at, mask=at < H, other=0.0).to(tl.float32)
    b = tl.load(gate_up + token * stride + H + at, mask=at < H, other=0.0).to(tl.float32)
    a = tl.minimum(a, LIMIT)
    b = tl.clamp(b, -LIMIT, LIMIT)
    y = a / (1.0 + tl.exp(-a)) * b
    scale = tl.max(tl.abs(y), axis=1) * (1.0 / 448.0) + 1e-10
    tl.store(out + token * H + at, (y / scale[:, None]).to(tl.float8e4nv), mask=at < H)
    tl.store(scales + token * (H // GROUP) + g, scale, mask=g < H // GROUP)


@case
def lm_swiglu_fp8_quant(tokens=8192, H=14336):
    x, out, scales = rand(tokens, 2 * H, dtype=BF16), empty(tokens, H, dtype=F8), empty(tokens, H // 128)

    def reference():
        a, b = x[:, :H].float().clamp(max=7.0), x[:, H:].float().clamp(-7.0, 7.0)
        y = (torch.nn.functional.silu(a) * b).view(tokens, H // 128, 128)
        s = y.abs().amax(2) / 448.0 + 1e-10
        return (y / s[:, :, None]).view(tokens, H), s

    return Case(swiglu_quant, (triton.cdiv(H, 2048), tokens), (x, out, scales, 2 * H, H), dict(LIMIT=7.0, GROUPS=16, GROUP=128),
                (out, scales), reference, rtol=5e-2, options=dict(num_warps=8), bytes=tokens * H * 5)


@triton.jit
def geglu_backward(dout_ptr, gate_ptr, up_ptr, h_ptr, dgate_ptr, dup_ptr, n, BLOCK: tl.constexpr):
    """Recomputes the output too; GELU by tanh."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    dout = tl.load(dout_ptr + i, mask=live, other=0).to(tl.float32)
    e = tl.load(gate_ptr + i, mask=live, other=0).to(tl.float32)
    g = tl.load(up_ptr + i, mask=live, other=0).to(tl.float32)
    inner = 0.7978845608028654 * e * (1.0 + 0.044715 * e * e)
    t = 2.0 * tl.sigmoid(2.0 * inner) - 1.0
    half = 0.5 * (1.0 + t)
    f = half * e
    slope = half + 0.5 * e * (1.0 - t * t) * 0.7978845608028654 * (1.0 + 3.0 * 0.044715 * e * e)
    tl.store(h_ptr + i, (f * g).to(h_ptr.dtype.element_ty), mask=live)
    tl.store(dup_ptr + i, (dout * f).to(dup_ptr.dtype.element_ty), mask=live)
    tl.store(dgate_ptr + i, (dout * g * slope).to(dgate_ptr.dtype.element_ty), mask=live)


@case
def lm_geglu_bwd(n=4096 * 14336):
    dout, gate, up = rand(n, dtype=BF16), rand(n, dtype=BF16), rand(n, dtype=BF16)
    h, dgate, dup = empty(n, dtype=BF16), empty(n, dtype=BF16), empty(n, dtype=BF16)

    def reference():
        e, g = gate.float().requires_grad_(), up.float().requires_grad_()
        with torch.enable_grad():
            y = torch.nn.functional.gelu(e, approximate="tanh") * g
            return y.detach(), *torch.autograd.grad(y, (e, g), dout.float())

    return Case(geglu_backward, (triton.cdiv(n, 1024),), (dout, gate, up, h, dgate, dup, n), dict(BLOCK=1024), (h, dgate, dup), reference,
                options=dict(num_warps=4), bytes=n * 12)
