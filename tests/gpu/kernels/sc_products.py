# SPDX-License-Identifier: Apache-2.0
"""Dense linear algebra of science and engineering."""
import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, registry

CASES, case = registry()


@triton.jit
def gemm_f64(A, B, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float64)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(A + rm[:, None] * K + rk[None, :])
        b = tl.load(B + rk[:, None] * N + rn[None, :])
        acc += tl.dot(a, b, out_dtype=tl.float64)
    tl.store(C + rm[:, None] * N + rn[None, :], acc)


@case
def sc_gemm_f64(M=1536, N=1536, K=1024):
    a, b, c = rand(M, K, dtype=torch.float64), rand(K, N, dtype=torch.float64), empty(M, N, dtype=torch.float64)
    return Case(gemm_f64, (M // 64, N // 64), (a, b, c, M, N, K), dict(BM=64, BN=64, BK=16), (c,), lambda: (a @ b,), rtol=1e-12,
                options=dict(num_warps=4, num_stages=3), flops=2 * M * N * K)


@triton.jit
def at_b(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """a^T b in TF32 with edges everywhere."""
    i, j = tl.program_id(0), tl.program_id(1)
    left = tl.make_block_ptr(a, (M, K), (1, M), (i * BM, 0), (BM, BK), (0, 1))
    right = tl.make_block_ptr(b, (K, N), (N, 1), (0, j * BN), (BK, BN), (1, 0))
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        x = tl.load(left, boundary_check=(0, 1), padding_option="zero")
        y = tl.load(right, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(x, y, acc, input_precision="tf32")
        left = tl.advance(left, (0, BK))
        right = tl.advance(right, (BK, 0))
    tl.store(tl.make_block_ptr(c, (M, N), (N, 1), (i * BM, j * BN), (BM, BN), (1, 0)), acc, boundary_check=(0, 1))


@case
def sc_at_b_tf32(M=1999, N=2301, K=1777):
    a, b, c = rand(K, M), rand(K, N), empty(M, N)
    return Case(at_b, (triton.cdiv(M, 128), triton.cdiv(N, 64)), (a, b, c, M, N, K), dict(BM=128, BN=64, BK=32), (c,),
                lambda: ((a.double().T @ b.double()),), options=dict(num_warps=4, num_stages=3), flops=2 * M * N * K)


@triton.jit
def complex_gemm(ar, ai, br, bi, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Three real products for a complex one; planes in f16, the result as pairs."""
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    rr = tl.zeros((BM, BN), tl.float32)
    ii = tl.zeros((BM, BN), tl.float32)
    both = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        at = m[:, None] * K + k[None, :]
        bt = k[:, None] * N + n[None, :]
        x, y = tl.load(ar + at), tl.load(ai + at)
        u, v = tl.load(br + bt), tl.load(bi + bt)
        rr = tl.dot(x, u, rr)
        ii = tl.dot(y, v, ii)
        both = tl.dot(x + y, u + v, both)
    pair = tl.reshape(tl.join(rr - ii, both - rr - ii), (BM, 2 * BN))
    n2 = tl.program_id(0) * 2 * BN + tl.arange(0, 2 * BN)
    tl.store(c + m[:, None] * 2 * N + n2[None, :], pair)


@case
def sc_complex_gemm(M=2048, N=2048, K=2048):
    parts = [rand(M, K, dtype=torch.float16), rand(M, K, dtype=torch.float16), rand(K, N, dtype=torch.float16), rand(K, N, dtype=torch.float16)]
    c = empty(M, N, 2)

    def reference():
        x, y, u, v = (p.float() for p in parts)
        return (torch.stack((x @ u - y @ v, x @ v + y @ u), -1),)

    return Case(complex_gemm, (N // 64, M // 64), (*parts, c, M, N, K), dict(BM=64, BN=64, BK=64), (c,), reference,
                options=dict(num_warps=4, num_stages=3), flops=6 * M * N * K)


@triton.jit
def syrk(a, c, N, K, alpha, T: tl.constexpr, BK: tl.constexpr):
    """alpha a a^T: tiles of the lower half, each stored twice."""
    pid = tl.program_id(0)
    i = ((tl.sqrt(8.0 * pid.to(tl.float32) + 1.0) - 1.0) * 0.5).to(tl.int32)
    i = tl.where(i * (i + 1) // 2 > pid, i - 1, i)
    i = tl.where((i + 1) * (i + 2) // 2 <= pid, i + 1, i)
    j = pid - i * (i + 1) // 2
    r = i * T + tl.arange(0, T)
    s = j * T + tl.arange(0, T)
    acc = tl.zeros((T, T), tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        x = tl.load(a + r[:, None] * K + k[None, :], (r < N)[:, None] & (k < K)[None, :], 0.0)
        y = tl.load(a + s[:, None] * K + k[None, :], (s < N)[:, None] & (k < K)[None, :], 0.0)
        acc = tl.dot(x, y.T, acc)
    out = (alpha * acc).to(c.dtype.element_ty)
    ok = (r < N)[:, None] & (s < N)[None, :]
    tl.store(c + r[:, None] * N + s[None, :], out, ok)
    if i != j:
        tl.store(c + s[None, :] * N + r[:, None], out, ok)


@case
def sc_syrk(N=4040, K=2000):
    a, c = rand(N, K, dtype=torch.bfloat16), empty(N, N, dtype=torch.bfloat16)
    tiles = triton.cdiv(N, 128)
    return Case(syrk, (tiles * (tiles + 1) // 2,), (a, c, N, K, 0.5), dict(T=128, BK=64), (c,), lambda: (0.5 * (a.float() @ a.float().T),),
                options=dict(num_warps=8, num_stages=3), flops=N * N * K)


@triton.jit
def manhattan(x, y, out, M, N, D, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for d0 in range(0, D, BD):
        d = d0 + tl.arange(0, BD)
        u = tl.load(x + m[:, None] * D + d[None, :], mask=(m[:, None] < M) & (d[None, :] < D), other=0.0)
        v = tl.load(y + n[:, None] * D + d[None, :], mask=(n[:, None] < N) & (d[None, :] < D), other=0.0)
        total += tl.sum(tl.abs(u[:, None, :] - v[None, :, :]), axis=2)
    tl.store(out + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


@case
def sc_manhattan(M=4001, N=3003, D=100):
    x, y, out = rand(M, D), rand(N, D), empty(M, N)
    return Case(manhattan, (triton.cdiv(M, 32), triton.cdiv(N, 32)), (x, y, out, M, N, D), dict(BM=32, BN=32, BD=8), (out,),
                lambda: (torch.cdist(x, y, p=1.0),), rtol=1e-5, options=dict(num_warps=4), flops=2 * M * N * D)


@triton.jit
def nearest_centre(x, centres, label, distance, n, K, D: tl.constexpr, BX: tl.constexpr, BC: tl.constexpr):
    """The assignment of k-means: the product and the squares of norms, the least so far kept in registers."""
    i = tl.program_id(0) * BX + tl.arange(0, BX)
    d = tl.arange(0, D)
    p = tl.load(x + i[:, None] * D + d[None, :], (i < n)[:, None], 0.0)
    best = tl.full((BX,), float("inf"), tl.float32)
    which = tl.zeros((BX,), tl.int32)
    for start in range(0, K, BC):
        j = start + tl.arange(0, BC)
        c = tl.load(centres + j[None, :] * D + d[:, None], (j < K)[None, :], 0.0)
        norm = tl.where(j < K, tl.sum(c.to(tl.float32) * c.to(tl.float32), 0), float("inf"))
        score = norm[None, :] - 2.0 * tl.dot(p, c)
        low, at = tl.min(score, 1, return_indices=True)
        which = tl.where(low < best, start + at, which)
        best = tl.minimum(low, best)
    tl.store(label + i, which, i < n)
    tl.store(distance + i, best + tl.sum(p.to(tl.float32) * p.to(tl.float32), 1), i < n)


@case
def sc_kmeans_assign(n=500001, K=500, D=64):
    x, centres = rand(n, D, dtype=torch.float16), rand(K, D, dtype=torch.float16)
    label, distance = empty(n, dtype=torch.int32), empty(n)

    def reference():
        parts = [torch.cdist(p.float(), centres.float(), compute_mode="donot_use_mm_for_euclid_dist").min(1) for p in x.split(100000)]
        return torch.cat([p[1] for p in parts]), torch.cat([p[0] for p in parts]).square()

    return Case(nearest_centre, (triton.cdiv(n, 128),), (x, centres, label, distance, n, K), dict(D=D, BX=128, BC=64), (label, distance), reference,
                rtol=3e-2, options=dict(num_warps=4, num_stages=2), bytes=n * (2 * D + 8), flops=2 * n * K * D)


@triton.jit
def kernel_regression(queries, points, values, out, M, N, gamma, D: tl.constexpr, V: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Nadaraya-Watson: means of values, weighted by Gaussians of distances."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    v = tl.arange(0, V)
    q = tl.load(queries + m[:, None] * D + d, mask=m[:, None] < M, other=0.0)
    qq = tl.sum(q * q, 1)
    weight = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, V), tl.float32)
    for n0 in tl.range(0, N, BN):
        n = n0 + tl.arange(0, BN)
        p = tl.load(points + n[:, None] * D + d, mask=n[:, None] < N, other=0.0)
        y = tl.load(values + n[:, None] * V + v, mask=n[:, None] < N, other=0.0)
        r2 = qq[:, None] + tl.sum(p * p, 1)[None, :] - 2.0 * tl.dot(q, p.T, input_precision="tf32x3")
        k = tl.where((n < N)[None, :], tl.exp2(-gamma * tl.maximum(r2, 0.0)), 0.0)
        weight += tl.sum(k, 1)
        acc = tl.dot(k.to(tl.float16), y, acc)
    tl.store(out + m[:, None] * V + v, acc / weight[:, None], mask=m[:, None] < M)


@case
def sc_kernel_regression(M=10001, N=12003):
    q, p, y, out = rand(M, 16), rand(N, 16), rand(N, 32, dtype=torch.float16), empty(M, 32)

    def reference():
        parts = [torch.exp2(-0.1 * torch.cdist(one.double(), p.double())**2) for one in q.split(2000)]
        return (torch.cat([k @ y.double() / k.sum(1, keepdim=True) for k in parts]),)

    return Case(kernel_regression, (triton.cdiv(M, 64),), (q, p, y, out, M, N, 0.1), dict(D=16, V=32, BM=64, BN=64), (out,), reference,
                options=dict(num_warps=4, num_stages=3), flops=2 * M * N * (3 * 16 + 32))


@triton.jit
def cholesky(a, out, T: tl.constexpr):
    """A small symmetric matrix a program, right-looking, all of it in registers."""
    i = tl.arange(0, T)
    at = tl.program_id(0) * T * T + i[:, None] * T + i[None, :]
    rest = tl.load(a + at)
    factor = tl.zeros((T, T), tl.float32)
    for k in range(T):
        column = tl.sum(tl.where(i[None, :] == k, rest, 0.0), 1)
        pivot = tl.sum(tl.where(i == k, column, 0.0), 0)
        column = tl.where(i >= k, column * tl.rsqrt(pivot), 0.0)
        across = tl.sum(tl.where(i[:, None] == i[None, :], column[:, None], 0.0), 0)
        factor = tl.where(i[None, :] == k, column[:, None], factor)
        rest -= column[:, None] * across[None, :]
    tl.store(out + at, factor)


@case
def sc_cholesky_32(batch=16384, T=32):
    g = rand(batch, T, T)
    a, out = g @ g.transpose(1, 2) / T + torch.eye(T, device=DEVICE), empty(batch, T, T)
    return Case(cholesky, (batch,), (a, out), dict(T=T), (out,), lambda: (torch.linalg.cholesky(a.double()),), rtol=1e-3,
                options=dict(num_warps=1), bytes=8 * batch * T * T)
