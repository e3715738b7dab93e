"""Registers that ptxas has to leave for other blocks."""

import pytest

from mirage_mlir.decisions.registers import (
    MEETING_THREADS,
    fewest_blocks,
    registers_side_by_side,
)


@pytest.mark.parametrize(("threads", "blocks"), [(512, 2), (256, 4), (128, 8)])
def test_blocks_that_meet(threads: int, blocks: int) -> None:
    assert fewest_blocks(threads, meets_others=True) == blocks
    assert threads * blocks == MEETING_THREADS
    assert fewest_blocks(threads, meets_others=False) == 0


def test_small_blocks() -> None:
    assert fewest_blocks(64, meets_others=True) == 0, "many fit anyway"


@pytest.mark.parametrize(
    ("share", "room", "limit"), [(1, 4, 0), (2, 2, 96), (5, 1, 0), (5, 2, 96), (5, 4, 96)]
)
def test_as_many_blocks_as_there_is_room_for(share: int, room: int, limit: int) -> None:
    """Two blocks of 288 threads with 64 sums each, if a multiprocessor gets them and has memory."""
    assert registers_side_by_side(256, 1, [64], share, room) == limit


def test_sums_of_several_matmuls_need_more_beside_them() -> None:
    """Four blocks of 160 threads could have 96 registers each; three have 128."""
    assert registers_side_by_side(128, 1, [64], 6, 4) == 96
    assert registers_side_by_side(128, 1, [32, 32], 6, 4) == 128
