"""Decides how the blocks of a cluster get each other's parts of a sum behind a loop."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mirage_mlir.decisions.schedule import ENOUGH_STAGES

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

DELIVERED_BYTES = 36 * 1024
"""Shared memory that a block keeps through the loop, at most, for the parts of sums that all blocks
deliver. With 36 KB a matmul of 64 rows took 0.987 of the time on an H200, with 72 KB one of
128 rows 1.3, which had fewer stages then."""

LOOP_BYTES = 188 * 1024
"""What is left of shared memory for the loop's tiles, at least."""

LINE_PADDING = 32
"""Bytes after each line of a tile of f32 that threads write, so that they meet in no bank."""

ROOM_STEP = 1024
"""Bytes that the room for parts is a multiple of; as many again are for sums of rows."""

WHOLE_ROWS, WHOLE_COLUMNS = 8, 16
"""Rows of a part are a multiple of the first, those of a warpgroup's transposed matmul, and room is
left for a multiple of the second columns."""


def part_bytes(rows: ArrayLike, columns: ArrayLike, blocks: ArrayLike) -> Array:
    """Bytes of all blocks' parts of a sum of `rows` by `columns` in f32."""
    return np.asarray(blocks) * np.asarray(rows) * (4.0 * np.asarray(columns) + LINE_PADDING)


def delivered_bytes(rows: ArrayLike, columns: ArrayLike, blocks: ArrayLike) -> Array:
    """The most bytes of parts that are delivered: others have more rows or columns than the sum."""
    whole_rows = np.ceil(np.asarray(rows) / WHOLE_ROWS) * WHOLE_ROWS
    whole_columns = np.ceil(np.asarray(columns) / WHOLE_COLUMNS) * WHOLE_COLUMNS
    return part_bytes(whole_rows, whole_columns, blocks)


def delivers(parts: ArrayLike, iteration_bytes: ArrayLike) -> Mask:
    """
    Whether each block writes its parts of sums into the memory of all blocks.

    Then it finds all parts in its own, and no block waits for readers before it ends: matmuls of
    1 to 16 rows took 0.985 of the time on an H200, LoRA with two sums 0.966. Where this would leave
    less than `ENOUGH_STAGES` to the loop, blocks read what they need in each other's memory, as
    parts may lie where the loop's tiles were.

    Args:
        parts: `delivered_bytes` of all sums.
        iteration_bytes: of the tiles that one iteration loads.
    """
    enough = ENOUGH_STAGES * np.asarray(iteration_bytes) <= LOOP_BYTES
    return enough & (np.asarray(parts) <= DELIVERED_BYTES)


def delivered_room(parts: ArrayLike) -> Array:
    """The shared memory that is kept for `parts`, those of all sums that are delivered."""
    steps = np.ceil(np.asarray(parts) / ROOM_STEP) + 1
    return np.where(np.asarray(parts) > 0, steps * ROOM_STEP, 0.0)
