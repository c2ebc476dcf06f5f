# SPDX-License-Identifier: Apache-2.0
"""Special functions, alignments, cells of particles, simulations, bits and strings, histograms, statistics of batches, routing, codebooks."""
import math

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from case import DEVICE, Case, empty, rand, randint, registry, tensor, uniform, zeros

CASES, case = registry()
U8, I32, I64, F16, BF16, F64 = torch.uint8, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float64


@triton.jit
def poisson_terms(count, rate, loss, gradient, n, BLOCK: tl.constexpr):
    """Negative log likelihood of counts by lgamma and log1p, with its gradient."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    k = tl.load(count + i, mask=i < n, other=0).to(tl.float32)
    x = tl.load(rate + i, mask=i < n, other=0.0)
    lam = tl.where(x > 15.0, x, libdevice.log1p(tl.exp(x)))
    tl.store(loss + i, lam - k * tl.log(lam) + libdevice.lgamma(k + 1.0), mask=i < n)
    tl.store(gradient + i, (1.0 - k / lam) * tl.sigmoid(x), mask=i < n)


@case
def nk_poisson_lgamma(n=20000003):
    count, rate, loss, gradient = randint(0, 40, n, dtype=torch.int16), rand(n, scale=3.0), empty(n), empty(n)

    def reference():
        k, lam = count.double(), torch.nn.functional.softplus(rate.double())
        return lam - k * lam.log() + torch.lgamma(k + 1), (1 - k / lam) * torch.sigmoid(rate.double())

    return Case(poisson_terms, (triton.cdiv(n, 512),), (count, rate, loss, gradient, n), dict(BLOCK=512), (loss, gradient), reference, rtol=1e-4,
                options=dict(num_warps=4), bytes=14 * n)


@triton.jit
def option_greeks(spot, strike, years, sigma, price, delta, vega, n, rate, BLOCK: tl.constexpr):
    """Prices of European calls with two sensitivities, f64, by erf."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s, k = tl.load(spot + i, mask=i < n, other=1.0), tl.load(strike + i, mask=i < n, other=1.0)
    t, v = tl.load(years + i, mask=i < n, other=1.0), tl.load(sigma + i, mask=i < n, other=1.0)
    root = tl.sqrt(t)
    d1 = (tl.log(s / k) + (rate + 0.5 * v * v) * t) / (v * root)
    d2 = d1 - v * root
    n1, n2 = 0.5 + 0.5 * tl.math.erf(d1 * 0.7071067811865476), 0.5 + 0.5 * tl.math.erf(d2 * 0.7071067811865476)
    tl.store(price + i, s * n1 - k * tl.exp(-rate * t) * n2, mask=i < n)
    tl.store(delta + i, n1, mask=i < n)
    tl.store(vega + i, s * root * tl.exp(-0.5 * d1 * d1) * 0.3989422804014327, mask=i < n)


@case
def nk_option_greeks_f64(n=3000000):
    spot, strike = uniform(n, low=50.0, high=150.0, dtype=F64), uniform(n, low=50.0, high=150.0, dtype=F64)
    years, sigma = uniform(n, low=0.1, high=3.0, dtype=F64), uniform(n, low=0.1, high=0.6, dtype=F64)
    outs = empty(n, dtype=F64), empty(n, dtype=F64), empty(n, dtype=F64)

    def reference():
        d1 = (torch.log(spot / strike) + (0.03125 + sigma.square() / 2) * years) / (sigma * years.sqrt())
        n1, n2 = torch.special.ndtr(d1), torch.special.ndtr(d1 - sigma * years.sqrt())
        return (spot * n1 - strike * torch.exp(-0.03125 * years) * n2, n1, spot * years.sqrt() * torch.exp(-d1.square() / 2) / math.sqrt(2 * math.pi))

    return Case(option_greeks, (triton.cdiv(n, 256),), (spot, strike, years, sigma, *outs, n, 0.03125), dict(BLOCK=256), outs, reference, rtol=1e-9,
                options=dict(num_warps=4), bytes=56 * n)


@triton.jit
def bf16_chain(x, y, out, n, BLOCK: tl.constexpr):
    """A polynomial and a gate, all of it in bf16."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b = tl.load(x + i, mask=i < n, other=0.0), tl.load(y + i, mask=i < n, other=0.0)
    s = a * a
    p = ((s * 0.0078125 - 0.0625) * s + 0.25) * s - 1.0
    q = tl.maximum(tl.minimum(p * b + a, 4.0), -4.0)
    tl.store(out + i, tl.where(b > 0, q * b, q - b), mask=i < n)


@case
def nk_bf16_chain(n=60000000):
    x, y, out = rand(n, dtype=BF16), rand(n, dtype=BF16), empty(n, dtype=BF16)

    def reference():
        a, b = x.float(), y.float()
        s = a * a
        q = ((((s * 0.0078125 - 0.0625) * s + 0.25) * s - 1.0) * b + a).clamp(-4, 4)
        return (torch.where(b > 0, q * b, q - b),)

    return Case(bf16_chain, (triton.cdiv(n, 1024),), (x, y, out, n), dict(BLOCK=1024), (out,), reference, rtol=3e-2, options=dict(num_warps=4),
                bytes=6 * n)


@triton.jit
def local_alignment(query, text, scores, M, gap_open, gap_more, L: tl.constexpr):
    """Smith-Waterman with affine gaps, a pair a program: a lane for each letter of the query, diagonals in turn, shifted by gathers."""
    pair = tl.program_id(0)
    lane = tl.arange(0, L)
    before = tl.maximum(lane - 1, 0)
    q = tl.load(query + pair * L + lane).to(tl.int32)
    h, h_old = tl.zeros((L,), tl.int32), tl.zeros((L,), tl.int32)
    e, f = tl.full((L,), -10000, tl.int32), tl.full((L,), -10000, tl.int32)
    best = tl.zeros((L,), tl.int32)
    for step in range(M + L - 1):
        j = step - lane
        ok = (j >= 0) & (j < M)
        c = tl.load(text + pair * M + j, mask=ok, other=4).to(tl.int32)
        diagonal = tl.where(lane > 0, tl.gather(h_old, before, 0), 0)
        up_h, up_f = tl.where(lane > 0, tl.gather(h, before, 0), 0), tl.where(lane > 0, tl.gather(f, before, 0), -10000)
        e = tl.where(ok, tl.maximum(h - gap_open, e - gap_more), -10000)
        f = tl.where(ok, tl.maximum(up_h - gap_open, up_f - gap_more), -10000)
        new = tl.maximum(tl.maximum(diagonal + tl.where(q == c, 2, -1), 0), tl.maximum(e, f))
        h_old = h
        h = tl.where(ok, new, 0)
        best = tl.maximum(best, h)
    tl.store(scores + pair, tl.max(best, axis=0))


@case
def nk_local_alignment(pairs=4096, L=128, M=200):
    query, text, scores = randint(0, 4, pairs, L, dtype=torch.int8), randint(0, 4, pairs, M, dtype=torch.int8), empty(pairs, dtype=I32)

    def reference():
        lane = torch.arange(L, device=DEVICE)
        h, h_old, best = (torch.zeros(pairs, L, device=DEVICE, dtype=I32) for _ in range(3))
        e, f = torch.full_like(h, -10000), torch.full_like(h, -10000)

        def down(x, fill):
            return torch.cat((torch.full_like(x[:, :1], fill), x[:, :-1]), 1)
        for step in range(M + L - 1):
            j = step - lane
            ok = (j >= 0) & (j < M)
            c = text[:, j.clamp(0, M - 1)]
            e = torch.where(ok, torch.maximum(h - 3, e - 1), -10000)
            f = torch.where(ok, torch.maximum(down(h, 0) - 3, down(f, -10000) - 1), -10000)
            new = torch.maximum((down(h_old, 0) + torch.where(query == c, 2, -1)).clamp_min(0), torch.maximum(e, f))
            h_old, h = h, torch.where(ok, new, 0).to(I32)
            best = torch.maximum(best, h)
        return (best.amax(1),)

    return Case(local_alignment, (pairs,), (query, text, scores, M, 3, 1), dict(L=L), (scores,), reference, rtol=1e-9, options=dict(num_warps=1))


@triton.jit
def cell_forces(position, starts, force, SIDE: tl.constexpr, CAP: tl.constexpr):
    """Soft spheres sorted by cells, a cell a program: three rows of three neighbours by three, whose particles lie together."""
    cell = tl.program_id(0)
    cx, cy, cz = cell % SIDE, cell // SIDE % SIDE, cell // (SIDE * SIDE)
    first, last = tl.load(starts + cell), tl.load(starts + cell + 1)
    lane = tl.arange(0, CAP)
    for base in range(first, last, CAP):
        i = base + lane
        mine = i < last
        x, y, z = tl.load(position + 3 * i, mine, 0.0), tl.load(position + 3 * i + 1, mine, 0.0), tl.load(position + 3 * i + 2, mine, 0.0)
        fx, fy, fz = tl.zeros((CAP,), tl.float32), tl.zeros((CAP,), tl.float32), tl.zeros((CAP,), tl.float32)
        for d in range(9):
            oy, oz = cy + d % 3 - 1, cz + d // 3 - 1
            if (oy >= 0) & (oy < SIDE) & (oz >= 0) & (oz < SIDE):
                row = (oz * SIDE + oy) * SIDE
                other, end = tl.load(starts + row + tl.maximum(cx - 1, 0)), tl.load(starts + row + tl.minimum(cx + 2, SIDE))
                for j0 in range(other, end, CAP):
                    j = j0 + lane
                    ok = j < end
                    dx = x[:, None] - tl.load(position + 3 * j, ok, 1.0e6)[None, :]
                    dy = y[:, None] - tl.load(position + 3 * j + 1, ok, 1.0e6)[None, :]
                    dz = z[:, None] - tl.load(position + 3 * j + 2, ok, 1.0e6)[None, :]
                    r = tl.sqrt(dx * dx + dy * dy + dz * dz)
                    push = tl.where((r < 1.0) & (r > 0.0), (1.0 - r) / tl.maximum(r, 1e-6), 0.0)
                    fx += tl.sum(push * dx, axis=1)
                    fy += tl.sum(push * dy, axis=1)
                    fz += tl.sum(push * dz, axis=1)
        tl.store(force + 3 * i, fx, mine)
        tl.store(force + 3 * i + 1, fy, mine)
        tl.store(force + 3 * i + 2, fz, mine)


@case
def nk_cell_forces(n=60000, side=20):
    position = uniform(n, 3, high=float(side))
    cell = position.long().clamp(max=side - 1)
    order = (cell[:, 2] * side * side + cell[:, 1] * side + cell[:, 0]).sort()
    position, force = position[order[1]].contiguous(), empty(n, 3)
    starts = torch.searchsorted(order[0].contiguous(), torch.arange(side**3 + 1, device=DEVICE)).to(I32)

    def reference():
        parts = []
        for p in position.split(1000):
            d = p[:, None] - position
            r = d.square().sum(2).sqrt()
            parts.append((torch.where((r < 1) & (r > 0), (1 - r) / r.clamp_min(1e-6), 0)[:, :, None] * d).sum(1))
        return (torch.cat(parts),)

    return Case(cell_forces, (side**3,), (position, starts, force), dict(SIDE=side, CAP=16), (force,), reference, rtol=1e-4,
                options=dict(num_warps=1))


@triton.jit
def heston_paths(out, paths, steps, seed, dt, rate, KAPPA: tl.constexpr, THETA: tl.constexpr, XI: tl.constexpr, BLOCK: tl.constexpr):
    """Paths of prices with a variance of their own, a lane a path: two normal numbers a step; sums of the final prices."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    log_s, v = tl.zeros((BLOCK,), tl.float32), tl.full((BLOCK,), THETA, tl.float32)
    root = tl.sqrt(dt)
    for step in range(steps):
        u1, u2 = tl.rand(seed, i * steps + step), tl.rand(seed + 1, i * steps + step)
        a, b = tl.pair_uniform_to_normal(u1, u2)
        w = -0.5 * a + 0.8660254 * b
        vol = tl.sqrt(tl.maximum(v, 0.0))
        log_s += (rate - 0.5 * vol * vol) * dt + vol * root * a
        v += KAPPA * (THETA - tl.maximum(v, 0.0)) * dt + XI * vol * root * w
    tl.store(out + tl.program_id(0), tl.sum(tl.exp(log_s)) / BLOCK)


@case
def nk_heston_paths(blocks=4096, block=256, steps=50):
    out = empty(blocks)
    return Case(heston_paths, (blocks,), (out, blocks * block, steps, 77, 0.02, 0.25), dict(KAPPA=2.0, THETA=0.01, XI=0.2, BLOCK=block), (out,),
                lambda: (torch.full((blocks,), math.exp(0.25 * 0.02 * steps), device=DEVICE),), rtol=3e-2, options=dict(num_warps=4))


@triton.jit
def nearest_code(codes, base, distance, index, n, WORDS: tl.constexpr, BQ: tl.constexpr, BN: tl.constexpr):
    """Hamming distances of bit strings by popc, the least and where it is; the first of equals."""
    q = tl.program_id(0) * BQ + tl.arange(0, BQ)
    best = tl.full((BQ,), 2**62, tl.int64)
    for start in range(0, n, BN):
        j = start + tl.arange(0, BN)
        d = tl.zeros((BQ, BN), tl.int32)
        for w in tl.static_range(WORDS):
            a, b = tl.load(codes + q * WORDS + w), tl.load(base + j * WORDS + w, mask=j < n, other=0)
            d += libdevice.popc(a[:, None] ^ b[None, :])
        word = (d.to(tl.int64) << 32) | j.to(tl.int64)[None, :]
        best = tl.minimum(best, tl.min(tl.where((j < n)[None, :], word, 2**62), axis=1))
    tl.store(distance + q, (best >> 32).to(tl.int32))
    tl.store(index + q, best.to(tl.int32))


@case
def nk_nearest_code(queries=8192, n=6001, words=8):
    codes, base = randint(-2**31, 2**31, queries, words), randint(-2**31, 2**31, n, words)
    distance, index = empty(queries, dtype=I32), empty(queries, dtype=I32)

    def reference():
        bit = torch.arange(32, device=DEVICE, dtype=I32)
        a, b = ((x[:, :, None] >> bit & 1).view(len(x), -1).float() for x in (codes, base))
        d = (a.sum(1)[:, None] + b.sum(1) - 2 * a @ b.T).round().long() * 2**20 + torch.arange(n, device=DEVICE)
        least = d.amin(1)
        return least >> 20, least & 2**20 - 1

    return Case(nearest_code, (queries // 32,), (codes, base, distance, index, n), dict(WORDS=words, BQ=32, BN=64), (distance, index), reference,
                rtol=1e-6, options=dict(num_warps=4))


@triton.jit
def either(a, b):
    return a | b


@triton.jit
def transpose_bits(words, out, PER: tl.constexpr):
    """Transposes 32 x 32 bits: each bit is moved to its place and all of a word are joined by a reduction with or."""
    block = tl.program_id(0) * PER + tl.arange(0, PER)
    i = tl.arange(0, 32)
    w = tl.load(words + block[:, None] * 32 + i[None, :])
    bit = (w[:, :, None] >> i[None, None, :]) & 1
    tl.store(out + block[:, None] * 32 + i[None, :], tl.reduce(bit << i[None, :, None], 1, either))


@case
def nk_transpose_bits(blocks=200000):
    words, out = randint(-2**31, 2**31, blocks, 32), empty(blocks, 32, dtype=I32)

    def reference():
        i = torch.arange(32, device=DEVICE)
        return (torch.stack([((words.long() >> b & 1) << i).sum(1) for b in range(32)], 1).to(I32),)

    return Case(transpose_bits, (blocks // 4,), (words, out), dict(PER=4), (out,), reference, rtol=1e-9,
                options=dict(num_warps=4), bytes=blocks * 256)


@triton.jit
def hash_strings(text, offsets, table, fnv, crc, n, BLOCK: tl.constexpr):
    """FNV-1a and CRC-32 by a table, a string a lane, byte by byte, for as long as the longest."""
    s = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at, end = tl.load(offsets + s, mask=s < n, other=0), tl.load(offsets + s + 1, mask=s < n, other=0)
    h = tl.full((BLOCK,), 0x811C9DC5, tl.uint32)
    c = tl.full((BLOCK,), 0xFFFFFFFF, tl.uint32)
    while tl.max(end - at, axis=0) > 0:
        live = at < end
        byte = tl.load(text + at, mask=live, other=0).to(tl.uint32)
        h = tl.where(live, (h ^ byte) * 16777619, h)
        entry = tl.load(table + ((c ^ byte) & 255)).to(tl.uint32, bitcast=True)
        c = tl.where(live, (c >> 8) ^ entry, c)
        at += 1
    tl.store(fnv + s, h.to(tl.int32, bitcast=True), mask=s < n)
    tl.store(crc + s, (c ^ 0xFFFFFFFF).to(tl.int32, bitcast=True), mask=s < n)


@case
def nk_hash_strings(n=300000, spread=60):
    lengths = torch.arange(n, device=DEVICE) * 7919 % spread
    offsets = torch.cat((torch.zeros(1, device=DEVICE, dtype=I64), lengths.cumsum(0))).to(I32)
    total = sum(i * 7919 % spread for i in range(n))
    text, fnv, crc = randint(0, 256, total, dtype=U8), empty(n, dtype=I32), empty(n, dtype=I32)
    entries = []
    for entry in range(256):
        for _ in range(8):
            entry = entry >> 1 ^ (0xEDB88320 if entry & 1 else 0)
        entries.append(entry - 2**32 if entry >= 2**31 else entry)
    table = tensor(entries, I32)

    def reference():
        low, wide = 2**32 - 1, table.long() & 2**32 - 1
        h, c = torch.full((n,), 0x811C9DC5, device=DEVICE, dtype=I64), torch.full((n,), low, device=DEVICE, dtype=I64)
        for k in range(spread):
            live = k < lengths
            byte = text[(offsets[:-1] + k).clamp(max=total - 1).long()].long()
            h = torch.where(live, (h ^ byte) * 16777619 & low, h)
            c = torch.where(live, c >> 8 ^ wide[(c ^ byte) & 255], c)
        c = c ^ low
        return h - (h >> 31 << 32), c - (c >> 31 << 32)

    return Case(hash_strings, (triton.cdiv(n, 128),), (text, offsets, table, fnv, crc, n), dict(BLOCK=128), (fnv, crc), reference, rtol=1e-9,
                options=dict(num_warps=4), bytes=total)


@triton.jit
def byte_histogram(image, counts, n, PER: tl.constexpr, BLOCK: tl.constexpr):
    """A histogram of bytes: one in registers for each program, then atomics."""
    found = tl.zeros((256,), tl.int32)
    for j in range(PER):
        i = (tl.program_id(0) * PER + j) * BLOCK + tl.arange(0, BLOCK)
        found += tl.histogram(tl.load(image + i, mask=i < n, other=0).to(tl.int32), 256, mask=i < n)
    tl.atomic_add(counts + tl.arange(0, 256), found, sem="relaxed")


@case
def nk_byte_histogram(n=50000001, per=16):
    image, counts = (rand(n).abs() * 60).clamp(max=255).to(U8), zeros(256, dtype=I32)
    return Case(byte_histogram, (triton.cdiv(n, per * 2048),), (image, counts, n), dict(PER=per, BLOCK=2048), (counts,),
                lambda: (torch.bincount(image.int(), minlength=256),), rtol=1e-9, accumulate=True, options=dict(num_warps=8), bytes=n)


@triton.jit
def integral_tiles(image, sums, squares, H, W, B: tl.constexpr):
    """Running sums of each tile, along both dimensions, of pixels and of their squares."""
    y, x = tl.program_id(1) * B + tl.arange(0, B)[:, None], tl.program_id(0) * B + tl.arange(0, B)[None, :]
    ok = (y < H) & (x < W)
    v = tl.load(image + y * W + x, mask=ok, other=0).to(tl.int32)
    tl.store(sums + y * W + x, tl.cumsum(tl.cumsum(v, axis=1), axis=0), mask=ok)
    tl.store(squares + y * W + x, tl.cumsum(tl.cumsum(v * v, axis=0), axis=1), mask=ok)


@case
def nk_integral_tiles(H=4000, W=6000, B=64):
    image, sums, squares = randint(0, 256, H, W, dtype=U8), empty(H, W, dtype=I32), empty(H, W, dtype=I32)

    def reference():
        h, w = triton.cdiv(H, B), triton.cdiv(W, B)
        v = torch.nn.functional.pad(image.int(), (0, w * B - W, 0, h * B - H)).view(h, B, w, B)
        return tuple(t.cumsum(1).cumsum(3).view(h * B, w * B)[:H, :W] for t in (v, v * v))

    return Case(integral_tiles, (triton.cdiv(W, B), triton.cdiv(H, B)), (image, sums, squares, H, W), dict(B=B), (sums, squares), reference,
                rtol=1e-9, options=dict(num_warps=4), bytes=9 * H * W)


@triton.jit
def winograd_input(x, out, H, W, C, tiles_x, tiles, BC: tl.constexpr, BT: tl.constexpr):
    """The input's transform of F(2 x 2, 3 x 3), NHWC, padding 1: 16 loads, sums and differences, 16 stores."""
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    per = tiles_x * tiles_x
    n, y, v = t // per, t % per // tiles_x * 2 - 1, t % tiles_x * 2 - 1
    live = (t < tiles)[:, None] & (c < C)[None, :]
    d = ()
    for i in tl.static_range(16):
        yy, vv = y + i // 4, v + i % 4
        inside = (yy >= 0) & (yy < H) & (vv >= 0) & (vv < W)
        d = d + (tl.load(x + ((n * H + yy) * W + vv)[:, None] * C + c[None, :], mask=inside[:, None] & live, other=0.0).to(tl.float32), )
    e = ()
    for i in tl.static_range(4):
        e = e + (d[i] - d[8 + i], )
    for i in tl.static_range(4):
        e = e + (d[4 + i] + d[8 + i], )
    for i in tl.static_range(4):
        e = e + (d[8 + i] - d[4 + i], )
    for i in tl.static_range(4):
        e = e + (d[4 + i] - d[12 + i], )
    to = out + t[:, None] * C + c[None, :]
    for i in tl.static_range(4):
        a0, a1, a2, a3 = e[4 * i], e[4 * i + 1], e[4 * i + 2], e[4 * i + 3]
        tl.store(to + (4 * i) * tiles * C, (a0 - a2).to(tl.float16), mask=live)
        tl.store(to + (4 * i + 1) * tiles * C, (a1 + a2).to(tl.float16), mask=live)
        tl.store(to + (4 * i + 2) * tiles * C, (a2 - a1).to(tl.float16), mask=live)
        tl.store(to + (4 * i + 3) * tiles * C, (a1 - a3).to(tl.float16), mask=live)


@case
def nk_winograd_input(images=16, S=56, C=256):
    per = S // 2
    tiles = images * per * per
    x, out = rand(images, S, S, C, dtype=F16), empty(4, 4, tiles, C, dtype=F16)
    b = tensor([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]], torch.float32)

    def reference():
        p = torch.nn.functional.pad(x.float(), (0, 0, 1, 1, 1, 1)).unfold(1, 4, 2).unfold(2, 4, 2)
        return (torch.einsum("ai,nyxcij,bj->abnyxc", b, p, b).reshape(4, 4, tiles, C),)

    return Case(winograd_input, (triton.cdiv(tiles, 8), triton.cdiv(C, 128)), (x, out, S, S, C, per, tiles), dict(BC=128, BT=8), (out,), reference,
                options=dict(num_warps=4), bytes=tiles * C * 40)


@triton.jit
def batch_norm_backward(x, dy, mean_ptr, rstd_ptr, weight, dx, dweight, dbias, rows, C, BR: tl.constexpr, BC: tl.constexpr):
    """The gradient of batch norm after a relu, NHWC: columns a program, which reads its strip twice."""
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    mean, rstd, w = tl.load(mean_ptr + c), tl.load(rstd_ptr + c), tl.load(weight + c)
    sum_g, sum_gx = tl.zeros((BR, BC), tl.float32), tl.zeros((BR, BC), tl.float32)
    for start in tl.range(0, rows, BR, num_stages=3):
        r = start + tl.arange(0, BR)
        at = r[:, None] * C + c[None, :]
        hat = (tl.load(x + at, mask=(r < rows)[:, None], other=0.0).to(tl.float32) - mean[None, :]) * rstd[None, :]
        g = tl.load(dy + at, mask=(r < rows)[:, None], other=0.0).to(tl.float32)
        g = tl.where(hat * w[None, :] > 0.0, g, 0.0)
        sum_g += g
        sum_gx += g * hat
    db, dw = tl.sum(sum_g, axis=0), tl.sum(sum_gx, axis=0)
    tl.store(dbias + c, db)
    tl.store(dweight + c, dw)
    for start in tl.range(0, rows, BR, num_stages=3):
        r = start + tl.arange(0, BR)
        at = r[:, None] * C + c[None, :]
        hat = (tl.load(x + at, mask=(r < rows)[:, None], other=0.0).to(tl.float32) - mean[None, :]) * rstd[None, :]
        g = tl.load(dy + at, mask=(r < rows)[:, None], other=0.0).to(tl.float32)
        g = tl.where(hat * w[None, :] > 0.0, g, 0.0)
        tl.store(dx + at, ((g - (db + hat * dw) / rows) * rstd * w).to(dx.dtype.element_ty), mask=(r < rows)[:, None])


@case
def nk_batch_norm_backward(rows=12544, C=2048):
    x, dy, weight = rand(rows, C, dtype=F16), rand(rows, C, dtype=F16), rand(C)
    mean, rstd = x.float().mean(0), torch.rsqrt(x.float().var(0, correction=0) + 1e-5)
    dx, dweight, dbias = empty(rows, C, dtype=F16), empty(C), empty(C)

    def reference():
        hat = (x.float() - mean) * rstd
        g = torch.where(hat * weight > 0, dy.float(), 0)
        return (g - (g.sum(0) + hat * (g * hat).sum(0)) / rows) * rstd * weight, (g * hat).sum(0), g.sum(0)

    return Case(batch_norm_backward, (C // 16,), (x, dy, mean, rstd, weight, dx, dweight, dbias, rows, C), dict(BR=64, BC=16),
                (dx, dweight, dbias), reference, options=dict(num_warps=4), bytes=rows * C * 10)
