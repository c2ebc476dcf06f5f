# SPDX-License-Identifier: Apache-2.0
"""Steps of optimizers, norms of gradients, and gradients of embeddings."""
import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, registry, uniform, zeros

CASES, case = registry()
BF16 = torch.bfloat16


@triton.jit
def adamw_kernel(p_ptr, g_ptr, m_ptr, v_ptr, norm_ptr, p_out, m_out, v_out, low_out, lr, b1, b2, eps, decay, c1, c2, clip, n,
                 BLOCK: tl.constexpr):
    """f32 parameters and moments, bf16 gradients clipped by their norm; writes a bf16 copy too."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    factor = tl.minimum(clip / (tl.load(norm_ptr) + 1e-6), 1.0)
    g = tl.load(g_ptr + i, mask=ok, other=0.0).to(tl.float32) * factor
    p = tl.load(p_ptr + i, mask=ok, other=0.0)
    m = b1 * tl.load(m_ptr + i, mask=ok, other=0.0) + (1 - b1) * g
    v = b2 * tl.load(v_ptr + i, mask=ok, other=0.0) + (1 - b2) * g * g
    p = p * (1 - lr * decay) - lr * (m / c1) / (tl.sqrt(v / c2) + eps)
    tl.store(m_out + i, m, mask=ok)
    tl.store(v_out + i, v, mask=ok)
    tl.store(p_out + i, p, mask=ok)
    tl.store(low_out + i, p.to(tl.bfloat16), mask=ok)


@case
def lm_adamw(n=28_000_000):
    p, g, m, v, norm = rand(n), rand(n, dtype=BF16), rand(n, scale=0.1), uniform(n), uniform(1, low=1.5, high=3.0)
    out = empty(n), empty(n), empty(n), empty(n, dtype=BF16)

    def reference():
        x = g.float() * (1.0 / (norm + 1e-6)).clamp(max=1.0)
        m2, v2 = 0.9 * m + 0.1 * x, 0.95 * v + 0.05 * x * x
        p2 = p * (1 - 0.01 * 0.1) - 0.01 * (m2 / 0.5) / (torch.sqrt(v2 / 0.3) + 1e-8)
        return p2, m2, v2, p2

    return Case(adamw_kernel, (triton.cdiv(n, 1024),), (p, g, m, v, norm, *out, 0.01, 0.9, 0.95, 1e-8, 0.1, 0.5, 0.3, 1.0, n),
                dict(BLOCK=1024), out, reference, rtol=4e-3, options=dict(num_warps=4), bytes=n * 28)


@triton.jit
def lion_kernel(param, grad, exp_avg, new_param, new_avg, lr, wd, beta1, beta2, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    p = tl.load(param + offsets, mask=mask).to(tl.float32)
    g = tl.load(grad + offsets, mask=mask).to(tl.float32)
    avg = tl.load(exp_avg + offsets, mask=mask).to(tl.float32)
    p *= 1 - lr * wd
    diff = avg - g
    update = diff * beta1 + g
    can_update = update != 0
    sign = tl.where(update > 0, -lr, lr)
    tl.store(new_param + offsets, p + sign * can_update, mask=mask)
    tl.store(new_avg + offsets, diff * beta2 + g, mask=mask)


@case
def lm_lion(n=64_000_000):
    p, g, m = rand(n, dtype=BF16), rand(n, dtype=BF16), rand(n, dtype=BF16)
    p2, m2 = empty(n, dtype=BF16), empty(n, dtype=BF16)
    return Case(lion_kernel, (triton.cdiv(n, 2048),), (p, g, m, p2, m2, 0.02, 0.1, 0.9, 0.99, n), dict(BLOCK_SIZE=2048), (p2, m2),
                lambda: (p.float() * (1 - 0.002) - 0.02 * torch.sign(0.9 * m.float() + 0.1 * g.float()), 0.99 * m.float() + 0.01 * g.float()),
                rtol=4e-3, options=dict(num_warps=8), bytes=n * 10)


@triton.jit
def lamb_update(p_ptr, g_ptr, m_ptr, v_ptr, u_ptr, norms_ptr, N, decay, BLOCK: tl.constexpr, LOOPS: tl.constexpr):
    """LAMB's first half, a parameter for each program_id(1): the update, and squared norms of it and of the parameter."""
    which = tl.program_id(1)
    at = which.to(tl.int64) * N
    pp, uu = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for j in tl.static_range(LOOPS):
        i = (tl.program_id(0) * LOOPS + j) * BLOCK + tl.arange(0, BLOCK)
        p = tl.load(p_ptr + at + i, mask=i < N, other=0.0)
        g = tl.load(g_ptr + at + i, mask=i < N, other=0.0)
        m = tl.fma(tl.load(m_ptr + at + i, mask=i < N, other=0.0), 0.9, 0.1 * g)
        v = tl.fma(tl.load(v_ptr + at + i, mask=i < N, other=0.0), 0.99, 0.01 * g * g)
        u = m * tl.rsqrt(v + 1e-12) + decay * p
        tl.store(u_ptr + at + i, u, mask=i < N)
        pp += p * p
        uu += u * u
    tl.atomic_add(norms_ptr + which * 2, tl.sum(pp))
    tl.atomic_add(norms_ptr + which * 2 + 1, tl.sum(uu))


@case
def lm_lamb_update(layers=24, N=2_000_000):
    p, g, m, v = rand(layers, N), rand(layers, N), rand(layers, N), uniform(layers, N, low=0.1)
    u, norms = zeros(layers, N), zeros(layers, 2)

    def reference():
        x = (0.9 * m + 0.1 * g) * torch.rsqrt(0.99 * v + 0.01 * g * g + 1e-12) + 0.01 * p
        return x, torch.stack((p.square().sum(1), x.square().sum(1)), 1)

    return Case(lamb_update, (triton.cdiv(N, 4096), layers), (p, g, m, v, u, norms, N, 0.01), dict(BLOCK=1024, LOOPS=4), (u, norms), reference,
                accumulate=True, options=dict(num_warps=4), bytes=layers * N * 20)


@triton.jit
def newton_schulz_xxt(X, C, Add, M, K, alpha, beta, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr, POLY: tl.constexpr):
    """Muon's products: C = X @ X.T, or alpha * Add + beta * X @ X.T. C is symmetric: tiles above the diagonal are mirrors."""
    pid_m, pid_n = tl.program_id(1), tl.program_id(0)
    if pid_n > pid_m:
        return
    rm = pid_m * BLOCK + tl.arange(0, BLOCK)
    rn = pid_n * BLOCK + tl.arange(0, BLOCK)
    rk = tl.arange(0, BLOCK_K)
    a_ptrs = X + (rm % M)[:, None] * K + rk[None, :]
    b_ptrs = X + (rn % M)[None, :] * K + rk[:, None]
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(K, 0, -BLOCK_K):
        a = tl.load(a_ptrs, mask=rk[None, :] < k, other=0.0)
        b = tl.load(b_ptrs, mask=rk[:, None] < k, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K
    mask = (rm[:, None] < M) & (rn[None, :] < M)
    if POLY:
        acc = beta * acc + alpha * tl.load(Add + rm[:, None] * M + rn[None, :], mask=mask, other=0.0).to(tl.float32)
    out = acc.to(C.dtype.element_ty)
    tl.store(C + rm[:, None] * M + rn[None, :], out, mask=mask)
    if pid_n < pid_m:
        tl.store(C + rn[:, None] * M + rm[None, :], tl.trans(out), mask=(rn[:, None] < M) & (rm[None, :] < M))


def muon_case(M, K, poly):
    x, c, extra = rand(M, K, dtype=BF16), empty(M, M, dtype=BF16), rand(M, M, dtype=BF16)
    extra = extra + extra.T if poly else extra
    return Case(newton_schulz_xxt, (triton.cdiv(M, 128), triton.cdiv(M, 128)), (x, c, extra, M, K, -4.775, 2.0315),
                dict(BLOCK=128, BLOCK_K=64, POLY=poly), (c,),
                lambda: (x.float() @ x.float().T * (2.0315 if poly else 1.0) - (4.775 * extra.float() if poly else 0.0),),
                options=dict(num_warps=8, num_stages=4), flops=M * M * K)


@case
def lm_muon_xxt(M=4096, K=11008):
    return muon_case(M, K, False)


@case
def lm_muon_poly(M=4000, K=4000):
    return muon_case(M, K, True)


@triton.jit
def grad_norm(g_ptr, part_ptr, bad_ptr, n, BLOCK: tl.constexpr):
    """Grid-stride sum of squares, and whether anything is not finite."""
    acc = tl.zeros((BLOCK,), tl.float32)
    step = tl.num_programs(0) * BLOCK
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for _ in range(tl.cdiv(n, step)):
        g = tl.load(g_ptr + i, mask=i < n, other=0.0).to(tl.float32)
        acc += g * g
        i += step
    total = tl.sum(acc, 0)
    finite = (total == total) & (tl.abs(total) < float("inf"))
    tl.store(part_ptr + tl.program_id(0), total)
    tl.store(bad_ptr + tl.program_id(0), tl.where(finite, 1, 2))


@case
def lm_grad_norm(n=300_000_000, programs=1056):
    g, part, bad = rand(n, dtype=BF16), empty(programs), empty(programs, dtype=torch.int32)
    step = programs * 4096

    def reference():
        sums = torch.zeros(programs, device=DEVICE)
        for piece in g.split(step):
            sums += torch.nn.functional.pad(piece, (0, step - piece.numel())).view(programs, 4096).float().square().sum(1)
        return sums, torch.ones(programs, device=DEVICE)

    return Case(grad_norm, (programs,), (g, part, bad, n), dict(BLOCK=4096), (part, bad), reference, options=dict(num_warps=8), bytes=n * 2)


@triton.jit
def embedding_backward(order_ptr, ids_ptr, dy_ptr, dw_ptr, tokens, D, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr):
    """Tokens in order of their ids: runs are summed before they are added."""
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    first = tl.program_id(0) * BLOCK_T
    acc = tl.zeros((BLOCK_D,), tl.float32)
    last = tl.load(ids_ptr + tl.load(order_ptr + first))
    for i in range(first, tl.minimum(first + BLOCK_T, tokens)):
        t = tl.load(order_ptr + i)
        word = tl.load(ids_ptr + t)
        if word != last:
            tl.atomic_add(dw_ptr + last.to(tl.int64) * D + d, acc, mask=d < D, sem="relaxed")
            acc = tl.zeros((BLOCK_D,), tl.float32)
            last = word
        acc += tl.load(dy_ptr + t.to(tl.int64) * D + d, mask=d < D, other=0.0).to(tl.float32)
    tl.atomic_add(dw_ptr + last.to(tl.int64) * D + d, acc, mask=d < D, sem="relaxed")


@case
def lm_embedding_bwd(tokens=32768, V=50304, D=2048):
    ids = (torch.rand(tokens, device=DEVICE) ** 4 * V).to(torch.int32).clamp(max=V - 1)  # some are frequent
    order, dy, dw = torch.argsort(ids).to(torch.int32), rand(tokens, D, dtype=BF16), zeros(V, D)
    return Case(embedding_backward, (triton.cdiv(tokens, 32), triton.cdiv(D, 1024)), (order, ids, dy, dw, tokens, D),
                dict(BLOCK_T=32, BLOCK_D=1024), (dw,), lambda: (torch.zeros(V, D, device=DEVICE).index_add_(0, ids.long(), dy.float()),),
                accumulate=True, options=dict(num_warps=4), bytes=tokens * D * 2)
