# SPDX-License-Identifier: Apache-2.0
"""Linear attention: Mamba 2's chunks, the delta rule's, linear recurrences and short convolutions."""
import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, registry, uniform

CASES, case = registry()
BF16 = torch.bfloat16


@triton.jit
def ssd_chunk_state(x_ptr, b_ptr, dt_ptr, cum_ptr, out_ptr, S, H, G, P: tl.constexpr, N: tl.constexpr, Q: tl.constexpr, BP: tl.constexpr,
                    BN: tl.constexpr, BK: tl.constexpr):
    """A chunk's own state: sum of exp(cum of the end - cum) * dt * x (outer) B."""
    pid = tl.program_id(0)
    p = pid // (N // BN) * BP + tl.arange(0, BP)
    n = pid % (N // BN) * BN + tl.arange(0, BN)
    chunks = S // Q
    batch, chunk, h = tl.program_id(1) // chunks, tl.program_id(1) % chunks, tl.program_id(2)
    k = tl.arange(0, BK)
    token = (batch * S + chunk * Q).to(tl.int64)
    xs = x_ptr + (token * H + h) * P + k[None, :] * (H * P) + p[:, None]
    bs = b_ptr + (token * G + h // (H // G)) * N + k[:, None] * (G * N) + n[None, :]
    time = (batch * H + h).to(tl.int64) * S + chunk * Q
    end = tl.load(cum_ptr + time + Q - 1)
    acc = tl.zeros((BP, BN), tl.float32)
    for i in range(0, Q, BK):
        x, b = tl.load(xs), tl.load(bs)
        w = tl.exp(end - tl.load(cum_ptr + time + i + k)) * tl.load(dt_ptr + time + i + k)
        acc = tl.dot(x, (b.to(tl.float32) * w[:, None]).to(x.dtype), acc)
        xs += BK * H * P
        bs += BK * G * N
    out = out_ptr + ((tl.program_id(1).to(tl.int64) * H + h) * P + p[:, None]) * N + n[None, :]
    tl.store(out, acc)


def steps(B, S, H, Q):
    """dt, and the sums of dt * A within each chunk."""
    dt = uniform(B, H, S, low=0.01, high=0.1)
    decay = uniform(1, H, 1, low=-1.0, high=-0.2)
    return dt, (dt * decay).view(B, H, S // Q, Q).cumsum(3).view(B, H, S).contiguous()


@case
def lm_ssd_chunk_state(B=4, S=4096, H=64, G=8, P=64, N=128, Q=256):
    x, b, (dt, cum) = rand(B, S, H, P, dtype=BF16), rand(B, S, G, N, dtype=BF16), steps(B, S, H, Q)
    out = empty(B, S // Q, H, P, N)

    def reference():
        c = cum.view(B, H, S // Q, Q)
        w = (torch.exp(c[..., -1:] - c) * dt.view(B, H, S // Q, Q)).permute(0, 2, 3, 1)  # b, c, q, h
        xs = x.float().view(B, S // Q, Q, H, P) * w[..., None]
        return (torch.einsum("bcqhp,bcqhn->bchpn", xs, b.float().view(B, S // Q, Q, G, N).repeat_interleave(H // G, 3)),)

    return Case(ssd_chunk_state, (P // 64 * (N // 128), B * S // Q, H), (x, b, dt, cum, out, S, H, G),
                dict(P=P, N=N, Q=Q, BP=64, BN=128, BK=64), (out,), reference, options=dict(num_warps=4, num_stages=3),
                flops=2 * B * S * H * P * N)


@triton.jit
def ssd_state_passing(states_ptr, cum_ptr, before_ptr, final_ptr, chunks, H, Q, DIM: tl.constexpr, BLOCK: tl.constexpr):
    b, h = tl.program_id(1) // H, tl.program_id(1) % H
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = (b.to(tl.int64) * chunks * H + h) * DIM + i
    cum = cum_ptr + tl.program_id(1).to(tl.int64) * chunks * Q + Q - 1
    state = tl.zeros((BLOCK,), tl.float32)
    for _ in range(chunks):
        tl.store(before_ptr + at, state.to(before_ptr.dtype.element_ty))
        state = tl.exp(tl.load(cum)) * state + tl.load(states_ptr + at)
        at += H * DIM
        cum += Q
    tl.store(final_ptr + tl.program_id(1).to(tl.int64) * DIM + i, state)


@case
def lm_ssd_state_passing(B=4, chunks=16, H=64, dim=64 * 128, Q=256):
    states, (_, cum) = rand(B, chunks, H, dim), steps(B, chunks * Q, H, Q)
    before, final = empty(B, chunks, H, dim, dtype=BF16), empty(B, H, dim)

    def reference():
        state, kept, ends = torch.zeros(B, H, dim, device=DEVICE), [], torch.exp(cum.view(B, H, chunks, Q)[..., -1])
        for c in range(chunks):
            kept.append(state)
            state = state * ends[:, :, c, None] + states[:, c]
        return torch.stack(kept, 1), state

    return Case(ssd_state_passing, (dim // 512, B * H), (states, cum, before, final, chunks, H, Q), dict(DIM=dim, BLOCK=512), (before, final),
                reference, options=dict(num_warps=4), bytes=states.numel() * 6)


@triton.jit
def ssd_chunk_scan(x_ptr, b_ptr, c_ptr, dt_ptr, cum_ptr, state_ptr, d_ptr, y_ptr, S, H, G, P: tl.constexpr, N: tl.constexpr,
                   Q: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr):
    """What a chunk gives: by the state before it, within itself, and D * x."""
    chunks = S // Q
    batch, chunk, h = tl.program_id(1) // chunks, tl.program_id(1) % chunks, tl.program_id(2)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    p, n, k = tl.arange(0, P), tl.arange(0, N), tl.arange(0, BK)
    token = (batch * S + chunk * Q).to(tl.int64)
    time = (batch * H + h).to(tl.int64) * S + chunk * Q
    x_ptr += (token * H + h) * P
    b_ptr += (token * G + h // (H // G)) * N
    c = tl.load(c_ptr + (token * G + h // (H // G)) * N + m[:, None] * (G * N) + n[None, :])
    cum_m = tl.load(cum_ptr + time + m)
    state = tl.load(state_ptr + (tl.program_id(1).to(tl.int64) * H + h) * P * N + p[None, :] * N + n[:, None])
    acc = tl.dot(c, state) * tl.exp(cum_m)[:, None]
    for i in range(0, (tl.program_id(0) + 1) * BM, BK):
        b = tl.load(b_ptr + (i + k)[None, :] * (G * N) + n[:, None])
        s = tl.dot(c, b)
        cum_k = tl.load(cum_ptr + time + i + k)
        s *= tl.exp(tl.minimum(cum_m[:, None] - cum_k[None, :], 0.0)) * tl.load(dt_ptr + time + i + k)[None, :]
        s = tl.where(m[:, None] >= (i + k)[None, :], s, 0.0)
        x = tl.load(x_ptr + (i + k)[:, None] * (H * P) + p[None, :])
        acc = tl.dot(s.to(x.dtype), x, acc)
    at = m[:, None] * (H * P) + p[None, :]
    acc += tl.load(d_ptr + h) * tl.load(x_ptr + at).to(tl.float32)
    tl.store(y_ptr + (token * H + h) * P + at, acc.to(y_ptr.dtype.element_ty))


@case
def lm_ssd_chunk_scan(B=4, S=4096, H=64, G=8, P=64, N=128, Q=256):
    x, b, c = rand(B, S, H, P, dtype=BF16), rand(B, S, G, N, dtype=BF16), rand(B, S, G, N, dtype=BF16)
    (dt, cum), state, d, y = steps(B, S, H, Q), rand(B, S // Q, H, P, N, dtype=BF16), rand(H), empty(B, S, H, P, dtype=BF16)

    def reference():
        out = torch.empty(B, S, H, P, device=DEVICE)
        for h in range(H):
            xs = x[:, :, h].float().view(-1, Q, P)
            keys, queries = (z[:, :, h // (H // G)].float().view(-1, Q, N) for z in (b, c))
            at, w = cum[:, h].reshape(-1, Q), dt[:, h].reshape(-1, 1, Q)
            s = queries @ keys.transpose(1, 2) * torch.exp((at[:, :, None] - at[:, None, :]).clamp(max=0)) * w
            before = queries @ state[:, :, h].float().reshape(-1, P, N).transpose(1, 2) * torch.exp(at)[:, :, None]
            out[:, :, h] = (before + s.tril() @ xs + d[h] * xs).view(B, S, P)
        return (out,)

    return Case(ssd_chunk_scan, (Q // 128, B * S // Q, H), (x, b, c, dt, cum, state, d, y, S, H, G), dict(P=P, N=N, Q=Q, BM=128, BK=64), (y,),
                reference, options=dict(num_warps=4, num_stages=2), flops=2 * B * S * H * (Q / 2 * (N + P) + N * P))


@triton.jit
def delta_wy(k, v, beta, w, u, T, H: tl.constexpr, K: tl.constexpr, V: tl.constexpr, BT: tl.constexpr):
    """(I + tril(beta k k^T, -1))^-1 by forward substitution, times beta k and beta v."""
    i_t, i_h, i_b = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    head = (i_b * T * H + i_h).to(tl.int64)
    p_k = tl.make_block_ptr(k + head * K, (T, K), (H * K, 1), (i_t * BT, 0), (BT, K), (1, 0))
    p_v = tl.make_block_ptr(v + head * V, (T, V), (H * V, 1), (i_t * BT, 0), (BT, V), (1, 0))
    p_w = tl.make_block_ptr(w + head * K, (T, K), (H * K, 1), (i_t * BT, 0), (BT, K), (1, 0))
    p_u = tl.make_block_ptr(u + head * V, (T, V), (H * V, 1), (i_t * BT, 0), (BT, V), (1, 0))
    o = tl.arange(0, BT)
    b_beta = tl.load(beta + head + (i_t * BT + o) * H)
    b_k = tl.load(p_k)
    A = tl.dot(b_k, tl.trans(b_k)) * b_beta[:, None]
    A = -tl.where(o[:, None] > o[None, :], A, 0.0)
    for i in range(1, BT):
        row = tl.sum(tl.where((o == i)[:, None], A, 0.0), 0)
        row += tl.sum(row[:, None] * A, 0)
        A = tl.where((o == i)[:, None], row[None, :], A)
    A += (o[:, None] == o[None, :]).to(tl.float32)
    A = A.to(b_k.dtype)
    tl.store(p_w, tl.dot(A, (b_k.to(tl.float32) * b_beta[:, None]).to(b_k.dtype)).to(w.dtype.element_ty))
    b_v = tl.load(p_v)
    tl.store(p_u, tl.dot(A, (b_v.to(tl.float32) * b_beta[:, None]).to(b_v.dtype)).to(u.dtype.element_ty))


@case
def lm_delta_wy(B=2, T=4096, H=16, K=128, V=128, BT=64):
    k, v, beta = rand(B, T, H, K, dtype=BF16, scale=K ** -0.5), rand(B, T, H, V, dtype=BF16), uniform(B, T, H)
    w, u = empty(B, T, H, K, dtype=BF16), empty(B, T, H, V, dtype=BF16)

    def reference():
        keys, values, b = (z.float().reshape(B, T // BT, BT, H, -1).transpose(2, 3) for z in (k, v, beta))
        lower = torch.tril(keys @ keys.transpose(3, 4) * b, -1) + torch.eye(BT, device=DEVICE)
        outs = torch.linalg.solve_triangular(lower, torch.cat((keys * b, values * b), 4), upper=False, unitriangular=True)
        return tuple(z.transpose(2, 3).reshape(B, T, H, -1) for z in outs.split((K, V), 4))

    return Case(delta_wy, (T // BT, H, B), (k, v, beta, w, u, T), dict(H=H, K=K, V=V, BT=BT), (w, u), reference, rtol=2e-2,
                options=dict(num_warps=4, num_stages=2), bytes=B * T * H * (K + V) * 4)


@triton.jit
def delta_chunk_h(k_ptr, w_ptr, u_ptr, h_ptr, new_ptr, T, H: tl.constexpr, K: tl.constexpr, V: tl.constexpr, BT: tl.constexpr,
                  BV: tl.constexpr):
    """The state before each chunk, and v - w h; chunk after chunk."""
    head = tl.program_id(1)
    base = (head // H * T * H + head % H).to(tl.int64)
    t, k, v = tl.arange(0, BT), tl.arange(0, K), tl.program_id(0) * BV + tl.arange(0, BV)
    state = tl.zeros((K, BV), tl.float32)
    h_at = h_ptr + head.to(tl.int64) * (T // BT) * K * V + k[:, None] * V + v[None, :]
    for c in range(T // BT):
        rows = base + (c * BT + t).to(tl.int64) * H
        low = state.to(k_ptr.dtype.element_ty)
        tl.store(h_at, low)
        w = tl.load(w_ptr + rows[:, None] * K + k[None, :])
        new = tl.load(u_ptr + rows[:, None] * V + v[None, :]).to(tl.float32) - tl.dot(w, low)
        new = new.to(k_ptr.dtype.element_ty)
        tl.store(new_ptr + rows[:, None] * V + v[None, :], new)
        keys = tl.load(k_ptr + rows[None, :] * K + k[:, None])
        state = tl.dot(keys, new, state)
        h_at += K * V


@case
def lm_delta_chunk_h(B=4, T=2048, H=16, K=128, V=128, BT=64):
    k, w, u = (rand(B, T, H, d, dtype=BF16, scale=s) for d, s in ((K, 0.5 * K ** -0.5), (K, 0.5 * K ** -0.5), (V, 1.0)))
    h, new = empty(B, H, T // BT, K, V, dtype=BF16), empty(B, T, H, V, dtype=BF16)

    def reference():
        state, hs, news = torch.zeros(B, H, K, V, device=DEVICE), [], []
        for i in range(0, T, BT):
            keys, ws, us = (z[:, i:i + BT].float().transpose(1, 2) for z in (k, w, u))
            hs.append(state)
            news.append(us - ws @ state)
            state = state + keys.transpose(2, 3) @ news[-1]
        return torch.stack(hs, 2), torch.cat(news, 2).transpose(1, 2)

    return Case(delta_chunk_h, (V // 32, B * H), (k, w, u, h, new, T), dict(H=H, K=K, V=V, BT=BT, BV=32), (h, new), reference, rtol=3e-2,
                options=dict(num_warps=4, num_stages=2), flops=4 * B * T * H * K * V)


@triton.jit
def chain(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def linear_recurrence(x_ptr, a_ptr, y_ptr, T, C, BT: tl.constexpr, BC: tl.constexpr):
    """y[t] = a[t] * y[t - 1] + x[t], by associative scans of blocks of time."""
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    t = tl.arange(0, BT)
    at = (tl.program_id(1).to(tl.int64) * T + t[:, None]) * C + c[None, :]
    last = tl.zeros((BC,), tl.float32)
    for _ in range(T // BT):
        x = tl.load(x_ptr + at).to(tl.float32)
        a = tl.sigmoid(tl.load(a_ptr + at).to(tl.float32))
        keep, y = tl.associative_scan((a, x * tl.sqrt(1 - a * a)), 0, chain)
        y += keep * last[None, :]
        tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty))
        last = tl.sum(tl.where((t == BT - 1)[:, None], y, 0.0), 0)
        at += BT * C


@case
def lm_linear_recurrence(B=8, T=2048, C=4096):
    x, a, y = rand(B, T, C, dtype=BF16), rand(B, T, C, dtype=BF16, scale=2.0), empty(B, T, C, dtype=BF16)

    def reference():
        g = torch.sigmoid(a.float())
        z = x.float() * torch.sqrt(1 - g * g)
        for t in range(1, T):
            z[:, t] += g[:, t] * z[:, t - 1]
        return (z,)

    return Case(linear_recurrence, (C // 32, B), (x, a, y, T, C), dict(BT=64, BC=32), (y,), reference, options=dict(num_warps=4),
                bytes=B * T * C * 6)
