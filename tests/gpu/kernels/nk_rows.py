# SPDX-License-Identifier: Apache-2.0
"""Rows: norms by descriptors and with locks, statistics by reductions of tuples, dropout, sorting, scans from the end."""
import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, randint, registry, uniform, zeros

CASES, case = registry()
F16, BF16 = torch.float16, torch.bfloat16


@triton.jit
def layer_norm_described(x_ptr, w_ptr, b_ptr, y_ptr, rows, N, eps, BM: tl.constexpr, BN: tl.constexpr):
    """Layer norm by descriptors that the kernel makes; programs take blocks of rows in turns, two passes over columns."""
    x_desc = tl.make_tensor_descriptor(x_ptr, [rows, N], [N, 1], [BM, BN])
    y_desc = tl.make_tensor_descriptor(y_ptr, [rows, N], [N, 1], [BM, BN])
    for block in tl.range(tl.program_id(0), tl.cdiv(rows, BM), tl.num_programs(0)):
        sums, squares = tl.zeros((BM, BN), tl.float32), tl.zeros((BM, BN), tl.float32)
        for col in tl.range(0, N, BN):
            x = x_desc.load([block * BM, col]).to(tl.float32)
            sums += x
            squares += x * x
        mean = tl.sum(sums, 1) / N
        rstd = tl.rsqrt(tl.sum(squares, 1) / N - mean * mean + eps)
        for col in tl.range(0, N, BN):
            x = x_desc.load([block * BM, col]).to(tl.float32)
            c = col + tl.arange(0, BN)
            w, b = tl.load(w_ptr + c, c < N, 0.0), tl.load(b_ptr + c, c < N, 0.0)
            y = (x - mean[:, None]) * rstd[:, None] * w[None, :] + b[None, :]
            y_desc.store([block * BM, col], y.to(y_ptr.dtype.element_ty))


@case
def nk_layer_norm_described(rows=16384, N=3000):
    x, w, b, y = rand(rows, N, dtype=F16), rand(N), rand(N), empty(rows, N, dtype=F16)
    return Case(layer_norm_described, (264,), (x, w, b, y, rows, N, 1e-5), dict(BM=8, BN=256), (y,),
                lambda: (torch.nn.functional.layer_norm(x.float(), (N,), w, b, 1e-5),), options=dict(num_warps=4, num_stages=2), bytes=rows * N * 4)


@triton.jit
def softmax_in_turns(y, x, x_stride, y_stride, rows, cols, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    """A row in registers, the next rows' loads ahead of it."""
    first, step = tl.program_id(0), tl.num_programs(0)
    c = tl.arange(0, BLOCK)
    for row in tl.range(first, rows, step, num_stages=STAGES):
        v = tl.load(x + row * x_stride + c, mask=c < cols, other=-float("inf"))
        v = tl.exp(v - tl.max(v, axis=0))
        tl.store(y + row * y_stride + c, v / tl.sum(v, axis=0), mask=c < cols)


@case
def nk_softmax_in_turns(rows=16384, cols=1823):
    x, y = rand(rows, cols), empty(rows, cols)
    return Case(softmax_in_turns, (528,), (y, x, cols, cols, rows, cols), dict(BLOCK=2048, STAGES=4), (y,), lambda: (torch.softmax(x, 1),),
                rtol=1e-5, options=dict(num_warps=8), bytes=rows * cols * 8)


@triton.jit
def norm_backward_locked(dx_ptr, dy_ptr, dw_ptr, db_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, locks, N, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    """The gradient of layer norm; rows of a group add their share of the weights' under a lock."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    ok = c < N
    x = tl.load(x_ptr + row.to(tl.int64) * N + c, mask=ok, other=0).to(tl.float32)
    dy = tl.load(dy_ptr + row.to(tl.int64) * N + c, mask=ok, other=0).to(tl.float32)
    w = tl.load(w_ptr + c, mask=ok, other=0).to(tl.float32)
    mean, rstd = tl.load(mean_ptr + row), tl.load(rstd_ptr + row)
    hat = tl.where(ok, (x - mean) * rstd, 0.0)
    m = tl.where(ok, w * dy, 0.0)
    dx = (m - (hat * (tl.sum(hat * m, axis=0) / N) + tl.sum(m, axis=0) / N)) * rstd
    tl.store(dx_ptr + row.to(tl.int64) * N + c, dx.to(dx_ptr.dtype.element_ty), mask=ok)
    group = row % GROUPS
    dw_at, db_at = dw_ptr + group * N + c, db_ptr + group * N + c
    while tl.atomic_cas(locks + group, 0, 1) == 1:
        pass
    dw = dy * hat + tl.load(dw_at, mask=ok, cache_modifier=".cg")
    db = dy + tl.load(db_at, mask=ok, cache_modifier=".cg")
    tl.store(dw_at, dw, mask=ok)
    tl.store(db_at, db, mask=ok)
    tl.debug_barrier()
    tl.atomic_xchg(locks + group, 0)


@case
def nk_norm_backward_locked(rows=8192, N=4096, groups=128):
    x, dy, w = rand(rows, N, dtype=F16), rand(rows, N, dtype=F16, scale=0.1), rand(N, dtype=F16)
    mean, rstd, locks = x.float().mean(1), torch.rsqrt(x.float().var(1, correction=0) + 1e-5), zeros(groups, dtype=torch.int32)
    dx, dw, db = empty(rows, N, dtype=F16), zeros(groups, N), zeros(groups, N)

    def reference():
        hat, m = (x.float() - mean[:, None]) * rstd[:, None], dy.float() * w.float()
        grad = (m - hat * (hat * m).mean(1, keepdim=True) - m.mean(1, keepdim=True)) * rstd[:, None]
        return grad, (dy.float() * hat).view(-1, groups, N).sum(0), dy.float().view(-1, groups, N).sum(0)

    return Case(norm_backward_locked, (rows,), (dx, dy, dw, db, x, w, mean, rstd, locks, N), dict(GROUPS=groups, BLOCK=triton.next_power_of_2(N)),
                (dx, dw, db), reference, accumulate=True, options=dict(num_warps=8), bytes=rows * N * 6)


@triton.jit
def larger(m1, s1, m2, s2):
    """Joins (maximum, sum of exponentials) of two parts."""
    m = tl.maximum(m1, m2)
    return m, s1 * tl.exp(m1 - m) + s2 * tl.exp(m2 - m)


@triton.jit
def cross_entropy_z(logits, labels, loss, z_loss, lse_out, V, z_weight, BLOCK: tl.constexpr):
    """Loss and z-loss: a pair of maximum and sum for each lane, joined by one reduction of pairs."""
    row = tl.program_id(0)
    logits += row.to(tl.int64) * V
    top = tl.full((BLOCK,), -1.0e30, tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in tl.range(0, V, BLOCK):
        v = start + tl.arange(0, BLOCK)
        x = tl.load(logits + v, mask=v < V, other=-1.0e30).to(tl.float32)
        top, total = larger(top, total, x, tl.where(v < V, 1.0, 0.0))
    m, s = tl.reduce((top, total), 0, larger)
    lse = m + tl.log(s)
    label = tl.load(labels + row)
    tl.store(loss + row, lse - tl.load(logits + label).to(tl.float32))
    tl.store(z_loss + row, z_weight * lse * lse)
    tl.store(lse_out + row, lse)


@case
def nk_cross_entropy_z(rows=4096, V=32000):
    x, labels = rand(rows, V, dtype=BF16, scale=2.0), randint(0, V, rows, dtype=torch.int64)
    loss, z, out = empty(rows), empty(rows), empty(rows)

    def reference():
        lse = torch.logsumexp(x.float(), 1)
        return lse - x.gather(1, labels[:, None])[:, 0].float(), 1e-2 * lse * lse, lse

    return Case(cross_entropy_z, (rows,), (x, labels, loss, z, out, V, 1e-2), dict(BLOCK=2048), (loss, z, out), reference, rtol=1e-4,
                options=dict(num_warps=8), bytes=rows * V * 2)


@triton.jit
def moments(mean1, m1, n1, mean2, m2, n2):
    """Joins (mean, sum of squared deviations, count) of two parts."""
    n = n1 + n2
    share = tl.where(n == 0.0, 0.0, n2 / tl.maximum(n, 1.0))
    delta = mean2 - mean1
    return mean1 + delta * share, m1 + m2 + delta * delta * n1 * share, n


@triton.jit
def group_stats(x, mean_out, var_out, y, N, R: tl.constexpr, BLOCK: tl.constexpr):
    """Several rows a program: mean and variance by a reduction of triples along the second dimension."""
    rows = tl.program_id(0) * R + tl.arange(0, R)
    c = tl.arange(0, BLOCK)
    ok = (c < N)[None, :] & (rows >= 0)[:, None]
    at = rows[:, None] * N + c[None, :]
    v = tl.load(x + at, mask=ok, other=0.0).to(tl.float32)
    mean, m2, n = tl.reduce((v, tl.zeros((R, BLOCK), tl.float32), tl.where(ok, 1.0, 0.0)), 1, moments)
    var = m2 / n
    tl.store(mean_out + rows, mean)
    tl.store(var_out + rows, var)
    tl.store(y + at, ((v - mean[:, None]) / tl.sqrt(var + 1e-5)[:, None]).to(y.dtype.element_ty), mask=ok)


@case
def nk_stats_by_triples(rows=65536, N=500):
    x, mean, var, y = rand(rows, N, dtype=BF16), empty(rows), empty(rows), empty(rows, N, dtype=BF16)

    def reference():
        v, m = torch.var_mean(x.float() + 0.0, 1, correction=0)
        return m, v, (x.float() - m[:, None]) * torch.rsqrt(v + 1e-5)[:, None]

    return Case(group_stats, (rows // 4,), (x, mean, var, y, N), dict(R=4, BLOCK=512), (mean, var, y), reference, options=dict(num_warps=4),
                bytes=rows * N * 4)


@triton.jit
def dropout_residual(x, residual, out, n, p, seed, BLOCK: tl.constexpr):
    """The mask comes from the seed and is not stored; four numbers for each call of the generator."""
    lane = tl.arange(0, BLOCK)
    base = tl.program_id(0) * BLOCK * 4
    a, b, c, d = tl.rand4x(seed, tl.program_id(0) * BLOCK + lane)
    keep = tl.join(tl.join(a, c), tl.join(b, d)).reshape(BLOCK * 4) > p
    i = base + tl.arange(0, BLOCK * 4)
    v = tl.load(x + i, mask=i < n, other=0.0)
    r = tl.load(residual + i, mask=i < n, other=0.0)
    tl.store(out + i, tl.where(keep, v / (1 - p), 0.0) + r, mask=i < n)


def philox(seed, counters):
    """Four 32-bit words for each counter, by ten rounds, in int64."""
    low = 0xFFFFFFFF
    c = [counters.long() & low, torch.zeros_like(counters).long(), torch.zeros_like(counters).long(), torch.zeros_like(counters).long()]
    key = [seed & low, seed >> 32 & low]

    def product(x, factor):
        high = x * (factor >> 16)
        part = x * (factor & 0xFFFF) + (high & 0xFFFF) * 65536
        return ((high >> 16) + (part >> 32)) & low, part & low
    for _ in range(10):
        (h0, l0), (h1, l1) = product(c[0], 0xD2511F53), product(c[2], 0xCD9E8D57)
        c = [h1 ^ c[1] ^ key[0], l1, h0 ^ c[3] ^ key[1], l0]
        key = [key[0] + 0x9E3779B9 & low, key[1] + 0xBB67AE85 & low]
    return c


@case
def nk_dropout_residual(n=50000000, block=512, p=0.3):
    x, residual, out = rand(n), rand(n), empty(n)

    def reference():
        words = torch.stack(philox(1234, torch.arange(triton.cdiv(n, block * 4) * block, device=DEVICE)), 1).view(-1)[:n]
        signed = torch.where(words >= 2**31, 2**32 - 1 - words, words)
        keep = signed.float() * 4.6566127342e-10 > p
        return (torch.where(keep, x / (1 - p), 0) + residual,)

    return Case(dropout_residual, (triton.cdiv(n, block * 4),), (x, residual, out, n, p, 1234), dict(BLOCK=block), (out,), reference, rtol=1e-3,
                options=dict(num_warps=4), bytes=12 * n)


@triton.jit
def top_p_by_sorting(logits, out, kept, V, p, BLOCK: tl.constexpr):
    """Sorts a row of probabilities, sums them up, and renormalizes those before the sum passes p."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(logits + row * V + c, mask=c < V, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    e = e / tl.sum(e, axis=0)
    ordered = tl.sort(e, descending=True)
    before = tl.cumsum(ordered, axis=0) - ordered
    least = tl.min(tl.where(before < p, ordered, float("inf")), axis=0)
    e = tl.where(e >= least, e, 0.0)
    tl.store(out + row * V + c, e / tl.sum(e, axis=0), mask=c < V)
    tl.store(kept + row, tl.sum((e > 0.0).to(tl.int32), axis=0))


@case
def nk_top_p_by_sorting(rows=2048, V=1000):
    x, out, kept = rand(rows, V, scale=2.0), empty(rows, V), empty(rows, dtype=torch.int32)

    def reference():
        e = torch.softmax(x.double(), 1)
        s = e.sort(1, descending=True)[0]
        least = torch.where(s.cumsum(1) - s < 0.9, s, float("inf")).amin(1, keepdim=True)
        e = torch.where(e >= least, e, 0)
        return e / e.sum(1, keepdim=True), (e > 0).sum(1)

    return Case(top_p_by_sorting, (rows,), (x, out, kept, V, 0.9), dict(BLOCK=1024), (out, kept), reference, rtol=1e-3, options=dict(num_warps=4))


@triton.jit
def discounted(a1, b1, a2, b2):
    """Affine maps, one after the other."""
    return a1 * a2, b1 * a2 + b2


@triton.jit
def advantages(rewards, values, done, out, target, T, gamma, lam, R: tl.constexpr, BT: tl.constexpr):
    """Generalized advantages: a scan of pairs from the end of each row, rows in a block, blocks of time from the last to the first."""
    rows = tl.program_id(0) * R + tl.arange(0, R)
    after = tl.zeros((R,), tl.float32)
    for back in range(0, tl.cdiv(T, BT)):
        t = T - (back + 1) * BT + tl.arange(0, BT)
        at = rows[:, None] * T + t[None, :]
        ok = (t >= 0)[None, :] & (rows >= 0)[:, None]
        live = 1.0 - tl.load(done + at, mask=ok, other=0).to(tl.float32)
        v = tl.load(values + at + rows[:, None], mask=ok, other=0.0)
        following = tl.load(values + at + rows[:, None] + 1, mask=ok, other=0.0)
        delta = tl.load(rewards + at, mask=ok, other=0.0) + gamma * following * live - v
        factor, sums = tl.associative_scan((gamma * lam * live, delta), 1, discounted, reverse=True)
        gain = sums + factor * after[:, None]
        tl.store(out + at, gain, mask=ok)
        tl.store(target + at, gain + v, mask=ok)
        after = tl.sum(tl.where((t == T - (back + 1) * BT)[None, :], gain, 0.0), axis=1)


@case
def nk_advantages_reverse_scan(rows=16384, T=1000):
    rewards, values, done = rand(rows, T), rand(rows, T + 1), (uniform(rows, T) < 0.02).to(torch.uint8)
    out, target = empty(rows, T), empty(rows, T)

    def reference():
        live = 1.0 - done.double()
        delta = rewards + 0.99 * values[:, 1:].double() * live - values[:, :-1]
        gain, total = torch.zeros(rows, T, device=DEVICE, dtype=torch.float64), torch.zeros(rows, device=DEVICE, dtype=torch.float64)
        for t in range(T - 1, -1, -1):
            total = delta[:, t] + 0.99 * 0.95 * live[:, t] * total
            gain[:, t] = total
        return gain, gain + values[:, :-1]

    return Case(advantages, (rows // 4,), (rewards, values, done, out, target, T, 0.99, 0.95), dict(R=4, BT=256), (out, target), reference,
                rtol=1e-4, options=dict(num_warps=4), bytes=rows * T * 17)
