# SPDX-License-Identifier: Apache-2.0
"""Tables, bytes, bits, sorting and random numbers."""
import math

import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, randint, registry, tensor, uniform, zeros

CASES, case = registry()


@triton.jit
def mix32(h):
    h = (h ^ (h >> 16)) * 0x85EBCA6B
    h = (h ^ (h >> 13)) * 0xC2B2AE35
    return h ^ (h >> 16)


@triton.jit
def bloom_query(keys, bits, found, n, LOG: tl.constexpr, HASHES: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    h = mix32(tl.load(keys + i, i < n, 0).to(tl.uint32, bitcast=True))
    step = mix32(h) | 1
    all_set = tl.full((BLOCK,), 1, tl.uint32)
    for _ in tl.static_range(HASHES):
        bit = h & ((1 << LOG) - 1)
        word = tl.load(bits + (bit >> 5)).to(tl.uint32, bitcast=True)
        all_set &= word >> (bit & 31)
        h += step
    tl.store(found + i, all_set.to(tl.int8), i < n)


@case
def sc_bloom_query(n=8000003, log=26):
    keys, found = randint(-2**31, 2**31, n), empty(n, dtype=torch.int8)
    bits = randint(-2**31, 2**31, 1 << log - 5) | randint(-2**31, 2**31, 1 << log - 5)

    def reference():
        low = 2**32 - 1

        def mix(h):
            for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
                h = h ^ h >> shift
                h = ((h * (factor >> 16) & low) * 65536 + h * (factor & 65535)) & low
            return h ^ h >> 16
        h = mix(keys.long() & low)
        step, all_set = mix(h) | 1, torch.ones_like(h)
        for _ in range(4):
            bit = h & (1 << log) - 1
            all_set &= bits[bit >> 5].long() >> (bit & 31)
            h = h + step & low
        return (all_set & 1,)

    return Case(bloom_query, (triton.cdiv(n, 512),), (keys, bits, found, n), dict(LOG=log, HASHES=4, BLOCK=512), (found,), reference, rtol=1e-6,
                options=dict(num_warps=4), bytes=5 * n)


@triton.jit
def lookup_join(keys, table, payload, out, n, size, ROUNDS: tl.constexpr, BLOCK: tl.constexpr):
    """Payloads of keys by binary search in a sorted table, -1 where there is none."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    key = tl.load(keys + i, mask=i < n, other=-1)
    low = tl.zeros((BLOCK,), tl.int32)
    high = tl.zeros((BLOCK,), tl.int32) + size
    for _ in range(ROUNDS):
        mid = (low + high) >> 1
        go_right = (low < high) & (tl.load(table + mid, mask=low < high, other=0) < key)
        high = tl.where(go_right | (low >= high), high, mid)
        low = tl.where(go_right, mid + 1, low)
    hit = (low < size) & (tl.load(table + low, mask=low < size, other=-1) == key)
    tl.store(out + i, tl.load(payload + low, mask=hit, other=-1.0), mask=i < n)


@case
def sc_lookup_join(n=6000001, size=1000003):
    table, payload = torch.arange(size, device=DEVICE) * 3 + 1, rand(size)
    keys, out = randint(0, 3 * size, n, dtype=torch.int64), empty(n)

    def reference():
        at = torch.searchsorted(table, keys).clamp(max=size - 1)
        return (torch.where(table[at] == keys, payload[at], -1),)

    return Case(lookup_join, (triton.cdiv(n, 256),), (keys, table, payload, out, n, size), dict(ROUNDS=size.bit_length(), BLOCK=256), (out,),
                reference, rtol=1e-6, options=dict(num_warps=4), bytes=12 * n)


@triton.jit
def group_by(group, amount, price, count, total, largest, n, BLOCK: tl.constexpr):
    """select count(*), sum(amount * price), max(price) group by group where amount > 0."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(group + i, mask=i < n, other=0)
    a = tl.load(amount + i, mask=i < n, other=0)
    p = tl.load(price + i, mask=i < n, other=0.0)
    chosen = (i < n) & (a > 0)
    tl.atomic_add(count + g, 1, mask=chosen, sem="relaxed")
    tl.atomic_add(total + g, a.to(tl.float64) * p.to(tl.float64), mask=chosen, sem="relaxed")
    tl.atomic_max(largest + g, p, mask=chosen, sem="relaxed")


@case
def sc_group_by(n=4000007, groups=70000):
    group, amount, price = randint(0, groups, n), randint(-10, 90, n, dtype=torch.int16), uniform(n, high=100.0)
    count, total, largest = zeros(groups, dtype=torch.int32), zeros(groups, dtype=torch.float64), zeros(groups)

    def reference():
        g, ok = group.long(), amount > 0
        price_of = torch.where(ok, price, 0)
        return (zeros(groups, dtype=torch.int32).index_add_(0, g, ok.int()),
                zeros(groups, dtype=torch.float64).index_add_(0, g, amount.double() * price_of), zeros(groups).scatter_reduce_(0, g, price_of, "amax"))

    return Case(group_by, (triton.cdiv(n, 1024),), (group, amount, price, count, total, largest, n), dict(BLOCK=1024), (count, total, largest),
                reference, rtol=1e-6, accumulate=True, options=dict(num_warps=8), bytes=10 * n)


@triton.jit
def sort_rows(x, y, N, B: tl.constexpr, DESCENDING: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * N + i, i < N, float("-inf") if DESCENDING else float("inf"))
    tl.store(y + row * N + i, tl.sort(v, descending=DESCENDING), i < N)


@case
def sc_sort_rows(rows=8192, N=500):
    x, y = rand(rows, N), empty(rows, N)
    return Case(sort_rows, (rows,), (x, y, N), dict(B=512, DESCENDING=True), (y,), lambda: (x.sort(1, descending=True)[0],), rtol=1e-7,
                options=dict(num_warps=4), bytes=8 * rows * N)


@triton.jit
def beam_step(scores, logits, out, token, V, BEAMS: tl.constexpr, BV: tl.constexpr):
    """The best BEAMS of a beam's continuations: value and token in one integer, a running top-k of blocks."""
    row = tl.program_id(0)
    past = tl.load(scores + row)
    kept = tl.full((BEAMS,), -2**63 + 1, tl.int64)
    for v0 in range(0, V, BV):
        v = v0 + tl.arange(0, BV)
        s = past + tl.load(logits + row.to(tl.int64) * V + v, v < V, float("-inf")).to(tl.float32)
        bits = s.to(tl.int32, bitcast=True)
        bits = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
        packed = (bits.to(tl.int64) << 32) | v.to(tl.int64)
        best = tl.topk(packed, BEAMS)
        kept = tl.topk(tl.reshape(tl.join(kept, best), (2 * BEAMS,)), BEAMS)
    bits = (kept >> 32).to(tl.int32)
    bits = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    o = tl.arange(0, BEAMS)
    tl.store(out + row * BEAMS + o, bits.to(tl.float32, bitcast=True))
    tl.store(token + row * BEAMS + o, kept.to(tl.int32))


@case
def sc_beam_step(rows=512, V=32003):
    scores, logits = rand(rows), rand(rows, V)
    out, token = empty(rows, 8), empty(rows, 8, dtype=torch.int32)
    return Case(beam_step, (rows,), (scores, logits, out, token, V), dict(BEAMS=8, BV=1024), (out, token),
                lambda: tuple((scores[:, None] + logits).topk(8, 1)), options=dict(num_warps=4), bytes=4 * rows * V)


@triton.jit
def run_starts(values, starts, after, runs, n, BLOCK: tl.constexpr):
    """Where runs of equal values begin in each block, packed to its front, then -1; and how many begin after each place, itself included."""
    pid = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    i = pid * BLOCK + o
    v = tl.load(values + i, i < n, -1)
    before = tl.load(values + i - 1, (o > 0) & (i < n), -1)
    head = (i < n) & ((v != before) | (o == 0))
    slot = tl.cumsum(head.to(tl.int32), 0) - 1
    following = tl.cumsum(tl.where(head, 1, 0), 0, reverse=True)
    many = tl.max(following, 0)
    tl.store(starts + i, tl.full((BLOCK,), -1, tl.int32), (o >= many) & (i < n))
    tl.store(starts + pid * BLOCK + slot, o, head)
    tl.store(after + i, tl.sum(head.to(tl.int32), 0) - slot, i < n)
    tl.store(runs + pid, many)


@case
def sc_run_starts(n=16000000, block=2048):
    values = (torch.arange(n, device=DEVICE) // 5 + randint(0, 2, n)).to(torch.int32)
    blocks = triton.cdiv(n, block)
    starts, after, runs = empty(n, dtype=torch.int32), empty(n, dtype=torch.int32), empty(blocks, dtype=torch.int32)

    def reference():
        o = torch.arange(blocks * block, device=DEVICE).view(blocks, block) % block
        v = torch.nn.functional.pad(values, (0, blocks * block - n), value=-1).view(blocks, block)
        head = torch.cat((torch.ones_like(v[:, :1], dtype=torch.bool), v[:, 1:] != v[:, :-1]), 1)
        head.view(-1)[n:] = False
        first = torch.where(head, o, block).sort(1)[0]
        first = torch.where(first == block, -1, first)
        many = head.sum(1)
        return first.view(-1)[:n], (many[:, None] - head.cumsum(1) + 1).view(-1)[:n], many

    return Case(run_starts, (blocks,), (values, starts, after, runs, n), dict(BLOCK=block), (starts, after, runs), reference, rtol=1e-6,
                options=dict(num_warps=8), bytes=12 * n)


@triton.jit
def base64(raw, text, groups, BLOCK: tl.constexpr):
    """Three bytes to four letters."""
    g = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = g < groups
    a = tl.load(raw + 3 * g, ok, 0).to(tl.int32)
    b = tl.load(raw + 3 * g + 1, ok, 0).to(tl.int32)
    c = tl.load(raw + 3 * g + 2, ok, 0).to(tl.int32)
    bits = (a << 16) | (b << 8) | c
    six = (bits[:, None] >> (18 - 6 * tl.arange(0, 4))[None, :]) & 63
    letter = tl.where(six < 26, six + 65, tl.where(six < 52, six + 71, tl.where(six < 62, six - 4, tl.where(six == 62, 43, 47))))
    tl.store(text + 4 * g[:, None] + tl.arange(0, 4)[None, :], letter.to(tl.uint8), ok[:, None])


@case
def sc_base64(groups=20000003):
    raw, text = randint(0, 256, 3 * groups, dtype=torch.uint8), empty(4 * groups, dtype=torch.uint8)

    def reference():
        letters = tensor(list(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"), torch.uint8)
        a, b, c = raw.view(-1, 3).int().unbind(1)
        return (letters[torch.stack((a >> 2, (a & 3) << 4 | b >> 4, (b & 15) << 2 | c >> 6, c & 63), 1).view(-1)],)

    return Case(base64, (triton.cdiv(groups, 512),), (raw, text, groups), dict(BLOCK=512), (text,), reference, rtol=1e-7,
                options=dict(num_warps=4), bytes=7 * groups)


@triton.jit
def unpack_bits(packed, scale, zero, out, words, BITS: tl.constexpr, BLOCK: tl.constexpr):
    """A word holds 32 // BITS small numbers, a scale and a zero for 16 words."""
    PER: tl.constexpr = 32 // BITS
    w = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.arange(0, 16)
    ok = (w < words)[:, None] & (j < PER)[None, :]
    q = tl.load(packed + w, w < words, 0)[:, None] >> (BITS * j)[None, :] & ((1 << BITS) - 1)
    s = tl.load(scale + w // 16, w < words, 0.0).to(tl.float32)
    z = tl.load(zero + w // 16, w < words, 0).to(tl.int32)
    tl.store(out + w.to(tl.int64)[:, None] * PER + j[None, :], ((q - z[:, None]) * s[:, None]).to(tl.float16), ok)


@case
def sc_unpack_3_bits(words=10000000):
    packed, scale, zero = randint(-2**31, 2**31, words), uniform(words // 16, dtype=torch.float16), randint(0, 8, words // 16, dtype=torch.uint8)
    out = empty(words, 10, dtype=torch.float16)

    def reference():
        q = packed[:, None] >> torch.arange(0, 30, 3, device=DEVICE, dtype=torch.int32) & 7
        return ((q.view(-1, 16, 10) - zero.int()[:, None, None]).view(words, 10) * scale.float().repeat_interleave(16)[:, None],)

    return Case(unpack_bits, (triton.cdiv(words, 256),), (packed, scale, zero, out, words), dict(BITS=3, BLOCK=256), (out,), reference,
                rtol=1e-3, options=dict(num_warps=4), bytes=24 * words)


@triton.jit
def monte_carlo_call(spot, strike, sigma, price, rate, years, paths, seed, BLOCK: tl.constexpr):
    """A European call by simulation, an option a program."""
    pid = tl.program_id(0)
    s, k, v = tl.load(spot + pid), tl.load(strike + pid), tl.load(sigma + pid)
    drift = (rate - 0.5 * v * v) * years
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, paths, 2 * BLOCK):
        at = pid * paths + start + tl.arange(0, BLOCK)
        a, b, _, _ = tl.randn4x(seed, at)
        total += tl.maximum(s * tl.exp(drift + v * tl.sqrt(years) * a) - k, 0.0)
        total += tl.maximum(s * tl.exp(drift + v * tl.sqrt(years) * b) - k, 0.0)
    tl.store(price + pid, tl.exp(-rate * years) * tl.sum(total) / paths)


@case
def sc_monte_carlo_call(options=1500, paths=131072):
    spot, strike, sigma, price = uniform(options, low=80, high=120), uniform(options, low=80, high=120), uniform(options, low=0.1, high=0.4), empty(options)

    def reference():
        s, k, v, t, r = spot.double(), strike.double(), sigma.double(), 2.0, 0.03
        d = (torch.log(s / k) + (r + v * v / 2) * t) / (v * math.sqrt(t))
        return (s * torch.special.ndtr(d) - k * math.exp(-r * t) * torch.special.ndtr(d - v * math.sqrt(t)),)

    return Case(monte_carlo_call, (options,), (spot, strike, sigma, price, 0.03, 2.0, paths, 1234), dict(BLOCK=1024), (price,), reference,
                rtol=2e-2, options=dict(num_warps=4))
