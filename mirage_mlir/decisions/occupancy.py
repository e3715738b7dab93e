"""
How many blocks of a kernel a multiprocessor holds at a time.

Source: CUDA's occupancy calculator (`cuda_occupancy.h`), for compute capabilities 8.0 and 9.0.
"""

from mirage_mlir.decisions.schedule import RESERVED_BYTES
from mirage_mlir.layouts.layout import WARP_THREADS, ceil_div, round_up
from mirage_mlir.targets.target import Target

REGISTER_UNIT = 256
"""Registers that a warp gets at once."""

WARP_UNIT = 4
"""Warps share the registers of one quarter of a multiprocessor."""

SHARED_UNIT = 128
"""Bytes of shared memory that a block gets at once."""


def resident_blocks(target: Target, threads: int, registers: int, shared_bytes: int) -> int:
    """
    Blocks on one multiprocessor of `target`; 0 where not even one fits.

    Args:
        target: the GPU.
        threads: of a block.
        registers: of a thread, 32 bits each.
        shared_bytes: of a block, static and dynamic together.
    """
    warps = ceil_div(threads, WARP_THREADS)
    of_warp = round_up(max(1, registers) * WARP_THREADS, REGISTER_UNIT)
    room = target.registers_per_sm // of_warp // WARP_UNIT * WARP_UNIT
    of_block = round_up(shared_bytes + RESERVED_BYTES, SHARED_UNIT)
    if shared_bytes > target.shared_memory_per_block:
        return 0
    return min(
        target.blocks_per_sm,
        target.threads_per_sm // (warps * WARP_THREADS),
        room // warps,
        target.shared_memory_per_sm // of_block,
    )
