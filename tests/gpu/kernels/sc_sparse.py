# SPDX-License-Identifier: Apache-2.0
"""Sparse matrices, graphs, point clouds and meshes."""
import torch
import triton
import triton.language as tl

from case import DEVICE, Case, empty, rand, randint, registry, uniform, zeros

CASES, case = registry()


def ragged(rows, low, spread):
    """Lengths low..low+spread-1 of rows in no visible order: their offsets, how many entries, the row of each entry."""
    lengths = torch.arange(rows, dtype=torch.int64) * 7919 % spread + low
    offsets = torch.nn.functional.pad(lengths.cumsum(0), (1, 0))
    return offsets.to(torch.int32).to(DEVICE), int(offsets[-1]), torch.repeat_interleave(lengths).to(torch.int32).to(DEVICE)


@triton.jit
def csr_spmv(indptr, indices, values, x, y, n_rows, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """ROWS rows a program, as many steps as the longest of them needs."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    first = tl.load(indptr + row, mask=row < n_rows, other=0)
    last = tl.load(indptr + row + 1, mask=row < n_rows, other=0)
    steps = tl.cdiv(tl.max(last - first, 0), BLOCK)
    total = tl.zeros((ROWS, BLOCK), tl.float32)
    for step in range(steps):
        k = first[:, None] + step * BLOCK + tl.arange(0, BLOCK)[None, :]
        live = k < last[:, None]
        col = tl.load(indices + k, mask=live, other=0)
        total += tl.load(values + k, mask=live, other=0.0) * tl.load(x + col, mask=live, other=0.0)
    tl.store(y + row, tl.sum(total, 1), mask=row < n_rows)


@case
def sc_csr_spmv(rows=400003, cols=300000):
    offsets, nnz, owner = ragged(rows, 3, 90)
    indices, values, x, y = randint(0, cols, nnz), rand(nnz), rand(cols), empty(rows)
    return Case(csr_spmv, (triton.cdiv(rows, 16),), (offsets, indices, values, x, y, rows), dict(ROWS=16, BLOCK=16), (y,),
                lambda: (zeros(rows, dtype=torch.float64).index_add_(0, owner.long(), values.double() * x.double()[indices.long()]),),
                rtol=1e-4, options=dict(num_warps=2), bytes=8 * nnz)


@triton.jit
def csr_spmm(indptr, indices, values, dense, out, N, BN: tl.constexpr, STEP: tl.constexpr):
    """A row of the product per program."""
    row = tl.program_id(0)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    start = tl.load(indptr + row)
    end = tl.load(indptr + row + 1)
    acc = tl.zeros([BN], dtype=tl.float32)
    for base in range(start, end, STEP):
        k = base + tl.arange(0, STEP)
        col = tl.load(indices + k, mask=k < end, other=0)
        val = tl.load(values + k, mask=k < end, other=0.0).to(tl.float32)
        tile = tl.load(dense + col.to(tl.int64)[:, None] * N + n[None, :], mask=(k < end)[:, None] & (n < N)[None, :], other=0.0)
        acc += tl.sum(tile.to(tl.float32) * val[:, None], axis=0)
    tl.store(out + row.to(tl.int64) * N + n, acc.to(out.dtype.element_ty), mask=n < N)


@case
def sc_csr_spmm(rows=60000, cols=50000, N=200):
    offsets, nnz, owner = ragged(rows, 1, 40)
    indices, values = randint(0, cols, nnz), rand(nnz, dtype=torch.float16)
    dense, out = rand(cols, N, dtype=torch.float16), empty(rows, N, dtype=torch.float16)

    def reference():
        y = zeros(rows, N)
        for i in range(0, nnz, 1 << 18):
            s = slice(i, i + (1 << 18))
            y.index_add_(0, owner[s].long(), values[s, None].float() * dense[indices[s].long()].float())
        return (y,)

    return Case(csr_spmm, (rows, 1), (offsets, indices, values, dense, out, N), dict(BN=256, STEP=8), (out,), reference,
                options=dict(num_warps=4), bytes=2 * N * (nnz + rows))


@triton.jit
def bsr_matmul(crow, cols, blocks, b, c, N, B: tl.constexpr, BN: tl.constexpr):
    """Dense B x B blocks of a sparse matrix times a dense one."""
    row = tl.program_id(1)
    begin, end = tl.load(crow + row), tl.load(crow + row + 1)
    o = tl.arange(0, B)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    a_ptrs = blocks + begin * B * B + o[:, None] * B + o[None, :]
    acc = tl.zeros((B, BN), tl.float32)
    for i in range(begin, end):
        k = tl.load(cols + i) * B + o
        acc = tl.dot(tl.load(a_ptrs), tl.load(b + k[:, None] * N + n[None, :]), acc)
        a_ptrs += B * B
    tl.store(c + (row * B + o)[:, None] * N + n[None, :], acc.to(c.dtype.element_ty))


def bsr_case(rows, per_row, N, B, BN, warps, stages):
    """Row r holds blocks in columns r, r + 3, r + 6, ..., and fewer of them in every second row."""
    lengths = torch.tensor([per_row - (r % 2) * (per_row // 2) for r in range(rows)])
    offsets = torch.nn.functional.pad(lengths.cumsum(0), (1, 0))
    owner = torch.repeat_interleave(lengths)
    columns = (owner + 3 * (torch.arange(len(owner)) - offsets[owner])) % rows
    blocks, b = rand(len(owner), B, B, dtype=torch.bfloat16, scale=0.2), rand(rows * B, N, dtype=torch.bfloat16)
    c = empty(rows * B, N, dtype=torch.bfloat16)

    def reference():
        a = zeros(rows, B, rows, B)
        a[owner.to(DEVICE), :, columns.to(DEVICE), :] = blocks.float()
        return (a.view(rows * B, rows * B) @ b.float(),)

    return Case(bsr_matmul, (N // BN, rows), (offsets.int().to(DEVICE), columns.int().to(DEVICE), blocks, b, c, N), dict(B=B, BN=BN), (c,), reference,
                rtol=2e-2, options=dict(num_warps=warps, num_stages=stages), flops=2 * len(owner) * B * B * N)


@case
def sc_bsr_matmul_64(rows=128, per_row=24, N=4096):
    return bsr_case(rows, per_row, N, 64, 128, 4, 4)


@case
def sc_bsr_matmul_16(rows=512, per_row=60, N=2048):
    return bsr_case(rows, per_row, N, 16, 128, 2, 3)


@triton.jit
def sddmm(src, dst, weight, a, b, out, E, D, BE: tl.constexpr, BD: tl.constexpr):
    e = tl.program_id(0) * BE + tl.arange(0, BE)
    ok = e < E
    i = tl.load(src + e, ok, other=0)
    j = tl.load(dst + e, ok, other=0)
    acc = tl.zeros((BE,), tl.float32)
    for d0 in range(0, D, BD):
        d = d0 + tl.arange(0, BD)
        m = ok[:, None] & (d < D)[None, :]
        x = tl.load(a + i[:, None] * D + d[None, :], m, other=0.0)
        y = tl.load(b + j[:, None] * D + d[None, :], m, other=0.0)
        acc += tl.sum(x.to(tl.float32) * y.to(tl.float32), 1)
    tl.store(out + e, acc * tl.load(weight + e, ok, other=0.0), ok)


@case
def sc_sddmm(E=1500001, n=100000, D=96):
    src, dst, w = randint(0, n, E), randint(0, n, E), rand(E)
    a, b, out = rand(n, D, dtype=torch.bfloat16), rand(n, D, dtype=torch.bfloat16), empty(E)

    def reference():
        parts = []
        for s in torch.arange(E, device=DEVICE).split(1 << 19):
            parts.append((a[src[s].long()].float() * b[dst[s].long()].float()).sum(1) * w[s])
        return (torch.cat(parts),)

    return Case(sddmm, (triton.cdiv(E, 32),), (src, dst, w, a, b, out, E, D), dict(BE=32, BD=64), (out,), reference, options=dict(num_warps=4),
                bytes=E * (4 * D + 16))


@triton.jit
def scatter_add(index, x, scale, out, E, D: tl.constexpr, BE: tl.constexpr):
    e = tl.program_id(0) * BE + tl.arange(0, BE)
    d = tl.arange(0, D)
    valid = e < E
    to = tl.load(index + e, mask=valid, other=-1)
    message = tl.load(x + e.to(tl.int64)[:, None] * D + d[None, :], mask=valid[:, None], other=0.0)
    message *= tl.load(scale + e, mask=valid, other=0.0)[:, None]
    tl.atomic_add(out + to[:, None] * D + d[None, :], message, mask=(to >= 0)[:, None], sem="relaxed")


@case
def sc_scatter_add(E=600000, n=40000, D=64):
    index, x, scale, out = randint(-1, n, E), rand(E, D), uniform(E), zeros(n, D)
    return Case(scatter_add, (triton.cdiv(E, 32),), (index, x, scale, out, E), dict(D=D, BE=32), (out,),
                lambda: (zeros(n + 1, D, dtype=torch.float64).index_add_(0, index.long() + 1, x.double() * scale.double()[:, None])[1:],),
                rtol=1e-5, accumulate=True, options=dict(num_warps=4), bytes=8 * E * D)


@triton.jit
def add_unless_head(v0, h0, v1, h1):
    return tl.where(h1 != 0, v1, v0 + v1), h0 | h1


@triton.jit
def segmented_sum(ids, values, sums, E, BLOCK: tl.constexpr):
    """Sums of runs of equal ids by a segmented scan. The last of each run in a block adds what it has."""
    e = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mine = tl.load(ids + e, e < E, -1)
    before = tl.load(ids + e - 1, (e > 0) & (e < E), -1)
    after = tl.load(ids + e + 1, e + 1 < E, -1)
    v = tl.load(values + e, e < E, 0.0).to(tl.float32)
    total, _ = tl.associative_scan((v, (mine != before).to(tl.int32)), 0, add_unless_head)
    is_last = (mine != after) | (tl.arange(0, BLOCK) == BLOCK - 1)
    tl.atomic_add(sums + mine, total, is_last & (mine >= 0))


@case
def sc_segmented_sum(rows=600000):
    _, nnz, owner = ragged(rows, 1, 60)
    values, sums = rand(nnz, dtype=torch.bfloat16), zeros(rows)
    return Case(segmented_sum, (triton.cdiv(nnz, 2048),), (owner, values, sums, nnz), dict(BLOCK=2048), (sums,),
                lambda: (zeros(rows).index_add_(0, owner.long(), values.float()),), rtol=1e-4, accumulate=True, options=dict(num_warps=8),
                bytes=6 * nnz)


@triton.jit
def graph_attention(indptr, indices, left, right, feature, out, SLOPE: tl.constexpr, H: tl.constexpr, D: tl.constexpr, BK: tl.constexpr):
    """A node's neighbours, weighted by softmax(leaky_relu(left + right)), a head a program."""
    node, head = tl.program_id(0), tl.program_id(1)
    lo = tl.load(indptr + node)
    hi = tl.load(indptr + node + 1)
    mine = tl.load(left + node * H + head)
    d = tl.arange(0, D)
    top = -1e30
    norm = 0.0
    acc = tl.zeros((D,), tl.float32)
    while lo < hi:
        k = lo + tl.arange(0, BK)
        j = tl.load(indices + k, k < hi, 0)
        s = mine + tl.load(right + j * H + head)
        s = tl.where(k < hi, tl.where(s > 0, s, s * SLOPE), float("-inf"))
        new_top = tl.maximum(top, tl.max(s, 0))
        p = tl.exp(s - new_top)
        fade = tl.exp(top - new_top)
        rows = tl.load(feature + (j * H + head)[:, None] * D + d[None, :])
        acc = acc * fade + tl.sum(p[:, None] * rows, 0)
        norm = norm * fade + tl.sum(p, 0)
        top = new_top
        lo += BK
    tl.store(out + (node * H + head) * D + d, acc / norm)


@case
def sc_graph_attention(nodes=50000, H=4, D=32):
    offsets, edges, owner = ragged(nodes, 2, 30)
    indices = randint(0, nodes, edges)
    left, right, feature, out = rand(nodes, H), rand(nodes, H), rand(nodes, H, D), empty(nodes, H, D)

    def reference():
        to, j = owner.long(), indices.long()
        p = torch.nn.functional.leaky_relu(left[to] + right[j], 0.2).exp()
        norm = zeros(nodes, H).index_add_(0, to, p)
        return (zeros(nodes, H, D).index_add_(0, to, p[..., None] * feature[j]) / norm[..., None],)

    return Case(graph_attention, (nodes, H), (offsets, indices, left, right, feature, out), dict(SLOPE=0.2, H=H, D=D, BK=16), (out,), reference,
                rtol=1e-4, options=dict(num_warps=1), bytes=4 * H * D * (edges + nodes))


@triton.jit
def ball_query(points, queries, found, n, r2, K: tl.constexpr, BLOCK: tl.constexpr):
    """The first K points within a radius of a query; n where there are fewer."""
    batch, q = tl.program_id(1), tl.program_id(0)
    points += batch * n * 3
    at = batch * tl.num_programs(0) + q
    qx, qy, qz = tl.load(queries + at * 3), tl.load(queries + at * 3 + 1), tl.load(queries + at * 3 + 2)
    tl.store(found + at * K + tl.arange(0, K), tl.full((K,), n, tl.int32))
    tl.debug_barrier()
    have = 0
    start = 0
    while (start < n) & (have < K):
        i = start + tl.arange(0, BLOCK)
        dx = tl.load(points + i * 3, i < n, 1e9) - qx
        dy = tl.load(points + i * 3 + 1, i < n, 1e9) - qy
        dz = tl.load(points + i * 3 + 2, i < n, 1e9) - qz
        near = (dx * dx + dy * dy + dz * dz < r2).to(tl.int32)
        slot = have + tl.cumsum(near, 0) - 1
        tl.store(found + at * K + slot, i, (near != 0) & (slot < K))
        have += tl.sum(near, 0)
        start += BLOCK


@case
def sc_ball_query(batch=8, n=20000, m=1024, K=32):
    points, queries, found = uniform(batch, n, 3), uniform(batch, m, 3), empty(batch, m, K, dtype=torch.int32)

    def reference():
        out = []
        for p, q in zip(points, queries):
            near = (p[None] - q[:, None]).square().sum(-1) < 0.0064
            i = torch.where(near, torch.arange(n, device=DEVICE), n)
            out.append(i.topk(K, largest=False, sorted=True)[0])
        return (torch.stack(out),)

    return Case(ball_query, (m, batch), (points, queries, found, n, 0.0064), dict(K=K, BLOCK=256), (found,), reference,
                options=dict(num_warps=2), bytes=12 * n * m * batch)
