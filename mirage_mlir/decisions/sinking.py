"""Decides what is computed behind a loop that needs nothing of it."""

import numpy as np
from numpy.typing import ArrayLike

from mirage_mlir.decisions.schedule import Mask

LARGE_TILE = 1 << 13
"""Elements of a tile from which on it is computed behind the loop: 32 KB of shared memory, which
the loop has for its buffers then, and the block for tiles of the next part of the grid."""


def is_computed_behind(elements: ArrayLike) -> Mask:
    """Whether so large a tile waits for the end of the loop, and not in shared memory."""
    return np.asarray(elements) >= LARGE_TILE
