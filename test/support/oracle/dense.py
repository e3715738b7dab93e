"""
The fast evaluator: whole tensors at once, and one tile after the other by lists of indices.

Blocks run one by one, iterations within them; accumulators keep running sums. That is another way
than the naive evaluator's, with which it is compared at small sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from oracle.dense_graph import run_graph
from oracle.elements import (
    ELEMENTWISE,
    Array,
    Unsupported,
    function_of,
    integer,
    integers,
    mnemonic,
    number,
    shape_of,
)

Indices = list[NDArray[np.int64]]
"""For each dimension of a tensor the index of every element; arrays that broadcast."""


def run(function: FuncOp, inputs: Sequence[Array]) -> list[Array]:
    """
    What a function returns.

    Raises:
        Unsupported: it has an operation that the oracle does not know.
    """
    values = values_of(function, inputs)
    last = function.body.block.last_op
    assert isinstance(last, ReturnOp)
    return [values[operand] for operand in last.operands]


def values_of(function: FuncOp, inputs: Sequence[Array]) -> dict[SSAValue, Array]:
    """All tensors of a function."""
    values: dict[SSAValue, Array] = dict(zip(function.body.block.args, inputs, strict=True))
    with np.errstate(all="ignore"):
        for op in function.body.block.ops:
            if isinstance(op, ReturnOp):
                continue
            operands = [values[operand] for operand in op.operands]
            if op.name == "kernel.graph_defined":
                results = run_graph(op, operands)
            else:
                results = [_result(op, operands)]
            values.update(zip(op.results, results, strict=True))
    return values


def _result(op: Operation, operands: Sequence[Array]) -> Array:
    name = mnemonic(op)
    if name in ELEMENTWISE:
        return np.asarray(function_of(op)(*operands), np.float64)
    if name == "constant":
        return np.full(shape_of(op.results[0]), number(op, "value"))
    if name == "iota":
        return np.indices(shape_of(op.results[0]))[integer(op, "dim")].astype(np.float64)
    if name == "concat":
        return _concat(op, operands)
    if name in _VIEWS:
        return _gathered(op, operands[0])
    if name in _WHOLE:
        return _WHOLE[name](op, *operands)
    raise Unsupported(op.name)


# Reductions, products and norms


def _sum(op: Operation, x: Array) -> Array:
    return x.sum(axis=integers(op, "dims"), keepdims=True)


def _mean(op: Operation, x: Array) -> Array:
    return x.mean(axis=integers(op, "dims"), keepdims=True)


def _largest(op: Operation, x: Array) -> Array:
    return x.max(axis=integers(op, "dims"), keepdims=True)


def _matmul(op: Operation, lhs: Array, rhs: Array) -> Array:
    return np.matmul(lhs, rhs)


def _rms_norm(op: Operation, x: Array, weight: Array | float = 1.0) -> Array:
    return x * weight / np.sqrt((x**2).mean(axis=-1, keepdims=True) + number(op, "eps"))


def _layer_norm(
    op: Operation, x: Array, weight: Array | float = 1.0, bias: Array | float = 0.0
) -> Array:
    scale = np.sqrt(x.var(axis=-1, keepdims=True) + number(op, "eps"))
    return (x - x.mean(axis=-1, keepdims=True)) * weight / scale + bias


def _softmax(op: Operation, x: Array) -> Array:
    dim = integer(op, "dim")
    powers = np.exp(x - x.max(axis=dim, keepdims=True))
    return powers / powers.sum(axis=dim, keepdims=True)


def _cumsum(op: Operation, x: Array) -> Array:
    return np.cumsum(x, axis=integer(op, "dim"))


_WHOLE: dict[str, Callable[..., Array]] = {
    "reduce_sum": _sum,
    "reduce_mean": _mean,
    "reduce_max": _largest,
    "matmul": _matmul,
    "rms_norm": _rms_norm,
    "layer_norm": _layer_norm,
    "softmax": _softmax,
    "cumsum": _cumsum,
}


# Views


def _gathered(op: Operation, x: Array) -> Array:
    """The elements of a view, from their places in the row-major order of its operand."""
    shape = shape_of(op.results[0])
    indices: Indices = list(np.indices(shape, np.int64, sparse=True))
    sources = _VIEWS[mnemonic(op)](op, indices, x.shape)
    place = np.zeros(1, np.int64)
    for size, source in zip(x.shape, sources, strict=True):
        place = place * size + source
    return x.ravel()[np.broadcast_to(place, shape)]


def _transpose(op: Operation, indices: Indices, shape: Sequence[int]) -> Indices:
    permutation = integers(op, "permutation")
    return [indices[permutation.index(dim)] for dim in range(len(shape))]


def _reshape(op: Operation, indices: Indices, shape: Sequence[int]) -> Indices:
    rest = np.arange(math.prod(shape), dtype=np.int64).reshape(shape_of(op.results[0]))
    sources: Indices = []
    for size in reversed(shape):
        rest, source = np.divmod(rest, size)
        sources.append(source)
    return sources[::-1]


def _broadcast(op: Operation, indices: Indices, shape: Sequence[int]) -> Indices:
    last = indices[len(indices) - len(shape) :]
    return [i * (size != 1) for i, size in zip(last, shape, strict=True)]


def _repeat(op: Operation, indices: Indices, shape: Sequence[int]) -> Indices:
    dim = integer(op, "dim")
    return [i % shape[dim] if d == dim else i for d, i in enumerate(indices)]


def _repeat_interleave(op: Operation, indices: Indices, shape: Sequence[int]) -> Indices:
    dim, times = integer(op, "dim"), integer(op, "times")
    return [i // times if d == dim else i for d, i in enumerate(indices)]


def _slice(op: Operation, indices: Indices, shape: Sequence[int]) -> Indices:
    steps = zip(integers(op, "offsets"), integers(op, "strides"), indices, strict=True)
    return [offset + stride * i for offset, stride, i in steps]


_VIEWS: dict[str, Callable[[Operation, Indices, Sequence[int]], Indices]] = {
    "transpose": _transpose,
    "reshape": _reshape,
    "broadcast": _broadcast,
    "repeat": _repeat,
    "repeat_interleave": _repeat_interleave,
    "slice": _slice,
}
"""Where the elements of a view with these indices come from."""


def _concat(op: Operation, operands: Sequence[Array]) -> Array:
    dim = integer(op, "dim")
    result = np.empty(shape_of(op.results[0]))
    lines = np.moveaxis(result, dim, 0)
    first = 0
    for operand in operands:
        count = operand.shape[dim]
        lines[first : first + count] = np.moveaxis(operand, dim, 0)
        first += count
    return result
