"""
Computes occupancy: the blocks that are resident on a multiprocessor.

Source: CUDA's occupancy calculator (`cuda_occupancy.h`), for compute capabilities 8.0 and 9.0.
"""

import numpy as np
from numpy.typing import ArrayLike

from mirage_mlir.decisions.schedule import RESERVED_BYTES, Array
from mirage_mlir.layouts.layout import WARP_THREADS
from mirage_mlir.targets.target import Target

REGISTER_UNIT = 256
"""Registers that a warp gets at once."""

WARP_UNIT = 4
"""Warps share the registers of one quarter of a multiprocessor."""

SHARED_UNIT = 128
"""Bytes of shared memory that a block gets at once."""


def resident_blocks(
    target: Target, threads: ArrayLike, registers: ArrayLike, shared_bytes: ArrayLike
) -> Array:
    """
    The blocks that fit on one multiprocessor of `target`; 0 where not even one fits.

    Args:
        target: the GPU.
        threads: of a block.
        registers: of a thread, 32 bits each.
        shared_bytes: of a block, static and dynamic together.
    """
    warps = np.ceil(np.asarray(threads) / WARP_THREADS)
    units = np.ceil(np.maximum(1, registers) * WARP_THREADS / REGISTER_UNIT)
    room = target.registers_per_sm // (units * REGISTER_UNIT) // WARP_UNIT * WARP_UNIT
    shared = np.asarray(shared_bytes)
    of_block = np.ceil((shared + RESERVED_BYTES) / SHARED_UNIT) * SHARED_UNIT
    resident = np.minimum.reduce(
        np.broadcast_arrays(
            float(target.blocks_per_sm),
            target.threads_per_sm // (warps * WARP_THREADS),
            room // warps,
            target.shared_memory_per_sm // of_block,
        )
    )
    return np.where(shared <= target.shared_memory_per_block, resident, 0.0)
