# SPDX-License-Identifier: Apache-2.0
"""Prefix sums, radix passes, hash tables, graphs, segments, jagged and blocked products."""
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from case import DEVICE, Case, empty, rand, randint, registry, uniform, zeros

CASES, case = registry()
F16, I32, I64 = torch.float16, torch.int32, torch.int64


def describe(x, *block):
    return TensorDescriptor(x, list(x.shape), list(x.stride()), list(block))


def lengths_of(rows, spread):
    """Lengths from 0 to spread - 1 in no visible order, their offsets and their sum."""
    lengths = torch.arange(rows, device=DEVICE) * 7919 % spread
    offsets = torch.cat((torch.zeros(1, device=DEVICE, dtype=I64), lengths.cumsum(0)))
    return lengths, offsets.to(I32), sum(i * 7919 % spread for i in range(rows))


@triton.jit
def look_back(x, y, ticket, state, n, BLOCK: tl.constexpr):
    """A prefix sum in one pass: a block waits for the sums before it. A word holds a round's number, a flag and a sum.

    Tickets go on from launch to launch, so that nothing has to be cleared.
    """
    blocks = tl.num_programs(0)
    mine = tl.atomic_add(ticket, 1)
    block, turn = mine % blocks, (mine // blocks + 1).to(tl.int64)
    i = block * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    inside = tl.cumsum(v, axis=0)
    total = tl.sum(v, axis=0).to(tl.int64)
    if block == 0:
        tl.atomic_xchg(state, (turn << 34) | (2 << 32) | total)
    else:
        tl.atomic_xchg(state + block, (turn << 34) | (1 << 32) | total)
    before = tl.zeros((), tl.int64)
    back = block - 1
    while back >= 0:
        word = tl.atomic_add(state + back, 0)
        while (word >> 34) != turn:
            word = tl.atomic_add(state + back, 0)
        before += word & 0xFFFFFFFF
        back = tl.where(((word >> 32) & 3) == 2, -1, back - 1)
    if block > 0:
        tl.atomic_xchg(state + block, (turn << 34) | (2 << 32) | (before + total))
    tl.store(y + i, inside + before.to(tl.int32), mask=i < n)


@case
def nk_scan_look_back(n=20000000, block=8192):
    x, y, ticket = randint(0, 100, n), empty(n, dtype=I32), zeros(1, dtype=I32)
    state = zeros(triton.cdiv(n, block), dtype=I64)
    return Case(look_back, (triton.cdiv(n, block),), (x, y, ticket, state, n), dict(BLOCK=block), (y,), lambda: (x.cumsum(0),), rtol=1e-9,
                options=dict(num_warps=8), bytes=8 * n)


@triton.jit
def radix_count(keys, counts, n, SHIFT: tl.constexpr, BITS: tl.constexpr, BLOCK: tl.constexpr, PER: tl.constexpr):
    """How many keys of a block have each digit; digits lie before blocks. The edge by the histogram's mask."""
    pid = tl.program_id(0)
    found = tl.zeros((1 << BITS,), tl.int32)
    for j in range(PER):
        i = (pid * PER + j) * BLOCK + tl.arange(0, BLOCK)
        key = tl.load(keys + i, mask=i < n, other=0).to(tl.uint32, bitcast=True)
        digit = (key >> SHIFT) & ((1 << BITS) - 1)
        found += tl.histogram(digit.to(tl.int32), 1 << BITS, mask=i < n)
    tl.store(counts + tl.arange(0, 1 << BITS) * tl.num_programs(0) + pid, found)


@case
def nk_radix_count(n=30000001, block=1024, per=8):
    blocks = triton.cdiv(n, block * per)
    keys, counts = randint(-2**31, 2**31, n), empty(256, blocks, dtype=I32)

    def reference():
        digit = (keys.long() >> 8) & 255
        place = digit * blocks + torch.arange(n, device=DEVICE) // (block * per)
        return (torch.bincount(place, minlength=256 * blocks),)

    return Case(radix_count, (blocks,), (keys, counts, n), dict(SHIFT=8, BITS=8, BLOCK=block, PER=per), (counts,), reference, rtol=1e-9,
                options=dict(num_warps=4), bytes=4 * n)


@triton.jit
def radix_scatter(keys, payload, starts, keys_out, payload_out, n, SHIFT: tl.constexpr, BITS: tl.constexpr, BLOCK: tl.constexpr):
    """Puts keys and payloads where their digit begins plus their rank in the block, from running counts of a one-hot block."""
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    digits = tl.arange(0, 1 << BITS)
    key = tl.load(keys + i, mask=i < n, other=0)
    digit = (key.to(tl.uint32, bitcast=True) >> SHIFT).to(tl.int32) & ((1 << BITS) - 1)
    hot = ((digit[:, None] == digits[None, :]) & (i < n)[:, None]).to(tl.int32)
    rank = tl.cumsum(hot, axis=0) - hot
    begin = tl.load(starts + digits * tl.num_programs(0) + pid)
    place = tl.sum(hot * (rank + begin[None, :]), axis=1)
    tl.store(keys_out + place, key, mask=i < n)
    tl.store(payload_out + place, tl.load(payload + i, mask=i < n), mask=i < n)


@case
def nk_radix_scatter(n=8000001, block=512, shift=4):
    blocks = triton.cdiv(n, block)
    keys, payload = randint(-2**31, 2**31, n), randint(0, 2**31 - 1, n)
    digit = (keys.long() >> shift) & 15
    place = digit * blocks + torch.arange(n, device=DEVICE) // block
    counts = zeros(16 * blocks, dtype=I64).index_add_(0, place, torch.ones_like(place))
    starts = (counts.cumsum(0) - counts).to(I32)
    out = empty(n, dtype=I32), empty(n, dtype=I32)

    def reference():
        order = torch.sort(digit, stable=True)[1]
        return keys[order], payload[order]

    return Case(radix_scatter, (blocks,), (keys, payload, starts, *out, n), dict(SHIFT=shift, BITS=4, BLOCK=block), out, reference, rtol=1e-9,
                options=dict(num_warps=4), bytes=16 * n)


@triton.jit
def distinct(keys, tables, many, LOG: tl.constexpr, BLOCK: tl.constexpr):
    """Distinct keys of each block: an open hash table that is cleared, filled by compare-and-swap and probed until all keys are in."""
    pid = tl.program_id(0)
    SIZE: tl.constexpr = 1 << LOG
    table = tables + pid * SIZE
    tl.store(table + tl.arange(0, SIZE), tl.full((SIZE,), -1, tl.int32))
    tl.debug_barrier()
    key = tl.load(keys + pid * BLOCK + tl.arange(0, BLOCK))
    slot = ((key.to(tl.uint32, bitcast=True) * 2654435769) >> (32 - LOG)).to(tl.int32)
    waiting = key >= 0
    added = tl.zeros((BLOCK,), tl.int32)
    while tl.max(waiting.to(tl.int32), axis=0) > 0:
        seen = tl.atomic_cas(table + slot, tl.where(waiting, -1, -2), key, sem="relaxed")
        added += (waiting & (seen == -1)).to(tl.int32)
        waiting = waiting & (seen != -1) & (seen != key)
        slot = (slot + 1) & (SIZE - 1)
    tl.store(many + pid, tl.sum(added, axis=0))


@case
def nk_distinct_by_cas(blocks=4000, block=1024, log=12):
    keys, tables, many = randint(0, 3000, blocks, block), empty(blocks, 1 << log, dtype=I32), empty(blocks, dtype=I32)

    def reference():
        s = keys.sort(1)[0]
        return ((s[:, 1:] != s[:, :-1]).sum(1) + 1,)

    return Case(distinct, (blocks,), (keys, tables, many), dict(LOG=log, BLOCK=block), (many,), reference, rtol=1e-9, options=dict(num_warps=4))


@triton.jit
def find_roots(parent, root, depth, n, BLOCK: tl.constexpr):
    """Follows parents until nothing changes: a while loop as long as the deepest lane needs."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.where(i < n, i, 0)
    steps = tl.zeros((BLOCK,), tl.int32)
    above = tl.load(parent + at)
    while tl.max((above != at).to(tl.int32), axis=0) != 0:
        steps += (above != at).to(tl.int32)
        at = above
        above = tl.load(parent + at)
    tl.store(root + i, at, mask=i < n)
    tl.store(depth + i, steps, mask=i < n)


@case
def nk_find_roots(n=4000000, back=400000):
    i = torch.arange(n, device=DEVICE)
    parent = (i - randint(1, back, n, dtype=I64)).clamp_min(-1)
    parent = torch.where(parent < 0, i, parent).to(I32)
    root, depth = empty(n, dtype=I32), empty(n, dtype=I32)

    def reference():
        at, steps = i, torch.zeros_like(i)
        while True:
            above = parent[at].long()
            if bool((above == at).all()):
                return at, steps
            steps = steps + (above != at)
            at = above

    return Case(find_roots, (triton.cdiv(n, 256),), (parent, root, depth, n), dict(BLOCK=256), (root, depth), reference, rtol=1e-9,
                options=dict(num_warps=2))


@triton.jit
def relax_edges(source, target, weight, distance, out, edges, BLOCK: tl.constexpr):
    """A round of shortest paths over a list of edges: atomic minima of f32 that are known to be positive, as integers."""
    e = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = e < edges
    s, t = tl.load(source + e, mask=ok, other=0), tl.load(target + e, mask=ok, other=0)
    new = tl.load(distance + s, mask=ok, other=0.0) + tl.load(weight + e, mask=ok, other=0.0)
    better = ok & (new < tl.load(distance + t, mask=ok, other=0.0))
    tl.atomic_max(out + t, 0x7F800000 - new.to(tl.int32, bitcast=True), mask=better, sem="relaxed")


@case
def nk_relax_edges(nodes=1000000, edges=10000000):
    source, target, weight = randint(0, nodes, edges), randint(0, nodes, edges), uniform(edges, high=10.0)
    distance, out = uniform(nodes, low=5.0, high=50.0), zeros(nodes, dtype=I32)

    def reference():
        new = distance[source] + weight
        word = torch.where(new < distance[target], 0x7F800000 - new.view(I32), 0)
        return (zeros(nodes, dtype=I32).scatter_reduce_(0, target.long(), word, "amax"),)

    return Case(relax_edges, (triton.cdiv(edges, 1024),), (source, target, weight, distance, out, edges), dict(BLOCK=1024), (out,), reference,
                rtol=1e-6, accumulate=True, options=dict(num_warps=8), bytes=edges * 20)


@triton.jit
def segment_softmax_mean(x, score, offsets, out, D: tl.constexpr, BLOCK: tl.constexpr):
    """Weighted mean of a segment's rows by the softmax of their scores: three loops over a segment of any length."""
    seg = tl.program_id(0)
    first, last = tl.load(offsets + seg), tl.load(offsets + seg + 1)
    i, d = tl.arange(0, BLOCK), tl.arange(0, D)
    top = -1.0e30
    for start in range(first, last, BLOCK):
        top = tl.maximum(top, tl.max(tl.load(score + start + i, mask=start + i < last, other=-1.0e30), axis=0))
    total = 0.0
    for start in range(first, last, BLOCK):
        total += tl.sum(tl.exp(tl.load(score + start + i, mask=start + i < last, other=-1.0e30) - top), axis=0)
    acc = tl.zeros((D,), tl.float32)
    for start in range(first, last, BLOCK):
        ok = start + i < last
        w = tl.exp(tl.load(score + start + i, mask=ok, other=-1.0e30) - top)
        acc += tl.sum(w[:, None] * tl.load(x + (start + i)[:, None] * D + d[None, :], mask=ok[:, None], other=0.0).to(tl.float32), axis=0)
    tl.store(out + seg * D + d, acc / tl.maximum(total, 1e-30))


@case
def nk_segment_softmax_mean(segments=30000, spread=64, D=128):
    lengths, offsets, total = lengths_of(segments, spread)
    x, score, out = rand(total, D, dtype=F16), rand(total), empty(segments, D)

    def reference():
        seg = torch.repeat_interleave(torch.arange(segments, device=DEVICE), lengths)
        e = score.double().exp()
        weight = zeros(segments, dtype=torch.float64).index_add_(0, seg, e)
        return (zeros(segments, D, dtype=torch.float64).index_add_(0, seg, x.double() * e[:, None]) / weight.clamp_min(1e-30)[:, None],)

    return Case(segment_softmax_mean, (segments,), (x, score, offsets, out), dict(D=D, BLOCK=16), (out,), reference, rtol=1e-4,
                options=dict(num_warps=2), bytes=total * D * 2)


@triton.jit
def common_neighbours(offsets, columns, a_nodes, b_nodes, out, pairs, BLOCK: tl.constexpr):
    """How many entries two sorted lists share, a pair of lists a lane: each lane walks as far as it has to."""
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = p < pairs
    a, b = tl.load(a_nodes + p, mask=ok, other=0), tl.load(b_nodes + p, mask=ok, other=0)
    i, i_end = tl.load(offsets + a), tl.load(offsets + a + 1)
    j, j_end = tl.load(offsets + b), tl.load(offsets + b + 1)
    both = tl.zeros((BLOCK,), tl.int32)
    live = ok & (i < i_end) & (j < j_end)
    while tl.sum(live.to(tl.int32), axis=0) > 0:
        u = tl.load(columns + i, mask=live, other=0)
        v = tl.load(columns + j, mask=live, other=0)
        both += (live & (u == v)).to(tl.int32)
        i += (u <= v).to(tl.int32)
        j += (v <= u).to(tl.int32)
        live = live & (i < i_end) & (j < j_end)
    tl.store(out + p, both, mask=ok)


@case
def nk_common_neighbours(nodes=20000, spread=48, pairs=1000000):
    lengths, offsets, total = lengths_of(nodes, spread)
    row = torch.repeat_interleave(torch.arange(nodes, device=DEVICE), lengths, output_size=total)
    columns = ((torch.arange(total, device=DEVICE) - offsets[row]) * 5 + randint(0, 5, total, dtype=I64)).to(I32)
    a, b, out = randint(0, nodes, pairs), randint(0, nodes, pairs), empty(pairs, dtype=I32)

    def reference():
        present = torch.zeros(nodes, spread * 5, device=DEVICE, dtype=torch.bool)
        present[row, columns.long()] = True
        return (torch.cat([(present[x] & present[y]).sum(1) for x, y in zip(a.split(100000), b.split(100000))]),)

    return Case(common_neighbours, (triton.cdiv(pairs, 128),), (offsets, columns, a, b, out, pairs), dict(BLOCK=128), (out,), reference, rtol=1e-9,
                options=dict(num_warps=4))


@triton.jit
def jagged_bmm(x, w, offsets, y, K, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Rows of each sequence times a matrix of its own; programs beyond a sequence's end leave at once."""
    seq = tl.program_id(2)
    first, last = tl.load(offsets + seq), tl.load(offsets + seq + 1)
    row = first + tl.program_id(1) * BM
    if row >= last:
        return
    m, n, k = row + tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        a = tl.load(x + m[:, None] * K + i + k[None, :], mask=(m < last)[:, None] & (i + k < K)[None, :], other=0.0)
        b = tl.load(w + seq * K * N + (i + k)[:, None] * N + n[None, :], mask=(i + k < K)[:, None] & (n < N)[None, :], other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(y + m[:, None] * N + n[None, :], acc.to(y.dtype.element_ty), mask=(m < last)[:, None] & (n < N)[None, :])


@case
def nk_jagged_bmm(seqs=500, spread=256, K=200, N=256):
    _, offsets, total = lengths_of(seqs, spread)
    x, w, y = rand(total, K, dtype=F16), rand(seqs, K, N, dtype=F16), empty(total, N, dtype=F16)

    def reference():
        ends = offsets.tolist()
        return (torch.cat([x[ends[i]:ends[i + 1]].float() @ w[i].float() for i in range(seqs)]),)

    return Case(jagged_bmm, (triton.cdiv(N, 128), triton.cdiv(spread, 64), seqs), (x, w, offsets, y, K, N), dict(BM=64, BN=128, BK=32), (y,),
                reference, options=dict(num_warps=4, num_stages=4), bytes=seqs * K * N * 2)


@triton.jit
def block_sddmm(a, b, block_row, block_col, out, K, B: tl.constexpr, BK: tl.constexpr):
    """Chosen blocks of a b^T by descriptors whose offsets are loaded; exponentials of them in f16."""
    pid = tl.program_id(0)
    row, col = tl.load(block_row + pid) * B, tl.load(block_col + pid) * B
    acc = tl.zeros((B, B), tl.float32)
    for k in tl.range(0, K, BK, num_stages=3):
        acc = tl.dot(a.load([row, k]), b.load([col, k]).T, acc)
    out.store([pid, 0, 0], tl.exp(acc * 0.05).to(tl.float16).reshape(1, B, B))


@case
def nk_block_sddmm(M=4096, N=4096, K=512, B=64, blocks=1500):
    a, b, out = rand(M, K, dtype=F16), rand(N, K, dtype=F16), empty(blocks, B, B, dtype=F16)
    row, col = randint(0, M // B, blocks), randint(0, N // B, blocks)

    def reference():
        rows, cols = a.view(-1, B, K)[row].float(), b.view(-1, B, K)[col].float()
        return (torch.exp(rows @ cols.transpose(1, 2) * 0.05),)

    return Case(block_sddmm, (blocks,), (describe(a, B, 64), describe(b, B, 64), row, col, describe(out, 1, B, B), K), dict(B=B, BK=64), (out,),
                reference, options=dict(num_warps=4), flops=2 * blocks * B * B * K)


@triton.jit
def merge_sorted(a, b, out, na, nb, BLOCK: tl.constexpr):
    """Merges two sorted arrays: each place of the result finds by halving how many come from the first."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < na + nb
    low, high = tl.maximum(i - nb, 0), tl.minimum(i, na)
    while tl.max(tl.where(ok, high - low, 0), axis=0) > 0:
        mid = (low + high) // 2
        open_ = ok & (low < high)
        x = tl.load(a + mid, mask=open_, other=0)
        y = tl.load(b + i - 1 - mid, mask=open_, other=0)
        low = tl.where(open_ & (x <= y), mid + 1, low)
        high = tl.where(open_ & (x > y), mid, high)
    j = i - low
    x = tl.load(a + low, mask=ok & (low < na), other=0x7FFFFFFF)
    y = tl.load(b + j, mask=ok & (j < nb), other=0x7FFFFFFF)
    tl.store(out + i, tl.minimum(x, y), mask=ok)


@case
def nk_merge_sorted(na=3000001, nb=2000003):
    a, b = randint(0, 2**30, na).sort()[0], randint(0, 2**30, nb).sort()[0]
    out = empty(na + nb, dtype=I32)
    return Case(merge_sorted, (triton.cdiv(na + nb, 512),), (a, b, out, na, nb), dict(BLOCK=512), (out,), lambda: (torch.cat((a, b)).sort()[0],),
                rtol=1e-9, options=dict(num_warps=4))


@triton.jit
def coo_product(row, col, value, x, y, entries, D: tl.constexpr, BLOCK: tl.constexpr):
    """A sparse matrix by coordinates times a dense one: f16 atomics of whole rows."""
    e = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    ok = e < entries
    r, c = tl.load(row + e, mask=ok, other=0), tl.load(col + e, mask=ok, other=0)
    v = tl.load(value + e, mask=ok, other=0.0)
    part = v[:, None] * tl.load(x + c[:, None] * D + d[None, :], mask=ok[:, None], other=0.0)
    tl.atomic_add(y + r[:, None] * D + d[None, :], part, mask=ok[:, None], sem="relaxed")


@case
def nk_coo_product_f16(rows=100000, cols=100000, entries=800000, D=64):
    row, col, value = randint(0, rows, entries), randint(0, cols, entries), rand(entries, dtype=F16)
    x, y = rand(cols, D, dtype=F16), zeros(rows, D, dtype=F16)

    def reference():
        return (zeros(rows, D).index_add_(0, row, value.float()[:, None] * x[col].float()),)

    return Case(coo_product, (triton.cdiv(entries, 32),), (row, col, value, x, y, entries), dict(D=D, BLOCK=32), (y,), reference, rtol=1e-2,
                accumulate=True, options=dict(num_warps=4), bytes=entries * D * 6)
