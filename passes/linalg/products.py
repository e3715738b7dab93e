"""Sums of products over loops: matrix products, where a factor has a loop of its own."""

from collections.abc import Sequence
from math import prod
from typing import Protocol

from xdsl.dialects.builtin import TensorType, bf16, f16, f32
from xdsl.ir import Block, Operation, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.common import FloatType
from mirage_mlir.passes.linalg.builder import LinalgBuilder
from mirage_mlir.passes.stablehlo.tensors import Tensor


class Loops(Protocol):
    """The loops of an operation."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Steps of each."""
        ...

    @property
    def reduced(self) -> frozenset[int]:
        """Those over which a sum goes."""
        ...


class Elements(Protocol):
    """What an operation does with elements."""

    block: Block

    def value(self, value: SSAValue) -> Tensor:
        """A value as a tensor over the loops."""
        ...


def product(
    emit: LinalgBuilder, body: Elements, nest: Loops, step: SSAValue, element: FloatType
) -> SSAValue | None:
    """The sum of `step` over the reduced loops, as a matrix product; None where it is none."""
    op = step.owner
    if not isinstance(op, Operation) or op.name != "arith.mulf" or op.parent is not body.block:
        return None
    factors = [body.value(each) for each in op.operands]
    if any(each.value is None for each in factors):
        return None
    emit.at(op)
    values = _narrow([emit.value(each) for each in factors])
    if kernel.tensor_type(values[0]).element_type != kernel.tensor_type(values[1]).element_type:
        values = [emit.steps.widen(value) for value in values]
    lhs, rhs = (_held(value) for value in values)
    summed = {dim for dim in nest.reduced if nest.sizes[dim] > 1}
    own = [*(lhs ^ rhs)]
    if not own or not summed <= lhs & rhs:
        return None
    batch = sorted((lhs & rhs) - summed)
    rows, columns, depth = sorted(lhs - rhs), sorted(rhs - lhs), sorted(summed)
    left = _matrix(emit, values[0], nest, (batch, rows, depth))
    right = _matrix(emit, values[1], nest, (batch, depth, columns))
    sizes = [nest.sizes[dim] for dim in batch]
    shape = [*sizes, kernel.shape_of(left)[-2], kernel.shape_of(right)[-1]]
    result = emit.add(kernel.MatmulOp(left, right, TensorType(element, shape)))
    order = [*batch, *rows, *columns]
    result = emit.reshape(result, [nest.sizes[dim] for dim in order])
    return emit.rearranged(result, order, range(len(nest.sizes)))


def _held(value: SSAValue) -> set[int]:
    """The loops along which a tensor differs."""
    return {dim for dim, size in enumerate(kernel.shape_of(value)) if size > 1}


def _narrow(values: Sequence[SSAValue]) -> list[SSAValue]:
    """Factors as they were before they were widened: products are exact in f32 anyway."""
    before = [
        value.owner.operands[0] if isinstance(value.owner, kernel.CastOp) else value
        for value in values
    ]
    kinds = {kernel.tensor_type(value).element_type for value in before}
    widened = all(kernel.tensor_type(value).element_type == f32 for value in values)
    return before if widened and kinds in ({f16}, {bf16}) else [*values]


def _matrix(
    emit: LinalgBuilder, value: SSAValue, nest: Loops, groups: Sequence[Sequence[int]]
) -> SSAValue:
    """A factor whose dimensions are those of the batch, and two that groups of loops make."""
    order = [dim for group in groups for dim in group]
    value = emit.rearranged(value, range(len(nest.sizes)), order)
    batch, *both = groups
    sizes = [nest.sizes[dim] for dim in batch]
    return emit.reshape(value, [*sizes, *(prod(nest.sizes[dim] for dim in dims) for dims in both)])
