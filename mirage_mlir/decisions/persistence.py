"""Decides which kernels are persistent: each block computes one tile of the grid after another."""

import numpy as np
from numpy.typing import ArrayLike

from mirage_mlir.decisions.schedule import LARGE_CLUSTER, RESERVED_BYTES, Mask
from mirage_mlir.targets.target import Target


def holds_several(block_bytes: ArrayLike, target: Target) -> Mask:
    """Whether a multiprocessor has shared memory for two blocks; others are persistent."""
    return 2 * (np.asarray(block_bytes) + RESERVED_BYTES) <= target.shared_memory_per_sm


def persistent_blocks(tiles: int, cluster: int, block_bytes: int, target: Target) -> int:
    """
    The blocks of a persistent launch; 0 where each tile gets a block of its own.

    A persistent block copies the first tiles of its next part of the grid while it stores the one
    before; else a multiprocessor waits for a new block, its barriers and its first copies. Where it
    holds several blocks these overlap with each other, and one block for each tile is as good.

    Args:
        tiles: blocks of the grid as the uGraph has it.
        cluster: blocks of a cluster.
        block_bytes: shared memory of a block.
        target: the GPU.
    """
    if holds_several(block_bytes, target):
        return 0
    large = cluster >= LARGE_CLUSTER
    places = target.sm_count_in_clusters if large else target.sm_count
    blocks = max(1, places // cluster) * cluster
    return blocks if tiles > blocks else 0
