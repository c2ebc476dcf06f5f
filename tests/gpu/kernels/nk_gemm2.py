# SPDX-License-Identifier: Apache-2.0
"""Products of unusual operands and shapes: convolutions by descriptors, scaled formats, tables, triangles, gathered rows, small batches."""
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from case import DEVICE, Case, empty, rand, randint, registry, tensor, uniform

CASES, case = registry()
F16, BF16, F8, F8E5 = torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2


def describe(x, *block):
    return TensorDescriptor(x, list(x.shape), list(x.stride()), list(block))


@triton.jit
def conv_described(x, w, y, C, BH: tl.constexpr, BW: tl.constexpr, BN: tl.constexpr, BC: tl.constexpr, W: tl.constexpr):
    """3 x 3 convolution, NHWC: boxes of a 4-D descriptor, shifted for each tap; the edge's zeros come from the descriptor."""
    tile, col, image = tl.program_id(0), tl.program_id(1) * BN, tl.program_id(2)
    h, v = tile // (W // BW) * BH, tile % (W // BW) * BW
    acc = tl.zeros((BH * BW, BN), tl.float32)
    steps = C // BC
    for i in range(0, 9 * steps):
        tap = i // steps
        c = i % steps * BC
        a = x.load([image, h + tap // 3 - 1, v + tap % 3 - 1, c]).reshape(BH * BW, BC)
        acc = tl.dot(a, w.load([col, tap * C + c]).T, acc)
    y.store([image, h, v, col], tl.maximum(acc, 0.0).to(y.dtype).reshape(1, BH, BW, BN))


@case
def nk_conv_4d_descriptors(images=16, H=56, W=64, C=128, K=128):
    x, w, y = rand(images, H, W, C, dtype=BF16), rand(K, 9 * C, dtype=BF16, scale=0.05), empty(images, H, W, K, dtype=BF16)

    def reference():
        kernel = w.float().view(K, 3, 3, C).permute(0, 3, 1, 2)
        return (torch.relu(torch.nn.functional.conv2d(x.float().permute(0, 3, 1, 2), kernel, padding=1)).permute(0, 2, 3, 1),)

    return Case(conv_described, (H // 8 * (W // 16), K // 128, images),
                (describe(x, 1, 8, 16, 64), describe(w, 128, 64), describe(y, 1, 8, 16, 128), C),
                dict(BH=8, BW=16, BN=128, BC=64, W=W), (y,), reference, options=dict(num_warps=8, num_stages=3), flops=18 * images * H * W * C * K)


@triton.jit
def conv_weight_grad(x, dy, dw, images, H, W, C: tl.constexpr, K: tl.constexpr, BP: tl.constexpr, BC: tl.constexpr, BK: tl.constexpr,
                     SPLIT: tl.constexpr):
    """The weight's gradient of a 3 x 3 convolution, NHWC: a product over pixels for each tap, shares of them added by atomics."""
    tap, share = tl.program_id(1), tl.program_id(2)
    k, c = tl.program_id(0) // (C // BC) * BK + tl.arange(0, BK), tl.program_id(0) % (C // BC) * BC + tl.arange(0, BC)
    dh, dv = tap // 3 - 1, tap % 3 - 1
    pixels = images * H * W
    acc = tl.zeros((BK, BC), tl.float32)
    for p0 in range(share * BP, pixels, SPLIT * BP):
        p = p0 + tl.arange(0, BP)
        h, v = p // W % H + dh, p % W + dv
        inside = (p < pixels) & (h >= 0) & (h < H) & (v >= 0) & (v < W)
        g = tl.load(dy + p[None, :] * K + k[:, None], mask=(p < pixels)[None, :], other=0.0)
        a = tl.load(x + (p + dh * W + dv)[:, None] * C + c[None, :], mask=inside[:, None], other=0.0)
        acc = tl.dot(g, a, acc)
    tl.atomic_add(dw + (k[:, None] * 9 + tap) * C + c[None, :], acc, sem="relaxed")


@case
def nk_conv_weight_grad(images=32, H=28, W=28, C=256, K=256, split=8):
    x, dy, dw = rand(images, H, W, C, dtype=BF16), rand(images, H, W, K, dtype=BF16), empty(K, 9, C)

    def reference():
        padded = torch.nn.functional.pad(x.float(), (0, 0, 1, 1, 1, 1))
        g = dy.float().reshape(-1, K).T
        return (torch.stack([g @ padded[:, t // 3:t // 3 + H, t % 3:t % 3 + W].reshape(-1, C) for t in range(9)], 1),)

    return Case(conv_weight_grad, (K // 128 * (C // 128), 9, split), (x, dy, dw, images, H, W), dict(C=C, K=K, BP=64, BC=128, BK=128, SPLIT=split),
                (dw,), reference, accumulate=True, options=dict(num_warps=8, num_stages=3), flops=18 * images * H * W * C * K)


@triton.jit
def scaled_fp8(a_ptr, a_scale, b_ptr, b_scale, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Both operands e4m3 with e8m0 scales of 32, by dot_scaled."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k, s = tl.arange(0, BK), tl.arange(0, BK // 32)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        a = tl.load(a_ptr + m[:, None] * K + i + k[None, :])
        b = tl.load(b_ptr + n[None, :] * K + i + k[:, None])
        sa = tl.load(a_scale + m[:, None] * (K // 32) + i // 32 + s[None, :])
        sb = tl.load(b_scale + n[:, None] * (K // 32) + i // 32 + s[None, :])
        acc = tl.dot_scaled(a, sa, "e4m3", b, sb, "e4m3", acc)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(tl.float16))


@case
def nk_dot_scaled_fp8(M=2048, N=2048, K=2048):
    a, b, c = rand(M, K).to(F8), rand(N, K).to(F8), empty(M, N, dtype=F16)
    sa, sb = randint(122, 128, M, K // 32, dtype=torch.uint8), randint(122, 128, N, K // 32, dtype=torch.uint8)

    def reference():
        x, y = (t.float() * torch.exp2(s.float() - 127).repeat_interleave(32, 1) for t, s in ((a, sa), (b, sb)))
        return (x @ y.T,)

    return Case(scaled_fp8, (M // 128, N // 128), (a, sa, b, sb, c, M, N, K), dict(BM=128, BN=128, BK=64), (c,), reference,
                options=dict(num_warps=8, num_stages=3), flops=2 * M * N * K)


@triton.jit
def fp8_weights(x, w, scale, bias, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """f16 rows times e5m2 weights that are widened before the product; a scale and a bias for each column."""
    m, n = tl.program_id(1) * BM + tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        a = tl.load(x + m[:, None] * K + i + k[None, :], mask=m[:, None] < M, other=0.0)
        b = tl.load(w + n[None, :] * K + i + k[:, None]).to(tl.float16)
        acc = tl.dot(a, b, acc)
    out = acc * tl.load(scale + n)[None, :] + tl.load(bias + n)[None, :]
    tl.store(y + m[:, None] * N + n[None, :], out.to(tl.float16), mask=m[:, None] < M)


@case
def nk_fp8_weights(M=160, N=8192, K=4096):
    x, w, y = rand(M, K, dtype=F16), rand(N, K).to(F8E5), empty(M, N, dtype=F16)
    scale, bias = uniform(N, low=0.01, high=0.03), rand(N)
    return Case(fp8_weights, (N // 64, triton.cdiv(M, 64)), (x, w, scale, bias, y, M, N, K), dict(BM=64, BN=64, BK=128), (y,),
                lambda: (x.float() @ w.float().T * scale + bias,), options=dict(num_warps=4, num_stages=4), bytes=N * K)


@triton.jit
def nf4_weights(x, w, table, absmax, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """4-bit weights by a table of 16, a scale for 64 of them along K; the nibbles of a byte are neighbours."""
    m, n = tl.program_id(1) * BM + tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN)
    k, half = tl.arange(0, BK), tl.arange(0, BK // 2)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        a = tl.load(x + m[:, None] * K + i + k[None, :], mask=m[:, None] < M, other=0.0)
        q = tl.load(w + n[:, None] * (K // 2) + i // 2 + half[None, :]).to(tl.int32)
        b = tl.join(tl.load(table + (q >> 4)), tl.load(table + (q & 15))).reshape(BN, BK)
        unit = tl.load(absmax + n * (K // 64) + i // 64)
        acc = tl.dot(a, (b * unit[:, None]).to(x.dtype.element_ty).T, acc)
    tl.store(y + m[:, None] * N + n[None, :], acc.to(tl.bfloat16), mask=m[:, None] < M)


@case
def nk_nf4_weights(M=48, N=8192, K=4096):
    x, w, y = rand(M, K, dtype=BF16), randint(0, 256, N, K // 2, dtype=torch.uint8), empty(M, N, dtype=BF16)
    table = tensor([-1.0, -0.7, -0.53, -0.39, -0.28, -0.18, -0.09, 0.0, 0.08, 0.16, 0.25, 0.34, 0.44, 0.56, 0.72, 1.0], torch.float32)
    absmax = uniform(N, K // 64, low=0.05, high=0.1)

    def reference():
        q = torch.stack((w >> 4, w & 15), 2).view(N, K)
        return (x.float() @ (table[q.long()] * absmax.repeat_interleave(64, 1)).T,)

    return Case(nf4_weights, (N // 64, triton.cdiv(M, 16)), (x, w, table, absmax, y, M, N, K), dict(BM=16, BN=64, BK=64), (y,), reference,
                rtol=1e-2, options=dict(num_warps=4, num_stages=3), bytes=N * K / 2)


@triton.jit
def half_sums(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Sums kept in f16."""
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float16)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([row, k]), b.load([k, col]), acc, out_dtype=tl.float16)
    c.store([row, col], acc)


@case
def nk_half_sums(M=4096, N=4096, K=1024):
    a, b, c = rand(M, K, dtype=F16, scale=0.3), rand(K, N, dtype=F16, scale=0.3), empty(M, N, dtype=F16)
    return Case(half_sums, (M // 128, N // 128), (describe(a, 128, 64), describe(b, 64, 128), describe(c, 128, 128), M, N, K),
                dict(BM=128, BN=128, BK=64), (c,), lambda: (a.float() @ b.float(),), rtol=3e-2, options=dict(num_warps=4, num_stages=3),
                flops=2 * M * N * K)


@triton.jit
def three_tf32(a_ptr, b_ptr, c_ptr, M, N, K, PRECISION: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """f32 by tf32x3 or by fused multiply-adds."""
    m, n, k = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        a = tl.load(a_ptr + m[:, None] * K + i + k[None, :])
        b = tl.load(b_ptr + (i + k)[:, None] * N + n[None, :])
        acc = tl.dot(a, b, acc, input_precision=PRECISION)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc)


def three_case(M, N, K, precision, bm, bn, bk, warps):
    a, b, c = rand(M, K), rand(K, N), empty(M, N)
    return Case(three_tf32, (M // bm, N // bn), (a, b, c, M, N, K), dict(PRECISION=precision, BM=bm, BN=bn, BK=bk), (c,), lambda: (a @ b,),
                rtol=1e-4, options=dict(num_warps=warps, num_stages=3), flops=2 * M * N * K)


@case
def nk_gemm_tf32x3(M=2048, N=2048, K=1024):
    return three_case(M, N, K, "tf32x3", 64, 128, 32, 4)


@case
def nk_gemm_ieee(M=1024, N=1024, K=1024):
    return three_case(M, N, K, "ieee", 64, 64, 16, 8)


@triton.jit
def triangle_product(a_ptr, b_ptr, c_ptr, N, T, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """tril(a) b: steps of a row of tiles end at the diagonal, where a is masked; long rows first."""
    row = tl.num_programs(1) - 1 - tl.program_id(1)
    m, n, k = row * BM + tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, row * BM, BK):
        a = tl.load(a_ptr + m[:, None] * T + i + k[None, :])
        acc = tl.dot(a, tl.load(b_ptr + (i + k)[:, None] * N + n[None, :]), acc)
    for i in range(row * BM, (row + 1) * BM, BK):
        a = tl.load(a_ptr + m[:, None] * T + i + k[None, :], mask=m[:, None] >= (i + k)[None, :], other=0.0)
        acc = tl.dot(a, tl.load(b_ptr + (i + k)[:, None] * N + n[None, :]), acc)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(tl.bfloat16))


@case
def nk_triangle_product(T=4096, N=2048):
    a, b, c = rand(T, T, dtype=BF16), rand(T, N, dtype=BF16), empty(T, N, dtype=BF16)
    return Case(triangle_product, (N // 128, T // 128), (a, b, c, N, T), dict(BM=128, BN=128, BK=32), (c,), lambda: (a.float().tril() @ b.float(),),
                options=dict(num_warps=4, num_stages=4), flops=T * T * N)


@triton.jit
def both_transposed(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """a^T b^T of descriptors: both operands lie along the dimension that the other form does not have."""
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, loop_unroll_factor=2):
        acc = tl.dot(a.load([k, row]).T, b.load([col, k]).T, acc)
    c.store([col, row], acc.to(c.dtype).T)


@case
def nk_both_transposed(M=4096, N=4096, K=1024):
    a, b, c = rand(K, M, dtype=BF16), rand(N, K, dtype=BF16), empty(N, M, dtype=BF16)
    return Case(both_transposed, (M // 128, N // 128), (describe(a, 64, 128), describe(b, 128, 64), describe(c, 128, 128), K),
                dict(BM=128, BN=128, BK=64), (c,), lambda: (b.float() @ a.float(),), options=dict(num_warps=8, num_stages=3), flops=2 * M * N * K)


@triton.jit
def sparse_conv(x, w, near, y, n, C: tl.constexpr, K: tl.constexpr, TAPS: tl.constexpr, BM: tl.constexpr):
    """Convolution of occupied voxels: each tap gathers rows by its list of neighbours and is skipped where a tile has none."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    c, k = tl.arange(0, C), tl.arange(0, K)
    acc = tl.zeros((BM, K), tl.float32)
    for tap in range(TAPS):
        at = tl.load(near + tap * n + m, mask=m < n, other=-1)
        if tl.max(at, axis=0) >= 0:
            a = tl.load(x + at[:, None] * C + c[None, :], mask=(at >= 0)[:, None], other=0.0)
            acc = tl.dot(a, tl.load(w + (tap * C + c)[:, None] * K + k[None, :]), acc)
    tl.store(y + m[:, None] * K + k[None, :], acc.to(tl.float16), mask=(m < n)[:, None])


@case
def nk_sparse_conv(n=100003, C=64, K=64, taps=27):
    x, w, y = rand(n, C, dtype=F16), rand(taps, C, K, dtype=F16, scale=0.1), empty(n, K, dtype=F16)
    i = torch.arange(n, device=DEVICE)
    shift = (torch.arange(taps, device=DEVICE) - taps // 2) * 5
    dense_part = (i // 128 + torch.arange(taps, device=DEVICE)[:, None]) % 3 > 0
    keep = dense_part & (uniform(taps, n) < 0.6) & (i + shift[:, None] >= 0) & (i + shift[:, None] < n)
    near = torch.where(keep, i + shift[:, None], -1).to(torch.int32)

    def reference():
        total = torch.zeros(n, K, device=DEVICE)
        for t in range(taps):
            total += torch.where((near[t] >= 0)[:, None], x[near[t].clamp_min(0).long()].float(), 0) @ w[t].float()
        return (total,)

    return Case(sparse_conv, (triton.cdiv(n, 128),), (x, w, near, y, n), dict(C=C, K=K, TAPS=taps, BM=128), (y,), reference,
                options=dict(num_warps=4, num_stages=2), flops=2 * n * C * K * taps * 0.4)


@triton.jit
def int8_requantized(a, b, c, factor, bias, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """int8 by descriptors; the sums get a bias and a factor for each column and become int8 again."""
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.int32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([row, k]), b.load([col, k]).T, acc, out_dtype=tl.int32)
    n = col + tl.arange(0, BN)
    y = (acc + tl.load(bias + n)[None, :]).to(tl.float32) * tl.load(factor + n)[None, :]
    c.store([row, col], tl.clamp(tl.floor(y + 0.5), -128.0, 127.0).to(tl.int8))


@case
def nk_int8_requantized(M=4096, N=4096, K=2048):
    a, b, c = randint(-128, 128, M, K, dtype=torch.int8), randint(-128, 128, N, K, dtype=torch.int8), empty(M, N, dtype=torch.int8)
    factor, bias = uniform(N, low=1e-4, high=2e-4), randint(-50000, 50000, N)

    def reference():
        y = (a.double() @ b.double().T + bias).float() * factor
        return (torch.floor(y + 0.5).clamp(-128, 127),)

    return Case(int8_requantized, (M // 128, N // 128), (describe(a, 128, 128), describe(b, 128, 128), describe(c, 128, 128), factor, bias, K),
                dict(BM=128, BN=128, BK=128), (c,), reference, options=dict(num_warps=8, num_stages=3), flops=2 * M * N * K)


@triton.jit
def batches_of_four(a, b, c, batches, S: tl.constexpr, K: tl.constexpr, PER: tl.constexpr):
    """3-D products: four small matrices a program."""
    i = tl.program_id(0) * PER + tl.arange(0, PER)
    m, k = tl.arange(0, S), tl.arange(0, K)
    ok = (i < batches)[:, None, None]
    x = tl.load(a + i[:, None, None] * S * K + m[None, :, None] * K + k[None, None, :], mask=ok, other=0.0)
    y = tl.load(b + i[:, None, None] * S * K + k[None, :, None] * S + m[None, None, :], mask=ok, other=0.0)
    z = tl.dot(x, y)
    tl.store(c + i[:, None, None] * S * S + m[None, :, None] * S + m[None, None, :], z.to(tl.float16), mask=ok)


@case
def nk_batches_of_four(batches=20001, S=32, K=64):
    a, b, c = rand(batches, S, K, dtype=F16), rand(batches, K, S, dtype=F16), empty(batches, S, S, dtype=F16)
    return Case(batches_of_four, (triton.cdiv(batches, 4),), (a, b, c, batches), dict(S=S, K=K, PER=4), (c,), lambda: (a.float() @ b.float(),),
                options=dict(num_warps=4), bytes=batches * S * (4 * K + 2 * S))


@triton.jit
def matvec_int8(x, w, scale, y, N, K, BN: tl.constexpr, BK: tl.constexpr):
    """A row times int8 weights, without matrix products; partial sums of lanes joined once at the end."""
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BN, BK), tl.float32)
    for i in tl.range(0, K, BK, num_stages=4):
        a = tl.load(x + i + k).to(tl.float32)
        acc += tl.load(w + n[:, None] * K + i + k[None, :]).to(tl.float32) * a[None, :]
    tl.store(y + n, (tl.sum(acc, axis=1) * tl.load(scale + n)).to(tl.float16))


@case
def nk_matvec_int8(N=28672, K=8192):
    x, w, scale, y = rand(K, dtype=F16), randint(-127, 128, N, K, dtype=torch.int8), uniform(N, low=1e-3, high=2e-3), empty(N, dtype=F16)
    return Case(matvec_int8, (N // 16,), (x, w, scale, y, N, K), dict(BN=16, BK=512), (y,), lambda: (w.float() @ x.float() * scale,),
                options=dict(num_warps=4), bytes=N * K)


@triton.jit
def fp8_in_parts(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, EVERY: tl.constexpr):
    """fp8 whose partial sums go to f32 registers after every few products."""
    m, n, k = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK * EVERY):
        part = tl.zeros((BM, BN), tl.float32)
        for j in tl.static_range(EVERY):
            at = i + j * BK + k
            a = tl.load(a_ptr + m[:, None] * K + at[None, :])
            b = tl.load(b_ptr + n[None, :] * K + at[:, None])
            part = tl.dot(a, b, part, max_num_imprecise_acc=64)
        total += part
    tl.store(c_ptr + m[:, None] * N + n[None, :], total.to(tl.bfloat16))


@case
def nk_fp8_in_parts(M=4096, N=4096, K=2048):
    a, b, c = rand(M, K).to(F8), rand(N, K).to(F8), empty(M, N, dtype=BF16)
    return Case(fp8_in_parts, (M // 128, N // 128), (a, b, c, M, N, K), dict(BM=128, BN=128, BK=64, EVERY=2), (c,),
                lambda: (a.float() @ b.float().T,), rtol=2e-2, options=dict(num_warps=4, num_stages=4), flops=2 * M * N * K)
