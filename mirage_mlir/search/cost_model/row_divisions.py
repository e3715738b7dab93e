"""
Models how threads find the rows of tiles that are stretched over the rows of others.

The distances of points to others are tiles of three dimensions. Their elements need those of two
tiles, each of which lacks a dimension of the rows. A thread reads both at places that depend on
what its row number stands for: it is divided by the sizes of the dimensions.
"""

import numpy as np

from mirage_mlir.layouts.layout import WARP_THREADS
from mirage_mlir.search.cost_model.fitted import ROW_DIVISION
from mirage_mlir.search.cost_model.instantiate import Array
from mirage_mlir.search.cost_model.live_values import Mask
from mirage_mlir.search.cost_model.resources import Resources
from mirage_mlir.search.cost_model.tile_bytes import VECTOR, powers_of_two_at_least
from mirage_mlir.search.cost_model.tiling import item_bytes
from mirage_mlir.search.program.positions import present
from mirage_mlir.search.program.program import Axes, Kind
from mirage_mlir.search.saturation.hypergraph import Edge


def _dividing(sizes: Array) -> Array:
    """The largest powers of two that divide `sizes`."""
    whole = np.round(sizes).astype(np.int64)
    return (whole & -whole).astype(np.float64)


class RowDivisions:
    """The divisions of one derivation; a kernel divides for the rows of each shape once."""

    def __init__(self, resources: Resources) -> None:
        self.resources = resources
        self.tiling, self.edges = resources.tiling, resources.edges
        self._divided: set[Axes] = set()

    def work(self, value: int, edge: Edge) -> Array | float:
        """The instructions for each element of an elementwise result."""
        axes = self.resources.positions.axes[value]
        rows = present(axes[:-1])
        read = [each for each in dict.fromkeys(edge.operands) if self._is_in_place(each)]
        if len(rows) < 2 or not read or axes in self._divided:
            return 0.0
        self._divided.add(axes)
        stretched = np.any([self._is_stretched(each, rows) for each in read], axis=0)
        tensors = [self.tiling.program.inputs[self.edges[each].source] for each in read]
        item = min(item_bytes(tensor.element_type) for tensor in tensors)
        columns = self.tiling.extent(present(axes[-1:]))
        run = np.gcd(columns.astype(np.int64), VECTOR // item)
        return np.where(stretched & self._divides(rows, columns / run), ROW_DIVISION / run, 0.0)

    def _is_in_place(self, operand: int) -> bool:
        """Whether threads read an operand where they use it."""
        return self.edges[operand].kind is Kind.INPUT and not self.resources.in_shared(operand)

    def _is_stretched(self, operand: int, rows: tuple[str, ...]) -> Mask:
        """Where an operand has some of the `rows` over again: it lacks one that is not alone."""
        long = [self.tiling.extent([axis]) > 1 for axis in rows]
        own = self.tiling.axes(operand)
        lacks = [is_long & (axis not in own) for axis, is_long in zip(rows, long, strict=True)]
        return np.any(lacks, axis=0) & (np.sum(long, axis=0) > 1)

    def _divides(self, rows: tuple[str, ...], runs: Array) -> Mask:
        """
        Where row numbers are divided by other than powers of two: threads do not lie along each
        dimension by itself then (see `layouts/digits.py`).
        """
        odd = [
            (self.tiling.extent(rows[:place]) > 1) & (size != powers_of_two_at_least(size))
            for place, size in enumerate(self.tiling.extent([axis]) for axis in rows)
        ]
        across = np.minimum(powers_of_two_at_least(np.ceil(runs)), WARP_THREADS)
        outer, inner = self.tiling.extent(rows[:-1]), self.tiling.extent(rows[-1:])
        left = self.resources.threads / across / powers_of_two_at_least(outer)
        return np.any(odd, axis=0) & (left > _dividing(inner))
