"""
The programs that are timed, at the shapes of the table in `benchmarks/README.md`.

Each is written with the operators that a user has, and says nothing about kernels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from kernels.case import EPS, FLOATS, Bar, Case, Given, Tensors, bias, gain, rows, weight
from kernels.weight_layouts import named_out_in

import mirage_mlir as mi

# Linear layers


def rmsnorm_linear(batch: int, depth: int, width: int, dtype: str, bar: Bar) -> Case:
    """`rms_norm(x) @ w`."""
    return Case(
        "rmsnorm_linear",
        f"b{batch}_n{width}",
        dtype,
        (rows(batch, depth), weight(depth, width)),
        ((batch, width),),
        2 * batch * depth * width,
        bar,
        lambda g, t: [g.matmul(g.rms_norm(t[0], eps=EPS), t[1])],
    )


def matmul(batch: int, depth: int, width: int, dtype: str, bar: Bar) -> Case:
    """`x @ w`."""
    return Case(
        "matmul",
        f"b{batch}_n{width}",
        dtype,
        (rows(batch, depth), weight(depth, width)),
        ((batch, width),),
        2 * batch * depth * width,
        bar,
        lambda g, t: [g.matmul(t[0], t[1])],
    )


def add_rmsnorm_linear(batch: int, depth: int, width: int, dtype: str, bar: Bar) -> Case:
    """`r = x + residual` and `rms_norm(r, gain) @ w`."""

    def build(g: mi.KernelGraph, t: Tensors) -> Tensors:
        x, residual, scale, w = t
        summed = g.add(x, residual)
        return summed, g.matmul(g.rms_norm(summed, scale, eps=EPS), w)

    return Case(
        "add_rmsnorm_linear",
        f"b{batch}",
        dtype,
        (rows(batch, depth), rows(batch, depth), gain(depth), weight(depth, width)),
        ((batch, depth), (batch, width)),
        2 * batch * depth * width,
        bar,
        build,
    )


def layernorm_linear(batch: int, depth: int, width: int, dtype: str, bar: Bar) -> Case:
    """`layer_norm(x, gain, bias) @ w`."""
    return Case(
        "layernorm_linear",
        f"b{batch}",
        dtype,
        (rows(batch, depth), gain(depth), bias(depth), weight(depth, width)),
        ((batch, width),),
        2 * batch * depth * width,
        bar,
        lambda g, t: [g.matmul(g.layer_norm(t[0], t[1], t[2], eps=EPS), t[3])],
    )


def linear_bias_gelu(batch: int, depth: int, width: int, dtype: str, bar: Bar) -> Case:
    """`gelu(x @ w + b)`, in the approximation with tanh."""
    return Case(
        "linear_bias_gelu",
        f"b{batch}",
        dtype,
        (rows(batch, depth), weight(depth, width), bias(width)),
        ((batch, width),),
        2 * batch * depth * width,
        bar,
        lambda g, t: [g.gelu(g.add(g.matmul(t[0], t[1]), t[2]), "tanh")],
    )


def gated_mlp(batch: int, depth: int, width: int, dtype: str, bar: Bar) -> Case:
    """`silu(x @ w1) * (x @ w3)`."""
    return Case(
        "gated_mlp",
        f"b{batch}_n{width}",
        dtype,
        (rows(batch, depth), weight(depth, width), weight(depth, width)),
        ((batch, width),),
        4 * batch * depth * width,
        bar,
        lambda g, t: [g.mul(g.silu(g.matmul(t[0], t[1])), g.matmul(t[0], t[2]))],
    )


def lora(batch: int, depth: int, width: int, rank: int, dtype: str, bar: Bar) -> Case:
    """`x @ w + (x @ a) @ b`."""
    return Case(
        "lora",
        f"b{batch}_k{depth}_r{rank}",
        dtype,
        (rows(batch, depth), weight(depth, width), weight(depth, rank), weight(rank, width)),
        ((batch, width),),
        2 * batch * (depth * width + depth * rank + rank * width),
        bar,
        lambda g, t: [g.add(g.matmul(t[0], t[1]), g.matmul(g.matmul(t[0], t[2]), t[3]))],
    )


# Attention


def attention(name: str, batch: int, heads: int, queries: int, dtype: str, bar: Bar) -> Case:
    """
    `softmax(q @ k) @ v` over 4096 keys of 64, heads of a group as rows of q, k transposed.

    In qknorm_gqa, q and v are normalized.
    """
    keys, width, count = 4096, 64, heads * batch
    normed = name == "qknorm_gqa"

    def build(g: mi.KernelGraph, t: Tensors) -> Tensors:
        q, k, v = t
        if normed:
            q, v = g.rms_norm(q, eps=EPS), g.rms_norm(v, eps=EPS)
        return [g.matmul(g.softmax(g.matmul(q, k), -1), v)]

    return Case(
        name,
        f"b{batch}",
        dtype,
        (
            Given((count, queries, width), 1.0 if normed else width**-0.5),
            Given((count, width, keys), width**-0.5 if normed else 1.0),
            rows(count, keys, width),
        ),
        ((count, queries, width),),
        4 * count * queries * keys * width,
        bar,
        build,
    )


def grouped_decode(batch: int, keys: int, dtype: str, bar: Bar) -> Case:
    """One token of LLaMA-3-70B on one of four GPUs: 16 query and 2 key-value heads of 128."""
    heads, group, width = 2, 8, 128

    def build(g: mi.KernelGraph, t: Tensors) -> Tensors:
        q, k, v = t
        grouped = g.reshape(q, (batch, heads, group, width))
        scores = g.scale(g.matmul(grouped, g.transpose(k)), width**-0.5)
        return [g.reshape(g.matmul(g.softmax(scores, -1), v), q.dims)]

    return Case(
        "gqa_llama70b",
        f"b{batch}_s{keys}",
        dtype,
        (
            rows(batch, heads * group, 1, width),
            rows(batch, heads, keys, width),
            rows(batch, heads, keys, width),
        ),
        ((batch, heads * group, 1, width),),
        4 * batch * heads * group * keys * width,
        bar,
        build,
    )


# Rows


def ntrans(batch: int, width: int, dtype: str, bar: Bar) -> Case:
    """nGPT's residual, `rms(x + alpha * (rms(h) + x))`, 8 rows for each of `batch`."""
    shape = (8 * batch, width)

    def build(g: mi.KernelGraph, t: Tensors) -> Tensors:
        h, x, alpha = t
        moved = g.add(x, g.mul(alpha, g.add(g.rms_norm(h, eps=EPS), x)))
        return [g.rms_norm(moved, eps=EPS)]

    given = (rows(*shape), rows(*shape), rows(*shape))
    return Case("ntrans", f"b{batch}", dtype, given, (shape,), 16 * prod(shape), bar, build)


def rmsnorm(count: int, width: int, dtype: str, bar: Bar) -> Case:
    """`rms_norm(x, gain)`."""
    return Case(
        "rmsnorm",
        f"{count}x{width}",
        dtype,
        (rows(count, width), gain(width)),
        ((count, width),),
        4 * count * width,
        bar,
        lambda g, t: [g.rms_norm(t[0], t[1], eps=EPS)],
    )


def outer(count: int, width: int, dtype: str, bar: Bar) -> Case:
    """`relu(x * y)` of a column and a row: a kernel that stores and hardly reads."""
    return Case(
        "outer",
        f"{count}x{width}",
        dtype,
        (rows(count, 1), rows(1, width)),
        ((count, width),),
        2 * count * width,
        bar,
        lambda g, t: [g.relu(g.mul(t[0], t[1]))],
    )


# The table


def table(dtype: str = "f16") -> Iterator[Case]:
    """All cases; `dtype` is that of all programs but RMSNorm, which has three."""
    yield from _linear(dtype)
    yield from _blocks(dtype)
    yield from _attention(dtype)
    yield from (ntrans(batch, 4096, dtype, Bar(1.0, 0.85)) for batch in (1, 8))
    for each in FLOATS:
        for width in (1024, 2048, 4096, 8192):
            yield rmsnorm(32768, width, each, Bar(1.03, 0.99))
    for count, width in ((250, 512), (250, 500), (127, 1000), (4097, 1023)):
        yield rmsnorm(count, width, "f32", Bar(1.03, 0.99))


def _linear(dtype: str) -> Iterator[Case]:
    for batch in (1, 2, 8, 16):
        yield rmsnorm_linear(batch, 4096, 4096, dtype, Bar(0.80, 0.65))
        yield rmsnorm_linear(batch, 4096, 6144, dtype, Bar(0.90, 0.80))
    for width, aim in ((4096, 0.90), (6144, 0.90), (14336, 0.97)):
        for batch in (1, 2, 8, 16):
            yield matmul(batch, 4096, width, dtype, Bar(1.0, aim))


def _blocks(dtype: str) -> Iterator[Case]:
    for batch in (1, 8, 16):
        yield add_rmsnorm_linear(batch, 4096, 4096, dtype, Bar(0.85, 0.65))
        yield layernorm_linear(batch, 4096, 4096, dtype, Bar(0.85, 0.65))
        yield linear_bias_gelu(batch, 4096, 4096, dtype, Bar(0.90, 0.72))
        yield gated_mlp(batch, 4096, 4096, dtype, Bar(1.0, 0.95))
        yield gated_mlp(batch, 4096, 14336, dtype, Bar(1.0, 0.98))
    yield lora(16, 256, 4096, 16, dtype, Bar(1.0, 0.70))
    yield lora(16, 4096, 4096, 16, dtype, Bar(0.70, 0.55))


def _attention(dtype: str) -> Iterator[Case]:
    for batch in (1, 8):
        for name, heads, queries in (
            ("gqa_paper", 2, 256),
            ("mha_paper", 32, 16),
            ("mqa_paper", 1, 1024),
            ("qknorm_gqa", 2, 256),
        ):
            streams = name == "mha_paper" and batch == 8
            bar = Bar(1.0, 0.98 if streams else 0.75)
            yield attention(name, batch, heads, queries, dtype, bar)
    for keys in (1024, 4096, 8192):
        for batch in (1, 8, 16):
            aim = 0.93 if (batch, keys) == (16, 8192) else 0.85
            yield grouped_decode(batch, keys, dtype, Bar(1.05, aim))


def case_named(name: str) -> Case:
    """The case with that key, in any element type."""
    from kernels.workload_files import SEPARATOR, case_at

    if SEPARATOR in name:
        return case_at(name)
    return named_out_in(name, (case for dtype in FLOATS[:2] for case in table(dtype)))


def chosen(cases: Sequence[Case], only: str) -> list[Case]:
    """The cases whose names contain one of the words in `only`, all where there are none."""
    words = only.split(",")
    return [case for case in cases if any(word in case.name for word in words)]
