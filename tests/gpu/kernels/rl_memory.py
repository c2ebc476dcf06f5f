# SPDX-License-Identifier: Apache-2.0
"""Gathers, scatters with atomics, transposes, views of odd strides, windows, resizing, packing, lists of tensors, random numbers."""
import math

import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, randint, registry, tensor, uniform, zeros

CASES, case = registry()
F16, BF16, F32, F64 = torch.float16, torch.bfloat16, torch.float32, torch.float64
I8, U8, I16, I32, I64 = torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64


@triton.jit
def nested_gather(table, codes, ids, scales, y, n, D, ROWS: tl.constexpr, BD: tl.constexpr):
    """y[i] = table[codes[ids[i]]] times the scale of that code: indices of 64 bits, one behind the other."""
    i, d = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, BD)
    number = tl.load(ids + i, mask=i < n, other=0)
    code = tl.load(codes + number, mask=i < n, other=0)
    scale = tl.load(scales + code, mask=i < n, other=0.0)
    inside = (i < n)[:, None] & (d < D)[None, :]
    row = tl.load(table + code[:, None] * D + d[None, :], mask=inside, other=0.0)
    tl.store(y + i.to(tl.int64)[:, None] * D + d[None, :], (row * scale[:, None]).to(tl.float16), mask=inside)


@case
def rl_nested_gather(n=500009, D=100, V=30000, ids_count=200000):
    table, codes, ids = rand(V, D, dtype=F16), randint(0, V, ids_count, dtype=I64), randint(0, ids_count, n, dtype=I64)
    scales, y = uniform(V, low=0.5, high=1.5), empty(n, D, dtype=F16)

    def reference():
        code = codes[ids]
        return (table[code].float() * scales[code][:, None],)

    return Case(nested_gather, (triton.cdiv(n, 32),), (table, codes, ids, scales, y, n, D), dict(ROWS=32, BD=128), (y,), reference, rtol=1e-3,
                options=dict(num_warps=4), bytes=4 * n * D)


@triton.jit
def group_extremes(x, group, highs, lows, newest, flags, check, n, BLOCK: tl.constexpr):
    """For each group the greatest, the least, the largest key of 64 bits, an or and an exclusive or, all by atomics."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    v, g = tl.load(x + i, mask=ok, other=0.0), tl.load(group + i, mask=ok, other=0)
    tl.atomic_max(highs + g, v, mask=ok)
    tl.atomic_min(lows + g, -(v * 1000.0).to(tl.int32), mask=ok)
    tl.atomic_max(newest + g, ((v * 1024.0).to(tl.int64) << 32) | i, mask=ok, sem="relaxed")
    bits = v.to(tl.int32, bitcast=True)
    tl.atomic_or(flags + g, (1 << (bits & 31)).to(tl.int32), mask=ok & (v > 4.0))
    tl.atomic_xor(check + g, bits, mask=ok)


@case
def rl_group_extremes(n=3000007, groups=100003):
    x, group = uniform(n, low=0.001, high=5.0), randint(0, groups, n)
    highs, lows, newest = zeros(groups), zeros(groups, dtype=I32), zeros(groups, dtype=I64)
    flags, check = zeros(groups, dtype=I32), zeros(groups, dtype=I32)

    def reference():
        g, bits = group.long(), x.view(I32)
        key = ((x * 1024).long() << 32) | torch.arange(n, device=DEVICE)
        parity = torch.stack([torch.bincount(g, ((bits >> b) & 1).double(), minlength=groups).long() % 2 << b for b in range(32)]).sum(0)
        seen = torch.stack([(torch.bincount(g[(x > 4) & ((bits & 31) == b)], minlength=groups) > 0).long() << b for b in range(32)]).sum(0)
        return (zeros(groups).scatter_reduce_(0, g, x, "amax"), zeros(groups, dtype=I32).scatter_reduce_(0, g, -(x * 1000).to(I32), "amin"),
                zeros(groups, dtype=I64).scatter_reduce_(0, g, key, "amax"), seen.to(I32), parity.to(I32))

    return Case(group_extremes, (triton.cdiv(n, 1024),), (x, group, highs, lows, newest, flags, check, n), dict(BLOCK=1024),
                (highs, lows, newest, flags, check), reference, rtol=1e-9, options=dict(num_warps=4), accumulate=True, bytes=8 * n)


@triton.jit
def turn_tiles(x, y, H, W, BH: tl.constexpr, BW: tl.constexpr):
    """y = x^T for each matrix of a batch."""
    b = tl.program_id(2).to(tl.int64) * H * W
    r, c = tl.program_id(1) * BH + tl.arange(0, BH), tl.program_id(0) * BW + tl.arange(0, BW)
    v = tl.load(x + b + r[:, None] * W + c[None, :], mask=(r < H)[:, None] & (c < W)[None, :])
    tl.store(y + b + c[:, None] * H + r[None, :], tl.trans(v), mask=(c < W)[:, None] & (r < H)[None, :])


def transpose_case(B, H, W, BH, BW, dtype, warps):
    x = randint(-128, 128, B, H, W, dtype=dtype) if dtype == I8 else rand(B, H, W, dtype=dtype)
    y = empty(B, W, H, dtype=dtype)
    return Case(turn_tiles, (triton.cdiv(W, BW), triton.cdiv(H, BH), B), (x, y, H, W), dict(BH=BH, BW=BW), (y,), lambda: (x.transpose(1, 2),),
                rtol=1e-9, options=dict(num_warps=warps), bytes=2 * x.element_size() * B * H * W)


@case
def rl_transpose_bytes(B=12, H=4001, W=2600):
    return transpose_case(B, H, W, 64, 128, I8, 8)


@case
def rl_transpose_f64(B=5, H=1500, W=3001):
    return transpose_case(B, H, W, 32, 32, F64, 4)


@case
def rl_transpose_narrow(B=600, H=2003, W=24):
    return transpose_case(B, H, W, 256, 32, F16, 8)


@triton.jit
def block_pointer_product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c = a b^T by block pointers that advance along the depth; b's block runs across its rows."""
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    left = tl.make_block_ptr(a, (M, K), (K, 1), (m, 0), (BM, BK), (1, 0))
    right = tl.make_block_ptr(b, (K, N), (1, K), (0, n), (BK, BN), (0, 1))
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        av = tl.load(left, boundary_check=(0, 1), padding_option="zero")
        bv = tl.load(right, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(av, bv, acc)
        left, right = tl.advance(left, (0, BK)), tl.advance(right, (BK, 0))
    out = tl.make_block_ptr(c, (M, N), (N, 1), (m, n), (BM, BN), (1, 0))
    tl.store(out, acc.to(c.dtype.element_ty), boundary_check=(0, 1))


@case
def rl_block_pointer_product(M=2001, N=1803, K=1100):
    a, b, c = rand(M, K, dtype=F16), rand(N, K, dtype=F16), empty(M, N, dtype=F16)
    return Case(block_pointer_product, (triton.cdiv(M, 128), triton.cdiv(N, 128)), (a, b, c, M, N, K), dict(BM=128, BN=128, BK=32), (c,),
                lambda: (a.float() @ b.float().T,), options=dict(num_warps=8, num_stages=4), flops=2 * M * N * K)


@triton.jit
def crop_and_flip(x, tops, lefts, flips, means, inverse, y, H, W, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    """Crops of byte images at places of their own, some mirrored, normalised for each channel: NHWC to NCHW."""
    image, row = tl.program_id(1), tl.program_id(0)
    top, left, flip = tl.load(tops + image), tl.load(lefts + image), tl.load(flips + image)
    i = tl.arange(0, BLOCK)
    column = tl.where(flip, SIZE - 1 - i, i) + left
    start = x + ((image * H + top + row) * W).to(tl.int64) * 3
    for c in tl.static_range(3):
        v = tl.load(start + column * 3 + c, mask=i < SIZE, other=0).to(tl.float32)
        out = (v * (1.0 / 255.0) - tl.load(means + c)) * tl.load(inverse + c)
        tl.store(y + ((image * 3 + c) * SIZE + row) * SIZE + i, out.to(tl.float16), mask=i < SIZE)


@case
def rl_crop_and_flip(B=256, H=301, W=347, SIZE=224):
    x = randint(0, 256, B, H, W, 3, dtype=U8)
    tops, lefts, flips = randint(0, H - SIZE + 1, B), randint(0, W - SIZE + 1, B), randint(0, 2, B).to(torch.bool)
    means, inverse, y = tensor([0.485, 0.456, 0.406], F32), tensor([4.367, 4.464, 4.444], F32), empty(B, 3, SIZE, SIZE, dtype=F16)

    def reference():
        at = torch.arange(SIZE, device=DEVICE)
        column = torch.where(flips[:, None], SIZE - 1 - at, at) + lefts[:, None]
        row = tops[:, None] + at
        v = x[torch.arange(B, device=DEVICE)[:, None, None], row[:, :, None], column[:, None, :]].float()
        return (((v / 255 - means) * inverse).permute(0, 3, 1, 2),)

    return Case(crop_and_flip, (SIZE, B), (x, tops, lefts, flips, means, inverse, y, H, W), dict(SIZE=SIZE, BLOCK=256), (y,), reference, rtol=1e-3,
                options=dict(num_warps=2), bytes=9 * B * SIZE * SIZE)


@triton.jit
def unfold(x, y, C, H, W, OH, OW, K: tl.constexpr, STRIDE: tl.constexpr, DILATION: tl.constexpr, PAD: tl.constexpr, BP: tl.constexpr,
           BC: tl.constexpr):
    """Columns of an image's windows: rows of the output are places, columns are channels times taps."""
    b = tl.program_id(2)
    p, k = tl.program_id(0) * BP + tl.arange(0, BP)[:, None], tl.program_id(1) * BC + tl.arange(0, BC)[None, :]
    c, ky, kx = k // (K * K), k // K % K, k % K
    sy, sx = p // OW * STRIDE - PAD + ky * DILATION, p % OW * STRIDE - PAD + kx * DILATION
    ok = (p < OH * OW) & (k < C * K * K)
    v = tl.load(x + ((b * C + c) * H + sy) * W + sx, mask=ok & (sy >= 0) & (sy < H) & (sx >= 0) & (sx < W), other=0.0)
    tl.store(y + (b * (OH * OW) + p).to(tl.int64) * (C * K * K) + k, v, mask=ok)


@case
def rl_unfold_dilated(B=8, C=48, H=121, W=133, K=3):
    OH, OW = (H + 2 - 5) // 2 + 1, (W + 2 - 5) // 2 + 1
    x, y = rand(B, C, H, W, dtype=BF16), empty(B, OH * OW, C * K * K, dtype=BF16)

    def reference():
        return (torch.nn.functional.unfold(x.float(), K, dilation=2, padding=1, stride=2).transpose(1, 2),)

    return Case(unfold, (triton.cdiv(OH * OW, 32), triton.cdiv(C * K * K, 128), B), (x, y, C, H, W, OH, OW),
                dict(K=K, STRIDE=2, DILATION=2, PAD=1, BP=32, BC=128), (y,), reference, rtol=1e-9, options=dict(num_warps=4),
                bytes=4 * B * OH * OW * C * K * K)


@triton.jit
def adaptive_pool(x, means, peaks, H, W, OH: tl.constexpr, OW: tl.constexpr, TALL: tl.constexpr, WIDE: tl.constexpr):
    """The mean and maximum of windows whose sizes differ, so that they cover an image: one program for each plane."""
    plane = tl.program_id(0)
    i, j = tl.arange(0, TALL)[:, None], tl.arange(0, WIDE)[None, :]
    for cell in range(OH * OW):
        top, bottom = cell // OW * H // OH, ((cell // OW + 1) * H + OH - 1) // OH
        left, right = cell % OW * W // OW, ((cell % OW + 1) * W + OW - 1) // OW
        ok = (top + i < bottom) & (left + j < right)
        v = tl.load(x + (plane * H + top + i) * W + left + j, mask=ok, other=float("-inf"))
        peak = tl.max(tl.max(v, 1), 0)
        total = tl.sum(tl.sum(tl.where(ok, v, 0.0), 1), 0)
        tl.store(means + plane * (OH * OW) + cell, total / ((bottom - top) * (right - left)).to(tl.float32))
        tl.store(peaks + plane * (OH * OW) + cell, peak)


@case
def rl_adaptive_pool(planes=4096, H=75, W=93):
    x, means, peaks = rand(planes, H, W), empty(planes, 7, 6), empty(planes, 7, 6)

    def reference():
        pool = torch.nn.functional
        return pool.adaptive_avg_pool2d(x[None], (7, 6))[0], pool.adaptive_max_pool2d(x[None], (7, 6))[0]

    return Case(adaptive_pool, (planes,), (x, means, peaks, H, W), dict(OH=7, OW=6, TALL=16, WIDE=32), (means, peaks), reference, rtol=1e-4,
                options=dict(num_warps=4), bytes=4 * planes * H * W)


@triton.jit
def cubic_weight(t, TAP: tl.constexpr):
    d = tl.abs(t - (TAP - 1))
    near = (1.25 * d - 2.25) * d * d + 1.0
    far = ((-0.75 * d + 3.75) * d - 6.0) * d + 3.0
    return tl.where(d <= 1.0, near, far)


@triton.jit
def resize_bicubic(x, y, H, W, OH, OW, BLOCK: tl.constexpr):
    """Bicubic resizing of planes: 16 taps clamped to the image's edge."""
    plane, oy = tl.program_id(2), tl.program_id(1)
    ox = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    fy, fx = (oy + 0.5) * H / OH - 0.5, (ox.to(tl.float32) + 0.5) * W / OW - 0.5
    ly, lx = tl.floor(fy), tl.floor(fx)
    ty, tx = fy - ly, fx - lx
    out = tl.zeros((BLOCK,), tl.float32)
    for dy in tl.static_range(4):
        sy = tl.minimum(tl.maximum(ly.to(tl.int32) + dy - 1, 0), H - 1)
        line = tl.zeros((BLOCK,), tl.float32)
        for dx in tl.static_range(4):
            sx = tl.minimum(tl.maximum(lx.to(tl.int32) + dx - 1, 0), W - 1)
            line += cubic_weight(tx, dx) * tl.load(x + (plane * H + sy) * W + sx, mask=ox < OW, other=0.0)
        out += cubic_weight(ty, dy) * line
    tl.store(y + (plane * OH + oy) * OW + ox, out, mask=ox < OW)


@case
def rl_resize_bicubic(planes=48, H=301, W=403, OH=517, OW=777):
    x, y = rand(planes, H, W), empty(planes, OH, OW)
    return Case(resize_bicubic, (triton.cdiv(OW, 256), OH, planes), (x, y, H, W, OH, OW), dict(BLOCK=256), (y,),
                lambda: (torch.nn.functional.interpolate(x[None], (OH, OW), mode="bicubic", align_corners=False)[0],), rtol=1e-3,
                options=dict(num_warps=4), bytes=4 * planes * (H * W + OH * OW))


@triton.jit
def quantize_ragged(x, begins, y, scales, rows, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr):
    """Rows that begin anywhere, as bytes with a scale each: two passes over a row."""
    for row in range(tl.program_id(0), rows, PROGRAMS):
        first, last = tl.load(begins + row), tl.load(begins + row + 1)
        most = tl.zeros((BLOCK,), tl.float32)
        for at in tl.range(first, last, BLOCK, num_stages=2):
            i = at + tl.arange(0, BLOCK)
            most = tl.maximum(most, tl.abs(tl.load(x + i, mask=i < last, other=0.0).to(tl.float32)))
        scale = tl.maximum(tl.max(most, 0), 1e-6) / 127.0
        for at in tl.range(first, last, BLOCK, num_stages=2):
            i = at + tl.arange(0, BLOCK)
            v = tl.load(x + i, mask=i < last, other=0.0, eviction_policy="evict_first").to(tl.float32)
            tl.store(y + i, tl.floor(tl.div_rn(v, scale) + 0.5).to(tl.int8), mask=i < last)
        tl.store(scales + row, scale)


@case
def rl_quantize_ragged(rows=30011, longest=2600):
    lengths = torch.arange(rows) * 6151 % longest + 1
    begins = torch.cat((torch.zeros(1, dtype=I64), lengths.cumsum(0)))
    owner, total = torch.repeat_interleave(torch.arange(rows), lengths).to(DEVICE), int(begins[-1])
    x, y, scales = rand(total, dtype=BF16), empty(total, dtype=I8), empty(rows)

    def reference():
        scale = zeros(rows).scatter_reduce_(0, owner, x.float().abs(), "amax").clamp(min=1e-6) / 127
        return torch.floor(x.float() / scale[owner] + 0.5), scale

    return Case(quantize_ragged, (1056,), (x, begins.to(I32).to(DEVICE), y, scales, rows), dict(BLOCK=1024, PROGRAMS=1056), (y, scales), reference,
                options=dict(num_warps=4), bytes=5 * total)


@triton.jit
def pack_flags(flags, words, counts, N, WORDS: tl.constexpr):
    """A row of booleans as bits of 32, and how many of them are set."""
    row = tl.program_id(0)
    w, bit = tl.arange(0, WORDS)[:, None], tl.arange(0, 32)[None, :]
    i = w * 32 + bit
    f = tl.load(flags + row * N + i, mask=i < N, other=0).to(tl.int32)
    word = tl.arange(0, WORDS)
    tl.store(words + row * tl.cdiv(N, 32) + word, tl.sum(f << bit, 1), mask=word * 32 < N)
    tl.store(counts + row, tl.sum(tl.sum(f, 1), 0).to(tl.int16))


@case
def rl_pack_flags(R=60013, N=1501):
    flags, words, counts = randint(0, 3, R, N) == 0, empty(R, triton.cdiv(N, 32), dtype=I32), empty(R, dtype=I16)

    def reference():
        bits = torch.nn.functional.pad(flags, (0, -N % 32)).view(R, -1, 32)
        return (bits.long() << torch.arange(32, device=DEVICE)).sum(2).to(I32), flags.sum(1)

    return Case(pack_flags, (R,), (flags, words, counts, N), dict(WORDS=64), (words, counts), reference, rtol=1e-9, options=dict(num_warps=4),
                bytes=1.125 * R * N)


def philox(seed, offsets):
    """Philox 4 x 32 with ten rounds: the four words for each counter, as integers of 64 bits."""
    low = 0xFFFFFFFF
    c = [offsets & low, torch.zeros_like(offsets), torch.zeros_like(offsets), torch.zeros_like(offsets)]
    k0, k1 = seed & low, seed >> 32
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [((b >> 32) & low) ^ c[1] ^ k0, b & low, ((a >> 32) & low) ^ c[3] ^ k1, a & low]
        k0, k1 = (k0 + 0x9E3779B9) & low, (k1 + 0xBB67AE85) & low
    return c


def unit(word):
    """A word as a number from 0 to 1, as Triton makes it."""
    signed = torch.where(word >= 2**31, word - 2**32, word)
    return torch.where(signed < 0, -signed - 1, signed).float() * 4.6566127342e-10


@triton.jit
def dropout_quarters(x, y, seed, n, limit, scale, BLOCK: tl.constexpr):
    """Dropout whose four words of a counter decide on four elements that lie a quarter of the tensor apart."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    words = tl.randint4x(seed, i)
    for q in tl.static_range(4):
        at = q * n + i
        v = tl.load(x + at, mask=i < n, other=0.0)
        keep = (words[q] >> 8).to(tl.int32) & 0xFFFFFF
        tl.store(y + at, tl.where(keep >= limit, v * scale, 0.0).to(tl.float16), mask=i < n)


@case
def rl_dropout_quarters(n=4000004, seed=12345):
    x, y = rand(4 * n, dtype=F16), empty(4 * n, dtype=F16)

    def reference():
        words = torch.cat(philox(seed, torch.arange(n, device=DEVICE)))
        return (torch.where((words >> 8) >= 2**24 // 5, x.float() * 1.25, 0.0),)

    return Case(dropout_quarters, (triton.cdiv(n, 1024),), (x, y, seed, n, 2**24 // 5, 1.25), dict(BLOCK=1024), (y,), reference, rtol=1e-3,
                options=dict(num_warps=4), bytes=16 * n)


@triton.jit
def noise_images(x, levels, noisy, noise, seed, PIXELS, BLOCK: tl.constexpr):
    """A diffusion step: each image mixed with normal noise at its own level; noise is written too."""
    image = tl.program_id(1)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = image * PIXELS + i
    level = tl.load(levels + image)
    eps = tl.randn(seed, at)
    v = tl.load(x + at, mask=i < PIXELS, other=0.0)
    tl.store(noise + at, eps.to(tl.bfloat16), mask=i < PIXELS)
    tl.store(noisy + at, tl.sqrt(level) * v + tl.sqrt(1.0 - level) * eps, mask=i < PIXELS)


@case
def rl_noise_images(images=96, PIXELS=3 * 250 * 250, seed=987654321):
    x, levels = rand(images, PIXELS), uniform(images, low=0.1, high=0.9)
    noisy, noise = empty(images, PIXELS), empty(images, PIXELS, dtype=BF16)

    def reference():
        words = philox(seed, torch.arange(images * PIXELS, device=DEVICE))
        eps = torch.sqrt(-2 * torch.log(unit(words[0]).clamp(min=1e-7))) * torch.cos(2 * math.pi * unit(words[1]))
        eps = eps.view(images, PIXELS)
        return levels.sqrt()[:, None] * x + (1 - levels).sqrt()[:, None] * eps, eps

    return Case(noise_images, (triton.cdiv(PIXELS, 2048), images), (x, levels, noisy, noise, seed, PIXELS), dict(BLOCK=2048), (noisy, noise),
                reference, rtol=5e-3, options=dict(num_warps=8), bytes=10 * images * PIXELS)


@triton.jit
def flatten_list(addresses, sizes, places, owners, firsts, flat, factor, BLOCK: tl.constexpr):
    """Many tensors of one list scaled, limited and written as bf16 into one buffer: a program for each chunk of a tensor."""
    chunk = tl.program_id(0)
    owner, first = tl.load(owners + chunk), tl.load(firsts + chunk)
    source = tl.load(addresses + owner).to(tl.pointer_type(tl.float32))
    size, place = tl.load(sizes + owner), tl.load(places + owner)
    i = first + tl.arange(0, BLOCK)
    v = tl.load(source + i, mask=i < size, other=0.0) * factor
    tl.store(flat + place + i, tl.clamp(v, -1.0, 1.0).to(tl.bfloat16), mask=i < size)


@case
def rl_flatten_list(count=150, mean=200000, BLOCK=4096):
    sizes = [1 + i * 7919 * 31 % (2 * mean) for i in range(count)]
    tensors = [rand(n) for n in sizes]
    places = [sum(sizes[:i]) for i in range(count)]
    chunks = [(i, first) for i, n in enumerate(sizes) for first in range(0, n, BLOCK)]
    addresses = tensor([t.data_ptr() for t in tensors], I64)
    flat = empty(sum(sizes), dtype=BF16)
    return Case(flatten_list, (len(chunks),),
                (addresses, tensor(sizes, I32), tensor(places, I64), tensor([c[0] for c in chunks], I32), tensor([c[1] for c in chunks], I32), flat, 0.7),
                dict(BLOCK=BLOCK), (flat,), lambda: ((torch.cat(tensors) * 0.7).clamp(-1, 1),), options=dict(num_warps=8), bytes=6 * sum(sizes))


@triton.jit
def average_weights(weights, average, out, copy, n, decay, BLOCK: tl.constexpr):
    """A moving average of weights, and a copy in half precision: everything is read once, so that caches are passed by."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    w = tl.load(weights + i, mask=i < n, other=0.0, cache_modifier=".cg").to(tl.float32)
    a = tl.load(average + i, mask=i < n, other=0.0, volatile=True)
    a = tl.fma(a - w, decay, w)
    tl.store(out + i, a, mask=i < n, cache_modifier=".cs")
    tl.store(copy + i, a.to(tl.float16), mask=i < n, cache_modifier=".wt")


@case
def rl_average_weights(n=30000017):
    weights, average, out, copy = rand(n, dtype=F16), rand(n), empty(n), empty(n, dtype=F16)

    def reference():
        a = weights.float() + (average - weights.float()) * 0.99
        return a, a

    return Case(average_weights, (triton.cdiv(n, 2048),), (weights, average, out, copy, n, 0.99), dict(BLOCK=2048), (out, copy), reference,
                rtol=1e-3, options=dict(num_warps=8), bytes=12 * n)


@triton.jit
def scatter_rows(x, index, y, n, D, ROWS: tl.constexpr, BD: tl.constexpr):
    """y[index[i]] += x[i] by atomics, in the type of the rows."""
    i, d = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.program_id(1) * BD + tl.arange(0, BD)
    to = tl.load(index + i, mask=i < n, other=0)
    ok = (i < n)[:, None] & (d < D)[None, :]
    v = tl.load(x + i[:, None] * D + d[None, :], mask=ok, other=0.0)
    tl.atomic_add(y + to[:, None] * D + d[None, :], v, mask=ok, sem="relaxed")


@case
def rl_scatter_rows_bf16(n=100003, D=200, rows=50000, dtype=BF16):
    x, index, y = rand(n, D, dtype=dtype), randint(0, rows, n, dtype=I64), zeros(rows, D, dtype=dtype)
    return Case(scatter_rows, (triton.cdiv(n, 16), triton.cdiv(D, 128)), (x, index, y, n, D), dict(ROWS=16, BD=128), (y,),
                lambda: (zeros(rows, D).index_add_(0, index, x.float()),), rtol=2e-2, options=dict(num_warps=4), accumulate=True,
                bytes=6 * n * D)


@triton.jit
def combine_views(x, y, z, A, B, C, xa, xb, xc, ya, yb, yc, BB: tl.constexpr, BC: tl.constexpr):
    """z = x y + x for views of any strides: permuted, broadcast, or turned around by negative ones."""
    a = tl.program_id(2).to(tl.int64)
    b, c = tl.program_id(1) * BB + tl.arange(0, BB)[:, None], tl.program_id(0) * BC + tl.arange(0, BC)[None, :]
    ok = (b < B) & (c < C)
    xv = tl.load(x + a * xa + b * xb + c * xc, mask=ok, other=0.0).to(tl.float32)
    yv = tl.load(y + (A - 1) * (-ya if ya < 0 else 0) + a * ya + b * yb + (C - 1 - c) * yc, mask=ok, other=0.0).to(tl.float32)
    tl.store(z + (a * B + b) * C + c, (xv * yv + xv).to(tl.float16), mask=ok)


@case
def rl_combine_views(A=90, B=301, C=1000):
    x, y, z = rand(B, C, A, dtype=F16), rand(A, C, dtype=BF16), empty(A, B, C, dtype=F16)

    def reference():
        xv = x.permute(2, 0, 1).float()
        return (xv * y.flip(0, 1).float()[:, None, :] + xv,)

    return Case(combine_views, (triton.cdiv(C, 64), triton.cdiv(B, 16), A), (x, y, z, A, B, C, 1, A * C, A, -C, 0, 1), dict(BB=16, BC=64), (z,),
                reference, rtol=1e-3, options=dict(num_warps=4), bytes=4 * A * B * C)


@triton.jit
def deposit_charges(px, py, charge, grid, n, G, BLOCK: tl.constexpr):
    """Charges of particles shared among the four nodes of their cells of a torus, in double precision."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    x, y = tl.load(px + i, mask=ok, other=0.0), tl.load(py + i, mask=ok, other=0.0)
    q = tl.load(charge + i, mask=ok, other=0.0)
    left, top = tl.floor(x), tl.floor(y)
    tx, ty = x - left, y - top
    c, r = left.to(tl.int32), top.to(tl.int32)
    right, below = (c + 1) % G, (r + 1) % G
    tl.atomic_add(grid + r * G + c, q * (1.0 - tx) * (1.0 - ty), mask=ok)
    tl.atomic_add(grid + r * G + right, q * tx * (1.0 - ty), mask=ok)
    tl.atomic_add(grid + below * G + c, q * (1.0 - tx) * ty, mask=ok)
    tl.atomic_add(grid + below * G + right, q * tx * ty, mask=ok)


@case
def rl_deposit_charges_f64(n=2000003, G=900):
    px, py, charge = (uniform(n, low=0.0, high=G - 1e-3).double() for _ in range(3))
    grid = zeros(G, G, dtype=F64)

    def reference():
        c, r = px.floor().long(), py.floor().long()
        tx, ty = px - c, py - r
        out = zeros(G * G, dtype=F64)
        for dy, wy in ((0, 1 - ty), (1, ty)):
            for dx, wx in ((0, 1 - tx), (1, tx)):
                out.index_add_(0, (r + dy) % G * G + (c + dx) % G, charge * wx * wy)
        return (out,)

    return Case(deposit_charges, (triton.cdiv(n, 512),), (px, py, charge, grid, n, G), dict(BLOCK=512), (grid,), reference, rtol=1e-9,
                options=dict(num_warps=4), accumulate=True, bytes=24 * n)


@triton.jit
def sums_behind_locks(x, group, locks, sums, counts, n, D: tl.constexpr, GROUPS: tl.constexpr, ROWS: tl.constexpr):
    """Sums of rows and their number for each group: a program adds its own rows first, then its sums behind the group's lock."""
    d, r = tl.arange(0, D), tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    g = tl.load(group + r, mask=r < n, other=-1)
    v = tl.load(x + r[:, None] * D + d[None, :], mask=(r < n)[:, None], other=0.0).to(tl.float32)
    for k in range(GROUPS):
        which = (k + tl.program_id(0)) % GROUPS
        mine = g == which
        count = tl.sum(mine.to(tl.int32), 0)
        if count > 0:
            part = tl.sum(tl.where(mine[:, None], v, 0.0), 0)
            while tl.atomic_cas(locks + which, 0, 1) == 1:
                pass
            tl.store(sums + which * D + d, tl.load(sums + which * D + d) + part)
            tl.store(counts + which, tl.load(counts + which) + count)
            tl.debug_barrier()
            tl.atomic_xchg(locks + which, 0)


@case
def rl_sums_behind_locks(n=40003, D=128, groups=24):
    x, group = rand(n, D, dtype=F16), randint(0, groups, n)
    locks, sums, counts = zeros(groups, dtype=I32), zeros(groups, D), zeros(groups, dtype=I32)

    def reference():
        return zeros(groups, D, dtype=F64).index_add_(0, group, x.double()), torch.bincount(group, minlength=groups)

    return Case(sums_behind_locks, (triton.cdiv(n, 128),), (x, group, locks, sums, counts, n), dict(D=D, GROUPS=groups, ROWS=128), (sums, counts),
                reference, rtol=1e-4, options=dict(num_warps=8), accumulate=True, bytes=2 * n * D)


@triton.jit
def short_rows(values, begins, means, spreads, rows, BLOCK: tl.constexpr, PER: tl.constexpr):
    """Mean and spread of short ragged rows: one warp takes several rows, 16 elements at a time."""
    i = tl.arange(0, BLOCK)
    for k in range(PER):
        row = tl.program_id(0) * PER + k
        if row < rows:
            first, last = tl.load(begins + row), tl.load(begins + row + 1)
            total, square = tl.zeros((BLOCK,), tl.float64), tl.zeros((BLOCK,), tl.float64)
            for at in range(first, last, BLOCK):
                v = tl.load(values + at + i, mask=at + i < last, other=0.0).to(tl.float64)
                total += v
                square += v * v
            count = tl.maximum(last - first, 1)
            mean = tl.sum(total, 0) / count
            tl.store(means + row, mean)
            tl.store(spreads + row, tl.sqrt(tl.maximum(tl.sum(square, 0) / count - mean * mean, 0.0)))


@case
def rl_short_rows(rows=200011, longest=50):
    lengths = torch.arange(rows) * 7919 % longest
    begins = torch.cat((torch.zeros(1, dtype=I64), lengths.cumsum(0)))
    owner, total = torch.repeat_interleave(torch.arange(rows), lengths).to(DEVICE), int(begins[-1])
    values, means, spreads, counts = rand(total), empty(rows, dtype=F64), empty(rows, dtype=F64), lengths.clamp(min=1).to(DEVICE)

    def reference():
        v = values.double()
        mean = zeros(rows, dtype=F64).index_add_(0, owner, v) / counts
        square = zeros(rows, dtype=F64).index_add_(0, owner, v * v) / counts
        return mean, (square - mean * mean).clamp(min=0).sqrt()

    return Case(short_rows, (triton.cdiv(rows, 8),), (values, begins.to(I32).to(DEVICE), means, spreads, rows), dict(BLOCK=16, PER=8),
                (means, spreads), reference, rtol=1e-5, options=dict(num_warps=1), bytes=4 * total + 20 * rows)
