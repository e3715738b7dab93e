"""How the blocks of a grid and the iterations of loops cut tensors into tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.interpreters.operators import integers, shape_of


@dataclass(frozen=True)
class TileCut:
    """
    How one dimension of a tensor is cut.

    Block b, iteration i of loops with F iterations in all has the indices from (b * F + i) * tile
    on; without `grid_axis` b is 0, without `loops` i is 0 and F is 1.
    """

    tile: int
    grid_axis: int | None
    loops: tuple[int, ...]
    """The loops that cut the dimension, outermost first."""
    iterations: tuple[int, ...]
    """How often each of them runs."""

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
    tile: SSAValue, grid_map: Sequence[int], loop_map: Sequence[int], loop: Sequence[int]
) -> TileCuts:
    dims: list[TileCut] = []
    for dim, size in enumerate(shape_of(tile)):
        grid_axis = grid_map.index(dim) if dim in grid_map else None
        loops = tuple(number for number, mapped in enumerate(loop_map) if mapped == dim)
        dims.append(TileCut(size, grid_axis, loops, tuple(loop[number] for number in loops)))
    return TileCuts(tuple(dims))


def load_cuts(graph: kernel.GraphDefinedOp, op: threadblock.LoadOp) -> TileCuts:
    """How a load cuts its tensor."""
    return _cuts(op.result, integers(op, "grid_map"), integers(op, "loop_map"), graph.loop_sizes)


def store_cuts(graph: kernel.GraphDefinedOp, op: threadblock.StoreOp) -> TileCuts:
    """How a store cuts its result."""
    return _cuts(op.tile, integers(op, "grid_map"), integers(op, "loop_map"), graph.loop_sizes)
