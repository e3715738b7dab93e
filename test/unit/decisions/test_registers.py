"""Registers that ptxas has to leave for a second block."""

from mirage_mlir.decisions.registers import LARGE_BLOCK, fewest_blocks


def test_blocks_that_meet() -> None:
    assert fewest_blocks(LARGE_BLOCK, meets_others=True) == 2
    assert fewest_blocks(LARGE_BLOCK // 2, meets_others=True) == 0, "several fit anyway"
    assert fewest_blocks(LARGE_BLOCK, meets_others=False) == 0
