"""How warps share a product, in the model, for all combinations of tile sizes at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.graph.layout import WARP_THREADS
from mirage_mlir.graph.schedule import MAX_EXCHANGE_BYTES
from mirage_mlir.search.instantiate import Array

ROWS, COLUMNS, DEPTH = 16, 8, 16
"""Of one instruction of the tensor core."""

INSTRUCTION = 2.0 * ROWS * COLUMNS * DEPTH
"""Operations of it."""

LEFT_BYTES, RIGHT_BYTES = 512, 256
"""Bytes that a warp reads for the two sides of it."""

LINE_PADDING = 32
"""Bytes after each line of a tile of f32 that threads write, so that they meet in no bank."""

NO_GROUPS = np.bool_(False)


@dataclass(frozen=True)
class Warps:
    """How warps share a product: the instructions of all of them, and the bytes that they read."""

    flops: Array
    read: Array
    exchange: Array
    """Bytes of shared memory through which parts of the sum meet."""
    grouped: NDArray[np.bool_] | np.bool_ = NO_GROUPS
    """Whether they are warpgroups'."""


def chosen(where: NDArray[np.bool_], some: Warps, others: Warps) -> Warps:
    """`some` where the mask says so, else `others`."""
    return Warps(
        np.where(where, some.flops, others.flops),
        np.where(where, some.read, others.read),
        np.where(where, some.exchange, others.exchange),
        np.where(where, some.grouped, others.grouped),
    )


def warps_product(sides: tuple[Array, Array, Array], threads: Array, *, summed: bool) -> Warps:
    """
    Warps along the rows, columns and depth of a product with the least work for each.

    Only where nothing but sums over the loop follows (`summed`) do they share the depth.
    """
    rows, columns, depth = sides
    steps, warps = np.ceil(depth / DEPTH), threads / WARP_THREADS
    best = np.full_like(rows, np.inf)
    flops, read, exchange = best, best, best
    for down, across in ((d, a) for d in (1, 2, 4, 8) for a in (1, 2, 4, 8) if d * a <= 8):
        deep = np.floor(warps / (down * across))
        row_tiles = np.ceil(np.ceil(rows / ROWS) / down)
        column_tiles = np.ceil(np.ceil(columns / COLUMNS) / across)
        parts = warps * row_tiles * column_tiles * ROWS * COLUMNS * 4
        split = summed & (steps % np.maximum(deep, 1) == 0)
        valid = (deep == 1) | ((deep > 1) & split & (parts <= MAX_EXCHANGE_BYTES))
        work = steps / np.maximum(deep, 1)
        work = work * (row_tiles * column_tiles + row_tiles + column_tiles / 2)
        better = valid & (work < best)
        best = np.where(better, work, best)
        each = warps * steps / np.maximum(deep, 1)
        flops = np.where(better, each * row_tiles * column_tiles * INSTRUCTION, flops)
        moved = each * (row_tiles * LEFT_BYTES + column_tiles * RIGHT_BYTES)
        read = np.where(better, moved, read)
        stored = parts + warps / across * row_tiles * ROWS * LINE_PADDING
        exchange = np.where(better, np.where(deep > 1, stored, 0.0), exchange)
    return Warps(flops, read, exchange)
