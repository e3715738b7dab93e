"""Functions of kernel operators, operation by operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import cast

from xdsl.dialects.builtin import ShapedType, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.common import FloatType

Shape = tuple[int, ...]

Piece = tuple[int, int, int]
"""The first index along a dimension, how many, and the step."""

Place = Callable[[Operation], object]
"""Puts an operation into a block."""


def shape_of(value: SSAValue) -> Shape:
    """The shape of a tensor or tile."""
    assert isinstance(value.type, ShapedType)
    return value.type.get_shape()


def element_of(value: SSAValue) -> FloatType:
    """The element type of a tensor."""
    return cast(TensorType[FloatType], value.type).element_type


class Ops:
    """Adds operations at one place; the methods are views in the terms of mutations."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def add(self, op: Operation) -> SSAValue:
        """The first result of an operation."""
        self._place(op)
        return op.results[0]

    def slice(self, x: SSAValue, dim: int, first: int, count: int, step: int = 1) -> SSAValue:
        """`count` elements of dimension `dim` from `first` on."""
        shape = shape_of(x)
        if (first, count, step) == (0, shape[dim], 1):
            return x
        ones = [1] * len(shape)
        offsets, sizes, steps = [0] * len(shape), list(shape), ones
        offsets[dim], sizes[dim], steps[dim] = first, count, step
        return self.add(kernel.SliceOp(x, offsets, sizes, steps))

    def pieces(self, x: SSAValue, dim: int, pieces: Sequence[Piece]) -> SSAValue:
        """Slices of one dimension, one after the other; empty ones are left out."""
        parts = [self.slice(x, dim, *piece) for piece in _joined(pieces)]
        return parts[0] if len(parts) == 1 else self.concat(parts, dim)

    def parts(self, x: SSAValue, dim: int, bounds: Sequence[int]) -> list[SSAValue]:
        """The slices between `bounds`."""
        return [self.slice(x, dim, first, last - first) for first, last in pairwise(bounds)]

    def concat(self, values: Sequence[SSAValue], dim: int) -> SSAValue:
        """One after the other along `dim`."""
        return self.add(kernel.ConcatOp(values, dim))

    def transpose(self, x: SSAValue, permutation: Sequence[int]) -> SSAValue:
        """Dimension i of the result is dimension `permutation[i]` of `x`."""
        return self.add(kernel.TransposeOp(x, permutation))

    def swap(self, x: SSAValue) -> SSAValue:
        """The last two dimensions exchanged."""
        rank = len(shape_of(x))
        return self.transpose(x, [*range(rank - 2), rank - 1, rank - 2])

    def reshape(self, x: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The same elements in another shape."""
        return self.add(kernel.ReshapeOp(x, TensorType(element_of(x), shape)))

    def broadcast(self, x: SSAValue, shape: Sequence[int]) -> SSAValue:
        """Repeated along dimensions of size 1 and new leading ones."""
        return self.add(kernel.BroadcastOp(x, TensorType(element_of(x), shape)))

    def constant(self, value: float, like: SSAValue, shape: Sequence[int]) -> SSAValue:
        """Elements that are all `value`."""
        return self.add(kernel.ConstantOp(value, TensorType(element_of(like), shape)))

    def matmul(self, x: SSAValue, y: SSAValue) -> SSAValue:
        """The product."""
        return self.add(kernel.MatmulOp(x, y))

    def sum_of(self, values: Sequence[SSAValue]) -> SSAValue:
        """All added up, the first two first."""
        total, *others = values
        for value in others:
            total = self.add(kernel.AddOp(total, value))
        return total

    def largest_of(self, values: Sequence[SSAValue]) -> SSAValue:
        """The maximum of all."""
        result, *others = values
        for value in others:
            result = self.add(kernel.MaxOp(result, value))
        return result


def _joined(pieces: Sequence[Piece]) -> list[Piece]:
    """Pieces that follow each other as one, without empty ones."""
    found: list[Piece] = []
    for first, count, step in pieces:
        if not count:
            continue
        if found and step == found[-1][2] == 1 and found[-1][0] + found[-1][1] == first:
            found[-1] = (found[-1][0], found[-1][1] + count, 1)
        else:
            found.append((first, count, step))
    return found


Build = Callable[[Ops, Sequence[SSAValue]], SSAValue]
"""Writes what becomes of operands."""


def function(name: str, shapes: Sequence[Shape], element_type: FloatType, build: Build) -> FuncOp:
    """A function of arguments of `shapes` that returns what `build` makes of them."""
    block = Block(arg_types=[TensorType(element_type, shape) for shape in shapes])
    result = build(Ops(block.add_op), block.args)
    block.add_op(ReturnOp(result))
    return FuncOp(name, ([arg.type for arg in block.args], [result.type]), Region(block))
