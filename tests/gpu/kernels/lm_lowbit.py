# SPDX-License-Identifier: Apache-2.0
"""Products of quantized matrices: fp8 with block scales, int8, int4 as AWQ and GPTQ pack it, mxfp4."""
import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, randint, registry, tensor, uniform, zeros

CASES, case = registry()
BF16, F16, F8 = torch.bfloat16, torch.float16, torch.float8_e4m3fn


@triton.jit
def w8a8_block_fp8(A, B, C, As, Bs, M, N, K, stride_am, stride_bn, stride_cm, stride_as_m, stride_as_k, stride_bs_n, GROUP_N: tl.constexpr,
                   BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    """Scales for each token and 128 of K, and for 128x128 of the weight."""
    pid = tl.program_id(axis=0)
    num_pid_m, num_pid_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    pid_m, pid_n = tl.swizzle2d(pid // num_pid_n, pid % num_pid_n, num_pid_m, num_pid_n, GROUP_M)
    offs_am = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_bn = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = A + offs_am[:, None] * stride_am + offs_k[None, :]
    b_ptrs = B + offs_bn[None, :] * stride_bn + offs_k[:, None]
    as_ptrs = As + offs_am * stride_as_m
    bs_ptrs = Bs + offs_bn // GROUP_N * stride_bs_n
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        a_s = tl.load(as_ptrs + k * stride_as_k)
        b_s = tl.load(bs_ptrs + k)
        acc += tl.dot(a, b) * a_s[:, None] * b_s[None, :]
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K
    offs_cm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_mask = (offs_cm[:, None] < M) & (offs_cn[None, :] < N)
    tl.store(C + stride_cm * offs_cm[:, None] + offs_cn[None, :], acc.to(C.dtype.element_ty), mask=c_mask)


def block_fp8_case(M, N, K, bm, warps, stages):
    a, b, c = rand(M, K, dtype=F8), rand(N, K, dtype=F8), empty(M, N, dtype=BF16)
    a_s, b_s = uniform(K // 128, M, low=0.5, high=1.5).T, uniform(N // 128, K // 128, low=0.5, high=1.5)

    def reference():
        x = a.float() * a_s.repeat_interleave(128, 1)
        w = b.float() * b_s.repeat_interleave(128, 0).repeat_interleave(128, 1)
        return (x @ w.T,)

    return Case(w8a8_block_fp8, (triton.cdiv(M, bm) * triton.cdiv(N, 128),),
                (a, b, c, a_s, b_s, M, N, K, K, K, N, *a_s.stride(), K // 128),
                dict(GROUP_N=128, BLOCK_M=bm, BLOCK_N=128, BLOCK_K=128, GROUP_M=16), (c,), reference,
                options=dict(num_warps=warps, num_stages=stages), rtol=2e-2, flops=2 * M * N * K, bytes=N * K)


@case
def lm_fp8_block_scaled(M=4096, N=7168, K=2048):
    return block_fp8_case(M, N, K, 128, 8, 4)


@case
def lm_fp8_block_scaled_decode(M=61, N=24576, K=7168):
    return block_fp8_case(M, N, K, 64, 4, 4)


@triton.jit
def int8_kernel(x_ptr, w_ptr, xs_ptr, ws_ptr, bias_ptr, y_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    n, m = tl.program_id(0) * BN, tl.program_id(1) * BM
    x = tl.make_block_ptr(x_ptr, shape=(M, K), strides=(K, 1), offsets=(m, 0), block_shape=(BM, BK), order=(1, 0))
    w = tl.make_block_ptr(w_ptr, shape=(K, N), strides=(1, K), offsets=(0, n), block_shape=(BK, BN), order=(0, 1))
    acc = tl.zeros((BM, BN), dtype=tl.int32)
    for _ in range(tl.cdiv(K, BK)):
        acc = tl.dot(tl.load(x, boundary_check=(0,)), tl.load(w, boundary_check=(1,)), acc, out_dtype=tl.int32)
        x = x.advance((0, BK))
        w = w.advance((BK, 0))
    rows, cols = m + tl.arange(0, BM), n + tl.arange(0, BN)
    xs = tl.load(xs_ptr + rows, mask=rows < M, other=0.0)
    ws = tl.load(ws_ptr + cols, mask=cols < N, other=0.0)
    bias = tl.load(bias_ptr + cols, mask=cols < N, other=0.0).to(tl.float32)
    y = acc.to(tl.float32) * (xs[:, None] * ws[None, :]) + bias[None, :]
    out = tl.make_block_ptr(y_ptr, shape=(M, N), strides=(N, 1), offsets=(m, n), block_shape=(BM, BN), order=(1, 0))
    tl.store(out, y.to(y_ptr.dtype.element_ty), boundary_check=(0, 1))


@case
def lm_int8_per_token_channel(M=4000, N=6144, K=4096):
    x, w, y = randint(-127, 128, M, K, dtype=torch.int8), randint(-127, 128, N, K, dtype=torch.int8), empty(M, N, dtype=F16)
    xs, ws, bias = uniform(M, low=1e-3, high=2e-3), uniform(N, low=1e-3, high=2e-3), rand(N, dtype=F16)
    return Case(int8_kernel, (triton.cdiv(N, 128), triton.cdiv(M, 128)), (x, w, xs, ws, bias, y, M, N, K), dict(BM=128, BN=128, BK=128), (y,),
                lambda: ((x.double() @ w.double().T * xs.double()[:, None] * ws + bias).float(),),
                options=dict(num_warps=8, num_stages=3), flops=2 * M * N * K)


@triton.jit
def awq_gemm(a_ptr, b_ptr, c_ptr, zeros_ptr, scales_ptr, M, N, K, group_size, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr,
             BLOCK_SIZE_K: tl.constexpr, SPLIT_K: tl.constexpr):
    """int4 packed along N in AWQ's order; partial sums of each split are added up by atomics."""
    pid, pid_z = tl.program_id(0), tl.program_id(1)
    num_pid_n = tl.cdiv(N, BLOCK_SIZE_N)
    pid_m, pid_n = pid // num_pid_n, pid % num_pid_n
    lane = tl.arange(0, BLOCK_SIZE_N) % 8
    shifts = ((lane % 2) * 4 + lane // 2) * 4
    offs_am = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_bn = pid_n * (BLOCK_SIZE_N // 8) + tl.arange(0, BLOCK_SIZE_N // 8)
    offs_n = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    offs_k = pid_z * BLOCK_SIZE_K + tl.arange(0, BLOCK_SIZE_K)
    masks_am = offs_am < M
    a_ptrs = a_ptr + K * offs_am[:, None] + offs_k[None, :]
    b_ptrs = b_ptr + N // 8 * offs_k[:, None] + offs_bn[None, :]
    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_SIZE_K * SPLIT_K)):
        a = tl.load(a_ptrs, mask=masks_am[:, None], other=0.0)
        b = tl.load(b_ptrs)
        b = tl.interleave(b, b)
        b = tl.interleave(b, b)
        b = tl.interleave(b, b)
        group = (BLOCK_SIZE_K * SPLIT_K * k + pid_z * BLOCK_SIZE_K) // group_size
        z = tl.load(zeros_ptr + N // 8 * group + offs_bn)[None, :]
        z = tl.interleave(z, z)
        z = tl.interleave(z, z)
        z = tl.interleave(z, z)
        s = tl.load(scales_ptr + N * group + offs_n)[None, :]
        b = ((b >> shifts[None, :]) & 0xF) - ((z >> shifts[None, :]) & 0xF)
        accumulator = tl.dot(a, b.to(s.dtype) * s, accumulator)
        a_ptrs += BLOCK_SIZE_K * SPLIT_K
        b_ptrs += BLOCK_SIZE_K * SPLIT_K * (N // 8)
    tl.atomic_add(c_ptr + N * offs_am[:, None] + offs_n[None, :], accumulator, mask=masks_am[:, None])


def words(*shape):
    return randint(-2 ** 31, 2 ** 31, *shape)


def nibbles(x, order):
    return (x.unsqueeze(-1) >> tensor([4 * i for i in order], torch.int32)) & 15


@case
def lm_int4_awq_split_k(M=32, N=28672, K=8192, group=128, split=2):
    a, b, c = rand(M, K, dtype=F16), words(K, N // 8), zeros(M, N)
    z, s = words(K // group, N // 8), uniform(K // group, N, low=0.005, high=0.02, dtype=F16)

    def reference():
        order = (0, 4, 1, 5, 2, 6, 3, 7)
        q, zero = nibbles(b, order).view(K, N), nibbles(z, order).view(K // group, N)
        w = (q - zero.repeat_interleave(group, 0)).half() * s.repeat_interleave(group, 0)
        return (a.float() @ w.float(),)

    return Case(awq_gemm, (triton.cdiv(M, 32) * (N // 128), split), (a, b, c, z, s, M, N, K, group),
                dict(BLOCK_SIZE_M=32, BLOCK_SIZE_N=128, BLOCK_SIZE_K=64, SPLIT_K=split), (c,), reference,
                options=dict(num_warps=4, num_stages=4), accumulate=True, bytes=N * K / 2)


@triton.jit
def gptq_kernel(x, qweight, qzeros, scales, g_idx, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """int4 packed along K, with a group for each of K (act-order); zeros are stored less one."""
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    x_at = x + m[:, None] * K + k[None, :]
    w_at = qweight + k[:, None] // 8 * N + n[None, :]
    w_shift = (k[:, None] % 8) * 4
    z_shift = (n[None, :] % 8) * 4
    acc = tl.zeros((BM, BN), tl.float32)
    for i in tl.range(0, K, BK):
        g = tl.load(g_idx + i + k)
        s = tl.load(scales + g[:, None] * N + n[None, :])
        z = tl.load(qzeros + g[:, None] * (N // 8) + n[None, :] // 8)
        q = tl.load(w_at)
        w = ((q >> w_shift) & 15) - (((z >> z_shift) & 15) + 1)
        acc += tl.dot(tl.load(x_at, mask=m[:, None] < M, other=0.0), w.to(tl.float16) * s)
        x_at += BK
        w_at += BK // 8 * N
    tl.store(out + m[:, None] * N + n[None, :], acc.to(tl.float16), mask=m[:, None] < M)


@case
def lm_int4_gptq_act_order(M=60, N=22016, K=4096, group=128):
    x, w, z = rand(M, K, dtype=F16), words(K // 8, N), words(K // group, N // 8)
    s, out = uniform(K // group, N, low=0.005, high=0.02, dtype=F16), empty(M, N, dtype=F16)
    g = (torch.argsort(torch.rand(K, device=DEVICE)) // group).to(torch.int32)

    def reference():
        q = nibbles(w, range(8)).permute(0, 2, 1).reshape(K, N)
        zero = nibbles(z, range(8)).view(K // group, N)[g.long()] + 1
        return (x.float() @ ((q - zero).half() * s[g.long()]).float(),)

    return Case(gptq_kernel, (N // 64, triton.cdiv(M, 64)), (x, w, z, s, g, out, M, N, K), dict(BM=64, BN=64, BK=64), (out,), reference,
                options=dict(num_warps=4, num_stages=3), bytes=N * K / 2)


@triton.jit
def mxfp4_scaled(x_ptr, w_ptr, s_ptr, y_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """bf16 times e2m1 with e8m0 scales of 32, by dot_scaled."""
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    k, half, group = tl.arange(0, BK), tl.arange(0, BK // 2), tl.arange(0, BK // 32)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        x = tl.load(x_ptr + m[:, None] * K + i + k[None, :], mask=m[:, None] < M, other=0.0)
        w = tl.load(w_ptr + n[None, :] * (K // 2) + i // 2 + half[:, None])
        s = tl.load(s_ptr + n[:, None] * (K // 32) + i // 32 + group[None, :])
        acc = tl.dot_scaled(x, None, "bf16", w, s, "e2m1", acc)
    tl.store(y_ptr + m[:, None] * N + n[None, :], acc.to(tl.bfloat16), mask=m[:, None] < M)


@triton.jit
def e2m1_to_bf16(q):
    """Nibbles by bits: the exponent and mantissa go where bf16 has them, and 2**126 mends the bias, subnormals included."""
    bits = ((q & 8) << 12) | ((q & 7) << 6)
    return bits.to(tl.int16).to(tl.bfloat16, bitcast=True)


@triton.jit
def mxfp4_bits(x_ptr, w_ptr, s_ptr, y_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The same by hand: nibbles and scales become bf16, the halves are joined."""
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    k, half = tl.arange(0, BK), tl.arange(0, BK // 2)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        x = tl.load(x_ptr + m[:, None] * K + i + k[None, :], mask=m[:, None] < M, other=0.0)
        q = tl.load(w_ptr + n[:, None] * (K // 2) + i // 2 + half[None, :]).to(tl.int32)
        s = tl.load(s_ptr + n[:, None] * (K // 32) + (i + k[None, :]) // 32).to(tl.int32)
        w = tl.interleave(e2m1_to_bf16(q), e2m1_to_bf16(q >> 4)).to(tl.float32)
        w = w * 8.507059173023462e37 * (s << 23).to(tl.float32, bitcast=True)
        acc = tl.dot(x, w.to(tl.bfloat16).T, acc)
    tl.store(y_ptr + m[:, None] * N + n[None, :], acc.to(tl.bfloat16), mask=m[:, None] < M)


def mxfp4_case(kernel, M, N, K, bm, bn, bk, warps, stages):
    x, w, s = rand(M, K, dtype=BF16), randint(0, 256, N, K // 2, dtype=torch.uint8), randint(120, 128, N, K // 32, dtype=torch.uint8)
    y = empty(M, N, dtype=BF16)

    def reference():
        values = tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], torch.float32)
        q = torch.stack((w & 15, w >> 4), 2).view(N, K)
        return (x.float() @ (values[q.long()] * torch.exp2(s.float() - 127).repeat_interleave(32, 1)).T,)

    return Case(kernel, (N // bn, triton.cdiv(M, bm)), (x, w, s, y, M, N, K), dict(BM=bm, BN=bn, BK=bk), (y,), reference,
                options=dict(num_warps=warps, num_stages=stages), flops=2 * M * N * K, bytes=N * K / 2)


@case
def lm_mxfp4_dot_scaled(M=2048, N=5760, K=2944):
    return mxfp4_case(mxfp4_scaled, M, N, K, 128, 128, 64, 8, 3)


@case
def lm_mxfp4_by_bits(M=30, N=23040, K=5888):
    return mxfp4_case(mxfp4_bits, M, N, K, 32, 64, 128, 4, 3)
