# SPDX-License-Identifier: Apache-2.0
"""Descriptors that are made inside of loops: experts, sequences of a batch, slices and shifted views of matrices."""
import torch
import triton
import triton.language as tl

from case import Case, empty, rand, registry, tensor

CASES, case = registry()
F16, BF16, F32, FP8, I32 = torch.float16, torch.bfloat16, torch.float32, torch.float8_e4m3fn, torch.int32


def tiles(M, N, BM, BN):
    return triton.cdiv(M, BM) * triton.cdiv(N, BN)


@triton.jit
def expert_products(x, w, y, offsets, E, N, K, SMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TRANSPOSED: tl.constexpr):
    """y[rows of e] = x[rows of e] w[e]: each expert's rows are a matrix of their own. w[e] is [N, K] where TRANSPOSED, else [K, N]."""
    tile = tl.program_id(0)
    begin = 0
    cols = tl.cdiv(N, BN)
    for e in range(E):
        first, last = tl.load(offsets + e), tl.load(offsets + e + 1)
        rows = last - first
        count = tl.cdiv(rows, BM) * cols
        if tile < begin + count:
            x_desc = tl.make_tensor_descriptor(x + first.to(tl.int64) * K, [rows, K], [K, 1], [BM, BK])
            y_desc = tl.make_tensor_descriptor(y + first.to(tl.int64) * N, [rows, N], [N, 1], [BM, BN])
            if TRANSPOSED:
                w_desc = tl.make_tensor_descriptor(w + e.to(tl.int64) * N * K, [N, K], [K, 1], [BN, BK])
            else:
                w_desc = tl.make_tensor_descriptor(w + e.to(tl.int64) * N * K, [K, N], [N, 1], [BK, BN])
            while tile < begin + count:
                m, n = (tile - begin) // cols * BM, (tile - begin) % cols * BN
                acc = tl.zeros((BM, BN), tl.float32)
                for k in range(0, K, BK):
                    if TRANSPOSED:
                        acc = tl.dot(x_desc.load([m, k]), w_desc.load([n, k]).T, acc)
                    else:
                        acc = tl.dot(x_desc.load([m, k]), w_desc.load([k, n]), acc)
                y_desc.store([m, n], acc.to(y.dtype.element_ty))
                tile += SMS
        begin += count


def expert_case(E, N, K, block, dtype, transposed, warps, stages, mean=300):
    counts = [i * 7919 % (2 * mean) for i in range(E)]
    bounds = [sum(counts[:i]) for i in range(E + 1)]
    offsets = tensor(bounds, I32)
    x = rand(bounds[-1], K, dtype=dtype)
    w = rand(E, N, K, dtype=dtype) if transposed else rand(E, K, N, dtype=dtype)
    y = empty(bounds[-1], N, dtype=F16 if dtype == FP8 else dtype)

    def reference():
        parts = []
        for e in range(E):
            weights = w[e].float()
            parts.append(x[bounds[e]:bounds[e + 1]].float() @ (weights.T if transposed else weights))
        return (torch.cat(parts),)

    BM, BN, BK = block
    return Case(expert_products, (132,), (x, w, y, offsets, E, N, K), dict(SMS=132, BM=BM, BN=BN, BK=BK, TRANSPOSED=transposed), (y,), reference,
                options=dict(num_warps=warps, num_stages=stages), flops=2 * bounds[-1] * N * K)


@case
def nu_experts_ragged(E=32, N=1000, K=1032):
    """Neither N nor K is a multiple of a block."""
    return expert_case(E, N, K, (64, 128, 64), F16, True, 4, 3)


@case
def nu_experts_bf16(E=16, N=2048, K=1024):
    return expert_case(E, N, K, (128, 128, 64), BF16, False, 8, 3, mean=500)


@case
def nu_experts_fp8(E=16, N=2048, K=2048):
    return expert_case(E, N, K, (64, 128, 128), FP8, True, 4, 4, mean=500)


@case
def nu_experts_tf32(E=16, N=1024, K=1024):
    return expert_case(E, N, K, (128, 64, 32), F32, True, 4, 3, mean=400)


@triton.jit
def varlen_attention(q, k, v, o, starts, seqs, scale, H: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, SMS: tl.constexpr):
    """Causal attention over sequences of many lengths, persistent: each tile makes descriptors of its sequence and head."""
    work = tl.program_id(0)
    done = 0
    for s in range(seqs):
        first, last = tl.load(starts + s), tl.load(starts + s + 1)
        length = last - first
        count = tl.cdiv(length, BM) * H
        for tile in range(work - done, count, SMS):
            m, head = tile // H * BM, tile % H
            base = (first.to(tl.int64) * H + head) * D
            q_desc = tl.make_tensor_descriptor(q + base, [length, D], [H * D, 1], [BM, D])
            k_desc = tl.make_tensor_descriptor(k + base, [length, D], [H * D, 1], [BN, D])
            v_desc = tl.make_tensor_descriptor(v + base, [length, D], [H * D, 1], [BN, D])
            o_desc = tl.make_tensor_descriptor(o + base, [length, D], [H * D, 1], [BM, D])
            query = q_desc.load([m, 0])
            top = tl.full((BM,), float("-inf"), tl.float32)
            total = tl.zeros((BM,), tl.float32)
            acc = tl.zeros((BM, D), tl.float32)
            rows = m + tl.arange(0, BM)
            for n in range(0, tl.minimum(m + BM, length), BN):
                cols = n + tl.arange(0, BN)
                scores = tl.dot(query, k_desc.load([n, 0]).T) * scale
                scores = tl.where((rows[:, None] >= cols[None, :]) & (cols < length)[None, :], scores, -1e30)
                higher = tl.maximum(top, tl.max(scores, 1))
                p = tl.exp2(scores - higher[:, None])
                keep = tl.exp2(top - higher)
                total = total * keep + tl.sum(p, 1)
                acc = tl.dot(p.to(v.dtype.element_ty), v_desc.load([n, 0]), acc * keep[:, None])
                top = higher
            o_desc.store([m, 0], (acc / total[:, None]).to(o.dtype.element_ty))
        work += tl.cdiv(tl.maximum(count + done - work, 0), SMS) * SMS
        done += count


@case
def nu_varlen_attention(seqs=24, H=16, D=64):
    lengths = [64 + i * 7919 % 900 for i in range(seqs)]
    bounds = [sum(lengths[:i]) for i in range(seqs + 1)]
    q, k, v = (rand(bounds[-1], H, D, dtype=F16) for _ in range(3))
    o = empty(bounds[-1], H, D, dtype=F16)
    scale = D ** -0.5

    def reference():
        parts = []
        for a, b in zip(bounds, bounds[1:]):
            heads = [t[a:b].transpose(0, 1).float() for t in (q, k, v)]
            parts.append(torch.nn.functional.scaled_dot_product_attention(*heads, is_causal=True, scale=scale).transpose(0, 1))
        return (torch.cat(parts),)

    return Case(varlen_attention, (132,), (q, k, v, o, tensor(bounds, I32), seqs, scale * 1.4426950408889634), dict(H=H, D=D, BM=128, BN=64, SMS=132),
                (o,), reference, options=dict(num_warps=8, num_stages=3), flops=sum(2 * n * n * H * D for n in lengths))


@triton.jit
def sums_of_products(a_ptrs, b_ptrs, strides, c, terms, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c = sum of a[i] b[i]: matrices of a list, each with a stride of its own."""
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(terms):
        a_stride, b_stride = tl.load(strides + 2 * i), tl.load(strides + 2 * i + 1)
        a_desc = tl.make_tensor_descriptor(tl.load(a_ptrs + i).to(tl.pointer_type(tl.float16)), [M, K], [a_stride, 1], [BM, BK])
        b_desc = tl.make_tensor_descriptor(tl.load(b_ptrs + i).to(tl.pointer_type(tl.float16)), [K, N], [b_stride, 1], [BK, BN])
        for k in range(0, K, BK):
            acc = tl.dot(a_desc.load([m, k]), b_desc.load([k, n]), acc)
    r, s = m + tl.arange(0, BM), n + tl.arange(0, BN)
    tl.store(c + r[:, None] * N + s[None, :], acc.to(tl.float16), mask=(r < M)[:, None] & (s < N)[None, :])


@case
def nu_sums_of_products(terms=6, M=2000, N=1500, K=760):
    a = [rand(M, K + 8 * i, dtype=F16)[:, :K] for i in range(terms)]
    b = [rand(K, N + 4 + 8 * i, dtype=F16)[:, :N] for i in range(terms)]
    c = empty(M, N, dtype=F16)
    a_ptrs, b_ptrs = (tensor([t.data_ptr() for t in x], torch.int64) for x in (a, b))
    strides = tensor([[x.stride(0), y.stride(0)] for x, y in zip(a, b)], torch.int64)
    return Case(sums_of_products, (triton.cdiv(M, 128), triton.cdiv(N, 128)), (a_ptrs, b_ptrs, strides, c, terms, M, N, K), dict(BM=128, BN=128, BK=64),
                (c,), lambda: (sum(x.float() @ y.float() for x, y in zip(a, b)),), options=dict(num_warps=8, num_stages=3),
                flops=2 * terms * M * N * K)


@triton.jit
def long_convolution(x, w, y, T, batches, C: tl.constexpr, O: tl.constexpr, TAPS: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr, PER: tl.constexpr):
    """A causal convolution along time as products of shifted blocks. Coordinates in front of a sequence are negative."""
    t = tl.program_id(0) * BM
    for b in range(tl.program_id(1) * PER, tl.minimum(tl.program_id(1) * PER + PER, batches)):
        x_desc = tl.make_tensor_descriptor(x + b.to(tl.int64) * T * C, [T, C], [C, 1], [BM, BK])
        y_desc = tl.make_tensor_descriptor(y + b.to(tl.int64) * T * O, [T, O], [O, 1], [BM, O])
        w_desc = tl.make_tensor_descriptor(w, [TAPS * C, O], [O, 1], [BK, O])
        acc = tl.zeros((BM, O), tl.float32)
        for step in range(0, TAPS * C, BK):
            tap = step // C
            acc = tl.dot(x_desc.load([t + tap - TAPS + 1, step % C]), w_desc.load([step, 0]), acc)
        y_desc.store([t, 0], acc.to(y.dtype.element_ty))


@case
def nu_long_convolution(batches=32, T=2050, C=256, O=128, TAPS=4):
    x, w = rand(batches, T, C, dtype=BF16), rand(TAPS, C, O, dtype=BF16)
    y = empty(batches, T, O, dtype=BF16)

    def reference():
        padded = torch.nn.functional.pad(x.float(), (0, 0, TAPS - 1, 0))
        return (sum(padded[:, i:i + T] @ w[i].float() for i in range(TAPS)),)

    return Case(long_convolution, (triton.cdiv(T, 128), batches // 4), (x, w, y, T, batches), dict(C=C, O=O, TAPS=TAPS, BM=128, BK=64, PER=4), (y,),
                reference, options=dict(num_warps=8, num_stages=3), flops=2 * batches * T * C * O * TAPS)
