"""Decides how the warps or warpgroups of a block share a matmul of tiles."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mirage_mlir.decisions.registers import MAX_FRAGMENT_REGISTERS
from mirage_mlir.decisions.wgmma import (
    COLUMN_STEP,
    GROUP_COUNTS,
    GROUP_THREADS,
    LONGEST_LINE,
    MAX_SUMS,
    WGMMA_DEPTH,
    WGMMA_ROWS,
    registers_for_chain,
)
from mirage_mlir.layouts.layout import MMA_COLUMNS, MMA_DEPTH, MMA_ROWS

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

MAX_EXCHANGE_BYTES = 48 * 1024
"""Parts of a sum that warps may exchange through shared memory: more would cost occupancy."""

WORTH_SWAPPING = 0.9
"""What the transpose of a matmul reads in shared memory, of what the matmul itself reads, at most:
results of transposes take more instructions to store."""

MOST_STEPS = 2.0**13
"""More than the instructions of one warpgroup in an iteration: keys are compared as one number."""

POWERS = (1, 2, 4, 8, 16)
"""Warps along a side; of 512 threads, the most of a block that multiplies, there are 16."""


class Split(NamedTuple):
    """The number of warps, or warpgroups, along the rows, columns and depth of a matmul."""

    down: Array
    across: Array
    deep: Array
    """Those along the depth hold partial sums, which are added up through shared memory."""
    fits: Mask
    """Where there is such a way; elsewhere the counts mean nothing."""


def split_warps(
    rows: ArrayLike, columns: ArrayLike, depth: ArrayLike, warps: ArrayLike, may_split: bool
) -> Split:
    """
    The split over warps (`mma.sync`) with the least work for each warp.

    Work is counted in instructions of one iteration: one `mma.sync` for each fragment of the
    result, one `ldmatrix` for a left fragment, and half of one for a right fragment.

    Args:
        rows: of the tile.
        columns: of the tile.
        depth: elements that are summed.
        warps: of the block.
        may_split: whether warps may hold partial sums.
    """
    row_tiles = np.ceil(np.asarray(rows, np.float64) / MMA_ROWS)
    column_tiles = np.ceil(np.asarray(columns, np.float64) / MMA_COLUMNS)
    steps = np.ceil(np.asarray(depth, np.float64) / MMA_DEPTH)
    count = np.asarray(warps, np.float64)
    best = np.full(np.broadcast(row_tiles, steps, count).shape, np.inf)
    down, across = np.ones_like(best), np.ones_like(best)
    most = float(count.max(initial=1.0))
    # Of equal work the fewest along the rows, then along the columns.
    for d, a in ((d, a) for d in POWERS for a in POWERS if d * a <= most):
        deep = np.floor(count / (d * a))
        high, wide = np.ceil(row_tiles / d), np.ceil(column_tiles / a)
        valid = deep == 1
        if may_split:
            parts = deep * (d * a) * high * wide * (MMA_ROWS * MMA_COLUMNS * 4)
            whole = steps % np.maximum(deep, 1) == 0
            valid = valid | ((deep > 1) & whole & (parts <= MAX_EXCHANGE_BYTES))
        work = steps / np.maximum(deep, 1) * (high * wide + high + wide / 2)
        better = valid & (work < best)
        best = np.where(better, work, best)
        down, across = np.where(better, float(d), down), np.where(better, float(a), across)
    return Split(down, across, np.floor(count / (down * across)), np.isfinite(best))


def start_at_lines(part: ArrayLike, length: ArrayLike) -> Mask:
    """
    Whether none of several parts of a side, one behind the other, goes over the end of a swizzled
    line within it: they are whole lines, or divide a line evenly.

    Args:
        part: elements of each.
        length: elements of a line.
    """
    part, length = np.asarray(part), np.asarray(length)
    return (part % length == 0) | (length % part == 0)


class Lines(NamedTuple):
    """
    How an operand of a warpgroup's matmul lies in shared memory.

    Its outer side is the rows of a left operand, or the columns of a right one.
    """

    length: ArrayLike
    """Elements of a swizzled line."""
    along_depth: ArrayLike
    """Whether neighbours lie along the depth, else along the outer side."""

    def can_split(self, outer: Array, depth: Array, count: ArrayLike, deep: Array) -> Mask:
        """Whether parts of these sizes, in elements, are whole lines, or divide a line evenly."""
        length = np.maximum(self.length, 1)
        part = np.maximum(np.where(self.along_depth, depth, outer), 1)
        parts = np.where(self.along_depth, deep, count)
        return (parts == 1) | start_at_lines(part, length)


class GroupSplit(NamedTuple):
    """A split over warpgroups, and which side of the tile the instruction's rows are."""

    split: Split
    """Along the instruction's rows, its columns, and the depth."""
    swapped: Mask
    """Where the transpose is computed: the tile's columns are the instruction's rows."""


def split_groups(
    sizes: tuple[ArrayLike, ArrayLike, ArrayLike],
    operands: tuple[Lines, Lines],
    groups: ArrayLike,
    may_split: bool,
) -> GroupSplit:
    """
    The split over warpgroups (`wgmma`) of a matmul of tiles, or of the transposed one.

    The instruction's rows come in units of 64, its columns in units of 8. The transpose is computed
    where only that fits, or where it reads less from shared memory: 192 rows by 192 columns are 96
    rows for each of two warpgroups, 128 rows by 64 columns one instruction for two. On an H200 a
    matmul of 4,096 rows, 3,456 columns and depth 1152 took 52 us in tiles of the first kind, where
    the best of others took 59; one of 256 rows 17.8 in tiles of the second, 18.6 as they are.

    Args:
        sizes: rows, columns and depth of the tile.
        operands: its left and its right one.
        groups: of the block, a power of two.
        may_split: whether warpgroups may hold partial sums.
    """
    rows, columns, depth = (np.asarray(size, np.float64) for size in sizes)
    first, second = operands
    plain, work = _split_groups((rows, columns, depth), (first, second), groups, may_split)
    padded = np.ceil(rows / COLUMN_STEP) * COLUMN_STEP
    transposed, less = _split_groups((columns, padded, depth), (second, first), groups, may_split)
    swapped = less < WORTH_SWAPPING * work
    pairs = zip(plain, transposed, strict=True)
    return GroupSplit(Split(*(np.where(swapped, there, here) for here, there in pairs)), swapped)


def _split_groups(
    sizes: tuple[Array, Array, Array],
    operands: tuple[Lines, Lines],
    groups: ArrayLike,
    may_split: bool,
) -> tuple[Split, Array]:
    """
    The split along the instruction's rows, its columns, and the depth, and what it was chosen by.

    It is the split that reads least from shared memory; of equal ones, that with the fewest
    instructions for each warpgroup, since all warpgroups share the tensor cores. A split does not
    fit if it does not divide the sizes, or if the accumulators need more registers than threads
    have.
    """
    rows, columns, depth = sizes
    count = np.asarray(groups, np.float64)
    best = np.full(np.broadcast(rows, columns, depth, count).shape, np.inf)
    down, across = np.ones_like(best), np.ones_like(best)
    most = float(count.max(initial=1.0))
    for d, a in ((d, a) for d in POWERS for a in POWERS if d * a <= most):
        deep = count / (d * a)
        height, width, inner = rows / d, columns / a, depth / np.maximum(deep, 1)
        valid = (deep >= 1) & (inner % WGMMA_DEPTH == 0)
        valid = valid & (height % WGMMA_ROWS == 0) & (width % COLUMN_STEP == 0)
        valid = valid & (height * width <= MAX_SUMS * GROUP_THREADS)
        if not valid.any():
            continue
        partial = (deep * rows * columns * 4 <= MAX_EXCHANGE_BYTES) if may_split else False
        valid = valid & ((deep <= 1) | partial)
        valid = valid & operands[0].can_split(height, inner, d, deep)
        valid = valid & operands[1].can_split(width, inner, a, deep)
        steps = inner / WGMMA_DEPTH * (height / WGMMA_ROWS)
        # Of equal reading the fewest steps, then the fewest partial sums.
        work = (count * steps * (WGMMA_ROWS + width) * MOST_STEPS + steps) * MOST_STEPS + deep
        better = valid & (work < best)
        best = np.where(better, work, best)
        down, across = np.where(better, float(d), down), np.where(better, float(a), across)
    return Split(down, across, count / (down * across), np.isfinite(best)), best


def split_warp_chain(
    sizes: tuple[ArrayLike, ArrayLike, ArrayLike], widths: Sequence[ArrayLike], warps: ArrayLike
) -> Split:
    """
    The split of a chain of matmuls over warps with the least work for each warp.

    Of equal ones it is that with the fewest warps along the columns: these hold partial sums of the
    other matmuls, which are added up after the loop.

    Args:
        sizes: rows, columns and depth of the first matmul; its columns are the others' depth.
        widths: columns of the others.
        warps: of the block.
    """
    rows, keys, depth = (np.asarray(size, np.float64) for size in sizes)
    row_tiles, steps = np.ceil(rows / MMA_ROWS), np.ceil(depth / MMA_DEPTH)
    wide = [np.ceil(np.asarray(width, np.float64) / MMA_COLUMNS) for width in widths]
    total, widest = sum(wide, start=np.float64(0)), np.maximum.reduce(wide)
    count = np.asarray(warps, np.float64)
    best = np.full(np.broadcast(rows, keys, depth, total, count).shape, np.inf)
    across = np.ones_like(best)
    for parts in POWERS:
        down = count / parts
        tiles = np.ceil(row_tiles / down)
        columns = np.ceil(np.ceil(keys / MMA_COLUMNS) / parts)
        # Warps without rows: each matmul alone would give them work.
        fits = np.isin(down, POWERS) & (down <= row_tiles)
        fits = fits & (4 * tiles * (columns + total) <= MAX_FRAGMENT_REGISTERS)
        if parts > 1:
            exchanged = count * tiles * widest * (MMA_ROWS * MMA_COLUMNS * 4)
            fits = fits & (keys % (MMA_DEPTH * parts) == 0)
            fits = fits & (exchanged <= 2 * MAX_EXCHANGE_BYTES)
        work = tiles * (columns * steps + total * np.ceil(columns / 2))
        better = fits & (work < best)
        best, across = np.where(better, work, best), np.where(better, float(parts), across)
    return Split(count / across, across, np.ones_like(across), np.isfinite(best))


def split_group_chain(
    sizes: tuple[ArrayLike, ArrayLike, ArrayLike],
    widths: Sequence[ArrayLike],
    groups: ArrayLike,
    *,
    looped: bool,
) -> Split:
    """
    The split of a chain of matmuls over warpgroups with the fewest partial sums.

    Args:
        sizes: rows, columns and depth of the first matmul; its columns are the others' depth, so
            warpgroups that share them hold partial sums of the others.
        widths: columns of the others.
        groups: of the block, one of `GROUP_COUNTS`.
        looped: whether the block has a loop.
    """
    rows, keys, depth = (np.asarray(size, np.float64) for size in sizes)
    wide, count = [np.asarray(width, np.float64) for width in widths], np.asarray(groups)
    total, widest = sum(wide, start=np.float64(0)), np.maximum.reduce(wide)
    possible = rows % WGMMA_ROWS == 0
    for size in (keys, depth, *wide):
        possible = possible & (size % WGMMA_DEPTH == 0)
    limits = [float(registers_for_chain(each, looped=looped)) for each in GROUP_COUNTS]
    limit = np.select([count == each for each in GROUP_COUNTS], limits, 0.0)
    across = np.full(np.broadcast(possible, count).shape, np.inf)
    for parts in GROUP_COUNTS:
        down, part = np.maximum(count / parts, 1), np.maximum(keys / parts, 1)
        registers = rows / (WGMMA_ROWS * down) * (part + total) * WGMMA_ROWS / GROUP_THREADS
        fits = possible & (count >= parts) & (rows % (WGMMA_ROWS * down) == 0)
        fits = fits & (keys % (WGMMA_DEPTH * parts) == 0) & (registers <= limit)
        # Each group starts at a whole line, or all share one.
        fits = fits & start_at_lines(part, LONGEST_LINE)
        if parts > 1:
            fits = fits & (parts * rows * widest * 4 <= 2 * MAX_EXCHANGE_BYTES)
        across = np.where(fits & np.isinf(across), float(parts), across)
    return Split(count / across, across, np.ones_like(across), np.isfinite(across))
