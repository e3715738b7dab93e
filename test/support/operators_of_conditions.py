"""Comparisons, selections and indices: operators of masks."""

from functools import partial
from math import inf

import numpy as np
from numpy_reference import softmax
from operator_case import Operator, binary, unary

import mirage_mlir as mi

CONDITIONS = [
    *(
        binary(
            f"compare_{predicate}",
            shapes,
            partial(mi.KernelGraph.compare, predicate=predicate),
            lambda x, y, compare=compare: compare(x, y).astype(np.float64),
        )
        for predicate, shapes, compare in (
            ("eq", ((5, 3), (5, 3)), np.equal),
            ("ne", ((5, 3), (5, 1)), np.not_equal),
            ("lt", ((7, 31), (7, 31)), np.less),
            ("le", ((7, 1), (1, 31)), np.less_equal),
            ("gt", ((2, 3, 1, 5), (3, 4, 1)), np.greater),
            ("ge", ((67,), (67,)), np.greater_equal),
        )
    ),
    unary(
        "compare_rounded",
        (5, 41),
        lambda graph, x: graph.compare(graph.max(x, 0), 0, "eq"),
        lambda x: (np.maximum(x, 0) == 0).astype(np.float64),
    ),
    Operator(
        "select",
        ((5, 17), (5, 17), (5, 17)),
        lambda graph, x: graph.select(x[0], x[1], x[2]),
        lambda x: np.where(x[0] != 0, x[1], x[2]),
    ),
    Operator(
        "select_of_rounded",
        ((5, 17), (5, 17), (5, 17)),
        lambda graph, x: graph.select(graph.relu(x[0]), x[1], x[2]),
        lambda x: np.where(x[0] > 0, x[1], x[2]),
    ),
    Operator(
        "select_of_broadcast",
        ((1, 3, 1), (2, 1, 70), (3, 70)),
        lambda graph, x: graph.select(graph.compare(x[0], 0, "gt"), x[1], x[2]),
        lambda x: np.where(x[0] > 0, x[1], x[2]),
    ),
    unary(
        "select_number",
        (13, 5),
        lambda graph, x: graph.select(graph.compare(x, 0.5, "lt"), x, 0.25),
        lambda x: np.where(x < 0.5, x, 0.25),
    ),
    *(
        unary(
            "_".join(["iota", *map(str, shape), "along", str(dim)]),
            shape,
            lambda graph, x, shape=shape, dim=dim: graph.select(
                graph.compare(x, 0, "lt"), x, graph.cast(graph.iota(shape, dim), x.dtype)
            ),
            lambda x, dim=dim: np.where(x < 0, x, np.indices(x.shape)[dim]),
        )
        for shape, dim in (((1,), 0), ((2,), 0), ((3, 5), 0), ((3, 5), 1), ((3, 300), 1))
    ),
    unary(
        "causal_softmax",
        (3, 9, 11),
        lambda graph, x: graph.softmax(
            graph.select(
                graph.compare(graph.iota((9, 1), 0, x.dtype), graph.iota((11,), 0, x.dtype), "ge"),
                x,
                -inf,
            )
        ),
        lambda x: softmax(np.where(np.arange(9)[:, None] >= np.arange(11), x, -inf)),
    ),
]
