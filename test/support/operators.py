"""Every operator of the kernel dialect alone, at odd shapes: how to build it, numpy's answer."""

from collections.abc import Callable

import numpy as np
from numpy_reference import (
    Array,
    erf,
    gelu,
    gelu_tanh,
    layer_norm,
    rms_norm,
    sigmoid,
    silu,
    softmax,
)
from operator_case import TYPES as TYPES
from operator_case import Operator, Shape, binary, unary
from operators_of_conditions import CONDITIONS

import mirage_mlir as mi
from mirage_mlir.runtime.element_types import ElementType


def reduction(kind: str, shape: Shape, *dims: int) -> Operator:
    """A reduction that keeps its dims with size 1."""
    builds = {
        "sum": mi.KernelGraph.reduce_sum,
        "max": mi.KernelGraph.reduce_max,
        "mean": mi.KernelGraph.reduce_mean,
    }
    references: dict[str, Callable[[Array], Array]] = {
        "sum": lambda x: x.sum(axis=dims, keepdims=True),
        "max": lambda x: x.max(axis=dims, keepdims=True),
        "mean": lambda x: x.mean(axis=dims, keepdims=True),
    }
    name = "_".join(["reduce", kind, *map(str, shape), "over", *map(str, dims)])
    # Sums of numbers of both signs may come out near 0, where no relative error is small.
    return unary(
        name,
        shape,
        lambda graph, x: builds[kind](graph, x, dims),
        references[kind],
        positive=kind != "max",
    )


def product(name: str, lhs: Shape, rhs: Shape) -> Operator:
    """A matrix product."""
    # One number may come out near 0, as a sum may.
    one = lhs[-2] * rhs[-1] == 1
    return binary(name, (lhs, rhs), mi.KernelGraph.matmul, np.matmul, positive=one)


def cast(name: str, shape: Shape, element_type: ElementType) -> Operator:
    """A cast, whose result is compared at the tolerance of the type that it has."""
    return unary(name, shape, lambda graph, x: graph.cast(x, element_type), lambda x: x)


def prefix_sums(shape: Shape, dim: int) -> Operator:
    """Inclusive prefix sums."""
    name = "_".join(["cumsum", *map(str, shape), "along", str(dim)])
    return unary(
        name,
        shape,
        lambda graph, x: graph.cumsum(x, dim),
        lambda x: x.cumsum(axis=dim),
        positive=True,
    )


FUNCTIONS = [
    unary("neg", (5, 37), mi.KernelGraph.neg, np.negative),
    unary("abs", (3, 1, 19), mi.KernelGraph.abs, np.abs),
    unary("erf", (23, 9), mi.KernelGraph.erf, erf),
    unary("expm1", (7, 11), mi.KernelGraph.expm1, np.expm1),
    unary("log1p", (3, 29), mi.KernelGraph.log1p, np.log1p, positive=True),
    unary("sin", (2, 31), mi.KernelGraph.sin, np.sin),
    unary("cos", (5, 13), mi.KernelGraph.cos, np.cos),
    unary("floor", (5, 29), mi.KernelGraph.floor, np.floor),
    unary("ceil", (3, 17), mi.KernelGraph.ceil, np.ceil),
    unary("round", (2, 67), mi.KernelGraph.round, np.rint),
    unary("exp", (5, 1, 13), mi.KernelGraph.exp, np.exp),
    unary("log", (7,), mi.KernelGraph.log, np.log, positive=True),
    unary("square", (1,), mi.KernelGraph.square, np.square),
    unary("sqrt", (7, 257), mi.KernelGraph.sqrt, np.sqrt, positive=True),
    unary("rsqrt", (3, 1), mi.KernelGraph.rsqrt, lambda x: 1 / np.sqrt(x), positive=True),
    unary("sigmoid", (2, 3, 5, 7), mi.KernelGraph.sigmoid, sigmoid),
    unary("silu", (1, 1009), mi.KernelGraph.silu, silu),
    unary("gelu", (17, 11), mi.KernelGraph.gelu, gelu),
    unary("gelu_tanh", (11, 17), lambda graph, x: graph.gelu(x, "tanh"), gelu_tanh),
    unary("relu", (1, 1, 1), mi.KernelGraph.relu, lambda x: np.maximum(x, 0)),
    unary("relu_rows", (13, 64), mi.KernelGraph.relu, lambda x: np.maximum(x, 0)),
    unary("tanh", (67,), mi.KernelGraph.tanh, np.tanh),
    unary(
        "clamp",
        (5, 41),
        lambda graph, x: graph.clamp(x, -0.5, 0.75),
        lambda x: np.clip(x, -0.5, 0.75),
    ),
    unary(
        "softcap", (9, 33), lambda graph, x: graph.softcap(x, 1.5), lambda x: 1.5 * np.tanh(x / 1.5)
    ),
    unary("pow_2", (3, 127), lambda graph, x: graph.pow(x, 2), lambda x: x**2),
    unary("pow_3", (19, 3), lambda graph, x: graph.pow(x, 3), lambda x: x**3),
    unary("pow_minus_1", (29,), lambda graph, x: graph.pow(x, -1), lambda x: 1 / x, positive=True),
    unary("pow_1_5", (2, 29), lambda graph, x: graph.pow(x, 1.5), lambda x: x**1.5, positive=True),
    unary("scale", (7, 1, 3), lambda graph, x: graph.scale(x, -0.3), lambda x: x * -0.3),
]

ARITHMETIC = [
    binary("add", ((13, 97), (13, 97)), mi.KernelGraph.add, np.add),
    binary("add_row", ((7, 31), (31,)), mi.KernelGraph.add, np.add),
    binary("add_column", ((7, 31), (7, 1)), mi.KernelGraph.add, np.add),
    binary("add_outer", ((11, 1), (1, 23)), mi.KernelGraph.add, np.add),
    binary("add_to_higher_rank", ((3, 5), (2, 1, 3, 5)), mi.KernelGraph.add, np.add),
    binary("sub", ((1, 5, 7), (3, 1, 7)), mi.KernelGraph.sub, np.subtract),
    binary("mul", ((1,), (37, 3)), mi.KernelGraph.mul, np.multiply),
    binary("div", ((23, 5), (23, 1)), mi.KernelGraph.div, np.divide, positive=True),
    binary("max", ((5, 53), (5, 53)), mi.KernelGraph.max, np.maximum),
    binary("min", ((5, 53), (53,)), mi.KernelGraph.min, np.minimum),
    unary("add_number", (3, 43), lambda graph, x: graph.add(x, 2.5), lambda x: x + 2.5),
    unary("sub_from_number", (43,), lambda graph, x: graph.sub(1, x), lambda x: 1 - x),
    unary("mul_number", (3, 5, 2), lambda graph, x: graph.mul(3, x), lambda x: 3 * x),
    unary("number_div", (17,), lambda graph, x: graph.div(2, x), lambda x: 2 / x, positive=True),
    unary(
        "max_number", (47, 1), lambda graph, x: graph.max(x, 0.25), lambda x: np.maximum(x, 0.25)
    ),
]

REDUCTIONS = [
    reduction("sum", (5, 7, 11), 0),
    reduction("sum", (5, 7, 11), 1),
    reduction("sum", (5, 7, 11), 2),
    reduction("sum", (5, 7, 11), 0, 2),
    reduction("sum", (5, 7, 11), 1, 2),
    reduction("sum", (5, 7, 11), 0, 1, 2),
    reduction("sum", (3, 4099), 1),
    reduction("sum", (4099, 3), 0),
    reduction("sum", (1,), 0),
    reduction("sum", (2, 3, 5, 7), 1, 3),
    reduction("max", (5, 7, 11), 0),
    reduction("max", (5, 7, 11), 1),
    reduction("max", (5, 7, 11), 2),
    reduction("max", (5, 7, 11), 0, 1),
    reduction("max", (2, 2053), 1),
    reduction("mean", (5, 7, 11), 1),
    reduction("mean", (13, 257), 1),
    reduction("mean", (257, 13), 0),
    reduction("mean", (5, 7, 11), 0, 1, 2),
]

SCANS = [
    prefix_sums((7, 13), 1),
    prefix_sums((3, 6, 5), 1),
    prefix_sums((67,), 0),
    prefix_sums((3, 1), 1),
]

PRODUCTS = [
    product("matmul", (17, 31), (31, 29)),
    product("matmul_ragged", (19, 131), (131, 21)),
    product("matmul_row", (1, 509), (509, 29)),
    product("matmul_column", (61, 97), (97, 1)),
    product("matmul_one_element", (1, 1), (1, 1)),
    product("matmul_inner", (1, 211), (211, 1)),
    product("matmul_outer", (13, 1), (1, 71)),
    product("matmul_aligned", (64, 256), (256, 192)),
    product("matmul_many_rows", (300, 40), (40, 24)),
    product("matmul_batched", (3, 5, 7), (3, 7, 11)),
    product("matmul_two_batches", (2, 3, 17, 8), (2, 3, 8, 19)),
    product("matmul_shared_rhs", (5, 7, 13), (13, 9)),
    product("matmul_shared_lhs", (7, 13), (5, 13, 9)),
    product("matmul_broadcast_batches", (1, 3, 5, 16), (2, 1, 16, 7)),
    binary(
        "matmul_transposed_lhs",
        ((31, 17), (31, 29)),
        lambda graph, x, y: graph.matmul(graph.transpose(x), y),
        lambda x, y: x.T @ y,
    ),
    binary(
        "matmul_transposed_rhs",
        ((5, 136), (72, 136)),
        lambda graph, x, y: graph.matmul(x, graph.transpose(y)),
        lambda x, y: x @ y.T,
    ),
    binary(
        "matmul_transposed_both",
        ((2, 24, 40), (2, 33, 24)),
        lambda graph, x, y: graph.matmul(graph.transpose(x), graph.transpose(y)),
        lambda x, y: x.swapaxes(1, 2) @ y.swapaxes(1, 2),
    ),
]

NORMS = [
    unary("softmax_last", (7, 101), mi.KernelGraph.softmax, softmax),
    unary("softmax_first", (101, 7), lambda graph, x: graph.softmax(x, 0), lambda x: softmax(x, 0)),
    unary(
        "softmax_middle", (3, 37, 5), lambda graph, x: graph.softmax(x, 1), lambda x: softmax(x, 1)
    ),
    unary("softmax_of_one", (5, 1), mi.KernelGraph.softmax, softmax),
    unary("softmax_long", (2, 4099), mi.KernelGraph.softmax, softmax),
    unary("rms_norm", (11, 67), mi.KernelGraph.rms_norm, rms_norm),
    unary("rms_norm_long", (1, 4099), mi.KernelGraph.rms_norm, rms_norm),
    binary("rms_norm_weight", ((3, 5, 96), (96,)), mi.KernelGraph.rms_norm, rms_norm),
    unary("layer_norm", (11, 67), mi.KernelGraph.layer_norm, layer_norm),
    binary("layer_norm_weight", ((1, 1000), (1000,)), mi.KernelGraph.layer_norm, layer_norm),
    Operator(
        "layer_norm_weight_bias",
        ((2, 7, 33), (33,), (33,)),
        lambda graph, x: graph.layer_norm(x[0], x[1], x[2]),
        lambda x: layer_norm(x[0], x[1], x[2]),
    ),
]

VIEWS = [
    unary("transpose", (31, 67), mi.KernelGraph.transpose, np.transpose),
    unary(
        "transpose_cycle",
        (3, 5, 7),
        lambda graph, x: graph.transpose(x, 2, 0, 1),
        lambda x: x.transpose(2, 0, 1),
    ),
    unary(
        "transpose_outer",
        (2, 3, 5, 7),
        lambda graph, x: graph.transpose(x, 0, 2, 1, 3),
        lambda x: x.transpose(0, 2, 1, 3),
    ),
    unary(
        "reshape", (6, 35), lambda graph, x: graph.reshape(x, (14, 15)), lambda x: x.reshape(14, 15)
    ),
    unary(
        "broadcast",
        (5, 1),
        lambda graph, x: graph.broadcast(x, (3, 5, 7)),
        lambda x: np.broadcast_to(x, (3, 5, 7)),
    ),
    unary(
        "repeat", (3, 5, 7), lambda graph, x: graph.repeat(x, 1, 4), lambda x: np.tile(x, (1, 4, 1))
    ),
    unary(
        "repeat_last", (3, 31), lambda graph, x: graph.repeat(x, 1, 2), lambda x: np.tile(x, (1, 2))
    ),
    unary(
        "repeat_interleave",
        (3, 5, 7),
        lambda graph, x: graph.repeat_interleave(x, 1, 4),
        lambda x: x.repeat(4, axis=1),
    ),
    unary(
        "repeat_interleave_last",
        (3, 31),
        lambda graph, x: graph.repeat_interleave(x, 1, 3),
        lambda x: x.repeat(3, axis=1),
    ),
    unary(
        "slice",
        (13, 67),
        lambda graph, x: graph.slice(x, (2, 5), (7, 41)),
        lambda x: x[2:9, 5:46],
    ),
    unary(
        "slice_strided",
        (13, 67),
        lambda graph, x: graph.slice(x, (1, 3), (4, 21), (3, 2)),
        lambda x: x[1:13:3, 3:45:2],
    ),
    binary(
        "concat_rows",
        ((3, 17), (5, 17)),
        lambda graph, x, y: graph.concat([x, y], 0),
        lambda x, y: np.concatenate([x, y], 0),
    ),
    Operator(
        "concat_columns",
        ((7, 5), (7, 1), (7, 11)),
        lambda graph, x: graph.concat(x, 1),
        lambda x: np.concatenate(x, 1),
    ),
    cast("cast_to_f16", (5, 59), mi.float16),
    cast("cast_to_bf16", (5, 59), mi.bfloat16),
    cast("cast_to_f32", (5, 59), mi.float32),
]

CHAINS = [
    Operator(
        "residual_gate",
        ((5, 61), (5, 61), (61,)),
        lambda graph, x: x[0] + graph.sigmoid(x[1] * 0.5) * x[2],
        lambda x: x[0] + sigmoid(x[1] * 0.5) * x[2],
    ),
    unary(
        "log_sum_exp",
        (7, 129),
        lambda graph, x: graph.log(graph.reduce_sum(graph.exp(x), 1)),
        lambda x: np.log(np.exp(x).sum(axis=1, keepdims=True)),
    ),
    binary(
        "linear_of_reshaped",
        ((2, 3, 40), (40, 17)),
        lambda graph, x, w: graph.matmul(graph.reshape(x, (6, 40)), w),
        lambda x, w: x.reshape(6, 40) @ w,
    ),
    binary(
        "scores",
        ((2, 3, 5, 16), (2, 1, 7, 16)),
        lambda graph, q, k: graph.scale(graph.matmul(q, graph.transpose(k)), 0.25),
        lambda q, k: 0.25 * q @ k.swapaxes(2, 3),
    ),
    unary(
        "standard_deviation",
        (9, 65),
        lambda graph, x: graph.sqrt(graph.reduce_mean(graph.square(x), 1)),
        lambda x: np.sqrt((x * x).mean(axis=1, keepdims=True)),
    ),
    unary("gelu_by_hand", (3, 7), lambda graph, x: x * graph.gelu(x), lambda x: x * gelu(x)),
]
"""Some operators together, as users combine them."""

OPERATORS = [
    *FUNCTIONS,
    *ARITHMETIC,
    *CONDITIONS,
    *REDUCTIONS,
    *SCANS,
    *PRODUCTS,
    *NORMS,
    *VIEWS,
    *CHAINS,
]
