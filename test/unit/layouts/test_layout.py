"""Register and shared-memory layouts against what they must do, element by element."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.layouts.banks import count
from mirage_mlir.layouts.layout import (
    RegisterLayout,
    blocked,
    mma_result,
)
from mirage_mlir.layouts.padding import padded_pitch, shared_tile

powers = st.sampled_from([1, 2, 4, 8])


def held(layout: RegisterLayout, rows: int, columns: int) -> Counter[tuple[int, int]]:
    """How often each element of a tile is held, over all threads and slots."""
    count: Counter[tuple[int, int]] = Counter()
    for thread in range(layout.size):
        row, column = layout.position(thread)
        for down, across in layout.offsets:
            if row + down < rows and column + across < columns:
                count[row + down, column + across] += 1
    return count


@given(st.integers(1, 70), st.integers(1, 130), st.sampled_from([32, 128, 256]))
def test_blocked_holds_each_element_equally_often(rows: int, columns: int, threads: int) -> None:
    layout = blocked((rows, columns), threads)
    count = held(layout, rows, columns)
    replicas = 1 << len(layout.replica_bits)
    assert layout.size == threads
    assert set(count) == set(product(range(rows), range(columns)))
    assert set(count.values()) == {replicas}


@given(st.integers(1, 70), st.integers(1, 130), st.sampled_from([96, 384, 640]))
def test_blocked_needs_no_power_of_two(rows: int, columns: int, threads: int) -> None:
    """The threads of a cluster of three blocks: the last ones repeat what others hold."""
    layout = blocked((rows, columns), threads)
    assert layout.size >= threads
    first = {
        layout.position(t)
        for t in range(threads)
        if not any(t >> b & 1 for b in layout.replica_bits)
    }
    places = {(r + d, c + a) for r, c in first for d, a in layout.offsets}
    assert {(r, c) for r, c in places if r < rows and c < columns} == set(
        product(range(rows), range(columns))
    )


@given(st.integers(1, 70), st.integers(1, 70), powers, powers, powers)
def test_mma_result_holds_each_element_once_for_each_part(
    rows: int, columns: int, down: int, across: int, deep: int
) -> None:
    layout = mma_result(rows, columns, (down, across, deep))
    count = held(layout, rows, columns)
    assert layout.size == 32 * down * across * deep
    assert set(count) == set(product(range(rows), range(columns)))
    assert set(count.values()) == {deep}


def test_mma_result_is_the_fragment_of_the_instruction() -> None:
    """PTX ISA, m16n8k16, C: groupID = lane / 4, rows groupID and + 8, columns 2 (lane % 4) + i."""
    layout = mma_result(16, 8, (1, 1, 1))
    for lane in range(32):
        row, column = layout.position(lane)
        places = [(row + r, column + c) for r, c in layout.offsets]
        expected = [(lane // 4 + 8 * (i // 2), 2 * (lane % 4) + i % 2) for i in range(4)]
        assert places == expected


def ldmatrix_conflicts(pitch: int, item: int) -> int:
    """Extra passes that reading eight rows of 16 bytes takes, four times."""
    return count(np.arange(32)[None] % 8 * pitch * item, 16).conflicts


@given(st.integers(1, 64), st.integers(1, 256), st.sampled_from([2, 4]))
def test_rows_that_ldmatrix_reads_meet_no_bank_twice(rows: int, columns: int, item: int) -> None:
    layout = shared_tile(rows, columns, item)
    assert layout.column == 1
    assert layout.row >= columns
    assert layout.row * item % 16 == 0
    assert ldmatrix_conflicts(layout.row, item) == 0
    assert layout.size >= rows * columns


def test_unpadded_rows_of_128_bytes_meet_in_one_bank() -> None:
    assert ldmatrix_conflicts(64, 2) == 4 * 7
    assert padded_pitch(64, 2) == 72


@given(st.integers(1, 40), st.integers(1, 40))
def test_a_transposed_tile_is_the_same_memory(rows: int, columns: int) -> None:
    layout = shared_tile(rows, columns, 2, columns_first=True)
    places = {(i * layout.row + j * layout.column) for i in range(rows) for j in range(columns)}
    assert len(places) == rows * columns
    assert max(places) < layout.size
    seen = layout.transposed()
    assert (seen.row, seen.column) == (layout.column, layout.row)


@pytest.mark.parametrize(("rows", "columns"), [(True, False), (False, True), (True, True)])
def test_folding_keeps_one_slot_for_each_kept_position(rows: bool, columns: bool) -> None:
    layout = blocked((64, 96), 128)
    kept = {(0 if rows else row, 0 if columns else column) for row, column in layout.offsets}
    assert len(layout.folded(rows, columns).offsets) == len(kept)


def test_the_widest_access_is_the_innermost_run() -> None:
    assert blocked((16, 64), 128).vector == 8
    assert blocked((16, 12), 128).vector == 4
    assert mma_result(16, 8, (1, 1, 1)).vector == 2


@given(st.integers(1, 70), st.integers(1, 70), powers, powers, st.booleans(), st.booleans())
def test_reduced_layouts_hold_what_each_slot_needs(
    rows: int, columns: int, down: int, across: int, by_rows: bool, by_columns: bool
) -> None:
    layout = mma_result(rows, columns, (down, across, 1))
    kept = layout.reduced(by_rows, by_columns)
    slots = layout.slots_in(kept, by_rows, by_columns)
    assert slots is not None
    for thread in range(layout.size):
        row, column = layout.position(thread)
        start = kept.position(thread)
        for (r, c), slot in zip(layout.offsets, slots, strict=True):
            wanted = (0 if by_rows else row + r, 0 if by_columns else column + c)
            place = kept.offsets[slot]
            assert (start[0] + place[0], start[1] + place[1]) == wanted


def test_other_threads_hold_what_a_reduced_layout_does_not() -> None:
    rows = mma_result(16, 8, (1, 1, 1)).reduced(False, True)
    assert blocked((16, 8), 32).slots_in(rows, False, True) is None


@given(powers, powers)
def test_the_columns_of_one_matmul_are_the_depth_of_the_next(down: int, across: int) -> None:
    """The warps of a result, and of one whose depth they share, have the same places in rows."""
    first = mma_result(64, 64, (down, across, 1)).reduced(False, True)
    second = mma_result(64, 32, (down, 1, across))
    assert second.reduced(False, True).threads == first.threads
    assert second.partial == across


@pytest.mark.parametrize(("tall", "run"), [(8, 8), (4, 8), (8, 2), (1, 8)])
def test_a_thread_may_have_a_block_of_neighbours(tall: int, run: int) -> None:
    layout = blocked((64, 32), 64, run, rows_first=4, tall=tall)
    assert layout.run == tall * run
    whole = held(layout, 64, 32)
    assert set(whole) == set(product(range(64), range(32)))
    assert len(set(whole.values())) == 1


def test_runs_of_a_block_are_taken_in_either_order() -> None:
    layout = blocked((64, 32), 32, 8, tall=4)
    along_rows = layout.ordered((1, 0))
    assert (layout.vector, along_rows.down) == (8, 4)
    slots = along_rows.places_of(layout)
    assert [along_rows.offsets[slot] for slot in slots] == list(layout.offsets)
    assert layout.ordered((0, 1)) == layout


def test_what_is_kept_single_has_no_runs() -> None:
    """The innermost loop of one says that elements are accessed one by one."""
    layout = RegisterLayout(((0, 1),), ((4, 1, 0), (1, 0, 1)))
    assert layout.ordered((1, 0)) == layout
    assert layout.down == 1
