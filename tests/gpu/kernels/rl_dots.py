# SPDX-License-Identifier: Apache-2.0
"""Products whose operands are made from other blocks, chains of products, convolutions as products, packed weights, epilogues."""
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from case import DEVICE, Case, empty, rand, randint, registry, tensor, uniform, zeros

CASES, case = registry()
F16, BF16, F32, F64, FP8 = torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.float8_e4m3fn
I8, U8, I32 = torch.int8, torch.uint8, torch.int32
E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0)


@triton.jit
def gram_split(x, g, rows, D, PER: tl.constexpr, BD: tl.constexpr, BK: tl.constexpr):
    """g += x^T x over a slice of the rows: tiles on and above the diagonal are computed, those above it are added twice."""
    i, j = tl.program_id(0), tl.program_id(1)
    if i <= j:
        ci, cj = i * BD + tl.arange(0, BD), j * BD + tl.arange(0, BD)
        first = tl.program_id(2) * PER
        acc = tl.zeros((BD, BD), tl.float32)
        for r in tl.range(first, tl.minimum(first + PER, rows), BK, num_stages=4):
            row = (r + tl.arange(0, BK))[:, None]
            a = tl.load(x + row * D + ci[None, :], mask=(row < rows) & (ci < D)[None, :], other=0.0)
            b = tl.load(x + row * D + cj[None, :], mask=(row < rows) & (cj < D)[None, :], other=0.0)
            acc = tl.dot(tl.trans(a), b, acc)
        inside = (ci < D)[:, None] & (cj < D)[None, :]
        tl.atomic_add(g + ci[:, None] * D + cj[None, :], acc, mask=inside, sem="relaxed")
        if i < j:
            tl.atomic_add(g + cj[None, :] * D + ci[:, None], acc, mask=inside, sem="relaxed")


@case
def rl_gram_split(rows=150011, D=200, PER=2048):
    x, g = rand(rows, D, dtype=BF16), zeros(D, D)
    return Case(gram_split, (triton.cdiv(D, 64), triton.cdiv(D, 64), triton.cdiv(rows, PER)), (x, g, rows, D), dict(PER=PER, BD=64, BK=64),
                (g,), lambda: (x.float().T @ x.float(),), options=dict(num_warps=4), accumulate=True, bytes=2 * rows * D,
                flops=2 * rows * D * D)


@triton.jit
def product_f64_tt(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c = a^T b^T in double precision."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float64)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        av = tl.load(a + k[:, None] * M + m[None, :], mask=(k < K)[:, None] & (m < M)[None, :], other=0.0)
        bv = tl.load(b + n[:, None] * K + k[None, :], mask=(n < N)[:, None] & (k < K)[None, :], other=0.0)
        acc = tl.dot(av.T, bv.T, acc, out_dtype=tl.float64)
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(m < M)[:, None] & (n < N)[None, :])


@case
def rl_product_f64_tt(M=1003, N=900, K=812):
    a, b, c = rand(K, M, dtype=F64), rand(N, K, dtype=F64), empty(M, N, dtype=F64)
    return Case(product_f64_tt, (triton.cdiv(M, 64), triton.cdiv(N, 64)), (a, b, c, M, N, K), dict(BM=64, BN=64, BK=16), (c,),
                lambda: (a.T @ b.T,), rtol=1e-12, options=dict(num_warps=4, num_stages=3), flops=2 * M * N * K)


@triton.jit
def propagate_covariance(f, p, out, batches, noise, S: tl.constexpr, PER: tl.constexpr):
    """The prediction of a Kalman filter for a batch of states: F P F^T plus noise on the diagonal."""
    b = tl.program_id(0) * PER + tl.arange(0, PER)[:, None, None]
    i, j = tl.arange(0, S)[None, :, None], tl.arange(0, S)[None, None, :]
    at = b * (S * S) + i * S + j
    fv, pv = tl.load(f + at, mask=b < batches, other=0.0), tl.load(p + at, mask=b < batches, other=0.0)
    moved = tl.dot(fv, pv, input_precision="tf32x3")
    moved = tl.dot(moved, tl.permute(fv, (0, 2, 1)), input_precision="tf32x3")
    tl.store(out + at, moved + tl.where(i == j, noise, 0.0), mask=b < batches)


@case
def rl_propagate_covariance(B=60001, S=16):
    f, out = rand(B, S, S, scale=0.3), empty(B, S, S)
    root = rand(B, S, S)
    p = root @ root.transpose(1, 2)

    def reference():
        return (f.double() @ p.double() @ f.double().transpose(1, 2) + 0.125 * torch.eye(S, device=DEVICE, dtype=F64),)

    return Case(propagate_covariance, (triton.cdiv(B, 8),), (f, p, out, B, 0.125), dict(S=S, PER=8), (out,), reference, rtol=1e-4,
                options=dict(num_warps=4), bytes=12 * B * S * S, flops=4 * B * S**3)


@triton.jit
def head_covariances(x, out, T, H, D: tl.constexpr, HEADS: tl.constexpr, BT: tl.constexpr):
    """The sum over time of x x^T for each head: blocks of several heads are permuted into batches of products."""
    b, first = tl.program_id(0), tl.program_id(1) * HEADS
    h, d = first + tl.arange(0, HEADS), tl.arange(0, D)
    acc = tl.zeros((HEADS, D, D), tl.float32)
    for start in range(0, T, BT):
        t = start + tl.arange(0, BT)
        at = ((b * T + t)[:, None, None] * H + h[None, :, None]) * D + d[None, None, :]
        v = tl.load(x + at, mask=(t < T)[:, None, None], other=0.0)
        acc = tl.dot(tl.permute(v, (1, 2, 0)), tl.permute(v, (1, 0, 2)), acc)
    place = ((b * H + h)[:, None, None] * D + d[None, :, None]) * D + d[None, None, :]
    tl.store(out + place, acc)


@case
def rl_head_covariances(B=40, T=1003, H=16, D=64):
    x, out = rand(B, T, H, D, dtype=F16), empty(B, H, D, D)
    return Case(head_covariances, (B, H // 4), (x, out, T, H), dict(D=D, HEADS=4, BT=32), (out,),
                lambda: (torch.einsum("bthd,bthe->bhde", x.float(), x.float()),), options=dict(num_warps=8, num_stages=2),
                bytes=2 * B * T * H * D, flops=2 * B * T * H * D * D)


@triton.jit
def complex_product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c = a b of complex matrices whose real and imaginary parts lie in turns."""
    m, n2 = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * (2 * BN) + tl.arange(0, 2 * BN)
    re, im = tl.zeros((BM, BN), tl.float32), tl.zeros((BM, BN), tl.float32)
    for start in tl.range(0, K, BK, num_stages=3):
        k2, k = 2 * start + tl.arange(0, 2 * BK), start + tl.arange(0, BK)
        av = tl.load(a + m[:, None] * (2 * K) + k2[None, :], mask=(m < M)[:, None] & (k2 < 2 * K)[None, :], other=0.0)
        bv = tl.load(b + k[:, None] * (2 * N) + n2[None, :], mask=(k < K)[:, None] & (n2 < 2 * N)[None, :], other=0.0)
        ar, ai = tl.split(tl.reshape(av, (BM, BK, 2)))
        br, bi = tl.split(tl.reshape(bv, (BK, BN, 2)))
        re = tl.dot(ar, br, re)
        re = tl.dot(-ai, bi, re)
        im = tl.dot(ar, bi, im)
        im = tl.dot(ai, br, im)
    tl.store(c + m[:, None] * (2 * N) + n2[None, :], tl.interleave(re, im), mask=(m < M)[:, None] & (n2 < 2 * N)[None, :])


@case
def rl_complex_interleaved(M=1500, N=1210, K=1000):
    a, b, c = rand(M, K, 2, dtype=F16), rand(K, N, 2, dtype=F16), empty(M, N, 2)

    def reference():
        return (torch.view_as_real(torch.view_as_complex(a.float()) @ torch.view_as_complex(b.float())),)

    return Case(complex_product, (triton.cdiv(M, 64), triton.cdiv(N, 64)), (a, b, c, M, N, K), dict(BM=64, BN=64, BK=32), (c,), reference,
                options=dict(num_warps=4), flops=8 * M * N * K)


@triton.jit
def one_bit_product(x, words, scales, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """y = x w^T where a bit of w stands for +1 or -1 and each row of w has a scale."""
    m, n = tl.program_id(1) * BM + tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k, word = start + tl.arange(0, BK), start // 32 + tl.arange(0, BK // 32)
        packed = tl.load(words + n[:, None] * (K // 32) + word[None, :], mask=(n < N)[:, None], other=0)
        bits = (packed[:, :, None] >> tl.arange(0, 32)[None, None, :]) & 1
        w = tl.where(tl.reshape(bits, (BN, BK)) != 0, 1.0, -1.0).to(tl.float16)
        xv = tl.load(x + m[:, None] * K + k[None, :], mask=(m < M)[:, None], other=0.0)
        acc = tl.dot(xv, tl.trans(w), acc)
    acc *= tl.load(scales + n, mask=n < N, other=0.0)[None, :]
    tl.store(y + m[:, None] * N + n[None, :], acc.to(tl.float16), mask=(m < M)[:, None] & (n < N)[None, :])


@case
def rl_one_bit_weights(M=500, N=6004, K=3968):
    x, y, scales = rand(M, K, dtype=F16), empty(M, N, dtype=F16), uniform(N, low=0.01, high=0.05)
    words = randint(-2**31, 2**31, N, K // 32, dtype=torch.int64).to(I32)

    def reference():
        bits = (words[:, :, None] >> torch.arange(32, device=DEVICE, dtype=I32)) & 1
        return ((x.float() @ (bits.reshape(N, K).float() * 2 - 1).T) * scales,)

    return Case(one_bit_product, (triton.cdiv(N, 64), triton.cdiv(M, 128)), (x, words, scales, y, M, N, K), dict(BM=128, BN=64, BK=128),
                (y,), reference, options=dict(num_warps=8, num_stages=3), flops=2 * M * N * K)


@triton.jit
def ternary_product(x, packed, x_scales, w_scales, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """y = x w^T of bytes and weights -1, 0, 1: four weights in a byte are joined to a block of bytes."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.int32)
    for start in range(0, K, BK):
        k, byte = start + tl.arange(0, BK), start // 4 + tl.arange(0, BK // 4)
        v = tl.load(packed + n[:, None] * (K // 4) + byte[None, :], mask=(n < N)[:, None], other=0x55)
        even = tl.join((v & 3).to(tl.int8), ((v >> 4) & 3).to(tl.int8))
        odd = tl.join(((v >> 2) & 3).to(tl.int8), ((v >> 6) & 3).to(tl.int8))
        w = tl.reshape(tl.join(even, odd), (BN, BK)) - 1
        xv = tl.load(x + m[:, None] * K + k[None, :], mask=(m < M)[:, None], other=0)
        acc = tl.dot(xv, tl.trans(w), acc, out_dtype=tl.int32)
    out = acc.to(tl.float32) * tl.load(x_scales + m, mask=m < M, other=0.0)[:, None] * tl.load(w_scales + n, mask=n < N, other=0.0)[None, :]
    tl.store(y + m[:, None] * N + n[None, :], out.to(tl.bfloat16), mask=(m < M)[:, None] & (n < N)[None, :])


@case
def rl_ternary_int8(M=700, N=3000, K=3200):
    x, w = randint(-127, 128, M, K, dtype=I8), randint(0, 3, N, K)
    x_scales, w_scales, y = uniform(M, low=0.01, high=0.02), uniform(N, low=0.1, high=0.2), empty(M, N, dtype=BF16)
    quads = w.view(N, K // 4, 4)
    packed = (quads[..., 0] | quads[..., 1] << 2 | quads[..., 2] << 4 | quads[..., 3] << 6).to(U8)
    return Case(ternary_product, (triton.cdiv(M, 64), triton.cdiv(N, 128)), (x, packed, x_scales, w_scales, y, M, N, K),
                dict(BM=64, BN=128, BK=128), (y,), lambda: (x.float() @ (w.float() - 1).T * x_scales[:, None] * w_scales,),
                options=dict(num_warps=4, num_stages=3), flops=2 * M * N * K)


@triton.jit
def lookup_product(x, codes, tables, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """y = x w where a column of w has its own table of 16 values: two codes of 4 bits in a byte, one row above the other."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    table = tl.load(tables + tl.arange(0, 16)[:, None] * N + n[None, :], mask=(n < N)[None, :], other=0.0)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k, pair = start + tl.arange(0, BK), start // 2 + tl.arange(0, BK // 2)
        v = tl.load(codes + pair[:, None] * N + n[None, :], mask=(pair < K // 2)[:, None] & (n < N)[None, :], other=0).to(tl.int32)
        code = tl.reshape(tl.permute(tl.join(v & 15, v >> 4), (0, 2, 1)), (BK, BN))
        xv = tl.load(x + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
        acc = tl.dot(xv, tl.gather(table, code, axis=0), acc)
    tl.store(y + m[:, None] * N + n[None, :], acc.to(tl.float16), mask=(m < M)[:, None] & (n < N)[None, :])


@case
def rl_lookup_columns(M=60, N=5000, K=4000):
    x, y, tables = rand(M, K, dtype=F16), empty(M, N, dtype=F16), rand(16, N, dtype=F16, scale=0.1)
    w = randint(0, 16, K, N)
    codes = (w[0::2] | w[1::2] << 4).to(U8)
    return Case(lookup_product, (triton.cdiv(M, 64), triton.cdiv(N, 64)), (x, codes, tables, y, M, N, K), dict(BM=64, BN=64, BK=32), (y,),
                lambda: (x.float() @ tables.float().gather(0, w.long()),), options=dict(num_warps=4, num_stages=2),
                bytes=N * K / 2, flops=2 * M * N * K)


@triton.jit
def keys_values(k, v, state, total, T, H, D: tl.constexpr, BT: tl.constexpr, PER: tl.constexpr):
    """Linear attention's state: elu(k) + 1 transposed times v, and the features' sums; parts of a sequence are added by atomics."""
    pair = tl.program_id(0)
    b, h = pair // H, pair % H
    d = tl.arange(0, D)
    first = tl.program_id(1) * PER
    acc, sums = tl.zeros((D, D), tl.float32), tl.zeros((D,), tl.float32)
    for start in tl.range(first, tl.minimum(first + PER, T), BT, num_stages=3):
        t = start + tl.arange(0, BT)
        at = ((b * T + t)[:, None] * H + h) * D + d[None, :]
        key = tl.load(k + at, mask=(t < T)[:, None], other=0.0).to(tl.float32)
        value = tl.load(v + at, mask=(t < T)[:, None], other=0.0)
        key = tl.where((t < T)[:, None], tl.where(key > 0, key + 1.0, tl.exp(key)), 0.0)
        sums += tl.sum(key, 0)
        acc = tl.dot(tl.trans(key.to(v.dtype.element_ty)), value, acc)
    tl.atomic_add(state + (pair * D + d[:, None]) * D + d[None, :], acc)
    tl.atomic_add(total + pair * D + d, sums)


@case
def rl_elu_keys_values(B=4, T=5003, H=12, D=128, PER=1024):
    k, v, state, total = rand(B, T, H, D, dtype=BF16), rand(B, T, H, D, dtype=BF16), zeros(B, H, D, D), zeros(B, H, D)

    def reference():
        features = torch.nn.functional.elu(k.float()) + 1
        return torch.einsum("bthd,bthe->bhde", features, v.float()), features.sum(1)

    return Case(keys_values, (B * H, triton.cdiv(T, PER)), (k, v, state, total, T, H), dict(D=D, BT=64, PER=PER), (state, total), reference,
                options=dict(num_warps=8), accumulate=True, bytes=4 * B * T * H * D, flops=2 * B * T * H * D * D)


@triton.jit
def product_softmax(x, w, bias, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """y = softmax over columns of x w + bias: one program has all columns of its rows."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        xv = tl.load(x + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
        wv = tl.load(w + k[:, None] * N + n[None, :], mask=(k < K)[:, None] & (n < N)[None, :], other=0.0)
        acc = tl.dot(xv, wv, acc)
    acc += tl.load(bias + n, mask=n < N, other=float("-inf"))[None, :]
    p = tl.exp(acc - tl.max(acc, 1)[:, None])
    tl.store(y + m[:, None] * N + n[None, :], p / tl.sum(p, 1)[:, None], mask=(m < M)[:, None] & (n < N)[None, :])


@case
def rl_product_softmax_300(M=10007, N=300, K=1008):
    x, w, bias, y = rand(M, K, dtype=F16), rand(K, N, dtype=F16, scale=0.05), rand(N), empty(M, N)
    return Case(product_softmax, (triton.cdiv(M, 32),), (x, w, bias, y, M, N, K), dict(BM=32, BN=512, BK=32), (y,),
                lambda: ((x.float() @ w.float() + bias).softmax(1),), options=dict(num_warps=8, num_stages=3), flops=2 * M * N * K)


@triton.jit
def product_to_fp8(x, w, y, scales, M, K, N: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr):
    """y = x w^T in fp8 with a scale for each row, by the largest of its magnitudes."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, N)
    acc = tl.zeros((BM, N), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        xv = tl.load(x + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
        wv = tl.load(w + n[None, :] * K + k[:, None], mask=(k < K)[:, None], other=0.0)
        acc = tl.dot(xv, wv, acc)
    scale = tl.maximum(tl.max(tl.abs(acc), 1), 1e-12) / 448.0
    tl.store(y + m[:, None] * N + n[None, :], (acc / scale[:, None]).to(tl.float8e4nv), mask=(m < M)[:, None])
    tl.store(scales + m, scale, mask=m < M)


@case
def rl_product_to_fp8_rows(M=20003, N=256, K=1000):
    x, w, y, scales = rand(M, K, dtype=BF16), rand(N, K, dtype=BF16), empty(M, N, dtype=FP8), empty(M)

    def reference():
        product = x.float() @ w.float().T
        scale = product.abs().amax(1).clamp(min=1e-12) / 448
        return (product / scale[:, None]).to(FP8), scale

    return Case(product_to_fp8, (triton.cdiv(M, 64),), (x, w, y, scales, M, K), dict(N=N, BM=64, BK=64), (y, scales), reference,
                options=dict(num_warps=8, num_stages=4), flops=2 * M * N * K)


@triton.jit
def product_tn_boxes(a, b, bias, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SMS: tl.constexpr, APART: tl.constexpr):
    """c = relu(a^T b^T + bias), persistent, by the host's descriptors of matrices that both are transposed."""
    rows, cols = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), rows * cols, SMS, flatten=True, warp_specialize=APART):
        m, n = tile % rows * BM, tile // rows * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(a.load([k, m]).T, b.load([n, k]).T, acc)
        at = n + tl.arange(0, BN)
        acc += tl.load(bias + at, mask=at < N, other=0.0)[None, :]
        c.store([m, n], tl.maximum(acc, 0.0).to(c.dtype))


def tn_case(M, N, K, BM, BN, BK, dtype, apart, warps, stages):
    a, b, bias, c = rand(K, M, dtype=dtype), rand(N, K, dtype=dtype), rand(N), empty(M, N, dtype=dtype)
    boxes = [TensorDescriptor.from_tensor(t, list(s)) for t, s in ((a, (BK, BM)), (b, (BN, BK)), (c, (BM, BN)))]
    return Case(product_tn_boxes, (132,), (boxes[0], boxes[1], bias, boxes[2], M, N, K), dict(BM=BM, BN=BN, BK=BK, SMS=132, APART=apart), (c,),
                lambda: (torch.relu(a.float().T @ b.float().T + bias),), options=dict(num_warps=warps, num_stages=stages),
                flops=2 * M * N * K)


@case
def rl_boxes_tn_apart(M=3000, N=2504, K=1512):
    return tn_case(M, N, K, 128, 128, 64, BF16, True, 4, 3)


@case
def rl_boxes_tn_flat_k32(M=2040, N=3016, K=1000):
    return tn_case(M, N, K, 64, 256, 32, F16, False, 8, 5)


@triton.jit
def conv_3d(x, w, y, B, C, D, H, W, O, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A 3 x 3 x 3 convolution with padding of NCDHW tensors as a product: rows are places, depth is channels times taps."""
    m, o = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    plane = D * H * W
    b, place = m // plane, m % plane
    pz, py, px = place // (H * W), place // W % H, place % W
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, C * 27, BK):
        k = start + tl.arange(0, BK)
        c, tap = k // 27, k % 27
        z, yy, xx = pz[:, None] + (tap // 9 - 1)[None, :], py[:, None] + (tap // 3 % 3 - 1)[None, :], px[:, None] + (tap % 3 - 1)[None, :]
        ok = (m < B * plane)[:, None] & (k < C * 27)[None, :] & (z >= 0) & (z < D) & (yy >= 0) & (yy < H) & (xx >= 0) & (xx < W)
        v = tl.load(x + (b[:, None] * C + c[None, :]) * plane + (z * H + yy) * W + xx, mask=ok, other=0.0)
        weights = tl.load(w + o[None, :] * (C * 27) + k[:, None], mask=(k < C * 27)[:, None] & (o < O)[None, :], other=0.0)
        acc = tl.dot(v, weights, acc)
    tl.store(y + (b[:, None] * O + o[None, :]) * plane + place[:, None], acc.to(y.dtype.element_ty), mask=(m < B * plane)[:, None] & (o < O)[None, :])


@case
def rl_conv_3d_ncdhw(B=2, C=20, D=18, H=50, W=54, O=60):
    x, w, y = rand(B, C, D, H, W, dtype=F16), rand(O, C, 3, 3, 3, dtype=F16, scale=0.1), empty(B, O, D, H, W, dtype=F16)
    return Case(conv_3d, (triton.cdiv(B * D * H * W, 128), triton.cdiv(O, 64)), (x, w, y, B, C, D, H, W, O), dict(BM=128, BN=64, BK=32), (y,),
                lambda: (torch.nn.functional.conv3d(x.float(), w.float(), padding=1),), options=dict(num_warps=4, num_stages=3),
                flops=54 * B * C * D * H * W * O)


@triton.jit
def conv_transpose_phases(x, w, y, B, H, W, C: tl.constexpr, O: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr):
    """A transposed 3 x 3 convolution of stride 2, NHWC: a program has outputs of one parity and runs only the taps that meet them."""
    phase = tl.program_id(1)
    oy0, ox0 = phase // 2, phase % 2
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    b, iy, ix = m // (H * W), m // W % H, m % W
    ok, o = m < B * H * W, tl.arange(0, O)
    acc = tl.zeros((BM, O), tl.float32)
    for ky in tl.static_range(3):
        if (oy0 + 1 - ky) % 2 == 0:
            for kx in range(3):
                if (ox0 + 1 - kx) % 2 == 0:
                    sy, sx = iy + (oy0 + 1 - ky) // 2, ix + (ox0 + 1 - kx) // 2
                    inside = ok & (sy < H) & (sx < W)
                    for start in range(0, C, BK):
                        c = start + tl.arange(0, BK)
                        v = tl.load(x + ((b * H + sy) * W + sx)[:, None] * C + c[None, :], mask=inside[:, None], other=0.0)
                        weights = tl.load(w + ((ky * 3 + kx) * C + c)[:, None] * O + o[None, :])
                        acc = tl.dot(v, weights, acc)
    to = (b * (2 * H) + 2 * iy + oy0) * (2 * W) + 2 * ix + ox0
    tl.store(y + to[:, None] * O + o[None, :], acc.to(y.dtype.element_ty), mask=ok[:, None])


@case
def rl_conv_transpose_phases(B=8, H=50, W=61, C=192, O=128):
    x, w, y = rand(B, H, W, C, dtype=F16), rand(3, 3, C, O, dtype=F16, scale=0.1), empty(B, 2 * H, 2 * W, O, dtype=F16)

    def reference():
        out = torch.nn.functional.conv_transpose2d(x.float().permute(0, 3, 1, 2), w.float().permute(2, 3, 0, 1), stride=2, padding=1, output_padding=1)
        return (out.permute(0, 2, 3, 1),)

    return Case(conv_transpose_phases, (triton.cdiv(B * H * W, 64), 4), (x, w, y, B, H, W), dict(C=C, O=O, BM=64, BK=64), (y,), reference,
                options=dict(num_warps=4, num_stages=3), flops=18 * B * H * W * C * O)


@triton.jit
def conv_int8(x, w, scales, y, B, H, W, C: tl.constexpr, O: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """A 3 x 3 convolution of bytes, NHWC, stride 2: sums of 32 bits are scaled for each channel and rounded to bytes."""
    OH, OW = (H + 1) // 2, (W + 1) // 2
    m, o = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    c = tl.arange(0, C)
    b, py, px = m // (OH * OW), m // OW % OH * 2, m % OW * 2
    acc = tl.zeros((BM, BN), tl.int32)
    for tap in tl.range(0, 9, num_stages=3):
        sy, sx = py + tap // 3 - 1, px + tap % 3 - 1
        inside = (m < B * OH * OW) & (sy >= 0) & (sy < H) & (sx >= 0) & (sx < W)
        v = tl.load(x + ((b * H + sy) * W + sx)[:, None] * C + c[None, :], mask=inside[:, None], other=0)
        weights = tl.load(w + (o[None, :] * 9 + tap) * C + c[:, None])
        acc = tl.dot(v, weights, acc, out_dtype=tl.int32)
    out = tl.floor(acc.to(tl.float32) * tl.load(scales + o)[None, :] + 0.5)
    tl.store(y + m[:, None] * O + o[None, :], tl.clamp(out, -128.0, 127.0).to(tl.int8), mask=(m < B * OH * OW)[:, None])


@case
def rl_conv_int8_stride_2(B=16, H=83, W=77, C=128, O=192):
    x, w, scales = randint(-128, 128, B, H, W, C, dtype=I8), randint(-128, 128, O, 3, 3, C, dtype=I8), uniform(O, low=1e-4, high=3e-4)
    OH, OW = (H + 1) // 2, (W + 1) // 2
    y = empty(B, OH, OW, O, dtype=I8)

    def reference():
        out = torch.nn.functional.conv2d(x.float().permute(0, 3, 1, 2), w.float().permute(0, 3, 1, 2), stride=2, padding=1)
        return (torch.floor(out.permute(0, 2, 3, 1) * scales + 0.5).clamp(-128, 127),)

    return Case(conv_int8, (triton.cdiv(B * OH * OW, 128), O // 64), (x, w, scales, y, B, H, W), dict(C=C, O=O, BM=128, BN=64), (y,), reference,
                options=dict(num_warps=4), flops=18 * B * OH * OW * C * O)


@triton.jit
def toeplitz_product(x, c, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """y = x t where t[k, n] = c[n - k + K - 1]: blocks of the Toeplitz matrix are read from one vector."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in tl.range(0, K, BK, num_stages=3):
        k = start + tl.arange(0, BK)
        xv = tl.load(x + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
        t = tl.load(c + n[None, :] - k[:, None] + K - 1, mask=(k < K)[:, None] & (n < N)[None, :], other=0.0)
        acc = tl.dot(xv, t, acc)
    tl.store(y + m[:, None] * N + n[None, :], acc.to(tl.float16), mask=(m < M)[:, None] & (n < N)[None, :])


@case
def rl_toeplitz_product(M=2000, N=1504, K=1448):
    x, c, y = rand(M, K, dtype=F16), rand(N + K - 1, dtype=F16), empty(M, N, dtype=F16)

    def reference():
        index = torch.arange(N, device=DEVICE)[None, :] - torch.arange(K, device=DEVICE)[:, None] + K - 1
        return (x.float() @ c.float()[index],)

    return Case(toeplitz_product, (triton.cdiv(M, 128), triton.cdiv(N, 64)), (x, c, y, M, N, K), dict(BM=128, BN=64, BK=32), (y,), reference,
                options=dict(num_warps=4), flops=2 * M * N * K)


@triton.jit
def low_rank_chain(x, u, core, v, y, M, N, K, R: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """y = x u core v: a narrow product is kept, turned by a small matrix, and spread over all columns."""
    m, r = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, R)
    narrow = tl.zeros((BM, R), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        xv = tl.load(x + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
        uv = tl.load(u + k[:, None] * R + r[None, :], mask=(k < K)[:, None], other=0.0)
        narrow = tl.dot(xv, uv, narrow)
    turned = tl.dot(narrow.to(x.dtype.element_ty), tl.load(core + r[:, None] * R + r[None, :])).to(x.dtype.element_ty)
    for start in range(0, N, BN):
        n = start + tl.arange(0, BN)
        vv = tl.load(v + n[None, :] * R + r[:, None], mask=(n < N)[None, :], other=0.0)
        tl.store(y + m[:, None] * N + n[None, :], tl.dot(turned, vv).to(y.dtype.element_ty), mask=(m < M)[:, None] & (n < N)[None, :])


@case
def rl_low_rank_chain(M=16003, N=1400, K=1608, R=64):
    x, u, core, v = rand(M, K, dtype=BF16), rand(K, R, dtype=BF16, scale=0.03), rand(R, R, dtype=BF16, scale=0.1), rand(N, R, dtype=BF16)
    y = empty(M, N, dtype=BF16)
    return Case(low_rank_chain, (triton.cdiv(M, 64),), (x, u, core, v, y, M, N, K), dict(R=R, BM=64, BN=128, BK=64), (y,),
                lambda: (x.float() @ u.float() @ core.float() @ v.float().T,), rtol=2e-2, options=dict(num_warps=4, num_stages=3),
                bytes=2 * M * (N + K), flops=2 * M * R * (N + K + R))


@triton.jit
def masked_blocks_product(a, b, alive, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c = a b where blocks of a that the table calls empty are neither read nor multiplied."""
    row = tl.program_id(0)
    m, n = row * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for step in range(0, K // BK):
        if tl.load(alive + row * (K // BK) + step) != 0:
            k = step * BK + tl.arange(0, BK)
            av = tl.load(a + m[:, None] * K + k[None, :])
            bv = tl.load(b + k[:, None] * N + n[None, :], mask=(n < N)[None, :], other=0.0)
            acc = tl.dot(av, bv, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(n < N)[None, :])


@case
def rl_masked_blocks(M=2560, N=1000, K=3072):
    alive = (randint(0, 10, M // 64, K // 32) < 3).to(U8)
    mask = alive.repeat_interleave(64, 0).repeat_interleave(32, 1)
    a, b, c = rand(M, K) * mask, rand(K, N), empty(M, N)
    return Case(masked_blocks_product, (M // 64, triton.cdiv(N, 64)), (a, b, alive, c, N, K), dict(BM=64, BN=64, BK=32), (c,),
                lambda: (a @ b,), options=dict(num_warps=4), flops=0.6 * M * N * K)


@triton.jit
def product_scaled(a, a_scales, b, b_scales, c, M, N, K, A_KIND: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c = a b^T where b has 4 bits and a scale of 8 for 32 elements of a row; a is bf16, or fp8 with such scales."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k, half, group = start + tl.arange(0, BK), start // 2 + tl.arange(0, BK // 2), start // 32 + tl.arange(0, BK // 32)
        av = tl.load(a + m[:, None] * K + k[None, :], mask=(m < M)[:, None], other=0.0)
        bv = tl.load(b + n[None, :] * (K // 2) + half[:, None], mask=(n < N)[None, :], other=0)
        bs = tl.load(b_scales + n[:, None] * (K // 32) + group[None, :], mask=(n < N)[:, None], other=127)
        if A_KIND == "e4m3":
            as_ = tl.load(a_scales + m[:, None] * (K // 32) + group[None, :], mask=(m < M)[:, None], other=127)
            acc = tl.dot_scaled(av, as_, A_KIND, bv, bs, "e2m1", acc)
        else:
            acc = tl.dot_scaled(av, None, A_KIND, bv, bs, "e2m1", acc)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.bfloat16), mask=(m < M)[:, None] & (n < N)[None, :])


def scaled_case(M, N, K, kind, block, warps):
    a = rand(M, K, dtype=FP8 if kind == "e4m3" else BF16)
    codes = randint(0, 16, N, K)
    b = (codes[:, 0::2] | codes[:, 1::2] << 4).to(U8)
    a_scales, b_scales = randint(120, 130, M, K // 32, dtype=U8), randint(120, 130, N, K // 32, dtype=U8)
    c = empty(M, N, dtype=BF16)

    def reference():
        av = a.float()
        if kind == "e4m3":
            av = av * torch.exp2(a_scales.float() - 127).repeat_interleave(32, 1)
        return (av @ (tensor(E2M1, F32)[codes.long()] * torch.exp2(b_scales.float() - 127).repeat_interleave(32, 1)).T,)

    BM, BN, BK = block
    return Case(product_scaled, (triton.cdiv(M, BM), triton.cdiv(N, BN)), (a, a_scales, b, b_scales, c, M, N, K),
                dict(A_KIND=kind, BM=BM, BN=BN, BK=BK), (c,), reference, options=dict(num_warps=warps, num_stages=3), flops=2 * M * N * K)


@case
def rl_scaled_bf16_fp4(M=1000, N=2000, K=2048):
    return scaled_case(M, N, K, "bf16", (128, 128, 64), 8)


@case
def rl_scaled_fp8_fp4(M=1504, N=1000, K=1920):
    return scaled_case(M, N, K, "e4m3", (64, 128, 128), 4)


@triton.jit
def few_rows_product(x, w, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PER: tl.constexpr):
    """y += x w of very few rows: parts of the depth are added by atomics in half precision."""
    m, n = tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN)
    first = tl.program_id(1) * PER
    acc = tl.zeros((BM, BN), tl.float32)
    for start in tl.range(first, tl.minimum(first + PER, K), BK, num_stages=6):
        k = start + tl.arange(0, BK)
        xv = tl.load(x + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
        wv = tl.load(w + k[:, None] * N + n[None, :], mask=(k < K)[:, None] & (n < N)[None, :], other=0.0)
        acc = tl.dot(xv, wv, acc)
    tl.atomic_add(y + m[:, None] * N + n[None, :], acc.to(tl.float16), mask=(m < M)[:, None] & (n < N)[None, :], sem="relaxed")


@case
def rl_few_rows_split(M=3, N=7000, K=9000, PER=1536):
    x, w, y = rand(M, K, dtype=F16), rand(K, N, dtype=F16, scale=0.01), zeros(M, N, dtype=F16)
    return Case(few_rows_product, (triton.cdiv(N, 64), triton.cdiv(K, PER)), (x, w, y, M, N, K), dict(BM=16, BN=64, BK=64, PER=PER), (y,),
                lambda: (x.float() @ w.float(),), options=dict(num_warps=4), accumulate=True, bytes=2 * N * K)


@triton.jit
def product_bf16x3(a, b, c, sums, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c = a b^T of floats in three products of bf16, and each row's largest magnitude and sum within a tile."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        av = tl.load(a + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
        bv = tl.load(b + n[:, None] * K + k[None, :], mask=(n < N)[:, None] & (k < K)[None, :], other=0.0)
        acc = tl.dot(av, bv.T, acc, input_precision="bf16x3")
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(m < M)[:, None] & (n < N)[None, :])
    at = (tl.program_id(1) * M + m) * 2
    tl.store(sums + at, tl.max(tl.abs(acc), 1), mask=m < M)
    tl.store(sums + at + 1, tl.sum(acc, 1), mask=m < M)


@case
def rl_product_bf16x3(M=1500, N=1025, K=1001):
    a, b, c = rand(M, K), rand(N, K), empty(M, N)
    tiles = triton.cdiv(N, 64)
    sums = empty(tiles, M, 2)

    def reference():
        product = (a.double() @ b.double().T)
        parts = torch.nn.functional.pad(product, (0, tiles * 64 - N)).view(M, tiles, 64)
        return product, torch.stack((parts.abs().amax(2), parts.sum(2)), 2).transpose(0, 1)

    return Case(product_bf16x3, (triton.cdiv(M, 64), tiles), (a, b, c, sums, M, N, K), dict(BM=64, BN=64, BK=32), (c, sums), reference, rtol=1e-4,
                options=dict(num_warps=4, num_stages=2), flops=2 * M * N * K)


@triton.jit
def product_device_boxes(a, b, scales, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SMS: tl.constexpr, UNROLL: tl.constexpr):
    """c = a b^T with a scale for each column, persistent, by descriptors that the kernel makes; the loop of products is unrolled."""
    a_box = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    b_box = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    c_box = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    rows, cols = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), rows * cols, SMS):
        m, n = tile // cols * BM, tile % cols * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for k in tl.range(0, K, BK, loop_unroll_factor=UNROLL):
            acc = tl.dot(a_box.load([m, k]), b_box.load([n, k]).T, acc)
        at = n + tl.arange(0, BN)
        acc *= tl.load(scales + at, mask=at < N, other=0.0)[None, :]
        c_box.store([m, n], acc.to(c.dtype.element_ty))


def device_boxes_case(M, N, K, block, dtype, unroll, warps, stages):
    a, b, scales = rand(M, K, dtype=dtype), rand(N, K, dtype=dtype), uniform(N, low=0.5, high=1.5)
    c = empty(M, N, dtype=BF16)
    BM, BN, BK = block
    return Case(product_device_boxes, (132,), (a, b, scales, c, M, N, K), dict(BM=BM, BN=BN, BK=BK, SMS=132, UNROLL=unroll), (c,),
                lambda: (a.float() @ b.float().T * scales,), options=dict(num_warps=warps, num_stages=stages), flops=2 * M * N * K)


@case
def rl_device_boxes_fp8(M=2500, N=3000, K=2064):
    return device_boxes_case(M, N, K, (128, 128, 128), FP8, 1, 8, 4)


@case
def rl_device_boxes_unrolled(M=1000, N=1208, K=1528):
    return device_boxes_case(M, N, K, (64, 32, 64), F16, 2, 4, 2)


@triton.jit
def batched_boxes(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr):
    """c[i] = a[i]^T b[i] for each of a batch by the host's descriptors of three dimensions."""
    i, m, n = tl.program_id(2), tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, num_stages=STAGES):
        av = tl.reshape(a.load([i, k, m]), (BK, BM))
        bv = tl.reshape(b.load([i, k, n]), (BK, BN))
        acc = tl.dot(tl.trans(av), bv, acc)
    c.store([i, m, n], tl.reshape(acc.to(c.dtype), (1, BM, BN)))


@case
def rl_batched_boxes(B=24, M=520, N=392, K=1000):
    a, b, c = rand(B, K, M, dtype=F16), rand(B, K, N, dtype=F16), empty(B, M, N, dtype=F16)
    boxes = [TensorDescriptor.from_tensor(t, s) for t, s in ((a, [1, 32, 64]), (b, [1, 32, 128]), (c, [1, 64, 128]))]
    return Case(batched_boxes, (triton.cdiv(M, 64), triton.cdiv(N, 128), B), (*boxes, M, N, K), dict(BM=64, BN=128, BK=32, STAGES=7), (c,),
                lambda: (a.float().transpose(1, 2) @ b.float(),), options=dict(num_warps=4), flops=2 * B * M * N * K)


@triton.jit
def wide_product(x, w, residual, y, M, K, N: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr):
    """y = x w + residual, then each row over its root mean square: 16 warps share a tile of 512 columns."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, N)
    acc = tl.zeros((BM, N), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        xv = tl.load(x + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
        wv = tl.load(w + k[:, None] * N + n[None, :], mask=(k < K)[:, None], other=0.0)
        acc = tl.dot(xv, wv, acc)
    at = m[:, None] * N + n[None, :]
    acc += tl.load(residual + at, mask=(m < M)[:, None], other=0.0).to(tl.float32)
    inverse = tl.rsqrt(tl.sum(acc * acc, 1) / N + 1e-6)
    tl.store(y + at, (acc * inverse[:, None]).to(tl.bfloat16), mask=(m < M)[:, None])


@case
def rl_wide_product_rms(M=8003, N=512, K=700):
    x, w, residual, y = rand(M, K, dtype=BF16), rand(K, N, dtype=BF16, scale=0.05), rand(M, N, dtype=BF16), empty(M, N, dtype=BF16)

    def reference():
        v = x.float() @ w.float() + residual.float()
        return (v * torch.rsqrt(v.square().mean(1, keepdim=True) + 1e-6),)

    return Case(wide_product, (triton.cdiv(M, 64),), (x, w, residual, y, M, K), dict(N=N, BM=64, BK=16), (y,), reference,
                options=dict(num_warps=16, num_stages=4), flops=2 * M * N * K)


@triton.jit
def conv_1d_grouped(x, w, bias, y, T, C, O, PER: tl.constexpr, OUT: tl.constexpr, TAPS: tl.constexpr, DILATION: tl.constexpr, BT: tl.constexpr):
    """A dilated convolution of groups along time, channels first: w times shifted blocks of x for each tap, then SiLU."""
    b, group = tl.program_id(1), tl.program_id(2)
    t, c, o = tl.program_id(0) * BT + tl.arange(0, BT), tl.arange(0, PER), tl.arange(0, OUT)
    acc = tl.zeros((OUT, BT), tl.float32)
    for tap in tl.static_range(TAPS):
        from_ = t + (tap - TAPS // 2) * DILATION
        v = tl.load(x + (b * C + group * PER + c)[:, None] * T + from_[None, :], mask=((from_ >= 0) & (from_ < T))[None, :], other=0.0)
        weights = tl.load(w + ((group * OUT + o)[:, None] * PER + c[None, :]) * TAPS + tap)
        acc = tl.dot(weights, v, acc)
    acc += tl.load(bias + group * OUT + o)[:, None]
    acc *= tl.sigmoid(acc)
    tl.store(y + (b * O + group * OUT + o)[:, None] * T + t[None, :], acc.to(y.dtype.element_ty), mask=(t < T)[None, :])


@case
def rl_conv_1d_grouped(B=16, T=5001, groups=6, PER=64, OUT=32, TAPS=5):
    C, O = groups * PER, groups * OUT
    x, w, bias, y = rand(B, C, T, dtype=F16), rand(O, PER, TAPS, dtype=F16, scale=0.05), rand(O), empty(B, O, T, dtype=F16)

    def reference():
        return (torch.nn.functional.silu(torch.nn.functional.conv1d(x.float(), w.float(), bias, padding=6, dilation=3, groups=groups)),)

    return Case(conv_1d_grouped, (triton.cdiv(T, 128), B, groups), (x, w, bias, y, T, C, O), dict(PER=PER, OUT=OUT, TAPS=TAPS, DILATION=3, BT=128), (y,),
                reference, options=dict(num_warps=4), flops=2 * B * T * O * PER * TAPS)


@triton.jit
def newton_inverse(a, out, residuals, batches, N: tl.constexpr, PER: tl.constexpr):
    """Inverses of small positive matrices by Newton's steps X (2 - A X), until all of a program's are close enough."""
    b = tl.program_id(0) * PER + tl.arange(0, PER)
    i, j = tl.arange(0, N)[None, :, None], tl.arange(0, N)[None, None, :]
    at = b[:, None, None] * (N * N) + i * N + j
    one = tl.where(i == j, 1.0, 0.0)
    av = tl.load(a + at, mask=(b < batches)[:, None, None], other=0.0) + tl.where((b >= batches)[:, None, None], one, 0.0)
    norm = tl.max(tl.sum(tl.abs(av), 2), 1)
    x = tl.broadcast_to(one, (PER, N, N)) / norm[:, None, None]
    worst = 1.0
    error = tl.zeros((PER,), tl.float32)
    for _ in range(40):
        if worst > 1e-4:
            rest = one - tl.dot(av, x, input_precision="tf32x3")
            x = x + tl.dot(x, rest, input_precision="tf32x3")
            error = tl.max(tl.max(tl.abs(rest), 2), 1)
            worst = tl.max(error, 0)
    tl.store(out + at, x, mask=(b < batches)[:, None, None])
    tl.store(residuals + b, (error < 1e-4).to(tl.int32), mask=b < batches)


@case
def rl_newton_inverse(B=20001, N=32):
    root, out, residuals = rand(B, N, N, scale=0.2), empty(B, N, N), empty(B, dtype=I32)
    a = root @ root.transpose(1, 2) + torch.eye(N, device=DEVICE)
    return Case(newton_inverse, (triton.cdiv(B, 2),), (a, out, residuals, B), dict(N=N, PER=2), (out, residuals),
                lambda: (torch.linalg.inv(a.double()), torch.ones(B, device=DEVICE, dtype=I32)), rtol=1e-3, options=dict(num_warps=4),
                flops=40 * B * N**3)


@triton.jit
def normal_equations(factors, items, ratings, begins, gram, right, weight, D: tl.constexpr, BK: tl.constexpr):
    """The equations of one user's factors in alternating least squares: products of gathered rows over a list of any length."""
    user = tl.program_id(0)
    first, last = tl.load(begins + user), tl.load(begins + user + 1)
    d = tl.arange(0, D)
    acc, sums = tl.zeros((D, D), tl.float32), tl.zeros((D,), tl.float32)
    for start in range(first, last, BK):
        k = start + tl.arange(0, BK)
        item = tl.load(items + k, mask=k < last, other=0)
        v = tl.load(factors + item[:, None] * D + d[None, :], mask=(k < last)[:, None], other=0.0)
        acc = tl.dot(tl.trans(v), v, acc)
        sums += tl.sum(v.to(tl.float32) * tl.load(ratings + k, mask=k < last, other=0.0)[:, None], 0)
    acc += tl.where(d[:, None] == d[None, :], weight * (last - first), 0.0)
    tl.store(gram + (user * D + d[:, None]) * D + d[None, :], acc)
    tl.store(right + user * D + d, sums)


@case
def rl_normal_equations(users=20003, count=50000, D=64, longest=200):
    lengths = torch.arange(users) * 7919 % longest + 1
    begins = torch.cat((torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)))
    total = int(begins[-1])
    factors, items, ratings = rand(count, D, dtype=F16), randint(0, count, total), uniform(total, low=1.0, high=5.0)
    gram, right = empty(users, D, D), empty(users, D)
    owner, sizes = torch.repeat_interleave(torch.arange(users), lengths).to(DEVICE), lengths.to(DEVICE)

    def reference():
        v = factors[items.long()].float()
        place = torch.arange(total, device=DEVICE) - begins.to(DEVICE)[owner]
        out, sums = zeros(users, D, D), zeros(users, D).index_add_(0, owner, v * ratings[:, None])
        for start in range(0, longest, 16):
            rows = zeros(users, 16, D)
            chosen = (place >= start) & (place < start + 16)
            rows[owner[chosen], place[chosen] - start] = v[chosen]
            out += rows.transpose(1, 2) @ rows
        return out + 0.1 * sizes[:, None, None] * torch.eye(D, device=DEVICE), sums

    return Case(normal_equations, (users,), (factors, items, ratings, begins.to(I32).to(DEVICE), gram, right, 0.1), dict(D=D, BK=32), (gram, right),
                reference, options=dict(num_warps=2, num_stages=3), flops=2 * total * D * D)
