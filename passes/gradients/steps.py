"""Appends the operators of a gradient program, none of them twice."""

from collections.abc import Sequence
from math import prod
from typing import TypeAlias

from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.equivalence.merging import sorted_items

Known: TypeAlias = tuple[str, tuple[SSAValue, ...], tuple[tuple[str, object], ...], Attribute]
"""By what two operators are the same: name, operands, attributes, type."""


class Steps:
    """
    Operators at the end of `block`, each with the location of the operator that is differentiated.

    Gradients are computed in f32 and rounded to the type of what they are the gradient of.
    """

    def __init__(self, block: Block) -> None:
        self._block = block
        self._known: dict[Known, SSAValue] = {}
        for op in block.ops:
            if len(op.results) == 1:
                self._known.setdefault(_key(op), op.results[0])
        self.origin: Operation | None = None
        """The operator that is differentiated."""

    def add(self, op: Operation) -> SSAValue:
        """The result of one more operator, or of an equal one that is there."""
        key = _key(op)
        if (found := self._known.get(key)) is not None:
            # Else it would count as a use of its operands.
            op.erase()
            return found
        if self.origin is not None:
            op.location = self.origin.location
        self._block.add_op(op)
        self._known[key] = op.results[0]
        return op.results[0]

    def constant(self, value: float, like: SSAValue) -> SSAValue:
        """`value` in f32, of the rank of `like`, for broadcasting."""
        rank = len(kernel.shape_of(like))
        return self.add(kernel.ConstantOp(value, TensorType(f32, [1] * rank)))

    def cast(self, value: SSAValue, element: Attribute) -> SSAValue:
        """`value` with elements of another type, or as it is."""
        known = kernel.tensor_type(value)
        if known.element_type == element:
            return value
        return self.add(kernel.CastOp(value, TensorType(element, known.get_shape())))

    def widen(self, value: SSAValue) -> SSAValue:
        """`value` in f32."""
        return self.cast(value, f32)

    def like(self, value: SSAValue, other: SSAValue) -> SSAValue:
        """`value` in the element type of `other`."""
        return self.cast(value, kernel.tensor_type(other).element_type)

    def plus(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """`lhs + rhs`."""
        return self.add(kernel.AddOp(lhs, rhs))

    def minus(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """`lhs - rhs`."""
        return self.add(kernel.SubOp(lhs, rhs))

    def times(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """`lhs * rhs`."""
        return self.add(kernel.MulOp(lhs, rhs))

    def scaled(self, value: SSAValue, factor: float) -> SSAValue:
        """`value * factor`."""
        return value if factor == 1 else self.add(kernel.ScaleOp(value, factor))

    def sum(self, value: SSAValue, dims: Sequence[int]) -> SSAValue:
        """The sum over `dims`, which stay with size 1."""
        return self.add(kernel.ReduceSumOp(value, dims)) if dims else value

    def mean(self, value: SSAValue, dims: Sequence[int]) -> SSAValue:
        """The mean over `dims`, which stay with size 1."""
        count = prod(kernel.shape_of(value)[dim] for dim in dims)
        return self.scaled(self.sum(value, dims), 1 / count)

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The same elements in another shape."""
        if kernel.shape_of(value) == tuple(shape):
            return value
        element = kernel.tensor_type(value).element_type
        return self.add(kernel.ReshapeOp(value, TensorType(element, shape)))

    def broadcast(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """`value` repeated along dimensions of size 1, and along new leading ones."""
        if kernel.shape_of(value) == tuple(shape):
            return value
        element = kernel.tensor_type(value).element_type
        return self.add(kernel.BroadcastOp(value, TensorType(element, shape)))

    def summed_to(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The adjoint of a broadcast from `shape`: the sum over what was repeated."""
        found = kernel.shape_of(value)
        added = len(found) - len(shape)
        repeated = [dim for dim, size in enumerate(shape) if size == 1 < found[added + dim]]
        summed = self.sum(value, [*range(added), *(added + dim for dim in repeated)])
        return self.reshape(summed, shape)

    def transposed(self, value: SSAValue) -> SSAValue:
        """The last two dimensions exchanged."""
        rank = len(kernel.shape_of(value))
        order = [*range(rank - 2), rank - 1, rank - 2]
        return self.add(kernel.TransposeOp(value, order))

    def part(self, value: SSAValue, dim: int, start: int, size: int) -> SSAValue:
        """`size` indices of a dimension from `start` on."""
        shape = list(kernel.shape_of(value))
        if shape[dim] == size:
            return value
        offsets = [start if number == dim else 0 for number in range(len(shape))]
        shape[dim] = size
        return self.add(kernel.SliceOp(value, offsets, shape, [1] * len(shape)))

    def padded(self, value: SSAValue, dim: int, before: int, after: int) -> SSAValue:
        """Zeros before and after `value` along a dimension."""
        parts = [self._zeros(value, dim, before), value, self._zeros(value, dim, after)]
        kept = [part for part in parts if part is not None]
        return value if len(kept) == 1 else self.add(kernel.ConcatOp(kept, dim))

    def _zeros(self, value: SSAValue, dim: int, size: int) -> SSAValue | None:
        if size == 0:
            return None
        shape = list(kernel.shape_of(value))
        shape[dim] = size
        kind = TensorType(kernel.tensor_type(value).element_type, shape)
        return self.add(kernel.ConstantOp(0.0, kind))


def _key(op: Operation) -> Known:
    return op.name, tuple(op.operands), tuple(sorted_items(op)), op.results[0].type
