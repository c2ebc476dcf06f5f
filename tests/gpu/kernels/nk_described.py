# SPDX-License-Identifier: Apache-2.0
"""Descriptors outside of products: rows, shifted boxes, copies, transposes, quantization, pages, ragged ends, minima and sums in memory."""
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from case import DEVICE, Case, empty, rand, randint, registry, uniform, zeros

CASES, case = registry()
F16, BF16, F8, I32 = torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.int32


def describe(x, *block):
    return TensorDescriptor(x, list(x.shape), list(x.stride()), list(block))


@triton.jit
def online_softmax(x_ptr, y_ptr, rows, N, BM: tl.constexpr, BN: tl.constexpr):
    """Softmax of long rows, several a program: maximum and sum in one pass, the result in another; descriptors made by the kernel."""
    x_desc = tl.make_tensor_descriptor(x_ptr, [rows, N], [N, 1], [BM, BN])
    y_desc = tl.make_tensor_descriptor(y_ptr, [rows, N], [N, 1], [BM, BN])
    row = tl.program_id(0) * BM
    top = tl.full((BM,), -1.0e30, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    for col in tl.range(0, N, BN, num_stages=3):
        v = x_desc.load([row, col]).to(tl.float32)
        v = tl.where((col + tl.arange(0, BN))[None, :] < N, v, -1.0e30)
        new = tl.maximum(top, tl.max(v, 1))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(v - new[:, None]), 1)
        top = new
    for col in tl.range(0, N, BN, num_stages=3):
        v = x_desc.load([row, col]).to(tl.float32)
        y_desc.store([row, col], (tl.exp(v - top[:, None]) / total[:, None]).to(y_ptr.dtype.element_ty))


@case
def nk_device_softmax(rows=4096, N=12000):
    x, y = rand(rows, N, dtype=BF16, scale=2.0), empty(rows, N, dtype=BF16)
    return Case(online_softmax, (rows // 4,), (x, y, rows, N), dict(BM=4, BN=512), (y,), lambda: (torch.softmax(x.float(), 1),),
                options=dict(num_warps=4), bytes=rows * N * 4)


@triton.jit
def transpose_scaled(x_ptr, scale_ptr, y_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    """A transpose of f32 into bf16 with a factor for each row, by descriptors made by the kernel; persistent."""
    x_desc = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [BM, BN])
    y_desc = tl.make_tensor_descriptor(y_ptr, [N, M], [M, 1], [BN, BM])
    cols = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * cols, tl.num_programs(0)):
        row, col = tile // cols * BM, tile % cols * BN
        r = row + tl.arange(0, BM)
        v = x_desc.load([row, col]) * tl.load(scale_ptr + r, mask=r < M, other=0.0)[:, None]
        y_desc.store([col, row], v.to(tl.bfloat16).T)


@case
def nk_device_transpose(M=6000, N=8200):
    x, scale, y = rand(M, N), uniform(M, low=0.5, high=2.0), empty(N, M, dtype=BF16)
    return Case(transpose_scaled, (528,), (x, scale, y, M, N), dict(BM=64, BN=64), (y,), lambda: ((x * scale[:, None]).T,),
                options=dict(num_warps=4), bytes=M * N * 6)


@triton.jit
def gelu_bias(x_ptr, bias_ptr, y_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    """Bias and GELU by erf of a tile, and the tile's relu square; two descriptors are stored to."""
    x_desc = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [BM, BN])
    y_desc = tl.make_tensor_descriptor(y_ptr, [2, M, N], [M * N, N, 1], [1, BM, BN])
    row, col = tl.program_id(1) * BM, tl.program_id(0) * BN
    c = col + tl.arange(0, BN)
    v = x_desc.load([row, col]).to(tl.float32) + tl.load(bias_ptr + c, mask=c < N, other=0.0)[None, :]
    y_desc.store([0, row, col], (0.5 * v * (1.0 + tl.math.erf(v * 0.70710678))).to(tl.float16).reshape(1, BM, BN))
    v = tl.maximum(v, 0.0)
    y_desc.store([1, row, col], (v * v).to(tl.float16).reshape(1, BM, BN))


@case
def nk_device_gelu_two_planes(M=8192, N=5000):
    x, bias, y = rand(M, N, dtype=F16), rand(N), empty(2, M, N, dtype=F16)

    def reference():
        v = x.float() + bias
        return (torch.stack((torch.nn.functional.gelu(v), torch.relu(v).square())),)

    return Case(gelu_bias, (triton.cdiv(N, 128), triton.cdiv(M, 32)), (x, bias, y, M, N), dict(BM=32, BN=128), (y,), reference,
                options=dict(num_warps=4), bytes=M * N * 6)


@triton.jit
def depthwise_described(x, w_ptr, y, C, T, BT: tl.constexpr, BC: tl.constexpr, TAPS: tl.constexpr):
    """Causal depthwise convolution over (B, T, C): boxes shifted along time, silu after it."""
    seq, t, c = tl.program_id(2), tl.program_id(1) * BT, tl.program_id(0) * BC
    ch = c + tl.arange(0, BC)
    acc = tl.zeros((BT, BC), tl.float32)
    for k in tl.static_range(TAPS):
        acc += x.load([seq, t + k - (TAPS - 1), c]).reshape(BT, BC).to(tl.float32) * tl.load(w_ptr + k * C + ch)[None, :]
    y.store([seq, t, c], (acc * tl.sigmoid(acc)).to(y.dtype).reshape(1, BT, BC))


@case
def nk_causal_conv_by_boxes(B=8, T=4096, C=2048, taps=4):
    x, w, y = rand(B, T, C, dtype=BF16), rand(taps, C), empty(B, T, C, dtype=BF16)

    def reference():
        padded = torch.nn.functional.pad(x.float(), (0, 0, taps - 1, 0))
        return (torch.nn.functional.silu(sum(padded[:, k:k + T] * w[k] for k in range(taps))),)

    return Case(depthwise_described, (C // 64, T // 64, B), (describe(x, 1, 64, 64), w, describe(y, 1, 64, 64), C, T), dict(BT=64, BC=64, TAPS=taps),
                (y,), reference, options=dict(num_warps=4), bytes=B * T * C * 4)


@triton.jit
def quantize_both(x, q, qt, scale_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    """Tiles to fp8 with a scale each: the tile, its transpose, and the scale; all of it by host's descriptors."""
    row, col = tl.program_id(1), tl.program_id(0)
    v = x.load([row * BM, col * BN]).to(tl.float32)
    scale = tl.maximum(tl.max(tl.max(tl.abs(v), 1), 0), 1e-6) / 448.0
    y = (v / scale).to(tl.float8e4nv)
    q.store([row * BM, col * BN], y)
    qt.store([col * BN, row * BM], y.T)
    tl.store(scale_ptr + row * (N // BN) + col, scale)


@case
def nk_quantize_both_ways(M=8192, N=4096):
    x, q, qt, scale = rand(M, N, dtype=BF16), empty(M, N, dtype=F8), empty(N, M, dtype=F8), empty(M // 64, N // 128)

    def reference():
        v = x.float().view(M // 64, 64, N // 128, 128)
        s = v.abs().amax((1, 3)) / 448
        y = (v / s[:, None, :, None]).view(M, N)
        return y, y.T, s

    return Case(quantize_both, (N // 128, M // 64), (describe(x, 64, 128), describe(q, 64, 128), describe(qt, 128, 64), scale, M, N),
                dict(BM=64, BN=128), (q, qt, scale), reference, rtol=5e-2, options=dict(num_warps=4), bytes=M * N * 4)


@triton.jit
def gather_pages(cache, table, out, pages, PAGE: tl.constexpr, H: tl.constexpr, D: tl.constexpr):
    """Copies a sequence's pages, named by a table, to (sequences, heads, time, D): 4-D boxes in, 4-D boxes out."""
    seq, page = tl.program_id(1), tl.program_id(0)
    v = cache.load([tl.load(table + seq * pages + page), 0, 0, 0]).reshape(PAGE, H, D)
    out.store([seq, 0, page * PAGE, 0], v.permute(1, 0, 2).reshape(1, H, PAGE, D))


@case
def nk_gather_pages(seqs=32, pages=128, page=16, H=8, D=128):
    cache, table = rand(seqs * pages, page, H, D, dtype=F16), torch.randperm(seqs * pages, device=DEVICE).to(I32)
    out = empty(seqs, H, pages * page, D, dtype=F16)
    return Case(gather_pages, (pages, seqs), (describe(cache, 1, page, H, D), table, describe(out, 1, H, page, D), pages), dict(PAGE=page, H=H, D=D),
                (out,), lambda: (cache[table.long()].view(seqs, pages * page, H, D).transpose(1, 2),), rtol=1e-6, options=dict(num_warps=4),
                bytes=seqs * pages * page * H * D * 4)


@triton.jit
def ragged_groups(x_ptr, w_ptr, y_ptr, offsets, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Rows of experts, one after another: a descriptor for each expert's rows, whose height cuts off what belongs to the next."""
    expert = tl.program_id(2)
    first, last = tl.load(offsets + expert), tl.load(offsets + expert + 1)
    row, col = tl.program_id(1) * BM, tl.program_id(0) * BN
    if row < last - first:
        x_desc = tl.make_tensor_descriptor(x_ptr + first.to(tl.int64) * K, [last - first, K], [K, 1], [BM, BK])
        y_desc = tl.make_tensor_descriptor(y_ptr + first.to(tl.int64) * N, [last - first, N], [N, 1], [BM, BN])
        w_desc = tl.make_tensor_descriptor(w_ptr + expert.to(tl.int64) * N * K, [N, K], [K, 1], [BN, BK])
        acc = tl.zeros((BM, BN), tl.float32)
        for k in tl.range(0, K, BK):
            acc = tl.dot(x_desc.load([row, k]), w_desc.load([col, k]).T, acc)
        y_desc.store([row, col], acc.to(tl.bfloat16))


@case
def nk_ragged_groups(experts=16, spread=900, N=2048, K=1024):
    lengths = [(i * 389 + 211) % spread for i in range(experts)]
    ends = [sum(lengths[:i]) for i in range(experts + 1)]
    x, w, y = rand(ends[-1], K, dtype=BF16), rand(experts, N, K, dtype=BF16), empty(ends[-1], N, dtype=BF16)
    offsets = torch.tensor(ends, dtype=I32, device="cpu").to(DEVICE)
    return Case(ragged_groups, (N // 128, triton.cdiv(spread, 128), experts), (x, w, y, offsets, N, K), dict(BM=128, BN=128, BK=64), (y,),
                lambda: (torch.cat([x[a:b].float() @ m.float().T for a, b, m in zip(ends, ends[1:], w)]),),
                options=dict(num_warps=8, num_stages=3), flops=2 * ends[-1] * N * K)


@triton.jit
def split_k_reduced(a, b, c, K, SPLIT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Shares of K, added up in memory by the descriptor."""
    row, col, share = tl.program_id(0) * BM, tl.program_id(1) * BN, tl.program_id(2)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(share * BK, K, SPLIT * BK):
        acc = tl.dot(a.load([row, k]), b.load([k, col]), acc)
    c.atomic_add([row, col], acc)


@case
def nk_split_k_reduced(M=512, N=1024, K=16384, split=8):
    a, b, c = rand(M, K, dtype=BF16), rand(K, N, dtype=BF16), zeros(M, N)
    return Case(split_k_reduced, (M // 128, N // 128, split), (describe(a, 128, 64), describe(b, 64, 128), describe(c, 128, 128), K),
                dict(SPLIT=split, BM=128, BN=128, BK=64), (c,), lambda: (a.float() @ b.float(),), accumulate=True,
                options=dict(num_warps=4, num_stages=4), flops=2 * M * N * K)


@triton.jit
def column_extremes(x, least, largest, ROWS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Columns' extremes of integers: strips of rows in registers, then minima and maxima in memory by descriptors."""
    first, col = tl.program_id(1) * ROWS, tl.program_id(0) * BN
    low, high = tl.full((BM, BN), 2**31 - 1, tl.int32), tl.full((BM, BN), -2**31, tl.int32)
    for r in tl.range(0, ROWS, BM, num_stages=3):
        v = x.load([first + r, col])
        low, high = tl.minimum(low, v), tl.maximum(high, v)
    least.atomic_min([0, col], tl.min(low, 0, keep_dims=True))
    largest.atomic_max([0, col], tl.max(high, 0, keep_dims=True))


@case
def nk_column_extremes(rows=16384, N=4096):
    x, least, largest = randint(-2**30, 2**30, rows, N), zeros(1, N, dtype=I32), zeros(1, N, dtype=I32)
    return Case(column_extremes, (N // 128, 32), (describe(x, 16, 128), describe(least, 1, 128), describe(largest, 1, 128)),
                dict(ROWS=rows // 32, BM=16, BN=128), (least, largest), lambda: (x.amin(0).clamp(max=0), x.amax(0).clamp(min=0)), rtol=1e-9,
                accumulate=True, options=dict(num_warps=4), bytes=rows * N * 4)


@triton.jit
def rope_halves(x, cos, sin, y, T, H: tl.constexpr, HALF: tl.constexpr, BT: tl.constexpr):
    """Rotates halves of heads: two boxes of each head, and tables by descriptors that all heads share."""
    t, head, seq = tl.program_id(0) * BT, tl.program_id(1), tl.program_id(2)
    c, s = cos.load([t, 0]), sin.load([t, 0])
    a = x.load([seq, t, head, 0]).reshape(BT, HALF).to(tl.float32)
    b = x.load([seq, t, head, HALF]).reshape(BT, HALF).to(tl.float32)
    y.store([seq, t, head, 0], (a * c - b * s).to(y.dtype).reshape(1, BT, 1, HALF))
    y.store([seq, t, head, HALF], (b * c + a * s).to(y.dtype).reshape(1, BT, 1, HALF))


@case
def nk_rope_halves_by_boxes(B=4, T=4096, H=32, D=128):
    x, angle, y = rand(B, T, H, D, dtype=BF16), uniform(T, D // 2, high=6.28), empty(B, T, H, D, dtype=BF16)
    cos, sin, half = angle.cos(), angle.sin(), D // 2

    def reference():
        a, b = x[..., :half].float(), x[..., half:].float()
        c, s = cos[:, None], sin[:, None]
        return (torch.cat((a * c - b * s, b * c + a * s), 3),)

    return Case(rope_halves, (T // 64, H, B), (describe(x, 1, 64, 1, half), describe(cos, 64, half), describe(sin, 64, half),
                describe(y, 1, 64, 1, half), T), dict(H=H, HALF=half, BT=64), (y,), reference, options=dict(num_warps=4), bytes=B * T * H * D * 4)


@triton.jit
def norm_then_store(x, residual, w_ptr, y, sums, rstd_ptr, N: tl.constexpr, BN: tl.constexpr, BM: tl.constexpr):
    """Sum with a residual and rms norm of whole rows: two boxes loaded, two stored after the reduction."""
    row = tl.program_id(0) * BM
    v = x.load([row, 0]).to(tl.float32) + residual.load([row, 0]).to(tl.float32)
    sums.store([row, 0], v.to(sums.dtype))
    rstd = tl.rsqrt(tl.sum(v * v, 1) / N + 1e-6)
    c = tl.arange(0, BN)
    y.store([row, 0], (v * rstd[:, None] * tl.load(w_ptr + c, c < N, 0.0)[None, :]).to(y.dtype))
    tl.store(rstd_ptr + row + tl.arange(0, BM), rstd)


@case
def nk_norm_by_boxes(rows=16384, N=2880):
    x, residual, w = rand(rows, N, dtype=BF16), rand(rows, N, dtype=BF16), rand(N)
    y, sums, rstd = empty(rows, N, dtype=BF16), empty(rows, N, dtype=BF16), empty(rows)

    def reference():
        v = x.float() + residual.float()
        r = torch.rsqrt(v.square().mean(1) + 1e-6)
        return v * r[:, None] * w, v, r

    return Case(norm_then_store, (rows // 2,), (*(describe(t, 2, 4096) for t in (x, residual)), w, *(describe(t, 2, 4096) for t in (y, sums)), rstd),
                dict(N=N, BN=4096, BM=2), (y, sums, rstd), reference, options=dict(num_warps=8), bytes=rows * N * 8)
