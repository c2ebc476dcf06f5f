# SPDX-License-Identifier: Apache-2.0
"""Science: lattices, spectra in registers, partitions, sliced matrices, neighbours, alignments by scans, rays with branches, checksums."""
import math

import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, randint, registry, tensor, uniform, zeros

CASES, case = registry()
I32, F64 = torch.int32, torch.float64
DX, DY = (0, 1, 0, -1, 0, 1, -1, -1, 1), (0, 0, 1, 0, -1, 1, 1, -1, -1)
SHARES, OPPOSITE = (4 / 9,) + (1 / 9,) * 4 + (1 / 36,) * 4, (0, 3, 4, 1, 2, 7, 8, 5, 6)


@triton.jit
def lattice_boltzmann(f, solid, out, H, W, omega, DX: tl.constexpr, DY: tl.constexpr, SHARES: tl.constexpr, OPPOSITE: tl.constexpr,
                      BLOCK: tl.constexpr):
    """Nine directions pulled from neighbours around a torus and collided; directions turn back in solid cells."""
    y, x = tl.program_id(1), tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = x < W
    pulled = ()
    rho, ux, uy = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for q in tl.static_range(9):
        sx = x - DX[q]
        sx = tl.where(sx < 0, sx + W, tl.where(sx >= W, sx - W, sx))
        sy = y - DY[q]
        sy = tl.where(sy < 0, sy + H, tl.where(sy >= H, sy - H, sy))
        v = tl.load(f + (q * H + sy) * W + sx, mask=ok, other=1.0)
        pulled = pulled + (v,)
        rho += v
        ux += v * DX[q]
        uy += v * DY[q]
    ux, uy = ux / rho, uy / rho
    wall = tl.load(solid + y * W + x, mask=ok, other=0) != 0
    still = 1.0 - 1.5 * (ux * ux + uy * uy)
    for q in tl.static_range(9):
        along = 3.0 * (ux * DX[q] + uy * DY[q])
        balance = SHARES[q] * rho * (still + along + 0.5 * along * along)
        new = pulled[q] + omega * (balance - pulled[q])
        tl.store(out + (q * H + y) * W + x, tl.where(wall, pulled[OPPOSITE[q]], new), mask=ok)


@case
def nu_lattice_boltzmann(H=1990, W=2001):
    f = tensor(SHARES, torch.float32)[:, None, None] * uniform(9, H, W, low=0.8, high=1.2)
    solid, out = (randint(0, 8, H, W) == 0).to(torch.uint8), empty(9, H, W)

    def reference():
        p = torch.stack([torch.roll(f[q], (DY[q], DX[q]), (0, 1)) for q in range(9)])
        cx, cy = (tensor(c, torch.float32)[:, None, None] for c in (DX, DY))
        rho = p.sum(0)
        ux, uy = (p * cx).sum(0) / rho, (p * cy).sum(0) / rho
        along = 3 * (cx * ux + cy * uy)
        balance = tensor(SHARES, torch.float32)[:, None, None] * rho * (1 + along + along**2 / 2 - 1.5 * (ux**2 + uy**2))
        return (torch.where(solid != 0, p[list(OPPOSITE)], p + 1.2 * (balance - p)),)

    return Case(lattice_boltzmann, (triton.cdiv(W, 256), H), (f, solid, out, H, W, 1.2),
                dict(DX=DX, DY=DY, SHARES=SHARES, OPPOSITE=OPPOSITE, BLOCK=256), (out,), reference, rtol=1e-4, options=dict(num_warps=4),
                bytes=73 * H * W)


@triton.jit
def cube_dot(ar, ai, br, bi):
    re = tl.dot(ar, br, input_precision="tf32x3") - tl.dot(ai, bi, input_precision="tf32x3")
    return re, tl.dot(ar, bi, input_precision="tf32x3") + tl.dot(ai, br, input_precision="tf32x3")


@triton.jit
def fft_filter(x, spectrum, y, cosines, sines, C, S: tl.constexpr, R: tl.constexpr):
    """Circular convolution of real rows: batches of 16 x 16 products there, a channel's spectrum, and the same way back."""
    i, j = tl.arange(0, R)[:, None], tl.arange(0, R)[None, :]
    root = i * j * R % (R * R)
    dr, di = tl.load(cosines + root)[None, :, :], -tl.load(sines + root)[None, :, :]
    dr, di = tl.broadcast_to(dr, (S, R, R)), tl.broadcast_to(di, (S, R, R))
    tr, ti = tl.load(cosines + i * j)[None, :, :], -tl.load(sines + i * j)[None, :, :]
    row = tl.program_id(0) * S + tl.arange(0, S)[:, None, None]
    at = row * (R * R) + (i * R + j)[None, :, :]
    v = tl.load(x + at)
    ar, ai = tl.dot(dr, v, input_precision="tf32x3"), tl.dot(di, v, input_precision="tf32x3")
    ar, ai = ar * tr - ai * ti, ar * ti + ai * tr
    ar, ai = cube_dot(ar, ai, dr, di)
    place = ((row % C) * (R * R) + (i + R * j)[None, :, :]) * 2
    sr, si = tl.load(spectrum + place), tl.load(spectrum + place + 1)
    ar, ai = ar * sr - ai * si, ar * si + ai * sr
    ar, ai = cube_dot(ar, ai, dr, -di)
    ar, ai = ar * tr + ai * ti, ai * tr - ar * ti
    v = tl.dot(dr, ar, input_precision="tf32x3") + tl.dot(di, ai, input_precision="tf32x3")
    tl.store(y + at, v * (1.0 / (R * R)))


@case
def nu_fft_filter_256(B=128, C=512):
    x, y, spectrum = rand(B, C, 256), empty(B, C, 256), empty(C, 256, 2)
    taps = rand(C, 256, scale=0.1)
    if DEVICE != "meta":
        spectrum.copy_(torch.view_as_real(torch.fft.fft(taps)))
    turn = [2 * math.pi * k / 256 for k in range(256)]
    cosines, sines = tensor([math.cos(t) for t in turn], torch.float32), tensor([math.sin(t) for t in turn], torch.float32)
    return Case(fft_filter, (B * C // 4,), (x, spectrum, y, cosines, sines, C), dict(S=4, R=16), (y,),
                lambda: (torch.fft.irfft(torch.fft.rfft(x) * torch.fft.rfft(taps), n=256),), rtol=1e-3, options=dict(num_warps=4),
                bytes=8 * B * C * 256)


@triton.jit
def partition(x, pivot, before, values, places, n, kept, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    """A stable partition: counts before a block are known; ranks by a scan along rows and one over the rows' sums."""
    block = tl.program_id(0)
    i = block * (ROWS * BLOCK) + tl.arange(0, ROWS)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    v = tl.load(x + i, mask=i < n, other=float("-inf"))
    flag = ((v > pivot) & (i < n)).to(tl.int32)
    upto = tl.cumsum(flag, 1)
    sums = tl.sum(flag, 1)
    rank = tl.load(before + block) + (tl.cumsum(sums, 0) - sums)[:, None] + upto - flag
    to = tl.where(flag != 0, rank, kept + i - rank)
    tl.store(values + to, v, mask=i < n)
    tl.store(places + to, i, mask=i < n)


@case
def nu_stable_partition(n=20000003, pivot=0.3):
    x, values, places = rand(n), empty(n), empty(n, dtype=I32)
    blocks = triton.cdiv(n, 2048)
    counts = torch.nn.functional.pad((x > pivot).to(I32), (0, blocks * 2048 - n)).view(blocks, 2048).sum(1, dtype=I32)
    before = counts.cumsum(0, dtype=I32) - counts
    kept = int(counts.sum()) if DEVICE != "meta" else n // 3

    def reference():
        order = torch.argsort((x <= pivot).to(torch.uint8), stable=True)
        return x[order], order

    return Case(partition, (blocks,), (x, pivot, before, values, places, n, kept), dict(BLOCK=256, ROWS=8), (values, places), reference,
                rtol=1e-9, options=dict(num_warps=8), bytes=12 * n)


@triton.jit
def sliced_ell_product(values, cols, starts, row_of, x, y, rows, C: tl.constexpr, WIDE: tl.constexpr):
    """A slice of 32 rows for each warp, its entries stored column by column; slices differ in width; rows were sorted by length."""
    piece = tl.program_id(0)
    start, end = tl.load(starts + piece), tl.load(starts + piece + 1)
    lane = tl.arange(0, C)
    acc = tl.zeros((WIDE, C), tl.float64)
    for at in tl.range(start, end, WIDE * C, num_stages=2):
        i = at + tl.arange(0, WIDE)[:, None] * C + lane[None, :]
        col = tl.load(cols + i, mask=i < end, other=0)
        acc += tl.load(values + i, mask=i < end, other=0.0) * tl.load(x + col, mask=i < end, other=0.0)
    row = tl.load(row_of + piece * C + lane)
    tl.store(y + row, tl.sum(acc, 0), mask=row < rows)


@case
def nu_sliced_ell_f64(rows=500003, columns=400000, spread=37, window=1024):
    padded = triton.cdiv(rows, window) * window
    lengths = torch.arange(padded) * 7919 % spread * (torch.arange(padded) < rows)
    by_length, order = lengths.view(-1, window).sort(dim=1, descending=True, stable=True)
    row_of = (order + torch.arange(padded // window)[:, None] * window).reshape(-1)
    widths = by_length.reshape(-1, 32).amax(1)
    starts = torch.cat((torch.zeros(1, dtype=torch.int64), (widths * 32).cumsum(0)))
    total = int(starts[-1])
    piece = torch.repeat_interleave(torch.arange(len(widths)), widths * 32)
    inside = torch.arange(total) - starts[piece]
    entry_row = row_of[piece * 32 + inside % 32]
    live = (inside // 32 < lengths[entry_row]).to(DEVICE)
    entry_row = entry_row.to(DEVICE)
    values, cols = torch.where(live, rand(total, dtype=F64), 0), torch.where(live, randint(0, columns, total), 0)
    x, y = rand(columns, dtype=F64), empty(rows, dtype=F64)

    def reference():
        return (zeros(padded, dtype=F64).index_add_(0, entry_row, values * x[cols])[:rows],)

    return Case(sliced_ell_product, (len(widths),), (values, cols, starts.to(I32).to(DEVICE), row_of.to(I32).to(DEVICE), x, y, rows),
                dict(C=32, WIDE=4), (y,), reference, rtol=1e-9, options=dict(num_warps=1), bytes=12 * total + 12 * rows)


@triton.jit
def nearest_k(queries, points, distances, indices, m, n, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """The K nearest in order: bits of distances over indices in 64 bits, tiles sorted in part; a tile that changes nothing is left out."""
    q = tl.program_id(0) * BM + tl.arange(0, BM)
    qx, qy, qz = tl.load(queries + q * 3, q < m, 0.0), tl.load(queries + q * 3 + 1, q < m, 0.0), tl.load(queries + q * 3 + 2, q < m, 0.0)
    worst: tl.constexpr = -0x7F00000000000000
    best = tl.full((BM, K), worst, tl.int64)
    for start in range(0, n, BN):
        p = start + tl.arange(0, BN)
        dx = qx[:, None] - tl.load(points + p * 3, p < n, 0.0)[None, :]
        dy = qy[:, None] - tl.load(points + p * 3 + 1, p < n, 0.0)[None, :]
        dz = qz[:, None] - tl.load(points + p * 3 + 2, p < n, 0.0)[None, :]
        d = dx * dx + dy * dy + dz * dz
        key = -((d.to(tl.int32, bitcast=True).to(tl.int64) << 32) | p[None, :].to(tl.int64))
        key = tl.where((p < n)[None, :], key, worst)
        better = (key > tl.min(best, 1)[:, None]).to(tl.int32)
        if tl.max(tl.max(better, 1), 0) > 0:
            best = tl.maximum(tl.sort(best, dim=1), tl.topk(key, K, dim=1))
    best = -tl.sort(best, dim=1, descending=True)
    at = q[:, None] * K + tl.arange(0, K)[None, :]
    tl.store(distances + at, (best >> 32).to(tl.int32).to(tl.float32, bitcast=True), mask=(q < m)[:, None])
    tl.store(indices + at, (best & 0xFFFFFFFF).to(tl.int32), mask=(q < m)[:, None])


@case
def nu_nearest_16(m=4095, n=4001, K=16):
    queries, points, distances, indices = uniform(m, 3), uniform(n, 3), empty(m, K), empty(m, K, dtype=I32)

    def reference():
        d = torch.stack([(queries[:, None, a] - points[None, :, a]).double() for a in range(3)], 2).square().sum(2)
        return d.topk(K, 1, largest=False, sorted=True)

    return Case(nearest_k, (triton.cdiv(m, 16),), (queries, points, distances, indices, m, n), dict(K=K, BM=16, BN=64),
                (distances, indices), reference, options=dict(num_warps=4), flops=8 * m * n)


@triton.jit
def greater(a, b):
    return tl.maximum(a, b)


@triton.jit
def align_by_scans(first, second, matrix, scores, pairs, L, M: tl.constexpr, OPEN: tl.constexpr, EXTEND: tl.constexpr, BP: tl.constexpr,
                   BM: tl.constexpr):
    """Local alignment with affine gaps, a row of the table at a time: gaps along it by a scan of maxima, the diagonal by a gather."""
    pair = tl.program_id(0) * BP + tl.arange(0, BP)[:, None]
    j = tl.arange(0, BM)[None, :]
    ok = (pair < pairs) & (j < M)
    letters = tl.load(second + pair * M + j, mask=ok, other=0).to(tl.int32)
    before = tl.broadcast_to(tl.maximum(j - 1, 0), (BP, BM))
    row, down, best = tl.zeros((BP, BM), tl.int32), tl.full((BP, BM), -10000, tl.int32), tl.zeros((BP, BM), tl.int32)
    for i in range(L):
        letter = tl.load(first + pair * L + i, mask=pair < pairs, other=0).to(tl.int32)
        diagonal = tl.where(j == 0, 0, tl.gather(row, before, axis=1)) + tl.load(matrix + letter * 24 + letters)
        down = tl.maximum(row - (OPEN + EXTEND), down - EXTEND)
        row = tl.maximum(tl.maximum(diagonal, down), 0)
        along = tl.associative_scan(row + EXTEND * j, 1, greater) - OPEN - EXTEND * j
        row = tl.where(ok, tl.maximum(row, along), 0)
        best = tl.maximum(best, row)
    tl.store(scores + tl.program_id(0) * BP + tl.arange(0, BP), tl.max(best, 1), mask=tl.program_id(0) * BP + tl.arange(0, BP) < pairs)


@case
def nu_align_by_scans(pairs=4001, L=130, M=251):
    first, second = randint(0, 24, pairs, L, dtype=torch.int8), randint(0, 24, pairs, M, dtype=torch.int8)
    matrix, scores = randint(-4, 3, 24, 24), empty(pairs, dtype=I32)
    matrix = matrix + 6 * torch.eye(24, device=DEVICE, dtype=I32)

    def reference():
        step = torch.arange(M, device=DEVICE, dtype=I32)
        row, down, best = zeros(pairs, M, dtype=I32), torch.full((pairs, M), -10000, device=DEVICE, dtype=I32), zeros(pairs, dtype=I32)
        for i in range(L):
            diagonal = torch.nn.functional.pad(row, (1, 0))[:, :-1] + matrix[first[:, i].long()[:, None], second.long()]
            down = torch.maximum(row - 7, down - 1)
            row = torch.maximum(diagonal, down).clamp(min=0)
            row = torch.maximum(row, (row + step).cummax(1)[0] - 6 - step)
            best = torch.maximum(best, row.amax(1))
        return (best,)

    return Case(align_by_scans, (triton.cdiv(pairs, 2),), (first, second, matrix, scores, pairs, L),
                dict(M=M, OPEN=6, EXTEND=1, BP=2, BM=256), (scores,), reference, rtol=1e-9, options=dict(num_warps=2))


@triton.jit
def slab(low, high, origin, inverse, near, far):
    a, b = (low - origin) * inverse, (high - origin) * inverse
    return tl.maximum(near, tl.minimum(a, b)), tl.minimum(far, tl.maximum(a, b))


@triton.jit
def rays_and_boxes(lows, highs, group_lows, group_highs, times, owners, W, groups, ox, oy, oz, FAR: tl.constexpr, BY: tl.constexpr,
                   BX: tl.constexpr, PER: tl.constexpr):
    """The first box that each ray meets: a group of boxes is looked into only where one of the tile's rays may meet it sooner."""
    pixel = tl.arange(0, BY * BX)
    px = tl.program_id(0) * BX + pixel % BX
    py = tl.program_id(1) * BY + pixel // BX
    ix = 1.0 / ((px - W // 2).to(tl.float32) * (1.0 / W) + 0.000123)
    iy = 1.0 / ((py - W // 2).to(tl.float32) * (1.0 / W) + 0.000123)
    iz = tl.full((BY * BX,), 1.0, tl.float32)
    time, owner = tl.full((BY * BX,), FAR, tl.float32), tl.full((BY * BX,), -1, tl.int32)
    for g in range(groups):
        near, far = slab(tl.load(group_lows + g * 3), tl.load(group_highs + g * 3), ox, ix, 0.0, time)
        near, far = slab(tl.load(group_lows + g * 3 + 1), tl.load(group_highs + g * 3 + 1), oy, iy, near, far)
        near, far = slab(tl.load(group_lows + g * 3 + 2), tl.load(group_highs + g * 3 + 2), oz, iz, near, far)
        if tl.max((near <= far).to(tl.int32), 0) > 0:
            b = (g * PER + tl.arange(0, PER)) * 3
            enter, leave = slab(tl.load(lows + b)[None, :], tl.load(highs + b)[None, :], ox, ix[:, None], 0.0, time[:, None])
            enter, leave = slab(tl.load(lows + b + 1)[None, :], tl.load(highs + b + 1)[None, :], oy, iy[:, None], enter, leave)
            enter, leave = slab(tl.load(lows + b + 2)[None, :], tl.load(highs + b + 2)[None, :], oz, iz[:, None], enter, leave)
            least, place = tl.min(tl.where(enter <= leave, enter, FAR), 1, return_indices=True)
            owner = tl.where(least < time, g * PER + place, owner)
            time = tl.minimum(time, least)
    tl.store(times + py * W + px, time)
    tl.store(owners + py * W + px, owner)


@case
def nu_rays_and_boxes(W=768, H=768, groups=64, per=32, far=1000.0):
    middles = uniform(groups, 1, 3, low=-40.0, high=40.0)
    middles = middles + tensor([0.0, 0.0, 100.0], torch.float32) + uniform(groups, per, 3, low=-4.0, high=4.0)
    sizes = uniform(groups, per, 3, low=0.1, high=1.5)
    lows, highs = middles - sizes, middles + sizes
    group_lows, group_highs = lows.amin(1), highs.amax(1)
    times, owners = empty(H, W), empty(H, W, dtype=I32)

    def reference():
        y, x = torch.meshgrid(torch.arange(H, device=DEVICE), torch.arange(W, device=DEVICE), indexing="ij")
        d = torch.stack([(v.reshape(-1) - W // 2).float() * (1 / W) + 0.000123 for v in (x, y)] + [torch.ones(H * W, device=DEVICE)], 1)
        inverse, best, owner = 1 / d, torch.full((H * W,), far, device=DEVICE), torch.full((H * W,), -1, device=DEVICE)
        origin = tensor([0.5, -0.25, 1.0], torch.float32)
        for b in range(groups * per):
            a, c = (lows.view(-1, 3)[b] - origin) * inverse, (highs.view(-1, 3)[b] - origin) * inverse
            near, last = torch.minimum(a, c).amax(1).clamp(min=0), torch.maximum(a, c).amin(1)
            hit = (near <= last) & (near < best)
            best, owner = torch.where(hit, near, best), torch.where(hit, b, owner)
        return best, owner

    return Case(rays_and_boxes, (W // 16, H // 8), (lows, highs, group_lows, group_highs, times, owners, W, groups, 0.5, -0.25, 1.0),
                dict(FAR=far, BY=8, BX=16, PER=per), (times, owners), reference, options=dict(num_warps=4))


@triton.jit
def next_byte(crc, tables, level: tl.constexpr, shift: tl.constexpr):
    return tl.load(tables + level * 256 + ((crc >> shift) & 0xFF).to(tl.int32)).to(tl.uint32, bitcast=True)


@triton.jit
def crc_records(data, tables, out, n, LENGTH: tl.constexpr, BLOCK: tl.constexpr):
    """CRC-32C of records that are no whole words: four tables for four bytes at a time, bit by bit for the rest; and their ones."""
    record = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = record < n
    at = data + record * LENGTH
    crc = tl.full((BLOCK,), 0xFFFFFFFF, tl.uint32)
    ones = tl.zeros((BLOCK,), tl.uint32)
    for i in range(LENGTH // 4):
        word = tl.zeros((BLOCK,), tl.uint32)
        for k in tl.static_range(4):
            word |= tl.load(at + 4 * i + k, mask=live, other=0).to(tl.uint32) << (8 * k)
        pairs = word - ((word >> 1) & 0x55555555)
        fours = (pairs & 0x33333333) + ((pairs >> 2) & 0x33333333)
        ones += (((fours + (fours >> 4)) & 0x0F0F0F0F) * 0x01010101) >> 24
        crc ^= word
        crc = next_byte(crc, tables, 3, 0) ^ next_byte(crc, tables, 2, 8) ^ next_byte(crc, tables, 1, 16) ^ next_byte(crc, tables, 0, 24)
    for i in tl.static_range(LENGTH // 4 * 4, LENGTH):
        byte = tl.load(at + i, mask=live, other=0).to(tl.uint32)
        crc ^= byte
        for _ in tl.static_range(8):
            ones += byte & 1
            byte >>= 1
            crc = tl.where((crc & 1) != 0, (crc >> 1) ^ 0x82F63B78, crc >> 1)
    tl.store(out + record * 2, (crc ^ 0xFFFFFFFF).to(tl.int64), mask=live)
    tl.store(out + record * 2 + 1, ones.to(tl.int64), mask=live)


def crc_tables():
    """tables[k][b]: what byte b makes of the sum with k bytes of zeros after it."""
    rows = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        rows.append(crc)
    tables = [rows]
    for _ in range(3):
        tables.append([c >> 8 ^ rows[c & 255] for c in tables[-1]])
    return tables


@case
def nu_crc_records(n=1000003, length=62):
    data, out, table = randint(0, 256, n, length, dtype=torch.uint8), empty(n, 2, dtype=torch.int64), crc_tables()
    tables = tensor(table, torch.int64).to(I32)

    def reference():
        crc, ones, once = torch.full((n,), 0xFFFFFFFF, device=DEVICE), zeros(n, dtype=torch.int64), tensor(table[0], torch.int64)
        for i in range(length):
            byte = data[:, i].long()
            crc = crc >> 8 ^ once[(crc ^ byte) & 255]
            ones += sum(byte >> k & 1 for k in range(8))
        return (torch.stack((crc ^ 0xFFFFFFFF, ones), 1),)

    return Case(crc_records, (triton.cdiv(n, 256),), (data, tables, out, n), dict(LENGTH=length, BLOCK=256), (out,), reference, rtol=1e-9,
                options=dict(num_warps=4), bytes=n * (length + 16))
