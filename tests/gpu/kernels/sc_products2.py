# SPDX-License-Identifier: Apache-2.0
"""Dense linear algebra, continued: small blocks, split precisions, epilogues, contractions; and finite elements."""
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from case import DEVICE, Case, empty, rand, randint, registry, tensor, uniform, zeros

CASES, case = registry()


@triton.jit
def lower_solve(l, b, x, T: tl.constexpr, R: tl.constexpr):
    """Forward substitution with R right sides, a row at a time."""
    pid = tl.program_id(0)
    i = tl.arange(0, T)
    r = tl.arange(0, R)
    b_at = pid * T * R + i[:, None] * R + r[None, :]
    rest = tl.load(b + b_at)
    for k in range(T):
        column = tl.load(l + pid * T * T + i * T + k)
        pivot = tl.load(l + pid * T * T + k * T + k)
        row = tl.sum(tl.where((i == k)[:, None], rest, 0.0), 0) / pivot
        rest = tl.where((i > k)[:, None], rest - column[:, None] * row[None, :], tl.where((i == k)[:, None], row[None, :], rest))
    tl.store(x + b_at, rest)


@case
def sc_lower_solve_16(batch=65536, T=16, R=32):
    low = torch.tril(rand(batch, T, T, scale=0.3), -1) + torch.diag_embed(uniform(batch, T, low=0.8, high=1.6))
    b, x = rand(batch, T, R), empty(batch, T, R)
    return Case(lower_solve, (batch,), (low, b, x), dict(T=T, R=R), (x,),
                lambda: (torch.linalg.solve_triangular(low.double(), b.double(), upper=False),), rtol=1e-3, options=dict(num_warps=1),
                bytes=batch * (4 * T * T + 8 * T * R))


@triton.jit
def gram_schmidt(a, q, r, M: tl.constexpr, N: tl.constexpr):
    """QR of a tall block by modified Gram-Schmidt: the columns lie as rows, (N, M)."""
    pid = tl.program_id(0)
    n = tl.arange(0, N)
    m = tl.arange(0, M)
    at = pid * N * M + n[:, None] * M + m[None, :]
    v = tl.load(a + at)
    for k in tl.range(N):
        one = tl.sum(tl.where(n[:, None] == k, v, 0.0), 0)
        norm = tl.sqrt(tl.sum(one * one, 0))
        one = one / norm
        along = tl.where(n == k, norm, tl.where(n > k, tl.sum(v * one[None, :], 1), 0.0))
        v = tl.where(n[:, None] > k, v - along[:, None] * one[None, :], tl.where(n[:, None] == k, one[None, :], v))
        tl.store(r + pid * N * N + k * N + n, along)
    tl.store(q + at, v)


@case
def sc_gram_schmidt(batch=4096, M=128, N=16):
    a, q, r = rand(batch, N, M), empty(batch, N, M), empty(batch, N, N)

    def reference():
        qs, rs = torch.linalg.qr(a.double().transpose(1, 2))
        sign = rs.diagonal(dim1=1, dim2=2).sign()
        return (qs * sign[:, None]).transpose(1, 2), rs * sign[:, :, None]

    return Case(gram_schmidt, (batch,), (a, q, r), dict(M=M, N=N), (q, r), reference, rtol=1e-3, options=dict(num_warps=2),
                bytes=4 * batch * N * (2 * M + N))


@triton.jit
def split_bf16(x):
    high = x.to(tl.bfloat16)
    return high, (x - high.to(tl.float32)).to(tl.bfloat16)


@triton.jit
def gemm_bf16x3(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """f32 as two bf16 each, three products of the four."""
    pid = tl.program_id(0)
    rows = tl.cdiv(M, BM)
    i, j = pid % rows, pid // rows
    m = (i * BM + tl.arange(0, BM)) % M
    n = (j * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    pa = a + m[:, None] * K + k[None, :]
    pb = b + k[:, None] * N + n[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        x = tl.load(pa, mask=k[None, :] < K - step * BK, other=0.0)
        y = tl.load(pb, mask=k[:, None] < K - step * BK, other=0.0)
        xh, xl = split_bf16(x)
        yh, yl = split_bf16(y)
        acc = tl.dot(xl, yh, acc)
        acc = tl.dot(xh, yl, acc)
        acc = tl.dot(xh, yh, acc)
        pa += BK
        pb += BK * N
    m = i * BM + tl.arange(0, BM)
    n = j * BN + tl.arange(0, BN)
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


@case
def sc_gemm_bf16x3(M=2000, N=3000, K=1500):
    a, b, c = rand(M, K), rand(K, N), empty(M, N)
    return Case(gemm_bf16x3, (triton.cdiv(M, 128) * triton.cdiv(N, 128),), (a, b, c, M, N, K), dict(BM=128, BN=128, BK=32), (c,),
                lambda: (a.double() @ b.double(),), rtol=1e-4, options=dict(num_warps=8, num_stages=3), flops=6 * M * N * K)


@triton.jit
def gemm_int8(a, b, row_scale, col_scale, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i, j = tl.program_id(0), tl.program_id(1)
    acc = tl.zeros((BM, BN), tl.int32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([i * BM, k]), b.load([j * BN, k]).T, acc, out_dtype=tl.int32)
    m = i * BM + tl.arange(0, BM)
    n = j * BN + tl.arange(0, BN)
    out = acc.to(tl.float32) * tl.load(row_scale + m, m < M, 0.0)[:, None] * tl.load(col_scale + n, n < N, 0.0)[None, :]
    c.store([i * BM, j * BN], out.to(tl.bfloat16))


@case
def sc_gemm_int8_scales(M=4000, N=4096, K=4096):
    a, b = randint(-127, 128, M, K, dtype=torch.int8), randint(-127, 128, N, K, dtype=torch.int8)
    rs, cs, c = uniform(M, low=0.001, high=0.01), uniform(N, low=0.001, high=0.01), empty(M, N, dtype=torch.bfloat16)
    shown = [TensorDescriptor.from_tensor(t, block) for t, block in ((a, [128, 128]), (b, [128, 128]), (c, [128, 128]))]
    return Case(gemm_int8, (triton.cdiv(M, 128), N // 128), (shown[0], shown[1], rs, cs, shown[2], M, N, K), dict(BM=128, BN=128, BK=128), (c,),
                lambda: ((a.double() @ b.double().T) * rs[:, None] * cs,), options=dict(num_warps=4, num_stages=4), flops=2 * M * N * K)


@triton.jit
def gelu_tanh(x):
    u = 0.7978845608 * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1.0 + (1.0 - 2.0 / (tl.exp(2.0 * u) + 1.0)))


@triton.jit
def gemm_epilogue(a, b, bias, residual, c, row_max, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """gelu(a b + bias) + residual, and the largest of each row in each tile of columns."""
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    dr = tl.make_tensor_descriptor(residual, [M, N], [N, 1], [BM, BN])
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    i, j = tl.program_id(0), tl.program_id(1)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK):
        acc = tl.dot(da.load([i * BM, k]), db.load([k, j * BN]), acc)
    n = j * BN + tl.arange(0, BN)
    m = i * BM + tl.arange(0, BM)
    acc = gelu_tanh(acc + tl.load(bias + n, n < N, 0.0)[None, :]) + dr.load([i * BM, j * BN]).to(tl.float32)
    dc.store([i * BM, j * BN], acc.to(tl.float16))
    top = tl.max(tl.where((n < N)[None, :], acc, float("-inf")), 1)
    tl.store(row_max + j * M + m, top, m < M)


@case
def sc_gemm_gelu_residual_max(M=5000, N=3072, K=768):
    a, b, bias = rand(M, K, dtype=torch.float16), rand(K, N, dtype=torch.float16, scale=0.05), rand(N)
    residual, c, top = rand(M, N, dtype=torch.float16), empty(M, N, dtype=torch.float16), empty(triton.cdiv(N, 128), M)

    def reference():
        y = torch.nn.functional.gelu(a.float() @ b.float() + bias, approximate="tanh") + residual
        return y, y.view(M, -1, 128).amax(-1).T

    return Case(gemm_epilogue, (triton.cdiv(M, 128), triton.cdiv(N, 128)), (a, b, bias, residual, c, top, M, N, K), dict(BM=128, BN=128, BK=64),
                (c, top), reference, options=dict(num_warps=8, num_stages=4), flops=2 * M * N * K)


@triton.jit
def small_batched(a, b, c, S, T: tl.constexpr, PER: tl.constexpr):
    """PER products of S x S matrices a program, f32."""
    i = tl.arange(0, T)
    ok = (i < S)[:, None] & (i < S)[None, :]
    at = i[:, None] * S + i[None, :]
    for p in range(PER):
        base = (tl.program_id(0) * PER + p).to(tl.int64) * S * S
        x = tl.load(a + base + at, ok, 0.0)
        y = tl.load(b + base + at, ok, 0.0)
        tl.store(c + base + at, tl.dot(x, y, input_precision="ieee"), ok)


@case
def sc_small_batched_23(batch=40000, S=23):
    a, b, c = rand(batch, S, S), rand(batch, S, S), empty(batch, S, S)
    return Case(small_batched, (batch // 4,), (a, b, c, S), dict(T=32, PER=4), (c,), lambda: (a.double() @ b.double(),), rtol=1e-5,
                options=dict(num_warps=2, num_stages=2), bytes=12 * batch * S * S)


@case
def sc_small_batched_64(batch=16000, S=64):
    a, b, c = rand(batch, S, S), rand(batch, S, S), empty(batch, S, S)
    return Case(small_batched, (batch // 2,), (a, b, c, S), dict(T=64, PER=2), (c,), lambda: (a.double() @ b.double(),), rtol=1e-5,
                options=dict(num_warps=4, num_stages=2), bytes=12 * batch * S * S)


@triton.jit
def contraction(t, v, out, A, B, C, E, F: tl.constexpr, BA: tl.constexpr, BB: tl.constexpr):
    """out[a, b, c] = sum over e, f of t[a, e, c, f] v[f, e, b], for each c: none of the tensors lies as a matrix."""
    c = tl.program_id(2)
    a = tl.program_id(0) * BA + tl.arange(0, BA)
    b = tl.program_id(1) * BB + tl.arange(0, BB)
    f = tl.arange(0, F)
    acc = tl.zeros((BA, BB), tl.float32)
    for e in range(E):
        x = tl.load(t + ((a * E + e) * C + c)[:, None] * F + f[None, :], (a < A)[:, None], 0.0)
        y = tl.load(v + (f * E + e)[:, None] * B + b[None, :], (b < B)[None, :], 0.0)
        acc = tl.dot(x, y, acc)
    tl.store(out + (a[:, None] * B + b[None, :]) * C + c, acc, (a < A)[:, None] & (b < B)[None, :])


@case
def sc_contraction(A=100, B=120, C=90, E=80, K=32):
    t, v, out = rand(A, E, C, K, dtype=torch.float16), rand(K, E, B, dtype=torch.float16), empty(A, B, C)
    return Case(contraction, (triton.cdiv(A, 64), triton.cdiv(B, 64), C), (t, v, out, A, B, C, E), dict(F=K, BA=64, BB=64), (out,),
                lambda: (torch.einsum("aecf,feb->abc", t.float(), v.float()),), options=dict(num_warps=4, num_stages=4), flops=2 * A * B * C * E * K)


@triton.jit
def fem_apply(u, stiff, material, out, n, elements, BLOCK: tl.constexpr):
    """out += K u of a box of n^3 cubes with 8 corners, each with its own material."""
    e = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    corner = tl.arange(0, 8)
    edge = n + 1
    base = (e // (n * n) * edge + e // n % n) * edge + e % n
    node = base[:, None] + ((corner >> 2) * edge * edge + ((corner >> 1) & 1) * edge + (corner & 1))[None, :]
    live = (e < elements)[:, None] & (corner < 8)[None, :]
    local = tl.load(u + node, live, 0.0)
    k = tl.load(stiff + corner[:, None] * 8 + corner[None, :])
    force = tl.sum(local[:, None, :] * k[None, :, :], 2) * tl.load(material + e, e < elements, 0.0)[:, None]
    tl.atomic_add(out + node, force, live, sem="relaxed")


@case
def sc_fem_apply(n=101):
    u, stiff, material, out = rand((n + 1)**3), rand(8, 8), uniform(n**3), zeros((n + 1)**3)
    corners = [(c >> 2) * (n + 1)**2 + (c >> 1 & 1) * (n + 1) + (c & 1) for c in range(8)]
    corner = tensor(corners, torch.int64)

    def reference():
        e = torch.arange(n**3, device=DEVICE)
        node = ((e // n**2 * (n + 1) + e // n % n) * (n + 1) + e % n)[:, None] + corner
        force = u.double()[node] @ stiff.double().T * material.double()[:, None]
        return (zeros((n + 1)**3, dtype=torch.float64).index_add_(0, node.view(-1), force.view(-1)),)

    return Case(fem_apply, (triton.cdiv(n**3, 64),), (u, stiff, material, out, n, n**3), dict(BLOCK=64), (out,), reference, rtol=1e-4,
                accumulate=True, options=dict(num_warps=4))
