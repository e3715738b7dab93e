"""What blocks deliver to each other fits beside the loop's tiles."""

from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.decisions.exchange import (
    DELIVERED_BYTES,
    delivered_bytes,
    delivered_room,
    delivers,
    part_bytes,
)
from mirage_mlir.decisions.schedule import ENOUGH_STAGES
from mirage_mlir.targets.target import H200

sides = st.integers(1, 256)
blocks = st.integers(2, 8)


@given(sides, sides, blocks, st.integers(1, 128 * 1024))
def test_enough_is_left_for_the_loop(rows: int, columns: int, count: int, iteration: int) -> None:
    parts = delivered_bytes(rows, columns, count)
    if delivers(parts, iteration):
        assert parts <= DELIVERED_BYTES
        loop = ENOUGH_STAGES * iteration
        assert loop + delivered_room(parts) <= H200.shared_memory_per_block


@given(sides, sides, blocks)
def test_there_is_room_for_all_parts(rows: int, columns: int, count: int) -> None:
    assert part_bytes(rows, columns, count) <= delivered_bytes(rows, columns, count)
    parts = delivered_bytes(rows, columns, count)
    assert delivered_room(parts) > parts


def test_nothing_is_kept_for_nothing() -> None:
    assert delivered_room(0.0) == 0
