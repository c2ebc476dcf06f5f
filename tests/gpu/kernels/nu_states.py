# SPDX-License-Identifier: Apache-2.0
"""States along time and small matrices: chunks with decays, steps of decoding, short convolutions, scans across tiles, cells, inverses."""
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from case import DEVICE, Case, empty, rand, randint, registry, tensor, uniform, zeros

CASES, case = registry()
BF16 = torch.bfloat16


def describe(x, *block):
    return TensorDescriptor(x, list(x.shape), list(x.stride()), list(block))


@triton.jit
def softplus(x):
    return tl.where(x <= 20.0, tl.log(1.0 + tl.exp(x)), x)


@triton.jit
def chunk_sums(dt_ptr, bias_ptr, a_ptr, dt_out, cum_out, T, H, chunks, low, high, Q: tl.constexpr, BH: tl.constexpr):
    """(B, T, H) to (B, H, chunks, Q): bias, softplus, clamp, and the sums of dt * A within each chunk; time's end is zero."""
    chunk, b = tl.program_id(0), tl.program_id(2)
    h, q = tl.program_id(1) * BH + tl.arange(0, BH), tl.arange(0, Q)
    t = chunk * Q + q
    inside = (h < H)[:, None] & (t < T)[None, :]
    dt = tl.load(dt_ptr + (b * T + t)[None, :] * H + h[:, None], mask=inside, other=0.0).to(tl.float32)
    dt = softplus(dt + tl.load(bias_ptr + h, mask=h < H, other=0.0)[:, None])
    dt = tl.where(inside, tl.minimum(tl.maximum(dt, low), high), 0.0)
    at = ((b * H + h)[:, None] * chunks + chunk) * Q + q[None, :]
    tl.store(dt_out + at, dt, mask=(h < H)[:, None])
    tl.store(cum_out + at, tl.cumsum(dt * tl.load(a_ptr + h, mask=h < H, other=0.0)[:, None], 1), mask=(h < H)[:, None])


@case
def nu_chunk_sums(B=32, T=8000, H=72, Q=256):
    dt, bias, a, chunks = rand(B, T, H, dtype=BF16), rand(H), uniform(H, low=-2.0, high=-0.1), triton.cdiv(T, Q)
    dt_out, cum = empty(B, H, chunks, Q), empty(B, H, chunks, Q)

    def reference():
        x = torch.nn.functional.softplus(dt.float() + bias).clamp(0.01, 1.5)
        x = torch.nn.functional.pad(x, (0, 0, 0, chunks * Q - T)).transpose(1, 2).reshape(B, H, chunks, Q)
        return x, (x * a[:, None, None]).cumsum(3)

    return Case(chunk_sums, (chunks, triton.cdiv(H, 16), B), (dt, bias, a, dt_out, cum, T, H, chunks, 0.01, 1.5),
                dict(Q=Q, BH=16), (dt_out, cum), reference, rtol=1e-4, options=dict(num_warps=4), bytes=B * T * H * 10)


@triton.jit
def state_step(state, new_state, x, dt, bias, a, b, c, d, z, slots, y, H, G, P: tl.constexpr, N: tl.constexpr, BP: tl.constexpr):
    """A step of decoding: states lie in slots; y = (state C + D x) silu(z)."""
    seq, h = tl.program_id(1), tl.program_id(2)
    p, n = tl.program_id(0) * BP + tl.arange(0, BP), tl.arange(0, N)
    slot = tl.load(slots + seq).to(tl.int64)
    at = (slot * H + h) * (P * N) + p[:, None] * N + n[None, :]
    step = softplus(tl.load(dt + seq * H + h).to(tl.float32) + tl.load(bias + h))
    row = (seq * H + h) * P + p
    xs = tl.load(x + row).to(tl.float32)
    group = (seq * G + h // (H // G)) * N + n
    s = tl.load(state + at).to(tl.float32) * tl.exp(tl.load(a + h) * step)
    s += (xs * step)[:, None] * tl.load(b + group).to(tl.float32)[None, :]
    tl.store(new_state + at, s.to(new_state.dtype.element_ty))
    out = tl.sum(s * tl.load(c + group).to(tl.float32)[None, :], 1) + xs * tl.load(d + h)
    gate = tl.load(z + row).to(tl.float32)
    tl.store(y + row, (out * gate * tl.sigmoid(gate)).to(y.dtype.element_ty))


@case
def nu_state_step(B=128, H=64, G=8, P=64, N=128):
    state, new, x, z = rand(B, H, P, N, dtype=BF16), empty(B, H, P, N, dtype=BF16), rand(B, H, P, dtype=BF16), rand(B, H, P, dtype=BF16)
    dt, bias, a, d = rand(B, H, dtype=BF16), rand(H), uniform(H, low=-2.0, high=-0.1), rand(H)
    b, c, y, slots = rand(B, G, N, dtype=BF16), rand(B, G, N, dtype=BF16), empty(B, H, P, dtype=BF16), torch.randperm(B, device=DEVICE)

    def reference():
        step = torch.nn.functional.softplus(dt.float() + bias)
        bs, cs = (v.float().repeat_interleave(H // G, 1) for v in (b, c))
        s = state[slots].float() * torch.exp(a * step)[:, :, None, None] + (x.float() * step[:, :, None])[..., None] * bs[:, :, None]
        out = (s * cs[:, :, None]).sum(3) + x.float() * d[:, None]
        return torch.empty_like(s).index_copy_(0, slots, s), out * torch.nn.functional.silu(z.float())

    return Case(state_step, (P // 32, B, H), (state, new, x, dt, bias, a, b, c, d, z, slots.to(torch.int32), y, H, G),
                dict(P=P, N=N, BP=32), (new, y), reference, options=dict(num_warps=4), bytes=B * H * P * N * 4)


@triton.jit
def conv_step(x, state, new_state, w, bias, slots, y, C, TOKENS: tl.constexpr, BC: tl.constexpr):
    """Four taps over a few new tokens; the last three inputs of a slot lie side by side, and those that follow are kept."""
    seq, c = tl.program_id(1), tl.program_id(0) * BC + tl.arange(0, BC)
    inside = c < C
    at = (tl.load(slots + seq).to(tl.int64) * C + c) * 3
    x0 = tl.load(state + at, mask=inside, other=0.0)
    x1 = tl.load(state + at + 1, mask=inside, other=0.0)
    x2 = tl.load(state + at + 2, mask=inside, other=0.0)
    w0, w1 = tl.load(w + c * 4, mask=inside, other=0.0), tl.load(w + c * 4 + 1, mask=inside, other=0.0)
    w2, w3 = tl.load(w + c * 4 + 2, mask=inside, other=0.0), tl.load(w + c * 4 + 3, mask=inside, other=0.0)
    plus = tl.load(bias + c, mask=inside, other=0.0)
    for t in tl.static_range(TOKENS):
        x3 = tl.load(x + (seq * TOKENS + t) * C + c, mask=inside, other=0.0)
        s = plus + w0 * x0.to(tl.float32) + w1 * x1.to(tl.float32) + w2 * x2.to(tl.float32) + w3 * x3.to(tl.float32)
        tl.store(y + (seq * TOKENS + t) * C + c, (s * tl.sigmoid(s)).to(y.dtype.element_ty), mask=inside)
        x0, x1, x2 = x1, x2, x3
    tl.store(new_state + at, x0, mask=inside)
    tl.store(new_state + at + 1, x1, mask=inside)
    tl.store(new_state + at + 2, x2, mask=inside)


@case
def nu_conv_step(B=500, tokens=4, C=8200):
    x, state, new = rand(B, tokens, C, dtype=BF16), rand(B, C, 3, dtype=BF16), empty(B, C, 3, dtype=BF16)
    w, bias, y, slots = rand(C, 4), rand(C), empty(B, tokens, C, dtype=BF16), torch.randperm(B, device=DEVICE)

    def reference():
        line = torch.cat((state[slots].float(), x.float().transpose(1, 2)), 2)
        s = bias + sum(line[:, :, i:i + tokens].transpose(1, 2) * w[:, i] for i in range(4))
        return torch.nn.functional.silu(s), torch.empty_like(state, dtype=torch.float32).index_copy_(0, slots, line[:, :, tokens:])

    return Case(conv_step, (triton.cdiv(C, 512), B), (x, state, new, w, bias, slots.to(torch.int32), y, C),
                dict(TOKENS=tokens, BC=512), (y, new), reference, options=dict(num_warps=4), bytes=B * C * (tokens * 4 + 12))


@triton.jit
def conv_gradients(x, dy, w, bias, dx, dw, db, T, C, BT: tl.constexpr, BC: tl.constexpr):
    """Gradients of a causal depthwise convolution of four taps with silu: the sums before it are made again for the rows that follow."""
    b = tl.program_id(2).to(tl.int64)
    t, c = tl.program_id(1) * BT + tl.arange(0, BT), tl.program_id(0) * BC + tl.arange(0, BC)
    at = b * T * C + t[:, None] * C + c[None, :]
    grad = tl.zeros((BT, BC), tl.float32)
    for s in tl.static_range(4):
        pre = tl.zeros((BT, BC), tl.float32) + tl.load(bias + c, mask=c < C, other=0.0)[None, :]
        for k in tl.static_range(4):
            row = t + (s - 3 + k)
            xs = tl.load(x + at + (s - 3 + k) * C, mask=((row >= 0) & (row < T))[:, None] & (c < C)[None, :], other=0.0)
            pre += xs.to(tl.float32) * tl.load(w + c * 4 + k, mask=c < C, other=0.0)[None, :]
        g = tl.load(dy + at + s * C, mask=(t + s < T)[:, None] & (c < C)[None, :], other=0.0).to(tl.float32)
        gate = tl.sigmoid(pre)
        g *= gate * (1.0 + pre * (1.0 - gate))
        grad += g * tl.load(w + c * 4 + (3 - s), mask=c < C, other=0.0)[None, :]
        if s == 0:
            tl.atomic_add(db + c, tl.sum(g, 0), mask=c < C, sem="relaxed")
            for k in tl.static_range(4):
                row = t + (k - 3)
                xs = tl.load(x + at + (k - 3) * C, mask=((row >= 0) & (row < T))[:, None] & (c < C)[None, :], other=0.0)
                tl.atomic_add(dw + c * 4 + k, tl.sum(g * xs.to(tl.float32), 0), mask=c < C, sem="relaxed")
    tl.store(dx + at, grad.to(dx.dtype.element_ty), mask=(t < T)[:, None] & (c < C)[None, :])


@case
def nu_conv_gradients(B=2, T=4000, C=4128):
    x, dy, w, bias = rand(B, T, C, dtype=BF16), rand(B, T, C, dtype=BF16), rand(C, 4, scale=0.5), rand(C)
    dx, dw, db = zeros(B, T, C, dtype=BF16), zeros(C, 4), zeros(C)

    def reference():
        v = [z.float().clone().requires_grad_() for z in (x, w, bias)]
        padded = torch.nn.functional.pad(v[0], (0, 0, 3, 0))
        pre = v[2] + sum(padded[:, i:i + T] * v[1][:, i] for i in range(4))
        torch.nn.functional.silu(pre).backward(dy.float())
        return tuple(z.grad for z in v)

    return Case(conv_gradients, (triton.cdiv(C, 64), triton.cdiv(T, 64), B), (x, dy, w, bias, dx, dw, db, T, C),
                dict(BT=64, BC=64), (dx, dw, db), reference, options=dict(num_warps=4), accumulate=True, bytes=B * T * C * 6)


@triton.jit
def rwkv_chunks(r_ptr, k_ptr, v_ptr, w_ptr, u_ptr, o_ptr, T, H, S: tl.constexpr, BT: tl.constexpr):
    """Decays of each token and channel, chunks of 16 in turn: columns of scores by sums, the rest by products with the state."""
    h, b = tl.program_id(0), tl.program_id(1)
    i, s = tl.arange(0, BT), tl.arange(0, S)
    u = tl.load(u_ptr + h * S + s)
    state = tl.zeros((S, S), tl.float32)
    for start in range(0, T, BT):
        base = ((b * T + start) * H + h) * S
        at = base + i[:, None] * (H * S) + s[None, :]
        r, k, v, w = tl.load(r_ptr + at), tl.load(k_ptr + at), tl.load(v_ptr + at), tl.load(w_ptr + at)
        cum = tl.cumsum(w, 0)
        before, whole = cum - w, tl.sum(w, 0)
        query = r.to(tl.float32)
        inner = tl.where((i[:, None] == i[None, :]), tl.sum(query * k.to(tl.float32) * u[None, :], 1)[:, None], 0.0)
        for j in range(BT):
            cum_j = tl.sum(tl.where((i == j)[:, None], cum, 0.0), 0)
            k_j = tl.load(k_ptr + base + j * H * S + s).to(tl.float32)
            column = tl.sum(query * k_j[None, :] * tl.exp(tl.minimum(before - cum_j[None, :], 0.0)), 1)
            inner += tl.where((i[:, None] > j) & (i[None, :] == j), column[:, None], 0.0)
        o = tl.dot((query * tl.exp(before)).to(v.dtype), state.to(v.dtype))
        o = tl.dot(inner.to(v.dtype), v, o)
        tl.store(o_ptr + at, o.to(o_ptr.dtype.element_ty))
        keys = (k.to(tl.float32) * tl.exp(whole[None, :] - cum)).to(v.dtype)
        state = tl.dot(tl.trans(keys), v, state * tl.exp(whole)[:, None])


@case
def nu_rwkv_chunks(B=16, T=512, H=32, S=64):
    r, k, v = rand(B, T, H, S, dtype=BF16, scale=0.3), rand(B, T, H, S, dtype=BF16, scale=0.3), rand(B, T, H, S, dtype=BF16)
    w, u, o = uniform(B, T, H, S, low=-0.8, high=-0.02), rand(H, S, scale=0.5), empty(B, T, H, S, dtype=BF16)

    def reference():
        state, rows = torch.zeros(B, H, S, S, device=DEVICE), []
        for t in range(T):
            outer = k[:, t, :, :, None].float() * v[:, t, :, None].float()
            rows.append(torch.einsum("bhk,bhkv->bhv", r[:, t].float(), state + u[:, :, None] * outer))
            state = state * torch.exp(w[:, t])[..., None] + outer
        return (torch.stack(rows, 1),)

    return Case(rwkv_chunks, (H, B), (r, k, v, w, u, o, T, H), dict(S=S, BT=16), (o,), reference, rtol=2e-2,
                options=dict(num_warps=4, num_stages=2), bytes=B * T * H * S * 12)


@triton.jit
def delta_steps(q_ptr, k_ptr, v_ptr, g_ptr, beta_ptr, o_ptr, final, scale, T, H, HV, K: tl.constexpr, V: tl.constexpr, BV: tl.constexpr):
    """The gated delta rule token by token: q and k are normalized here, several heads of values share them."""
    hv, b = tl.program_id(1), tl.program_id(2)
    h = hv // (HV // H)
    k, v = tl.arange(0, K), tl.program_id(0) * BV + tl.arange(0, BV)
    state = tl.zeros((K, BV), tl.float32)
    for t in range(T):
        qk_at, v_at = ((b * T + t) * H + h) * K + k, ((b * T + t) * HV + hv) * V + v
        query, key = tl.load(q_ptr + qk_at).to(tl.float32), tl.load(k_ptr + qk_at).to(tl.float32)
        query *= scale * tl.rsqrt(tl.sum(query * query, 0) + 1e-6)
        key *= tl.rsqrt(tl.sum(key * key, 0) + 1e-6)
        state *= tl.exp(tl.load(g_ptr + (b * T + t) * HV + hv))
        value = tl.load(v_ptr + v_at).to(tl.float32) - tl.sum(state * key[:, None], 0)
        state += key[:, None] * (value * tl.load(beta_ptr + (b * T + t) * HV + hv))[None, :]
        tl.store(o_ptr + v_at, tl.sum(state * query[:, None], 0).to(o_ptr.dtype.element_ty))
    tl.store(final + (b * HV + hv).to(tl.int64) * (K * V) + k[:, None] * V + v[None, :], state)


@case
def nu_delta_steps(B=8, T=96, H=16, HV=32, K=128, V=128):
    q, k, v = rand(B, T, H, K, dtype=BF16), rand(B, T, H, K, dtype=BF16), rand(B, T, HV, V, dtype=BF16)
    g, beta, o, final = uniform(B, T, HV, low=-0.2, high=0.0), uniform(B, T, HV), empty(B, T, HV, V, dtype=BF16), empty(B, HV, K, V)

    def reference():
        state, rows = torch.zeros(B, HV, K, V, device=DEVICE), []
        qs, ks = ((z.float() * torch.rsqrt(z.float().square().sum(3, keepdim=True) + 1e-6)).repeat_interleave(HV // H, 2) for z in (q, k))
        for t in range(T):
            state = state * torch.exp(g[:, t])[:, :, None, None]
            value = (v[:, t].float() - torch.einsum("bhkv,bhk->bhv", state, ks[:, t])) * beta[:, t, :, None]
            state = state + ks[:, t, :, :, None] * value[:, :, None]
            rows.append(torch.einsum("bhkv,bhk->bhv", state, qs[:, t]) * K**-0.5)
        return torch.stack(rows, 1), state

    return Case(delta_steps, (V // 16, HV, B), (q, k, v, g, beta, o, final, K**-0.5, T, H, HV),
                dict(K=K, V=V, BV=16), (o, final), reference, options=dict(num_warps=1, num_stages=3), flops=6 * B * T * HV * K * V)


@triton.jit
def complex_affine(ar, ai, xr, xi, br, bi, yr, yi):
    return ar * br - ai * bi, ar * bi + ai * br, br * xr - bi * xi + yr, br * xi + bi * xr + yi


@triton.jit
def complex_scan(xr_ptr, xi_ptr, log_size, angle, yr_ptr, yi_ptr, T, C, BT: tl.constexpr, BC: tl.constexpr):
    """h[t] = lambda h[t - 1] + sqrt(1 - |lambda|^2) x[t] with a complex lambda for each channel, by scans of four parts, blocks in turn."""
    b = tl.program_id(1)
    t, c = tl.arange(0, BT), tl.program_id(0) * BC + tl.arange(0, BC)
    size, phi = tl.exp(tl.load(log_size + c)), tl.load(angle + c)
    one = tl.zeros((BT, BC), tl.float32) + 1.0
    ar, ai = one * (size * tl.cos(phi))[None, :], one * (size * tl.sin(phi))[None, :]
    factor = tl.sqrt(1.0 - size * size)[None, :]
    hr, hi = tl.zeros((BC,), tl.float32), tl.zeros((BC,), tl.float32)
    for start in range(0, T, BT):
        at = (b * T + start + t)[:, None] * C + c[None, :]
        inside = (start + t < T)[:, None]
        xr = tl.load(xr_ptr + at, mask=inside, other=0.0).to(tl.float32) * factor
        xi = tl.load(xi_ptr + at, mask=inside, other=0.0).to(tl.float32) * factor
        pr, pi, sr, si = tl.associative_scan((ar, ai, xr, xi), 0, complex_affine)
        yr, yi = sr + pr * hr[None, :] - pi * hi[None, :], si + pr * hi[None, :] + pi * hr[None, :]
        tl.store(yr_ptr + at, yr, mask=inside)
        tl.store(yi_ptr + at, yi, mask=inside)
        last = (t == BT - 1)[:, None]
        hr, hi = tl.sum(tl.where(last, yr, 0.0), 0), tl.sum(tl.where(last, yi, 0.0), 0)


@case
def nu_complex_scan(B=8, T=2000, C=1024):
    xr, xi, log, phi = rand(B, T, C, dtype=BF16), rand(B, T, C, dtype=BF16), uniform(C, low=-0.2, high=-0.01), uniform(C, low=0.0, high=3.0)
    yr, yi = empty(B, T, C), empty(B, T, C)

    def reference():
        factor, x, h, rows = torch.polar(torch.exp(log), phi), torch.complex(xr.float(), xi.float()), 0.0, []
        x = x * torch.sqrt(1 - torch.exp(2 * log))
        for t in range(T):
            h = factor * h + x[:, t]
            rows.append(h)
        h = torch.stack(rows, 1)
        return h.real, h.imag

    return Case(complex_scan, (C // 32, B), (xr, xi, log, phi, yr, yi, T, C), dict(BT=64, BC=32), (yr, yi), reference, rtol=1e-3,
                options=dict(num_warps=4, num_stages=2), bytes=B * T * C * 12)


@triton.jit
def lightning_keys(q_ptr, k_ptr, v_ptr, do_ptr, dk_ptr, dv_ptr, slopes, heads, T, D: tl.constexpr, BT: tl.constexpr):
    """dk and dv of attention without softmax and with a decay for each head: chunks backwards, with the state of what comes later."""
    q_desc = tl.make_tensor_descriptor(q_ptr, [heads * T, D], [D, 1], [BT, D])
    k_desc = tl.make_tensor_descriptor(k_ptr, [heads * T, D], [D, 1], [BT, D])
    v_desc = tl.make_tensor_descriptor(v_ptr, [heads * T, D], [D, 1], [BT, D])
    do_desc = tl.make_tensor_descriptor(do_ptr, [heads * T, D], [D, 1], [BT, D])
    dk_desc = tl.make_tensor_descriptor(dk_ptr, [heads * T, D], [D, 1], [BT, D])
    dv_desc = tl.make_tensor_descriptor(dv_ptr, [heads * T, D], [D, 1], [BT, D])
    head = tl.program_id(0)
    slope, i = tl.load(slopes + head), tl.arange(0, BT)
    far = (i[None, :] - i[:, None]).to(tl.float32)
    within = tl.where(far >= 0, tl.exp(-slope * tl.maximum(far, 0.0)), 0.0)
    since, until = tl.exp(-slope * i.to(tl.float32))[:, None], tl.exp(-slope * (BT - i).to(tl.float32))[:, None]
    whole = tl.exp(-slope * BT)
    state = tl.zeros((D, D), tl.float32)
    for back in range(T // BT):
        row = head * T + T - (back + 1) * BT
        q, k, v, do = q_desc.load([row, 0]), k_desc.load([row, 0]), v_desc.load([row, 0]), do_desc.load([row, 0])
        late = state.to(q.dtype)
        dv = tl.dot(k, late) * until
        dk = tl.dot(v, late.T) * until
        dv = tl.dot((tl.dot(k, q.T) * within).to(q.dtype), do, dv)
        dk = tl.dot((tl.dot(v, do.T) * within).to(q.dtype), q, dk)
        dv_desc.store([row, 0], dv.to(dv_ptr.dtype.element_ty))
        dk_desc.store([row, 0], dk.to(dk_ptr.dtype.element_ty))
        state = tl.dot((q.to(tl.float32) * since).to(q.dtype).T, do, state * whole)


@case
def nu_lightning_keys(heads=256, T=2048, D=64):
    q, k, v, do = (rand(heads, T, D, dtype=BF16, scale=0.3) for _ in range(4))
    dk, dv, slopes = empty(heads, T, D, dtype=BF16), empty(heads, T, D, dtype=BF16), uniform(heads, low=0.005, high=0.3)

    def reference():
        far, dks, dvs = torch.arange(T, device=DEVICE)[:, None] - torch.arange(T, device=DEVICE), [], []
        for h in range(heads):
            decay = torch.exp(-slopes[h] * far.clamp(min=0)).tril()
            dvs.append((q[h].float() @ k[h].float().T * decay).T @ do[h].float())
            dks.append((do[h].float() @ v[h].float().T * decay).T @ q[h].float())
        return torch.stack(dks), torch.stack(dvs)

    return Case(lightning_keys, (heads,), (q, k, v, do, dk, dv, slopes, heads, T), dict(D=D, BT=64), (dk, dv), reference, rtol=2e-2,
                options=dict(num_warps=4, num_stages=2), flops=12 * heads * T * 64 * D)


@triton.jit
def packed(status, value):
    return (status.to(tl.int64) << 32) | (value.to(tl.int64) & 0xFFFFFFFF)


@triton.jit
def sums_looking_back(x, y, words, tickets, n, tiles, BLOCK: tl.constexpr):
    """Running sums in one pass: a tile tells its own sum (1), then that of all up to it (2), and asks those before it one by one."""
    tile = tl.atomic_add(tickets, 1)
    i = tile * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    whole = tl.sum(v, 0)
    inner = tl.cumsum(v, 0)
    one = tl.full((), 1, tl.int32)
    before = tl.full((), 0, tl.int32)
    status = tl.where(tile == 0, one + 1, one)
    tl.atomic_xchg(words + tile, packed(status, whole), sem="release")
    q = tile - 1
    while status != 2:
        word = tl.atomic_or(words + q, tl.full((), 0, tl.int64), sem="acquire")
        status = (word >> 32).to(tl.int32)
        before += tl.where(status > 0, word.to(tl.int32), 0)
        q = tl.where(status > 0, q - 1, q)
    tl.atomic_xchg(words + tile, packed(one + 1, before + whole), sem="release")
    tl.store(y + i, inner + before, mask=i < n)
    if tl.atomic_add(tickets + 1, 1) == tiles - 1:  # all have asked: what the next launch needs
        for start in range(0, tiles, BLOCK):
            at = start + tl.arange(0, BLOCK)
            tl.store(words + at, tl.zeros((BLOCK,), tl.int64), mask=at < tiles)
        tl.atomic_xchg(tickets, 0)
        tl.atomic_xchg(tickets + 1, 0)


@case
def nu_sums_looking_back(n=30000001):
    x, y, tiles = randint(-50, 51, n), empty(n, dtype=torch.int32), triton.cdiv(n, 4096)
    words, tickets = zeros(tiles, dtype=torch.int64), zeros(2, dtype=torch.int32)
    return Case(sums_looking_back, (tiles,), (x, y, words, tickets, n, tiles), dict(BLOCK=4096), (y,),
                lambda: (x.long().cumsum(0),), rtol=1e-6, options=dict(num_warps=8), bytes=n * 8)


@triton.jit
def cell_tanh(x):
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@triton.jit
def gates_part(i, f, g, o, a_desc, w_desc, row, col, H, K, BK: tl.constexpr):
    for k in range(0, K, BK):
        a = a_desc.load([row, k])
        i = tl.dot(a, w_desc.load([col, k]).T, i)
        f = tl.dot(a, w_desc.load([H + col, k]).T, f)
        g = tl.dot(a, w_desc.load([2 * H + col, k]).T, g)
        o = tl.dot(a, w_desc.load([3 * H + col, k]).T, o)
    return i, f, g, o


@triton.jit
def lstm_cell(x_desc, h_desc, wx_desc, wh_desc, bias, c_ptr, h_out, c_out, M, H, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Four gates as four accumulators over two products, the input's and the state's; the cell at the end."""
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    m, n = row + tl.arange(0, BM), col + tl.arange(0, BN)
    zero = tl.zeros((BM, BN), tl.float32)
    i = zero + tl.load(bias + n)[None, :]
    f = zero + tl.load(bias + H + n)[None, :]
    g = zero + tl.load(bias + 2 * H + n)[None, :]
    o = zero + tl.load(bias + 3 * H + n)[None, :]
    i, f, g, o = gates_part(i, f, g, o, x_desc, wx_desc, row, col, H, K, BK)
    i, f, g, o = gates_part(i, f, g, o, h_desc, wh_desc, row, col, H, H, BK)
    at, inside = m[:, None] * H + n[None, :], (m < M)[:, None]
    c = tl.sigmoid(f) * tl.load(c_ptr + at, mask=inside, other=0.0) + tl.sigmoid(i) * cell_tanh(g)
    tl.store(c_out + at, c, mask=inside)
    tl.store(h_out + at, (tl.sigmoid(o) * cell_tanh(c)).to(h_out.dtype.element_ty), mask=inside)


@case
def nu_lstm_cell(M=1000, H=1536, K=1024):
    x, h, c = rand(M, K, dtype=BF16), rand(M, H, dtype=BF16), rand(M, H)
    wx, wh, bias = rand(4 * H, K, dtype=BF16, scale=0.02), rand(4 * H, H, dtype=BF16, scale=0.02), rand(4 * H, scale=0.1)
    h_out, c_out = empty(M, H, dtype=BF16), empty(M, H)

    def reference():
        i, f, g, o = (x.float() @ wx.float().T + h.float() @ wh.float().T + bias).split(H, 1)
        new = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(new), new

    args = (describe(x, 128, 64), describe(h, 128, 64), describe(wx, 32, 64), describe(wh, 32, 64))
    return Case(lstm_cell, (triton.cdiv(M, 128), H // 32), (*args, bias, c, h_out, c_out, M, H, K),
                dict(BM=128, BN=32, BK=64), (h_out, c_out), reference, options=dict(num_warps=8, num_stages=3), flops=8 * M * H * (H + K))


@triton.jit
def sinkhorn(x_ptr, y_ptr, tokens, eps, STEPS: tl.constexpr, S: tl.constexpr, BT: tl.constexpr):
    """S x S matrices of tokens in registers, made doubly stochastic: rows and columns are divided by their sums in turns."""
    t, i = tl.program_id(0) * BT + tl.arange(0, BT), tl.arange(0, S)
    at = t[:, None, None] * (S * S) + i[None, :, None] * S + i[None, None, :]
    inside = (t < tokens)[:, None, None]
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    x = tl.exp(x - tl.max(x, 2)[:, :, None])
    x = x / tl.sum(x, 2)[:, :, None] + eps
    x = x / (tl.sum(x, 1)[:, None, :] + eps)
    for _ in range(STEPS - 1):
        x = x / (tl.sum(x, 2)[:, :, None] + eps)
        x = x / (tl.sum(x, 1)[:, None, :] + eps)
    tl.store(y_ptr + at, x, mask=inside)


@case
def nu_sinkhorn_4x4(tokens=600001, S=4, steps=20):
    x, y = rand(tokens, S, S), empty(tokens, S, S)

    def reference():
        z = torch.softmax(x, 2) + 1e-6
        z = z / (z.sum(1, keepdim=True) + 1e-6)
        for _ in range(steps - 1):
            z = z / (z.sum(2, keepdim=True) + 1e-6)
            z = z / (z.sum(1, keepdim=True) + 1e-6)
        return (z,)

    return Case(sinkhorn, (triton.cdiv(tokens, 64),), (x, y, tokens, 1e-6), dict(STEPS=steps, S=S, BT=64), (y,), reference, rtol=1e-4,
                options=dict(num_warps=4), bytes=tokens * S * S * 8)


@triton.jit
def mixed_streams(x_ptr, o_ptr, mix_ptr, post_ptr, y_ptr, D, S: tl.constexpr, BD: tl.constexpr):
    """Hyper-connections: a token's streams are mixed by its own S x S matrix, and a layer's output is added to each with a weight."""
    t = tl.program_id(0)
    i, d = tl.arange(0, S), tl.program_id(1) * BD + tl.arange(0, BD)
    acc = tl.load(post_ptr + t * S + i)[:, None] * tl.load(o_ptr + t.to(tl.int64) * D + d, mask=d < D, other=0.0).to(tl.float32)[None, :]
    base = t.to(tl.int64) * (S * D)
    for j in tl.static_range(S):
        x = tl.load(x_ptr + base + j * D + d, mask=d < D, other=0.0).to(tl.float32)
        acc += tl.load(mix_ptr + t * (S * S) + i * S + j)[:, None] * x[None, :]
    tl.store(y_ptr + base + i[:, None] * D + d[None, :], acc.to(y_ptr.dtype.element_ty), mask=(d < D)[None, :])


@case
def nu_mixed_streams(tokens=8192, S=4, D=2560):
    x, o, y = rand(tokens, S, D, dtype=BF16), rand(tokens, D, dtype=BF16), empty(tokens, S, D, dtype=BF16)
    mix, post = uniform(tokens, S, S), uniform(tokens, S)
    return Case(mixed_streams, (tokens, triton.cdiv(D, 1024)), (x, o, mix, post, y, D), dict(S=S, BD=1024), (y,),
                lambda: (mix @ x.float() + post[:, :, None] * o.float()[:, None],),
                options=dict(num_warps=4), bytes=tokens * D * (4 * S + 2))


@triton.jit
def inverse_16(a_ptr, stride, B: tl.constexpr):
    """(I + A)^-1 of a block whose lower part lies at a_ptr, row by row."""
    i = tl.arange(0, B)
    x = -tl.where(i[:, None] > i[None, :], tl.load(a_ptr + i[:, None] * stride + i[None, :]), 0.0)
    for r in range(2, B):
        row = tl.where(i < r, -tl.load(a_ptr + r * stride + i), 0.0)
        row += tl.sum(row[:, None] * x, 0)
        x = tl.where((i == r)[:, None], row[None, :], x)
    return x + (i[:, None] == i[None, :]).to(tl.float32)


@triton.jit
def merged_inverse(a_ptr, out_ptr, T, H, PRECISION: tl.constexpr):
    """Inverses of unit lower triangles of 32: both blocks of 16 on the diagonal by substitution, the one below them by products."""
    h, b = tl.program_id(1), tl.program_id(2)
    at, stride = ((b * T + tl.program_id(0) * 32) * H + h).to(tl.int64) * 32, H * 32
    i = tl.arange(0, 16)
    tile = i[:, None] * stride + i[None, :]
    first, second = inverse_16(a_ptr + at, stride, 16), inverse_16(a_ptr + at + 16 * stride + 16, stride, 16)
    below = tl.dot(second, tl.load(a_ptr + at + 16 * stride + tile), input_precision=PRECISION)
    tl.store(out_ptr + at + tile, first)
    tl.store(out_ptr + at + 16 + tile, tl.zeros((16, 16), tl.float32))
    tl.store(out_ptr + at + 16 * stride + tile, -tl.dot(below, first, input_precision=PRECISION))
    tl.store(out_ptr + at + 16 * stride + 16 + tile, second)


@case
def nu_merged_inverse_32(B=4, T=4096, H=32):
    a = torch.tril(rand(B, T // 32, H, 32, 32, scale=0.2), -1).transpose(2, 3).reshape(B, T, H, 32).contiguous()
    out = empty(B, T, H, 32)

    def reference():
        one, lower = torch.eye(32, device=DEVICE), a.view(B, T // 32, 32, H, 32).transpose(2, 3)
        x = torch.linalg.solve_triangular(lower + one, one.expand(B, T // 32, H, 32, 32), upper=False)
        return (x.transpose(2, 3).reshape(B, T, H, 32),)

    return Case(merged_inverse, (T // 32, H, B), (a, out, T, H), dict(PRECISION="ieee"), (out,), reference, rtol=1e-4,
                options=dict(num_warps=1), bytes=B * T * H * 32 * 8)


@triton.jit
def ragged_states(k_ptr, v_ptr, g_ptr, h_ptr, final, cu, offsets, H, chunks, K: tl.constexpr, V: tl.constexpr, BV: tl.constexpr,
                  BT: tl.constexpr):
    """The state before each chunk of ragged sequences, with decays of tokens; descriptors of each sequence's rows cut off its end."""
    seq, h = tl.program_id(1) // H, tl.program_id(1) % H
    start = tl.load(cu + seq).to(tl.int64)
    length, chunk = (tl.load(cu + seq + 1) - start).to(tl.int32), tl.load(offsets + seq)
    k_desc = tl.make_tensor_descriptor(k_ptr + (start * H + h) * K, [length, K], [H * K, 1], [BT, K])
    v_desc = tl.make_tensor_descriptor(v_ptr + (start * H + h) * V, [length, V], [H * V, 1], [BT, BV])
    h_desc = tl.make_tensor_descriptor(h_ptr, [chunks * H * K, V], [V, 1], [K, BV])
    col, i = tl.program_id(0) * BV, tl.arange(0, BT)
    state = tl.zeros((K, BV), tl.float32)
    for t in range(0, length, BT):
        h_desc.store([(chunk * H + h) * K, col], state.to(h_ptr.dtype.element_ty))
        g = tl.load(g_ptr + (start + t + i) * H + h, mask=t + i < length, other=0.0)
        last = tl.load(g_ptr + (start + tl.minimum(t + BT, length) - 1) * H + h)
        v = v_desc.load([t, col]).to(tl.float32) * tl.where(t + i < length, tl.exp(last - g), 0.0)[:, None]
        state = tl.dot(k_desc.load([t, 0]).T, v.to(k_ptr.dtype.element_ty), state * tl.exp(last))
        chunk += 1
    at = (seq * H + h).to(tl.int64) * (K * V) + tl.arange(0, K)[:, None] * V + col + tl.arange(0, BV)[None, :]
    tl.store(final + at, state)


@case
def nu_ragged_states(lengths=(4000, 65, 1500, 2048, 3001, 700, 1, 2500), H=16, K=128, V=128, BT=64):
    counts = [triton.cdiv(n, BT) for n in lengths]
    cu, offsets = (torch.tensor((0, *x), device="cpu").cumsum(0).tolist() for x in (lengths, counts))
    T, chunks = cu[-1], offsets[-1]
    k, v = rand(T, H, K, dtype=BF16, scale=K**-0.5), rand(T, H, V, dtype=BF16)
    h, final = empty(chunks, H, K, V, dtype=BF16), empty(len(lengths), H, K, V)
    steps = uniform(T, H, low=-0.1, high=-0.001)
    first = tensor([cu[s] + t // BT * BT for s, n in enumerate(lengths) for t in range(n)], torch.int64)
    sums = steps.double().cumsum(0)
    g = (sums - sums[first] + steps[first]).float()  # within chunks

    def reference():
        kept, ends = [], []
        for s, n in enumerate(lengths):
            state = torch.zeros(H, K, V, device=DEVICE)
            for t in range(cu[s], cu[s] + n, BT):
                rows = slice(t, min(t + BT, cu[s] + n))
                kept.append(state)
                last = g[rows][-1]
                values = v[rows].float() * torch.exp(last - g[rows])[..., None]
                state = state * torch.exp(last)[:, None, None] + torch.einsum("thk,thv->hkv", k[rows].float(), values)
            ends.append(state)
        return torch.stack(kept), torch.stack(ends)

    return Case(ragged_states, (V // 32, len(lengths) * H),
                (k, v, g, h, final, tensor(cu, torch.int32), tensor(offsets, torch.int32), H, chunks),
                dict(K=K, V=V, BV=32, BT=BT), (h, final), reference, rtol=2e-2, options=dict(num_warps=4, num_stages=3),
                flops=2 * T * H * K * V)
