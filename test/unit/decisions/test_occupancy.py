"""Blocks on a multiprocessor, against what CUDA's occupancy calculator says."""

import pytest

from mirage_mlir.decisions.occupancy import resident_blocks
from mirage_mlir.targets.target import A100, H200, Target

KIB = 1024


@pytest.mark.parametrize(
    ("target", "threads", "registers", "shared_bytes", "blocks"),
    [
        # Threads are the limit: 2048 of them.
        (H200, 1024, 32, 0, 2),
        (H200, 256, 32, 0, 8),
        # Blocks are.
        (H200, 32, 16, 0, 32),
        # Registers are: 64 of 65536 for each of 1024 threads, then one unit more.
        (H200, 256, 64, 0, 4),
        (H200, 256, 65, 0, 3),
        (H200, 128, 255, 0, 2),
        # 33 registers are 40 for each of 32 threads: 51 warps fit, 48 of them in whole fours.
        (A100, 512, 33, 0, 3),
        # A warp more than a block's share of the registers.
        (H200, 1024, 80, 0, 0),
        # Shared memory is, 1 KiB of which is the hardware's for each block.
        (H200, 128, 32, 113 * KIB, 2),
        (H200, 128, 32, 113 * KIB + 1, 1),
        (H200, 128, 32, 227 * KIB, 1),
        (H200, 128, 32, 227 * KIB + 1, 0),
        (A100, 128, 32, 163 * KIB, 1),
        (A100, 128, 32, 81 * KIB, 2),
    ],
)
def test_resident_blocks(
    target: Target, threads: int, registers: int, shared_bytes: int, blocks: int
) -> None:
    assert resident_blocks(target, threads, registers, shared_bytes) == blocks
