"""Tile sizes of a graph: arrays with an entry for each combination."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from mirage_mlir.float_formats import FORMATS
from mirage_mlir.search.cost_model.instantiate import Array, Mesh
from mirage_mlir.search.program.program import Program
from mirage_mlir.search.saturation.hypergraph import Hypergraph, Stage
from mirage_mlir.search.saturation.values import Algebra
from mirage_mlir.targets.target import Target

T = TypeVar("T")


def item_bytes(element_type: str) -> int:
    """Bytes of one element in memory."""
    return FORMATS[element_type].bytes


def round_up(value: Array, step: int) -> Array:
    """The next multiple of `step`."""
    return np.ceil(value / step) * step


@dataclass(frozen=True)
class Tiling:
    """All that the cost of a graph depends on besides its edges."""

    program: Program
    algebra: Algebra
    graph: Hypergraph
    target: Target
    mesh: Mesh

    # The graphs of one tiling have most of their values in common: arrays are kept, and nobody
    # changes them.

    @cached_property
    def one(self) -> Array:
        """1 for every combination."""
        return np.ones_like(self.mesh.blocks)

    @cached_property
    def zero(self) -> Array:
        """0 for every combination."""
        return np.zeros_like(self.mesh.blocks)

    @cached_property
    def _kept(self) -> dict[object, Any]:
        return {}

    def once(self, key: object, make: Callable[[], T]) -> T:
        """
        The result of `make`, which is called for the first graph and remembered for the others.
        """
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    @cached_property
    def _extents(self) -> dict[tuple[str, ...], Array]:
        return {(): self.one}

    @cached_property
    def _axes(self) -> list[tuple[str, ...]]:
        return [self.algebra.tile_axes(value.form) for value in self.graph.values]

    def axes(self, value: int) -> tuple[str, ...]:
        """The axes along which a tile of `value` has an extent."""
        return self._axes[value]

    def extent(self, axes: Sequence[str]) -> Array:
        """Elements of a tile over `axes`."""
        key = tuple(axes)
        if key not in self._extents:
            self._extents[key] = self.extent(key[:-1]) * self.mesh.tiles[key[-1]]
        return self._extents[key]

    def volume(self, value: int) -> Array:
        """Elements of one tile of `value`."""
        return self.extent(self._axes[value])

    def stage(self, value: int) -> Stage:
        """When a block computes `value`."""
        return self.graph.values[value].stage

    def in_loop(self, value: int) -> bool:
        """Whether a block computes `value` in every iteration of its loop."""
        return self.graph.values[value].stage is Stage.LOOP

    def iterations(self, value: int) -> Array:
        """How often a block computes `value`."""
        return self.mesh.iterations if self.in_loop(value) else self.one

    def whole(self, axes: Sequence[str | None]) -> float:
        """Elements of a whole tensor."""
        elements = 1.0
        for axis in axes:
            if axis is not None:
                elements *= self.program.sizes[axis]
        return elements
