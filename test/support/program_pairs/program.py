"""What a program of a family is: operands, and the ways to write what becomes of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.common import FloatType
from program_pairs.draws import Draw
from program_pairs.writer import Build, Ops, Shape, element_of, shape_of


class Program(ABC):
    """One program, whose sizes and tilings are drawn when it is made."""

    shapes: tuple[Shape, ...]
    """Of the operands."""
    result: Shape

    def __init__(self, draw: Draw) -> None:
        self.draw = draw

    @abstractmethod
    def plain(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        """The program as one writes it."""

    @abstractmethod
    def rewrites(self) -> list[Build]:
        """The same with kernel operators in other ways."""

    @abstractmethod
    def graph(self, ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        """The same with uGraphs."""

    def bounds(self, size: int) -> list[int]:
        """The bounds of two to four parts of a dimension."""
        return self.draw.cuts(size, self.draw.random.randint(2, 4))

    def in_parts(self, size: int, dims: Sequence[int | None], result_dim: int) -> Build:
        """
        The program on parts of its operands, put together along `result_dim`.

        Args:
            size: of the dimension that is split.
            dims: for each operand the dimension that is split, None for none.
            result_dim: that of the result.
        """
        bounds = self.bounds(size)

        def in_parts(ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
            parted = [
                [value] * (len(bounds) - 1) if dim is None else ops.parts(value, dim, bounds)
                for value, dim in zip(values, dims, strict=True)
            ]
            results = [self.plain(ops, part) for part in zip(*parted, strict=True)]
            return results[0] if len(results) == 1 else ops.concat(results, result_dim)

        return in_parts


def cast_to(ops: Ops, value: SSAValue, kind: FloatType) -> SSAValue:
    """The value in another element type, if it has not that."""
    if element_of(value) == kind:
        return value
    return ops.add(kernel.CastOp(value, TensorType(kind, shape_of(value))))
