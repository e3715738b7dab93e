"""
Operators of tensors and tiles for the naive evaluator: a loop over the elements of the result.

A tensor or tile is a `Box`. Tiles at the edge of a tensor are ragged: only the first elements of a
dimension may be valid, or none, and every operator ranges over what is valid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from xdsl.ir import Operation

from oracle.elements import (
    ELEMENTWISE,
    Array,
    Unsupported,
    function_of,
    integer,
    integers,
    mnemonic,
    number,
    run_thread_graph,
    shape_of,
)

Index = tuple[int, ...]


class Box(NamedTuple):
    """The elements of a tensor or tile of `shape` that are valid: the first of each dimension."""

    shape: Index
    elements: Array
    """As many along each dimension as are valid."""

    @property
    def valid(self) -> Index:
        """How many elements of each dimension there are."""
        return self.elements.shape

    def at(self, index: Index) -> float:
        """The element that stands at `index` of a larger shape to which this one broadcasts."""
        own = index[len(index) - len(self.shape) :]
        return self.elements[
            tuple(0 if size == 1 else i for size, i in zip(self.shape, own, strict=True))
        ]


def whole(elements: Array) -> Box:
    """All elements of a tensor."""
    return Box(elements.shape, elements)


def results_of(op: Operation, operands: Sequence[Box]) -> list[Box]:
    """What an operator of either dialect makes of tensors or tiles."""
    name = mnemonic(op)
    shape = shape_of(op.results[0])
    if op.name == "thread.graph":
        return _thread_graph(op, shape, operands)
    if name in ELEMENTWISE:
        function = function_of(op)
        valid = _together(shape, operands)
        return [
            _filled(shape, valid, lambda i: float(function(*(np.array(x.at(i)) for x in operands))))
        ]
    if name in ("reduce_sum", "reduce_max", "reduce_mean"):
        return [_reduction(op, shape, operands[0])]
    if name not in _OTHERS:
        raise Unsupported(op.name)
    return [_OTHERS[name](op, shape, operands)]


def _filled(shape: Index, valid: Index, element: Callable[[Index], float]) -> Box:
    """A box whose elements a function of their index gives."""
    elements = np.empty(valid)
    for index in np.ndindex(*valid):
        elements[index] = element(index)
    return Box(shape, elements)


def _together(shape: Index, operands: Sequence[Box]) -> Index:
    """How many elements of each dimension are valid in all operands, which broadcast to `shape`."""
    valid = list(shape)
    for operand in operands:
        first = len(shape) - len(operand.shape)
        for dim, (size, there) in enumerate(zip(operand.shape, operand.valid, strict=True), first):
            if size == shape[dim]:
                valid[dim] = min(valid[dim], there)
            elif there == 0:
                valid[dim] = 0
    return tuple(valid)


def _thread_graph(op: Operation, shape: Index, operands: Sequence[Box]) -> list[Box]:
    valid = _together(shape, operands)
    results = [Box(shape, np.empty(valid)) for _ in op.results]
    for index in np.ndindex(*valid):
        values = run_thread_graph(op, [np.array(operand.at(index)) for operand in operands])
        for result, value in zip(results, values, strict=True):
            result.elements[index] = value
    return results


# Reductions and products


def _reduction(op: Operation, shape: Index, x: Box) -> Box:
    dims = integers(op, "dims")
    valid = tuple(1 if dim in dims else there for dim, there in enumerate(x.valid))

    def reduced(index: Index) -> float:
        ranges = [range(n) if d in dims else [index[d]] for d, n in enumerate(x.valid)]
        terms = [x.elements[source] for source in product(*ranges)]
        if mnemonic(op) == "reduce_max":
            return largest(terms)
        return total(terms) / (len(terms) if mnemonic(op) == "reduce_mean" else 1)

    return _filled(shape, valid, reduced)


def total(terms: Sequence[float]) -> float:
    """The exact sum, rounded once."""
    if all(math.isfinite(term) for term in terms):
        return math.fsum(terms)
    return float(np.sum(terms))


def largest(terms: Sequence[float]) -> float:
    """The maximum; that of nothing is below every number."""
    return float(np.max(terms, initial=-math.inf))


def _matmul(op: Operation, shape: Index, operands: Sequence[Box]) -> Box:
    lhs, rhs = operands
    leading = [Box(x.shape[:-2], np.empty(x.valid[:-2])) for x in operands]
    valid = (*_together(shape[:-2], leading), lhs.valid[-2], rhs.valid[-1])
    depth = min(lhs.valid[-1], rhs.valid[-2])
    lhs, rhs = (_with_leading(x, len(shape)) for x in operands)

    def element(index: Index) -> float:
        *batch, i, j = index
        left = (lhs.elements[(*_pinned(batch, lhs), i, k)] for k in range(depth))
        right = (rhs.elements[(*_pinned(batch, rhs), k, j)] for k in range(depth))
        return total([a * b for a, b in zip(left, right, strict=True)])

    return _filled(shape, valid, element)


def _with_leading(x: Box, rank: int) -> Box:
    ones = (1,) * (rank - len(x.shape))
    return Box((*ones, *x.shape), x.elements.reshape((*ones, *x.valid)))


def _pinned(batch: Sequence[int], x: Box) -> Iterator[int]:
    return (0 if size == 1 else i for size, i in zip(x.shape[:-2], batch, strict=True))


# Norms: of whole tensors only


def _norm(op: Operation, shape: Index, operands: Sequence[Box]) -> Box:
    x, *parameters = operands
    columns = shape[-1]
    elements = np.empty(shape)
    for row in np.ndindex(*shape[:-1]):
        values = [float(x.elements[(*row, j)]) for j in range(columns)]
        mean = 0.0 if mnemonic(op) == "rms_norm" else total(values) / columns
        centred = [value - mean for value in values]
        variance = total([value * value for value in centred]) / columns
        deviation = math.sqrt(variance + number(op, "eps"))
        for j in range(columns):
            value = centred[j] / deviation if deviation else math.nan
            if parameters:
                value *= parameters[0].elements[j]
            if len(parameters) > 1:
                value += parameters[1].elements[j]
            elements[(*row, j)] = value
    return whole(elements)


def _softmax(op: Operation, shape: Index, operands: Sequence[Box]) -> Box:
    dim = integer(op, "dim")
    x = operands[0].elements

    def element(index: Index) -> float:
        line = [x[(*index[:dim], k, *index[dim + 1 :])] for k in range(shape[dim])]
        return 1 / total([float(np.exp(value - x[index])) for value in line])

    return _filled(shape, shape, element)


def _cumsum(op: Operation, shape: Index, operands: Sequence[Box]) -> Box:
    dim = integer(op, "dim")
    x = operands[0].elements

    def element(index: Index) -> float:
        before = range(index[dim] + 1)
        return total([float(x[(*index[:dim], k, *index[dim + 1 :])]) for k in before])

    return _filled(shape, shape, element)


# Views


def _transpose(op: Operation, shape: Index, operands: Sequence[Box]) -> Box:
    x = operands[0]
    permutation = integers(op, "permutation")

    def element(index: Index) -> float:
        source = [0] * len(index)
        for position, dim in enumerate(permutation):
            source[dim] = index[position]
        return x.elements[tuple(source)]

    return _filled(shape, tuple(x.valid[dim] for dim in permutation), element)


def _reshape(op: Operation, shape: Index, operands: Sequence[Box]) -> Box:
    x = operands[0]

    def element(index: Index) -> float:
        flat = 0
        for size, i in zip(shape, index, strict=True):
            flat = flat * size + i
        source: list[int] = []
        for size in reversed(x.shape):
            source.insert(0, flat % size)
            flat //= size
        return x.elements[tuple(source)]

    return _filled(shape, shape, element)


def _broadcast(op: Operation, shape: Index, operands: Sequence[Box]) -> Box:
    return _filled(shape, _together(shape, operands), operands[0].at)


def _repeat(op: Operation, shape: Index, operands: Sequence[Box]) -> Box:
    x, dim = operands[0], integer(op, "dim")

    def element(index: Index) -> float:
        i = index[dim] % x.shape[dim]
        return x.elements[(*index[:dim], i, *index[dim + 1 :])]

    return _filled(shape, shape, element)


def _repeat_interleave(op: Operation, shape: Index, operands: Sequence[Box]) -> Box:
    x, dim, times = operands[0], integer(op, "dim"), integer(op, "times")

    def element(index: Index) -> float:
        return x.elements[(*index[:dim], index[dim] // times, *index[dim + 1 :])]

    return _filled(shape, shape, element)


def _slice(op: Operation, shape: Index, operands: Sequence[Box]) -> Box:
    offsets, strides = integers(op, "offsets"), integers(op, "strides")

    def element(index: Index) -> float:
        places = zip(offsets, index, strides, strict=True)
        return operands[0].elements[tuple(first + i * step for first, i, step in places)]

    return _filled(shape, shape, element)


def _concat(op: Operation, shape: Index, operands: Sequence[Box]) -> Box:
    dim = integer(op, "dim")
    valid = list(shape)
    for x in operands:
        if x.valid[dim] != x.shape[dim]:
            raise Unsupported(f"a concat along dim {dim}, where an operand is ragged")
        for other in range(len(shape)):
            if other != dim:
                valid[other] = min(valid[other], x.valid[other])

    def element(index: Index) -> float:
        i = index[dim]
        for x in operands:
            if i < x.shape[dim]:
                return x.elements[(*index[:dim], i, *index[dim + 1 :])]
            i -= x.shape[dim]
        raise AssertionError("an index within the result")

    return _filled(shape, tuple(valid), element)


def _constant(op: Operation, shape: Index, operands: Sequence[Box]) -> Box:
    return whole(np.full(shape, number(op, "value")))


def _iota(op: Operation, shape: Index, operands: Sequence[Box]) -> Box:
    return _filled(shape, shape, lambda index: float(index[integer(op, "dim")]))


_OTHERS: dict[str, Callable[[Operation, Index, Sequence[Box]], Box]] = {
    "matmul": _matmul,
    "rms_norm": _norm,
    "layer_norm": _norm,
    "softmax": _softmax,
    "cumsum": _cumsum,
    "transpose": _transpose,
    "reshape": _reshape,
    "broadcast": _broadcast,
    "repeat": _repeat,
    "repeat_interleave": _repeat_interleave,
    "slice": _slice,
    "concat": _concat,
    "constant": _constant,
    "iota": _iota,
}
"""Operators that are not elementwise, by mnemonics."""
