"""The sizes of a graph's tiles, for all combinations of tile sizes at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mirage_mlir.graph.target import Target
from mirage_mlir.search.hypergraph import Hypergraph, Stage
from mirage_mlir.search.instantiate import Array, Mesh
from mirage_mlir.search.program import Program
from mirage_mlir.search.values import Algebra


def item_bytes(element_type: str) -> int:
    """Bytes of one element in memory."""
    return 4 if element_type == "f32" else 2


def round_up(value: Array, step: int) -> Array:
    """The next multiple of `step`."""
    return np.ceil(value / step) * step


@dataclass(frozen=True)
class Tiling:
    """What a graph's cost depends on besides its edges."""

    program: Program
    algebra: Algebra
    graph: Hypergraph
    target: Target
    mesh: Mesh

    @property
    def one(self) -> Array:
        """1 for every combination."""
        return np.ones_like(self.mesh.blocks)

    def axes(self, value: int) -> tuple[str, ...]:
        """The axes along which a tile of `value` has an extent."""
        return self.algebra.tile_axes(self.graph.values[value].form)

    def extent(self, axes: Sequence[str]) -> Array:
        """Elements of a tile over `axes`."""
        volume = self.one
        for axis in axes:
            volume = volume * self.mesh.tiles[axis]
        return volume

    def volume(self, value: int) -> Array:
        """Elements of one tile of `value`."""
        return self.extent(self.axes(value))

    def in_loop(self, value: int) -> bool:
        """Whether a block computes `value` in every turn of its loop."""
        return self.graph.values[value].stage is Stage.LOOP

    def turns(self, value: int) -> Array:
        """How often a block computes `value`."""
        return self.mesh.iterations if self.in_loop(value) else self.one

    def whole(self, axes: Sequence[str | None]) -> float:
        """Elements of a whole tensor."""
        elements = 1.0
        for axis in axes:
            if axis is not None:
                elements *= self.program.sizes[axis]
        return elements
