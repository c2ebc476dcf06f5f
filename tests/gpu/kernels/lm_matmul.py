# SPDX-License-Identifier: Apache-2.0
"""Products of 16-bit matrices: split-K, stream-K, persistent, weight gradients, batches and LoRA."""
import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, registry, tensor, zeros

CASES, case = registry()
BF16, F16 = torch.bfloat16, torch.float16


@triton.jit
def split_k_kernel(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn, BLOCK_M: tl.constexpr,
                   BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT_K: tl.constexpr):
    pid_n, pid_m, pid_k = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.max_contiguous(tl.multiple_of((pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N, BLOCK_N), BLOCK_N)
    offs_k = pid_k * BLOCK_K + tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
    b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(0, tl.cdiv(K, BLOCK_K * SPLIT_K)):
        a = tl.load(a_ptrs, mask=offs_m[:, None] < M, other=0.0)
        b = tl.load(b_ptrs, eviction_policy="evict_first")
        acc = tl.dot(a, b, acc)
        a_ptrs += BLOCK_K * SPLIT_K * stride_ak
        b_ptrs += BLOCK_K * SPLIT_K * stride_bk
    c_ptrs = c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn
    tl.atomic_add(c_ptrs, acc, mask=offs_m[:, None] < M, sem="relaxed")


@case
def lm_split_k(M=48, N=8192, K=14336, split=4):
    a, b, c = rand(M, K, dtype=BF16), rand(N, K, dtype=BF16).T, zeros(M, N)
    return Case(split_k_kernel, (N // 128, triton.cdiv(M, 64), split), (a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride()),
                dict(BLOCK_M=64, BLOCK_N=128, BLOCK_K=64, SPLIT_K=split), (c,), lambda: (a.float() @ b.float(),), accumulate=True,
                options=dict(num_warps=4, num_stages=5), bytes=N * K * 2)


@triton.jit
def stream_k_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Each program takes an equal share of all steps of all tiles; parts of tiles are added."""
    steps = tl.cdiv(K, BK)
    across = tl.cdiv(N, BN)
    total = tl.cdiv(M, BM) * across * steps
    share = tl.cdiv(total, tl.num_programs(0))
    at = tl.program_id(0) * share
    end = tl.minimum(at + share, total)
    while at < end:
        tile = at // steps
        first = at % steps
        last = tl.minimum(steps, first + end - at)
        m = tile // across * BM + tl.arange(0, BM)
        n = tile % across * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), tl.float32)
        for i in range(first, last):
            k = i * BK + tl.arange(0, BK)
            a = tl.load(a_ptr + m[:, None] * K + k[None, :])
            b = tl.load(b_ptr + k[:, None] * N + n[None, :])
            acc = tl.dot(a, b, acc)
        out = c_ptr + m[:, None] * N + n[None, :]
        if last - first == steps:
            tl.store(out, acc)
        else:
            tl.atomic_add(out, acc, sem="relaxed")
        at += last - first


@case
def lm_stream_k(M=1536, N=3072, K=8192, programs=132):
    a, b, c = rand(M, K, dtype=F16), rand(K, N, dtype=F16), zeros(M, N)
    return Case(stream_k_kernel, (programs,), (a, b, c, M, N, K), dict(BM=128, BN=256, BK=64), (c,), lambda: (a.float() @ b.float(),),
                accumulate=True, options=dict(num_warps=8, num_stages=3), flops=2 * M * N * K)


@triton.jit
def tile_of(tile, rows, cols, GROUP: tl.constexpr):
    first = tile // (GROUP * cols) * GROUP
    height = tl.minimum(rows - first, GROUP)
    return first + tile % height, tile % (GROUP * cols) // height


@triton.jit
def persistent_bias_gelu(a_ptr, b_ptr, bias_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SMS: tl.constexpr):
    """Descriptors made by the kernel; the epilogue in halves."""
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BN, BK])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN // 2])
    rows, cols = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), rows * cols, SMS, flatten=True):
        row, col = tile_of(tile, rows, cols, 8)
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(tl.cdiv(K, BK)):
            acc = tl.dot(a.load([row * BM, k * BK]), b.load([col * BN, k * BK]).T, acc)
        n = col * BN + tl.arange(0, BN)
        acc += tl.load(bias_ptr + n, mask=n < N, other=0.0).to(tl.float32)[None, :]
        acc *= 0.5 * (1.0 + tl.math.erf(acc * 0.7071067811865476))
        left, right = tl.split(tl.permute(tl.reshape(acc, (BM, 2, BN // 2)), (0, 2, 1)))
        c.store([row * BM, col * BN], left.to(c_ptr.dtype.element_ty))
        c.store([row * BM, col * BN + BN // 2], right.to(c_ptr.dtype.element_ty))


@case
def lm_persistent_bias_gelu(M=8192, N=6400, K=1600, programs=132):
    a, b, bias, c = rand(M, K, dtype=BF16, scale=0.2), rand(N, K, dtype=BF16, scale=0.2), rand(N, dtype=BF16), empty(M, N, dtype=BF16)
    return Case(persistent_bias_gelu, (programs,), (a, b, bias, c, M, N, K), dict(BM=128, BN=128, BK=64, SMS=programs), (c,),
                lambda: (torch.nn.functional.gelu(a.float() @ b.float().T + bias.float()),), options=dict(num_warps=8, num_stages=4),
                flops=2 * M * N * K)


@triton.jit
def wgrad_kernel(dy_ptr, x_ptr, dw_ptr, tokens, N, K, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_T: tl.constexpr):
    """dw += dy.T @ x, into f32 (main_grad), block pointers."""
    pid_n, pid_k = tl.program_id(0), tl.program_id(1)
    dy_bp = tl.make_block_ptr(dy_ptr, (N, tokens), (1, N), (pid_n * BLOCK_N, 0), (BLOCK_N, BLOCK_T), (0, 1))
    x_bp = tl.make_block_ptr(x_ptr, (tokens, K), (K, 1), (0, pid_k * BLOCK_K), (BLOCK_T, BLOCK_K), (1, 0))
    dw_bp = tl.make_block_ptr(dw_ptr, (N, K), (K, 1), (pid_n * BLOCK_N, pid_k * BLOCK_K), (BLOCK_N, BLOCK_K), (1, 0))
    acc = tl.zeros((BLOCK_N, BLOCK_K), dtype=tl.float32)
    for _ in range(0, tokens, BLOCK_T):
        acc += tl.dot(tl.load(dy_bp, boundary_check=(0, 1)), tl.load(x_bp, boundary_check=(0, 1)))
        dy_bp = tl.advance(dy_bp, (0, BLOCK_T))
        x_bp = tl.advance(x_bp, (BLOCK_T, 0))
    acc += tl.load(dw_bp, boundary_check=(0, 1))
    tl.store(dw_bp, acc, boundary_check=(0, 1))


@case
def lm_wgrad_accumulate(tokens=8192, N=4096, K=2816):
    dy, x, dw = rand(tokens, N, dtype=BF16), rand(tokens, K, dtype=BF16), zeros(N, K)
    return Case(wgrad_kernel, (triton.cdiv(N, 128), triton.cdiv(K, 256)), (dy, x, dw, tokens, N, K), dict(BLOCK_N=128, BLOCK_K=256, BLOCK_T=64),
                (dw,), lambda: (dy.float().T @ x.float(),), accumulate=True, options=dict(num_warps=8, num_stages=3),
                flops=2 * tokens * N * K)


@triton.jit
def bmm_kernel(A, B, O, M, stride_am, stride_ah, stride_om, stride_oh, N: tl.constexpr, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
               BK: tl.constexpr):
    """MLA's absorbed projection: heads are the batch, but lie between the tokens' strides."""
    h = tl.program_id(2).to(tl.int64)
    rm = tl.program_id(1) * BM + tl.arange(0, BM)
    rn = tl.program_id(0) * BN + tl.arange(0, BN)
    A += h * stride_ah
    B += h * N * K
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in tl.static_range(0, K, BK):
        rk = k0 + tl.arange(0, BK)
        a = tl.load(A + rm[:, None] * stride_am + rk[None, :], mask=rm[:, None] < M, other=0.0)
        b = tl.load(B + rk[:, None] * N + rn[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(O + h * stride_oh + rm[:, None] * stride_om + rn[None, :], acc.to(O.type.element_ty), mask=rm[:, None] < M)


@case
def lm_bmm_absorb(tokens=1000, H=128, K=128, N=512):
    a, b, o = rand(tokens, H, K, dtype=BF16), rand(H, K, N, dtype=BF16), empty(tokens, H, N, dtype=BF16)
    return Case(bmm_kernel, (N // 128, triton.cdiv(tokens, 128), H), (a, b, o, tokens, *a.stride()[:2], *o.stride()[:2]),
                dict(N=N, K=K, BM=128, BN=128, BK=64), (o,), lambda: (torch.einsum("thk,hkn->thn", a.float(), b.float()),),
                options=dict(num_warps=8, num_stages=2), flops=2 * tokens * H * K * N)


@triton.jit
def lora_shrink(x_ptr, w_ptr, y_ptr, seg_ptr, adapter_ptr, K, scaling, RANK: tl.constexpr, BLOCK_S: tl.constexpr, BLOCK_K: tl.constexpr,
                SPLIT: tl.constexpr):
    """y[t] += scaling * x[t] @ w[adapter of t's segment].T, split along K."""
    seg = tl.program_id(2)
    start = tl.load(seg_ptr + seg)
    length = tl.load(seg_ptr + seg + 1) - start
    if tl.program_id(0) * BLOCK_S >= length:
        return
    adapter = tl.load(adapter_ptr + seg)
    if adapter < 0:
        return
    s = tl.program_id(0) * BLOCK_S + tl.arange(0, BLOCK_S)
    live = (s < length)[:, None]
    rank = tl.arange(0, RANK)
    k = tl.program_id(1) * BLOCK_K + tl.arange(0, BLOCK_K)
    x = x_ptr + (start + s)[:, None].to(tl.int64) * K + k[None, :]
    w = w_ptr + adapter.to(tl.int64) * RANK * K + rank[None, :] * K + k[:, None]
    acc = tl.zeros((BLOCK_S, RANK), tl.float32)
    for i in range(tl.program_id(1) * BLOCK_K, K, BLOCK_K * SPLIT):
        left = K - i + tl.program_id(1) * BLOCK_K
        a = tl.load(x, mask=live & (k[None, :] < left), other=0.0)
        b = tl.load(w, mask=k[:, None] < left, other=0.0)
        acc += tl.dot(a, b)
        x += BLOCK_K * SPLIT
        w += BLOCK_K * SPLIT
    tl.atomic_add(y_ptr + (start + s)[:, None] * RANK + rank[None, :], acc * scaling, mask=live)


@triton.jit
def lora_expand(x_ptr, w_ptr, y_ptr, seg_ptr, adapter_ptr, N, RANK: tl.constexpr, BLOCK_S: tl.constexpr, BLOCK_N: tl.constexpr):
    """y[t] += x[t] @ w[adapter].T"""
    seg = tl.program_id(2)
    start = tl.load(seg_ptr + seg)
    length = tl.load(seg_ptr + seg + 1) - start
    adapter = tl.load(adapter_ptr + seg)
    if (tl.program_id(1) * BLOCK_S >= length) | (adapter < 0):
        return
    s = tl.program_id(1) * BLOCK_S + tl.arange(0, BLOCK_S)
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    rank = tl.arange(0, RANK)
    x = tl.load(x_ptr + (start + s)[:, None] * RANK + rank[None, :], mask=s[:, None] < length, other=0.0)
    w = tl.load(w_ptr + adapter.to(tl.int64) * N * RANK + n[None, :] * RANK + rank[:, None], mask=n[None, :] < N, other=0.0)
    keep = (s[:, None] < length) & (n[None, :] < N)
    out = y_ptr + (start + s)[:, None].to(tl.int64) * N + n[None, :]
    y = tl.load(out, mask=keep, other=0.0).to(tl.float32)
    y += tl.dot(x.to(w.dtype), w)
    tl.store(out, y.to(y_ptr.dtype.element_ty), mask=keep)


def segments(lengths, adapters):
    starts = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
    ids = [i % (adapters + 1) - 1 for i in range(len(lengths))]  # -1: none
    return starts, ids, tensor(starts, torch.int32), tensor(ids, torch.int32)


def by_segment(starts, ids, out, f):
    for i, adapter in enumerate(ids):
        if adapter >= 0:
            out[starts[i]:starts[i + 1]] = f(slice(starts[i], starts[i + 1]), adapter)
    return (out,)


LENGTHS = (512, 31, 700, 1, 1, 1, 2048, 90, 1500, 17, 3000, 64, 291)


@case
def lm_lora_shrink(lengths=LENGTHS, K=8192, rank=32, adapters=8):
    starts, ids, seg, which = segments(lengths, adapters)
    x, w, y = rand(starts[-1], K, dtype=BF16), rand(adapters, rank, K, dtype=BF16), zeros(starts[-1], rank)
    return Case(lora_shrink, (triton.cdiv(max(lengths), 32), 8, len(lengths)), (x, w, y, seg, which, K, 0.25),
                dict(RANK=rank, BLOCK_S=32, BLOCK_K=128, SPLIT=8), (y,),
                lambda: by_segment(starts, ids, torch.zeros(starts[-1], rank, device=DEVICE),
                                   lambda rows, adapter: x[rows].float() @ w[adapter].float().T * 0.25),
                accumulate=True, options=dict(num_warps=4, num_stages=3), bytes=starts[-1] * K * 2)


@case
def lm_lora_expand(lengths=LENGTHS, N=14336, rank=64, adapters=8):
    starts, ids, seg, which = segments(lengths, adapters)
    x, w, y = rand(starts[-1], rank), rand(adapters, N, rank, dtype=BF16), zeros(starts[-1], N, dtype=BF16)
    return Case(lora_expand, (triton.cdiv(N, 128), triton.cdiv(max(lengths), 64), len(lengths)), (x, w, y, seg, which, N),
                dict(RANK=rank, BLOCK_S=64, BLOCK_N=128), (y,),
                lambda: by_segment(starts, ids, torch.zeros(starts[-1], N, device=DEVICE),
                                   lambda rows, adapter: x[rows] @ w[adapter].float().T),
                accumulate=True, options=dict(num_warps=4), bytes=starts[-1] * N * 4)
