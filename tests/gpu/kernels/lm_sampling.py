# SPDX-License-Identifier: Apache-2.0
"""Sampling: penalties, exponential races, top-p, and verification of drafts."""
import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, randint, registry, uniform

CASES, case = registry()
BF16 = torch.bfloat16


@triton.jit
def penalize_and_sample(logits_ptr, counts_ptr, prompt_ptr, noise_ptr, temperature_ptr, out_ptr, token_ptr, V, repetition, frequency,
                        presence, BLOCK: tl.constexpr):
    """Penalties of what was said, then the exponential race: the largest of probability over noise."""
    row = tl.program_id(0)
    base = row.to(tl.int64) * V
    t = tl.load(temperature_ptr + row)
    best = float("-inf")
    token = 0
    for start in range(0, V, BLOCK):
        i = start + tl.arange(0, BLOCK)
        ok = i < V
        x = tl.load(logits_ptr + base + i, mask=ok, other=0.0).to(tl.float32)
        c = tl.load(counts_ptr + base + i, mask=ok, other=0)
        seen = (c > 0) | (tl.load(prompt_ptr + base + i, mask=ok, other=0) != 0)
        x = tl.where(seen, tl.where(x > 0, x / repetition, x * repetition), x)
        x -= frequency * c + presence * (c > 0).to(tl.float32)
        tl.store(out_ptr + base + i, x, mask=ok)
        score = x / t - tl.log(tl.load(noise_ptr + base + i, mask=ok, other=1.0))
        top, at = tl.max(tl.where(ok, score, float("-inf")), axis=0, return_indices=True)
        if top > best:
            best = top
            token = start + at
    tl.store(token_ptr + row, token)


@case
def lm_penalties_gumbel_sample(rows=256, V=128256):
    x, noise, t = rand(rows, V, dtype=BF16, scale=3.0), -torch.log(uniform(rows, V, low=1e-6, high=0.999)), uniform(rows, low=0.6, high=1.2)
    counts, prompt = (randint(0, 40, rows, V) - 36).clamp(min=0), randint(0, 20, rows, V).clamp(min=18) - 18
    prompt, out, token = prompt.to(torch.int8), empty(rows, V), empty(rows, dtype=torch.int32)

    def reference():
        y = x.float()
        y = torch.where((counts > 0) | (prompt > 0), torch.where(y > 0, y / 1.1, y * 1.1), y) - 0.2 * counts - 0.3 * (counts > 0)
        return y, (y / t[:, None] - torch.log(noise)).argmax(1)

    return Case(penalize_and_sample, (rows,), (x, counts, prompt, noise, t, out, token, V, 1.1, 0.2, 0.3), dict(BLOCK=4096), (out, token),
                reference, options=dict(num_warps=8), bytes=rows * V * 15)


@triton.jit
def top_p_probs(logits_ptr, p_ptr, out_ptr, V, BLOCK: tl.constexpr, HALVINGS: tl.constexpr):
    """The threshold is found by halving; the rest become zero and the kept sum to one."""
    row = tl.program_id(0).to(tl.int64) * V
    want = tl.load(p_ptr + tl.program_id(0))
    i = tl.arange(0, BLOCK)
    tops = tl.full((BLOCK,), float("-inf"), tl.float32)
    for start in range(0, V, BLOCK):
        tops = tl.maximum(tops, tl.load(logits_ptr + row + start + i, mask=start + i < V, other=float("-inf")).to(tl.float32))
    top = tl.max(tops, 0)
    low, high = top - 40.0, top + 1.0
    total = 0.0
    kept = 0.0
    for step in range(HALVINGS + 1):
        middle = tl.where(step == 0, low, (low + high) * 0.5)
        sums = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, V, BLOCK):
            x = tl.load(logits_ptr + row + start + i, mask=start + i < V, other=float("-inf")).to(tl.float32)
            sums += tl.where(x >= middle, tl.exp(x - top), 0.0)
        mass = tl.sum(sums, 0)
        total = tl.where(step == 0, mass, total)
        enough = mass >= want * total
        low, high = tl.where(enough, middle, low), tl.where(enough, high, middle)
        kept = tl.where(enough, mass, kept)
    for start in range(0, V, BLOCK):
        x = tl.load(logits_ptr + row + start + i, mask=start + i < V, other=float("-inf")).to(tl.float32)
        tl.store(out_ptr + row + start + i, tl.where(x >= low, tl.exp(x - top) / kept, 0.0), mask=start + i < V)


@case
def lm_top_p_halving(rows=128, V=151936):
    x, p, out = rand(rows, V, dtype=BF16, scale=4.0), uniform(rows, low=0.5, high=0.95), empty(rows, V)

    def reference():
        probs = torch.softmax(x.double(), 1)
        down, order = torch.sort(probs, 1, descending=True)
        last = ((down.cumsum(1) - down) < p[:, None]).sum(1, keepdim=True) - 1
        kept = torch.where(probs >= down.gather(1, last), probs, 0.0)
        return ((kept / kept.sum(1, keepdim=True)).float(),)

    return Case(top_p_probs, (rows,), (x, p, out, V), dict(BLOCK=8192, HALVINGS=24), (out,), reference, options=dict(num_warps=16),
                bytes=rows * V * 6)


@triton.jit
def verify_drafts(target_ptr, draft_ptr, ids_ptr, u_ptr, noise_ptr, out_ptr, count_ptr, V, S: tl.constexpr, BLOCK: tl.constexpr):
    """Accepts draft tokens while u * q <= p; then one more from max(p - q, 0), or from p where all were accepted."""
    b = tl.program_id(0).to(tl.int64)
    n = 0
    going = True
    while going & (n < S):
        token = tl.load(ids_ptr + b * S + n)
        p = tl.load(target_ptr + (b * (S + 1) + n) * V + token)
        q = tl.load(draft_ptr + (b * S + n) * V + token)
        going = tl.load(u_ptr + b * S + n) * q <= p
        if going:
            tl.store(out_ptr + b * (S + 1) + n, token)
            n += 1
    best, chosen = -1.0, 0
    for start in range(0, V, BLOCK):
        i = start + tl.arange(0, BLOCK)
        p = tl.load(target_ptr + (b * (S + 1) + n) * V + i, mask=i < V, other=0.0)
        q = tl.load(draft_ptr + (b * S + n) * V + i, mask=(i < V) & (n < S), other=0.0)
        score = tl.maximum(p - q, 0.0) / tl.load(noise_ptr + b * V + i, mask=i < V, other=1.0)
        top, at = tl.max(score, 0, return_indices=True)
        chosen = tl.where(top > best, start + at, chosen)
        best = tl.maximum(best, top)
    tl.store(out_ptr + b * (S + 1) + n, chosen)
    for i in range(n + 1, S + 1):
        tl.store(out_ptr + b * (S + 1) + i, -1)
    tl.store(count_ptr + b, n)


@case
def lm_verify_drafts(B=192, S=3, V=128256):
    target, draft = (torch.softmax(rand(B, s, V, scale=2.0), 2) for s in (S + 1, S))
    ids, u, noise = randint(0, V, B, S), uniform(B, S), -torch.log(uniform(B, V, low=1e-6, high=0.999))
    out, count = empty(B, S + 1, dtype=torch.int32), empty(B, dtype=torch.int32)

    def reference():
        p, q = (z[:, :S].gather(2, ids.long()[:, :, None])[:, :, 0] for z in (target, draft))
        n = (u * q <= p).long().cumprod(1).sum(1)
        at = torch.arange(B, device=DEVICE)
        rest = torch.where((n < S)[:, None], (target[at, n] - draft[at, n.clamp(max=S - 1)]).clamp(min=0), target[at, n])
        slot = torch.arange(S + 1, device=DEVICE)[None]
        tokens = torch.where(slot < n[:, None], torch.nn.functional.pad(ids, (0, 1)), -1)
        return torch.where(slot == n[:, None], (rest / noise).argmax(1)[:, None], tokens), n

    return Case(verify_drafts, (B,), (target, draft, ids, u, noise, out, count, V), dict(S=S, BLOCK=4096), (out, count), reference,
                options=dict(num_warps=8), bytes=B * V * 12)
