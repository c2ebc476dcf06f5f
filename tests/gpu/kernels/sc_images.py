# SPDX-License-Identifier: Apache-2.0
"""Image processing: sampling, filters of ranks, similarity, boxes, rays through volumes."""
import math

import torch
import triton
import triton.language as tl

from case import Case, empty, randint, rand, registry, tensor, uniform, zeros

CASES, case = registry()
F = torch.nn.functional


@triton.jit
def corner(plane, y, x, H, W, ok):
    return tl.load(plane + y * W + x, mask=ok & (y >= 0) & (y < H) & (x >= 0) & (x < W), other=0.0)


@triton.jit
def grid_sample(x, grid, y, C, H, W, P, BLOCK: tl.constexpr):
    """Bilinear, zeros outside, corners not aligned."""
    n = tl.program_id(1)
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = o < P
    gx = tl.load(grid + (n * P + o) * 2, ok, 0.0)
    gy = tl.load(grid + (n * P + o) * 2 + 1, ok, 0.0)
    fx = ((gx + 1.0) * W - 1.0) * 0.5
    fy = ((gy + 1.0) * H - 1.0) * 0.5
    x0f, y0f = tl.floor(fx), tl.floor(fy)
    ax, ay = fx - x0f, fy - y0f
    x0, y0 = x0f.to(tl.int32), y0f.to(tl.int32)
    for c in range(C):
        plane = x + (n * C + c).to(tl.int64) * H * W
        top = corner(plane, y0, x0, H, W, ok) * (1.0 - ax) + corner(plane, y0, x0 + 1, H, W, ok) * ax
        bottom = corner(plane, y0 + 1, x0, H, W, ok) * (1.0 - ax) + corner(plane, y0 + 1, x0 + 1, H, W, ok) * ax
        tl.store(y + (n * C + c).to(tl.int64) * P + o, top * (1.0 - ay) + bottom * ay, ok)


@case
def sc_grid_sample(N=8, C=32, H=250, W=260, OH=240, OW=256):
    x, grid, y = rand(N, C, H, W), uniform(N, OH, OW, 2, low=-1.05, high=1.05), empty(N, C, OH, OW)
    return Case(grid_sample, (triton.cdiv(OH * OW, 256), N), (x, grid, y, C, H, W, OH * OW), dict(BLOCK=256), (y,),
                lambda: (F.grid_sample(x, grid, align_corners=False),), rtol=1e-3, options=dict(num_warps=4), bytes=8 * N * C * OH * OW)


@triton.jit
def median9(image, out, H, W, BLOCK: tl.constexpr):
    """The middle of 3 x 3: maximum of the least, middle of the middles, minimum of the largest of three sorted columns."""
    y = tl.program_id(1)
    image += tl.program_id(2).to(tl.int64) * H * W
    out += tl.program_id(2).to(tl.int64) * H * W
    x = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    up = image + tl.maximum(y - 1, 0) * W
    mid = image + y * W
    down = image + tl.minimum(y + 1, H - 1) * W
    low = tl.zeros((BLOCK,), tl.uint8)
    high = tl.full((BLOCK,), 255, tl.uint8)
    big = tl.zeros((BLOCK,), tl.uint8)
    small = tl.full((BLOCK,), 255, tl.uint8)
    for i in tl.static_range(3):
        at = tl.minimum(tl.maximum(x + i - 1, 0), W - 1)
        a, b, c = tl.load(up + at), tl.load(mid + at), tl.load(down + at)
        a, b = tl.minimum(a, b), tl.maximum(a, b)
        b, c = tl.minimum(b, c), tl.maximum(b, c)
        a, b = tl.minimum(a, b), tl.maximum(a, b)
        low = tl.maximum(low, a)
        high = tl.minimum(high, c)
        middle = tl.maximum(tl.minimum(big, b), tl.minimum(small, tl.maximum(big, b))) if i == 2 else b
        small, big = tl.minimum(small, b), tl.maximum(big, b)
    a, b = tl.minimum(low, middle), tl.maximum(low, middle)
    tl.store(out + y * W + x, tl.maximum(a, tl.minimum(b, high)), x < W)


@case
def sc_median_3x3(N=8, H=2160, W=3840):
    image, out = randint(0, 256, N, H, W, dtype=torch.uint8), empty(N, H, W, dtype=torch.uint8)

    def reference():
        done = []
        for one in image:
            p = F.pad(one[None].float(), (1, 1, 1, 1), mode="replicate")[0]
            done.append(p.unfold(0, 3, 1).unfold(1, 3, 1).reshape(H, W, 9).median(-1)[0].to(torch.uint8))
        return (torch.stack(done),)

    return Case(median9, (triton.cdiv(W, 512), H, N), (image, out, H, W), dict(BLOCK=512), (out,), reference, rtol=1e-6,
                options=dict(num_warps=4), bytes=2 * N * H * W)


@triton.jit
def ssim(a, b, weights, out, H, W, C1, C2, TAPS: tl.constexpr, BY: tl.constexpr, BX: tl.constexpr):
    """Structural similarity with a Gaussian window, valid part only."""
    OH = H - TAPS + 1
    OW = W - TAPS + 1
    plane = tl.program_id(2)
    y = tl.program_id(1) * BY + tl.arange(0, BY)[:, None]
    x = tl.program_id(0) * BX + tl.arange(0, BX)[None, :]
    ok = (y < OH) & (x < OW)
    ma = tl.zeros((BY, BX), tl.float32)
    mb = tl.zeros((BY, BX), tl.float32)
    aa = tl.zeros((BY, BX), tl.float32)
    bb = tl.zeros((BY, BX), tl.float32)
    ab = tl.zeros((BY, BX), tl.float32)
    for i in range(TAPS):
        wi = tl.load(weights + i)
        for j in tl.static_range(TAPS):
            w = wi * tl.load(weights + j)
            at = plane * H * W + (y + i) * W + x + j
            p = tl.load(a + at, ok, 0.0)
            q = tl.load(b + at, ok, 0.0)
            ma += w * p
            mb += w * q
            aa += w * p * p
            bb += w * q * q
            ab += w * p * q
    mm = ma * mb
    ma, mb = ma * ma, mb * mb
    value = (2.0 * mm + C1) * (2.0 * (ab - mm) + C2) / ((ma + mb + C1) * (aa - ma + bb - mb + C2))
    tl.store(out + plane * OH * OW + y * OW + x, value, ok)


@case
def sc_ssim(planes=6, H=1080, W=1920, taps=11):
    a = uniform(planes, H, W)
    b = a * 0.8 + uniform(planes, H, W) * 0.2
    OH, OW = H - taps + 1, W - taps + 1
    out = empty(planes, OH, OW)
    w = [math.exp(-(i - taps // 2)**2 / 4.5) for i in range(taps)]
    weights = tensor([v / sum(w) for v in w], torch.float32)

    def reference():
        def blur(v):
            wide = weights.double()
            return F.conv2d(F.conv2d(v[:, None], wide[None, None, :, None]), wide[None, None, None])[:, 0]
        x, y = a.double(), b.double()
        ma, mb = blur(x), blur(y)
        aa, bb, ab = blur(x * x) - ma**2, blur(y * y) - mb**2, blur(x * y) - ma * mb
        return ((2 * ma * mb + 1e-4) * (2 * ab + 9e-4) / ((ma**2 + mb**2 + 1e-4) * (aa + bb + 9e-4)),)

    return Case(ssim, (triton.cdiv(OW, 128), triton.cdiv(OH, 8), planes), (a, b, weights, out, H, W, 1e-4, 9e-4), dict(TAPS=taps, BY=8, BX=128),
                (out,), reference, rtol=1e-3, options=dict(num_warps=4), bytes=12 * planes * H * W, flops=planes * H * W * taps * taps * 14)


@triton.jit
def nms_mask(boxes, out, n, words, limit, BM: tl.constexpr):
    """Bit j of word w of row i: box 32 w + j comes after box i and overlaps it too much."""
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * 32 + tl.arange(0, 32)
    a = boxes + 4 * i
    b = boxes + 4 * j
    ax0, ay0, ax1, ay1 = tl.load(a, i < n, 0.), tl.load(a + 1, i < n, 0.), tl.load(a + 2, i < n, 0.), tl.load(a + 3, i < n, 0.)
    bx0, by0, bx1, by1 = tl.load(b, j < n, 0.), tl.load(b + 1, j < n, 0.), tl.load(b + 2, j < n, 0.), tl.load(b + 3, j < n, 0.)
    w = tl.minimum(ax1[:, None], bx1[None, :]) - tl.maximum(ax0[:, None], bx0[None, :])
    h = tl.minimum(ay1[:, None], by1[None, :]) - tl.maximum(ay0[:, None], by0[None, :])
    both = tl.maximum(w, 0.0) * tl.maximum(h, 0.0)
    union = ((ax1 - ax0) * (ay1 - ay0))[:, None] + ((bx1 - bx0) * (by1 - by0))[None, :] - both
    hit = (both > limit * union) & (j[None, :] > i[:, None]) & (j < n)[None, :]
    bits = tl.sum(tl.where(hit, 1 << tl.arange(0, 32)[None, :], 0), 1)
    tl.store(out + i * words + tl.program_id(1), bits, i < n)


@case
def sc_nms_mask(n=10000):
    corner_of, size = uniform(n, 2, high=60.0), uniform(n, 2, low=4.0, high=30.0)
    boxes = torch.cat((corner_of, corner_of + size), 1)
    words = triton.cdiv(n, 32)
    out = empty(n, words, dtype=torch.int32)

    def reference():
        low, high = boxes[:, None, :2].maximum(boxes[None, :, :2]), boxes[:, None, 2:].minimum(boxes[None, :, 2:])
        both = (high - low).clamp(min=0).prod(-1)
        area = (boxes[:, 2:] - boxes[:, :2]).prod(-1)
        hit = torch.triu(both > 0.5 * (area[:, None] + area[None] - both), 1)
        hit = F.pad(hit, (0, words * 32 - n)).view(n, words, 32)
        return ((hit.int() << torch.arange(32, device=hit.device, dtype=torch.int32)).sum(-1, dtype=torch.int32),)

    return Case(nms_mask, (triton.cdiv(n, 128), words), (boxes, out, n, words, 0.5), dict(BM=128), (out,), reference, rtol=3e-2,
                options=dict(num_warps=4), bytes=4 * n * words)


@triton.jit
def equalise_tiles(image, out, W, TILE: tl.constexpr):
    """The histogram of a tile, its running sum, and each pixel's share of it."""
    y = tl.arange(0, TILE)[:, None] + tl.program_id(1) * TILE
    x = tl.arange(0, TILE)[None, :] + tl.program_id(0) * TILE
    pixels = tl.reshape(tl.load(image + y * W + x), (TILE * TILE,)).to(tl.int32)
    counts = tl.histogram(pixels, 256)
    below = tl.cumsum(counts, 0)
    share = tl.gather(below, pixels, 0).to(tl.float32) * (255.0 / (TILE * TILE))
    tl.store(out + y * W + x, tl.reshape(tl.floor(share), (TILE, TILE)).to(tl.uint8))


@case
def sc_equalise_tiles(H=4096, W=8192):
    image, out = (uniform(H, W)**2 * 256).to(torch.uint8), empty(H, W, dtype=torch.uint8)

    def reference():
        t = image.view(H // 64, 64, W // 64, 64).transpose(1, 2).reshape(-1, 4096).long()
        counts = zeros(t.shape[0], 256, dtype=torch.int32).scatter_add_(1, t, torch.ones_like(t, dtype=torch.int32))
        share = (counts.cumsum(1).gather(1, t).float() * (255 / 4096)).floor()
        return (share.view(H // 64, W // 64, 64, 64).transpose(1, 2).reshape(H, W).to(torch.uint8),)

    return Case(equalise_tiles, (W // 64, H // 64), (image, out, W), dict(TILE=64), (out,), reference, options=dict(num_warps=8), bytes=2 * H * W)


@triton.jit
def mix(a, b, t):
    return a + t * (b - a)


@triton.jit
def ray_march(volume, image, W, V, steps, dx, dy, opacity, BY: tl.constexpr, BX: tl.constexpr):
    """Light gathered front to back through a cube of densities; a tile of rays stops when all of them are dark."""
    px = tl.program_id(0) * BX + tl.arange(0, BX)[None, :]
    py = tl.program_id(1) * BY + tl.arange(0, BY)[:, None]
    x = px.to(tl.float32) * (V / W) + tl.zeros((BY, 1), tl.float32)
    y = py.to(tl.float32) * (V / W) + tl.zeros((1, BX), tl.float32)
    clear = tl.full((BY, BX), 1.0, tl.float32)
    light = tl.zeros((BY, BX), tl.float32)
    z = 0
    while (z < steps) & (tl.max(tl.max(clear, 1), 0) > 1e-3):
        x0, y0 = tl.floor(x), tl.floor(y)
        tx, ty = x - x0, y - y0
        inside = (x >= 0) & (y >= 0) & (x < V - 1) & (y < V - 1)
        at = volume + (z * V + y0.to(tl.int32)) * V + x0.to(tl.int32)
        near = mix(tl.load(at, inside, 0.0).to(tl.float32), tl.load(at + 1, inside, 0.0).to(tl.float32), tx)
        far = mix(tl.load(at + V, inside, 0.0).to(tl.float32), tl.load(at + V + 1, inside, 0.0).to(tl.float32), tx)
        density = mix(near, far, ty)
        alpha = 1.0 - tl.exp(-opacity * density)
        light += clear * alpha * (0.2 + 0.8 * density)
        clear *= 1.0 - alpha
        x += dx
        y += dy
        z += 1
    tl.store(image + py * W + px, light)


@case
def sc_ray_march(W=1024, H=1024, V=256):
    volume, image = uniform(V, V, V, dtype=torch.float16), empty(H, W)

    def reference():
        x = torch.arange(W, device=image.device, dtype=torch.float32)[None] * (V / W) + zeros(H, 1)
        y = torch.arange(H, device=image.device, dtype=torch.float32)[:, None] * (V / W) + zeros(1, W)
        clear, light = torch.ones_like(x), torch.zeros_like(x)
        for plane in volume.float():
            ok = (x >= 0) & (y >= 0) & (x < V - 1) & (y < V - 1)
            i, j = torch.where(ok, y.floor(), 0).long(), torch.where(ok, x.floor(), 0).long()
            near = torch.lerp(plane[i, j], plane[i, j + 1], x - x.floor())
            far = torch.lerp(plane[i + 1, j], plane[i + 1, j + 1], x - x.floor())
            density = torch.where(ok, torch.lerp(near, far, y - y.floor()), 0)
            alpha = 1 - torch.exp(-0.02 * density)
            light += clear * alpha * (0.2 + 0.8 * density)
            clear, x, y = clear * (1 - alpha), x + 0.3, y - 0.2
        return (light,)

    return Case(ray_march, (W // 16, H // 8), (volume, image, W, V, V, 0.3, -0.2, 0.02), dict(BY=8, BX=16), (image,), reference,
                options=dict(num_warps=4))
