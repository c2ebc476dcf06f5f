# SPDX-License-Identifier: Apache-2.0
"""Kernels whose blocks are named by descriptors that the host makes."""
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from case import Case, empty, rand, registry

CASES, case = registry()
F8 = torch.float8_e4m3fn


def describe(x, *block):
    return TensorDescriptor(x, list(x.shape), list(x.stride()), list(block))


@triton.jit
def grouped(pid, rows, cols, GROUP: tl.constexpr):
    width = GROUP * cols
    first = pid // width * GROUP
    size = min(rows - first, GROUP)
    return first + pid % width % size, pid % width // size


@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr):
    row, col = grouped(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), 8)
    sums = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(tl.cdiv(K, BK), warp_specialize=WS):
        sums = tl.dot(a.load([row * BM, k * BK]), b.load([col * BN, k * BK]).T, sums)
    c.store([row * BM, col * BN], sums.to(c.dtype))


def product_case(M, N, K, BM, BN, BK, dtype=torch.float16, ws=False, warps=8, stages=3):
    a, b = rand(M, K, dtype=dtype), rand(N, K, dtype=dtype)
    c = empty(M, N, dtype=torch.float16)
    return Case(product, (triton.cdiv(M, BM) * triton.cdiv(N, BN),), (describe(a, BM, BK), describe(b, BN, BK), describe(c, BM, BN), M, N, K),
                dict(BM=BM, BN=BN, BK=BK, WS=ws), (c,), lambda: (a.float() @ b.float().T,), options=dict(num_warps=warps, num_stages=stages),
                rtol=3e-2, flops=2 * M * N * K)


@case
def hd_product_k512():
    return product_case(8192, 8192, 512, 128, 256, 64)


@case
def hd_product_k1024_small():
    return product_case(4096, 4096, 1024, 128, 128, 64, warps=4)


@case
def hd_product_k4096():
    return product_case(4096, 4096, 4096, 128, 256, 64, stages=4)


@case
def hd_product_fp8_k512():
    return product_case(8192, 8192, 512, 128, 256, 128, dtype=F8)


@case
def hd_product_specialized():
    return product_case(4096, 4096, 2048, 128, 256, 64, ws=True)


@triton.jit
def persistent(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SMS: tl.constexpr, HALVES: tl.constexpr,
               FLATTEN: tl.constexpr):
    rows, cols = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), rows * cols, SMS, flatten=FLATTEN):
        row, col = grouped(tile, rows, cols, 8)
        sums = tl.zeros((BM, BN), tl.float32)
        for k in range(tl.cdiv(K, BK)):
            sums = tl.dot(a.load([row * BM, k * BK]), b.load([col * BN, k * BK]).T, sums)
        if HALVES:
            left, right = sums.reshape(BM, 2, BN // 2).permute(0, 2, 1).split()
            c.store([row * BM, col * BN], left.to(c.dtype))
            c.store([row * BM, col * BN + BN // 2], right.to(c.dtype))
        else:
            c.store([row * BM, col * BN], sums.to(c.dtype))


def persistent_case(M, N, K, BM, BN, BK, halves, flatten, dtype=torch.float16, warps=8, stages=3):
    a, b = rand(M, K, dtype=dtype), rand(N, K, dtype=dtype)
    c = empty(M, N, dtype=torch.float16)
    return Case(persistent, (min(132, triton.cdiv(M, BM) * triton.cdiv(N, BN)),),
                (describe(a, BM, BK), describe(b, BN, BK), describe(c, BM, BN // 2 if halves else BN), M, N, K),
                dict(BM=BM, BN=BN, BK=BK, SMS=132, HALVES=halves, FLATTEN=flatten), (c,), lambda: (a.float() @ b.float().T,),
                options=dict(num_warps=warps, num_stages=stages), rtol=3e-2, flops=2 * M * N * K)


@case
def hd_persistent():
    return persistent_case(8192, 8192, 1024, 128, 256, 64, False, False)


@case
def hd_persistent_halves():
    return persistent_case(8192, 8192, 1024, 128, 256, 64, True, False)


@case
def hd_persistent_flat():
    return persistent_case(8192, 8192, 512, 128, 256, 64, True, True)


@case
def hd_persistent_128():
    return persistent_case(8192, 8192, 512, 128, 128, 64, False, True, stages=4)


@triton.jit
def inner(sums, total, top, q, k, v, base, row, scale, low, high, BM: tl.constexpr, BN: tl.constexpr, MASK: tl.constexpr, WS: tl.constexpr):
    for start in tl.range(low, high, BN, warp_specialize=WS):
        s = tl.dot(q, k.load([base + start, 0]).T)
        if MASK:
            rows, cols = row * BM + tl.arange(0, BM), start + tl.arange(0, BN)
            s = s * scale + tl.where(rows[:, None] >= cols[None, :], 0, -1.0e6)
            new = tl.maximum(top, tl.max(s, 1))
            s -= new[:, None]
        else:
            new = tl.maximum(top, tl.max(s, 1) * scale)
            s = s * scale - new[:, None]
        p = tl.math.exp2(s)
        alpha = tl.math.exp2(top - new)
        sums = sums * alpha[:, None]
        sums = tl.dot(p.to(v.dtype), v.load([base + start, 0]), sums)
        total = total * alpha + tl.sum(p, 1)
        top = new
    return sums, total, top


@triton.jit
def attention(q_desc, k_desc, v_desc, o_desc, M, scale, H, T, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
              WS: tl.constexpr):
    row, head = tl.program_id(0), tl.program_id(1)
    base = head * T
    rows = row * BM + tl.arange(0, BM)
    top = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.full((BM,), 1.0, tl.float32)
    sums = tl.zeros((BM, D), tl.float32)
    factor = scale * 1.44269504
    q = q_desc.load([base + row * BM, 0])
    if CAUSAL:
        sums, total, top = inner(sums, total, top, q, k_desc, v_desc, base, row, factor, 0, row * BM, BM, BN, False, WS)
        sums, total, top = inner(sums, total, top, q, k_desc, v_desc, base, row, factor, row * BM, (row + 1) * BM, BM, BN, True, WS)
    else:
        sums, total, top = inner(sums, total, top, q, k_desc, v_desc, base, row, factor, 0, T, BM, BN, False, WS)
    tl.store(M + base + rows, top + tl.math.log2(total))
    o_desc.store([base + row * BM, 0], (sums / total[:, None]).to(o_desc.dtype))


def attention_case(heads, T, D, BM, BN, causal, ws=False, warps=8, stages=3):
    q, k, v = (rand(heads * T, D, dtype=torch.float16, scale=0.5) for _ in range(3))
    o, m = empty(heads * T, D, dtype=torch.float16), empty(heads * T)

    def reference():
        qs, ks, vs = (x.view(1, heads, T, D) for x in (q, k, v))
        out = torch.nn.functional.scaled_dot_product_attention(qs, ks, vs, is_causal=causal, scale=0.5)
        return (out.reshape(heads * T, D),)
    return Case(attention, (T // BM, heads), (describe(q, BM, D), describe(k, BN, D), describe(v, BN, D), describe(o, BM, D), m, 0.5, heads, T),
                dict(D=D, BM=BM, BN=BN, CAUSAL=causal, WS=ws), (o,), reference, options=dict(num_warps=warps, num_stages=stages))


@case
def hd_attention_d64():
    return attention_case(128, 1024, 64, 128, 64, False, warps=4)


@case
def hd_attention_d128():
    return attention_case(64, 2048, 128, 128, 128, False)


@case
def hd_attention_causal_d64():
    return attention_case(128, 2048, 64, 128, 128, True)


@case
def hd_attention_causal_d128():
    return attention_case(64, 4096, 128, 128, 64, True)


@case
def hd_attention_specialized():
    return attention_case(64, 2048, 128, 128, 128, False, ws=True)


@triton.jit
def batched(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, col, batch = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = a.load([batch, row * BM, k]).reshape(BM, BK)
        y = b.load([batch, k, col * BN]).reshape(BK, BN)
        sums = tl.dot(x, y, sums)
    c.store([batch, row * BM, col * BN], sums.to(c.dtype).reshape(1, BM, BN))


@case
def hd_batched():
    B, M, N, K = 32, 1000, 1024, 512
    a, b = rand(B, M, K, dtype=torch.bfloat16), rand(B, K, N, dtype=torch.bfloat16)
    c = empty(B, M, N, dtype=torch.bfloat16)
    return Case(batched, (triton.cdiv(M, 128), N // 128, B), (describe(a, 1, 128, 64), describe(b, 1, 64, 128), describe(c, 1, 128, 128), M, N, K),
                dict(BM=128, BN=128, BK=64), (c,), lambda: (a.float() @ b.float(),), options=dict(num_warps=4, num_stages=3))


@triton.jit
def rows_softmax(x, y, N: tl.constexpr, BN: tl.constexpr, R: tl.constexpr):
    row = tl.program_id(0) * R
    values = x.load([row, 0]).to(tl.float32)
    values = tl.where(tl.arange(0, BN)[None, :] < N, values, float("-inf"))
    values = tl.exp(values - tl.max(values, 1)[:, None])
    y.store([row, 0], (values / tl.sum(values, 1)[:, None]).to(y.dtype))


@case
def hd_softmax():
    x = rand(8192, 4000, dtype=torch.float16)
    y = torch.empty_like(x)
    return Case(rows_softmax, (8192,), (describe(x, 1, 4096), describe(y, 1, 4096)),
                dict(N=4000, BN=4096, R=1), (y,), lambda: (torch.softmax(x.float(), 1),), options=dict(num_warps=8))


@triton.jit
def add_tiles(x, y, z, BM: tl.constexpr, BN: tl.constexpr):
    at = [tl.program_id(0) * BM, tl.program_id(1) * BN]
    z.store(at, x.load(at) + y.load(at))


@case
def hd_add():
    x, y = rand(8192, 8000, dtype=torch.bfloat16), rand(8192, 8000, dtype=torch.bfloat16)
    z = torch.empty_like(x)
    return Case(add_tiles, (8192 // 64, 63), (describe(x, 64, 128), describe(y, 64, 128), describe(z, 64, 128)), dict(BM=64, BN=128), (z,),
                lambda: (x + y,), options=dict(num_warps=4))


@triton.jit
def transposed(x, y, BM: tl.constexpr, BN: tl.constexpr):
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    y.store([col, row], x.load([row, col]).T)


@case
def hd_transpose():
    x = rand(8192, 8192, dtype=torch.float16)
    y = torch.empty_like(x)
    return Case(transposed, (128, 128), (describe(x, 64, 64), describe(y, 64, 64)), dict(BM=64, BN=64), (y,), lambda: (x.T,),
                options=dict(num_warps=4))


@triton.jit
def adds_to(x, total, ROWS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    col = tl.program_id(0) * BN
    first = tl.program_id(1) * ROWS
    sums = tl.zeros((BM, BN), tl.float32)
    for r in range(0, ROWS, BM):
        sums += x.load([first + r, col]).to(tl.float32)
    total.atomic_add([0, col], sums)


@case
def hd_reduce():
    x = rand(16384, 4096, dtype=torch.float16)
    out = torch.zeros_like(rand(32, 4096))
    return Case(adds_to, (32, 32), (describe(x, 32, 128), describe(out, 32, 128)), dict(ROWS=512, BM=32, BN=128), (out,),
                lambda: (x.float().view(512, 32, 4096).sum(0),), options=dict(num_warps=4), accumulate=True)
