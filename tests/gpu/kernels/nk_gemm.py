# SPDX-License-Identifier: Apache-2.0
"""Products in the forms of tutorials and libraries: tiles of all sizes, groups, chains, fused epilogues, odd operands."""
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from case import Case, empty, rand, registry, tensor

CASES, case = registry()
F16, BF16, F8 = torch.float16, torch.bfloat16, torch.float8_e4m3fn


def describe(x, *block):
    return TensorDescriptor(x, list(x.shape), list(x.stride()), list(block))


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def tile_at(pid, rows, cols, GROUP: tl.constexpr):
    width = GROUP * cols
    group = pid // width
    size = min(rows - group * GROUP, GROUP)
    return group * GROUP + (pid % width) % size, (pid % width) // size


@triton.jit
def tutorial(a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
             GROUP: tl.constexpr, LEAKY: tl.constexpr):
    """Rows and columns wrap around, K is masked, pointers advance; leaky relu at the end."""
    row, col = tile_at(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), GROUP)
    am = (row * BM + tl.arange(0, BM)) % M
    bn = (col * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    a_at = a_ptr + am[:, None] * sam + k[None, :] * sak
    b_at = b_ptr + k[:, None] * sbk + bn[None, :] * sbn
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_at, mask=k[None, :] < K - i * BK, other=0.0)
        b = tl.load(b_at, mask=k[:, None] < K - i * BK, other=0.0)
        acc = tl.dot(a, b, acc)
        a_at += BK * sak
        b_at += BK * sbk
    if LEAKY:
        acc = leaky_relu(acc)
    cm, cn = row * BM + tl.arange(0, BM), col * BN + tl.arange(0, BN)
    tl.store(c_ptr + scm * cm[:, None] + scn * cn[None, :], acc.to(c_ptr.dtype.element_ty), mask=(cm[:, None] < M) & (cn[None, :] < N))


def tutorial_case(M, N, K, bm, bn, bk, warps, stages, dtype=F16, leaky=True):
    a, b, c = rand(M, K, dtype=dtype), rand(K, N, dtype=dtype), empty(M, N, dtype=F16)

    def reference():
        y = a.float() @ b.float()
        return (torch.nn.functional.leaky_relu(y, 0.01) if leaky else y,)

    return Case(tutorial, (triton.cdiv(M, bm) * triton.cdiv(N, bn),), (a, b, c, M, N, K, K, 1, N, 1, N, 1),
                dict(BM=bm, BN=bn, BK=bk, GROUP=8, LEAKY=leaky), (c,), reference, rtol=3e-2 if dtype == F8 else 1e-2,
                options=dict(num_warps=warps, num_stages=stages), flops=2 * M * N * K)


@case
def nk_tutorial_64x32x32(M=2048, N=2048, K=1000):
    return tutorial_case(M, N, K, 64, 32, 32, 2, 5)


@case
def nk_tutorial_32x64x32(M=2000, N=2048, K=1024):
    return tutorial_case(M, N, K, 32, 64, 32, 2, 5)


@case
def nk_tutorial_128x64x64(M=3000, N=2112, K=2048):
    return tutorial_case(M, N, K, 128, 64, 64, 4, 4)


@case
def nk_tutorial_64x256x32(M=4096, N=4096, K=1024):
    return tutorial_case(M, N, K, 64, 256, 32, 4, 4)


@case
def nk_tutorial_256x64x32_bf16(M=4096, N=4096, K=1024):
    return tutorial_case(M, N, K, 256, 64, 32, 4, 4, dtype=BF16, leaky=False)


@case
def nk_tutorial_fp8_128x32x64(M=4096, N=2048, K=2048):
    return tutorial_case(M, N, K, 128, 32, 64, 4, 4, dtype=F8)


@triton.jit
def skinny_swapped(x, w, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A few rows: the weight is the left operand, the result is transposed when stored."""
    m = tl.arange(0, BM)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BN, BM), tl.float32)
    for i in tl.range(0, K, BK):
        wt = tl.load(w + n[:, None] * K + i + k[None, :], mask=n[:, None] < N, other=0.0)
        xt = tl.load(x + m[None, :] * K + i + k[:, None], mask=m[None, :] < M, other=0.0)
        acc = tl.dot(wt, xt, acc)
    tl.store(y + m[:, None] * N + n[None, :], tl.trans(acc).to(y.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@case
def nk_skinny_swapped(M=13, N=14336, K=4096):
    x, w, y = rand(M, K, dtype=BF16), rand(N, K, dtype=BF16), empty(M, N, dtype=BF16)
    return Case(skinny_swapped, (triton.cdiv(N, 64),), (x, w, y, M, N, K), dict(BM=16, BN=64, BK=128), (y,),
                lambda: (x.float() @ w.float().T,), options=dict(num_warps=4, num_stages=5), bytes=2 * N * K)


@triton.jit
def persistent_split_ids(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SMS: tl.constexpr,
                         FLATTEN: tl.constexpr):
    """Persistent by pointers. The epilogue has its own tile number, so that it can be moved beside the next tile's loads."""
    start = tl.program_id(0)
    rows, cols, steps = tl.cdiv(M, BM), tl.cdiv(N, BN), tl.cdiv(K, BK)
    stored = start - SMS
    k = tl.arange(0, BK)
    for tile in tl.range(start, rows * cols, SMS, flatten=FLATTEN):
        row, col = tile_at(tile, rows, cols, 8)
        m, n = row * BM + tl.arange(0, BM), col * BN + tl.arange(0, BN)
        m = tl.max_contiguous(tl.multiple_of(tl.where(m < M, m, 0), BM), BM)
        n = tl.max_contiguous(tl.multiple_of(tl.where(n < N, n, 0), BN), BN)
        acc = tl.zeros((BM, BN), tl.float32)
        for i in range(steps):
            at = i * BK + k
            a = tl.load(a_ptr + m[:, None] * K + at[None, :], mask=k[None, :] < K - i * BK, other=0.0)
            b = tl.load(b_ptr + n[None, :] * K + at[:, None], mask=k[:, None] < K - i * BK, other=0.0)
            acc = tl.dot(a, b, acc)
        stored += SMS
        row, col = tile_at(stored, rows, cols, 8)
        m, n = row * BM + tl.arange(0, BM), col * BN + tl.arange(0, BN)
        tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def persistent_case(flatten, M, N, K):
    a, b, c = rand(M, K, dtype=F16), rand(N, K, dtype=F16), empty(M, N, dtype=F16)
    return Case(persistent_split_ids, (132,), (a, b, c, M, N, K), dict(BM=128, BN=128, BK=64, SMS=132, FLATTEN=flatten), (c,),
                lambda: (a.float() @ b.float().T,), options=dict(num_warps=8, num_stages=3), flops=2 * M * N * K)


@case
def nk_persistent_pointers(M=4096, N=4096, K=1024):
    return persistent_case(False, M, N, K)


@case
def nk_persistent_pointers_flat(M=8192, N=4096, K=512):
    return persistent_case(True, M, N, K)


@triton.jit
def device_persistent(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SMS: tl.constexpr,
                      WS: tl.constexpr):
    """Persistent by descriptors that the kernel makes; the epilogue is stored in two halves."""
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BN, BK])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN // 2])
    rows, cols, steps = tl.cdiv(M, BM), tl.cdiv(N, BN), tl.cdiv(K, BK)
    for tile in tl.range(tl.program_id(0), rows * cols, SMS, flatten=True, warp_specialize=WS):
        row, col = tile_at(tile, rows, cols, 8)
        acc = tl.zeros((BM, BN), tl.float32)
        for i in range(steps):
            acc = tl.dot(a_desc.load([row * BM, i * BK]), b_desc.load([col * BN, i * BK]).T, acc)
        left, right = tl.split(tl.permute(tl.reshape(acc, (BM, 2, BN // 2)), (0, 2, 1)))
        c_desc.store([row * BM, col * BN], left.to(c_ptr.dtype.element_ty))
        c_desc.store([row * BM, col * BN + BN // 2], right.to(c_ptr.dtype.element_ty))


@case
def nk_device_persistent(M=8192, N=4096, K=1024):
    a, b, c = rand(M, K, dtype=BF16), rand(N, K, dtype=BF16), empty(M, N, dtype=BF16)
    return Case(device_persistent, (132,), (a, b, c, M, N, K), dict(BM=128, BN=256, BK=64, SMS=132, WS=True), (c,),
                lambda: (a.float() @ b.float().T,), options=dict(num_warps=8, num_stages=3), flops=2 * M * N * K)


@triton.jit
def grouped_pointers(a_ptrs, b_ptrs, c_ptrs, sizes, groups, SMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Problems of different sizes named by arrays of addresses; tiles of all of them are dealt out in turns."""
    tile = tl.program_id(0)
    last = 0
    for g in range(groups):
        M, N, K = tl.load(sizes + 3 * g), tl.load(sizes + 3 * g + 1), tl.load(sizes + 3 * g + 2)
        cols = tl.cdiv(N, BN)
        tiles = tl.cdiv(M, BM) * cols
        while tile >= last and tile < last + tiles:
            a_ptr = tl.load(a_ptrs + g).to(tl.pointer_type(tl.float16))
            b_ptr = tl.load(b_ptrs + g).to(tl.pointer_type(tl.float16))
            c_ptr = tl.load(c_ptrs + g).to(tl.pointer_type(tl.float16))
            m = (tile - last) // cols * BM + tl.arange(0, BM)
            n = (tile - last) % cols * BN + tl.arange(0, BN)
            k = tl.arange(0, BK)
            a_at = a_ptr + m[:, None] * K + k[None, :]
            b_at = b_ptr + k[:, None] * N + n[None, :]
            acc = tl.zeros((BM, BN), tl.float32)
            for _ in range(0, tl.cdiv(K, BK)):
                tl.multiple_of(a_at, [16, 16])
                tl.multiple_of(b_at, [16, 16])
                acc += tl.dot(tl.load(a_at), tl.load(b_at))
                a_at += BK
                b_at += BK * N
            tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(tl.float16))
            tile += SMS
        last += tiles


@triton.jit
def grouped_descriptors(a_ptrs, b_ptrs, c_ptrs, sizes, groups, SMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The same; each problem's descriptors are made when its first tile is reached. b is stored transposed."""
    tile = tl.program_id(0)
    last = 0
    for g in range(groups):
        M, N, K = tl.load(sizes + 3 * g), tl.load(sizes + 3 * g + 1), tl.load(sizes + 3 * g + 2)
        cols = tl.cdiv(N, BN)
        tiles = tl.cdiv(M, BM) * cols
        if tile >= last and tile < last + tiles:
            a_desc = tl.make_tensor_descriptor(tl.load(a_ptrs + g).to(tl.pointer_type(tl.float16)), [M, K], [K, 1], [BM, BK])
            b_desc = tl.make_tensor_descriptor(tl.load(b_ptrs + g).to(tl.pointer_type(tl.float16)), [N, K], [K, 1], [BN, BK])
            c_desc = tl.make_tensor_descriptor(tl.load(c_ptrs + g).to(tl.pointer_type(tl.float16)), [M, N], [N, 1], [BM, BN])
            while tile >= last and tile < last + tiles:
                m, n = (tile - last) // cols * BM, (tile - last) % cols * BN
                acc = tl.zeros((BM, BN), tl.float32)
                for i in range(0, tl.cdiv(K, BK)):
                    acc += tl.dot(a_desc.load([m, i * BK]), b_desc.load([n, i * BK]).T)
                c_desc.store([m, n], acc.to(tl.float16))
                tile += SMS
        last += tiles


def grouped_case(kernel, shapes, transposed, stages):
    a = [rand(m, k, dtype=F16) for m, n, k in shapes]
    b = [rand(n, k, dtype=F16) if transposed else rand(k, n, dtype=F16) for m, n, k in shapes]
    c = [empty(m, n, dtype=F16) for m, n, k in shapes]
    a_ptrs, b_ptrs, c_ptrs = (tensor([t.data_ptr() for t in x], torch.int64) for x in (a, b, c))
    return Case(kernel, (132,), (a_ptrs, b_ptrs, c_ptrs, tensor(shapes, torch.int32), len(shapes)),
                dict(SMS=132, BM=128, BN=128, BK=64), tuple(c),
                lambda: tuple(x.float() @ (y.float().T if transposed else y.float()) for x, y in zip(a, b)),
                options=dict(num_warps=8, num_stages=stages), flops=2 * sum(m * n * k for m, n, k in shapes))


GROUPS = [(2048, 1024, 1024), (512, 4096, 512), (128, 2048, 4096), (1024, 1024, 2048), (4096, 512, 1024), (256, 256, 8192)]


@case
def nk_grouped_pointers(shapes=GROUPS):
    return grouped_case(grouped_pointers, shapes, False, 3)


@case
def nk_grouped_descriptors(shapes=GROUPS):
    return grouped_case(grouped_descriptors, shapes, True, 3)


@triton.jit
def dual_swiglu(x_ptr, gate_ptr, up_ptr, y_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """silu(x gate) * (x up): two accumulators share the left operand."""
    x_desc = tl.make_tensor_descriptor(x_ptr, [M, K], [K, 1], [BM, BK])
    g_desc = tl.make_tensor_descriptor(gate_ptr, [N, K], [K, 1], [BN, BK])
    u_desc = tl.make_tensor_descriptor(up_ptr, [N, K], [K, 1], [BN, BK])
    y_desc = tl.make_tensor_descriptor(y_ptr, [M, N], [N, 1], [BM, BN])
    row, col = tile_at(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), 8)
    gate, up = tl.zeros((BM, BN), tl.float32), tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK):
        x = x_desc.load([row * BM, k])
        gate = tl.dot(x, g_desc.load([col * BN, k]).T, gate)
        up = tl.dot(x, u_desc.load([col * BN, k]).T, up)
    y_desc.store([row * BM, col * BN], (gate * tl.sigmoid(gate) * up).to(y_ptr.dtype.element_ty))


@case
def nk_dual_swiglu(M=2048, N=5632, K=2048):
    x, gate, up = rand(M, K, dtype=BF16), rand(N, K, dtype=BF16, scale=0.05), rand(N, K, dtype=BF16, scale=0.05)
    y = empty(M, N, dtype=BF16)
    return Case(dual_swiglu, (triton.cdiv(M, 128) * triton.cdiv(N, 128),), (x, gate, up, y, M, N, K), dict(BM=128, BN=128, BK=64), (y,),
                lambda: (torch.nn.functional.silu(x.float() @ gate.float().T) * (x.float() @ up.float().T),),
                options=dict(num_warps=8, num_stages=3), flops=4 * M * N * K)


@triton.jit
def mlp_chain(x, w1, w2, y, H, D: tl.constexpr, BM: tl.constexpr, BH: tl.constexpr):
    """relu(x w1) w2 with the hidden layer never written: two products a step, x stays."""
    row = tl.program_id(0) * BM
    rows = x.load([row, 0])
    acc = tl.zeros((BM, D), tl.float32)
    for h in tl.range(0, H, BH):
        hidden = tl.maximum(tl.dot(rows, w1.load([h, 0]).T), 0.0)
        acc = tl.dot(hidden.to(x.dtype), w2.load([h, 0]), acc)
    y.store([row, 0], acc.to(y.dtype))


@case
def nk_mlp_chain(M=16384, H=4096, D=128):
    x, w1, w2 = rand(M, D, dtype=BF16), rand(H, D, dtype=BF16, scale=0.1), rand(H, D, dtype=BF16, scale=0.1)
    y = empty(M, D, dtype=BF16)
    return Case(mlp_chain, (M // 128,), (describe(x, 128, D), describe(w1, 64, D), describe(w2, 64, D), describe(y, 128, D), H),
                dict(D=D, BM=128, BH=64), (y,), lambda: (torch.relu(x.float() @ w1.float().T) @ w2.float(),),
                options=dict(num_warps=8, num_stages=3), flops=4 * M * H * D)


@triton.jit
def rms_then_product(x, w, y, M, N, K, eps, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """rms_norm(x) w: the squares are summed beside the product and divide it at the end."""
    row, col = tile_at(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), 8)
    m, n, k = row * BM + tl.arange(0, BM), col * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    squares = tl.zeros((BM,), tl.float32)
    for i in range(0, K, BK):
        a = tl.load(x + m[:, None] * K + i + k[None, :], mask=m[:, None] < M, other=0.0)
        b = tl.load(w + (i + k[:, None]) * N + n[None, :])
        wide = a.to(tl.float32)
        squares += tl.sum(wide * wide, axis=1)
        acc = tl.dot(a, b, acc)
    acc *= tl.rsqrt(squares / K + eps)[:, None]
    tl.store(y + m[:, None] * N + n[None, :], acc.to(y.dtype.element_ty), mask=m[:, None] < M)


@case
def nk_rms_then_product(M=2000, N=3072, K=2048):
    x, w, y = rand(M, K, dtype=BF16), rand(K, N, dtype=BF16), empty(M, N, dtype=BF16)

    def reference():
        a = x.float()
        return (a * torch.rsqrt(a.square().mean(1, keepdim=True) + 1e-6) @ w.float(),)

    return Case(rms_then_product, (triton.cdiv(M, 128) * (N // 128),), (x, w, y, M, N, K, 1e-6), dict(BM=128, BN=128, BK=64), (y,), reference,
                options=dict(num_warps=8, num_stages=3), flops=2 * M * N * K)
