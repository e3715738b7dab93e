"""
Enumerates tile sizes of a configuration: any size, not only divisors and powers of two.

All combinations are numpy arrays with one entry each, so that a graph is costed on all at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.search.program.program import Program
from mirage_mlir.search.saturation.config import MAX_GRID_AXES, Configuration
from mirage_mlir.targets.target import Target

Array = NDArray[np.float64]

STEP = 8
"""Tiles of 8 elements are the smallest that a tensor core works on and fill 16 bytes of f16."""

EVEN_STEP = 2
"""Elements of f16 that a thread stores at once, at least."""

COARSE_TILES = (1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192)
"""Sizes that a first look at many graphs tries, besides whole axes and even shares."""

FINE_TILES = (
    *(1, 2, 3, 4, 6),
    *range(STEP, 256, STEP),
    *range(256, 512, 32),
    *range(512, 1024, 128),
    *(1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384),
)
"""Sizes that the best graphs are tried with."""

SHARES = (2, 4, 8, 16)
"""Blocks that may share a loop: up to 8 are a cluster on every GPU that has clusters."""

PARTS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Blocks over which a sum may be left open: a second kernel adds up what they store."""

PART_ROUNDS = (1, 2, 3, 4)
"""How often such blocks fill the GPU where they store results beside their parts of a sum."""

MOST_HELD = 48 * 512
"""Elements of rows that a block of a cluster has at most: as many as its threads read ahead, and so
read once (`MAX_READ_AHEAD` in `passes/codegen/loads.py`)."""

MAX_SHARED_ROUNDS = 2
"""Rounds of blocks on the whole GPU beyond which a loop is not shared: there is work for all."""

MAX_POINTS = 60_000
"""Combinations of tile sizes costed at once; above it the sizes tried are thinned out evenly. One
graph takes some 20 ms at this number."""

MAX_COARSE_POINTS = 8_000
"""The same for a first look, which hundreds of graphs get."""


@dataclass(frozen=True)
class Mesh:
    """
    Combinations of tile sizes: entry i of every array belongs to combination i.

    `tiles` has the extent of each axis in a tile; `counts` the blocks along each axis of the grid.
    `shares` has the blocks that share the axis of the loop, each with iterations of its own, and
    add up what they sum: 1 where every block walks the whole axis.
    """

    tiles: Mapping[str, Array]
    counts: Mapping[str, Array]
    shares: Array
    blocks: Array
    iterations: Array
    """Iterations of all loops together."""
    trip_counts: Mapping[str, Array]
    """Iterations along each axis of the loop."""
    single: frozenset[str] = frozenset()
    """The axes of which a block takes one index at a time."""

    def where(self, kept: NDArray[np.bool_]) -> "Mesh":
        """The combinations that are `kept`."""
        return Mesh(
            {axis: tile[kept] for axis, tile in self.tiles.items()},
            {axis: count[kept] for axis, count in self.counts.items()},
            self.shares[kept],
            self.blocks[kept],
            self.iterations[kept],
            {axis: count[kept] for axis, count in self.trip_counts.items()},
            self.single,
        )

    def point(self, index: int) -> "Instance":
        """The combination `index`."""
        return Instance(
            {axis: int(tile[index]) for axis, tile in self.tiles.items()},
            {axis: int(count[index]) for axis, count in self.counts.items()},
            int(self.shares[index]),
            tuple(int(count[index]) for count in self.trip_counts.values()),
        )


@dataclass(frozen=True)
class Instance:
    """
    One combination: the tile size of every axis, blocks along the grid's and along the loop's,
    iterations of the loop.
    """

    tiles: Mapping[str, int]
    counts: Mapping[str, int]
    shares: int
    trip_counts: tuple[int, ...]


def grid_tiles(size: int, step: int, target: Target, fine: bool, even_step: int) -> list[int]:
    """
    Tile sizes worth trying for an axis of `size` on the grid: multiples of `step`, two tiles or
    more (with one tile the axis is on the grid of no configuration).

    Besides the fixed sizes these are the even shares: `size` over the number of blocks that fill
    the GPU once, twice and so on, rounded up to whole vectors, and to multiples of `even_step`.
    """
    tiles = {
        *(FINE_TILES if fine else COARSE_TILES),
        *(-(-size // blocks) for blocks in range(1, 9)),
    }
    if not fine:
        return _in_steps(size, step, tiles)
    even = {-(-size // (rounds * target.sm_count)) for rounds in (1, 2, 3, 4, 6, 8)}
    tiles |= even | {-(-share // STEP) * STEP for share in even}
    large = {share for share in even if share > step}
    return sorted({*_in_steps(size, step, tiles), *_in_steps(size, even_step, large)})


def _even_step(program: Program, axis: str, step: int) -> int:
    """
    The step of even shares of an axis of which tiles are multiples of `step` otherwise.

    Tensor cores compute the rest of 8 elements for nothing, which matters less than multiprocessors
    with a block more than others have; but copies want whole vectors along the lines of a tensor.
    """
    read = (tensor for tensor in program.inputs if tensor.indices is None)
    lines = any((axis, 1) in tensor.by_stride() for tensor in read)
    return step if lines else min(step, EVEN_STEP)


def loop_tiles(size: int, step: int, fine: bool) -> list[int]:
    """Tile sizes for an axis of `size` that a loop walks in two iterations at least."""
    return _in_steps(size, step, {*(FINE_TILES if fine else COARSE_TILES), -(-size // 2)})


def _in_steps(size: int, step: int, tiles: set[int]) -> list[int]:
    """The sizes below `size`, each rounded up to the next multiple of `step`."""
    rounded = {-(-tile // step) * step for tile in tiles}
    return sorted(tile for tile in rounded if 1 <= tile < size)


def share_counts(program: Program, configuration: Configuration, target: Target) -> list[int]:
    """
    Numbers of blocks that may share the loop, or that are a cluster: their axis is one more of the
    grid.
    """
    if configuration.cluster:
        return [count for count in SHARES if count <= target.cluster_max]
    room = len(configuration.grid) < MAX_GRID_AXES and len(configuration.loop) == 1
    if not room or configuration.loop[0] in (*program.batch, *configuration.grid):
        return [1]
    return [1, *(count for count in SHARES if count <= target.split_max)]


def _thinned(choices: list[list[int]], most: int) -> list[list[int]]:
    """
    Leave out sizes of the longest list until few enough combinations are left.

    Sizes that a first look tries stay as long as there are others: what it found is among them,
    and tensor cores and swizzles like powers of two. First those go that are no multiple of 16
    (warpgroups share 176 rows better than 168), then every second.
    """
    while np.prod([len(sizes) for sizes in choices], dtype=float) > most:
        longest = max(range(len(choices)), key=lambda index: len(choices[index]))
        sizes = choices[longest]
        others = [size for size in sizes[:-1] if size not in COARSE_TILES] or sizes[:-1]
        dropped = [size for size in others if size % (2 * STEP)] or others[1::2]
        choices[longest] = [size for size in sizes if size not in dropped]
        if choices[longest] == sizes:
            break
    return choices


def instantiate(
    program: Program,
    configuration: Configuration,
    target: Target,
    shares: Sequence[int] = (1,),
    *,
    fine: bool,
    parts: Sequence[int] = PARTS,
) -> Mesh:
    """
    All combinations of tile sizes of `configuration` that are worth costing.

    Args:
        program: what is computed.
        configuration: how it is cut.
        target: for which GPU.
        shares: numbers of blocks that may share the loop.
        fine: whether many sizes are tried.
        parts: numbers of blocks over which a sum may be left open.
    """
    choices: list[list[int]] = []
    multiplied = program.multiplied()
    for axis in configuration.grid:
        size, step = program.sizes[axis], multiplied.get(axis, 1)
        if axis in configuration.single:
            choices.append([1])
        elif axis in program.open_sums:
            counts = (*parts, *_rounds(program, axis, target))
            choices.append(_parts(size, step, counts, looped=axis in configuration.loop))
        else:
            even_step = _even_step(program, axis, step)
            choices.append(grid_tiles(size, step, target, fine, even_step))
    for axis in configuration.loop:
        size, step = program.sizes[axis], multiplied.get(axis, 1)
        single = axis in configuration.single
        choices.append([1] if single else loop_tiles(size, step, fine))
    choices = _thinned(choices, MAX_POINTS if fine else MAX_COARSE_POINTS)
    mesh = mesh_of(program, configuration, choices, shares)
    if configuration.cluster:
        return mesh.where(_held_by_clusters(program, configuration, mesh))
    alone = mesh.shares == 1
    crowded = mesh.blocks > MAX_SHARED_ROUNDS * target.sm_count
    return mesh.where(alone | (_shareable(program, configuration, mesh) & ~crowded))


def _held_by_clusters(
    program: Program, configuration: Configuration, mesh: Mesh
) -> NDArray[np.bool_]:
    """Where each block of a cluster has a part of its rows, and keeps it in registers."""
    (axis,) = configuration.cluster
    kept = mesh.tiles[axis]
    for other in configuration.grid:
        kept = kept * mesh.tiles[other]
    return ((mesh.shares - 1) * mesh.tiles[axis] < program.sizes[axis]) & (kept <= MOST_HELD)


def _rounds(program: Program, axis: str, target: Target) -> tuple[int, ...]:
    """
    The numbers of blocks that fill the GPU, where a sum over an axis stays open and results along
    it are stored.

    These blocks then read and store everything; other sums have blocks along other axes, too.
    """
    stored = any(axis in output.axes for output in program.outputs)
    return tuple(rounds * target.sm_count for rounds in PART_ROUNDS) if stored else ()


def _parts(size: int, step: int, parts: Sequence[int], *, looped: bool) -> list[int]:
    """
    The ways to cut an axis whose sum stays open: elements of a block, or of a tile where no loop
    walks it.
    """
    counts = [count for count in parts if count * step < size + step]
    # A block that walks its part has two tiles at least, both of whole steps.
    room = [count for count in counts if not looped or 2 * count * step < size + step]
    return sorted({-(-size // count // step) * step for count in room})


def _shareable(program: Program, configuration: Configuration, mesh: Mesh) -> NDArray[np.bool_]:
    """
    Where each of the blocks that share a loop has a part of its axis, and more than one iteration.
    """
    fits = mesh.iterations > 1
    for axis in configuration.loop:
        before_last = (mesh.shares - 1) * mesh.iterations * mesh.tiles[axis]
        fits &= before_last < program.sizes[axis]
    return fits


def mesh_of(
    program: Program,
    configuration: Configuration,
    choices: Sequence[Sequence[int]],
    shares: Sequence[int] = (1,),
) -> Mesh:
    """
    All combinations of `choices`: elements of a block along axes of the grid, of an iteration along
    axes of the loop.

    A block that loops over its part of an axis has whole tiles of it.
    """
    lists = [np.array(sizes, dtype=float) for sizes in (*choices, shares)]
    *arrays, shared = (array.ravel() for array in np.meshgrid(*lists, indexing="ij"))
    rank = len(configuration.grid)
    parts = dict(zip(configuration.grid, arrays[:rank], strict=True))
    walked = dict(zip(configuration.loop, arrays[rank:], strict=True))
    tiles: dict[str, Array] = {}
    for axis, size in program.sizes.items():
        whole = np.full(shared.size, float(size))
        if axis in configuration.cluster:
            whole = np.ceil(whole / shared / STEP) * STEP
        tiles[axis] = walked.get(axis, parts.get(axis, whole))
    blocks, iterations = shared, np.ones(shared.size)
    trip_counts: dict[str, Array] = {}
    for axis, tile in walked.items():
        size = parts.get(axis, program.sizes[axis] / shared)
        trip_counts[axis] = np.ceil(size / tile)
        iterations = iterations * trip_counts[axis]
        if axis in parts:
            parts[axis] = trip_counts[axis] * tile
    counts = {axis: np.ceil(program.sizes[axis] / part) for axis, part in parts.items()}
    for count in counts.values():
        blocks = blocks * count
    single = frozenset(configuration.single)
    return Mesh(tiles, counts, shared, blocks, iterations, trip_counts, single)
