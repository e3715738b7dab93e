"""Registers that ptxas has to leave for other blocks."""

import pytest

from mirage_mlir.decisions.registers import MEETING_THREADS, fewest_blocks


@pytest.mark.parametrize(("threads", "blocks"), [(512, 2), (256, 4), (128, 8)])
def test_blocks_that_meet(threads: int, blocks: int) -> None:
    assert fewest_blocks(threads, meets_others=True) == blocks
    assert threads * blocks == MEETING_THREADS
    assert fewest_blocks(threads, meets_others=False) == 0


def test_small_blocks() -> None:
    assert fewest_blocks(64, meets_others=True) == 0, "many fit anyway"
