# SPDX-License-Identifier: Apache-2.0
"""Scans of one to three operands with carries, runs, orders, quantiles, moments, histograms, and reductions of tuples."""
import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, randint, registry, tensor, uniform

CASES, case = registry()
F16, BF16, F32, F64 = torch.float16, torch.bfloat16, torch.float32, torch.float64
I8, U8, I16, I32, I64 = torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64


@triton.jit
def add_within_segments(flag_a, sum_a, flag_b, sum_b):
    return flag_a | flag_b, tl.where(flag_b != 0, sum_b, sum_a + sum_b)


@triton.jit
def segmented_cumsum(x, starts, y, T, BLOCK: tl.constexpr):
    """Sums along a row that begin anew where a segment starts; blocks hand their last sum on."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    carry = 0.0
    for begin in range(0, T, BLOCK):
        t = begin + i
        v = tl.load(x + row * T + t, mask=t < T, other=0.0)
        flag = tl.load(starts + row * T + t, mask=t < T, other=0).to(tl.int32)
        seen, total = tl.associative_scan((flag, v), 0, add_within_segments)
        total = tl.where(seen != 0, total, total + carry)
        tl.store(y + row * T + t, total, mask=t < T)
        carry = tl.sum(tl.where(i == BLOCK - 1, total, 0.0), 0)


@case
def rl_segmented_cumsum(R=2003, T=9001, BLOCK=1024):
    x, starts, y = rand(R, T), (randint(0, 50, R, T) == 0).to(U8), empty(R, T)

    def reference():
        sums, at = x.double().cumsum(1), torch.arange(T, device=DEVICE)
        first = torch.where(starts != 0, at, -1).cummax(1)[0]
        before = torch.where(first > 0, sums.gather(1, (first - 1).clamp(min=0)), 0.0)
        return (sums - before,)

    return Case(segmented_cumsum, (R,), (x, starts, y, T), dict(BLOCK=BLOCK), (y,), reference, rtol=1e-4, options=dict(num_warps=4), bytes=9 * R * T)


@triton.jit
def merge_weighted(top_a, sum_a, mean_a, top_b, sum_b, mean_b):
    top = tl.maximum(top_a, top_b)
    a, b = tl.exp(top_a - top), tl.exp(top_b - top)
    return top, sum_a * a + sum_b * b, mean_a * a + mean_b * b


@triton.jit
def prefix_softmax(k, v, y, T, C, BT: tl.constexpr, BC: tl.constexpr):
    """Means of v over all earlier steps weighted by exp(k), for each channel: a scan down columns of maximum, sum and weighted sum."""
    b, c = tl.program_id(1), tl.program_id(0) * BC + tl.arange(0, BC)
    step = tl.arange(0, BT)
    top, total, mean = tl.full((1, BC), -1e30, tl.float32), tl.zeros((1, BC), tl.float32), tl.zeros((1, BC), tl.float32)
    for begin in range(0, T, BT):
        t = begin + step
        at = (b * T + t)[:, None] * C + c[None, :]
        ok = (t < T)[:, None] & (c < C)[None, :]
        key = tl.load(k + at, mask=ok, other=-1e30).to(tl.float32)
        value = tl.load(v + at, mask=ok, other=0.0).to(tl.float32)
        tops, totals, means = tl.associative_scan((key, ok.to(tl.float32), value), 0, merge_weighted)
        tops, totals, means = merge_weighted(top, total, mean, tops, totals, means)
        tl.store(y + at, means / totals, mask=ok)
        last = (step == BT - 1)[:, None]
        top = tl.sum(tl.where(last, tops, 0.0), 0, keep_dims=True)
        total = tl.sum(tl.where(last, totals, 0.0), 0, keep_dims=True)
        mean = tl.sum(tl.where(last, means, 0.0), 0, keep_dims=True)


@case
def rl_prefix_softmax(B=12, T=1503, C=1000, BT=64):
    k, v, y = rand(B, T, C, dtype=BF16, scale=3.0), rand(B, T, C, dtype=BF16), empty(B, T, C)

    def reference():
        weights = torch.exp(k.double())
        return ((weights * v.double()).cumsum(1) / weights.cumsum(1),)

    return Case(prefix_softmax, (triton.cdiv(C, 32), B), (k, v, y, T, C), dict(BT=BT, BC=32), (y,), reference, rtol=1e-3,
                options=dict(num_warps=4), bytes=8 * B * T * C)


@triton.jit
def leftmost_least(value_a, place_a, value_b, place_b):
    from_b = (value_b < value_a) | ((value_b == value_a) & (place_b < place_a))
    return tl.where(from_b, value_b, value_a), tl.where(from_b, place_b, place_a)


@triton.jit
def suffix_minimum(x, values, places, R, N, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """For each element the least of those from it to the row's end, and where that lies first: scans that run backwards."""
    r, i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None], tl.arange(0, BLOCK)[None, :]
    ok = (r < R) & (i < N)
    v = tl.load(x + r * N + i, mask=ok, other=float("inf")).to(tl.float32)
    least, place = tl.associative_scan((v, tl.broadcast_to(i, (ROWS, BLOCK))), 1, leftmost_least, reverse=True)
    tl.store(values + r * N + i, least.to(tl.float16), mask=ok)
    tl.store(places + r * N + i, place.to(tl.int16), mask=ok)


@case
def rl_suffix_minimum(R=60001, N=300):
    x, values, places = (randint(-500, 500, R, N).to(F16) / 8), empty(R, N, dtype=F16), empty(R, N, dtype=I16)

    def reference():
        key = (x.float() * 8).long() * 1024 + torch.arange(N, device=DEVICE)
        least = key.flip(1).cummin(1)[0].flip(1)
        return (least >> 10).float() / 8, least & 1023

    return Case(suffix_minimum, (triton.cdiv(R, 4),), (x, values, places, R, N), dict(ROWS=4, BLOCK=512), (values, places), reference, rtol=1e-9,
                options=dict(num_warps=4), bytes=6 * R * N)


@triton.jit
def stick_breaking(logits, weights, rest, R, N, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Weights of a broken stick: each takes its share of what the ones before it leave."""
    r, i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None], tl.arange(0, BLOCK)[None, :]
    ok = (r < R) & (i < N)
    share = tl.sigmoid(tl.load(logits + r * N + i, mask=ok, other=-1e4).to(tl.float32) - 4.0)
    left = tl.cumprod(1.0 - share, axis=1)
    tl.store(weights + r * N + i, share * left / (1.0 - share), mask=ok)
    whole = tl.sum(tl.where(i == BLOCK - 1, left, 0.0), 1)
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    tl.store(rest + rows, whole, mask=rows < R)


@case
def rl_stick_breaking(R=200003, N=96):
    logits, weights, rest = rand(R, N, dtype=BF16), empty(R, N), empty(R)

    def reference():
        share = torch.sigmoid(logits.double() - 4)
        left = (1 - share).cumprod(1)
        return share * left / (1 - share), left[:, -1]

    return Case(stick_breaking, (triton.cdiv(R, 16),), (logits, weights, rest, R, N), dict(ROWS=16, BLOCK=128), (weights, rest), reference,
                rtol=1e-3, options=dict(num_warps=4), bytes=6 * R * N)


@triton.jit
def greater(a, b):
    return tl.maximum(a, b)


@triton.jit
def run_lengths(x, values, lengths, counts, N, BLOCK: tl.constexpr):
    """Run-length coding of a row of bytes: values and lengths of its runs, zeros behind them, and how many runs there are."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    ok = i < N
    v = tl.load(x + row * N + i, mask=ok, other=0)
    before = tl.load(x + row * N + i - 1, mask=ok & (i > 0), other=0)
    after = tl.load(x + row * N + i + 1, mask=i + 1 < N, other=0)
    begins = ok & ((i == 0) | (v != before))
    ends = ok & ((i == N - 1) | (v != after))
    run = tl.cumsum(begins.to(tl.int32), 0) - 1
    first = tl.associative_scan(tl.where(begins, i, 0), 0, greater)
    count = tl.sum(begins.to(tl.int32), 0)
    tl.store(values + row * N + run, v, mask=ends)
    tl.store(lengths + row * N + run, (i - first + 1).to(tl.int16), mask=ends)
    tl.store(values + row * N + i, 0, mask=ok & (i >= count))
    tl.store(lengths + row * N + i, 0, mask=ok & (i >= count))
    tl.store(counts + row, count)


@case
def rl_run_lengths(R=30011, N=1001, BLOCK=1024):
    x = (randint(0, 12, R, N) // 9).cumsum(1).remainder(5).to(U8)
    values, lengths, counts = empty(R, N, dtype=U8), empty(R, N, dtype=I16), empty(R, dtype=I32)

    def reference():
        begins = torch.nn.functional.pad((x[:, 1:] != x[:, :-1]).long(), (1, 0), value=1)
        run = begins.cumsum(1) - 1
        sizes = torch.zeros(R, N, device=DEVICE, dtype=I64).scatter_add_(1, run, torch.ones_like(run))
        return torch.zeros(R, N, device=DEVICE, dtype=I64).scatter_(1, run, x.long()), sizes, begins.sum(1)

    return Case(run_lengths, (R,), (x, values, lengths, counts, N), dict(BLOCK=BLOCK), (values, lengths, counts), reference, rtol=1e-9,
                options=dict(num_warps=4), bytes=4 * R * N)


@triton.jit
def row_quantiles(x, q, out, R, N, ROWS: tl.constexpr, BLOCK: tl.constexpr, Q: tl.constexpr):
    """Quantiles of rows with interpolation: rows are sorted in registers."""
    rows, i = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, BLOCK)[None, :]
    v = tl.load(x + rows[:, None] * N + i, mask=(rows < R)[:, None] & (i < N), other=float("inf"))
    v = tl.sort(v, dim=1)
    for k in tl.static_range(Q):
        place = tl.load(q + k) * (N - 1)
        low = tl.floor(place)
        at = low.to(tl.int32)
        below = tl.sum(tl.where(i == at, v, 0.0), 1)
        above = tl.sum(tl.where(i == tl.minimum(at + 1, N - 1), v, 0.0), 1)
        tl.store(out + rows * Q + k, below + (above - below) * (place - low), mask=rows < R)


@case
def rl_row_quantiles(R=20003, N=500):
    x, q, out = rand(R, N), tensor([0.05, 0.25, 0.5, 0.75, 0.95], F32), empty(R, 5)
    return Case(row_quantiles, (triton.cdiv(R, 4),), (x, q, out, R, N), dict(ROWS=4, BLOCK=512, Q=5), (out,),
                lambda: (torch.quantile(x, q, dim=1).T,), rtol=1e-4, options=dict(num_warps=4), bytes=4 * R * N)


@triton.jit
def keep_winners(x, y, R, N, K: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """The K largest elements of each row and their equals stay, the others become zero."""
    r, i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None], tl.arange(0, BLOCK)[None, :]
    ok = (r < R) & (i < N)
    v = tl.load(x + r * N + i, mask=ok, other=float("-inf"))
    least = tl.min(tl.topk(v, K, dim=1), 1)
    tl.store(y + r * N + i, tl.where(v >= least[:, None], v, 0.0), mask=ok)


@case
def rl_keep_winners(R=12007, N=1000, K=64):
    x, y = rand(R, N, dtype=F16), empty(R, N, dtype=F16)

    def reference():
        least = x.float().topk(K, 1)[0][:, -1:]
        return (torch.where(x.float() >= least, x.float(), 0.0),)

    return Case(keep_winners, (triton.cdiv(R, 2),), (x, y, R, N), dict(K=K, ROWS=2, BLOCK=1024), (y,), reference, rtol=1e-9,
                options=dict(num_warps=8), bytes=4 * R * N)


@triton.jit
def otsu_threshold(x, thresholds, spread, PIXELS: tl.constexpr, BLOCK: tl.constexpr):
    """Otsu's threshold of each image: a histogram, its running sums, and the split that sets both parts furthest apart."""
    image = tl.program_id(0).to(tl.int64)
    counts = tl.zeros((256,), tl.int32)
    for begin in range(0, PIXELS, BLOCK):
        i = begin + tl.arange(0, BLOCK)
        v = tl.load(x + image * PIXELS + i, mask=i < PIXELS, other=0).to(tl.int32)
        counts += tl.histogram(v, 256, mask=i < PIXELS)
    level = tl.arange(0, 256)
    below = tl.cumsum(counts, 0)
    weight = tl.cumsum(counts * level, 0)
    total = tl.sum(counts * level, 0)
    n0, n1 = below.to(tl.float32), (PIXELS - below).to(tl.float32)
    apart = tl.fdiv(weight.to(tl.float32), tl.maximum(n0, 1.0)) - tl.fdiv((total - weight).to(tl.float32), tl.maximum(n1, 1.0))
    between = n0 * n1 * apart * apart * (1.0 / (PIXELS * PIXELS))
    best, place = tl.max(between, 0, return_indices=True)
    tl.store(thresholds + image, place)
    tl.store(spread + image, best)


@case
def rl_otsu_threshold(images=2011, PIXELS=20000, BLOCK=2048):
    bright = uniform(images, PIXELS) < 0.4
    x = torch.where(bright, rand(images, PIXELS) * 20 + 170, rand(images, PIXELS) * 25 + 80).clamp(0, 255).to(U8)
    thresholds, spread = empty(images, dtype=I32), empty(images)

    def reference():
        slot = x.to(I32) + torch.arange(images, device=DEVICE, dtype=I32)[:, None] * 256
        counts = torch.bincount(slot.view(-1), minlength=images * 256).view(images, 256).double()
        level = torch.arange(256, device=DEVICE, dtype=F64)
        n0, weight = counts.cumsum(1), (counts * level).cumsum(1)
        n1, total = PIXELS - n0, weight[:, -1:]
        between = n0 * n1 * (weight / n0.clamp(min=1) - (total - weight) / n1.clamp(min=1))**2 / PIXELS**2
        return between.argmax(1), between.amax(1)

    return Case(otsu_threshold, (images,), (x, thresholds, spread), dict(PIXELS=PIXELS, BLOCK=BLOCK), (thresholds, spread), reference,
                options=dict(num_warps=4), bytes=images * PIXELS)


@triton.jit
def merge_moments(na, ma, sa, ca, nb, mb, sb, cb):
    n = na + nb
    inverse = 1.0 / tl.maximum(n, 1.0)
    d = mb - ma
    mean = ma + d * nb * inverse
    square = sa + sb + d * d * na * nb * inverse
    cube = ca + cb + d * d * d * na * nb * (na - nb) * inverse * inverse + 3.0 * d * (na * sb - nb * sa) * inverse
    return n, mean, square, cube


@triton.jit
def row_moments(x, means, variances, skews, N, BLOCK: tl.constexpr):
    """Mean, variance and skewness of each row in one pass: lanes keep moments of their own, which a reduction of four merges."""
    row = tl.program_id(0)
    n, mean = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    square, cube = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    zero = tl.zeros((BLOCK,), tl.float32)
    for begin in tl.range(0, N, BLOCK, num_stages=2):
        i = begin + tl.arange(0, BLOCK)
        v = tl.load(x + row * N + i, mask=i < N, other=0.0).to(tl.float32)
        n, mean, square, cube = merge_moments(n, mean, square, cube, (i < N).to(tl.float32), v, zero, zero)
    n, mean, square, cube = tl.reduce((n, mean, square, cube), 0, merge_moments)
    variance = square / n
    tl.store(means + row, mean)
    tl.store(variances + row, variance)
    tl.store(skews + row, cube / n / (variance * tl.sqrt(variance)))


@case
def rl_row_moments(R=4001, N=10003, BLOCK=1024):
    x = (uniform(R, N)**3).to(F16)
    means, variances, skews = empty(R), empty(R), empty(R)

    def reference():
        v = x.double()
        mean = v.mean(1, keepdim=True)
        variance = (v - mean).square().mean(1)
        return mean, variance, (v - mean).pow(3).mean(1) / variance**1.5

    return Case(row_moments, (R,), (x, means, variances, skews, N), dict(BLOCK=BLOCK), (means, variances, skews), reference, rtol=1e-4,
                options=dict(num_warps=8), bytes=2 * R * N)


@triton.jit
def column_logsumexp(x, sums, places, R, C, BR: tl.constexpr, BC: tl.constexpr):
    """For each column the logarithm of the sum of exponentials, and the first row of its largest element."""
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    top, total = tl.full((BC,), float("-inf"), tl.float32), tl.zeros((BC,), tl.float32)
    place = tl.zeros((BC,), tl.int32)
    for begin in tl.range(0, R, BR, num_stages=3):
        r = begin + tl.arange(0, BR)
        v = tl.load(x + r[:, None] * C + c[None, :], mask=(r < R)[:, None] & (c < C)[None, :], other=float("-inf")).to(tl.float32)
        high, at = tl.max(v, 0, return_indices=True, return_indices_tie_break_left=True)
        place = tl.where(high > top, begin + at, place)
        higher = tl.maximum(tl.maximum(top, high), -1e30)
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(v - higher[None, :]), 0)
        top = tl.maximum(top, high)
    tl.store(sums + c, top + tl.log(total), mask=c < C)
    tl.store(places + c, place, mask=c < C)


@case
def rl_column_logsumexp(R=5003, C=8010):
    x, sums, places = rand(R, C, dtype=BF16), empty(C), empty(C, dtype=I32)

    def reference():
        first = torch.where(x == x.amax(0), torch.arange(R, device=DEVICE, dtype=I32)[:, None], R).amin(0)
        return x.float().logsumexp(0), first

    return Case(column_logsumexp, (triton.cdiv(C, 32),), (x, sums, places, R, C), dict(BR=64, BC=32), (sums, places), reference, rtol=1e-4,
                options=dict(num_warps=4), bytes=2 * R * C)


@triton.jit
def compact_rows(x, limit, values, places, counts, N, BLOCK: tl.constexpr):
    """The elements of a row above a limit, packed to its front in order, and where they stood; -1 fills up."""
    row = tl.program_id(0)
    count = 0
    for begin in range(0, N, BLOCK):
        i = begin + tl.arange(0, BLOCK)
        v = tl.load(x + row * N + i, mask=i < N, other=float("-inf"))
        keep = v > limit
        to = count + tl.cumsum(keep.to(tl.int32), 0) - 1
        tl.store(values + row * N + to, v, mask=keep)
        tl.store(places + row * N + to, i.to(tl.int64), mask=keep)
        count += tl.sum(keep.to(tl.int32), 0)
    for begin in range(count, N, BLOCK):
        i = begin + tl.arange(0, BLOCK)
        tl.store(values + row * N + i, -1.0, mask=i < N)
        tl.store(places + row * N + i, -1, mask=i < N)
    tl.store(counts + row, count)


@case
def rl_compact_rows(R=4007, N=5001, BLOCK=1024):
    x, values, places, counts = rand(R, N), empty(R, N), empty(R, N, dtype=I64), empty(R, dtype=I32)

    def reference():
        keep = x > 0.25
        order = torch.argsort((~keep).to(U8), dim=1, stable=True)
        count = keep.sum(1)
        live = torch.arange(N, device=DEVICE) < count[:, None]
        return torch.where(live, x.gather(1, order), -1.0), torch.where(live, order, -1), count

    return Case(compact_rows, (R,), (x, 0.25, values, places, counts, N), dict(BLOCK=BLOCK), (values, places, counts), reference, rtol=1e-9,
                options=dict(num_warps=4), bytes=16 * R * N)


@triton.jit
def reverse_cumsum(x, y, T, C, BT: tl.constexpr, BC: tl.constexpr):
    """Sums from each step to the last one along the middle dimension of three, in double precision: blocks are taken from the end."""
    b, c = tl.program_id(1), tl.program_id(0) * BC + tl.arange(0, BC)
    carry = tl.zeros((BC,), tl.float64)
    blocks = tl.cdiv(T, BT)
    for k in range(0, blocks):
        t = (blocks - 1 - k) * BT + tl.arange(0, BT)
        at, ok = (b * T + t)[:, None] * C + c[None, :], (t < T)[:, None] & (c < C)[None, :]
        v = tl.load(x + at, mask=ok, other=0.0)
        tl.store(y + at, tl.cumsum(v, 0, reverse=True) + carry[None, :], mask=ok)
        carry += tl.sum(v, 0)


@case
def rl_reverse_cumsum_f64(B=10, T=3001, C=500):
    x, y = rand(B, T, C, dtype=F64), empty(B, T, C, dtype=F64)
    return Case(reverse_cumsum, (triton.cdiv(C, 16), B), (x, y, T, C), dict(BT=128, BC=16), (y,), lambda: (x.flip(1).cumsum(1).flip(1),),
                rtol=1e-9, options=dict(num_warps=4), bytes=16 * B * T * C)


@triton.jit
def bracket_depths(x, begins, depths, deepest, balanced, BLOCK: tl.constexpr):
    """Depths of brackets along strings of many lengths, their greatest, and whether every bracket has its partner."""
    s = tl.program_id(0)
    first, last = tl.load(begins + s), tl.load(begins + s + 1)
    i = tl.arange(0, BLOCK)
    depth, least, most = 0, 0, 0
    for at in range(first, last, BLOCK):
        ok = at + i < last
        c = tl.load(x + at + i, mask=ok, other=0)
        d = depth + tl.cumsum((c == 40).to(tl.int32) - (c == 41).to(tl.int32), 0)
        tl.store(depths + at + i, d.to(tl.int16), mask=ok)
        least = tl.minimum(least, tl.min(d, 0))
        most = tl.maximum(most, tl.max(d, 0))
        depth += tl.sum((c == 40).to(tl.int32) - (c == 41).to(tl.int32), 0)
    tl.store(deepest + s, most)
    tl.store(balanced + s, (least == 0) & (depth == 0))


@case
def rl_bracket_depths(strings=20011, longest=2500):
    lengths = torch.arange(strings) * 7919 % longest + 1
    begins = torch.cat((torch.zeros(1, dtype=I64), lengths.cumsum(0)))
    total = int(begins[-1])
    owner = torch.repeat_interleave(torch.arange(strings), lengths)
    inside = torch.arange(total) - begins[owner]
    even = torch.where(inside % 2 == 0, 40, 41).to(DEVICE)
    x = torch.where((owner % 3 == 0).to(DEVICE), even, randint(40, 43, total)).to(U8)
    owner, starts = owner.to(DEVICE), begins.to(DEVICE)
    depths, deepest, balanced = empty(total, dtype=I16), empty(strings, dtype=I32), empty(strings, dtype=torch.bool)

    def reference():
        sums = torch.nn.functional.pad(((x == 40).to(I32) - (x == 41).to(I32)).cumsum(0, dtype=I32), (1, 0))
        d = sums[1:] - sums[starts[owner]]
        most = torch.zeros(strings, device=DEVICE, dtype=I32).scatter_reduce_(0, owner, d, "amax")
        least = torch.zeros(strings, device=DEVICE, dtype=I32).scatter_reduce_(0, owner, d, "amin")
        return d, most, (least == 0) & (d[starts[1:] - 1] == 0)

    return Case(bracket_depths, (strings,), (x, starts.to(I32), depths, deepest, balanced), dict(BLOCK=512), (depths, deepest, balanced),
                reference, rtol=1e-9, options=dict(num_warps=4), bytes=3 * total)


@triton.jit
def exclusive_or(a, b):
    return a ^ b


@triton.jit
def quoted_fields(x, fields, quoted, N, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Commas outside of quotes in each record, and for every byte whether it stands in quotes: a scan of exclusive ors."""
    rows, i = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, BLOCK)[None, :]
    ok = (i < N) & (rows >= 0)[:, None]
    c = tl.load(x + rows[:, None] * N + i, mask=ok, other=0)
    inside = tl.associative_scan((c == 34).to(tl.int32), 1, exclusive_or)
    tl.store(quoted + rows[:, None] * N + i, inside.to(tl.int8), mask=ok)
    tl.store(fields + rows, 1 + tl.sum(((c == 44) & (inside == 0)).to(tl.int32), 1))


@case
def rl_quoted_fields(R=100000, N=233):
    letters = tensor([34, 44, 97, 98, 44, 99, 100, 32], U8)
    x = letters[randint(0, 8, R, N).long()]
    fields, quoted = empty(R, dtype=I32), empty(R, N, dtype=I8)

    def reference():
        inside = (x == 34).to(I32).cumsum(1) & 1
        return 1 + ((x == 44) & (inside == 0)).sum(1), inside

    return Case(quoted_fields, (R // 8,), (x, fields, quoted, N), dict(ROWS=8, BLOCK=256), (fields, quoted), reference, rtol=1e-9,
                options=dict(num_warps=2), bytes=2 * R * N)


@triton.jit
def distinct_counts(x, sorted_rows, counts, modes, N, BLOCK: tl.constexpr):
    """Rows of shorts sorted downwards, how many values each has, and the size of its most frequent one."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * N + i, mask=i < N, other=-32768)
    v = tl.sort(v, descending=True)
    before = tl.gather(v, tl.maximum(i - 1, 0), axis=0)
    begins = (i < N) & ((i == 0) | (v != before))
    first = tl.associative_scan(tl.where(begins, i, 0), 0, greater)
    tl.store(sorted_rows + row * N + i, v, mask=i < N)
    tl.store(counts + row, tl.sum(begins.to(tl.int32), 0))
    tl.store(modes + row, tl.max(tl.where(i < N, i - first + 1, 0), 0))


@case
def rl_distinct_counts(R=8000, N=900, BLOCK=1024):
    x = randint(-400, 400, R, N, dtype=I16)
    sorted_rows, counts, modes = empty(R, N, dtype=I16), empty(R, dtype=I32), empty(R, dtype=I32)

    def reference():
        slot = x.to(I64) + 400
        seen = torch.zeros(R, 800, device=DEVICE, dtype=I32).scatter_add_(1, slot, torch.ones_like(slot, dtype=I32))
        return x.sort(1, descending=True)[0], (seen > 0).sum(1), seen.amax(1)

    return Case(distinct_counts, (R,), (x, sorted_rows, counts, modes, N), dict(BLOCK=BLOCK), (sorted_rows, counts, modes), reference, rtol=1e-9,
                options=dict(num_warps=4), bytes=4 * R * N)
