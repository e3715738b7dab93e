"""
What one operator of the threadblock dialect computes from tiles.

A tile is here the tensor of its valid elements: it may be smaller than its type says where the last
tile of a dimension is ragged, and have no element at all. An operator ranges over the elements that
are valid in all its operands. A maximum over no element is `None` and stays so.
"""

from collections.abc import Callable, Sequence
from typing import Generic

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import thread, threadblock
from mirage_mlir.interpreters import views
from mirage_mlir.interpreters.dims import Dim
from mirage_mlir.interpreters.domain import A, NotInterpretable
from mirage_mlir.interpreters.operators import (
    as_multiplied,
    constant,
    element_type_of,
    elementwise,
    integer,
    integers,
    mnemonic,
    shape_of,
)
from mirage_mlir.interpreters.tensors import Tensor, TensorDomain

Tile = Tensor[A] | None
"""The valid elements of a tile; None for a maximum over no element and what follows from it."""

Shape = tuple[int, ...]


class TileInterpreter(Generic[A]):
    """Evaluates operators on tiles over one domain."""

    def __init__(self, domain: TensorDomain[A]):
        self.domain = domain
        self._operators: dict[str, Callable[[Operation, list[Tensor[A]]], Tile[A]]] = {
            "broadcast": self._broadcast,
            "concat": self._concat,
            "constant": self._constant,
            "matmul": self._matmul,
            "reduce_max": self._reduce_max,
            "reduce_sum": self._reduce_sum,
            "transpose": self._transpose,
        }

    def results(self, op: Operation, operands: Sequence[Tile[A]]) -> list[Tile[A]]:
        """The results of an operator, rounded to their element types."""
        present = [operand for operand in operands if operand is not None]
        if len(present) < len(operands):
            return [None] * len(op.results)
        if isinstance(op, thread.GraphOp):
            # The dialects of scalars are slow to load, and few graphs have any.
            from mirage_mlir.interpreters.thread import run_thread_graph

            results: list[Tile[A]] = list(
                run_thread_graph(self.domain, op, self._clipped(op, present))
            )
        else:
            results = [self._result(op, present)]
        return [
            self.rounded(value, result) for value, result in zip(results, op.results, strict=True)
        ]

    def rounded(self, tile: Tile[A], value: SSAValue) -> Tile[A]:
        """The tile as the type of `value` holds it."""
        if tile is None:
            return None
        return self.domain.rounded(tile, element_type_of(value.type))

    def combined(self, operation: Callable[[A, A], A], x: Tensor[A], y: Tensor[A]) -> Tensor[A]:
        """
        An operation where both tiles have an element, and the element that there is elsewhere.

        Tiles of one type differ in size only where one is ragged: it then has the first elements.
        """
        for dim, (left, right) in enumerate(zip(x.shape, y.shape, strict=True)):
            if left == right:
                continue
            larger, size = (x, right) if left > right else (y, left)
            rest = self.domain.part(larger, dim, size, max(left, right))
            both = self.combined(
                operation,
                self.domain.part(x, dim, 0, size),
                self.domain.part(y, dim, 0, size),
            )
            return views.concatenate(self.domain, [both, rest], dim) if size else rest
        return self.domain.pairwise(operation, x, y)

    def _result(self, op: Operation, operands: list[Tensor[A]]) -> Tile[A]:
        name = mnemonic(op)
        if (operator := self._operators.get(name)) is not None:
            return operator(op, operands)
        met = operands if len(operands) == 1 else self._clipped(op, operands)
        if (result := elementwise(self.domain, op, met)) is not None:
            return result
        raise NotInterpretable(f"'{op.name}' has no interpretation")

    def _clipped(self, op: Operation, operands: list[Tensor[A]]) -> list[Tensor[A]]:
        """The operands of an elementwise operator, cut to the elements that all of them have."""
        shapes = [shape_of(operand) for operand in op.operands]
        rank = max((len(shape) for shape in shapes), default=0)
        result = [self.domain.with_rank(operand, rank) for operand in operands]
        padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
        for dim in range(rank):
            self._clip(result, [shape[dim] for shape in padded], [dim] * len(result))
        return result

    def _clip(self, tiles: list[Tensor[A]], sizes: Sequence[int], dims: Sequence[int]) -> None:
        """
        Cut dimension `dims[i]` of each tile to the elements that all have.

        `sizes` are those of the types: a size of 1 stretches, unless it holds no element.
        """
        valid = [
            tile.shape[dim]
            for tile, size, dim in zip(tiles, sizes, dims, strict=True)
            if size > 1 or tile.shape[dim] == 0
        ]
        if not valid:
            return
        for number_, (tile, dim) in enumerate(zip(tiles, dims, strict=True)):
            if sizes[number_] > 1 or min(valid) == 0:
                tiles[number_] = self.domain.part(tile, dim, 0, min(valid))

    def _matmul(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        shapes = [shape_of(operand) for operand in op.operands]
        rank = max(map(len, shapes))
        tiles = [self.domain.with_rank(operand, rank) for operand in operands]
        padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
        for dim in range(rank - 2):
            self._clip(tiles, [shape[dim] for shape in padded], [dim, dim])
        contracted = [rank - 1, rank - 2]
        count = min(tile.shape[dim] for tile, dim in zip(tiles, contracted, strict=True))
        left, right = (
            self.domain.part(tile, dim, 0, count)
            for tile, dim in zip(tiles, contracted, strict=True)
        )
        left, right = as_multiplied(self.domain, op, [left, right])
        return self.domain.matmul(left, right)

    def _reduce_sum(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        return self.domain.total(operands[0], integers(op, "dims"))

    def _reduce_max(self, op: Operation, operands: list[Tensor[A]]) -> Tile[A]:
        return self.domain.largest(operands[0], integers(op, "dims"))

    def _constant(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        return constant(self.domain, op, shape_of(op.results[0]))

    def _broadcast(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        shape = shape_of(op.results[0])
        (operand,) = operands
        source = shape_of(op.operands[0])
        padded = (1,) * (len(shape) - len(source)) + source
        tile = self.domain.with_rank(operand, len(shape))
        dims = (
            Dim(size) if old == 1 and dim.size == 1 != size else dim
            for dim, old, size in zip(tile.dims, padded, shape, strict=True)
        )
        return Tensor(tile.array, tuple(dims))

    def _transpose(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        return views.transpose(self.domain, operands[0], integers(op, "permutation"))

    def _concat(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        dim = integer(op, "dim")
        shapes = [shape_of(operand) for operand in op.operands]
        # The verifier refuses ragged operands: the elements would not lie one after the other.
        assert all(x.shape[dim] == shape[dim] for x, shape in zip(operands, shapes, strict=True))
        tiles = list(operands)
        for other in range(len(shapes[0])):
            if other != dim:
                # No size stretches here, so none counts as 1.
                self._clip(tiles, [2] * len(tiles), [other] * len(tiles))
        return views.concatenate(self.domain, tiles, dim)


def kind_of(op: threadblock.AccumulateOp) -> str:
    """How an accumulator combines values: sum or max."""
    assert isinstance(op.kind, StringAttr)
    return op.kind.data
