"""
How a tensor is cut into tiles: by the blocks of a grid and the iterations of loops.

A dimension of size S that a grid axis of G blocks and a loop of F iterations cut into tiles of t
elements: block b, iteration i holds the indices

    [n * t, min(S, (n + 1) * t)),    n = b * F + i, or i * G + b where the graph is cyclic

so G * F * t >= S; the last tiles may be ragged or empty. Two loops that cut one dimension count as
one, the outer one slower. What nothing cuts has G = F = 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mirage_mlir.shapes.shapes import Shape

REPLICATED = -1
"""The entry of a grid or loop map that cuts no dimension: all see the whole tensor."""


class PartitionError(ValueError):
    """Maps, counts and tile sizes that do not cut a tensor; the message names dims and sizes."""


@dataclass(frozen=True)
class Axis:
    """One of the ways in which a graph counts: along a grid axis, or through a loop."""

    is_loop: bool
    number: int
    count: int
    """Blocks, or iterations."""

    def __str__(self) -> str:
        return f"loop {self.number}" if self.is_loop else f"grid axis {self.number}"


@dataclass(frozen=True)
class Step:
    """How many elements a tile moves on along a dimension for each step along `axis`."""

    axis: Axis
    stride: int


@dataclass(frozen=True)
class Extent:
    """The indices of one dimension that a tile holds, in every block and iteration."""

    size: int
    """Of the dimension of the tensor."""
    tile: int
    """Of the dimension of the tile."""
    steps: tuple[Step, ...] = ()
    """What cuts the dimension; an axis of one block or iteration does not."""

    @property
    def is_full(self) -> bool:
        """Whether the tile is never ragged."""
        last = sum((step.axis.count - 1) * step.stride for step in self.steps)
        return last + self.tile <= self.size

    def range(self, block: Sequence[int], iteration: Sequence[int] = ()) -> tuple[int, int]:
        """First index and the one after the last; both are `size` where the tile is empty."""
        start = 0
        for step in self.steps:
            position = iteration if step.axis.is_loop else block
            start += position[step.axis.number] * step.stride
        return min(start, self.size), min(start + self.tile, self.size)

    def first(self, axes: Sequence[Axis]) -> "Extent":
        """The indices at the start of `axes`, where a tile holds the most elements."""
        return Extent(
            self.size, self.tile, tuple(step for step in self.steps if step.axis not in axes)
        )

    def __str__(self) -> str:
        parts = " and ".join(str(step.axis) for step in self.steps)
        cut = f" cut by {parts}" if parts else ""
        return f"{self.tile} of {self.size}{cut}"


def axes_of(grid: Sequence[int], loop: Sequence[int]) -> tuple[tuple[Axis, ...], tuple[Axis, ...]]:
    """The axes of a grid and of its loops, in their order."""
    return (
        tuple(Axis(False, number, count) for number, count in enumerate(grid)),
        tuple(Axis(True, number, count) for number, count in enumerate(loop)),
    )


def check_map(name: str, dims: Sequence[int], axes: Sequence[Axis], rank: int) -> None:
    """A map has one entry per axis: a dimension of the tensor or `REPLICATED`."""
    if len(dims) != len(axes):
        kind = "loops" if name == "loop_map" else "grid axes"
        raise PartitionError(f"{name} has {len(dims)} entries for {len(axes)} {kind}")
    for axis, dim in zip(axes, dims, strict=True):
        if dim != REPLICATED and not 0 <= dim < rank:
            raise PartitionError(f"{name} cuts dim {dim} by {axis}, but the tensor has rank {rank}")
    if name == "grid_map":
        for axis, dim in zip(axes, dims, strict=True):
            if dim != REPLICATED and (first := dims.index(dim)) < axis.number:
                raise PartitionError(
                    f"grid_map cuts dim {dim} by grid axes {first} and {axis.number}"
                )


def cut_dim(size: int, tile: int, cuts: Sequence[Axis]) -> Extent:
    """
    One dimension, cut by `cuts`: those that move on by most elements first.

    Raises:
        PartitionError: the tiles of all blocks and iterations do not cover the dimension.
    """
    steps: list[Step] = []
    stride = tile
    for axis in reversed(cuts):
        if axis.count > 1:
            steps.insert(0, Step(axis, stride))
        stride *= axis.count
    if stride < size:
        counts = [f"{axis.count} {'iterations' if axis.is_loop else 'blocks'}" for axis in cuts]
        product = " x ".join([*counts, f"tiles of {tile}"])
        raise PartitionError(f"(size {size}) is not covered: {product} hold {stride} elements")
    return Extent(size, tile, tuple(steps))


def cut(
    shape: Shape,
    tile: Shape,
    grid: Sequence[int],
    grid_map: Sequence[int],
    loop: Sequence[int] = (),
    loop_map: Sequence[int] = (),
    *,
    cyclic: bool = False,
) -> tuple[Extent, ...]:
    """
    The extent of each dimension of a tile of a tensor of `shape`.

    Args:
        shape: elements of the whole tensor, outermost dimension first.
        tile: elements of a tile; of the same rank.
        grid: blocks along each grid axis.
        grid_map: the dimension that each grid axis cuts, `REPLICATED` for none.
        loop: iterations of each loop, outermost first.
        loop_map: the dimension that each loop cuts, `REPLICATED` for none.
        cyclic: whether blocks take turns with the tiles of a dimension that loops cut, too.

    Raises:
        PartitionError: a map is wrong, or the tiles do not cover the tensor.
    """
    if len(tile) != len(shape):
        raise PartitionError(
            f"a tile of rank {len(tile)} cannot hold part of a rank-{len(shape)} tensor"
        )
    blocks, loops = axes_of(grid, loop)
    check_map("grid_map", grid_map, blocks, len(shape))
    check_map("loop_map", loop_map, loops, len(shape))
    by_grid, by_loop = zip(blocks, grid_map, strict=True), zip(loops, loop_map, strict=True)
    maps = [*by_loop, *by_grid] if cyclic else [*by_grid, *by_loop]
    extents: list[Extent] = []
    for dim, (size, part) in enumerate(zip(shape, tile, strict=True)):
        cuts = [axis for axis, cut_by in maps if cut_by == dim]
        try:
            extents.append(cut_dim(size, part, cuts))
        except PartitionError as error:
            raise PartitionError(f"dim {dim} {error}") from error
    return tuple(extents)
