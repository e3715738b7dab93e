"""Formulas of indices, computed at some indices."""

from collections.abc import Sequence

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
    part_of,
    parts_of,
    places_of,
)

DOMAIN = TensorDomain(FloatDomain(rounding=False))

Indices = Sequence[NDArray[np.int64]]
"""Of each dimension of a formula, those that are asked for."""


def values_at(value: SSAValue, indices: Indices) -> Floats:
    """
    The elements of a formula at `indices`.

    Args:
        value: a formula of indices (`is_formula`).
        indices: for each of its dimensions.
    """
    whole = part_of(value, places_of(kernel.shape_of(value)))
    found: dict[FormulaPart, Tensor[Floats]] = {}
    for part, operands in parts_of(whole):
        found[part] = _computed(part, [found[each] for each in operands], indices)
    counts = [len(each) for each in indices]
    return np.broadcast_to(DOMAIN.expanded(found[whole])[0], counts)


def _computed(
    part: FormulaPart, operands: list[Tensor[Floats]], indices: Indices
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


def _index(place: IndexSum, indices: Indices) -> Floats:
    total = np.full((1,) * len(indices), place.start, np.float64)
    for dim, stride in place.terms:
        shape = [1] * len(indices)
        shape[dim] = -1
        total = total + indices[dim].reshape(shape).astype(np.float64) * stride
    return total
