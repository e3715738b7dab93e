"""How the blocks of a grid and the iterations of loops cut tensors into tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.interpreters.dims import Index
from mirage_mlir.interpreters.operators import integers, shape_of

Places = TypeVar("Places", int, Index)
"""A number, or an array of numbers."""


@dataclass(frozen=True)
class TileCut:
    """
    How one dimension of a tensor is cut.

    Block b of G, iteration i of loops with F iterations in all has tile number b * F + i, or
    i * G + b if the cut is `cyclic`; its indices begin at this number times `tile`. Without
    `grid_axis` b is 0 and G is 1, without `loops` i is 0 and F is 1.
    """

    tile: int
    grid_axis: int | None
    blocks: int
    """Along the grid axis."""
    loops: tuple[int, ...]
    """The loops that cut the dimension, outermost first."""
    iterations: tuple[int, ...]
    """How often each of them runs."""
    cyclic: bool = False

    @property
    def steps(self) -> int:
        """The tiles that one block has."""
        product = 1
        for count in self.iterations:
            product *= count
        return product

    @property
    def width(self) -> int:
        """Indices that one block has."""
        return self.steps * self.tile

    def number(self, block: Places, step: Places) -> Places:
        """The number of the tile that a block has as its own number `step`."""
        return step * self.blocks + block if self.cyclic else block * self.steps + step

    def place(self, block: Index, own: Index) -> Index:
        """The indices of a dimension that are a block's `own`, counted through all its tiles."""
        return self.number(block, own // self.tile) * self.tile + own % self.tile

    def owned(self, indices: Index, block: int) -> Index:
        """Those of the `indices` that a block has, counted through all its tiles."""
        step, owner = self._owners(indices // self.tile)
        return (step * self.tile + indices % self.tile)[owner == block]

    def owners(self, indices: Index) -> Index:
        """The blocks that have some of the `indices`."""
        return np.unique(self._owners(indices // self.tile)[1])

    def owners_beyond(self, size: int) -> Index:
        """The blocks that have a tile with an index that a dimension of `size` lacks."""
        first, last = size // self.tile, self.blocks * self.steps
        if self.cyclic:
            return self._owners(np.arange(first, min(first + self.blocks, last)))[1]
        return np.arange(first // self.steps, self.blocks)

    def held(self, block: int, size: int) -> int:
        """How many indices of a dimension of `size` a block has."""
        if not self.cyclic:
            return max(0, min(self.width, size - block * self.width))
        whole, ragged = divmod(size, self.tile)
        steps, last = divmod(whole, self.blocks)
        return (steps + (block < last)) * self.tile + (ragged if block == last else 0)

    def _owners(self, numbers: Index) -> tuple[Index, Index]:
        """Which of its tiles the owners have at tile numbers, and the owners."""
        if self.cyclic:
            return numbers // self.blocks, numbers % self.blocks
        return numbers % self.steps, numbers // self.steps

    def step(self, iteration: Sequence[int]) -> int:
        """The number of the tile that an iteration has, of those of its block."""
        step = 0
        for loop, count in zip(self.loops, self.iterations, strict=True):
            step = step * count + iteration[loop]
        return step


@dataclass(frozen=True)
class TileCuts:
    """How the tensor of a load or of a store is cut: one cut for each dimension."""

    dims: tuple[TileCut, ...]

    def along(self, grid_axis: int) -> list[tuple[int, TileCut]]:
        """The dimensions that a grid axis cuts."""
        return [(dim, cut) for dim, cut in enumerate(self.dims) if cut.grid_axis == grid_axis]

    @property
    def looped(self) -> list[tuple[int, TileCut]]:
        """The dimensions that loops cut."""
        return [(dim, cut) for dim, cut in enumerate(self.dims) if cut.loops]


def _cuts(
    graph: kernel.GraphDefinedOp,
    op: threadblock.LoadOp | threadblock.IotaOp | threadblock.StoreOp,
    tile: SSAValue,
) -> TileCuts:
    grid_map, loop_map = integers(op, "grid_map"), integers(op, "loop_map")
    dims: list[TileCut] = []
    for dim, size in enumerate(shape_of(tile)):
        grid_axis = grid_map.index(dim) if dim in grid_map else None
        blocks = 1 if grid_axis is None else graph.grid_sizes[grid_axis]
        loops = tuple(number for number, mapped in enumerate(loop_map) if mapped == dim)
        iterations = tuple(graph.loop_sizes[number] for number in loops)
        dims.append(TileCut(size, grid_axis, blocks, loops, iterations, graph.is_cyclic))
    return TileCuts(tuple(dims))


def load_cuts(
    graph: kernel.GraphDefinedOp, op: threadblock.LoadOp | threadblock.IotaOp
) -> TileCuts:
    """How a load, or a tile of indices, cuts its tensor."""
    return _cuts(graph, op, op.result)


def store_cuts(graph: kernel.GraphDefinedOp, op: threadblock.StoreOp) -> TileCuts:
    """How a store cuts its result."""
    return _cuts(graph, op, op.tile)
