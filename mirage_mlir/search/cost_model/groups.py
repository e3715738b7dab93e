"""
Models matmuls by warpgroups (`wgmma`), for all combinations of tile sizes at once.

The lowering decides the same in `passes/mma/wgmma_split.py` and `passes/mma/chains.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.decisions.exchange import LINE_PADDING
from mirage_mlir.decisions.sharing import Lines, split_group_chain, split_groups
from mirage_mlir.decisions.wgmma import (
    COLUMN_STEP,
    GROUP_THREADS,
    ITEM_BYTES,
    LONGEST_LINE,
    WGMMA_ROWS,
)
from mirage_mlir.search.cost_model.chains import Chain, Shared
from mirage_mlir.search.cost_model.instantiate import Array
from mirage_mlir.search.cost_model.tiling import Tiling, round_up
from mirage_mlir.search.cost_model.warps import Warps
from mirage_mlir.search.program.program import Kind
from mirage_mlir.search.saturation.hypergraph import Edge

GROUP_WORK = 0.48
"""What an operation of a warpgroup counts for, in those of `mma.sync`: on an H200 the first reach
790e12 in a second, and single kernels of the second half of that."""

SHORT_LINES = 1.35
"""How much longer a matmul takes with an operand whose lines are not 128 bytes long: attention
with 80 or 96 keys 1.7 times as long as with 64 or 128, matmuls of 192, 80 and 96 columns 1.3."""

OPERAND_READ = 0.75
"""What a byte that a warpgroup matmul reads in shared memory counts for, in those that threads
read."""

SHORTEST_LINE = 16
"""Elements of the shortest line of a swizzled tile."""


@dataclass(frozen=True)
class Grouped:
    """How warpgroups share a matmul, and where they can compute it at all."""

    fits: NDArray[np.bool_]
    warps: Warps


@dataclass(frozen=True)
class Operand:
    """
    How a tile lies that warpgroups multiply.

    Args:
        run: elements that lie side by side.
        along_depth: whether they are those of the depth.
    """

    run: Array
    along_depth: bool

    @property
    def fits(self) -> NDArray[np.bool_]:
        """Whether the tile can be swizzled, as `wgmma` demands."""
        return self.line > 0

    @cached_property
    def line(self) -> NDArray[np.int64]:
        """The elements of a swizzled line; 0 where the tile cannot be swizzled."""
        widths = (LONGEST_LINE, LONGEST_LINE // 2, SHORTEST_LINE)
        return np.select([self.run % width == 0 for width in widths], widths, 0)


def operand_tile(tiling: Tiling, edges: Mapping[int, Edge], value: int, summed: str) -> Operand:
    """How the operand `value` of a matmul lies in shared memory; `summed` is its depth."""
    edge, mesh = edges[value], tiling.mesh
    if edge.kind is not Kind.INPUT:
        # What a block computes it stores as it is wanted.
        return Operand(mesh.tiles[summed], along_depth=True)
    for axis, stride in tiling.program.inputs[edge.source].by_stride()[:1]:
        if stride == 1 and axis in tiling.axes(value):
            return Operand(mesh.tiles[axis], axis == summed)
    return Operand(tiling.one, along_depth=False)


def group_matmul(
    sides: tuple[Array, Array, Array],
    operands: tuple[Operand, Operand],
    threads: Array,
    *,
    summed: bool,
) -> Grouped:
    """
    How warpgroups share a matmul that is in no chain, or the transposed one; `split_groups` decides
    it.
    """
    rows, columns, depth = sides
    groups = threads / GROUP_THREADS
    first, second = (Lines(operand.line, operand.along_depth) for operand in operands)
    split, swapped = split_groups(sides, (first, second), groups, summed)
    fits = split.fits & operands[0].fits & operands[1].fits
    high = np.where(swapped, columns, rows)
    wide = round_up(np.where(swapped, rows, columns), COLUMN_STEP)
    height, width, inner = high / split.down, wide / split.across, depth / split.deep
    read = OPERAND_READ * groups * (height / WGMMA_ROWS) * (WGMMA_ROWS + width) * inner * ITEM_BYTES
    parts = np.where(split.deep > 1, split.deep * high * wide * 4, 0.0)
    work = GROUP_WORK * 2 * high * wide * depth
    whole = np.logical_and.reduce([operand.line == LONGEST_LINE for operand in operands], axis=0)
    work = np.where(whole, work, SHORT_LINES * work)
    sums = height * width / GROUP_THREADS
    read, parts = np.where(fits, read, 0.0), np.where(fits, parts, 0.0)
    return Grouped(fits, Warps(work, read, parts, fits, sums))


def chain_rows(tiling: Tiling, edges: Mapping[int, Edge], chain: Chain) -> Array:
    """The rows of all matmuls of a chain."""
    summed = edges[chain.others[0]].axis
    return tiling.extent([axis for axis in tiling.axes(chain.first) if axis != summed])


def group_chain(tiling: Tiling, edges: Mapping[int, Edge], chain: Chain, groups: Array) -> Shared:
    """Calls `_group_chain` once for all graphs that have the same chain."""
    matmuls = [edges[value] for value in (chain.first, *chain.others)]
    operands = [edges[operand] for matmul in matmuls for operand in matmul.operands]
    lie = tuple((operand.kind, operand.source) for operand in operands)
    key = ("groups", chain, tuple(matmul.axis for matmul in matmuls), lie, groups.tobytes())
    return tiling.once(key, lambda: _group_chain(tiling, edges, chain, groups))


def _group_chain(tiling: Tiling, edges: Mapping[int, Edge], chain: Chain, groups: Array) -> Shared:
    """
    How warpgroups share the rows and keys of a chain, with the fewest partial sums.

    The keys are the columns of the first matmul and the depth of the others.
    """
    first = edges[chain.first]
    summed = edges[chain.others[0]].axis
    assert summed is not None
    assert first.axis is not None
    own, mesh = tiling.axes(chain.first), tiling.mesh
    rows = chain_rows(tiling, edges, chain)
    keys, depth = mesh.tiles[summed], mesh.tiles[first.axis]
    widths = [
        tiling.extent([a for a in tiling.axes(other) if a not in own]) for other in chain.others
    ]
    split = split_group_chain((rows, keys, depth), widths, groups, looped=bool(mesh.trip_counts))
    possible, across = split.fits, split.across
    each = np.full_like(rows, 2 * GROUP_WORK)
    for value in (chain.first, *chain.others):
        for operand in edges[value].operands:
            summed_over = edges[value].axis
            assert summed_over is not None
            line = operand_tile(tiling, edges, operand, summed_over).line
            possible = possible & (line > 0)
            each = np.where(line < LONGEST_LINE, 2 * GROUP_WORK * SHORT_LINES, each)
    fits = possible
    heights, down = rows / WGMMA_ROWS, np.where(fits, split.down, 1.0)
    lines = np.where(fits & (across > 1), across * rows, 0.0)
    found = {
        chain.first: Warps(
            each * rows * keys * depth,
            heights * (WGMMA_ROWS + keys) * depth * ITEM_BYTES,
            tiling.zero,
            fits,
            rows * keys / (groups * GROUP_THREADS),
            row_tiles=heights / down,
        )
    }
    for other, width in zip(chain.others, widths, strict=True):
        work = each * rows * keys * width
        read = heights * keys * width * ITEM_BYTES
        sums = rows * width / (down * GROUP_THREADS)
        found[other] = Warps(work, read, 4 * lines * width, fits, sums, lines * LINE_PADDING)
    return Shared(fits, found)
