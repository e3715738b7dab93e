"""Registers that ptxas has to leave for other blocks, and blocks that they leave room for."""

from collections.abc import Sequence

import pytest

from mirage_mlir.decisions.registers import (
    MEETING_THREADS,
    SUMS_OF_WARPS,
    fewest_blocks,
    share_by_registers,
)


@pytest.mark.parametrize(("threads", "blocks"), [(512, 2), (256, 4), (128, 8)])
def test_blocks_that_meet(threads: int, blocks: int) -> None:
    assert fewest_blocks(threads, meets_others=True) == blocks
    assert threads * blocks == MEETING_THREADS
    assert fewest_blocks(threads, meets_others=False) == 0


def test_small_blocks() -> None:
    assert fewest_blocks(64, meets_others=True) == 0, "many fit anyway"


@pytest.mark.parametrize(
    ("sums", "share", "kept"),
    [
        ((44, 44), 2, 1),  # 176 rows of two products of 64 columns: 120 registers at least.
        ((44, 44), 5, 1),
        ((32, 32), 2, 2),  # 128 by 128: 96 registers, as two blocks have them.
        ((32, 32), 5, 5),
        ((64,), 1, 1),
        ((SUMS_OF_WARPS,), 2, 2),
        ((), 3, 3),
    ],
)
def test_no_room_is_kept_for_a_second_block(sums: Sequence[int], share: int, kept: int) -> None:
    """Where registers suffice for one of 256 threads and a warp that copies."""
    assert share_by_registers(256, 1, sums, share) == kept
