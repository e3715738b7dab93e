"""Models the time in which threads read operands of elementwise operations from shared memory."""

from collections.abc import Iterable

import numpy as np

from mirage_mlir.search.cost_model.fitted import (
    ACROSS_MOST,
    ACROSS_READ,
    SINGLE_READ,
    STRETCHED_SHARED,
    VECTOR_READ,
)
from mirage_mlir.search.cost_model.instantiate import Array
from mirage_mlir.search.cost_model.resources import Resources
from mirage_mlir.search.program.program import Axes, Input, Kind
from mirage_mlir.search.saturation.hypergraph import Edge


def _misaligned(one: Axes, other: Axes) -> bool:
    """Whether two tensors have an axis at different places, counted from the last."""
    places = {axis: place for place, axis in enumerate(reversed(one)) if axis is not None}
    return any(
        places.get(axis, place) != place for place, axis in enumerate(reversed(other)) if axis
    )


class ElementReads:
    """
    Models the reads of one derivation, which depend on how its tiles are aligned to each other.
    """

    def __init__(self, resources: Resources) -> None:
        self.resources = resources
        self.tiling, self.edges = resources.tiling, resources.edges
        self._known_places: dict[int, Axes] = {}

    def work(self, edge: Edge) -> Array | float:
        """
        The instructions to read the operands in shared memory, for each element of the result.
        """
        read = [operand for operand in dict.fromkeys(edge.operands) if self._is_read(operand)]
        if not read:
            return 0.0
        # The largest operand lies as threads read it; along its rows others may stay the same.
        largest = max(read, key=lambda operand: len(self.tiling.axes(operand)))
        tensor = self.tiling.program.inputs[self.edges[largest].source]
        if (axis := self._read_across(edge, tensor)) is not None:
            column = np.minimum(self.tiling.mesh.tiles[axis], ACROSS_MOST)
            return len(read) * VECTOR_READ + ACROSS_READ * column
        fastest = {axis for axis, _ in tensor.by_stride()[:1]}
        return sum(
            VECTOR_READ * self._share(operand, edge)
            if fastest.issubset(self.tiling.axes(operand))
            else SINGLE_READ
            for operand in read
        )

    def _share(self, operand: int, edge: Edge) -> float:
        """The part of the reads of an operand that are left where rows of a thread share them."""
        own = set(self.tiling.axes(operand))
        others = {axis for each in edge.operands for axis in self.tiling.axes(each)}
        stretched = len(own) > 1 and not others.issubset(own) and not self.resources.matmuls
        return STRETCHED_SHARED if stretched else 1.0

    def _read_across(self, edge: Edge, largest: Input) -> str | None:
        """
        The axis along which neighbouring threads read `largest`, where it is not its rows'.

        Operands that have an axis at different places are brought into the order of the outputs'
        axes, those that are summed last: threads that follow one another are neighbours in that.
        """
        places = [self._places(operand) for operand in edge.operands]
        if not any(_misaligned(largest.axes, other) for other in places):
            return None
        last = self._ordered(axis for other in places for axis in other)[-1]
        return None if last == largest.by_stride()[0][0] else last

    def _places(self, value: int) -> Axes:
        """The dimensions of a tile: those of the input from which it was computed."""
        if value not in self._known_places:
            self._known_places[value] = self._new_places(value)
        return self._known_places[value]

    def _new_places(self, value: int) -> Axes:
        edge = self.edges[value]
        if edge.kind is Kind.INPUT:
            return self.tiling.program.inputs[edge.source].axes
        present = self.tiling.axes(value)
        first, *others = [self._places(operand) for operand in edge.operands] or [()]
        if edge.kind is Kind.MATMUL or any(_misaligned(first, other) for other in others):
            return self._ordered(present)
        longest = max((first, *others), key=len)
        merged = [
            next((axis for axis in column if axis in present), None)
            for column in zip(
                *((None,) * (len(longest) - len(axes)) + axes for axes in (first, *others)),
                strict=True,
            )
        ]
        return tuple(merged)

    def _ordered(self, axes: Iterable[str | None]) -> tuple[str, ...]:
        """Sorts `axes` into the order of the outputs; others follow in order of appearance."""
        program, present = self.tiling.program, set(axes)
        order = [axis for output in program.outputs for axis in output.axes if axis is not None]
        return tuple(axis for axis in dict.fromkeys((*order, *program.sizes)) if axis in present)

    def _is_read(self, operand: int) -> bool:
        """Whether each element of an operand is read from shared memory."""
        edge = self.edges[operand]
        return edge.kind is Kind.INPUT and self.resources.in_shared(operand)
