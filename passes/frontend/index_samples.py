"""Formulas of indices, computed at some indices for the cost model."""

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.interpreters.float_domain import FloatDomain, Floats
from mirage_mlir.interpreters.operators import elementwise
from mirage_mlir.interpreters.tensors import Tensor, TensorDomain
from mirage_mlir.passes.analysis.index_formulas import (
    FormulaPart,
    IndexSum,
    operators_of,
    part_of,
    parts_of,
    places_of,
)
from mirage_mlir.search.program.index_masks import MOST_SAMPLES, IndexSamples

DOMAIN = TensorDomain(FloatDomain(rounding=False))


def samples_of(value: SSAValue) -> IndexSamples:
    """Elements of a formula, at indices that are evenly spaced."""
    shape = kernel.shape_of(value)
    counts = [min(size, MOST_SAMPLES) for size in shape]
    if sum(count > 1 for count in counts) > 2:
        counts = [1] * len(shape)
    indices = [np.arange(n) * size // n for n, size in zip(counts, shape, strict=True)]
    whole = part_of(value, places_of(shape))
    found: dict[FormulaPart, Tensor[Floats]] = {}
    for part, operands in parts_of(whole):
        found[part] = _computed(part, [found[each] for each in operands], indices)
    elements = np.broadcast_to(DOMAIN.expanded(found[whole])[0], counts).astype(np.float32)
    work = [op for op in operators_of(value) if kernel.shape_of(op.results[0]) == shape]
    return IndexSamples(tuple(counts), elements.tobytes(), float(max(1, len(work))))


def _computed(
    part: FormulaPart, operands: list[Tensor[Floats]], indices: list[NDArray[np.int64]]
) -> Tensor[Floats]:
    """The elements of a part of a formula, at `indices` of each dimension of all of it."""
    op, ones = part.op, (1,) * len(indices)
    if isinstance(op, kernel.IotaOp):
        return DOMAIN.literal(_index(part.places[op.dim.value.data], indices)[None])
    if isinstance(op, kernel.ConstantOp):
        return DOMAIN.literal(np.full((1, *ones), op.value.value.data))
    found = elementwise(DOMAIN, op, operands)
    assert found is not None, "formulas have no other operators"
    return found


def _index(place: IndexSum, indices: list[NDArray[np.int64]]) -> Floats:
    total = np.full((1,) * len(indices), place.start, np.float64)
    for dim, stride in place.terms:
        shape = [1] * len(indices)
        shape[dim] = -1
        total = total + indices[dim].reshape(shape).astype(np.float64) * stride
    return total
