# SPDX-License-Identifier: Apache-2.0
"""Kernels of the forms that torch.compile generates: flat indices divided again, reductions in three forms, scans, tiles, foreach."""
import math

import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, randint, registry, tensor, uniform, zeros
from nk_rows import philox

CASES, case = registry()
F = torch.nn.functional
F16, BF16, I64 = torch.float16, torch.bfloat16, torch.int64


@triton.jit
def cat_pad(in0, in1, in2, out0, xnumel, C0: tl.constexpr, C1: tl.constexpr, C2: tl.constexpr, H: tl.constexpr, W: tl.constexpr,
            PH: tl.constexpr, PW: tl.constexpr, XBLOCK: tl.constexpr):
    """Three tensors one after another along channels, each by a masked load of its own, padded with zeros on all sides."""
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex % PW
    x1 = xindex // PW % PH
    x2 = xindex // (PW * PH) % (C0 + C1 + C2)
    x3 = xindex // (PW * PH * (C0 + C1 + C2))
    tmp0 = x1 - 2
    tmp1 = x0 - 2
    tmp2 = (tmp0 >= 0) & (tmp0 < H) & (tmp1 >= 0) & (tmp1 < W)
    tmp3 = x2 < C0
    tmp4 = tl.load(in0 + (tmp1 + W * tmp0 + W * H * x2 + W * H * C0 * x3), tmp2 & tmp3 & xmask, other=0.0).to(tl.float32)
    tmp5 = tl.where(tmp3, tmp4, 0.0)
    tmp6 = (x2 >= C0) & (x2 < C0 + C1)
    tmp7 = tl.load(in1 + (tmp1 + W * tmp0 + W * H * (x2 - C0) + W * H * C1 * x3), tmp2 & tmp6 & xmask, other=0.0).to(tl.float32)
    tmp8 = tl.where(tmp6, tl.maximum(tmp7, 0.0), 0.0)
    tmp9 = x2 >= C0 + C1
    tmp10 = tl.load(in2 + ((x2 - C0 - C1) + C2 * tmp1 + C2 * W * tmp0 + C2 * W * H * x3), tmp2 & tmp9 & xmask, other=0.0).to(tl.float32)
    tmp11 = tl.where(tmp9, tmp10 * tl.sigmoid(tmp10), 0.0)
    tmp12 = tl.where(tmp3, tmp5, tl.where(tmp6, tmp8, tmp11))
    tl.store(out0 + xindex, tmp12.to(out0.dtype.element_ty), xmask)


@case
def nu_ind_cat_pad(N=32, C0=64, C1=96, C2=32, H=94, W=97):
    a, b, c = rand(N, C0, H, W, dtype=F16), rand(N, C1, H, W, dtype=F16), rand(N, H, W, C2, dtype=F16)
    out = empty(N, C0 + C1 + C2, H + 4, W + 4, dtype=F16)
    return Case(cat_pad, (triton.cdiv(out.numel(), 512),), (a, b, c, out, out.numel()),
                dict(C0=C0, C1=C1, C2=C2, H=H, W=W, PH=H + 4, PW=W + 4, XBLOCK=512), (out,),
                lambda: (F.pad(torch.cat((a, b.relu(), F.silu(c.float()).permute(0, 3, 1, 2).to(F16)), 1), (2, 2, 2, 2)),),
                options=dict(num_warps=4, num_stages=1), bytes=4 * out.numel())


@triton.jit
def reflect_shuffle(in0, in1, out0, xnumel, C: tl.constexpr, H: tl.constexpr, W: tl.constexpr, S: tl.constexpr, P: tl.constexpr,
                    XBLOCK: tl.constexpr):
    """Pixel shuffle by S, reflection pad by P, bias and tanh: places by absolute values, quotients and remainders."""
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex % (W * S + 2 * P)
    x1 = xindex // (W * S + 2 * P) % (H * S + 2 * P)
    x2 = xindex // ((W * S + 2 * P) * (H * S + 2 * P)) % C
    x3 = xindex // ((W * S + 2 * P) * (H * S + 2 * P) * C)
    tmp0 = (H * S - 1) - tl.abs((H * S - 1) - tl.abs(x1 - P))
    tmp1 = (W * S - 1) - tl.abs((W * S - 1) - tl.abs(x0 - P))
    tmp2 = S * (tmp0 % S) + tmp1 % S + S * S * x2
    tmp3 = tl.load(in0 + (tmp1 // S + W * (tmp0 // S) + W * H * tmp2 + W * H * S * S * C * x3), xmask, eviction_policy="evict_last")
    tmp4 = tl.load(in1 + tmp2, xmask, eviction_policy="evict_last")
    tmp5 = 2.0 * tl.sigmoid(2.0 * (tmp3 + tmp4)) - 1.0
    tl.store(out0 + xindex, tmp5.to(out0.dtype.element_ty), xmask)


@case
def nu_ind_reflect_shuffle(N=32, C=16, H=150, W=131, S=2, P=3):
    x, bias, out = rand(N, C * S * S, H, W), rand(C * S * S), empty(N, C, H * S + 2 * P, W * S + 2 * P, dtype=F16)
    return Case(reflect_shuffle, (triton.cdiv(out.numel(), 1024),), (x, bias, out, out.numel()), dict(C=C, H=H, W=W, S=S, P=P, XBLOCK=1024),
                (out,), lambda: (F.pad(F.pixel_shuffle(x + bias[:, None, None], S), (P, P, P, P), mode="reflect").tanh(),),
                options=dict(num_warps=8, num_stages=1), bytes=6 * out.numel())


@triton.jit
def upsample_add(in0, in1, out0, xnumel, SY, SX, H: tl.constexpr, W: tl.constexpr, OH: tl.constexpr, OW: tl.constexpr,
                 XBLOCK: tl.constexpr):
    """Bilinear to a size that is no multiple, four gathers by 64-bit indices, added to another tensor."""
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex % OW
    x1 = xindex // OW % OH
    x2 = xindex // (OW * OH)
    tmp0 = tl.maximum((x1.to(tl.float32) + 0.5) * SY - 0.5, 0.0)
    tmp1 = tmp0.to(tl.int64)
    tmp2 = tl.minimum(tmp1 + 1, H - 1)
    tmp3 = tl.maximum((x0.to(tl.float32) + 0.5) * SX - 0.5, 0.0)
    tmp4 = tl.minimum(tmp3.to(tl.int64), W - 1)
    tmp5 = tl.minimum(tmp4 + 1, W - 1)
    tmp6 = tl.load(in0 + (tmp4 + W * tmp1 + W * H * x2), xmask, eviction_policy="evict_last").to(tl.float32)
    tmp7 = tl.load(in0 + (tmp5 + W * tmp1 + W * H * x2), xmask, eviction_policy="evict_last").to(tl.float32)
    tmp8 = tl.load(in0 + (tmp4 + W * tmp2 + W * H * x2), xmask, eviction_policy="evict_last").to(tl.float32)
    tmp9 = tl.load(in0 + (tmp5 + W * tmp2 + W * H * x2), xmask, eviction_policy="evict_last").to(tl.float32)
    tmp10 = tl.minimum(tl.maximum(tmp3 - tmp4.to(tl.float32), 0.0), 1.0)
    tmp11 = tl.minimum(tl.maximum(tmp0 - tmp1.to(tl.float32), 0.0), 1.0)
    tmp12 = tmp6 + (tmp7 - tmp6) * tmp10
    tmp13 = tmp8 + (tmp9 - tmp8) * tmp10
    tmp14 = tl.load(in1 + xindex, xmask).to(tl.float32)
    tl.store(out0 + xindex, (tmp12 + (tmp13 - tmp12) * tmp11 + tmp14).to(out0.dtype.element_ty), xmask)


@case
def nu_ind_upsample_add(planes=32 * 128, H=45, W=53, OH=101, OW=112):
    x, skip, out = rand(planes, H, W, dtype=BF16), rand(planes, OH, OW, dtype=BF16), empty(planes, OH, OW, dtype=BF16)

    def reference():
        return (F.interpolate(x.float()[None], size=(OH, OW), mode="bilinear", align_corners=False)[0] + skip.float(),)

    return Case(upsample_add, (triton.cdiv(out.numel(), 512),), (x, skip, out, out.numel(), H / OH, W / OW),
                dict(H=H, W=W, OH=OH, OW=OW, XBLOCK=512), (out,), reference, options=dict(num_warps=8, num_stages=1), bytes=4 * out.numel())


@triton.jit
def noise_norm_dropout(in0, seeds, in2, in3, out0, out1, out2, out3, xnumel, load_seed_offset, N: tl.constexpr, XBLOCK: tl.constexpr,
                       R0_BLOCK: tl.constexpr):
    """A persistent reduction: normal noise, layer norm with the mean first, dropout; seeds are loaded; the mask is stored as bools."""
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    r0_mask = r0_index < N
    at = r0_index + N * xindex
    tmp0 = tl.load(in0 + at, r0_mask & xmask, other=0.0).to(tl.float32)
    tmp1 = tl.load(seeds)
    tmp2 = tl.randn(tmp1, at.to(tl.uint32))
    tmp3 = tmp0 + tmp2 * 0.1
    tmp4 = tl.sum(tl.where(r0_mask & xmask, tmp3, 0), 1)[:, None] / N
    tmp5 = tmp3 - tmp4
    tmp6 = tl.sum(tl.where(r0_mask & xmask, tmp5 * tmp5, 0), 1)[:, None]
    tmp7 = tl.rsqrt(tmp6 / N + 1e-5)
    tmp8 = tl.load(in2 + r0_index, r0_mask, eviction_policy="evict_last", other=0.0)
    tmp9 = tl.load(in3 + r0_index, r0_mask, eviction_policy="evict_last", other=0.0)
    tmp10 = tl.load(seeds + load_seed_offset)
    tmp11 = tl.rand(tmp10, at.to(tl.uint32)) > 0.2
    tmp12 = tmp11.to(tl.float32) * (tmp5 * tmp7 * tmp8 + tmp9) * 1.25
    tl.store(out0 + at, tmp12.to(out0.dtype.element_ty), r0_mask & xmask)
    tl.store(out1 + at, tmp11, r0_mask & xmask)
    tl.store(out2 + xindex, tmp4, xmask)
    tl.store(out3 + xindex, tmp7, xmask)


def unit(words):
    """Words to [0, 1) as Triton does."""
    return torch.where(words >= 2**31, 2**32 - 1 - words, words).float() * 4.6566127342e-10


@case
def nu_ind_noise_norm_dropout(rows=14001, N=1600, first=0x1234567890ABC, second=987654321):
    x, seeds, w, b = rand(rows, N, dtype=F16), tensor([first, second], I64), rand(N), rand(N)
    y, mask, mean, rstd = empty(rows, N, dtype=F16), empty(rows, N, dtype=torch.bool), empty(rows), empty(rows)

    def reference():
        index = torch.arange(rows * N, device=DEVICE)
        radius, angle, _, _ = philox(first, index)
        radius = torch.sqrt(-2 * torch.log(unit(radius).clamp_min(1e-7)))
        v = x.float() + 0.1 * (radius * torch.cos(2 * math.pi * unit(angle))).view(rows, N)
        keep = (unit(philox(second, index)[0]) > 0.2).view(rows, N)
        return (torch.where(keep, F.layer_norm(v, (N,), w, b, 1e-5) * 1.25, 0), keep, v.mean(1),
                torch.rsqrt(v.var(1, unbiased=False) + 1e-5))

    return Case(noise_norm_dropout, (rows,), (x, seeds, w, b, y, mask, mean, rstd, rows, 1), dict(N=N, XBLOCK=1, R0_BLOCK=2048),
                (y, mask, mean, rstd), reference, options=dict(num_warps=8, num_stages=1), bytes=rows * N * 5)


@triton.jit
def softmax_backward(in0, in1, in2, out0, xnumel, N: tl.constexpr, HEADS: tl.constexpr, XBLOCK: tl.constexpr, R0_BLOCK: tl.constexpr):
    """A persistent reduction of several rows, dropout's gradient by bools before it, a fill by bools that heads share after it."""
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    r0_mask = r0_index < N
    x0 = xindex % N
    x1 = xindex // (N * HEADS)
    tmp0 = tl.load(in0 + (r0_index + N * xindex), r0_mask & xmask, other=0.0).to(tl.float32)
    tmp1 = tl.load(in1 + (r0_index + N * xindex), r0_mask & xmask, other=0.0).to(tl.float32)
    tmp2 = tl.load(in2 + (r0_index + N * x0 + N * N * x1), r0_mask & xmask, eviction_policy="evict_last", other=0.0).to(tl.int1)
    tmp3 = tmp0 * tmp1
    tmp4 = tl.sum(tl.where(r0_mask & xmask, tmp3, 0), 1)[:, None]
    tmp5 = -tmp1 * tmp4 + tmp3
    tmp6 = tl.where(tmp2, 0.0, tmp5) * 0.125
    tl.store(out0 + (r0_index + N * xindex), tmp6.to(out0.dtype.element_ty), r0_mask & xmask)


@case
def nu_ind_softmax_bwd(B=24, heads=12, T=371):
    g, y = rand(B, heads, T, T, dtype=F16), torch.softmax(rand(B, heads, T, T), -1).to(F16)
    mask, out = randint(0, 5, B, 1, T, T) == 0, empty(B, heads, T, T, dtype=F16)

    def reference():
        p = g.float() * y.float()
        return (torch.where(mask, 0, p - y.float() * p.sum(-1, keepdim=True)) * 0.125,)

    rows = B * heads * T
    return Case(softmax_backward, (triton.cdiv(rows, 8),), (g, y, mask, out, rows), dict(N=T, HEADS=heads, XBLOCK=8, R0_BLOCK=512), (out,),
                reference, options=dict(num_warps=8, num_stages=1), bytes=rows * T * 6)


@triton.jit
def welford_combine(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2):
    delta = mean_2 - mean_1
    weight = weight_1 + weight_2
    share = tl.where(weight == 0.0, 0.0, weight_2 / weight)
    return mean_1 + delta * share, m2_1 + m2_2 + delta * delta * weight_1 * share, weight


@triton.jit
def welford_split(in0, out0, out1, out2, xnumel, r0_numel, C: tl.constexpr, HW: tl.constexpr, XBLOCK: tl.constexpr,
                  R0_BLOCK: tl.constexpr):
    """The first half of a split reduction: running means and squares of parts of channels, merged by a reduction of triples."""
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    x0 = xindex % C
    x1 = xindex // C
    mean = tl.zeros([XBLOCK, R0_BLOCK], tl.float32)
    m2 = tl.zeros([XBLOCK, R0_BLOCK], tl.float32)
    weight = tl.zeros([XBLOCK, R0_BLOCK], tl.float32)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        at = r0_index + x1 * r0_numel
        tmp0 = tl.load(in0 + (at % HW + HW * x0 + HW * C * (at // HW)), r0_mask & xmask, eviction_policy="evict_first", other=0.0)
        delta = tmp0 - mean
        new_weight = weight + 1.0
        new_mean = mean + delta / new_weight
        new_m2 = m2 + delta * (tmp0 - new_mean)
        mean = tl.where(r0_mask & xmask, new_mean, mean)
        m2 = tl.where(r0_mask & xmask, new_m2, m2)
        weight = tl.where(r0_mask & xmask, new_weight, weight)
    tmp1, tmp2, tmp3 = tl.reduce((mean, m2, weight), 1, welford_combine)
    tl.store(out0 + xindex, tmp1[:, None], xmask)
    tl.store(out1 + xindex, tmp2[:, None], xmask)
    tl.store(out2 + xindex, tmp3[:, None], xmask)


@case
def nu_ind_welford_split(N=96, C=160, HW=55 * 57, split=40):
    x = rand(N, C, HW) + rand(C)[:, None]
    part = N * HW // split
    mean, m2, weight = empty(split, C), empty(split, C), empty(split, C)

    def reference():
        v = x.transpose(1, 2).reshape(N * HW, C).view(split, part, C)
        return v.mean(1), v.var(1, unbiased=False) * part, torch.full((split, C), float(part), device=DEVICE)

    assert part * split == N * HW
    return Case(welford_split, (split * C // 2,), (x, mean, m2, weight, split * C, part),
                dict(C=C, HW=HW, XBLOCK=2, R0_BLOCK=1024), (mean, m2, weight), reference, rtol=1e-3,
                options=dict(num_warps=8, num_stages=1), bytes=4 * N * C * HW)


@triton.jit
def mix_order(in0, in1, out0, out1, ws0, ws1, xnumel, RSPLIT_SIZE: tl.constexpr, N: tl.constexpr, XBLOCK: tl.constexpr,
              R0_BLOCK: tl.constexpr):
    """Row and column reductions of one pass: rows' norms are stored, columns' sums and maxima wait in registers for a workspace."""
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    r0_mask = r0_index < N
    split = tl.program_id(0)
    accum0 = tl.full([R0_BLOCK], 0.0, tl.float32)[None, :]
    accum1 = tl.full([R0_BLOCK], 0.0, tl.float32)[None, :]
    for off in tl.range(0, RSPLIT_SIZE, XBLOCK):
        xindex = split * RSPLIT_SIZE + off + tl.arange(0, XBLOCK)[:, None]
        xmask = xindex < xnumel
        tmp0 = tl.load(in0 + (r0_index + N * xindex), r0_mask & xmask, other=0.0).to(tl.float32)
        tmp1 = tl.load(in1 + (r0_index + N * xindex), r0_mask & xmask, other=0.0).to(tl.float32)
        tmp2 = tmp0 * tl.sigmoid(tmp0) * tmp1
        tmp3 = tl.sum(tl.where(r0_mask & xmask, tmp2 * tmp2, 0), 1)[:, None]
        tmp4 = tl.rsqrt(tmp3 / N + 1e-6)
        tmp5 = tmp2 * tmp4
        tl.store(out0 + (r0_index + N * xindex), tmp5.to(out0.dtype.element_ty), r0_mask & xmask)
        tl.store(out1 + xindex, tmp4, xmask)
        accum0 = accum0 + tl.sum(tl.where(r0_mask & xmask, tmp5, 0), 0)[None, :]
        accum1 = tl.maximum(accum1, tl.max(tl.where(r0_mask & xmask, tl.abs(tmp5), 0), 0)[None, :])
    tl.store(ws0 + (r0_index + N * split), accum0, r0_mask)
    tl.store(ws1 + (r0_index + N * split), accum1, r0_mask)


@case
def nu_ind_mix_order(rows=16384, N=2000, part=32):
    x, g, y, rstd = rand(rows, N, dtype=BF16), rand(rows, N, dtype=BF16), empty(rows, N, dtype=BF16), empty(rows)
    parts = rows // part
    sums, tops = empty(parts, N), empty(parts, N)

    def reference():
        v = F.silu(x.float()) * g.float()
        scale = torch.rsqrt(v.square().mean(1) + 1e-6)
        v = v * scale[:, None]
        return v, scale, v.view(parts, part, N).sum(1), v.view(parts, part, N).abs().amax(1)

    return Case(mix_order, (parts,), (x, g, y, rstd, sums, tops, rows), dict(RSPLIT_SIZE=part, N=N, XBLOCK=4, R0_BLOCK=2048),
                (y, rstd, sums, tops), reference, options=dict(num_warps=16, num_stages=1), bytes=rows * N * 6)


@triton.jit
def lesser_pair(a, a_index, b, b_index):
    """The lesser value with its index; NaNs come first, and of equal values the earlier."""
    a_nan, b_nan = a != a, b != b
    first = (a < b) | (a_nan & ~b_nan)
    equal = (a == b) | (a_nan & b_nan)
    first = first | (equal & (a_index < b_index))
    return tl.where(first, a, b), tl.where(first, a_index, b_index)


@triton.jit
def arg_min(in0, out0, out1, xnumel, R: tl.constexpr, C: tl.constexpr, XBLOCK: tl.constexpr, R0_BLOCK: tl.constexpr):
    """A looped reduction along a strided dimension: pairs of values and indices, then a reduction of the pairs."""
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    x0 = xindex % C
    x1 = xindex // C
    best = tl.full([XBLOCK, R0_BLOCK], float("inf"), tl.float32)
    best_index = tl.full([XBLOCK, R0_BLOCK], 2147483647, tl.int32)
    for r0_offset in range(0, R, R0_BLOCK):
        r0_index = r0_offset + tl.arange(0, R0_BLOCK)[None, :]
        r0_mask = r0_index < R
        tmp0 = tl.load(in0 + (x0 + C * r0_index + C * R * x1), r0_mask & xmask, eviction_policy="evict_first", other=0.0)
        index = tl.broadcast_to(r0_index, [XBLOCK, R0_BLOCK])
        new, new_index = lesser_pair(best, best_index, tmp0, index)
        best = tl.where(r0_mask & xmask, new, best)
        best_index = tl.where(r0_mask & xmask, new_index, best_index)
    tmp1, tmp2 = tl.reduce((best, best_index), 1, lesser_pair)
    tl.store(out0 + xindex, tmp1[:, None], xmask)
    tl.store(out1 + xindex, tmp2[:, None].to(tl.int64), xmask)


@case
def nu_ind_arg_min(B=64, R=1000, C=1023):
    x = (rand(B, R, C) * 64).round() / 64
    values, indices = empty(B, C), empty(B, C, dtype=I64)

    def reference():
        least = x.amin(1, keepdim=True)
        return least, torch.where(x == least, torch.arange(R, device=DEVICE, dtype=torch.int32)[:, None], R).amin(1)

    return Case(arg_min, (triton.cdiv(B * C, 64),), (x, values, indices, B * C), dict(R=R, C=C, XBLOCK=64, R0_BLOCK=16), (values, indices),
                reference, rtol=1e-9, options=dict(num_warps=4, num_stages=1), bytes=4 * B * R * C)


@triton.jit
def later_maximum(a, a_index, b, b_index):
    take = (b >= a) | (b != b)
    return tl.where(take, b, a), tl.where(take, b_index, a_index)


@triton.jit
def running_maximum(in0, out0, out1, xnumel, N: tl.constexpr, XBLOCK: tl.constexpr, R0_BLOCK: tl.constexpr):
    """A looped scan of pairs: a block's scan, then what earlier blocks found, whose last pair is picked by a masked sum."""
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    carry = tl.full([XBLOCK, 1], float("nan"), tl.float32)
    carry_index = tl.full([XBLOCK, 1], -1, tl.int64)
    for r0_offset in range(0, N, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < N
        tmp0 = tl.load(in0 + (r0_index + N * xindex), r0_mask & xmask, eviction_policy="evict_first", other=float("-inf"))
        tmp1 = tl.broadcast_to(r0_index.to(tl.int64), [XBLOCK, R0_BLOCK])
        tmp2, tmp3 = tl.associative_scan((tmp0, tmp1), 1, later_maximum)
        full, full_index = later_maximum(carry, carry_index, tmp2, tmp3)
        tmp4 = tl.where(r0_offset > 0, full, tmp2)
        tmp5 = tl.where(r0_offset > 0, full_index, tmp3)
        carry = tl.sum(tl.where(r0_base == R0_BLOCK - 1, tmp4, 0.0), 1)[:, None]
        carry_index = tl.sum(tl.where(r0_base == R0_BLOCK - 1, tmp5, 0), 1)[:, None]
        tl.store(out0 + (r0_index + N * xindex), tmp4, r0_mask & xmask)
        tl.store(out1 + (r0_index + N * xindex), tmp5, r0_mask & xmask)


@case
def nu_ind_cummax(rows=4095, N=3000):
    x, values, indices = (rand(rows, N) * 1024).round() / 1024, empty(rows, N), empty(rows, N, dtype=I64)

    def reference():
        top = x.cummax(1)[0]
        place = torch.where(x == top, torch.arange(N, device=DEVICE), 0).cummax(1)[0]
        return top, place

    return Case(running_maximum, (triton.cdiv(rows, 2),), (x, values, indices, rows), dict(N=N, XBLOCK=2, R0_BLOCK=512), (values, indices),
                reference, rtol=1e-9, options=dict(num_warps=4, num_stages=1), bytes=16 * rows * N)


@triton.jit
def tile_transpose(in0, in1, in2, out0, out1, ynumel, xnumel, C: tl.constexpr, HW: tl.constexpr, YBLOCK: tl.constexpr,
                   XBLOCK: tl.constexpr):
    """Channels last to channels first by tiles: bias, sum with a tensor in the other order, ReLU, and bools for its gradient."""
    yindex = (tl.program_id(1) + tl.program_id(2) * tl.num_programs(1)) * YBLOCK + tl.arange(0, YBLOCK)[:, None]
    ymask = yindex < ynumel
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[None, :]
    xmask = xindex < xnumel
    y0 = yindex % C
    y1 = yindex // C
    tmp0 = tl.load(in0 + (y0 + C * xindex + C * HW * y1), xmask & ymask, eviction_policy="evict_last", other=0.0).to(tl.float32)
    tmp1 = tl.load(in1 + y0, ymask, eviction_policy="evict_last", other=0.0)
    tmp2 = tl.load(in2 + (xindex + HW * yindex), xmask & ymask, eviction_policy="evict_last", other=0.0)
    tmp3 = tl.maximum(tmp0 + tmp1 + tmp2, 0.0)
    tl.store(out0 + (xindex + HW * yindex), tmp3, xmask & ymask)
    tl.store(out1 + (xindex + HW * yindex), tmp3 <= 0.0, xmask & ymask)


@case
def nu_ind_tile_transpose(N=40, C=200, HW=55 * 57):
    x, bias, skip = rand(N, HW, C, dtype=F16), rand(C), rand(N, C, HW)
    out, dead = empty(N, C, HW), empty(N, C, HW, dtype=torch.bool)

    def reference():
        v = x.float().transpose(1, 2) + bias[:, None] + skip
        return v.relu(), v <= 0

    return Case(tile_transpose, (triton.cdiv(HW, 64), triton.cdiv(N * C, 64)), (x, bias, skip, out, dead, N * C, HW),
                dict(C=C, HW=HW, YBLOCK=64, XBLOCK=64), (out, dead), reference, rtol=1e-3, options=dict(num_warps=8, num_stages=1),
                bytes=11 * N * C * HW)


@triton.jit
def bucket_of(value, edges, EDGES: tl.constexpr, STEPS: tl.constexpr):
    """How many edges are less than the value: a binary search of all elements at once."""
    low = tl.zeros(value.shape, tl.int32)
    high = tl.full(value.shape, EDGES, tl.int32)
    for _ in range(STEPS):
        middle = (low + high) // 2
        edge = tl.load(edges + middle, middle < EDGES, other=float("inf"))
        above = (edge < value) & (low < high)
        low = tl.where(above, middle + 1, low)
        high = tl.where(above, high, middle)
    return low


@triton.jit
def bucketize_put(in0, in1, in2, out0, out1, xnumel, C: tl.constexpr, EDGES: tl.constexpr, STEPS: tl.constexpr, XBLOCK: tl.constexpr):
    """Buckets by binary search, a gather from a table by them, and an accumulating index_put by bucket and column."""
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex % C
    tmp0 = tl.load(in0 + xindex, xmask, other=0.0)
    tmp1 = bucket_of(tmp0, in1, EDGES, STEPS).to(tl.int64)
    tmp2 = tl.where(tmp1 < 0, tmp1 + (EDGES + 1), tmp1)
    tl.device_assert((tmp2 >= 0) & (tmp2 <= EDGES), "index out of bounds")
    tmp3 = tl.load(in2 + tmp2, xmask, eviction_policy="evict_last", other=0.0)
    tl.store(out0 + xindex, (tmp0 * tmp3).to(out0.dtype.element_ty), xmask)
    tl.atomic_add(out1 + (x0 + C * tmp2), tmp0 * tmp3, xmask, sem="relaxed")


@case
def nu_ind_bucketize_put(rows=10001, C=768, edges=201):
    x, table = rand(rows, C), uniform(edges + 1, low=0.5, high=2.0)
    bounds = torch.linspace(-2.5, 2.5, edges, device=DEVICE)
    y, sums = empty(rows, C, dtype=F16), zeros(edges + 1, C)

    def reference():
        bucket = torch.bucketize(x, bounds)
        v = x * table[bucket]
        return v, zeros(edges + 1, C).scatter_add_(0, bucket, v)

    return Case(bucketize_put, (triton.cdiv(rows * C, 256),), (x, bounds, table, y, sums, rows * C),
                dict(C=C, EDGES=edges, STEPS=8, XBLOCK=256), (y, sums), reference, rtol=1e-3, accumulate=True,
                options=dict(num_warps=4, num_stages=1), bytes=rows * C * 10)


@triton.jit
def adam_elements(xindex, xmask, p, g, m, v, step, p_out, m_out, v_out):
    tmp0 = tl.load(g + xindex, xmask, other=0.0).to(tl.float32)
    tmp1 = tl.load(m + xindex, xmask, other=0.0)
    tmp2 = tl.load(v + xindex, xmask, other=0.0)
    tmp3 = tl.load(p + xindex, xmask, other=0.0)
    tmp4 = tl.load(step) + 1.0
    tmp5 = tmp1 + 0.1 * (tmp0 - tmp1)
    tmp6 = tmp2 * 0.999 + 0.001 * tmp0 * tmp0
    tmp7 = 1.0 - tl.exp2(tmp4 * -0.15200309344504997)
    tmp8 = 1.0 - tl.exp2(tmp4 * -0.0014434168696687174)
    tmp9 = tl.sqrt_rn(tmp6) / tl.sqrt_rn(tmp8) + 1e-8
    tmp10 = tmp3 * (1.0 - 1e-5) - 1e-3 * tl.div_rn(tmp5 / tmp7, tmp9)
    tl.store(p_out + xindex, tmp10, xmask)
    tl.store(m_out + xindex, tmp5, xmask)
    tl.store(v_out + xindex, tmp6, xmask)


@triton.jit
def foreach_adam(p0, g0, m0, v0, s0, po0, mo0, vo0, p1, g1, m1, v1, s1, po1, mo1, vo1, p2, g2, m2, v2, s2, po2, mo2, vo2,
                 N0: tl.constexpr, N1: tl.constexpr, N2: tl.constexpr, XBLOCK: tl.constexpr):
    """Three tensors in one launch: a program's number tells its tensor by branches; steps are tensors."""
    xpid = tl.program_id(0)
    blocks0: tl.constexpr = (N0 + XBLOCK - 1) // XBLOCK
    blocks1: tl.constexpr = blocks0 + (N1 + XBLOCK - 1) // XBLOCK
    blocks2: tl.constexpr = blocks1 + (N2 + XBLOCK - 1) // XBLOCK
    if xpid < blocks0:
        xindex = xpid * XBLOCK + tl.arange(0, XBLOCK)[:]
        adam_elements(xindex, xindex < N0, p0, g0, m0, v0, s0, po0, mo0, vo0)
    elif xpid < blocks1:
        xindex = (xpid - blocks0) * XBLOCK + tl.arange(0, XBLOCK)[:]
        adam_elements(xindex, xindex < N1, p1, g1, m1, v1, s1, po1, mo1, vo1)
    elif xpid < blocks2:
        xindex = (xpid - blocks1) * XBLOCK + tl.arange(0, XBLOCK)[:]
        adam_elements(xindex, xindex < N2, p2, g2, m2, v2, s2, po2, mo2, vo2)


@case
def nu_ind_foreach_adam(sizes=(8000000, 3000001, 4999)):
    args, outs, groups = [], [], []
    for i, n in enumerate(sizes):
        p, g, m, v = rand(n), rand(n, dtype=BF16 if i == 1 else torch.float32), rand(n, scale=0.1), uniform(n, high=0.5)
        step, out = tensor(10.0 + 3 * i, torch.float32), [empty(n), empty(n), empty(n)]
        args += [p, g, m, v, step, *out]
        outs += out
        groups.append((p, g, m, v, 11 + 3 * i))

    def reference():
        made = []
        for p, g, m, v, t in groups:
            first, second = m * 0.9 + g.float() * 0.1, v * 0.999 + g.float().square() * 0.001
            slope = first / (1 - 0.9**t) / ((second / (1 - 0.999**t)).sqrt() + 1e-8)
            made += [p * (1 - 1e-5) - 1e-3 * slope, first, second]
        return tuple(made)

    return Case(foreach_adam, (sum(triton.cdiv(n, 1024) for n in sizes),), tuple(args),
                dict(N0=sizes[0], N1=sizes[1], N2=sizes[2], XBLOCK=1024), tuple(outs), reference, rtol=1e-4,
                options=dict(num_warps=8, num_stages=1), bytes=28 * sum(sizes))


@triton.jit
def average_pool_backward(in0, out0, xnumel, H: tl.constexpr, W: tl.constexpr, OH: tl.constexpr, OW: tl.constexpr, XBLOCK: tl.constexpr):
    """Pool of 3, stride 2, padding 1 without the padding's count: the windows of a place are found, clamped and masked."""
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex % W
    x1 = xindex // W % H
    x2 = xindex // (W * H)
    total = tl.zeros([XBLOCK], tl.float32)
    for i in tl.static_range(2):
        for j in tl.static_range(2):
            tmp0 = x1 // 2 + i
            tmp1 = x0 // 2 + j
            tmp2 = (tmp0 < tl.minimum(1 + (1 + x1) // 2, OH)) & (tmp1 < tl.minimum(1 + (1 + x0) // 2, OW))
            tmp3 = tl.minimum(tmp0, OH - 1)
            tmp4 = tl.minimum(tmp1, OW - 1)
            tmp5 = tl.load(in0 + (tmp4 + OW * tmp3 + OW * OH * x2), xmask, eviction_policy="evict_last", other=0.0)
            tmp6 = tl.minimum(2 * tmp3 + 2, H) - tl.maximum(2 * tmp3 - 1, 0)
            tmp7 = tl.minimum(2 * tmp4 + 2, W) - tl.maximum(2 * tmp4 - 1, 0)
            total = tl.where(tmp2, total + tmp5 / (tmp6 * tmp7), total)
    tl.store(out0 + xindex, total, xmask)


@case
def nu_ind_avg_pool_bwd(planes=64 * 48, H=113, W=110):
    OH, OW = (H - 1) // 2 + 1, (W - 1) // 2 + 1
    g, out = rand(planes, OH, OW), empty(planes, H, W)

    def reference():
        with torch.enable_grad():
            x = torch.zeros(1, planes, H, W, device=DEVICE, requires_grad=True)
            y = F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)
            return torch.autograd.grad(y, x, g[None])

    return Case(average_pool_backward, (triton.cdiv(out.numel(), 512),), (g, out, out.numel()), dict(H=H, W=W, OH=OH, OW=OW, XBLOCK=512),
                (out,), reference, rtol=1e-4, options=dict(num_warps=8, num_stages=1), bytes=5 * out.numel())


@triton.jit
def group_norm_f64(in0, in1, in2, out0, out1, out2, G: tl.constexpr, CG: tl.constexpr, HW: tl.constexpr,
                   R0_BLOCK: tl.constexpr):
    """Three looped reductions of one group: sums in f64, squares of differences in f64, and the result, with SiLU."""
    x0 = tl.program_id(0)
    r0_base = tl.arange(0, R0_BLOCK)
    total = tl.zeros([R0_BLOCK], tl.float64)
    for r0_offset in range(0, CG * HW, R0_BLOCK):
        r0_index = r0_offset + r0_base
        total += tl.load(in0 + (r0_index + CG * HW * x0), r0_index < CG * HW, eviction_policy="evict_last", other=0.0).to(tl.float64)
    mean = tl.sum(total, 0) / (CG * HW)
    squares = tl.zeros([R0_BLOCK], tl.float64)
    for r0_offset in range(0, CG * HW, R0_BLOCK):
        r0_index = r0_offset + r0_base
        tmp0 = tl.load(in0 + (r0_index + CG * HW * x0), r0_index < CG * HW, eviction_policy="evict_last", other=0.0).to(tl.float64) - mean
        squares += tl.where(r0_index < CG * HW, tmp0 * tmp0, 0.0)
    variance = tl.sum(squares, 0) / (CG * HW)
    tl.store(out1 + x0, mean)
    tl.store(out2 + x0, variance)
    rstd = (1.0 / tl.sqrt(variance + 1e-6)).to(tl.float32)
    for r0_offset in range(0, CG * HW, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < CG * HW
        channel = CG * (x0 % G) + r0_index // HW
        tmp1 = tl.load(in0 + (r0_index + CG * HW * x0), r0_mask, eviction_policy="evict_first", other=0.0)
        tmp2 = tl.load(in1 + channel, r0_mask, eviction_policy="evict_last", other=0.0)
        tmp3 = tl.load(in2 + channel, r0_mask, eviction_policy="evict_last", other=0.0)
        tmp4 = (tmp1 - mean.to(tl.float32)) * rstd * tmp2 + tmp3
        tl.store(out0 + (r0_index + CG * HW * x0), (tmp4 * tl.sigmoid(tmp4)).to(out0.dtype.element_ty), r0_mask)


@case
def nu_ind_group_norm_f64(N=33, C=256, G=32, HW=61 * 63):
    x, w, b, y = rand(N, C, HW) + 3.0, rand(C), rand(C), empty(N, C, HW, dtype=F16)
    mean, variance = empty(N * G, dtype=torch.float64), empty(N * G, dtype=torch.float64)

    def reference():
        grouped = x.double().view(N * G, -1)
        return F.silu(F.group_norm(x, G, w, b, 1e-6)), grouped.mean(1), grouped.var(1, unbiased=False)

    return Case(group_norm_f64, (N * G,), (x, w, b, y, mean, variance), dict(G=G, CG=C // G, HW=HW, R0_BLOCK=2048), (y, mean, variance),
                reference, rtol=1e-3, options=dict(num_warps=16, num_stages=1), bytes=N * C * HW * 6)
