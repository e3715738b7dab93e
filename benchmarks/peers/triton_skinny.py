"""
Triton kernels for products of few rows, as an expert writes them: what ours are compared with.

Pointers are named in capitals, as are the sizes that are known when a kernel is compiled. With PDL
a kernel starts inside the end of the one before it (programmatic dependent launch); with TMA tensor
copies fetch the weights.
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait


@triton.jit
def norm_row(
    X,
    RESIDUAL,
    G,
    B,
    SUM,
    Y,
    N,
    eps,
    BLOCK: tl.constexpr,
    ADD: tl.constexpr,
    MEAN: tl.constexpr,
    GAIN: tl.constexpr,
    PDL: tl.constexpr,
):
    """RMSNorm, or LayerNorm with MEAN, of a row per program; with ADD of a sum, which is stored."""
    if PDL:
        gdc_launch_dependents()
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    m = c < N
    if PDL:
        gdc_wait()
    x = tl.load(X + row * N + c, mask=m, other=0.0).to(tl.float32)
    if ADD:
        x += tl.load(RESIDUAL + row * N + c, mask=m, other=0.0).to(tl.float32)
        tl.store(SUM + row * N + c, x.to(SUM.dtype.element_ty), mask=m)
        x = x.to(SUM.dtype.element_ty).to(tl.float32)
    if MEAN:
        x = tl.where(m, x - tl.sum(x, 0) / N, 0.0)
    y = x * tl.rsqrt(tl.sum(x * x, 0) / N + eps)
    if GAIN:
        y = y * tl.load(G + c, mask=m, other=0.0).to(tl.float32)
    if MEAN:
        y = y + tl.load(B + c, mask=m, other=0.0).to(tl.float32)
    tl.store(Y + row * N + c, y.to(Y.dtype.element_ty), mask=m)


@triton.jit(do_not_specialize=["M", "SPLIT"])
def skinny_matmul(
    X,
    W1,
    W2,
    LB,
    Y,
    WS,
    SS,
    CNT,
    M,
    K,
    N,
    KS,
    SPLIT,
    eps,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    NORM: tl.constexpr,
    DUAL: tl.constexpr,
    GELU: tl.constexpr,
    R: tl.constexpr,
    ONE: tl.constexpr,
    TMA: tl.constexpr,
    PDL: tl.constexpr,
):
    """
    Y = f(X @ W1) for a few rows, split over the depth: the last program of a column block adds up
    the parts.

    NORM is RMSNorm of X: sums of squares are gathered beside the product and applied after it. DUAL
    is silu(X@W1) * (X@W2). GELU is that of X@W1 + W2, a bias. R above 0 is the rank of an adapter,
    X@W1 + (X@W2)@LB: each program computes its part of X@W2 once more, out of L2.
    """
    if PDL:
        gdc_launch_dependents()
    pn = tl.program_id(0)
    pk = tl.program_id(1)
    rm = tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    mm = rm[:, None] < M
    acc = tl.zeros([BM, BN], tl.float32)
    acc2 = tl.zeros([BM, BN], tl.float32)
    ss = tl.zeros([BM], tl.float32)
    if TMA:
        first = tl.make_tensor_descriptor(W1, [K, N], [N, 1], [BK, BN])
        if DUAL:
            second = tl.make_tensor_descriptor(W2, [K, N], [N, 1], [BK, BN])
    if R > 0:
        rr = tl.arange(0, R)
        low = tl.zeros([BM, R], tl.float32)
    # What the kernel before has written, and the parts of the call before, are there after this.
    if PDL:
        gdc_wait()
    for k in range(pk * KS, pk * KS + KS, BK):
        x = tl.load(X + rm[:, None] * K + (k + rk)[None, :], mask=mm, other=0.0)
        wo = (k + rk)[:, None].to(tl.int64) * N + rn[None, :]
        if TMA:
            w = first.load([k, pn * BN])
        else:
            w = tl.load(W1 + wo, eviction_policy="evict_first")
        if NORM:
            xf = x.to(tl.float32)
            ss += tl.sum(xf * xf, 1)
        acc = tl.dot(x, w, acc)
        if DUAL:
            if TMA:
                w2 = second.load([k, pn * BN])
            else:
                w2 = tl.load(W2 + wo, eviction_policy="evict_first")
            acc2 = tl.dot(x, w2, acc2)
        if R > 0:
            low = tl.dot(x, tl.load(W2 + (k + rk)[:, None] * R + rr[None, :]), low)
    if R > 0:
        # The product with the second factor is linear: each part is multiplied by itself.
        b = tl.load(LB + rr[:, None] * N + rn[None, :])
        acc = tl.dot(low.to(b.dtype), b, acc)
    last = True
    if not ONE:
        base = WS + (pk * 2) * BM * N + rm[:, None] * N + rn[None, :]
        tl.store(base, acc)
        if DUAL:
            tl.store(base + BM * N, acc2)
        if NORM:
            tl.store(SS + (pn * SPLIT + pk) * BM + rm, ss)
        tl.debug_barrier()
        last = tl.atomic_add(CNT + pn, 1, sem="acq_rel", scope="gpu") == SPLIT - 1
    if last:
        if not ONE:
            acc = tl.zeros([BM, BN], tl.float32)
            acc2 = tl.zeros([BM, BN], tl.float32)
            ss = tl.zeros([BM], tl.float32)
            for s in range(0, SPLIT):
                p = WS + (s * 2) * BM * N + rm[:, None] * N + rn[None, :]
                acc += tl.load(p, cache_modifier=".cg")
                if DUAL:
                    acc2 += tl.load(p + BM * N, cache_modifier=".cg")
                if NORM:
                    ss += tl.load(SS + (pn * SPLIT + s) * BM + rm, cache_modifier=".cg")
            tl.atomic_xchg(CNT + pn, 0)
        if NORM:
            scale = tl.rsqrt(ss / K + eps)
            acc = acc * scale[:, None]
            acc2 = acc2 * scale[:, None]
        if DUAL:
            acc = acc / (1.0 + tl.exp(-acc)) * acc2
        if GELU:
            acc += tl.load(W2 + rn)[None, :].to(tl.float32)
            inner = 0.7978845608028654 * (acc + 0.044715 * acc * acc * acc)
            # tanh(a) = 1 - 2 / (exp(2 a) + 1)
            acc = acc * (1.0 - 1.0 / (tl.exp(2.0 * inner) + 1.0))
        tl.store(Y + rm[:, None] * N + rn[None, :], acc.to(Y.dtype.element_ty), mask=mm)
