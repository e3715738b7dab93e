"""
All values of a hypergraph as numbers: for all blocks, iterations and elements of a tile at once.

Each axis of a program is three dimensions of an array: blocks, iterations, and indices in a tile. A
value has size 1 along those that are summed and those that it does not depend on.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from program_values import BINARY, Array, apply

from mirage_mlir.expr.heads import GRID, LOOP, TILE
from mirage_mlir.search.program.program import Kind
from mirage_mlir.search.saturation.hypergraph import Edge, Hypergraph
from mirage_mlir.search.saturation.values import Algebra

PARTS = (GRID, LOOP, TILE)

SIZE, PART = 8, 2
"""Elements of every axis, and of each of its parts."""

SUMS = (Kind.REDUCE_SUM, Kind.ACCUMULATE_SUM, Kind.MATMUL)
MAXIMA = (Kind.REDUCE_MAX, Kind.ACCUMULATE_MAX)


def in_parts(array: Array) -> Array:
    """An array with a dimension for each axis, with three for each."""
    assert set(array.shape) <= {1, SIZE}
    return array.reshape([s for n in array.shape for s in ((PART,) if n > 1 else (1,)) * 3])


class TileValues:
    """
    The numbers of one hypergraph.

    Args:
        algebra: of the program, whose axes all have `SIZE` elements.
        graph: the hypergraph.
        inputs: of the program, with a dimension for each axis of the program.
    """

    def __init__(self, algebra: Algebra, graph: Hypergraph, inputs: Sequence[Array]) -> None:
        self.algebra = algebra
        self.graph = graph
        self.inputs = [in_parts(array) for array in inputs]
        self.order = [*algebra.program.sizes]
        self.values: dict[int, Array] = {}
        place = graph.order()
        for value in sorted(range(len(place)), key=place.__getitem__):
            self.values[value] = self._computed(value, graph.edges[value][0])

    def _computed(self, value: int, edge: Edge) -> Array:
        operands = [self.values[operand] for operand in edge.operands]
        match edge.kind:
            case Kind.INPUT:
                return self.inputs[edge.source]
            case Kind.CONSTANT:
                number = float(self.algebra.constants[edge.source][1])
                return np.full([1] * (3 * len(self.order)), number)
            case Kind.FUNCTION:
                return self._function(edge, operands[0])
            case Kind.INVERSE:
                return 1 / operands[0]
            case Kind.MATMUL:
                return self._summed(value, operands[0] * operands[1])
            case kind if kind in SUMS:
                return self._summed(value, operands[0])
            case kind if kind in MAXIMA:
                places = self._bound(value, operands[0])
                return np.asarray(operands[0].max(axis=places, keepdims=True))
            case _:
                return BINARY[edge.kind](*operands)

    def _summed(self, value: int, terms: Array) -> Array:
        return np.asarray(terms.sum(axis=self._bound(value, terms), keepdims=True))

    def _bound(self, value: int, terms: Array) -> tuple[int, ...]:
        """The dimensions that are summed: those that the value has no more."""
        free = self.algebra.forms.free(self.graph.values[value].form)
        return tuple(
            3 * number + part
            for number, axis in enumerate(self.order)
            for part, bits in enumerate(PARTS)
            if not free.get(axis, 0) & bits and terms.shape[3 * number + part] > 1
        )

    def _function(self, edge: Edge, argument: Array) -> Array:
        """An exp that a maximum keeps in range is relative to that of whole rows."""
        function = self.algebra.function_named(edge.name)
        shift = self.algebra.exponents.get(self.graph.values[edge.operands[0]].form)
        if edge.name == "exp" and shift is not None:
            places = [3 * self.order.index(a) + part for a in shift.axes for part in range(3)]
            argument = argument - argument.max(axis=tuple(places), keepdims=True)
        return apply(function, argument)


def operands_of_products(graph: Hypergraph) -> Iterator[int]:
    """The values that tensor cores multiply, each once."""
    products = [edge for edges in graph.edges for edge in edges if edge.kind is Kind.MATMUL]
    yield from dict.fromkeys(operand for edge in products for operand in edge.operands)
