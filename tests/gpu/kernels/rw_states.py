# SPDX-License-Identifier: Apache-2.0
"""States and recurrences as packages write them: gates in chunks, delta rules, steps of decoding, short convolutions, scans and gradients."""
import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, randint, registry, tensor, uniform

CASES, case = registry()
F16, BF16 = torch.float16, torch.bfloat16


def log_gates(*shape, per=16.0):
    """Logarithms of gates, near zero."""
    return torch.nn.functional.logsigmoid(rand(*shape)) / per


def chunk_sums(g, BT):
    """Running sums within chunks of (T, ...); T is a multiple of BT."""
    return g.view(-1, BT, *g.shape[1:]).cumsum(1).view(g.shape)


@triton.jit
def gated_scores(Q, K, G, A, scale, H, DK: tl.constexpr, BT: tl.constexpr, BC: tl.constexpr, NC: tl.constexpr, BK: tl.constexpr):
    """Scores within a chunk by gates of each key channel, of a pair of smaller chunks: those below the diagonal by a common reference."""
    i_t, i_c, i_h = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    i_i, i_j = i_c // NC, i_c % NC
    row, col = i_t * BT + i_i * BC, i_t * BT + i_j * BC
    r, c, k = row + tl.arange(0, BC), col + tl.arange(0, BC), tl.arange(0, BK)
    b_A = tl.zeros((BC, BC), tl.float32)
    if i_i > i_j:
        for start in range(0, DK, BK):
            first = tl.load(G + (row * H + i_h) * DK + start + k)
            q_at = (r[:, None] * H + i_h) * DK + start + k[None, :]
            k_at = (c[None, :] * H + i_h) * DK + start + k[:, None]
            b_q = tl.load(Q + q_at) * tl.exp(tl.load(G + q_at) - first[None, :]) * scale
            b_k = tl.load(K + k_at) * tl.exp(first[:, None] - tl.load(G + k_at))
            b_A += tl.dot(b_q.to(Q.dtype.element_ty), b_k.to(Q.dtype.element_ty))
    tl.store(A + (r[:, None] * H + i_h) * BT + i_j * BC + tl.arange(0, BC)[None, :], b_A)


@case
def rw_gated_scores(T=8192, H=8, DK=128, BT=64, BC=16):
    q, k, g = rand(T, H, DK, dtype=BF16), rand(T, H, DK, dtype=BF16), chunk_sums(log_gates(T, H, DK), BT)
    a = empty(T, H, BT)

    def reference():
        chunks = [x.float().view(T // BT, BT, H, DK).permute(0, 2, 1, 3) for x in (q, k, g)]
        s = (chunks[0] * torch.exp(chunks[2])) @ (chunks[1] * torch.exp(-chunks[2])).transpose(2, 3) * DK**-0.5
        block = torch.arange(BT, device=DEVICE) // BC
        return ((s * (block[:, None] > block)).permute(0, 2, 1, 3),)

    return Case(gated_scores, (T // BT, (BT // BC)**2, H), (q, k, g, a, DK**-0.5, H), dict(DK=DK, BT=BT, BC=BC, NC=BT // BC, BK=64), (a,), reference,
                options=dict(num_warps=2, num_stages=3), bytes=T * H * (DK * 8 + BT * 4))


@triton.jit
def gated_chunk_states(K, V, G, States, Last, T, H, DK: tl.constexpr, DV: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr):
    """The state before each chunk, by gates of each key channel; the state stays in registers over the chunks."""
    i_k, i_v, i_h = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    k, v, t = i_k * BK + tl.arange(0, BK), i_v * BV + tl.arange(0, BV), tl.arange(0, BT)
    b_h = tl.zeros((BK, BV), tl.float32)
    tile = k[:, None] * DV + v[None, :]
    for i_t in range(0, tl.cdiv(T, BT)):
        tl.store(States + (i_t * H + i_h).to(tl.int64) * DK * DV + tile, b_h.to(States.dtype.element_ty))
        rows = i_t * BT + t
        last = tl.load(G + ((i_t * BT + BT - 1) * H + i_h) * DK + k)
        k_at = (rows[None, :] * H + i_h) * DK + k[:, None]
        b_k = tl.load(K + k_at) * tl.exp(last[:, None] - tl.load(G + k_at))
        b_v = tl.load(V + (rows[:, None] * H + i_h) * DV + v[None, :])
        b_h *= tl.exp(last)[:, None]
        b_h += tl.dot(b_k.to(b_v.dtype), b_v)
    tl.store(Last + i_h.to(tl.int64) * DK * DV + tile, b_h)


@case
def rw_gated_chunk_states(T=8192, H=10, DK=128, DV=256, BT=64):
    k, v, g = rand(T, H, DK, dtype=BF16), rand(T, H, DV, dtype=BF16), chunk_sums(log_gates(T, H, DK), BT)
    states, last = empty(T // BT, H, DK, DV, dtype=BF16), empty(H, DK, DV)

    def reference():
        h, all_states = torch.zeros(H, DK, DV, device=DEVICE), torch.empty(states.shape, device=DEVICE)
        for i in range(T // BT):
            all_states[i] = h
            rows = slice(i * BT, i * BT + BT)
            end = g[i * BT + BT - 1]
            h = h * torch.exp(end)[:, :, None] + torch.einsum("thk,thv->hkv", k[rows].float() * torch.exp(end - g[rows]), v[rows].float())
        return all_states, h

    return Case(gated_chunk_states, (DK // 64, DV // 64, H), (k, v, g, states, last, T, H), dict(DK=DK, DV=DV, BT=BT, BK=64, BV=64), (states, last),
                reference, rtol=2e-2, options=dict(num_warps=4, num_stages=2), flops=2 * T * H * DK * DV)


@triton.jit
def gated_outputs(Q, G, A, V, States, O, scale, H, DK: tl.constexpr, DV: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr):
    """Outputs of a chunk: gated queries by the state before it, and the scores within it by the values."""
    i_v, i_t, i_h = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    t, v = i_t * BT + tl.arange(0, BT), i_v * BV + tl.arange(0, BV)
    b_o = tl.zeros((BT, BV), tl.float32)
    for i_k in range(0, DK // BK):
        k = i_k * BK + tl.arange(0, BK)
        at = (t[:, None] * H + i_h) * DK + k[None, :]
        b_q = (tl.load(Q + at) * scale * tl.exp(tl.load(G + at))).to(Q.dtype.element_ty)
        b_h = tl.load(States + (i_t * H + i_h).to(tl.int64) * DK * DV + k[:, None] * DV + v[None, :])
        b_o += tl.dot(b_q, b_h.to(b_q.dtype))
    place = tl.arange(0, BT)
    b_A = tl.load(A + (t[:, None] * H + i_h) * BT + place[None, :])
    b_A = tl.where(place[:, None] >= place[None, :], b_A, 0.0).to(V.dtype.element_ty)
    b_v = tl.load(V + (t[:, None] * H + i_h) * DV + v[None, :])
    b_o += tl.dot(b_A, b_v)
    tl.store(O + (t[:, None] * H + i_h) * DV + v[None, :], b_o.to(O.dtype.element_ty))


@case
def rw_gated_outputs(T=8192, H=10, DK=128, DV=256, BT=64):
    q, g, a = rand(T, H, DK, dtype=F16), chunk_sums(log_gates(T, H, DK), BT), rand(T, H, BT, scale=0.2)
    v, states, o = rand(T, H, DV, dtype=F16), rand(T // BT, H, DK, DV, dtype=F16), empty(T, H, DV, dtype=F16)

    def reference():
        qs, vs, scores = (x.view(T // BT, BT, H, -1).permute(0, 2, 1, 3) for x in (q.float() * torch.exp(g) * DK**-0.5, v.float(), a))
        return ((qs @ states.float() + scores.tril() @ vs).permute(0, 2, 1, 3),)

    return Case(gated_outputs, (DV // 128, T // BT, H), (q, g, a, v, states, o, DK**-0.5, H), dict(DK=DK, DV=DV, BT=BT, BK=32, BV=128), (o,), reference,
                options=dict(num_warps=4, num_stages=3), flops=2 * T * H * DV * (DK + BT))


@triton.jit
def gated_delta_states(K, W, U, G, States, V_new, T, H: tl.constexpr, DV: tl.constexpr, BT: tl.constexpr, BV: tl.constexpr):
    """The gated delta rule over chunks, with keys of 128 in two halves: the state before each, and what each value adds to it."""
    i_v, i_h = tl.program_id(0), tl.program_id(1)
    v, t, k1, k2 = i_v * BV + tl.arange(0, BV), tl.arange(0, BT), tl.arange(0, 64), 64 + tl.arange(0, 64)
    b_h1, b_h2 = tl.zeros((64, BV), tl.float32), tl.zeros((64, BV), tl.float32)
    for i_t in range(0, tl.cdiv(T, BT)):
        to = States + (i_t * H + i_h).to(tl.int64) * 128 * DV
        tl.store(to + k1[:, None] * DV + v[None, :], b_h1.to(States.dtype.element_ty))
        tl.store(to + k2[:, None] * DV + v[None, :], b_h2.to(States.dtype.element_ty))
        rows = i_t * BT + t
        inside = rows < T
        w_row = W + (rows[:, None] * H + i_h) * 128
        b_w1 = tl.load(w_row + k1[None, :], mask=inside[:, None], other=0.0)
        b_w2 = tl.load(w_row + k2[None, :], mask=inside[:, None], other=0.0)
        b_v = tl.dot(b_w1, b_h1.to(b_w1.dtype))
        b_v += tl.dot(b_w2, b_h2.to(b_w2.dtype))
        at = (rows[:, None] * H + i_h) * DV + v[None, :]
        b_v = tl.load(U + at, mask=inside[:, None], other=0.0) - b_v
        tl.store(V_new + at, b_v.to(V_new.dtype.element_ty), mask=inside[:, None])
        end = min((i_t + 1) * BT, T) - 1
        b_last = tl.load(G + end * H + i_h)
        b_g = tl.load(G + rows * H + i_h, mask=inside, other=0.0)
        b_v = (b_v * tl.where(inside, tl.exp(b_last - b_g), 0.0)[:, None]).to(K.dtype.element_ty)
        b_h1 *= tl.exp(b_last)
        b_h2 *= tl.exp(b_last)
        k_col = K + (rows[None, :] * H + i_h) * 128
        b_h1 += tl.dot(tl.load(k_col + k1[:, None], mask=inside[None, :], other=0.0), b_v)
        b_h2 += tl.dot(tl.load(k_col + k2[:, None], mask=inside[None, :], other=0.0), b_v)


@case
def rw_gated_delta_states(T=6000, H=24, DV=128, BT=64):
    k, w = torch.nn.functional.normalize(rand(T, H, 128), dim=2).to(BF16), torch.nn.functional.normalize(rand(T, H, 128), dim=2).to(BF16)
    u, g = rand(T, H, DV, dtype=BF16), log_gates(T, H, per=8.0)
    chunks = triton.cdiv(T, BT)
    g = torch.cat([x.cumsum(0) for x in g.split(BT)])
    states, new = empty(chunks, H, 128, DV, dtype=BF16), empty(T, H, DV, dtype=BF16)
    w = w * 0.1

    def reference():
        h = torch.zeros(H, 128, DV, device=DEVICE)
        all_states, all_new = torch.empty(states.shape, device=DEVICE), torch.empty(new.shape, device=DEVICE)
        for i in range(chunks):
            all_states[i] = h
            rows = slice(i * BT, min(T, i * BT + BT))
            x = u[rows].float() - torch.einsum("thk,hkv->thv", w[rows].float(), h)
            all_new[rows] = x
            last = g[rows][-1]
            h = h * torch.exp(last)[:, None, None] + torch.einsum("thk,thv->hkv", k[rows].float(), x * torch.exp(last - g[rows])[:, :, None])
        return all_states, all_new

    return Case(gated_delta_states, (DV // 32, H), (k, w, u, g, states, new, T), dict(H=H, DV=DV, BT=BT, BV=32), (states, new), reference, rtol=3e-2,
                options=dict(num_warps=4, num_stages=2), flops=4 * T * H * 128 * DV)


@triton.jit
def scaled_key_products(K, Beta, G, A, T, H, D: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr):
    """beta_i exp(g_i - g_j) k_i k_j for j < i of a chunk: block pointers."""
    i_t, i_h = tl.program_id(0), tl.program_id(1)
    t = i_t * BT + tl.arange(0, BT)
    beta_at = tl.make_block_ptr(Beta + i_h, (T,), (H,), (i_t * BT,), (BT,), (0,))
    b_beta = tl.load(beta_at, boundary_check=(0,))
    b_A = tl.zeros((BT, BT), tl.float32)
    for i_k in range(0, tl.cdiv(D, BK)):
        k_at = tl.make_block_ptr(K + i_h * D, (T, D), (H * D, 1), (i_t * BT, i_k * BK), (BT, BK), (1, 0))
        b_k = tl.load(k_at, boundary_check=(0, 1))
        b_A += tl.dot(b_k, tl.trans(b_k))
    b_g = tl.load(G + t * H + i_h, mask=t < T, other=0.0)
    b_A *= tl.exp(b_g[:, None] - b_g[None, :]) * b_beta[:, None]
    place = tl.arange(0, BT)
    b_A = tl.where((place[:, None] > place[None, :]) & (t < T)[:, None], b_A, 0.0)
    a_at = tl.make_block_ptr(A + i_h * BT, (T, BT), (BT * H, 1), (i_t * BT, 0), (BT, BT), (1, 0))
    tl.store(a_at, b_A.to(A.dtype.element_ty), boundary_check=(0, 1))


@case
def rw_scaled_key_products(T=16000, H=16, D=96, BT=64):
    k, beta, a = rand(T, H, D, dtype=BF16, scale=0.3), uniform(T, H), empty(T, H, BT)
    g = chunk_sums(log_gates(T, H, per=8.0), BT)

    def reference():
        ks, gs = k.float().view(T // BT, BT, H, D).permute(0, 2, 1, 3), g.view(T // BT, BT, H).permute(0, 2, 1)
        s = ks @ ks.transpose(2, 3) * torch.exp(gs[..., None] - gs[:, :, None]) * beta.view(T // BT, BT, H).permute(0, 2, 1)[..., None]
        return (s.tril(-1).permute(0, 2, 1, 3),)

    return Case(scaled_key_products, (T // BT, H), (k, beta, g, a, T, H), dict(D=D, BT=BT, BK=64), (a,), reference,
                options=dict(num_warps=8, num_stages=3), bytes=T * H * (2 * D + 4 * BT))


@triton.jit
def delta_decode(Q, K, V, A, B, A_log, Bias, Pool, Slots, Out, New, scale, H: tl.constexpr, HV: tl.constexpr, DK: tl.constexpr, DV: tl.constexpr,
                 BV: tl.constexpr):
    """One token of the gated delta rule, with states of a pool by slots; gates and unit lengths are made here; slots of -1 give zeros."""
    i_v, seq, hv = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    h = hv // (HV // H)
    k, v = tl.arange(0, DK), i_v * BV + tl.arange(0, BV)
    slot = tl.load(Slots + seq).to(tl.int64)
    at = (seq * HV + hv) * DV + v
    state_at = hv * DK * DV + k[:, None] * DV + v[None, :]
    b_h = tl.load(Pool + slot * HV * DK * DV + state_at, mask=(slot >= 0) & (v < DV)[None, :], other=0.0)
    b_q = tl.load(Q + (seq * H + h) * DK + k).to(tl.float32)
    b_k = tl.load(K + (seq * H + h) * DK + k).to(tl.float32)
    b_v = tl.load(V + at).to(tl.float32)
    x = tl.load(A + seq * HV + hv).to(tl.float32) + tl.load(Bias + hv)
    soft = tl.where(x <= 20.0, tl.log(1.0 + tl.exp(x)), x)
    decay = tl.exp(-tl.exp(tl.load(A_log + hv)) * soft)
    beta = tl.sigmoid(tl.load(B + seq * HV + hv).to(tl.float32))
    b_q = b_q / tl.sqrt(tl.sum(b_q * b_q) + 1.0e-6) * scale
    b_k = b_k / tl.sqrt(tl.sum(b_k * b_k) + 1.0e-6)
    b_h *= decay
    b_v = (b_v - tl.sum(b_h * b_k[:, None], 0)) * beta
    b_h += b_k[:, None] * b_v[None, :]
    b_o = tl.sum(b_h * b_q[:, None], 0)
    tl.store(Out + at, tl.where(slot >= 0, b_o, 0.0).to(Out.dtype.element_ty))
    tl.store(New + seq.to(tl.int64) * HV * DK * DV + state_at, tl.where(slot >= 0, b_h, 0.0))


@case
def rw_delta_decode(seqs=90, H=8, HV=16, D=128, pool=130):
    q, k, v = rand(seqs, H, D, dtype=BF16), rand(seqs, H, D, dtype=BF16), rand(seqs, HV, D, dtype=BF16)
    a, b, a_log, bias = rand(seqs, HV, dtype=BF16), rand(seqs, HV, dtype=BF16), uniform(HV, low=-2.0, high=0.5), rand(HV)
    states, out, new = rand(pool, HV, D, D), empty(seqs, HV, D, dtype=BF16), empty(seqs, HV, D, D)
    slots = torch.randperm(pool, device=DEVICE)[:seqs].to(torch.int32)
    slots[3::20] = -1

    def reference():
        live = (slots >= 0)[:, None, None]
        qs, ks = (x.float() / torch.sqrt(x.float().square().sum(2, keepdim=True) + 1e-6) for x in (q, k))
        qs, ks = (x.repeat_interleave(HV // H, 1) for x in (qs * D**-0.5, ks))
        decay = torch.exp(-torch.exp(a_log) * torch.nn.functional.softplus(a.float() + bias))
        h = states[slots.clamp_min(0).long()] * decay[:, :, None, None]
        x = (v.float() - torch.einsum("nhkv,nhk->nhv", h, ks)) * torch.sigmoid(b.float())[:, :, None]
        h = h + ks[..., None] * x[:, :, None]
        return torch.einsum("nhkv,nhk->nhv", h, qs) * live, h * live[..., None]

    return Case(delta_decode, (D // 16, seqs, HV), (q, k, v, a, b, a_log, bias, states, slots, out, new, D**-0.5),
                dict(H=H, HV=HV, DK=D, DV=D, BV=16), (out, new), reference, options=dict(num_warps=1, num_stages=3), bytes=8 * seqs * HV * D * D)


@triton.jit
def rwkv7_steps(R, W, K, V, A, B, S0, O, S1, T, H: tl.constexpr, D: tl.constexpr, BV: tl.constexpr):
    """Steps of S = S diag(exp(w)) + (S a) b^T + v k^T and outputs S r, a strip of rows of a head a program."""
    i_v, i_b, i_h = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    d, v = tl.arange(0, D), i_v * BV + tl.arange(0, BV)
    at = S0 + (i_b * H + i_h) * D * D + v[:, None] * D + d[None, :]
    b_s = tl.load(at)
    p = (i_b * T * H + i_h) * D
    for _ in range(0, T):
        b_r, b_w = tl.load(R + p + d).to(tl.float32), tl.load(W + p + d).to(tl.float32)
        b_k, b_a, b_b = tl.load(K + p + d).to(tl.float32), tl.load(A + p + d).to(tl.float32), tl.load(B + p + d).to(tl.float32)
        b_v = tl.load(V + p + v).to(tl.float32)
        inner = tl.sum(b_s * b_a[None, :], 1)
        b_s = b_s * tl.exp(b_w)[None, :] + inner[:, None] * b_b[None, :] + b_v[:, None] * b_k[None, :]
        tl.store(O + p + v, tl.sum(b_s * b_r[None, :], 1).to(O.dtype.element_ty))
        p += H * D
    tl.store(S1 + (i_b * H + i_h) * D * D + v[:, None] * D + d[None, :], b_s)


@case
def rw_rwkv7_steps(B=6, T=500, H=32, D=64):
    r, k, v = (rand(B, T, H, D, dtype=BF16) for _ in range(3))
    w = -0.6 * torch.sigmoid(rand(B, T, H, D))
    unit, rate = torch.nn.functional.normalize(rand(B, T, H, D), dim=3), uniform(B, T, H, D)
    a, b = (-unit).to(BF16), (unit * rate).to(BF16)
    s0, o, s1 = rand(B, H, D, D), empty(B, T, H, D, dtype=BF16), empty(B, H, D, D)

    def reference():
        s, out = s0.clone(), torch.empty(o.shape, device=DEVICE)
        rf, kf, vf, af, bf, decay = (x.float() for x in (r, k, v, a, b, torch.exp(w)))
        for t in range(T):
            inner = torch.einsum("bhvd,bhd->bhv", s, af[:, t])
            s = s * decay[:, t, :, None] + inner[..., None] * bf[:, t, :, None] + vf[:, t, :, :, None] * kf[:, t, :, None]
            out[:, t] = torch.einsum("bhvd,bhd->bhv", s, rf[:, t])
        return out, s

    return Case(rwkv7_steps, (D // 16, B, H), (r, w, k, v, a, b, s0, o, s1, T), dict(H=H, D=D, BV=16), (o, s1), reference,
                options=dict(num_warps=1, num_stages=2), bytes=B * T * H * D * 16)


@triton.jit
def gated_line(X, G, O, T, D: tl.constexpr, BD: tl.constexpr):
    """h = exp(g) h + x along time, a block of channels a program."""
    i_d, i_b = tl.program_id(0), tl.program_id(1)
    d = i_d * BD + tl.arange(0, BD)
    mask = d < D
    p = i_b.to(tl.int64) * T * D + d
    h = tl.zeros((BD,), tl.float32)
    for _ in range(0, T):
        h = tl.exp(tl.load(G + p, mask=mask, other=0.0).to(tl.float32)) * h + tl.load(X + p, mask=mask, other=0.0).to(tl.float32)
        tl.store(O + p, h.to(O.dtype.element_ty), mask=mask)
        p += D


@triton.jit
def gated_line_bwd(G, O, DO, DX, DG, T, D: tl.constexpr, BD: tl.constexpr):
    """Gradients of h = exp(g) h + x, from the last step back."""
    i_d, i_b = tl.program_id(0), tl.program_id(1)
    d = i_d * BD + tl.arange(0, BD)
    mask = d < D
    p = (i_b.to(tl.int64) * T + T - 1) * D + d
    dh = tl.zeros((BD,), tl.float32)
    for i in range(T - 1, -1, -1):
        dh += tl.load(DO + p, mask=mask, other=0.0).to(tl.float32)
        gate = tl.exp(tl.load(G + p, mask=mask, other=0.0).to(tl.float32))
        before = tl.load(O + p - D, mask=mask & (i > 0), other=0.0).to(tl.float32)
        tl.store(DX + p, dh.to(DX.dtype.element_ty), mask=mask)
        tl.store(DG + p, (dh * before * gate).to(DG.dtype.element_ty), mask=mask)
        dh *= gate
        p -= D


@case
def rw_gated_line(B=12, T=900, D=2112):
    x, g, o = rand(B, T, D, dtype=F16), log_gates(B, T, D, per=1.0), empty(B, T, D)

    def reference():
        out, h, gate = torch.empty(B, T, D, device=DEVICE), torch.zeros(B, D, device=DEVICE), torch.exp(g)
        for t in range(T):
            h = gate[:, t] * h + x[:, t].float()
            out[:, t] = h
        return (out,)

    return Case(gated_line, (triton.cdiv(D, 128), B), (x, g, o, T), dict(D=D, BD=128), (o,), reference, options=dict(num_warps=2, num_stages=4),
                bytes=B * T * D * 10)


@case
def rw_gated_line_bwd(B=12, T=700, D=2112):
    g, h, do, dx, dg = log_gates(B, T, D, per=1.0), rand(B, T, D), rand(B, T, D, dtype=BF16), empty(B, T, D, dtype=BF16), empty(B, T, D)

    def reference():
        grads, dgs, dh, gate = torch.empty(B, T, D, device=DEVICE), torch.zeros(B, T, D, device=DEVICE), torch.zeros(B, D, device=DEVICE), torch.exp(g)
        for t in range(T - 1, -1, -1):
            dh = dh + do[:, t].float()
            grads[:, t] = dh
            if t:
                dgs[:, t] = dh * h[:, t - 1] * gate[:, t]
            dh = dh * gate[:, t]
        return grads, dgs

    return Case(gated_line_bwd, (triton.cdiv(D, 64), B), (g, h, do, dx, dg, T), dict(D=D, BD=64), (dx, dg), reference,
                options=dict(num_warps=1, num_stages=3), bytes=B * T * D * 16)


@triton.jit
def step_sizes(DT, A, Bias, Out, Sums, T, H, chunk: tl.constexpr, BH: tl.constexpr):
    """Step sizes through a softplus and limits, and running sums of their products with A in chunks, heads first."""
    i_c, h = tl.program_id(0), tl.program_id(1) * BH + tl.arange(0, BH)
    t = i_c * chunk + tl.arange(0, chunk)
    mask = (h < H)[:, None] & (t < T)[None, :]
    dt = tl.load(DT + t[None, :] * H + h[:, None], mask=mask, other=0.0).to(tl.float32)
    dt += tl.load(Bias + h, mask=h < H, other=0.0)[:, None]
    dt = tl.where(dt <= 20.0, tl.log(1.0 + tl.exp(dt)), dt)
    dt = tl.where(mask, tl.minimum(tl.maximum(dt, 0.001), 0.5), 0.0)
    at = (h[:, None] * tl.num_programs(0) + i_c) * chunk + tl.arange(0, chunk)[None, :]
    tl.store(Out + at, dt, mask=(h < H)[:, None])
    a = tl.load(A + h, mask=h < H, other=0.0).to(tl.float32)
    tl.store(Sums + at, tl.cumsum(dt * a[:, None], axis=1), mask=(h < H)[:, None])


@case
def rw_step_sizes(T=130_000, H=80, chunk=256):
    dt, a, bias, chunks = rand(T, H, dtype=BF16), -uniform(H, low=0.5, high=4.0), rand(H) - 2.0, triton.cdiv(T, chunk)
    out, sums = empty(H, chunks, chunk), empty(H, chunks, chunk)

    def reference():
        x = torch.nn.functional.softplus(dt.float() + bias).clamp(0.001, 0.5)
        x = torch.nn.functional.pad(x.T, (0, chunks * chunk - T)).view(H, chunks, chunk)
        return x, (x * a[:, None, None]).cumsum(2)

    return Case(step_sizes, (chunks, triton.cdiv(H, 8)), (dt, a, bias, out, sums, T, H), dict(chunk=chunk, BH=8), (out, sums), reference,
                options=dict(num_warps=4), bytes=T * H * 10)


@triton.jit
def chunk_dstates(DO, C, Sums, DS, T, H, G, chunk: tl.constexpr, P: tl.constexpr, N: tl.constexpr, BP: tl.constexpr, BN: tl.constexpr,
                  BT: tl.constexpr):
    """Gradients of the state before each chunk: decayed output gradients by C, over the chunk; groups of heads share C."""
    i_c, h = tl.program_id(1), tl.program_id(2)
    parts: tl.constexpr = N // BN
    p = tl.program_id(0) // parts * BP + tl.arange(0, BP)
    n = tl.program_id(0) % parts * BN + tl.arange(0, BN)
    t, left = tl.arange(0, BT), tl.minimum(chunk, T - i_c * chunk)
    group = h // (H // G)
    acc = tl.zeros((BP, BN), tl.float32)
    do_ptrs = DO + ((i_c * chunk + t)[None, :] * H + h) * P + p[:, None]
    c_ptrs = C + ((i_c * chunk + t)[:, None] * G + group) * N + n[None, :]
    s_ptrs = Sums + (h * tl.num_programs(1) + i_c) * chunk + t
    for start in range(0, left, BT):
        do = tl.load(do_ptrs, mask=(t < left - start)[None, :], other=0.0).to(tl.float32)
        decay = tl.exp(tl.load(s_ptrs, mask=t < chunk - start, other=0.0))
        c = tl.load(c_ptrs, mask=(t < left - start)[:, None], other=0.0)
        acc += tl.dot((do * decay[None, :]).to(c.dtype), c)
        do_ptrs += BT * H * P
        c_ptrs += BT * G * N
        s_ptrs += BT
    tl.store(DS + (i_c * H + h).to(tl.int64) * P * N + p[:, None] * N + n[None, :], acc.to(DS.dtype.element_ty))


@case
def rw_chunk_dstates(T=8000, H=48, G=4, P=64, N=128, chunk=256):
    do, c, chunks = rand(T, H, P, dtype=BF16), rand(T, G, N, dtype=BF16), triton.cdiv(T, chunk)
    sums, ds = -uniform(H, chunks, chunk, high=0.02).cumsum(2), empty(chunks, H, P, N)

    def reference():
        pad = chunks * chunk - T
        dos = torch.nn.functional.pad(do.float(), (0, 0, 0, 0, 0, pad)).view(chunks, chunk, H, P).permute(0, 2, 3, 1)
        cs = torch.nn.functional.pad(c.float(), (0, 0, 0, 0, 0, pad)).view(chunks, chunk, G, N).repeat_interleave(H // G, 2)
        return ((dos * torch.exp(sums).permute(1, 0, 2)[:, :, None]) @ cs.permute(0, 2, 1, 3),)

    return Case(chunk_dstates, (N // 64, chunks, H), (do, c, sums, ds, T, H, G), dict(chunk=chunk, P=P, N=N, BP=64, BN=64, BT=32), (ds,), reference,
                options=dict(num_warps=4, num_stages=4), flops=2 * T * H * P * N)


@triton.jit
def ragged_conv(X, W, Bias, Initial, Chunk_seq, Chunk_at, Cu, Y, Final, D, BT: tl.constexpr, BD: tl.constexpr):
    """A causal convolution of 4 taps over ragged sequences with states, then silu; each chunk knows its sequence and place."""
    seq, first = tl.load(Chunk_seq + tl.program_id(0)), tl.load(Chunk_at + tl.program_id(0))
    start, end = tl.load(Cu + seq), tl.load(Cu + seq + 1)
    d, t = tl.program_id(1) * BD + tl.arange(0, BD), first + tl.arange(0, BT)
    live = (t < end - start)[:, None] & (d < D)[None, :]
    acc = tl.zeros((BT, BD), tl.float32) + tl.load(Bias + d, mask=d < D, other=0.0).to(tl.float32)[None, :]
    for tap in tl.static_range(4):
        at = t + (tap - 3)
        x = tl.load(X + (start + at).to(tl.int64)[:, None] * D + d[None, :], mask=live & (at >= 0)[:, None], other=0.0).to(tl.float32)
        old = tl.load(Initial + (seq * 3 + at + 3)[:, None] * D + d[None, :], mask=live & (at < 0)[:, None], other=0.0).to(tl.float32)
        acc += (x + old) * tl.load(W + d * 4 + tap, mask=d < D, other=0.0).to(tl.float32)[None, :]
    tl.store(Y + (start + t).to(tl.int64)[:, None] * D + d[None, :], (acc * tl.sigmoid(acc)).to(Y.dtype.element_ty), mask=live)
    if first + BT >= end - start:
        for i in tl.static_range(3):
            place = end - start - 3 + i
            last = tl.load(X + (start + place).to(tl.int64) * D + d, mask=(d < D) & (place >= 0), other=0.0)
            kept = tl.load(Initial + (seq * 3 + place + 3) * D + d, mask=(d < D) & (place < 0), other=0.0)
            tl.store(Final + (seq * 3 + i) * D + d, last + kept, mask=d < D)


@case
def rw_ragged_conv(lengths=(3000, 1, 2, 777, 4096, 64, 130, 1999, 5, 2500), D=4224, BT=32):
    starts = torch.tensor((0, *lengths), device="cpu").cumsum(0).tolist()
    T, seqs = starts[-1], len(lengths)
    chunks = [(i, at) for i, n in enumerate(lengths) for at in range(0, n, BT)]
    x, w, bias, initial = rand(T, D, dtype=BF16), rand(D, 4, dtype=BF16, scale=0.5), rand(D, dtype=BF16), rand(seqs, 3, D, dtype=BF16)
    y, final = empty(T, D, dtype=BF16), empty(seqs, 3, D, dtype=BF16)

    def reference():
        out, last = torch.empty(T, D, device=DEVICE), torch.empty(seqs, 3, D, device=DEVICE)
        for i, n in enumerate(lengths):
            whole = torch.cat((initial[i], x[starts[i]:starts[i + 1]])).float()
            s = sum(whole[j:j + n] * w[:, j].float() for j in range(4)) + bias.float()
            out[starts[i]:starts[i + 1]], last[i] = s * torch.sigmoid(s), whole[-3:]
        return out, last

    return Case(ragged_conv, (len(chunks), triton.cdiv(D, 128)),
                (x, w, bias, initial, tensor([i for i, _ in chunks], torch.int32), tensor([a for _, a in chunks], torch.int32),
                 tensor(starts, torch.int32), y, final, D), dict(BT=BT, BD=128), (y, final), reference, options=dict(num_warps=4),
                bytes=4 * T * D)


@triton.jit
def shifted_mixes(X, Mix, Out, T, D, BD: tl.constexpr):
    """Six mixes of a token and the difference to the one before it."""
    i_t, i_b = tl.program_id(0), tl.program_id(1)
    d = tl.program_id(2) * BD + tl.arange(0, BD)
    mask = d < D
    row = (i_b * T + i_t).to(tl.int64)
    x = tl.load(X + row * D + d, mask=mask, other=0.0).to(tl.float32)
    before = tl.load(X + (row - 1) * D + d, mask=mask & (i_t > 0), other=0.0).to(tl.float32)
    away = before - x
    size = tl.num_programs(1).to(tl.int64) * T * D
    for i in tl.static_range(6):
        y = x + away * tl.load(Mix + i * D + d, mask=mask, other=0.0).to(tl.float32)
        tl.store(Out + i * size + row * D + d, y.to(Out.dtype.element_ty), mask=mask)


@case
def rw_shifted_mixes(B=4, T=2500, D=2560):
    x, mix, out = rand(B, T, D, dtype=BF16), uniform(6, D, dtype=BF16), empty(6, B, T, D, dtype=BF16)

    def reference():
        away = torch.nn.functional.pad(x.float(), (0, 0, 1, 0))[:, :-1] - x.float()
        return (torch.stack([x.float() + away * mix[i].float() for i in range(6)]),)

    return Case(shifted_mixes, (T, B, triton.cdiv(D, 1024)), (x, mix, out, T, D), dict(BD=1024), (out,), reference, options=dict(num_warps=4),
                bytes=14 * B * T * D)


@triton.jit
def parallel_mlstm(Q, K, V, LogF, I, O, Norm, scale, T, H, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """A matrix memory in parallel form: signed scores by exponential gates, kept in range by a running maximum and a norm."""
    block, h = tl.num_programs(0) - 1 - tl.program_id(0), tl.program_id(1)
    m, n, d = block * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    q = tl.load(Q + (m[:, None] * H + h) * D + d[None, :], mask=(m < T)[:, None], other=0.0)
    f_m = tl.load(LogF + h * T + m, mask=m < T, other=0.0)
    top = tl.full((BM,), -1.0e30, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, tl.minimum(block * BM + BM, T), BN):
        keys = start + n
        k = tl.load(K + (keys[None, :] * H + h) * D + d[:, None], mask=(keys < T)[None, :], other=0.0)
        v = tl.load(V + (keys[:, None] * H + h) * D + d[None, :], mask=(keys < T)[:, None], other=0.0)
        f_n = tl.load(LogF + h * T + keys, mask=keys < T, other=0.0)
        i_n = tl.load(I + h * T + keys, mask=keys < T, other=0.0)
        log_d = tl.where(m[:, None] >= keys[None, :], f_m[:, None] - f_n[None, :] + i_n[None, :], float("-inf"))
        new = tl.maximum(top, tl.max(log_d, 1))
        s = tl.dot(q, k) * scale * tl.exp(log_d - new[:, None])
        alpha = tl.exp(top - new)
        acc = tl.dot(s.to(v.dtype), v, acc * alpha[:, None])
        total, top = total * alpha + tl.sum(s, 1), new
    norm = tl.maximum(tl.abs(total), tl.exp(-top))
    tl.store(O + (m[:, None] * H + h) * D + d[None, :], (acc / (norm + 1.0e-6)[:, None]).to(O.dtype.element_ty), mask=(m < T)[:, None])
    tl.store(Norm + h * T + m, norm, mask=m < T)


@case
def rw_parallel_mlstm(T=2500, H=12, D=128):
    q, k, v, o, norm = rand(T, H, D, dtype=F16), rand(T, H, D, dtype=F16), rand(T, H, D, dtype=F16), empty(T, H, D), empty(H, T)
    log_f, gate = torch.nn.functional.logsigmoid(rand(H, T) + 3.0).cumsum(1), rand(H, T)

    def reference():
        out, norms = torch.empty(o.shape, device=DEVICE), torch.empty(norm.shape, device=DEVICE)
        seen = torch.ones(T, T, dtype=torch.bool, device=DEVICE).tril()
        for h in range(H):
            log_d = (log_f[h, :, None] - log_f[h] + gate[h]).masked_fill(~seen, float("-inf"))
            high = log_d.amax(1, keepdim=True)
            s = q[:, h].float() @ k[:, h].float().T * D**-0.5 * torch.exp(log_d - high)
            norms[h] = torch.maximum(s.sum(1).abs(), torch.exp(-high[:, 0]))
            out[:, h] = s @ v[:, h].float() / (norms[h] + 1e-6)[:, None]
        return out, norms

    return Case(parallel_mlstm, (triton.cdiv(T, 64), H), (q, k, v, log_f, gate, o, norm, D**-0.5, T, H), dict(D=D, BM=64, BN=64), (o, norm), reference,
                rtol=2e-2, options=dict(num_warps=4, num_stages=2), flops=2 * T * T * H * D)


@triton.jit
def chained(a1, b1, a2, b2):
    """Of two steps x -> a x + b, the one that does both."""
    return a1 * a2, b1 * a2 + b2


@triton.jit
def scan_from_the_end(A, DO, DX, T, D, BT: tl.constexpr, BD: tl.constexpr):
    """y_t = a_(t+1) y_(t+1) + x_t by scans of tiles from the last back."""
    b, d, t = tl.program_id(1).to(tl.int64), tl.program_id(0) * BD + tl.arange(0, BD), tl.arange(0, BT)
    carry = tl.zeros((BD,), tl.float32)
    for i in range(tl.cdiv(T, BT) - 1, -1, -1):
        rows = i * BT + t
        mask = (rows < T)[:, None] & (d < D)[None, :]
        at = (b * T + rows)[:, None] * D + d[None, :]
        a = tl.load(A + at + D, mask=mask & (rows < T - 1)[:, None], other=0.0).to(tl.float32)
        x = tl.load(DO + at, mask=mask, other=0.0).to(tl.float32)
        factor, y = tl.associative_scan((a, x), 0, chained, reverse=True)
        y += factor * carry[None, :]
        tl.store(DX + at, y.to(DX.dtype.element_ty), mask=mask)
        carry = tl.sum(tl.where((t == 0)[:, None], y, 0.0), 0)


@case
def rw_scan_from_the_end(B=8, T=3001, D=1000):
    a, do, dx = uniform(B, T, D, low=0.3, dtype=BF16), rand(B, T, D, dtype=BF16), empty(B, T, D)

    def reference():
        out, y = torch.empty(B, T, D, device=DEVICE), torch.zeros(B, D, device=DEVICE)
        for t in range(T - 1, -1, -1):
            y = do[:, t].float() + (a[:, t + 1].float() * y if t < T - 1 else 0.0)
            out[:, t] = y
        return (out,)

    return Case(scan_from_the_end, (triton.cdiv(D, 32), B), (a, do, dx, T, D), dict(BT=64, BD=32), (dx,), reference, options=dict(num_warps=4),
                bytes=B * T * D * 8)


@triton.jit
def ssm_token(State, X, DT, A, Bmat, Cmat, Dvec, Z, DT_bias, Slots, New, Out, DIM, H: tl.constexpr, G: tl.constexpr, N: tl.constexpr,
              BD: tl.constexpr):
    """One token of a selective state, with a head's step size and decay, states of a pool by slots, a gate and a direct part."""
    b, h = tl.program_id(1), tl.program_id(2)
    d, n = tl.program_id(0) * BD + tl.arange(0, BD), tl.arange(0, N)
    group = h // (H // G)
    slot = tl.load(Slots + b).to(tl.int64)
    inside = (d < DIM)[:, None] & (n < N)[None, :]
    tile = h * DIM * N + d[:, None] * N + n[None, :]
    state = tl.load(State + slot * H * DIM * N + tile, mask=inside, other=0.0).to(tl.float32)
    dt = tl.load(DT + b * H + h).to(tl.float32) + tl.load(DT_bias + h)
    dt = tl.where(dt <= 20.0, tl.log(1.0 + tl.exp(dt)), dt)
    decay = tl.exp(tl.load(A + h) * dt)
    row = (b * H + h) * DIM + d
    x = tl.load(X + row, mask=d < DIM, other=0.0).to(tl.float32)
    b_row = tl.load(Bmat + (b * G + group) * N + n).to(tl.float32)
    c_row = tl.load(Cmat + (b * G + group) * N + n).to(tl.float32)
    state = state * decay + (x * dt)[:, None] * b_row[None, :]
    tl.store(New + b.to(tl.int64) * H * DIM * N + tile, state.to(New.dtype.element_ty), mask=inside)
    z = tl.load(Z + row, mask=d < DIM, other=0.0).to(tl.float32)
    out = tl.sum(state * c_row[None, :], axis=1) + x * tl.load(Dvec + h)
    out *= z * tl.sigmoid(z)
    tl.store(Out + row, out.to(Out.dtype.element_ty), mask=d < DIM)


@case
def rw_ssm_token(seqs=60, H=80, G=8, DIM=64, N=128, pool=100):
    x, z, dt = rand(seqs, H, DIM, dtype=BF16), rand(seqs, H, DIM, dtype=BF16), rand(seqs, H, dtype=BF16)
    a, d, bias, slots = -uniform(H, low=0.5, high=4.0), rand(H), rand(H), torch.randperm(pool, device=DEVICE)[:seqs].to(torch.int64)
    bm, cm = rand(seqs, G, N, dtype=BF16), rand(seqs, G, N, dtype=BF16)
    states, new, out = rand(pool, H, DIM, N, dtype=F16), empty(seqs, H, DIM, N, dtype=F16), empty(seqs, H, DIM, dtype=BF16)

    def reference():
        step = torch.nn.functional.softplus(dt.float() + bias)
        bs, cs = (m.float().repeat_interleave(H // G, 1)[:, :, None] for m in (bm, cm))
        s = states[slots].float() * torch.exp(a * step)[:, :, None, None] + (x.float() * step[..., None])[..., None] * bs
        y = (s * cs).sum(3) + x.float() * d[:, None]
        return s, y * torch.nn.functional.silu(z.float())

    return Case(ssm_token, (triton.cdiv(DIM, 16), seqs, H), (states, x, dt, a, bm, cm, d, z, bias, slots, new, out, DIM),
                dict(H=H, G=G, N=N, BD=16), (new, out), reference, options=dict(num_warps=4), bytes=4 * seqs * H * DIM * N)


@triton.jit
def decayed_parallel(Q, K, V, Slope, O, scale, T, H, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Causal linear attention in parallel form: scores fall by a head's rate, and blocks that are too far off are left out."""
    block, h = tl.num_programs(0) - 1 - tl.program_id(0), tl.program_id(1)
    rate = tl.load(Slope + h)
    m, n, d = block * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    q = tl.load(Q + (h * T + m)[:, None] * D + d[None, :], mask=(m < T)[:, None], other=0.0)
    q = (q * (scale * tl.exp(-rate * tl.arange(0, BM).to(tl.float32)))[:, None]).to(q.dtype)
    acc = tl.zeros((BM, D), tl.float32)
    lowest = tl.maximum(block * BM - (16.0 / rate).to(tl.int32), 0) // BN * BN
    start = block * BM - BN
    while start >= lowest:
        keys = start + n
        k = tl.load(K + (h * T + keys)[None, :] * D + d[:, None])
        v = tl.load(V + (h * T + keys)[:, None] * D + d[None, :])
        fall = tl.exp(-rate * (block * BM - keys).to(tl.float32))
        s = tl.dot(q, k) * fall[None, :]
        acc = tl.dot(s.to(v.dtype), v, acc)
        start -= BN
    for first in range(block * BM, tl.minimum(block * BM + BM, T), BN):
        keys = first + n
        k = tl.load(K + (h * T + keys)[None, :] * D + d[:, None], mask=(keys < T)[None, :], other=0.0)
        v = tl.load(V + (h * T + keys)[:, None] * D + d[None, :], mask=(keys < T)[:, None], other=0.0)
        rise = tl.exp(rate * (keys - block * BM).to(tl.float32))
        s = tl.where(m[:, None] >= keys[None, :], tl.dot(q, k) * rise[None, :], 0.0)
        acc = tl.dot(s.to(v.dtype), v, acc)
    tl.store(O + (h * T + m)[:, None] * D + d[None, :], acc.to(O.dtype.element_ty), mask=(m < T)[:, None])


@case
def rw_decayed_parallel(heads=32, T=4000, D=64):
    q, k, v, o = (rand(heads, T, D, dtype=BF16) if i < 3 else empty(heads, T, D) for i in range(4))
    slope = tensor([2.0**(-2 - 8 * h / heads) for h in range(heads)], torch.float32)

    def reference():
        away = torch.arange(T, device=DEVICE)[:, None] - torch.arange(T, device=DEVICE)
        out = torch.empty(o.shape, device=DEVICE)
        for h in range(heads):
            s = q[h].float() @ k[h].float().T * D**-0.5 * torch.exp(-slope[h] * away.clamp_min(0))
            out[h] = s.tril() @ v[h].float()
        return (out,)

    return Case(decayed_parallel, (triton.cdiv(T, 64), heads), (q, k, v, slope, o, D**-0.5, T, heads), dict(D=D, BM=64, BN=64), (o,), reference,
                rtol=2e-2, options=dict(num_warps=4, num_stages=3), flops=heads * T * T * D)


@triton.jit
def reversed_chunk_sums(S, O, T, H, D: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr):
    """Sums of a chunk from its end, as a product with a triangle of ones in TF32."""
    i_d, i_t, i_h = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    t = tl.arange(0, BT)
    ones = tl.where(t[:, None] <= t[None, :], 1.0, 0.0)
    s_at = tl.make_block_ptr(S + i_h * D, (T, D), (H * D, 1), (i_t * BT, i_d * BD), (BT, BD), (1, 0))
    o_at = tl.make_block_ptr(O + i_h * D, (T, D), (H * D, 1), (i_t * BT, i_d * BD), (BT, BD), (1, 0))
    s = tl.load(s_at, boundary_check=(0, 1)).to(tl.float32)
    tl.store(o_at, tl.dot(ones, s, allow_tf32=True), boundary_check=(0, 1))


@case
def rw_reversed_chunk_sums(T=20_032, H=12, D=128):
    s, o = log_gates(T, H, D), empty(T, H, D)
    return Case(reversed_chunk_sums, (D // 32, triton.cdiv(T, 64), H), (s, o, T, H), dict(D=D, BT=64, BD=32), (o,),
                lambda: (s.view(T // 64, 64, H, D).flip(1).cumsum(1).flip(1),), options=dict(num_warps=2), bytes=8 * T * H * D)
