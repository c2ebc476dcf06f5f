# SPDX-License-Identifier: Apache-2.0
"""Products by pointers, of operands that lie along either dimension, with masks and without."""
import torch
import triton
import triton.language as tl

from case import Case, empty, rand, registry

CASES, case = registry()


@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, am, ak, bk, bn, cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
            WRAP: tl.constexpr, MASK: tl.constexpr, ADD: tl.constexpr):
    pid = tl.program_id(0)
    rows, cols = tl.cdiv(M, BM), tl.cdiv(N, BN)
    width = GROUP * cols
    first = pid // width * GROUP
    size = min(rows - first, GROUP)
    row = first + pid % width % size
    col = pid % width // size
    m = row * BM + tl.arange(0, BM)
    n = col * BN + tl.arange(0, BN)
    m_in = m % M if WRAP else m
    n_in = n % N if WRAP else n
    k = tl.arange(0, BK)
    a = a_ptr + m_in[:, None] * am + k[None, :] * ak
    b = b_ptr + k[:, None] * bk + n_in[None, :] * bn
    sums = tl.zeros((BM, BN), tl.float32)
    for i in range(tl.cdiv(K, BK)):
        if MASK == 0:
            x, y = tl.load(a), tl.load(b)
        elif MASK == 1:
            x = tl.load(a, mask=k[None, :] < K - i * BK, other=0.0)
            y = tl.load(b, mask=k[:, None] < K - i * BK, other=0.0)
        else:
            x = tl.load(a, mask=(m[:, None] < M) & (k[None, :] < K - i * BK), other=0.0)
            y = tl.load(b, mask=(k[:, None] < K - i * BK) & (n[None, :] < N), other=0.0)
        sums = tl.dot(x, y, sums)
        a += BK * ak
        b += BK * bk
    out = c_ptr + m[:, None] * cm + n[None, :]
    keep = (m[:, None] < M) & (n[None, :] < N)
    if ADD:
        sums += tl.load(out, mask=keep)
    tl.store(out, sums.to(c_ptr.dtype.element_ty), mask=keep)


def make(form, M, N, K, BM, BN, BK, wrap=True, mask=1, add=False, warps=8, stages=3, dtype=torch.bfloat16):
    a = rand(M, K, dtype=dtype) if form[0] == "n" else rand(K, M, dtype=dtype).T
    b = rand(K, N, dtype=dtype) if form[1] == "n" else rand(N, K, dtype=dtype).T
    c = empty(M, N, dtype=torch.float32 if add else dtype)
    return Case(product, (triton.cdiv(M, BM) * triton.cdiv(N, BN),),
                (a, b, c, M, N, K, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0)),
                dict(BM=BM, BN=BN, BK=BK, GROUP=8, WRAP=wrap, MASK=mask, ADD=add), (c,), lambda: (a.float() @ b.float(),),
                options=dict(num_warps=warps, num_stages=stages), accumulate=add, flops=2 * M * N * K)


def add(name, *args, **more):
    def f():
        return make(*args, **more)
    f.__name__ = name
    case(f)


for form in ("nn", "nt", "tn", "tt"):
    add(f"pr_{form}_tutorial", form, 4096, 4096, 2048, 128, 256, 64)
    add(f"pr_{form}_masked", form, 4096, 4096, 2048, 128, 256, 64, wrap=False, mask=2)
    add(f"pr_{form}_plain_128", form, 4096, 4096, 2048, 128, 128, 64, wrap=False, mask=0, stages=4)
    add(f"pr_{form}_256x128", form, 4096, 4096, 2048, 256, 128, 64)
    add(f"pr_{form}_128x128_w4", form, 4096, 4096, 2048, 128, 128, 32, warps=4, stages=4)
    add(f"pr_{form}_wgrad", form, 4096, 4096, 8192, 128, 256, 64, wrap=False, mask=2, add=True)
    add(f"pr_{form}_64x256_w4", form, 4096, 4096, 2048, 64, 256, 32, warps=4, stages=4)
    add(f"pr_{form}_ragged", form, 4000, 4104, 2000, 128, 128, 64, wrap=False, mask=2, warps=4)
