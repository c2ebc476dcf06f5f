# SPDX-License-Identifier: Apache-2.0
"""Kernels on grids and particles: stencils, cellular automata, forces, rays, finite elements."""
import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, randint, registry, uniform, zeros

CASES, case = registry()


@triton.jit
def heat_2d(src, dst, alpha, H, W, src_stride, dst_stride, BY: tl.constexpr, BX: tl.constexpr):
    y = tl.program_id(1) * BY + tl.arange(0, BY)[:, None]
    x = tl.program_id(0) * BX + tl.arange(0, BX)[None, :]
    here = src + y * src_stride + x
    inside = (y < H) & (x < W)
    centre = tl.load(here, mask=inside, other=0.0)
    around = tl.load(here - src_stride, mask=inside & (y > 0), other=0.0)
    around += tl.load(here + src_stride, mask=(y + 1 < H) & (x < W), other=0.0)
    around += tl.load(here - 1, mask=inside & (x > 0), other=0.0)
    around += tl.load(here + 1, mask=(y < H) & (x + 1 < W), other=0.0)
    tl.store(dst + y * dst_stride + x, centre + alpha * (around - 4.0 * centre), mask=inside)


@case
def sc_heat_2d(H=8190, W=8190, pitch=8192):
    src, dst = rand(H, pitch), empty(H, W)

    def reference():
        p = torch.nn.functional.pad(src[:, :W], (1, 1, 1, 1))
        c = p[1:-1, 1:-1]
        return (c + 0.2 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * c),)

    return Case(heat_2d, (triton.cdiv(W, 256), triton.cdiv(H, 8)), (src, dst, 0.2, H, W, pitch, W), dict(BY=8, BX=256), (dst,), reference,
                rtol=1e-5, options=dict(num_warps=4), bytes=8 * H * W, flops=6 * H * W)


@triton.jit
def wave_3d(now, before, speed, after, NZ, NY, NX, CHUNK: tl.constexpr, BY: tl.constexpr, BX: tl.constexpr):
    """A leapfrog step of fourth order in space. The planes that z walks over stay in registers."""
    x = tl.program_id(0) * BX + tl.arange(0, BX)[None, :]
    y = tl.program_id(1) * BY + tl.arange(0, BY)[:, None]
    inside = (y < NY) & (x < NX)
    pitch = NX + 4
    plane = (NY + 4) * pitch
    at = (y + 2) * pitch + x + 2
    z0 = tl.program_id(2) * CHUNK
    a = tl.load(now + at + z0 * plane, inside, 0.0)
    b = tl.load(now + at + (z0 + 1) * plane, inside, 0.0)
    c = tl.load(now + at + (z0 + 2) * plane, inside, 0.0)
    d = tl.load(now + at + (z0 + 3) * plane, inside, 0.0)
    for z in range(z0, min(z0 + CHUNK, NZ)):
        p = now + at + (z + 2) * plane
        e = tl.load(p + 2 * plane, inside, 0.0)
        far = a + e
        near = b + d
        far += tl.load(p - 2, inside, 0.0) + tl.load(p + 2, inside, 0.0)
        near += tl.load(p - 1, inside, 0.0) + tl.load(p + 1, inside, 0.0)
        far += tl.load(p - 2 * pitch, inside, 0.0) + tl.load(p + 2 * pitch, inside, 0.0)
        near += tl.load(p - pitch, inside, 0.0) + tl.load(p + pitch, inside, 0.0)
        laplace = -7.5 * c + 1.3333333333 * near - 0.0833333333 * far
        out = (z * NY + y) * NX + x
        v = tl.load(speed + out, inside, 0.0)
        tl.store(after + out, 2.0 * c - tl.load(before + out, inside, 0.0) + v * v * laplace, inside)
        a, b, c, d = b, c, d, e


@case
def sc_wave_3d(NZ=250, NY=300, NX=318, chunk=25):
    now, before, speed, after = rand(NZ + 4, NY + 4, NX + 4), rand(NZ, NY, NX), uniform(NZ, NY, NX, high=0.5), empty(NZ, NY, NX)

    def reference():
        def shifted(z, y, x):
            return now[2 + z:2 + z + NZ, 2 + y:2 + y + NY, 2 + x:2 + x + NX].double()
        near = shifted(1, 0, 0) + shifted(-1, 0, 0) + shifted(0, 1, 0) + shifted(0, -1, 0) + shifted(0, 0, 1) + shifted(0, 0, -1)
        far = shifted(2, 0, 0) + shifted(-2, 0, 0) + shifted(0, 2, 0) + shifted(0, -2, 0) + shifted(0, 0, 2) + shifted(0, 0, -2)
        c = shifted(0, 0, 0)
        return (2 * c - before + speed.double()**2 * (-7.5 * c + 4 / 3 * near - far / 12),)

    grid = (triton.cdiv(NX, 64), triton.cdiv(NY, 8), triton.cdiv(NZ, chunk))
    return Case(wave_3d, grid, (now, before, speed, after, NZ, NY, NX), dict(CHUNK=chunk, BY=8, BX=64), (after,), reference, rtol=1e-5,
                options=dict(num_warps=4, num_stages=2), bytes=16 * NZ * NY * NX)


@triton.jit
def rods(u, out, r, STEPS: tl.constexpr, R: tl.constexpr, N: tl.constexpr):
    """Several steps of diffusion on rings that stay in registers."""
    col = tl.arange(0, N)
    at = (tl.program_id(0) * R + tl.arange(0, R))[:, None] * N + col[None, :]
    t = tl.load(u + at)
    left = tl.broadcast_to(((col + N - 1) % N)[None, :], (R, N))
    right = tl.broadcast_to(((col + 1) % N)[None, :], (R, N))
    for _ in range(STEPS):
        t += r * (tl.gather(t, left, 1) + tl.gather(t, right, 1) - 2.0 * t)
    tl.store(out + at, t)


@case
def sc_rods_16_steps(rows=65536, n=256):
    u, out = rand(rows, n), empty(rows, n)

    def reference():
        t = u
        for _ in range(16):
            t = t + 0.25 * (t.roll(1, 1) + t.roll(-1, 1) - 2 * t)
        return (t,)

    return Case(rods, (rows // 4,), (u, out, 0.25), dict(STEPS=16, R=4, N=n), (out,), reference, rtol=1e-5, options=dict(num_warps=4),
                bytes=8 * rows * n)


@triton.jit
def add3(a, b, c):
    half = a ^ b
    return half ^ c, (a & b) | (half & c)


@triton.jit
def west_here_east(row, word, W, ok):
    here = tl.load(row + word, ok, 0).to(tl.uint32, bitcast=True)
    before = tl.load(row + (word + W - 1) % W, ok, 0).to(tl.uint32, bitcast=True)
    after = tl.load(row + (word + 1) % W, ok, 0).to(tl.uint32, bitcast=True)
    return (here << 1) | (before >> 31), here, (here >> 1) | (after << 31)


@triton.jit
def life(cells, out, H, W, BLOCK: tl.constexpr):
    """32 cells of the game of life in each word, counted by adders of bits, on a torus."""
    y = tl.program_id(1)
    word = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = word < W
    nw, n, ne = west_here_east(cells + (y + H - 1) % H * W, word, W, ok)
    w, me, e = west_here_east(cells + y * W, word, W, ok)
    sw, s, se = west_here_east(cells + (y + 1) % H * W, word, W, ok)
    ones_n, twos_n = add3(nw, n, ne)
    ones_s, twos_s = add3(sw, s, se)
    ones, carry = add3(ones_n, w ^ e, ones_s)
    twos, fours = add3(twos_n, w & e, twos_s)
    fours = fours | (twos & carry)
    alive = (twos ^ carry) & (fours ^ 0xFFFFFFFF) & (ones | me)
    tl.store(out + y * W + word, alive.to(tl.int32, bitcast=True), ok)


@case
def sc_life_packed(H=32768, W=500):
    cells = randint(-2**31, 2**31, H, W)
    out = empty(H, W, dtype=torch.int32)

    def reference():
        bit = torch.arange(32, device=DEVICE, dtype=torch.int32)
        c = ((cells[:, :, None] >> bit) & 1).to(torch.int8).view(H, W * 32)
        n = -c
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                n += c.roll((dy, dx), (0, 1))
        new = (n == 3) | ((n == 2) & (c == 1))
        return ((new.view(H, W, 32).int() << bit).sum(-1, dtype=torch.int32),)

    return Case(life, (triton.cdiv(W, 512), H), (cells, out, H, W), dict(BLOCK=512), (out,), reference,
                rtol=1e-7, options=dict(num_warps=4), bytes=8 * H * W)


@triton.jit
def nbody(px, py, pz, mass, ax, ay, az, n, soft2, BI: tl.constexpr, BJ: tl.constexpr):
    i = tl.program_id(0) * BI + tl.arange(0, BI)
    xi, yi, zi = tl.load(px + i, i < n), tl.load(py + i, i < n), tl.load(pz + i, i < n)
    fx = tl.zeros((BI,), tl.float32)
    fy = tl.zeros((BI,), tl.float32)
    fz = tl.zeros((BI,), tl.float32)
    for start in range(0, n, BJ):
        j = start + tl.arange(0, BJ)
        m = tl.load(mass + j, j < n, other=0.0)
        dx = tl.load(px + j, j < n, other=0.0)[None, :] - xi[:, None]
        dy = tl.load(py + j, j < n, other=0.0)[None, :] - yi[:, None]
        dz = tl.load(pz + j, j < n, other=0.0)[None, :] - zi[:, None]
        inv = tl.rsqrt(dx * dx + dy * dy + dz * dz + soft2)
        w = m[None, :] * inv * inv * inv
        fx += tl.sum(w * dx, 1)
        fy += tl.sum(w * dy, 1)
        fz += tl.sum(w * dz, 1)
    tl.store(ax + i, fx, i < n)
    tl.store(ay + i, fy, i < n)
    tl.store(az + i, fz, i < n)


@case
def sc_nbody(n=20011):
    x, y, z, m = rand(n), rand(n), rand(n), uniform(n, low=0.5)
    out = [empty(n) for _ in range(3)]

    def reference():
        p = torch.stack((x, y, z), 1).double()
        total = []
        for q in p.split(2048):
            d = p[None] - q[:, None]
            total.append((d * (m / (d.square().sum(-1) + 0.01)**1.5)[..., None]).sum(1))
        return tuple(torch.cat(total).unbind(1))

    return Case(nbody, (triton.cdiv(n, 64),), (x, y, z, m, *out, n, 0.01), dict(BI=64, BJ=64), tuple(out), reference, rtol=1e-3,
                options=dict(num_warps=4, num_stages=2), flops=20 * n * n)


@triton.jit
def mandelbrot(counts, W, H, x0, y0, step, LIMIT: tl.constexpr, B: tl.constexpr):
    px = tl.program_id(0) * B + tl.arange(0, B)[None, :]
    py = tl.program_id(1) * B + tl.arange(0, B)[:, None]
    cx = x0 + step * px.to(tl.float32)
    cy = y0 + step * py.to(tl.float32)
    zx = tl.zeros((B, B), tl.float32)
    zy = tl.zeros((B, B), tl.float32)
    count = tl.zeros((B, B), tl.int32)
    done = 0
    left = B * B
    while (left > 0) & (done < LIMIT):
        for _ in tl.static_range(8):
            inside = zx * zx + zy * zy <= 4.0
            new_x = zx * zx - zy * zy + cx
            new_y = 2.0 * zx * zy + cy
            zx = tl.where(inside, new_x, zx)
            zy = tl.where(inside, new_y, zy)
            count += inside.to(tl.int32)
        left = tl.sum((zx * zx + zy * zy <= 4.0).to(tl.int32))
        done += 8
    tl.store(counts + py * W + px, count, (px < W) & (py < H))


@case
def sc_mandelbrot(W=2500, H=2000, limit=256):
    out = empty(H, W, dtype=torch.int32)

    def reference():
        step = 3.0 / W
        cx = (-2.2 + step * torch.arange(W, device=DEVICE, dtype=torch.float32))[None, :].expand(H, W)
        cy = (-1.2 + step * torch.arange(H, device=DEVICE, dtype=torch.float32))[:, None].expand(H, W)
        x, y, n = zeros(H, W), zeros(H, W), zeros(H, W)
        for _ in range(limit):
            inside = x * x + y * y <= 4
            x, y = torch.where(inside, x * x - y * y + cx, x), torch.where(inside, 2 * x * y + cy, y)
            n += inside
        return (n,)

    return Case(mandelbrot, (triton.cdiv(W, 16), triton.cdiv(H, 16)), (out, W, H, -2.2, -1.2, 3.0 / W), dict(LIMIT=limit, B=16), (out,), reference,
                rtol=5e-2, options=dict(num_warps=2))


@triton.jit
def lennard_jones(pos, neighbours, counts, force, energy, n, box, cutoff2, BA: tl.constexpr, WIDTH: tl.constexpr):
    i = tl.program_id(0) * BA + tl.arange(0, BA)
    k = tl.arange(0, WIDTH)
    many = tl.load(counts + i, i < n, 0)
    listed = k[None, :] < many[:, None]
    j = tl.load(neighbours + i[:, None] * WIDTH + k[None, :], listed, 0)
    dx = tl.load(pos + 4 * i, i < n, 0.0)[:, None] - tl.load(pos + 4 * j)
    dy = tl.load(pos + 4 * i + 1, i < n, 0.0)[:, None] - tl.load(pos + 4 * j + 1)
    dz = tl.load(pos + 4 * i + 2, i < n, 0.0)[:, None] - tl.load(pos + 4 * j + 2)
    dx -= box * tl.floor(dx / box + 0.5)
    dy -= box * tl.floor(dy / box + 0.5)
    dz -= box * tl.floor(dz / box + 0.5)
    r2 = dx * dx + dy * dy + dz * dz
    close = listed & (r2 < cutoff2)
    inv2 = 1.0 / tl.maximum(r2, 0.5)
    inv6 = inv2 * inv2 * inv2
    f = tl.where(close, 24.0 * inv2 * inv6 * (2.0 * inv6 - 1.0), 0.0)
    tl.store(energy + i, 0.5 * tl.sum(tl.where(close, 4.0 * inv6 * (inv6 - 1.0), 0.0), 1), i < n)
    tl.store(force + 3 * i, tl.sum(f * dx, 1), i < n)
    tl.store(force + 3 * i + 1, tl.sum(f * dy, 1), i < n)
    tl.store(force + 3 * i + 2, tl.sum(f * dz, 1), i < n)


@case
def sc_lennard_jones(n=300007, width=64):
    pos, near, counts = uniform(n, 4, high=8.0), randint(0, n, n, width), randint(20, width + 1, n)
    force, energy = empty(n, 3), empty(n)

    def reference():
        d = pos[:, None, :3] - pos[near.long()][..., :3]
        d -= 8.0 * torch.floor(d / 8.0 + 0.5)
        r2 = d.square().sum(-1)
        close = (r2 < 6.25) & (torch.arange(width, device=DEVICE) < counts[:, None])
        i6 = r2.clamp(min=0.5)**-3
        f = torch.where(close, 24 / r2.clamp(min=0.5) * i6 * (2 * i6 - 1), 0)
        return (f[..., None] * d).sum(1), 2 * torch.where(close, i6 * (i6 - 1), 0).sum(1)

    return Case(lennard_jones, (triton.cdiv(n, 16),), (pos, near, counts, force, energy, n, 8.0, 6.25), dict(BA=16, WIDTH=width), (force, energy),
                reference, rtol=1e-3, options=dict(num_warps=4), bytes=n * (width * 4 + 36))
