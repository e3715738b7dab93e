"""
Models how threads find and read the rows of tiles that are stretched over the rows of others.

The distances of points to others are tiles of three dimensions. Their elements need those of two
tiles, each of which lacks a dimension of the rows. A thread reads both again for each of its rows,
at places that depend on what its row number stands for: it is divided by the sizes of the
dimensions.
"""

import numpy as np

from mirage_mlir.layouts.layout import WARP_THREADS
from mirage_mlir.search.cost_model.fitted import RAGGED_COLUMN, ROW_DIVISION, STRETCHED_READ
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


class StretchedRows:
    """The work of one derivation to find and read the rows of stretched tiles."""

    def __init__(self, resources: Resources) -> None:
        self.resources = resources
        self.tiling, self.edges = resources.tiling, resources.edges
        self._divided: dict[Axes, Mask] = {}
        """Where the rows of tiles of a shape are found already: a kernel divides for them once."""
        self._ragged: set[Axes] = set()
        """The shapes of tiles whose elements are masked already."""

    def work(self, value: int, edge: Edge) -> Array | float:
        """The instructions for each element of an elementwise result."""
        axes = self.resources.positions.axes[value]
        rows = present(axes[:-1])
        if len(rows) < 2 or self.resources.matmuls:
            return 0.0
        return self._masked(value, axes) + self._reads(axes, rows, edge)

    def _masked(self, value: int, axes: Axes) -> Array | float:
        """The work to mask what the last iteration has not: once for tiles of a shape."""
        axis = axes[-1]
        if axis is None or axes in self._ragged or not self.tiling.in_loop(value):
            return 0.0
        self._ragged.add(axes)
        ragged = self.tiling.program.sizes[axis] % self.tiling.mesh.tiles[axis] > 0
        long = [self.tiling.extent([row]) > 1 for row in present(axes[:-1])]
        return np.where(ragged & (np.sum(long, axis=0) > 1), RAGGED_COLUMN, 0.0)

    def _reads(self, axes: Axes, rows: tuple[str, ...], edge: Edge) -> Array | float:
        """The work to find and read the rows of operands that threads read in place."""
        read = [each for each in dict.fromkeys(edge.operands) if self._is_in_place(each)]
        if not read:
            return 0.0
        stretched = [self._is_stretched(each, rows) for each in read]
        tensors = [self.tiling.program.inputs[self.edges[each].source] for each in read]
        item = min(item_bytes(tensor.element_type) for tensor in tensors)
        columns = self.tiling.extent(present(axes[-1:]))
        run = np.gcd(columns.astype(np.int64), VECTOR // item)
        divides = np.any(stretched, axis=0) & self._divides(rows, columns / run)
        before = self._divided.get(axes, self.tiling.zero > 0)
        self._divided[axes] = before | divides
        # What has no columns is read once for a row.
        columned = [axes[-1] in self.tiling.axes(each) for each in read]
        again = [many & has for many, has in zip(stretched, columned, strict=True)]
        reads = np.sum(again, axis=0) * STRETCHED_READ
        return (reads + np.where(divides & ~before, ROW_DIVISION, 0.0)) / run

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
