# SPDX-License-Identifier: Apache-2.0
"""Images of bytes and shorts, tables of colors, inline assembly, mapped scalars, integers with division."""
import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, randint, registry, uniform, zeros

CASES, case = registry()
U8, I16, I32, I64, F16 = torch.uint8, torch.int16, torch.int32, torch.int64, torch.float16


@triton.jit
def bilateral(image, out, H, W, sigma_value, R: tl.constexpr, BH: tl.constexpr, BW: tl.constexpr):
    """Bilateral filter of bytes; neighbours beyond the edge have no weight."""
    y, x = tl.program_id(1) * BH + tl.arange(0, BH)[:, None], tl.program_id(0) * BW + tl.arange(0, BW)[None, :]
    inside = (y < H) & (x < W)
    middle = tl.load(image + y * W + x, mask=inside, other=0).to(tl.float32)
    total, weight = tl.zeros((BH, BW), tl.float32), tl.zeros((BH, BW), tl.float32)
    for dy in tl.static_range(-R, R + 1):
        for dx in tl.static_range(-R, R + 1):
            ok = (y + dy >= 0) & (y + dy < H) & (x + dx >= 0) & (x + dx < W)
            v = tl.load(image + (y + dy) * W + x + dx, mask=ok, other=0).to(tl.float32)
            d = (v - middle) / sigma_value
            w = tl.where(ok, tl.exp(-0.5 * d * d - (dx * dx + dy * dy) * 0.125), 0.0)
            total += w * v
            weight += w
    tl.store(out + y * W + x, (total / weight + 0.5).to(tl.uint8), mask=inside)


@case
def nk_bilateral_bytes(H=1500, W=2003, R=2):
    image, out = randint(0, 256, H, W, dtype=U8), empty(H, W, dtype=U8)

    def reference():
        padded = torch.nn.functional.pad(image.float(), (R, R, R, R), value=-1)
        total, weight = zeros(H, W), zeros(H, W)
        for dy in range(-R, R + 1):
            for dx in range(-R, R + 1):
                v = padded[R + dy:R + dy + H, R + dx:R + dx + W]
                w = torch.where(v >= 0, torch.exp(-0.5 * ((v - image.float()) / 40).square() - (dx * dx + dy * dy) * 0.125), 0)
                total += w * v
                weight += w
        return (torch.floor(total / weight + 0.5),)

    return Case(bilateral, (triton.cdiv(W, 128), triton.cdiv(H, 8)), (image, out, H, W, 40.0), dict(R=R, BH=8, BW=128), (out,), reference,
                options=dict(num_warps=4), bytes=2 * H * W)


@triton.jit
def nv12_to_rgb(luma, chroma, rgb, H, W, BH: tl.constexpr, BW: tl.constexpr):
    """A plane of luma and one of interleaved chroma for 2 x 2 pixels to pixels of three bytes, in integers."""
    y, x = tl.program_id(1) * BH + tl.arange(0, BH)[:, None], tl.program_id(0) * BW + tl.arange(0, BW)[None, :]
    ok = (y < H) & (x < W)
    c = (tl.load(luma + y * W + x, mask=ok, other=16).to(tl.int32) - 16) * 298
    at = chroma + y // 2 * W + x // 2 * 2
    u, v = tl.load(at, mask=ok, other=128).to(tl.int32) - 128, tl.load(at + 1, mask=ok, other=128).to(tl.int32) - 128
    r, g, b = (c + 409 * v + 128) >> 8, (c - 100 * u - 208 * v + 128) >> 8, (c + 516 * u + 128) >> 8
    to = rgb + (y * W + x) * 3
    tl.store(to, tl.minimum(tl.maximum(r, 0), 255).to(tl.uint8), mask=ok)
    tl.store(to + 1, tl.minimum(tl.maximum(g, 0), 255).to(tl.uint8), mask=ok)
    tl.store(to + 2, tl.minimum(tl.maximum(b, 0), 255).to(tl.uint8), mask=ok)


@case
def nk_nv12_to_rgb(H=4320, W=7680):
    luma, chroma, rgb = randint(0, 256, H, W, dtype=U8), randint(0, 256, H // 2, W // 2, 2, dtype=U8), empty(H, W, 3, dtype=U8)

    def reference():
        c = (luma.int() - 16) * 298 + 128
        u, v = (chroma.int() - 128).repeat_interleave(2, 0).repeat_interleave(2, 1).unbind(2)
        return (torch.stack((c + 409 * v >> 8, c - 100 * u - 208 * v >> 8, c + 516 * u >> 8), 2).clamp(0, 255),)

    return Case(nv12_to_rgb, (triton.cdiv(W, 256), triton.cdiv(H, 4)), (luma, chroma, rgb, H, W), dict(BH=4, BW=256), (rgb,), reference, rtol=1e-6,
                options=dict(num_warps=4), bytes=4.5 * H * W)


@triton.jit
def pixel(image, y, x, H, W):
    y, x = tl.minimum(tl.maximum(y, 0), H - 1), tl.minimum(tl.maximum(x, 0), W - 1)
    return tl.load(image + y * W + x)


@triton.jit
def sobel_short(image, magnitude, direction, H, W, BH: tl.constexpr, BW: tl.constexpr):
    """Sobel's gradients in 16-bit arithmetic: |dx| + |dy| and one of four directions; the edge is repeated."""
    y, x = tl.program_id(1) * BH + tl.arange(0, BH)[:, None], tl.program_id(0) * BW + tl.arange(0, BW)[None, :]
    nw, n, ne = pixel(image, y - 1, x - 1, H, W), pixel(image, y - 1, x, H, W), pixel(image, y - 1, x + 1, H, W)
    w, e = pixel(image, y, x - 1, H, W), pixel(image, y, x + 1, H, W)
    sw, s, se = pixel(image, y + 1, x - 1, H, W), pixel(image, y + 1, x, H, W), pixel(image, y + 1, x + 1, H, W)
    dx = (ne - nw) + ((e - w) << 1) + (se - sw)
    dy = (sw - nw) + ((s - n) << 1) + (se - ne)
    ax, ay = tl.abs(dx), tl.abs(dy)
    flat, steep = ay * 2 < ax, ax * 2 < ay
    turn = tl.where(flat, 0, tl.where(steep, 2, tl.where((dx ^ dy) >= 0, 1, 3)))
    ok = (y < H) & (x < W)
    tl.store(magnitude + y * W + x, ax + ay, mask=ok)
    tl.store(direction + y * W + x, turn.to(tl.int8), mask=ok)


@case
def nk_sobel_short(H=3001, W=4000):
    image, magnitude, direction = randint(0, 1024, H, W, dtype=I16), empty(H, W, dtype=I16), empty(H, W, dtype=torch.int8)

    def reference():
        p = torch.nn.functional.pad(image.float()[None, None], (1, 1, 1, 1), mode="replicate")[0, 0].int()
        nw, n, ne, w, e, sw, s, se = (p[a:a + H, b:b + W] for a, b in ((0, 0), (0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1), (2, 2)))
        dx, dy = ne - nw + 2 * (e - w) + se - sw, sw - nw + 2 * (s - n) + se - ne
        ax, ay = dx.abs(), dy.abs()
        turn = torch.where(ay * 2 < ax, 0, torch.where(ax * 2 < ay, 2, torch.where((dx ^ dy) >= 0, 1, 3)))
        return ax + ay, turn

    return Case(sobel_short, (triton.cdiv(W, 128), triton.cdiv(H, 8)), (image, magnitude, direction, H, W), dict(BH=8, BW=128),
                (magnitude, direction), reference, rtol=1e-6, options=dict(num_warps=4), bytes=5 * H * W)


@triton.jit
def color_cube(image, cube, out, n, SIDE: tl.constexpr, BLOCK: tl.constexpr):
    """Trilinear lookup of colors in a cube of SIDE^3 entries of four numbers: 24 gathers a pixel."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    scale: tl.constexpr = (SIDE - 1) / 255.0
    r = tl.load(image + 3 * i, mask=ok, other=0).to(tl.float32) * scale
    g = tl.load(image + 3 * i + 1, mask=ok, other=0).to(tl.float32) * scale
    b = tl.load(image + 3 * i + 2, mask=ok, other=0).to(tl.float32) * scale
    r0, g0, b0 = tl.minimum(r.to(tl.int32), SIDE - 2), tl.minimum(g.to(tl.int32), SIDE - 2), tl.minimum(b.to(tl.int32), SIDE - 2)
    fr, fg, fb = r - r0, g - g0, b - b0
    for ch in tl.static_range(3):
        total = tl.zeros((BLOCK,), tl.float32)
        for corner in tl.static_range(8):
            at = (((r0 + (corner >> 2)) * SIDE + g0 + ((corner >> 1) & 1)) * SIDE + b0 + (corner & 1)) * 4 + ch
            w = (fr if (corner >> 2) else 1 - fr) * (fg if (corner >> 1) & 1 else 1 - fg) * (fb if corner & 1 else 1 - fb)
            total += w * tl.load(cube + at)
        tl.store(out + 3 * i + ch, (tl.clamp(total, 0.0, 255.0) + 0.5).to(tl.uint8), mask=ok)


@case
def nk_color_cube(n=3000001, side=17):
    image, cube, out = randint(0, 256, n, 3, dtype=U8), uniform(side, side, side, 4, high=255.0), empty(n, 3, dtype=U8)

    def reference():
        x = image.float() * ((side - 1) / 255)
        low = x.long().clamp(max=side - 2)
        f, total = x - low, zeros(n, 3)
        for c in range(8):
            o = torch.tensor((c >> 2, c >> 1 & 1, c & 1), device=DEVICE)
            at = low + o
            total += torch.where(o > 0, f, 1 - f).prod(1, keepdim=True) * cube[at[:, 0], at[:, 1], at[:, 2], :3]
        return (torch.floor(total.clamp(0, 255) + 0.5),)

    return Case(color_cube, (triton.cdiv(n, 256),), (image, cube, out, n), dict(SIDE=side, BLOCK=256), (out,), reference, options=dict(num_warps=4),
                bytes=6 * n)


@triton.jit
def dp4a_matvec(x, w, out, N, K, BN: tl.constexpr, BK: tl.constexpr):
    """int8 matrix times a vector by an instruction for four products; words of four numbers."""
    n, k = tl.program_id(0) * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BN, BK), tl.int32)
    for i in range(0, K, BK):
        a = tl.broadcast_to(tl.load(x + i + k)[None, :], (BN, BK))
        b = tl.load(w + n[:, None] * K + i + k[None, :])
        acc = tl.inline_asm_elementwise("dp4a.s32.s32 $0, $1, $2, $3;", "=r,r,r,r", [a, b, acc], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + n, tl.sum(acc, axis=1))


@case
def nk_dp4a_matvec(N=32768, K=8192):
    x, w, out = randint(-128, 128, K, dtype=torch.int8), randint(-128, 128, N, K, dtype=torch.int8), empty(N, dtype=I32)
    return Case(dp4a_matvec, (N // 16,), (x.view(I32), w.view(I32), out, N, K // 4), dict(BN=16, BK=128), (out,), lambda: (w.float() @ x.float(),),
                rtol=1e-5, options=dict(num_warps=4), bytes=N * K)


@triton.jit
def nibbles_by_lop3(words, scale, out, n, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    """Eight nibbles of a word to four pairs of f16 by masks and a magic number, four results of one assembly text, then scaled."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    q = tl.load(words + i, mask=i < n, other=0)
    a, b, c, d = tl.inline_asm_elementwise(
        """{
        .reg .b32 t;
        lop3.b32 $0, $4, 0x000f000f, 0x64006400, 0xea;
        shr.u32 t, $4, 4;
        lop3.b32 $1, t, 0x000f000f, 0x64006400, 0xea;
        shr.u32 t, $4, 8;
        lop3.b32 $2, t, 0x000f000f, 0x64006400, 0xea;
        shr.u32 t, $4, 12;
        lop3.b32 $3, t, 0x000f000f, 0x64006400, 0xea;
        }""", "=r,=r,=r,=r,r", [q], dtype=(tl.int32, tl.int32, tl.int32, tl.int32), is_pure=True, pack=1)
    s = tl.load(scale + i // GROUP, mask=i < n, other=0.0)[:, None]
    pairs = tl.join(tl.join(a, c), tl.join(b, d)).reshape(BLOCK, 4)
    low = (pairs & 0xFFFF).to(tl.int16).to(tl.float16, bitcast=True) - 1032.0
    high = (pairs >> 16).to(tl.int16).to(tl.float16, bitcast=True) - 1032.0
    y = tl.interleave(low, high) * s
    at = i[:, None] * 8 + tl.arange(0, 8)[None, :]
    tl.store(out + at, y.to(tl.float16), mask=(i < n)[:, None])


@case
def nk_nibbles_by_lop3(n=8000000, group=16):
    words, scale, out = randint(-2**31, 2**31, n), uniform(n // group, dtype=F16), empty(n, 8, dtype=F16)

    def reference():
        shift = torch.tensor((0, 16, 4, 20, 8, 24, 12, 28), device=DEVICE, dtype=I32)
        q = (words[:, None] >> shift & 15) - 8
        return ((q.view(-1, group, 8) * scale.float()[:, None, None]).view(n, 8),)

    return Case(nibbles_by_lop3, (triton.cdiv(n, 256),), (words, scale, out, n), dict(GROUP=group, BLOCK=256), (out,), reference, rtol=1e-3,
                options=dict(num_warps=4), bytes=n * 20)


@triton.jit
def srgb_scalar(x):
    if x <= 0.04045:
        y = x / 12.92
    else:
        y = tl.exp2(2.4 * tl.log2((x + 0.055) / 1.055))
    return y


@triton.jit
def srgb_decode(x, y, n, BLOCK: tl.constexpr):
    """A function of scalars with branches, mapped over a block."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(y + i, tl.map_elementwise(srgb_scalar, v), mask=i < n)


@case
def nk_map_srgb(n=30000000):
    x, y = uniform(n), empty(n)
    return Case(srgb_decode, (triton.cdiv(n, 1024),), (x, y, n), dict(BLOCK=1024), (y,),
                lambda: (torch.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055)**2.4),), rtol=1e-5, options=dict(num_warps=4), bytes=8 * n)


@triton.jit
def collatz(start, steps, largest, n, BLOCK: tl.constexpr):
    """Steps until one and the largest number on the way, int64; a block goes on until its last lane is there."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.where(i < n, start + i, 1).to(tl.int64)
    top, count = v, tl.zeros((BLOCK,), tl.int32)
    while tl.max(v, axis=0) > 1:
        going = v > 1
        count += going.to(tl.int32)
        v = tl.where(going, tl.where((v & 1) == 1, 3 * v + 1, v >> 1), v)
        top = tl.maximum(top, v)
    tl.store(steps + i, count, mask=i < n)
    tl.store(largest + i, top, mask=i < n)


@case
def nk_collatz(n=1000000, start=10000001):
    steps, largest = empty(n, dtype=I32), empty(n, dtype=I64)

    def reference():
        v = torch.arange(start, start + n, device=DEVICE)
        top, count = v.clone(), torch.zeros_like(v)
        while bool((v > 1).any()):
            going = v > 1
            count += going
            v = torch.where(going, torch.where((v & 1) == 1, 3 * v + 1, v >> 1), v)
            top = torch.maximum(top, v)
        return count, top

    return Case(collatz, (triton.cdiv(n, 128),), (start, steps, largest, n), dict(BLOCK=128), (steps, largest), reference, rtol=1e-9,
                options=dict(num_warps=4))


@triton.jit
def power_modulo(base, exponent, out, n, modulus, BLOCK: tl.constexpr):
    """base^exponent mod a prime of 31 bits that is known at run time; 64-bit remainders."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    b = tl.load(base + i, mask=i < n, other=0) % modulus
    e = tl.load(exponent + i, mask=i < n, other=0)
    y = tl.full((BLOCK,), 1, tl.int64)
    while tl.max(e, axis=0) > 0:
        y = tl.where((e & 1) == 1, y * b % modulus, y)
        b = b * b % modulus
        e = e >> 1
    tl.store(out + i, y, mask=i < n)


@case
def nk_power_modulo(n=1000000, modulus=2147483629):
    base, exponent, out = randint(0, 2**40, n, dtype=I64), randint(0, 2**16, n), empty(n, dtype=I64)

    def reference():
        b, e, y = base % modulus, exponent.clone(), torch.ones_like(base)
        while bool((e > 0).any()):
            y = torch.where((e & 1) == 1, y * b % modulus, y)
            b, e = b * b % modulus, e >> 1
        return (y,)

    return Case(power_modulo, (triton.cdiv(n, 256),), (base, exponent, out, n, modulus), dict(BLOCK=256), (out,), reference, rtol=1e-9,
                options=dict(num_warps=4))


@triton.jit
def civil_dates(seconds, year, month, day, bucket, n, width, BLOCK: tl.constexpr):
    """Dates of int64 seconds, before and after 1970, by divisions by constants; and a bucket of a width known at run time."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s = tl.load(seconds + i, mask=i < n, other=0)
    days = s // 86400 - tl.where(s % 86400 < 0, 1, 0)
    z = days + 719468
    era = tl.where(z >= 0, z, z - 146096) // 146097
    doe = z - era * 146097
    yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
    doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
    mp = (5 * doy + 2) // 153
    m = tl.where(mp < 10, mp + 3, mp - 9)
    tl.store(year + i, (yoe + era * 400 + tl.where(m <= 2, 1, 0)).to(tl.int16), mask=i < n)
    tl.store(month + i, m.to(tl.int8), mask=i < n)
    tl.store(day + i, (doy - (153 * mp + 2) // 5 + 1).to(tl.int8), mask=i < n)
    tl.store(bucket + i, ((s + 4000000000) // width).to(tl.int32), mask=i < n)


@case
def nk_civil_dates(n=10000001, width=1209600):
    seconds = randint(-3000000000, 8000000000, n, dtype=I64)
    outs = empty(n, dtype=I16), empty(n, dtype=torch.int8), empty(n, dtype=torch.int8), empty(n, dtype=I32)

    def reference():
        def floor(a, b):
            return torch.div(a, b, rounding_mode="floor")
        z = floor(seconds, 86400) + 719468
        era = floor(z, 146097)
        doe = z - era * 146097
        yoe = floor(doe - doe // 1460 + doe // 36524 - doe // 146096, 365)
        doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
        mp = (5 * doy + 2) // 153
        m = torch.where(mp < 10, mp + 3, mp - 9)
        return yoe + era * 400 + (m <= 2), m, doy - (153 * mp + 2) // 5 + 1, (seconds + 4000000000) // width

    return Case(civil_dates, (triton.cdiv(n, 512),), (seconds, *outs, n, width), dict(BLOCK=512), outs, reference, rtol=1e-9,
                options=dict(num_warps=4), bytes=16 * n)
