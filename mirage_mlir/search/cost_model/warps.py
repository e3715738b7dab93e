"""Models how warps share a matmul, for all combinations of tile sizes at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.decisions.exchange import LINE_PADDING
from mirage_mlir.decisions.registers import SUMS_OF_WARPS
from mirage_mlir.decisions.sharing import split_warps
from mirage_mlir.layouts.layout import WARP_THREADS
from mirage_mlir.search.cost_model.instantiate import Array

ROWS, COLUMNS, DEPTH = 16, 8, 16
"""Of one instruction of the tensor core."""

INSTRUCTION = 2.0 * ROWS * COLUMNS * DEPTH
"""Operations of it."""

LEFT_BYTES, RIGHT_BYTES = 512, 256
"""Bytes that a warp reads for the two sides of it."""

NO_GROUPS = np.bool_(False)


@dataclass(frozen=True)
class Warps:
    """How warps share a matmul: the instructions of all warps, and the bytes that they read."""

    flops: Array
    read: Array
    exchange: Array
    """Bytes of shared memory through which parts of the sum meet."""
    grouped: NDArray[np.bool_] | np.bool_ = NO_GROUPS
    """Whether they are warpgroups'."""
    sums: Array | float = SUMS_OF_WARPS
    """Registers of a thread for them, as the lowering counts them."""
    padding: Array | float = 0.0
    """Bytes of shared memory that lie between those of `exchange`, and are not moved."""
    row_tiles: Array | float = 1.0
    """Tiles of rows that a warp, or a warpgroup, of a chain computes one after the other."""
    held: Array | float = 0.0
    """Elements of its part that each thread of a single warp holds."""


def chosen(where: NDArray[np.bool_], some: Warps, others: Warps) -> Warps:
    """`some` where the mask says so, else `others`."""
    return Warps(
        np.where(where, some.flops, others.flops),
        np.where(where, some.read, others.read),
        np.where(where, some.exchange, others.exchange),
        np.where(where, some.grouped, others.grouped),
        np.where(where, some.sums, others.sums),
        np.where(where, some.padding, others.padding),
        np.where(where, some.row_tiles, others.row_tiles),
        np.where(where, some.held, others.held),
    )


def warps_matmul(sides: tuple[Array, Array, Array], threads: Array, *, summed: bool) -> Warps:
    """
    How single warps share a matmul by `mma.sync`; `split_warps` decides it.

    They share its depth only where its result is only summed over the loop (`summed`).
    """
    rows, columns, depth = sides
    steps, warps = np.ceil(depth / DEPTH), threads / WARP_THREADS
    split = split_warps(rows, columns, depth, warps, summed)
    row_tiles = np.ceil(np.ceil(rows / ROWS) / split.down)
    column_tiles = np.ceil(np.ceil(columns / COLUMNS) / split.across)
    each = np.where(split.fits, warps * steps / np.maximum(split.deep, 1), np.inf)
    parts = warps * row_tiles * column_tiles * ROWS * COLUMNS * 4
    stored = parts + warps / split.across * row_tiles * ROWS * LINE_PADDING
    exchange = np.where(split.fits, np.where(split.deep > 1, stored, 0.0), np.inf)
    return Warps(
        each * row_tiles * column_tiles * INSTRUCTION,
        each * (row_tiles * LEFT_BYTES + column_tiles * RIGHT_BYTES),
        exchange,
        held=row_tiles * column_tiles * ROWS * COLUMNS / WARP_THREADS,
    )
