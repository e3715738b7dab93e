"""
How many blocks of a kernel a multiprocessor holds at a time.

Source: CUDA's occupancy calculator (`cuda_occupancy.h`), for compute capabilities 8.0 and 9.0.
"""

from mirage_mlir.graph.target import Target

WARP = 32

REGISTER_UNIT = 256
"""Registers that a warp gets at once."""

WARP_UNIT = 4
"""Warps share the registers of one quarter of a multiprocessor."""

SHARED_UNIT = 128
"""Bytes of shared memory that a block gets at once."""

RESERVED = 1024
"""Bytes of shared memory that the hardware takes for each block."""


def resident_blocks(target: Target, threads: int, registers: int, shared_bytes: int) -> int:
    """
    Blocks on one multiprocessor of `target`; 0 where not even one fits.

    Args:
        target: the GPU.
        threads: of a block.
        registers: of a thread, 32 bits each.
        shared_bytes: of a block, static and dynamic together.
    """
    warps = -(-threads // WARP)
    of_warp = -(-max(1, registers) * WARP // REGISTER_UNIT) * REGISTER_UNIT
    room = target.registers_per_multiprocessor // of_warp // WARP_UNIT * WARP_UNIT
    of_block = -(-(shared_bytes + RESERVED) // SHARED_UNIT) * SHARED_UNIT
    if shared_bytes > target.shared_per_block:
        return 0
    return min(
        target.blocks_per_multiprocessor,
        target.threads_per_multiprocessor // (warps * WARP),
        room // warps,
        target.shared_per_multiprocessor // of_block,
    )
