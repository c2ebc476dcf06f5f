# SPDX-License-Identifier: Apache-2.0
"""Loops of unknown length, trees, hashes, integers of many words, dynamic programs, networks of comparisons, lists of work."""
import math

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from case import DEVICE, Case, empty, rand, randint, registry, tensor, uniform, zeros

CASES, case = registry()
F16, F32, F64 = torch.float16, torch.float32, torch.float64
I8, U8, I16, I32, I64 = torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64
LOW32 = 0xFFFFFFFF


@triton.jit
def kepler(mean, eccentricity, anomaly, n, BLOCK: tl.constexpr):
    """Solves Kepler's equation by Newton's steps until a whole block has settled, in double precision."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = tl.load(mean + i, mask=i < n, other=0.0)
    e = tl.load(eccentricity + i, mask=i < n, other=0.0)
    x = m + e * tl.sin(m)
    worst, steps = 1.0, 0
    while (worst > 1e-12) & (steps < 30):
        change = (x - e * tl.sin(x) - m) / (1.0 - e * tl.cos(x))
        x -= change
        worst = tl.max(tl.abs(change), 0).to(tl.float32)
        steps += 1
    tl.store(anomaly + i, x, mask=i < n)


@case
def rl_kepler_f64(n=1000003):
    mean, eccentricity, anomaly = uniform(n, low=-3.1, high=3.1).double(), uniform(n, low=0.0, high=0.85).double(), empty(n, dtype=F64)

    def reference():
        x = mean + eccentricity * mean.sin()
        for _ in range(25):
            x = x - (x - eccentricity * x.sin() - mean) / (1 - eccentricity * x.cos())
        return (x,)

    return Case(kepler, (triton.cdiv(n, 128),), (mean, eccentricity, anomaly, n), dict(BLOCK=128), (anomaly,), reference, rtol=1e-9,
                options=dict(num_warps=4), bytes=24 * n)


@triton.jit
def count_below(table, queries, places, size, n, BLOCK: tl.constexpr):
    """How many elements of a sorted table are less than each query, by halving until no lane has a range left."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    q = tl.load(queries + i, mask=i < n, other=0)
    low, high = tl.zeros((BLOCK,), tl.int32), tl.zeros((BLOCK,), tl.int32) + size
    while tl.max(high - low, 0) > 0:
        middle = (low + high) >> 1
        v = tl.load(table + middle, mask=low < high, other=0)
        right = (v < q) & (low < high)
        high = tl.where(right, high, middle)
        low = tl.where(right, middle + 1, low)
    tl.store(places + i, low, mask=i < n)


@case
def rl_count_below_i64(n=2000003, size=700001):
    table, queries = randint(-2**60, 2**60, size, dtype=I64).sort()[0], randint(-2**60, 2**60, n, dtype=I64)
    places = empty(n, dtype=I32)
    return Case(count_below, (triton.cdiv(n, 256),), (table, queries, places, size, n), dict(BLOCK=256), (places,),
                lambda: (torch.searchsorted(table, queries),), rtol=1e-9, options=dict(num_warps=2), bytes=12 * n)


@triton.jit
def rotate_left(x, BY: tl.constexpr):
    return (x << BY) | (x >> (64 - BY))


@triton.jit
def hash_records(words, hashes, n, W: tl.constexpr, BLOCK: tl.constexpr):
    """A hash of 64 bits for records of W words, in the manner of xxHash: products, turns and exclusive ors of unsigned numbers."""
    P1: tl.constexpr = 0x9E3779B185EBCA87
    P2: tl.constexpr = 0xC2B2AE3D27D4EB4F
    P3: tl.constexpr = 0x165667B19E3779F9
    P4: tl.constexpr = 0x85EBCA77C2B2AE63
    P5: tl.constexpr = 0x27D4EB2F165667C5
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    h = tl.full((BLOCK,), P5, tl.uint64) + tl.full((BLOCK,), 8 * W, tl.uint64)
    for k in range(W):
        v = tl.load(words + i * W + k, mask=i < n, other=0).to(tl.uint64, bitcast=True)
        h = h ^ (rotate_left(v * P2, 31) * P1)
        h = rotate_left(h, 27) * P1 + P4
    h = (h ^ (h >> 33)) * P2
    h = (h ^ (h >> 29)) * P3
    h = h ^ (h >> 32)
    tl.store(hashes + i, (h >> 11).to(tl.int64), mask=i < n)


@case
def rl_hash_records(n=1000003, W=7):
    words, hashes = randint(-2**62, 2**62, n, W, dtype=I64), empty(n, dtype=I64)

    def reference():
        p1, p2, p3, p4, p5 = (p - 2**64 if p >= 2**63 else p for p in (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
                                                                      0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5))

        def right(x, by):
            return (x >> by) & ((1 << (64 - by)) - 1)

        h = torch.full((n,), p5 + 8 * W, dtype=I64, device=DEVICE)
        for k in range(W):
            v = words[:, k] * p2
            h = h ^ (((v << 31) | right(v, 33)) * p1)
            h = ((h << 27) | right(h, 37)) * p1 + p4
        h = (h ^ right(h, 33)) * p2
        h = (h ^ right(h, 29)) * p3
        return (right(h ^ right(h, 32), 11),)

    return Case(hash_records, (triton.cdiv(n, 512),), (words, hashes, n), dict(W=W, BLOCK=512), (hashes,), reference, rtol=1e-12,
                options=dict(num_warps=4), bytes=8 * n * (W + 1))


def primes(count):
    found = [2]
    while len(found) < count:
        candidate = found[-1] + 1
        while any(candidate % p == 0 for p in found):
            candidate += 1
        found.append(candidate)
    return found


SHA_START = tuple(math.isqrt(p << 64) & LOW32 for p in primes(8))


def cube_root(n):
    root = int(round(n**(1 / 3)))
    while root**3 > n:
        root -= 1
    while (root + 1)**3 <= n:
        root += 1
    return root


SHA_ROUNDS = tuple(cube_root(p << 96) & LOW32 for p in primes(64))


@triton.jit
def turn(x, BY: tl.constexpr):
    return (x >> BY) | (x << (32 - BY))


@triton.jit
def sha256_blocks(words, digests, n, START: tl.constexpr, ROUNDS: tl.constexpr, BLOCK: tl.constexpr):
    """SHA-256 of one padded block for each message: 64 rounds in registers."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    w = ()
    for k in tl.static_range(16):
        w = w + (tl.load(words + k * n + i, mask=i < n, other=0).to(tl.uint32, bitcast=True),)
    a, b, c, d = tl.full((BLOCK,), START[0], tl.uint32), tl.full((BLOCK,), START[1], tl.uint32), tl.full((BLOCK,), START[2], tl.uint32), tl.full((BLOCK,), START[3], tl.uint32)
    e, f, g, h = tl.full((BLOCK,), START[4], tl.uint32), tl.full((BLOCK,), START[5], tl.uint32), tl.full((BLOCK,), START[6], tl.uint32), tl.full((BLOCK,), START[7], tl.uint32)
    for r in tl.static_range(64):
        word = w[0]
        t1 = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + word + tl.full((BLOCK,), ROUNDS[r], tl.uint32)
        t2 = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
        h, g, f, e, d, c, b, a = g, f, e, d + t1, c, b, a, t1 + t2
        new = word + (turn(w[1], 7) ^ turn(w[1], 18) ^ (w[1] >> 3)) + w[9] + (turn(w[14], 17) ^ turn(w[14], 19) ^ (w[14] >> 10))
        w = w[1:] + (new,)
    state = (a, b, c, d, e, f, g, h)
    for k in tl.static_range(8):
        tl.store(digests + k * n + i, (state[k] + tl.full((BLOCK,), START[k], tl.uint32)).to(tl.int32, bitcast=True), mask=i < n)


@case
def rl_sha256_blocks(n=300007):
    words, digests = randint(-2**31, 2**31, 16, n, dtype=I64).to(I32), empty(8, n, dtype=I32)

    def reference():
        def right(x, by):
            return ((x >> by) | (x << (32 - by))) & LOW32

        w = [words[k].long() & LOW32 for k in range(16)]
        for k in range(16, 64):
            x, y = w[k - 15], w[k - 2]
            w.append((w[k - 16] + (right(x, 7) ^ right(x, 18) ^ (x >> 3)) + w[k - 7] + (right(y, 17) ^ right(y, 19) ^ (y >> 10))) & LOW32)
        a, b, c, d, e, f, g, h = (torch.full((n,), s, dtype=I64, device=DEVICE) for s in SHA_START)
        for k in range(64):
            t1 = h + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) + ((e & f) ^ (~e & LOW32 & g)) + w[k] + SHA_ROUNDS[k]
            t2 = (right(a, 2) ^ right(a, 13) ^ right(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
            h, g, f, e, d, c, b, a = g, f, e, (d + t1) & LOW32, c, b, a, (t1 + t2) & LOW32
        return (torch.stack([(x + s) & LOW32 for x, s in zip((a, b, c, d, e, f, g, h), SHA_START)]).to(I32),)

    return Case(sha256_blocks, (triton.cdiv(n, 128),), (words, digests, n), dict(START=SHA_START, ROUNDS=SHA_ROUNDS, BLOCK=128), (digests,), reference,
                rtol=1e-12, options=dict(num_warps=4), bytes=96 * n)


@triton.jit
def multiply_256(x, y, z, n, BLOCK: tl.constexpr):
    """Products of integers of 256 bits: words of 32 bits, their low and high halves, and carries from row to row."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    right = ()
    for k in tl.static_range(8):
        right = right + (tl.load(y + k * n + i, mask=i < n, other=0).to(tl.uint32, bitcast=True),)
    sums = ()
    for _ in tl.static_range(8):
        sums = sums + (tl.zeros((BLOCK,), tl.uint32),)
    for j in tl.static_range(8):
        a = tl.load(x + j * n + i, mask=i < n, other=0).to(tl.uint32, bitcast=True)
        carry = tl.zeros((BLOCK,), tl.uint64)
        row = ()
        for k in tl.static_range(8):
            high, low = tl.umulhi(a, right[k]), a * right[k]
            total = low.to(tl.uint64) + sums[k].to(tl.uint64) + carry
            row = row + (total.to(tl.uint32),)
            carry = high.to(tl.uint64) + (total >> 32)
        tl.store(z + j * n + i, row[0].to(tl.int32, bitcast=True), mask=i < n)
        sums = row[1:] + (carry.to(tl.uint32),)
    for k in tl.static_range(8):
        tl.store(z + (8 + k) * n + i, sums[k].to(tl.int32, bitcast=True), mask=i < n)


@case
def rl_multiply_256_bits(n=700001):
    x, y, z = (randint(-2**31, 2**31, rows, n, dtype=I64).to(I32) for rows in (8, 8, 16))

    def reference():
        halves = [torch.stack((t & 0xFFFF, (t >> 16) & 0xFFFF), 1).view(16, n).long() for t in (x, y)]
        digits = torch.zeros(32, n, dtype=I64, device=DEVICE)
        for j in range(16):
            digits[j:j + 16] += halves[0][j] * halves[1]
        carry = torch.zeros(n, dtype=I64, device=DEVICE)
        for k in range(32):
            carry = carry + digits[k]
            digits[k] = carry & 0xFFFF
            carry = carry >> 16
        return ((digits[0::2] | digits[1::2] << 16).to(I32),)

    return Case(multiply_256, (triton.cdiv(n, 256),), (x, y, z, n), dict(BLOCK=256), (z,), reference, rtol=1e-12, options=dict(num_warps=8),
                bytes=128 * n)


ANGLES = tuple(int(round(math.atan(2.0**-k) * 2**29)) for k in range(26))
GAIN = int(round(math.prod(1 / math.sqrt(1 + 4.0**-k) for k in range(26)) * 2**29))


@triton.jit
def cordic(angles, cosines, sines, n, ANGLES: tl.constexpr, GAIN: tl.constexpr, BLOCK: tl.constexpr):
    """Cosines and sines in fixed point: 26 turns by shifts and additions."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    z = tl.load(angles + i, mask=i < n, other=0)
    x, y = tl.full((BLOCK,), GAIN, tl.int32), tl.zeros((BLOCK,), tl.int32)
    for k in tl.static_range(26):
        left = z >= 0
        dx, dy = y >> k, x >> k
        x, y = tl.where(left, x - dx, x + dx), tl.where(left, y + dy, y - dy)
        z = tl.where(left, z - ANGLES[k], z + ANGLES[k])
    tl.store(cosines + i, x, mask=i < n)
    tl.store(sines + i, y, mask=i < n)


@case
def rl_cordic_fixed_point(n=15000001):
    angles = randint(-int(1.5 * 2**29), int(1.5 * 2**29), n)
    cosines, sines = empty(n, dtype=I32), empty(n, dtype=I32)

    def reference():
        radians = angles.double() / 2**29
        return radians.cos() * 2**29, radians.sin() * 2**29

    return Case(cordic, (triton.cdiv(n, 1024),), (angles, cosines, sines, n), dict(ANGLES=ANGLES, GAIN=GAIN, BLOCK=1024), (cosines, sines), reference,
                rtol=1e-6, options=dict(num_warps=8), bytes=12 * n)


@triton.jit
def boosted_trees(x, feature, threshold, child, value, out, n, F, TREES: tl.constexpr, NODES: tl.constexpr, BLOCK: tl.constexpr):
    """Sums of the leaves that samples reach in many trees of different depths: a block walks until none of it is above a leaf."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for tree in range(TREES):
        node = tl.zeros((BLOCK,), tl.int32) + tree * NODES
        f = tl.load(feature + node)
        while tl.max(f, 0) >= 0:
            walking = f >= 0
            v = tl.load(x + i * F + f, mask=walking & (i < n), other=0.0)
            right = (v > tl.load(threshold + node)).to(tl.int32)
            node = tl.where(walking, tl.load(child + node) + right, node)
            f = tl.load(feature + node)
        total += tl.load(value + node)
    tl.store(out + i, total, mask=i < n)


@case
def rl_boosted_trees(n=100003, F=40, TREES=50, depth=8):
    NODES = 2**(depth + 1) - 1
    number = torch.arange(NODES).repeat(TREES, 1)
    leaf = (number >= 2**depth - 1) | ((torch.rand(TREES, NODES) < 0.15) & (number > 0))
    feature = torch.where(leaf, -1, torch.randint(0, F, (TREES, NODES))).to(I32).to(DEVICE)
    child = (2 * number + 1 + torch.arange(TREES)[:, None] * NODES).to(I32).to(DEVICE)
    threshold, value = rand(TREES, NODES, scale=0.7), rand(TREES, NODES)
    x, out = rand(n, F), empty(n)

    def reference():
        total = zeros(n, dtype=F64)
        features, thresholds, children, values = (t.reshape(-1) for t in (feature, threshold, child, value))
        for tree in range(TREES):
            node = torch.full((n,), tree * NODES, device=DEVICE, dtype=I64)
            for _ in range(depth):
                f = features[node].long()
                right = x.gather(1, f.clamp(min=0)[:, None])[:, 0] > thresholds[node]
                node = torch.where(f >= 0, children[node] + right, node)
            total += values[node]
        return (total,)

    return Case(boosted_trees, (triton.cdiv(n, 128),), (x, feature, threshold, child, value, out, n, F), dict(TREES=TREES, NODES=NODES, BLOCK=128),
                (out,), reference, rtol=1e-4, options=dict(num_warps=4))


@triton.jit
def count_bits(x):
    x = x - ((x >> 1) & 0x5555555555555555)
    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F
    return (x * 0x0101010101010101) >> 56


@triton.jit
def common_subsequence(first, second, lengths, pairs, L, M: tl.constexpr, BLOCK: tl.constexpr):
    """The length of the longest common subsequence of letters 0 to 3: a column of the table is one word of 64 bits."""
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = p < pairs
    zero = tl.zeros((BLOCK,), tl.uint64)
    m0, m1, m2, m3 = zero, zero, zero, zero
    for k in range(M):
        c = tl.load(first + k * pairs + p, mask=ok, other=0)
        bit = (zero + 1) << k
        m0 |= tl.where(c == 0, bit, zero)
        m1 |= tl.where(c == 1, bit, zero)
        m2 |= tl.where(c == 2, bit, zero)
        m3 |= tl.where(c == 3, bit, zero)
    v = ~zero
    for k in range(L):
        c = tl.load(second + k * pairs + p, mask=ok, other=0)
        match = tl.where(c < 2, tl.where(c == 0, m0, m1), tl.where(c == 2, m2, m3))
        u = v & match
        v = (v + u) | (v - u)
    unset = ~v & ((zero - 1) >> (64 - M))
    tl.store(lengths + p, count_bits(unset).to(tl.int32), mask=ok)


@case
def rl_common_subsequence(pairs=100003, L=120, M=60):
    first, second, lengths = randint(0, 4, M, pairs, dtype=I8), randint(0, 4, L, pairs, dtype=I8), empty(pairs, dtype=I32)

    def reference():
        table = torch.zeros(M + 1, pairs, device=DEVICE, dtype=I16)
        for j in range(L):
            candidate = table.clone()
            candidate[1:] = torch.maximum(table[1:], table[:-1] + (first == second[j]))
            table = candidate.cummax(0)[0]
        return (table[M],)

    return Case(common_subsequence, (triton.cdiv(pairs, 64),), (first, second, lengths, pairs, L), dict(M=M, BLOCK=64), (lengths,), reference,
                rtol=1e-9, options=dict(num_warps=2), bytes=pairs * (L + M + 4))


@triton.jit
def graph_components(edges, labels, counts, N: tl.constexpr):
    """Components of small graphs: each node takes its neighbours' least label until nothing changes."""
    g = tl.program_id(0)
    i = tl.arange(0, N)
    near = tl.load(edges + (g * N + i[:, None]) * N + i[None, :]) != 0
    label = i
    changed = 1
    while changed > 0:
        other = tl.where(near, tl.broadcast_to(label[None, :], (N, N)), N)
        least = tl.minimum(label, tl.min(other, 1))
        least = tl.minimum(least, tl.gather(least, least, axis=0))
        changed = tl.sum((least != label).to(tl.int32), 0)
        label = least
    tl.store(labels + g * N + i, label)
    tl.store(counts + g, tl.sum((label == i).to(tl.int32), 0))


@case
def rl_graph_components(graphs=20003, N=64):
    half = torch.triu(uniform(graphs, N, N) < 0.025, 1) if DEVICE != "meta" else uniform(graphs, N, N) < 0.025
    edges = (half | half.transpose(1, 2)).to(U8)
    labels, counts = empty(graphs, N, dtype=I32), empty(graphs, dtype=I32)

    def reference():
        reach = (edges.to(F16) + torch.eye(N, device=DEVICE, dtype=F16))
        for _ in range(6):
            reach = ((reach @ reach) > 0).to(F16)
        least = reach.argmax(2)
        return least, (least == torch.arange(N, device=DEVICE)).sum(1)

    return Case(graph_components, (graphs,), (edges, labels, counts), dict(N=N), (labels, counts), reference, rtol=1e-9,
                options=dict(num_warps=4), bytes=graphs * N * N)


@triton.jit
def shortest_paths(weights, paths, N: tl.constexpr):
    """Shortest paths between all nodes of small graphs: a table in registers, whose rows and columns are picked by sums."""
    g = tl.program_id(0)
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    at = (g * N + i) * N + j
    d = tl.load(weights + at)
    for k in range(N):
        row = tl.sum(tl.where(i == k, d, 0), 0, keep_dims=True)
        column = tl.sum(tl.where(j == k, d, 0), 1, keep_dims=True)
        d = tl.minimum(d, column + row)
    tl.store(paths + at, d)


@case
def rl_shortest_paths(graphs=6001, N=64):
    weights = torch.where(randint(0, 8, graphs, N, N) == 0, randint(1, 100, graphs, N, N), 1000000)
    weights, paths = weights * (1 - torch.eye(N, device=DEVICE, dtype=I32)), empty(graphs, N, N, dtype=I32)

    def reference():
        d = weights.clone()
        for k in range(N):
            d = torch.minimum(d, d[:, :, k:k + 1] + d[:, k:k + 1, :])
        return (d,)

    return Case(shortest_paths, (graphs,), (weights, paths), dict(N=N), (paths,), reference, rtol=1e-9, options=dict(num_warps=4),
                bytes=8 * graphs * N * N, flops=2 * graphs * N**3)


@triton.jit
def common_divisors(x, y, out, n, BLOCK: tl.constexpr):
    """Greatest common divisors of numbers of 64 bits by remainders."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b = tl.load(x + i, mask=i < n, other=1), tl.load(y + i, mask=i < n, other=0)
    while tl.max(b, 0) > 0:
        rest = a % tl.where(b == 0, 1, b)
        a, b = tl.where(b == 0, a, b), tl.where(b == 0, 0, rest)
    tl.store(out + i, a, mask=i < n)


@case
def rl_common_divisors_i64(n=300007):
    factor = randint(1, 100000, n, dtype=I64)
    x, y, out = factor * randint(1, 2**40, n, dtype=I64), factor * randint(1, 2**40, n, dtype=I64), empty(n, dtype=I64)
    return Case(common_divisors, (triton.cdiv(n, 64),), (x, y, out, n), dict(BLOCK=64), (out,), lambda: (torch.gcd(x, y),), rtol=1e-9,
                options=dict(num_warps=2), bytes=24 * n)


@triton.jit
def normal_cdf(x):
    return 0.5 * (1.0 + tl.erf(x * 0.7071067811865476))


@triton.jit
def implied_volatility(prices, strikes, times, volatilities, n, BLOCK: tl.constexpr):
    """The volatility behind the price of a call: Newton's steps kept in a bracket, which halves where a step would leave it."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    price = tl.load(prices + i, mask=i < n, other=0.079655674554058)
    strike, time = tl.load(strikes + i, mask=i < n, other=1.0), tl.load(times + i, mask=i < n, other=1.0)
    root, money = tl.sqrt(time), -tl.log(strike)
    low, high = tl.full((BLOCK,), 0.01, tl.float64), tl.full((BLOCK,), 2.0, tl.float64)
    v = tl.full((BLOCK,), 0.3, tl.float64)
    settled, steps = 0, 0
    while (settled < BLOCK) & (steps < 60):
        d1 = (money + 0.5 * v * v * time) / (v * root)
        error = normal_cdf(d1) - strike * normal_cdf(d1 - v * root) - price
        low, high = tl.where(error < 0, v, low), tl.where(error < 0, high, v)
        slope = root * 0.3989422804014327 * tl.exp(-0.5 * d1 * d1)
        new = v - error / tl.maximum(slope, 1e-12)
        new = tl.where((new > low) & (new < high), new, 0.5 * (low + high))
        settled = tl.sum((tl.abs(new - v) < 1e-12).to(tl.int32), 0)
        v = new
        steps += 1
    tl.store(volatilities + i, v, mask=i < n)


@case
def rl_implied_volatility(n=200003):
    strikes, times, true = uniform(n, low=0.8, high=1.25).double(), uniform(n, low=0.3, high=2.0).double(), uniform(n, low=0.1, high=0.8).double()
    d1 = (-strikes.log() + 0.5 * true**2 * times) / (true * times.sqrt())
    prices = torch.special.ndtr(d1) - strikes * torch.special.ndtr(d1 - true * times.sqrt())
    volatilities = empty(n, dtype=F64)
    return Case(implied_volatility, (triton.cdiv(n, 64),), (prices, strikes, times, volatilities, n), dict(BLOCK=64), (volatilities,), lambda: (true,),
                rtol=1e-7, options=dict(num_warps=2))


@triton.jit
def mixed_tasks(kinds, sources, targets, sizes, x, y, count, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr):
    """A list of work of four kinds on pieces of a buffer: copies, reversals, running sums, and normalisation."""
    for task in range(tl.program_id(0), count, PROGRAMS):
        kind, size = tl.load(kinds + task), tl.load(sizes + task)
        source, target = tl.load(sources + task), tl.load(targets + task)
        i = tl.arange(0, BLOCK)
        if kind < 2:
            for at in range(0, size, BLOCK):
                from_ = tl.where(kind == 0, at + i, size - 1 - at - i)
                v = tl.load(x + source + from_, mask=at + i < size)
                tl.store(y + target + at + i, v, mask=at + i < size)
        elif kind == 2:
            carry = 0.0
            for at in range(0, size, BLOCK):
                v = tl.load(x + source + at + i, mask=at + i < size, other=0.0)
                tl.store(y + target + at + i, carry + tl.cumsum(v, 0), mask=at + i < size)
                carry += tl.sum(v, 0)
        else:
            square = tl.zeros((BLOCK,), tl.float32)
            for at in range(0, size, BLOCK):
                v = tl.load(x + source + at + i, mask=at + i < size, other=0.0)
                square += v * v
            inverse = tl.rsqrt(tl.sum(square, 0) / size + 1e-6)
            for at in range(0, size, BLOCK):
                v = tl.load(x + source + at + i, mask=at + i < size, other=0.0)
                tl.store(y + target + at + i, v * inverse, mask=at + i < size)


@case
def rl_mixed_tasks(count=4000, longest=6000, PROGRAMS=528):
    sizes = [1 + i * 7919 % longest for i in range(count)]
    places = [sum(sizes[:i]) for i in range(count)] if count < 100 else torch.tensor([0] + sizes).cumsum(0)[:-1].tolist()
    kinds, total = [i * 31 % 7 % 4 for i in range(count)], sum(sizes)
    x, y = rand(total), empty(total)
    owner = torch.repeat_interleave(torch.arange(count), torch.tensor(sizes)).to(DEVICE)
    at = torch.arange(total, device=DEVICE)

    def reference():
        kind, first, size = (tensor(t, I64)[owner] for t in (kinds, places, sizes))
        v = x.double()
        sums = torch.nn.functional.pad(v.cumsum(0), (1, 0))
        square = zeros(count, dtype=F64).index_add_(0, owner, v * v)[owner]
        out = torch.where(kind == 1, v[2 * first + size - 1 - at], v)
        out = torch.where(kind == 2, sums[1:] - sums[first], out)
        return (torch.where(kind == 3, v / (square / size + 1e-6).sqrt(), out),)

    return Case(mixed_tasks, (PROGRAMS,), (tensor(kinds, I32), tensor(places, I32), tensor(places, I32), tensor(sizes, I32), x, y, count),
                dict(PROGRAMS=PROGRAMS, BLOCK=512), (y,), reference, rtol=1e-4, options=dict(num_warps=4), bytes=8 * total)


@triton.jit
def quadratic_roots(a, b, c, small, large, n, BLOCK: tl.constexpr):
    """Both real roots of quadratics without loss of digits, by fused and correctly rounded operations; zeros where there are none."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    av, bv, cv = tl.load(a + i, mask=i < n, other=1.0), tl.load(b + i, mask=i < n, other=0.0), tl.load(c + i, mask=i < n, other=0.0)
    product = 4.0 * av * cv
    lost = tl.fma(4.0 * av, cv, -product)
    d = tl.fma(bv, bv, -product) - lost
    q = -0.5 * (bv + tl.where(bv < 0, -1.0, 1.0) * tl.sqrt_rn(tl.maximum(d, 0.0)))
    one, two = tl.div_rn(q, av), tl.div_rn(cv, tl.where(q == 0.0, 1.0, q))
    tl.store(small + i, tl.where(d >= 0, tl.minimum(one, two), 0.0), mask=i < n)
    tl.store(large + i, tl.where(d >= 0, tl.maximum(one, two), 0.0), mask=i < n)


@case
def rl_quadratic_roots(n=12000005):
    a, b, c = uniform(n, low=0.5, high=2.0), uniform(n, low=-5.0, high=5.0), uniform(n, low=-1.0, high=1.0)
    small, large = empty(n), empty(n)

    def reference():
        av, bv, cv = a.double(), b.double(), c.double()
        d = bv * bv - 4 * av * cv
        root = d.clamp(min=0).sqrt()
        return torch.where(d >= 0, (-bv - root) / (2 * av), 0.0), torch.where(d >= 0, (-bv + root) / (2 * av), 0.0)

    return Case(quadratic_roots, (triton.cdiv(n, 1024),), (a, b, c, small, large, n), dict(BLOCK=1024), (small, large), reference, rtol=1e-4,
                options=dict(num_warps=8), bytes=20 * n)


@triton.jit
def hamming_match(queries, words, distances, places, n, count, BQ: tl.constexpr, BD: tl.constexpr):
    """The nearest of many descriptors of 256 bits for each query, and the distance to the second: bits are counted by an instruction."""
    q = tl.program_id(0) * BQ + tl.arange(0, BQ)
    best, second = tl.full((BQ,), 1 << 30, tl.int32), tl.full((BQ,), 1 << 30, tl.int32)
    for start in range(0, count, BD):
        d = start + tl.arange(0, BD)
        far = tl.zeros((BQ, BD), tl.int32)
        for k in tl.static_range(8):
            x = tl.load(queries + q * 8 + k, mask=q < n, other=0)
            y = tl.load(words + k * count + d, mask=d < count, other=0)
            far += tl.inline_asm_elementwise("popc.b32 $0, $1;", "=r,r", [x[:, None] ^ y[None, :]], dtype=tl.int32, is_pure=True, pack=1)
        key = tl.where((d < count)[None, :], far * 65536 + d[None, :], 1 << 30)
        least = tl.min(key, 1)
        next_ = tl.min(tl.where(key == least[:, None], 1 << 30, key), 1)
        second = tl.minimum(tl.maximum(best, least), tl.minimum(second, next_))
        best = tl.minimum(best, least)
    tl.store(distances + q * 2, best >> 16, mask=q < n)
    tl.store(distances + q * 2 + 1, second >> 16, mask=q < n)
    tl.store(places + q, best & 0xFFFF, mask=q < n)


@case
def rl_hamming_match(n=4001, count=5003):
    queries, words = randint(-2**31, 2**31, n, 8, dtype=I64).to(I32), randint(-2**31, 2**31, 8, count, dtype=I64).to(I32)
    distances, places = empty(n, 2, dtype=I32), empty(n, dtype=I32)

    def reference():
        shift = torch.arange(32, device=DEVICE, dtype=I32)
        x = ((queries[:, :, None] >> shift) & 1).reshape(n, 256).float()
        y = ((words.T[:, :, None] >> shift) & 1).reshape(count, 256).float()
        far = (x.sum(1)[:, None] + y.sum(1) - 2 * x @ y.T).long()
        key = (far * 65536 + torch.arange(count, device=DEVICE)).topk(2, 1, largest=False, sorted=True)[0]
        return key >> 16, key[:, 0] & 0xFFFF

    return Case(hamming_match, (triton.cdiv(n, 16),), (queries, words, distances, places, n, count), dict(BQ=16, BD=128), (distances, places), reference,
                rtol=1e-9, options=dict(num_warps=4), flops=24 * n * count)


@triton.jit
def digamma_of(x):
    below = 0.0
    while x < 6.0:
        below += 1.0 / x
        x += 1.0
    if x > 1e6:
        result = tl.log(x)
    else:
        r = 1.0 / (x * x)
        result = tl.log(x) - 0.5 / x - r * (0.08333333333 - r * (0.00833333333 - r * 0.00396825397))
    return result - below


@triton.jit
def map_digamma(x, y, n, BLOCK: tl.constexpr):
    """The digamma function: each element steps up on its own until the series holds."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=10.0)
    tl.store(y + i, tl.map_elementwise(digamma_of, v), mask=i < n)


@case
def rl_map_digamma(n=8000009):
    x, y = torch.exp(uniform(n, low=-4.0, high=16.0)), empty(n)
    return Case(map_digamma, (triton.cdiv(n, 512),), (x, y, n), dict(BLOCK=512), (y,), lambda: (torch.digamma(x.double()),), rtol=1e-5,
                options=dict(num_warps=4), bytes=8 * n)


@triton.jit
def trimmed_mean(updates, out, n, WORKERS: tl.constexpr, DROP: tl.constexpr, BLOCK: tl.constexpr):
    """Means of workers' updates without the least and greatest of each element: a network of comparisons sorts them in registers."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = ()
    for k in tl.static_range(WORKERS):
        v = v + (tl.load(updates + k * n + i, mask=i < n, other=0.0),)
    for turn_ in tl.static_range(WORKERS):
        new = ()
        if turn_ % 2 == 1:
            new = new + (v[0],)
        for k in tl.static_range(turn_ % 2, WORKERS - 1, 2):
            new = new + (tl.minimum(v[k], v[k + 1]), tl.maximum(v[k], v[k + 1]))
        if (WORKERS - turn_ % 2) % 2 == 1:
            new = new + (v[WORKERS - 1],)
        v = new
    total = tl.zeros((BLOCK,), tl.float32)
    for k in tl.static_range(DROP, WORKERS - DROP):
        total += v[k].to(tl.float32)
    tl.store(out + i, total / (WORKERS - 2 * DROP), mask=i < n)


@case
def rl_trimmed_mean(n=6000006, WORKERS=11, DROP=2):
    updates, out = rand(WORKERS, n, dtype=F16), empty(n)
    return Case(trimmed_mean, (triton.cdiv(n, 1024),), (updates, out, n), dict(WORKERS=WORKERS, DROP=DROP, BLOCK=1024), (out,),
                lambda: (updates.sort(0)[0][DROP:WORKERS - DROP].float().mean(0),), rtol=1e-4, options=dict(num_warps=4),
                bytes=n * (2 * WORKERS + 4))


@triton.jit
def warping_distance(first, second, out, pairs, M, L: tl.constexpr, BP: tl.constexpr, BL: tl.constexpr):
    """Dynamic time warping of pairs of series: diagonals of the table one after another, neighbours by gathers."""
    p, i = tl.program_id(0) * BP + tl.arange(0, BP)[:, None], tl.arange(0, BL)[None, :]
    a = tl.load(first + p * L + i, mask=(p < pairs) & (i < L), other=0.0)
    above = tl.broadcast_to(tl.maximum(i - 1, 0), (BP, BL))
    last, before = tl.full((BP, BL), 1e30, tl.float32), tl.full((BP, BL), 1e30, tl.float32)
    for d in range(L + M - 1):
        j = d - i
        b = tl.load(second + p * M + j, mask=(p < pairs) & (j >= 0) & (j < M), other=0.0)
        up = tl.where(i == 0, 1e30, tl.gather(last, above, axis=1))
        corner = tl.where(i == 0, 1e30, tl.gather(before, above, axis=1))
        least = tl.minimum(tl.minimum(up, corner), last)
        least = tl.where((d == 0) & (i == 0), 0.0, least)
        now = tl.where((j >= 0) & (j < M) & (i < L), tl.abs(a - b) + least, 1e30)
        before, last = last, now
    result = tl.sum(tl.where(i == L - 1, last, 0.0), 1)
    rows = tl.program_id(0) * BP + tl.arange(0, BP)
    tl.store(out + rows, result, mask=rows < pairs)


@case
def rl_warping_distance(pairs=8003, L=100, M=117):
    first, second, out = rand(pairs, L), rand(pairs, M), empty(pairs)

    def reference():
        last, before = (torch.full((pairs, L), 1e30, device=DEVICE) for _ in range(2))
        i = torch.arange(L, device=DEVICE)
        for d in range(L + M - 1):
            j = d - i
            up, corner = (torch.nn.functional.pad(t[:, :-1], (1, 0), value=1e30) for t in (last, before))
            least = torch.minimum(torch.minimum(up, corner), last)
            if d == 0:
                least[:, 0] = 0
            cost = (first - second[:, j.clamp(0, M - 1)]).abs() + least
            before, last = last, torch.where((j >= 0) & (j < M), cost, 1e30)
        return (last[:, -1],)

    return Case(warping_distance, (triton.cdiv(pairs, 4),), (first, second, out, pairs, M), dict(L=L, BP=4, BL=128), (out,), reference, rtol=1e-5,
                options=dict(num_warps=4))


@triton.jit
def special_functions(x, bessel, quantiles, gammas, n, BLOCK: tl.constexpr):
    """Bessel's J0, the normal distribution's quantiles and the logarithm of gamma, by the device's library."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.5)
    tl.store(bessel + i, libdevice.j0(v * 20.0), mask=i < n)
    tl.store(quantiles + i, libdevice.erfinv(2.0 * v - 1.0) * 1.4142135623730951, mask=i < n)
    tl.store(gammas + i, libdevice.lgamma(v * 10.0), mask=i < n)


@case
def rl_special_functions(n=5000001):
    x, bessel, quantiles, gammas = uniform(n, low=0.001, high=0.999), empty(n), empty(n), empty(n)

    def reference():
        v = x.double()
        return torch.special.bessel_j0(v * 20), torch.special.ndtri(v), torch.lgamma(v * 10)

    return Case(special_functions, (triton.cdiv(n, 4096),), (x, bessel, quantiles, gammas, n), dict(BLOCK=4096), (bessel, quantiles, gammas), reference,
                rtol=1e-4, options=dict(num_warps=32), bytes=16 * n)


@triton.jit
def temperature_of(logits, temperatures, V, target, BLOCK: tl.constexpr):
    """The temperature at which a row's softmax has a given entropy, by halving; a row stays in registers of 32 warps."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(logits + row * V + i, mask=i < V, other=float("-inf")).to(tl.float32)
    v -= tl.max(v, 0)
    low, high = 0.05, 20.0
    while high - low > 1e-4 * high:
        middle = 0.5 * (low + high)
        scaled = tl.where(i < V, v / middle, -1e4)
        e = tl.exp(scaled)
        total = tl.sum(e, 0)
        entropy = tl.log(total) - tl.sum(e * scaled, 0) / total
        if entropy > target:
            high = middle
        else:
            low = middle
    tl.store(temperatures + row, 0.5 * (low + high))


@case
def rl_temperature_of_entropy(rows=2003, V=8000, target=5.0):
    logits, temperatures = rand(rows, V, dtype=F16, scale=3.0), empty(rows)

    def reference():
        v = logits.float()
        v = v - v.amax(1, keepdim=True)
        low, high = torch.full((rows, 1), 0.05, device=DEVICE), torch.full((rows, 1), 20.0, device=DEVICE)
        for _ in range(24):
            middle = (low + high) / 2
            p = (v / middle).log_softmax(1)
            hot = (-(p.exp() * p).sum(1, keepdim=True)) > target
            low, high = torch.where(hot, low, middle), torch.where(hot, middle, high)
        return ((low + high) / 2,)

    return Case(temperature_of, (rows,), (logits, temperatures, V, target), dict(BLOCK=8192), (temperatures,), reference, rtol=2e-3,
                options=dict(num_warps=32), bytes=2 * rows * V)
