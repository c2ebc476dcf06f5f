# SPDX-License-Identifier: Apache-2.0
"""Mixtures of experts: gates, sorting of tokens, grouped products and what combines their results."""
import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, registry, uniform, zeros

CASES, case = registry()
BF16 = torch.bfloat16


def choices(tokens, experts, k):
    """Different experts for each token, and how many each expert gets."""
    ids = torch.argsort(torch.rand(tokens, experts, device=DEVICE), 1)[:, :k].to(torch.int32).contiguous()
    counts = torch.zeros(experts, dtype=torch.int64, device=DEVICE)
    flat = ids.view(-1).long()
    return ids, flat, counts.scatter_add_(0, flat, torch.ones_like(flat))


def align(tokens, experts, k, block):
    """Token slots sorted by expert, each expert's padded to whole blocks."""
    _, flat, counts = choices(tokens, experts, k)
    padded = (counts + block - 1) // block * block
    ends = padded.cumsum(0)
    order = torch.argsort(flat, stable=True)
    mine = flat[order]
    at = (ends - padded)[mine] + torch.arange(flat.numel(), device=DEVICE) - (counts.cumsum(0) - counts)[mine]
    blocks = triton.cdiv(tokens * k + experts * (block - 1), block)
    slots = torch.full((blocks * block,), tokens * k, dtype=torch.int64, device=DEVICE).scatter_(0, at, order)
    owner = (ends[None, :] <= torch.arange(blocks, device=DEVICE)[:, None] * block).sum(1).clamp(max=experts - 1)
    return flat, slots.to(torch.int32), owner.to(torch.int32), ends[-1:].to(torch.int32), blocks


@triton.jit
def fused_moe_kernel(a_ptr, b_ptr, c_ptr, topk_weights_ptr, sorted_token_ids_ptr, expert_ids_ptr, num_tokens_post_padded_ptr, N, K, EM,
                     num_valid_tokens, stride_am, stride_be, stride_bn, stride_cm, MUL_ROUTED_WEIGHT: tl.constexpr, top_k: tl.constexpr,
                     BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr, GROUP_SIZE_M: tl.constexpr):
    pid = tl.program_id(axis=0)
    num_pid_m, num_pid_n = tl.cdiv(EM, BLOCK_SIZE_M), tl.cdiv(N, BLOCK_SIZE_N)
    num_pid_in_group = GROUP_SIZE_M * num_pid_n
    first_pid_m = pid // num_pid_in_group * GROUP_SIZE_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_SIZE_M)
    pid_m = first_pid_m + (pid % num_pid_in_group) % group_size_m
    pid_n = (pid % num_pid_in_group) // group_size_m
    if pid_m * BLOCK_SIZE_M >= tl.load(num_tokens_post_padded_ptr):
        return
    offs_token = tl.load(sorted_token_ids_ptr + pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)).to(tl.int64)
    token_mask = offs_token < num_valid_tokens
    off_expert = tl.load(expert_ids_ptr + pid_m).to(tl.int64)
    offs_bn = (pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N).to(tl.int64)) % N
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    a_ptrs = a_ptr + (offs_token[:, None] // top_k * stride_am + offs_k[None, :])
    b_ptrs = b_ptr + off_expert * stride_be + (offs_k[:, None] + offs_bn[None, :] * stride_bn)
    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_SIZE_K)):
        a = tl.load(a_ptrs, mask=token_mask[:, None] & (offs_k[None, :] < K - k * BLOCK_SIZE_K), other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_SIZE_K, other=0.0)
        accumulator += tl.dot(a, b)
        a_ptrs += BLOCK_SIZE_K
        b_ptrs += BLOCK_SIZE_K
    if MUL_ROUTED_WEIGHT:
        accumulator *= tl.load(topk_weights_ptr + offs_token, mask=token_mask, other=0)[:, None]
    offs_cn = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    c_ptrs = c_ptr + stride_cm * offs_token[:, None] + offs_cn[None, :]
    tl.store(c_ptrs, accumulator.to(c_ptr.dtype.element_ty), mask=token_mask[:, None] & (offs_cn[None, :] < N))


def fused_moe_case(tokens, k, experts, N, K, second, bm, warps, stages):
    flat, slots, owner, total, blocks = align(tokens, experts, k, bm)
    rows = tokens * k if second else tokens
    a, b, c = rand(rows, K, dtype=BF16), rand(experts, N, K, dtype=BF16), empty(tokens * k, N, dtype=BF16)
    w = uniform(tokens * k)

    def reference():
        x = a.float() if second else a.float().repeat_interleave(k, 0)
        out = torch.zeros(tokens * k, N, device=DEVICE)
        for e in range(experts):
            chosen = (flat == e).nonzero()[:, 0]
            out[chosen] = x[chosen] @ b[e].float().T
        return (out * w[:, None] if second else out,)

    return Case(fused_moe_kernel, (blocks * triton.cdiv(N, 128),),
                (a, b, c, w, slots, owner, total, N, K, blocks * bm, tokens * k, K, N * K, K, N),
                dict(MUL_ROUTED_WEIGHT=second, top_k=1 if second else k, BLOCK_SIZE_M=bm, BLOCK_SIZE_N=128, BLOCK_SIZE_K=64, GROUP_SIZE_M=8), (c,),
                reference, options=dict(num_warps=warps, num_stages=stages), flops=2 * tokens * k * N * K)


@case
def lm_moe_gate_up(tokens=4096, k=8, experts=128, N=1536, K=2048):
    return fused_moe_case(tokens, k, experts, N, K, False, 64, 4, 4)


@case
def lm_moe_down(tokens=2048, k=4, experts=32, N=2880, K=2880):
    return fused_moe_case(tokens, k, experts, N, K, True, 128, 8, 3)


@case
def lm_moe_decode(tokens=64, k=8, experts=128, N=1536, K=2048):
    return fused_moe_case(tokens, k, experts, N, K, False, 16, 4, 4)


@triton.jit
def grouped_persistent(x_ptr, w_ptr, y_ptr, ends_ptr, rows, E, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Rows of each expert lie together; every program walks over all experts and takes its tiles."""
    w = tl.make_tensor_descriptor(w_ptr, [E * N, K], [K, 1], [BN, BK])
    across = tl.cdiv(N, BN)
    tile = tl.program_id(0)
    before = 0
    start = 0
    for e in range(E):
        end = tl.load(ends_ptr + e)
        after = before + tl.cdiv(end - start, BM) * across
        if tile < after:
            x = tl.make_tensor_descriptor(x_ptr + start.to(tl.int64) * K, [end - start, K], [K, 1], [BM, BK])
            while tile < after:
                row, col = (tile - before) // across, (tile - before) % across
                acc = tl.zeros((BM, BN), tl.float32)
                for k in range(0, K, BK):
                    acc = tl.dot(x.load([row * BM, k]), w.load([e * N + col * BN, k]).T, acc)
                m = start + row * BM + tl.arange(0, BM)
                n = col * BN + tl.arange(0, BN)
                tl.store(y_ptr + m.to(tl.int64)[:, None] * N + n[None, :], acc.to(y_ptr.dtype.element_ty),
                         mask=(m < end)[:, None] & (n < N)[None, :])
                tile += tl.num_programs(0)
        before = after
        start = end


@case
def lm_grouped_gemm_persistent(tokens=4096, k=2, experts=16, N=3584, K=2048, programs=132):
    counts = choices(tokens, experts, k)[2]
    ends = counts.cumsum(0).to(torch.int32)
    rows = tokens * k
    x, w, y = rand(rows, K, dtype=BF16), rand(experts, N, K, dtype=BF16), empty(rows, N, dtype=BF16)

    def reference():
        out, start = torch.empty(rows, N, device=DEVICE), 0
        for e, end in enumerate(ends.tolist()):
            out[start:end] = x[start:end].float() @ w[e].float().T
            start = end
        return (out,)

    return Case(grouped_persistent, (programs,), (x, w, y, ends, rows, experts, N, K), dict(BM=128, BN=128, BK=64), (y,), reference,
                options=dict(num_warps=8, num_stages=4), flops=2 * rows * N * K)


@triton.jit
def grouped_wgrad(X, DY, DW, Ends, N, K, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_T: tl.constexpr):
    e = tl.program_id(2)
    start = tl.load(Ends + e - 1, mask=e > 0, other=0)
    stop = tl.load(Ends + e)
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.program_id(1) * BLOCK_K + tl.arange(0, BLOCK_K)
    acc = tl.zeros([BLOCK_N, BLOCK_K], dtype=tl.float32)
    for at in range(start, stop, BLOCK_T):
        t = at + tl.arange(0, BLOCK_T)
        dy = tl.load(DY + t[None, :].to(tl.int64) * N + n[:, None], mask=(t[None, :] < stop) & (n[:, None] < N), other=0.)
        x = tl.load(X + t[:, None].to(tl.int64) * K + k[None, :], mask=(t[:, None] < stop) & (k[None, :] < K), other=0.)
        acc += tl.dot(dy, x)
    tl.store(DW + e.to(tl.int64) * N * K + n[:, None] * K + k[None, :], acc, mask=(n[:, None] < N) & (k[None, :] < K))


@case
def lm_grouped_wgrad(tokens=8192, k=2, experts=16, N=1408, K=2048):
    ends = choices(tokens, experts, k)[2].cumsum(0).to(torch.int32)
    x, dy, dw = rand(tokens * k, K, dtype=BF16), rand(tokens * k, N, dtype=BF16), empty(experts, N, K)

    def reference():
        bounds = [0] + ends.tolist()
        return (torch.stack([dy[i:j].float().T @ x[i:j].float() for i, j in zip(bounds, bounds[1:])]),)

    return Case(grouped_wgrad, (triton.cdiv(N, 128), triton.cdiv(K, 128), experts), (x, dy, dw, ends, N, K),
                dict(BLOCK_N=128, BLOCK_K=128, BLOCK_T=64), (dw,), reference, options=dict(num_warps=8, num_stages=3),
                flops=2 * tokens * k * N * K)


@triton.jit
def topk_softmax(logits_ptr, weights_ptr, ids_ptr, tokens, E: tl.constexpr, K: tl.constexpr, ROWS: tl.constexpr, K_PAD: tl.constexpr):
    t = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    e = tl.arange(0, E)
    x = tl.load(logits_ptr + t[:, None] * E + e[None, :], mask=t[:, None] < tokens, other=0.0)
    slot = tl.arange(0, K_PAD)
    best = tl.full((ROWS, K_PAD), float("-inf"), tl.float32)
    which = tl.zeros((ROWS, K_PAD), tl.int32)
    for i in tl.static_range(K):
        top, at = tl.max(x, axis=1, return_indices=True)
        best = tl.where(slot[None, :] == i, top[:, None], best)
        which = tl.where(slot[None, :] == i, at[:, None], which)
        x = tl.where(e[None, :] == at[:, None], float("-inf"), x)
    p = tl.softmax(best, dim=1, keep_dims=True)
    keep = (t[:, None] < tokens) & (slot[None, :] < K)
    tl.store(weights_ptr + t[:, None] * K + slot[None, :], p, mask=keep)
    tl.store(ids_ptr + t[:, None] * K + slot[None, :], which, mask=keep)


@case
def lm_gate_topk_softmax(tokens=65536, E=128, k=8):
    x, w, ids = rand(tokens, E), empty(tokens, k), empty(tokens, k, dtype=torch.int32)

    def reference():
        top, at = torch.topk(x, k, 1)
        return torch.softmax(top, 1), at

    return Case(topk_softmax, (triton.cdiv(tokens, 8),), (x, w, ids, tokens), dict(E=E, K=k, ROWS=8, K_PAD=triton.next_power_of_2(k)), (w, ids),
                reference, options=dict(num_warps=4), bytes=tokens * E * 4)


@triton.jit
def grouped_sigmoid_gate(Logits, Bias, Weights, Ids, scale, E: tl.constexpr, G: tl.constexpr, TOP_G: tl.constexpr, TOP_K: tl.constexpr):
    """A token for each program: groups are chosen by the sum of their two best, experts by score and bias, weights by score."""
    t = tl.program_id(0)
    inner: tl.constexpr = E // G
    g = tl.arange(0, G)[:, None]
    e = g * inner + tl.arange(0, inner)[None, :]
    score = tl.sigmoid(tl.load(Logits + t.to(tl.int64) * E + e))
    biased = score + tl.load(Bias + e)
    first = tl.max(biased, axis=1)
    at = tl.argmax(biased, axis=1)
    second = tl.max(tl.where(tl.arange(0, inner)[None, :] == at[:, None], -float("inf"), biased), axis=1)
    group = first + second
    allowed = tl.zeros((G,), tl.int32)
    for _ in tl.static_range(TOP_G):
        i = tl.argmax(group, axis=0)
        allowed = tl.where(tl.arange(0, G) == i, 1, allowed)
        group = tl.where(tl.arange(0, G) == i, -float("inf"), group)
    flat = tl.reshape(tl.where(allowed[:, None] > 0, biased, -float("inf")), (E,))
    score = tl.reshape(score, (E,))
    slot = tl.arange(0, TOP_K)
    chosen, weight = tl.zeros((TOP_K,), tl.int32), tl.zeros((TOP_K,), tl.float32)
    for i in tl.static_range(TOP_K):
        at = tl.argmax(flat, axis=0)
        chosen = tl.where(slot == i, at, chosen)
        weight = tl.where(slot == i, tl.sum(tl.where(tl.arange(0, E) == at, score, 0.0), axis=0), weight)
        flat = tl.where(tl.arange(0, E) == at, -float("inf"), flat)
    tl.store(Ids + t * TOP_K + slot, chosen)
    tl.store(Weights + t * TOP_K + slot, weight / tl.sum(weight, axis=0) * scale)


@case
def lm_gate_grouped_sigmoid(tokens=16384, E=256, groups=8, top=4, k=8):
    x, bias, w, ids = rand(tokens, E), rand(E, scale=0.1), empty(tokens, k), empty(tokens, k, dtype=torch.int32)

    def reference():
        score = torch.sigmoid(x)
        biased = (score + bias).view(tokens, groups, -1)
        best = torch.topk(torch.topk(biased, 2, 2)[0].sum(2), top, 1)[1]
        allowed = torch.zeros(tokens, groups, dtype=torch.bool, device=DEVICE).scatter_(1, best, True)
        at = torch.topk(biased.masked_fill(~allowed[:, :, None], float("-inf")).view(tokens, E), k, 1)[1]
        weight = score.gather(1, at)
        return weight / weight.sum(1, keepdim=True) * 2.5, at

    return Case(grouped_sigmoid_gate, (tokens,), (x, bias, w, ids, 2.5), dict(E=E, G=groups, TOP_G=top, TOP_K=k), (w, ids), reference,
                options=dict(num_warps=1), bytes=tokens * E * 4)


@triton.jit
def combine_topk(y_ptr, at_ptr, w_ptr, shared_ptr, out_ptr, D, K: tl.constexpr, BLOCK: tl.constexpr):
    """out = shared expert + the weighted rows of a token's experts, which lie where they were sorted to."""
    t = tl.program_id(0).to(tl.int64)
    d = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.load(shared_ptr + t * D + d, mask=d < D, other=0.0).to(tl.float32)
    for k in tl.static_range(K):
        row = tl.load(at_ptr + t * K + k).to(tl.int64)
        if row >= 0:  # else dropped
            acc += tl.load(w_ptr + t * K + k) * tl.load(y_ptr + row * D + d, mask=d < D, other=0.0).to(tl.float32)
    tl.store(out_ptr + t * D + d, acc.to(out_ptr.dtype.element_ty), mask=d < D)


@case
def lm_moe_combine(tokens=8192, k=8, D=2880):
    y, w, shared, out = rand(tokens * k, D, dtype=BF16), uniform(tokens, k), rand(tokens, D, dtype=BF16), empty(tokens, D, dtype=BF16)
    at = torch.argsort(torch.rand(tokens * k, device=DEVICE)).view(tokens, k)
    at = torch.where(torch.rand(tokens, k, device=DEVICE) < 0.05, -1, at).to(torch.int32)

    def reference():
        total = shared.float()
        for i in range(k):
            total += torch.where(at[:, i:i + 1] >= 0, w[:, i:i + 1], 0.0) * y[at[:, i].long().clamp(min=0)].float()
        return (total,)

    return Case(combine_topk, (tokens, triton.cdiv(D, 1024)), (y, at, w, shared, out, D), dict(K=k, BLOCK=1024), (out,), reference,
                options=dict(num_warps=4), bytes=tokens * D * 2 * (k + 2))
