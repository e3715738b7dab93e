"""Conflicts of banks, counted, and the swizzles and paddings that avoid them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.layouts.banks import (
    BANKS,
    Array,
    Boxes,
    CopiedPieces,
    Fragments,
    Spread,
    Traffic,
    candidates,
    count,
    traffic,
)
from mirage_mlir.layouts.digits import Digit, blocks_of_rows
from mirage_mlir.layouts.layout import (
    PIECE_BYTES,
    SharedLayout,
    blocked,
    mma_result,
    swizzled_tile,
)

LANES = np.arange(32)

items = st.sampled_from([2, 4])
swizzles = st.sampled_from([32, 64, 128])


def once(addresses: Array, size: int) -> Traffic:
    """One instruction, whose lanes give these addresses."""
    return count(addresses.reshape(1, 32), size)


def test_lanes_side_by_side_meet_in_no_bank() -> None:
    for size, groups in ((2, 1), (4, 1), (8, 2), (16, 4)):
        assert once(LANES * size, size) == Traffic(1, groups, groups)


@pytest.mark.parametrize("step", [1, 2, 4, 8, 16, 32])
def test_words_some_banks_apart(step: int) -> None:
    """32 lanes, each `step` banks on: of 32 / step banks each is asked for `step` words."""
    assert once(LANES * step * 4, 4) == Traffic(1, step, 1)


def test_lanes_share_a_word() -> None:
    assert once(LANES * 0 + 64, 4) == Traffic(1, 1, 1)
    assert once(LANES // 2 * 4, 2) == Traffic(1, 1, 1)


def test_lanes_without_work_ask_for_nothing() -> None:
    addresses = (LANES * 128).reshape(1, 32)
    assert count(addresses, 4, LANES.reshape(1, 32) < 3) == Traffic(1, 3, 1)
    assert count(addresses, 4, LANES.reshape(1, 32) < 0) == Traffic(0, 0, 0)


@given(st.integers(1, 40), st.integers(1, 150), items, swizzles, st.booleans())
def test_a_swizzle_gives_each_element_a_place_of_its_own(
    rows: int, columns: int, item: int, swizzle: int, columns_first: bool
) -> None:
    layout = swizzled_tile(rows, columns, item, swizzle, columns_first=columns_first)
    row, column = (
        np.array(side) for side in zip(*product(range(rows), range(columns)), strict=True)
    )
    places = layout.offset(row, column, item)
    assert len(set(places.tolist())) == rows * columns
    assert places.max() < layout.size
    assert all(a >= b for a, b in zip(layout.room, (rows, columns), strict=True))
    plain = [
        layout.offset(int(r), int(c), item) for r, c in zip(row[:200], column[:200], strict=True)
    ]
    assert plain == places[:200].tolist()


@given(st.integers(0, 63), st.integers(0, 31), items, swizzles)
def test_a_swizzle_is_that_of_the_copy_engine(line: int, at: int, item: int, swizzle: int) -> None:
    """Bits 4 to 6 of the address change by bits 7 to 9; of narrower lines only the lowest."""
    layout = swizzled_tile(64, 128 // item, item, swizzle)
    plain = (at // (swizzle // item) * layout.panel + line * layout.row) * item
    plain += at % (swizzle // item) * item
    for bit in range({32: 1, 64: 2, 128: 3}[swizzle]):
        plain ^= (plain >> (7 + bit) & 1) << (4 + bit)
    assert layout.offset(line, at, item) * item == plain


@given(st.integers(0, 15), st.integers(0, 15), swizzles)
def test_pieces_stay_whole(line: int, piece: int, swizzle: int) -> None:
    layout = swizzled_tile(16, 128, 2, swizzle)
    first = layout.offset(line, 8 * piece, 2)
    assert first * 2 % PIECE_BYTES == 0
    assert [layout.offset(line, 8 * piece + i, 2) - first for i in range(8)] == list(range(8))


@pytest.mark.parametrize("columns_first", [False, True])
@pytest.mark.parametrize("right", [False, True])
def test_fragments_of_64_neighbours(columns_first: bool, right: bool) -> None:
    """Lines of 128 bytes lie in the same banks: `ldmatrix` takes eight passes for each matrix."""
    access = Fragments((64, 64, 64), (2, 2, 1), right)
    dense, *_ = [x for x in tiles(columns_first) if x.swizzle == 0]
    assert traffic(access, dense, 2).passes == 8 * traffic(access, dense, 2).least
    for layout in tiles(columns_first):
        padded = max(layout.row, layout.column) % 16 == 8
        if layout.swizzle or padded:
            assert traffic(access, layout, 2).conflicts == 0


def tiles(columns_first: bool) -> list[SharedLayout]:
    return list(candidates((64, 64), 2, columns_first=columns_first))


def test_each_warp_reads_what_it_multiplies() -> None:
    """Two warps along the rows read the same columns: the right side is read twice."""
    layout = swizzled_tile(64, 64, 2, 128)
    one = Fragments((64, 64, 64), (1, 4, 1), True)
    two = Fragments((64, 64, 64), (2, 2, 1), True)
    assert traffic(two, layout, 2).least == 2 * traffic(one, layout, 2).least
    assert traffic(one, layout, 2).least * 128 == 64 * 64 * 2


def test_f32_of_the_right_side_wants_narrow_panels() -> None:
    """Lanes read 8 neighbours of each of 4 rows: lines of 32 bytes are next to each other."""
    access = Fragments((16, 32, 32), (1, 1, 1), True)
    passes = {w: traffic(access, swizzled_tile(32, 32, 4, w), 4).passes for w in (32, 64, 128)}
    assert passes[32] * 2 == passes[64] == passes[128]
    # But a tensor copy takes one step for each line of a panel.
    assert traffic(Boxes(32, 32), swizzled_tile(32, 32, 4, 32), 4).passes == 128


def test_accumulators_in_f32() -> None:
    """Pairs of 8 rows: 40 words apart four of them meet in no bank, 36 apart two do."""
    write = Spread(mma_result(16, 32, (1, 1, 1)), (16, 32), writes=True)
    assert traffic(write, SharedLayout(40, 1, 640), 4).conflicts == 0
    assert traffic(write, SharedLayout(36, 1, 576), 4).passes == 2 * 16 * 32 // BANKS


def test_a_column_of_a_tile() -> None:
    """Threads along a row, neighbours along a column: a bank each with one word of padding."""
    read = Spread(blocked((32, 32), 32, 1), (32, 32))
    assert traffic(read, SharedLayout(1, 32, 1024), 4).passes == 32 * 32
    assert traffic(read, SharedLayout(1, 33, 1056), 4).conflicts == 0
    assert traffic(read, SharedLayout(32, 1, 1024), 4, transposed=True).passes == 32 * 32


def test_copies_of_pieces() -> None:
    """A block writes whole lines, wherever these start."""
    dense, padded = SharedLayout(64, 1, 4096), SharedLayout(72, 1, 4608)
    assert traffic(CopiedPieces(64, 64, 8), dense, 2).conflicts == 0
    assert traffic(CopiedPieces(64, 64, 8), padded, 2).conflicts == 0
    # 6 pieces of a line and 2 of the next, which lies 7 pieces on.
    assert traffic(CopiedPieces(64, 48, 8), SharedLayout(56, 1, 3584), 2).conflicts > 0


def test_elements_copied_across_lines_need_padding() -> None:
    """Neighbours in memory come to one column of the tile: odd pitches lie in different banks."""
    dense, padded = SharedLayout(32, 1, 1024), SharedLayout(33, 1, 1056)
    elements = CopiedPieces(32, 32, 1, across=True)
    assert traffic(elements, dense, 4).passes == 32 * 32
    assert traffic(elements, padded, 4).conflicts == 0
    assert traffic(CopiedPieces(32, 32, 1), dense, 4).conflicts == 0


def test_parts_of_a_sum_are_all_read() -> None:
    whole, parts = SharedLayout(32, 1, 512), SharedLayout(32, 1, 512, copies=4)
    read = Spread(blocked((16, 32), 128, 4), (16, 32))
    assert traffic(read, parts, 4) == traffic(read, whole, 4) * 4


def test_some_slots_of_a_large_tile_stand_for_all() -> None:
    """Twice the rows are twice the passes, however many of them are looked at."""
    small, large = (Spread(blocked((rows, 512), 64), (rows, 512)) for rows in (64, 128))
    assert (small.repeats, large.repeats) == (1, 2)
    for shared in (SharedLayout(516, 1, 516 * 128), SharedLayout(1, 128, 512 * 128)):
        assert traffic(large, shared, 2) == traffic(small, shared, 2) * 2


def test_rows_of_a_thread_share_reads() -> None:
    """Of 48 by 40 pairs a thread has 6 by 10: it reads 6 rows of one tile and 10 of the other."""
    layout = blocks_of_rows((48, 40, 4), 32, 40, 4, below=4)
    whole = Spread(layout, (48 * 40, 4))
    outer, inner = (
        Spread(layout, whole.shape, lacks=digit) for digit in (Digit(1, 40), Digit(40, 48))
    )
    assert outer.own is not None
    assert inner.own is not None
    assert (outer.own.shape, inner.own.shape) == ((48, 4), (40, 4))
    tile = SharedLayout(4, 1, 48 * 40 * 4)
    assert whole.traffic(tile, 4).instructions == 60
    assert outer.traffic(tile, 4).instructions == 6
    assert inner.traffic(tile, 4).instructions == 10


def test_layouts_that_do_not_keep_what_is_lacking() -> None:
    layout = blocked((48, 40, 4), 32, 4)
    spread = Spread(layout, (48 * 40, 4), lacks=Digit(1, 40))
    assert spread.own is None
