"""
Products by warp groups, in the model (see `passes/lowering/units.py` and `chains.py`, which this
follows for all combinations of tile sizes at once).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.graph.schedule import MAX_EXCHANGE_BYTES
from mirage_mlir.graph.wgmma import (
    COLUMN_STEP,
    GROUP_COUNTS,
    GROUP_THREADS,
    GROUPS_IN_FLIGHT,
    ITEM_BYTES,
    LONGEST_LINE,
    MAX_SUMS,
    UNIT_DEPTH,
    UNIT_ROWS,
    registers_for_chain,
)
from mirage_mlir.search.chains import Chain, Shared, Warps
from mirage_mlir.search.hypergraph import Edge
from mirage_mlir.search.instantiate import Array
from mirage_mlir.search.tiling import Tiling, round_up

GROUP_WORK = 0.55
"""What an operation of a warp group counts for, in those of `mma.sync`: on an H200 the first reach
790e12 in a second, and single kernels of the second half of that."""


@dataclass(frozen=True)
class Grouped:
    """How warp groups share a product, where they can."""

    fits: NDArray[np.bool_]
    warps: Warps


def group_product(sides: tuple[Array, Array, Array], threads: Array, *, summed: bool) -> Grouped:
    """
    A product alone, by the rows, columns and depth of its tiles.

    Where the rows are no multiple of a unit's and the columns are, the unit computes it transposed.
    """
    rows, columns, depth = sides
    normal = rows % UNIT_ROWS == 0
    high = np.where(normal, rows, columns)
    wide = round_up(np.where(normal, columns, rows), COLUMN_STEP)
    groups = threads / GROUP_THREADS
    parts = high * wide * 4
    apart = (high % (UNIT_ROWS * groups) != 0) & (wide % (COLUMN_STEP * groups) != 0)
    may = summed & (depth % (UNIT_DEPTH * groups) == 0) & (groups * parts <= MAX_EXCHANGE_BYTES)
    fits = (high % UNIT_ROWS == 0) & (depth % UNIT_DEPTH == 0) & (~apart | may)
    fits &= (high * wide <= MAX_SUMS * threads) & (groups >= 1)
    read = (high / UNIT_ROWS) * (UNIT_ROWS + wide) * depth * ITEM_BYTES
    work = GROUP_WORK * 2 * high * wide * depth
    return Grouped(fits, Warps(work, read, np.where(apart, groups * parts, 0.0)))


def group_counts(tiling: Tiling, edges: Mapping[int, Edge], chains: Sequence[Chain]) -> Array:
    """Warp groups of a block whose products are all in chains; 0 where they cannot be."""
    most = np.ceil(tiling.mesh.blocks / tiling.target.multiprocessors)
    wanted = np.where(most <= 1, GROUPS_IN_FLIGHT, 1)
    count = tiling.zero
    for groups in GROUP_COUNTS:
        fits = tiling.one > 0
        for chain in chains:
            fits &= group_chain(tiling, edges, chain, tiling.one * groups).fits
        count = np.where(fits & (count < wanted), float(groups), count)
    return count


def group_chain(tiling: Tiling, edges: Mapping[int, Edge], chain: Chain, groups: Array) -> Shared:
    """
    The split of a chain's rows and keys over warp groups with the fewest parts.

    The keys are the columns of the first product and the depth of the others.
    """
    first = edges[chain.first]
    summed = edges[chain.others[0]].axis
    assert summed is not None
    assert first.axis is not None
    own, mesh = tiling.axes(chain.first), tiling.mesh
    rows = tiling.extent([axis for axis in own if axis != summed])
    keys, depth = mesh.tiles[summed], mesh.tiles[first.axis]
    widths = [
        tiling.extent([a for a in tiling.axes(other) if a not in own]) for other in chain.others
    ]
    total, widest = sum(widths, start=tiling.zero), np.maximum.reduce(widths)
    possible = (rows % UNIT_ROWS == 0) & (keys % UNIT_DEPTH == 0) & (depth % UNIT_DEPTH == 0)
    for width in widths:
        possible &= width % UNIT_DEPTH == 0
    looped = bool(mesh.turns)
    limits = [float(registers_for_chain(count, looped=looped)) for count in GROUP_COUNTS]
    limit = np.select([groups == count for count in GROUP_COUNTS], limits, 0.0)
    across = np.full_like(rows, np.inf)
    for split in GROUP_COUNTS:
        down = groups / split
        registers = rows / (UNIT_ROWS * down) * (keys / split + total) * UNIT_ROWS / GROUP_THREADS
        fits = possible & (down >= 1) & (rows % (UNIT_ROWS * np.maximum(down, 1)) == 0)
        fits &= (keys % (UNIT_DEPTH * split) == 0) & (registers <= limit)
        # Each group starts at a whole line, or all share one.
        part = np.maximum(keys / split, 1)
        fits &= (part % LONGEST_LINE == 0) | (LONGEST_LINE % part == 0)
        if split > 1:
            fits &= split * rows * widest * 4 <= 2 * MAX_EXCHANGE_BYTES
        across = np.where(fits & np.isinf(across), float(split), across)
    fits = np.isfinite(across)
    heights = rows / UNIT_ROWS
    parts = np.where(fits & (across > 1), across * rows * 4, 0.0)
    found = {
        chain.first: Warps(
            GROUP_WORK * 2 * rows * keys * depth,
            heights * (UNIT_ROWS + keys) * depth * ITEM_BYTES,
            tiling.zero,
        )
    }
    for other, width in zip(chain.others, widths, strict=True):
        work = GROUP_WORK * 2 * rows * keys * width
        found[other] = Warps(work, heights * keys * width * ITEM_BYTES, parts * width)
    return Shared(fits, found)
