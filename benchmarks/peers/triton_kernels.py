"""
Triton kernels as an expert writes them, each for one program: what our kernels are compared with.

Pointers are named in capitals, as are the sizes that are known when a kernel is compiled.
"""

import triton
import triton.language as tl


@triton.jit
def rms_norm_row(X, W, Y, RSTD, N, eps, BLOCK: tl.constexpr, HAS_W: tl.constexpr):
    """One row per program, the row in registers, float32 arithmetic (Liger / Unsloth style)."""
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    m = c < N
    x = tl.load(X + row * N + c, mask=m, other=0.0).to(tl.float32)
    r = tl.rsqrt(tl.sum(x * x, 0) / N + eps)
    tl.store(RSTD + row, r)
    y = x * r
    if HAS_W:
        y = y * tl.load(W + c, mask=m, other=0.0).to(tl.float32)
    tl.store(Y + row * N + c, y.to(Y.dtype.element_ty), mask=m)


@triton.jit
def rms_norm_rows(X, W, Y, RSTD, R, N, eps, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    """Several rows per program, for short rows."""
    r = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    c = tl.arange(0, BLOCK)
    m = (r[:, None] < R) & (c[None, :] < N)
    off = r[:, None] * N + c[None, :]
    x = tl.load(X + off, mask=m, other=0.0).to(tl.float32)
    rs = tl.rsqrt(tl.sum(x * x, 1) / N + eps)
    tl.store(RSTD + r, rs, mask=r < R)
    w = tl.load(W + c, mask=c < N, other=0.0).to(tl.float32)
    tl.store(Y + off, (x * rs[:, None] * w[None, :]).to(Y.dtype.element_ty), mask=m)


@triton.jit
def ntrans_row(H, X, AL, Y, N, eps, BLOCK: tl.constexpr):
    """rms(x + alpha * (rms(h) + x)), a row per program."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    m = c < N
    h = tl.load(H + row * N + c, mask=m, other=0.0).to(tl.float32)
    x = tl.load(X + row * N + c, mask=m, other=0.0).to(tl.float32)
    a = tl.load(AL + row * N + c, mask=m, other=0.0).to(tl.float32)
    hn = h * tl.rsqrt(tl.sum(h * h, 0) / N + eps)
    z = x + a * (hn + x)
    z = tl.where(m, z, 0.0)
    tl.store(
        Y + row * N + c, (z * tl.rsqrt(tl.sum(z * z, 0) / N + eps)).to(Y.dtype.element_ty), mask=m
    )


@triton.jit
def lora_columns(
    X, W, LA, LB, Y, M, K, N, R: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """x@W + (x@A)@B: each program computes x@A once more, out of L2, beside its columns of x@W."""
    rm = tl.arange(0, BM)
    rn = tl.program_id(0) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    rr = tl.arange(0, R)
    acc = tl.zeros([BM, BN], tl.float32)
    t = tl.zeros([BM, R], tl.float32)
    for k in range(0, K, BK):
        x = tl.load(X + rm[:, None] * K + (k + rk)[None, :], mask=rm[:, None] < M, other=0.0)
        w = tl.load(W + (k + rk)[:, None] * N + rn[None, :])
        a = tl.load(LA + (k + rk)[:, None] * R + rr[None, :])
        acc = tl.dot(x, w, acc)
        t = tl.dot(x, a, t)
    b = tl.load(LB + rr[:, None] * N + rn[None, :])
    acc = tl.dot(t.to(b.dtype), b, acc)
    tl.store(Y + rm[:, None] * N + rn[None, :], acc.to(Y.dtype.element_ty), mask=rm[:, None] < M)


@triton.jit
def decode_part(
    Q,
    K,
    V,
    OUT,
    PO,
    PM,
    PL,
    M,
    S,
    SPER,
    scale,
    eps,
    qb,
    qm,
    kb,
    ks,
    kd,
    vb,
    vs,
    ob,
    om,
    D: tl.constexpr,
    BM: tl.constexpr,
    BS: tl.constexpr,
    QN: tl.constexpr,
    KN: tl.constexpr,
    VN: tl.constexpr,
    ONE: tl.constexpr,
):
    """FlashDecoding: one slice of the keys for one block of query rows, all of one KV head."""
    b = tl.program_id(2).to(tl.int64)
    pm = tl.program_id(1)
    sp = tl.program_id(0)
    rm = pm * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    rs = tl.arange(0, BS)
    q = tl.load(Q + b * qb + rm[:, None] * qm + rd[None, :], mask=rm[:, None] < M, other=0.0)
    qs = scale * 1.4426950408889634 + tl.zeros([BM], tl.float32)
    if QN:
        qf = q.to(tl.float32)
        qs = qs * tl.rsqrt(tl.sum(qf * qf, 1) / D + eps)
    mx = tl.zeros([BM], tl.float32) - 1e30
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    lo = sp * SPER
    hi = tl.minimum(lo + SPER, S)
    for s in range(lo, hi, BS):
        ms = (s + rs) < hi
        kt = tl.load(
            K + b * kb + (s + rs)[None, :] * ks + rd[:, None] * kd, mask=ms[None, :], other=0.0
        )
        a = tl.dot(q, kt) * qs[:, None]
        if KN:
            kf = kt.to(tl.float32)
            a = a * tl.rsqrt(tl.sum(kf * kf, 0) / D + eps)[None, :]
        a = tl.where(ms[None, :], a, -float("inf"))
        nm = tl.maximum(mx, tl.max(a, 1))
        p = tl.exp2(a - nm[:, None])
        al = tl.exp2(mx - nm)
        total = total * al + tl.sum(p, 1)
        v = tl.load(V + b * vb + (s + rs)[:, None] * vs + rd[None, :], mask=ms[:, None], other=0.0)
        if VN:
            vf = v.to(tl.float32)
            p = p * tl.rsqrt(tl.sum(vf * vf, 1) / D + eps)[None, :]
        acc = tl.dot(p.to(v.dtype), v, acc * al[:, None])
        mx = nm
    if ONE:
        tl.store(
            OUT + b * ob + rm[:, None] * om + rd[None, :],
            (acc / total[:, None]).to(OUT.dtype.element_ty),
            mask=rm[:, None] < M,
        )
    else:
        row = (b * tl.num_programs(0) + sp) * M + rm
        tl.store(PO + row[:, None] * D + rd[None, :], acc, mask=rm[:, None] < M)
        tl.store(PM + row, mx, mask=rm < M)
        tl.store(PL + row, total, mask=rm < M)


@triton.jit
def decode_combine(PO, PM, PL, OUT, M, SPLITS, ob, om, D: tl.constexpr, BSP: tl.constexpr):
    row = tl.program_id(0)
    b = tl.program_id(1).to(tl.int64)
    rd = tl.arange(0, D)
    rs = tl.arange(0, BSP)
    ok = rs < SPLITS
    idx = (b * SPLITS + rs) * M + row
    m = tl.load(PM + idx, mask=ok, other=-float("inf"))
    w = tl.exp2(m - tl.max(m, 0))
    total = tl.sum(tl.load(PL + idx, mask=ok, other=0.0) * w, 0)
    o = tl.load(PO + idx[:, None] * D + rd[None, :], mask=ok[:, None], other=0.0)
    tl.store(
        OUT + b * ob + row * om + rd, (tl.sum(o * w[:, None], 0) / total).to(OUT.dtype.element_ty)
    )
