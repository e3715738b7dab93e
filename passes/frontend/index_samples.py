"""Formulas of indices, computed at some indices for the cost model."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.elementwise import parameters_of, row_of
from mirage_mlir.operators.elementwise import Parameters
from mirage_mlir.passes.analysis.index_formulas import (
    IndexSum,
    IndexSums,
    broadcast,
    operators_of,
    places_of,
    through,
)
from mirage_mlir.search.program.index_masks import MOST_SAMPLES, IndexSamples

Numbers = NDArray[np.float64]

COMPARISONS: Mapping[str, Callable[[Numbers, Numbers], NDArray[np.bool_]]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def _chosen(condition: Numbers, x: Numbers, y: Numbers) -> Numbers:
    return np.where(condition != 0.0, x, y)


def _positive(x: Numbers) -> Numbers:
    return np.maximum(x, 0.0)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "neg": np.negative,
    "abs": np.abs,
    "square": np.square,
    "cast": np.asarray,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "relu": _positive,
    "select": _chosen,
}


def samples_of(value: SSAValue) -> IndexSamples:
    """Elements of a formula, at indices that are evenly spaced."""
    shape = kernel.shape_of(value)
    counts = [min(size, MOST_SAMPLES) for size in shape]
    if sum(count > 1 for count in counts) > 2:
        counts = [1] * len(shape)
    indices = [np.arange(n) * size // n for n, size in zip(counts, shape, strict=True)]
    with np.errstate(invalid="ignore", over="ignore"):
        found = _Samples(indices).of(value, places_of(shape))
    elements = np.broadcast_to(found, counts).astype(np.float32)
    whole = [op for op in operators_of(value) if kernel.shape_of(op.results[0]) == shape]
    return IndexSamples(tuple(counts), elements.tobytes(), float(max(1, len(whole))))


class _Samples:
    """
    Values at some indices.

    Args:
        indices: those of each dimension of the formula as a whole.
    """

    def __init__(self, indices: list[NDArray[np.int64]]) -> None:
        self.indices = indices

    def of(self, value: SSAValue, places: IndexSums) -> Numbers:
        """The elements of a part of the formula."""
        op = value.owner
        assert isinstance(op, Operation)
        if isinstance(op, kernel.IotaOp):
            return self._index(places[op.dim.value.data])
        if isinstance(op, kernel.ConstantOp):
            return np.array(op.value.value.data)
        if (inner := through(op, places)) is not None:
            return self.of(op.operands[0], inner)
        row = row_of(op)
        assert row is not None
        operands = [self.of(v, broadcast(kernel.shape_of(v), places)) for v in op.operands]
        return _computed(row.name, parameters_of(op, row), operands)

    def _index(self, place: IndexSum) -> Numbers:
        total = np.full((1,) * len(self.indices), place.start, np.float64)
        for dim, stride in place.terms:
            shape = [1] * len(self.indices)
            shape[dim] = -1
            along = self.indices[dim].reshape(shape).astype(np.float64)
            total = total + along * stride
        return total


def _computed(name: str, parameters: Parameters, x: list[Numbers]) -> Numbers:
    if name == "compare":
        return COMPARISONS[parameters.text("predicate")](*x).astype(np.float64)
    if name == "scale":
        return x[0] * parameters.float("factor")
    if name == "clamp":
        low, high = parameters.float("min"), parameters.float("max")
        return np.minimum(np.maximum(x[0], low), high)
    computed: Numbers = FUNCTIONS[name](*x)
    return computed
