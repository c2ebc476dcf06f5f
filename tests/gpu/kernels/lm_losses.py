# SPDX-License-Identifier: Apache-2.0
"""Losses over large vocabularies: cross entropy, fused with the last product or not, log probabilities, KL and JSD, DPO's sums."""
import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, randint, registry, zeros

CASES, case = registry()
BF16 = torch.bfloat16


def some_ignored(labels):
    """Every fifth row or so has no label."""
    return torch.where(torch.rand(labels.shape, device=DEVICE) < 0.2, -100, labels)


@triton.jit
def cross_entropy_kernel(X_ptr, X_stride, Y_ptr, dX_ptr, loss_ptr, z_loss_ptr, n_cols, n_non_ignore_ptr, ignore_index, lse_square_scale,
                         label_smoothing: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    """Loss and gradient at once: one pass for the largest and the sum, one for the gradient."""
    program_id = tl.program_id(0).to(tl.int64)
    y = tl.load(Y_ptr + program_id)
    X_ptr += program_id * X_stride
    dX_ptr += program_id * X_stride
    if y == ignore_index:
        for i in range(0, n_cols, BLOCK_SIZE):
            offsets = i + tl.arange(0, BLOCK_SIZE)
            tl.store(dX_ptr + offsets, 0.0, mask=offsets < n_cols)
        tl.store(loss_ptr + program_id, 0.0)
        tl.store(z_loss_ptr + program_id, 0.0)
        return
    n = tl.load(n_non_ignore_ptr).to(tl.float32)
    m, d, scaled_x_sum = float("-inf"), 0.0, 0.0
    eps = label_smoothing / n_cols
    for i in range(0, n_cols, BLOCK_SIZE):
        offsets = i + tl.arange(0, BLOCK_SIZE)
        x = tl.load(X_ptr + offsets, mask=offsets < n_cols, other=float("-inf")).to(tl.float32)
        if label_smoothing > 0:
            scaled_x_sum += tl.sum(tl.where(offsets < n_cols, -eps * x, 0.0))
        m_new = tl.maximum(m, tl.max(x))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new))
        m = m_new
    lse = m + tl.log(d)
    grow = 1 + 2 * lse_square_scale * lse
    for i in range(0, n_cols, BLOCK_SIZE):
        offsets = i + tl.arange(0, BLOCK_SIZE)
        x = tl.load(X_ptr + offsets, mask=offsets < n_cols, other=float("-inf")).to(tl.float32)
        g = tl.exp(x - m) / d * grow - eps
        g = tl.where(offsets == y, g - (1 - label_smoothing), g) / n
        tl.store(dX_ptr + offsets, g, mask=offsets < n_cols)
    x_y = tl.load(X_ptr + y).to(tl.float32)
    loss = lse - x_y
    if label_smoothing > 0:
        loss = loss * (1 - label_smoothing) + scaled_x_sum + label_smoothing * lse
    z_loss = lse_square_scale * lse * lse
    tl.store(loss_ptr + program_id, (loss + z_loss) / n)
    tl.store(z_loss_ptr + program_id, z_loss / n)


@case
def lm_cross_entropy_smoothing(rows=1536, V=128256):
    x, y = rand(rows, V, dtype=BF16, scale=2.0), some_ignored(randint(0, V, rows, dtype=torch.int64))
    dx, loss, z = empty(rows, V, dtype=BF16), empty(rows), empty(rows)
    count = (y != -100).sum()

    def reference():
        logits = x.float().requires_grad_()
        with torch.enable_grad():
            lse = torch.logsumexp(logits, 1)
            keep = y != -100
            ce = torch.nn.functional.cross_entropy(logits, y, ignore_index=-100, label_smoothing=0.1, reduction="none")
            zs = torch.where(keep, 1e-4 * lse.square() / count, 0.0)
            losses = ce / count + zs
            grad, = torch.autograd.grad(losses.sum(), logits)
        return grad, losses.detach(), zs.detach()

    return Case(cross_entropy_kernel, (rows,), (x, V, y, dx, loss, z, V, count, -100, 1e-4), dict(label_smoothing=0.1, BLOCK_SIZE=8192),
                (dx, loss, z), reference, rtol=4e-3, options=dict(num_warps=16), bytes=rows * V * 4)


@triton.jit
def linear_lse(x_ptr, w_ptr, label_ptr, max_ptr, sum_ptr, target_ptr, T, V, K, BT: tl.constexpr, BV: tl.constexpr, BK: tl.constexpr):
    """Logits of a tile, which are never written: their largest, the sum of exponents, and the label's logit."""
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    v = tl.program_id(1) * BV + tl.arange(0, BV)
    x = tl.make_block_ptr(x_ptr, (T, K), (K, 1), (tl.program_id(0) * BT, 0), (BT, BK), (1, 0))
    w = tl.make_block_ptr(w_ptr, (K, V), (1, K), (0, tl.program_id(1) * BV), (BK, BV), (0, 1))
    acc = tl.zeros((BT, BV), tl.float32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(x, boundary_check=(0,)), tl.load(w, boundary_check=(1,)), acc)
        x = tl.advance(x, (0, BK))
        w = tl.advance(w, (BK, 0))
    acc = tl.where(v[None, :] < V, acc, -1e30)
    top = tl.max(acc, 1)
    total = tl.sum(tl.exp(acc - top[:, None]), 1)
    label = tl.load(label_ptr + t, mask=t < T, other=-1)
    hit = label[:, None] == v[None, :]
    inside = (label >= tl.program_id(1) * BV) & (label < tl.program_id(1) * BV + BV)
    tl.store(target_ptr + t, tl.sum(tl.where(hit, acc, 0.0), 1), mask=(t < T) & inside)
    at = t * tl.num_programs(1) + tl.program_id(1)
    tl.store(max_ptr + at, top, mask=t < T)
    tl.store(sum_ptr + at, total, mask=t < T)


@case
def lm_linear_cross_entropy_fwd(T=4096, V=32064, K=2048):
    x, w, label = rand(T, K, dtype=BF16), rand(V, K, dtype=BF16, scale=K ** -0.5), randint(0, V, T)
    tiles = triton.cdiv(V, 256)
    top, total, target = empty(T, tiles), empty(T, tiles), empty(T)

    def reference():
        logits = torch.nn.functional.pad(x.float() @ w.float().T, (0, tiles * 256 - V), value=float("-inf"))
        parts = logits.view(T, tiles, 256)
        most = parts.amax(2)
        return most, torch.exp(parts - most[:, :, None]).sum(2), logits.gather(1, label.long()[:, None])[:, 0]

    return Case(linear_lse, (triton.cdiv(T, 128), tiles), (x, w, label, top, total, target, T, V, K), dict(BT=128, BV=256, BK=64),
                (top, total, target), reference, options=dict(num_warps=8, num_stages=3), flops=2 * T * V * K)


@triton.jit
def linear_dlogits(x_ptr, w_ptr, label_ptr, lse_ptr, d_ptr, T, V, K, scale, BT: tl.constexpr, BV: tl.constexpr, BK: tl.constexpr,
                   GROUP: tl.constexpr):
    """Computes a tile's logits again and writes (softmax - onehot) * scale."""
    pid = tl.program_id(0)
    across = tl.cdiv(V, BV)
    width = GROUP * across
    first = pid // width * GROUP
    height = tl.minimum(tl.cdiv(T, BT) - first, GROUP)
    t = (first + pid % height) * BT + tl.arange(0, BT)
    v = pid % width // height * BV + tl.arange(0, BV)
    k = tl.arange(0, BK)
    xs = x_ptr + t[:, None] * K + k[None, :]
    ws = w_ptr + v.to(tl.int64)[None, :] * K + k[:, None]
    acc = tl.zeros((BT, BV), tl.float32)
    for _ in range(tl.cdiv(K, BK)):
        acc = tl.dot(tl.load(xs, mask=t[:, None] < T, other=0.0), tl.load(ws, mask=v[None, :] < V, other=0.0), acc)
        xs += BK
        ws += BK
    label = tl.load(label_ptr + t, mask=t < T, other=-1)
    lse = tl.load(lse_ptr + t, mask=t < T, other=0.0)
    p = tl.exp(acc - lse[:, None]) - tl.where(label[:, None] == v[None, :], 1.0, 0.0)
    p = tl.where((label >= 0)[:, None], p * scale, 0.0)
    tl.store(d_ptr + t.to(tl.int64)[:, None] * V + v[None, :], p.to(d_ptr.dtype.element_ty), mask=(t[:, None] < T) & (v[None, :] < V))


@case
def lm_linear_cross_entropy_dlogits(T=2048, V=50304, K=1536):
    x, w, label = rand(T, K, dtype=BF16), rand(V, K, dtype=BF16, scale=K ** -0.5), some_ignored(randint(0, V, T, dtype=torch.int64))
    lse, d = rand(T, scale=0.05) + 11.3, empty(T, V, dtype=BF16)

    def reference():
        p = torch.exp(x.float() @ w.float().T - lse[:, None])
        p[torch.arange(T, device=DEVICE), label.clamp(min=0)] -= (label >= 0).float()
        return (p * (label >= 0)[:, None] * 0.5,)

    return Case(linear_dlogits, (triton.cdiv(T, 128) * triton.cdiv(V, 128),), (x, w, label, lse, d, T, V, K, 0.5),
                dict(BT=128, BV=128, BK=64, GROUP=16), (d,), reference, rtol=1e-3, options=dict(num_warps=4, num_stages=4), flops=2 * T * V * K)


@triton.jit
def logprob_entropy(logits, tokens, logp, entropy, V, inv_temperature, BLOCK: tl.constexpr):
    """For GRPO: the log probability of each chosen token and the entropy, in one pass."""
    row = tl.program_id(0).to(tl.int64)
    base = logits + row * V
    top = tl.full((), float("-inf"), tl.float32)
    total = tl.zeros((), tl.float32)
    first = tl.zeros((), tl.float32)  # sum of exp(x - top) * x
    for start in tl.range(0, V, BLOCK, num_stages=3):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(base + i, mask=i < V, other=float("-inf")).to(tl.float32) * inv_temperature
        new = tl.maximum(top, tl.max(x, 0))
        e = tl.exp(x - new)
        alpha = tl.exp(top - new)
        total = total * alpha + tl.sum(e, 0)
        first = first * alpha + tl.sum(tl.where(i < V, e * x, 0.0), 0)
        top = new
    lse = top + tl.log(total)
    chosen = tl.load(tokens + row)
    tl.store(logp + row, tl.load(base + chosen).to(tl.float32) * inv_temperature - lse)
    tl.store(entropy + row, lse - first / total)


@case
def lm_logprob_entropy(rows=4096, V=151936):
    x, tokens, logp, entropy = rand(rows, V, dtype=BF16, scale=3.0), randint(0, V, rows, dtype=torch.int64), empty(rows), empty(rows)

    def reference():
        outs = []
        for part, chosen in zip(x.split(512), tokens.split(512)):
            lp = torch.log_softmax(part.float() / 0.8, 1)
            outs.append((lp.gather(1, chosen[:, None])[:, 0], -(lp.exp() * lp).sum(1)))
        return tuple(torch.cat(o) for o in zip(*outs))

    return Case(logprob_entropy, (rows,), (x, tokens, logp, entropy, V, 1 / 0.8), dict(BLOCK=4096), (logp, entropy), reference,
                options=dict(num_warps=8), bytes=rows * V * 2)


@triton.jit
def row_lse(ptr, V, BLOCK: tl.constexpr):
    """Largest and sum kept for each lane; joined at the end."""
    top, total = tl.full((BLOCK,), -1e30, tl.float32), tl.zeros((BLOCK,), tl.float32)
    for start in range(0, V, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(ptr + i, mask=i < V, other=-1e30).to(tl.float32)
        new = tl.maximum(top, x)
        total = total * tl.exp(top - new) + tl.exp(x - new)
        top = new
    most = tl.max(top, 0)
    return most + tl.log(tl.sum(total * tl.exp(top - most), 0))


@triton.jit
def distill(s_ptr, t_ptr, d_ptr, loss_ptr, V, beta, scale, JSD: tl.constexpr, BLOCK: tl.constexpr):
    """KL of teacher to student, or generalized JSD; and the gradient of the student's logits."""
    row = tl.program_id(0).to(tl.int64) * V
    s_ptr, t_ptr, d_ptr = s_ptr + row, t_ptr + row, d_ptr + row
    s_lse, t_lse = row_lse(s_ptr, V, BLOCK), row_lse(t_ptr, V, BLOCK)
    loss = 0.0
    inner = 0.0  # sum of q * dloss/dlogq, for the softmax's gradient
    if JSD:
        for start in range(0, V, BLOCK):
            i = start + tl.arange(0, BLOCK)
            lq = tl.load(s_ptr + i, mask=i < V, other=-1e30).to(tl.float32) - s_lse
            lp = tl.load(t_ptr + i, mask=i < V, other=-1e30).to(tl.float32) - t_lse
            q, p = tl.exp(lq), tl.exp(lp)
            lm = tl.log(tl.maximum(beta * p + (1 - beta) * q, 1e-37))
            loss += tl.sum(tl.where(i < V, beta * p * (lp - lm) + (1 - beta) * q * (lq - lm), 0.0), 0)
            inner += tl.sum(tl.where(i < V, (1 - beta) * q * (lq - lm), 0.0), 0)
    for start in range(0, V, BLOCK):
        i = start + tl.arange(0, BLOCK)
        lq = tl.load(s_ptr + i, mask=i < V, other=-1e30).to(tl.float32) - s_lse
        lp = tl.load(t_ptr + i, mask=i < V, other=-1e30).to(tl.float32) - t_lse
        q, p = tl.exp(lq), tl.exp(lp)
        if JSD:
            lm = tl.log(tl.maximum(beta * p + (1 - beta) * q, 1e-37))
            g = (1 - beta) * q * (lq - lm) - q * inner
        else:
            loss += tl.sum(tl.where(i < V, p * (lp - lq), 0.0), 0)
            g = q - p
        tl.store(d_ptr + i, (g * scale).to(d_ptr.dtype.element_ty), mask=i < V)
    tl.store(loss_ptr + tl.program_id(0), loss * scale)


def distill_case(rows, V, jsd, beta):
    s, t, d, loss = rand(rows, V, dtype=BF16, scale=2.0), rand(rows, V, dtype=BF16, scale=2.0), empty(rows, V, dtype=BF16), empty(rows)

    def reference():
        x = s.float().requires_grad_()
        with torch.enable_grad():
            lq, lp = torch.log_softmax(x, 1), torch.log_softmax(t.float(), 1)
            if jsd:
                lm = torch.logaddexp(lp + torch.tensor(beta).log(), lq + torch.tensor(1 - beta).log())
                losses = (beta * lp.exp() * (lp - lm) + (1 - beta) * lq.exp() * (lq - lm)).sum(1) * 8.0
            else:
                losses = (lp.exp() * (lp - lq)).sum(1) * 8.0
            grad, = torch.autograd.grad(losses.sum(), x)
        return grad, losses.detach()

    return Case(distill, (rows,), (s, t, d, loss, V, beta, 8.0), dict(JSD=jsd, BLOCK=4096), (d, loss), reference, options=dict(num_warps=8),
                bytes=rows * V * 6)


@case
def lm_kl_distill(rows=1024, V=128256):
    return distill_case(rows, V, False, 0.5)


@case
def lm_jsd_distill(rows=768, V=102400):
    return distill_case(rows, V, True, 0.3)


@triton.jit
def dpo_sums(logits_ptr, ids_ptr, sums_ptr, T, V, BLOCK: tl.constexpr):
    """Sums of log probabilities of the next tokens of each sequence; prompts have ids below zero."""
    t, b = tl.program_id(0), tl.program_id(1)
    label = tl.load(ids_ptr + b * T + t + 1)
    if label >= 0:
        base = logits_ptr + (b * T + t).to(tl.int64) * V
        lse = row_lse(base, V, BLOCK)
        tl.atomic_add(sums_ptr + b, tl.load(base + label).to(tl.float32) - lse)


@case
def lm_dpo_logprob_sums(B=4, T=1025, V=128256):
    x, sums = rand(B, T, V, dtype=BF16), zeros(B)
    ids = torch.where(torch.arange(T, device=DEVICE) < T // 4, -100, randint(0, V, B, T))

    def total(rows, chosen):
        return (torch.log_softmax(rows.float(), 1).gather(1, chosen.long().clamp(min=0)[:, None])[:, 0] * (chosen >= 0)).sum()

    return Case(dpo_sums, (T - 1, B), (x, ids, sums, T, V), dict(BLOCK=2048), (sums,),
                lambda: (torch.stack([total(x[b, :-1], ids[b, 1:]) for b in range(B)]),), options=dict(num_warps=8), accumulate=True,
                bytes=B * T * V * 1.5)
