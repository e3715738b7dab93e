"""Decides how the blocks of a cluster get each other's parts of a sum behind a loop."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mirage_mlir.decisions.schedule import ENOUGH_STAGES

Mask = NDArray[np.bool_]

DELIVERED_BYTES = 32 * 1024
"""Shared memory that a block keeps through the loop for the parts that all blocks deliver. With 32
KB a matmul of 64 rows took 0.987 of the time on an H200, with 64 KB one of 128 rows 1.3, which had
fewer stages then."""

LOOP_BYTES = 192 * 1024
"""What is left of shared memory for the loop's tiles, at least."""


def delivers(parts: ArrayLike, iteration_bytes: ArrayLike) -> Mask:
    """
    Whether each block writes its part of a sum into the memory of all blocks.

    Then it finds all parts in its own, and no block waits for readers before it ends: products of 1
    to 16 rows took 0.985 of the time on an H200, LoRA with two sums 0.966. Where this would leave
    less than `ENOUGH_STAGES` to the loop, blocks read what they need in each other's memory, as
    parts may lie where the loop's tiles were.

    Args:
        parts: bytes of the parts of all blocks.
        iteration_bytes: of the tiles that one iteration loads.
    """
    enough = ENOUGH_STAGES * np.asarray(iteration_bytes) <= LOOP_BYTES
    return enough & (np.asarray(parts) <= DELIVERED_BYTES)
