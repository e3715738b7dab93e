"""Warpgroups: where sums are, and that descriptors say where tiles' elements are."""

from collections.abc import Sequence
from itertools import product

import pytest

from mirage_mlir.decisions.sharing import Lines, split_groups
from mirage_mlir.decisions.wgmma import (
    ADDRESS_MASK,
    ADDRESS_UNIT,
    ITEM_BYTES,
    LEADING_SHIFT,
    STRIDE_SHIFT,
    SWIZZLE_KINDS,
    SWIZZLE_SHIFT,
    WGMMA_DEPTH,
    OperandTile,
    operand_tile,
    wgmma_result,
)
from mirage_mlir.layouts.layout import SWIZZLED_LINES, SharedLayout, swizzled_tile


@pytest.mark.parametrize(
    ("rows", "columns", "groups", "swapped"),
    [
        (64, 8, (1, 1, 1), False),
        (128, 24, (2, 1, 1), False),
        (64, 64, (1, 2, 2), False),
        (8, 128, (1, 2, 1), True),
        (32, 64, (2, 1, 2), True),
        (24, 192, (1, 1, 1), True),
    ],
)
def test_each_element_has_one_place(
    rows: int, columns: int, groups: tuple[int, int, int], swapped: bool
):
    layout = wgmma_result(rows, columns, groups, swapped=swapped)
    assert layout.spans() == (rows, columns)
    assert layout.partial == groups[2]
    assert layout.size == 128 * groups[0] * groups[1] * groups[2]
    held: dict[tuple[int, int, int], int] = {}
    for thread in range(layout.size):
        part = sum((thread >> bit & 1) << i for i, bit in enumerate(layout.part_bits))
        row, column = layout.position(thread)
        for down, across in layout.offsets:
            place = (part, row + down, column + across)
            held[place] = held.get(place, 0) + 1
    assert held == dict.fromkeys(product(range(groups[2]), range(rows), range(columns)), 1)


def test_the_slots_are_those_of_the_instruction():
    layout = wgmma_result(64, 16, (1, 1, 1))
    # Warp 1, lane 9: rows 16 + 2 and 8 on, columns 2 and 3 of each eight.
    row, column = layout.position(32 + 9)
    places = [(row + down, column + across) for down, across in layout.offsets]
    assert places == [(18, 2), (18, 3), (26, 2), (26, 3), (18, 10), (18, 11), (26, 10), (26, 11)]


def test_the_swapped_slots_are_those_of_the_transposed_instruction():
    normal = wgmma_result(128, 16, (2, 1, 1))
    swapped = wgmma_result(16, 128, (1, 2, 1), swapped=True)
    for thread in (0, 1, 5, 77, 200, 255):
        assert swapped.position(thread) == normal.position(thread)[::-1]
    assert swapped.offsets == tuple(place[::-1] for place in normal.offsets)


def of_outer(layout: SharedLayout, outer: int, depth: int) -> int:
    """Bytes to an element of a left operand."""
    return ITEM_BYTES * layout.offset(outer, depth, ITEM_BYTES)


def can_start(tile: OperandTile, outer: int, count: int) -> bool:
    """Whether `count` places of the outer side from `outer` on are what one descriptor says."""
    if tile.along_depth:
        return outer % SWIZZLED_LINES == 0
    return outer % tile.pitch == 0 or outer % tile.pitch + count <= tile.pitch


def decode(descriptor: int) -> tuple[int, OperandTile]:
    """
    The address in bytes, and the tile, that a descriptor speaks of.

    Of a tile whose neighbours lie along the depth the panel is not known (0).
    """
    kind = descriptor >> SWIZZLE_SHIFT & 3
    swizzle = next(each for each, number in SWIZZLE_KINDS.items() if number == kind)
    leading = descriptor >> LEADING_SHIFT & ADDRESS_MASK
    address = (descriptor & ADDRESS_MASK) * ADDRESS_UNIT
    if leading == 1:
        return address, OperandTile(swizzle, 0, along_depth=True)
    panel = leading * ADDRESS_UNIT // ITEM_BYTES
    return address, OperandTile(swizzle, panel, along_depth=False)


def swizzled_address(address: int, swizzle: int) -> int:
    """Where the byte that lies at `address` before the swizzle lies after it."""
    return address ^ address >> 3 & (swizzle - 1) & ~15


def fragment_addresses(
    descriptor: int, count: int, *, along_depth: bool
) -> Sequence[Sequence[int]]:
    """
    The address in bytes of each element that an instruction reads, by outer place and depth.

    Args:
        descriptor: the instruction's.
        count: places of the outer side: 64 of A, the columns of B.
        along_depth: whether neighbours lie along the depth, as the instruction says.
    """
    address, tile = decode(descriptor)
    stride = (descriptor >> STRIDE_SHIFT & ADDRESS_MASK) * ADDRESS_UNIT
    leading = (descriptor >> LEADING_SHIFT & ADDRESS_MASK) * ADDRESS_UNIT

    def at(outer: int, depth: int) -> int:
        line, along = (outer, depth) if along_depth else (depth, outer)
        atoms, inner = divmod(line, SWIZZLED_LINES)
        panels, rest = divmod(along, tile.pitch)
        plain = address + atoms * stride + panels * leading + inner * tile.swizzle
        return swizzled_address(plain + rest * ITEM_BYTES, tile.swizzle)

    return [[at(outer, depth) for depth in range(WGMMA_DEPTH)] for outer in range(count)]


@pytest.mark.parametrize("columns_first", [False, True])
@pytest.mark.parametrize("swizzle", [32, 64, 128])
@pytest.mark.parametrize(("outer", "depth", "count"), [(64, 64, 64), (128, 32, 64), (64, 128, 8)])
def test_descriptors_say_where_elements_are(
    outer: int, depth: int, count: int, swizzle: int, columns_first: bool
):
    layout = swizzled_tile(outer, depth, ITEM_BYTES, swizzle, columns_first=columns_first)
    tile = operand_tile(layout, depth_along_columns=True)
    assert tile is not None
    assert tile.along_depth == (not columns_first)
    base = 16 * 1024
    for first, step in product(range(0, outer, count), range(0, depth, WGMMA_DEPTH)):
        if not can_start(tile, first, count):
            continue
        address = base + ITEM_BYTES * tile.start(first, step)
        found = fragment_addresses(
            tile.constant | address // ADDRESS_UNIT, count, along_depth=tile.along_depth
        )
        for i, j in product(range(count), range(WGMMA_DEPTH)):
            assert found[i][j] == base + of_outer(layout, first + i, step + j)


def test_a_right_operand_is_read_by_rows_or_columns():
    layout = swizzled_tile(64, 128, ITEM_BYTES, 128)
    left = operand_tile(layout, depth_along_columns=True)
    right = operand_tile(layout, depth_along_columns=False)
    assert left is not None
    assert right is not None
    assert (left.along_depth, right.along_depth) == (True, False)
    assert decode(right.constant | 64) == (1024, right)
    assert decode(left.constant)[1].swizzle == 128


def test_tiles_that_no_descriptor_says():
    plain = SharedLayout(72, 1, 64 * 72)
    parts = swizzled_tile(64, 64, ITEM_BYTES, 128, copies=2)
    # The second panel would start within the swizzle of eight lines.
    ragged = SharedLayout(64, 1, 2 * 12 * 64, swizzle=128, panel=12 * 64)
    for layout in (plain, parts, ragged):
        assert operand_tile(layout, depth_along_columns=True) is None


def shared_by(
    sizes: tuple[int, int, int], operands: tuple[Lines, Lines], count: int, may_split: bool
) -> tuple[int, int, int] | None:
    """
    Warpgroups along the instruction's rows, columns and depth; None where none can share the
    matmul as it is.
    """
    split, swapped = split_groups(sizes, operands, count, may_split)
    fits = split.fits and not swapped
    return (int(split.down), int(split.across), int(split.deep)) if fits else None


LINES = Lines(64, along_depth=True)
COLUMNS = Lines(64, along_depth=False)


@pytest.mark.parametrize(
    ("sizes", "count", "may_split", "expected"),
    [
        ((64, 64, 64), 1, False, (1, 1, 1)),
        ((128, 64, 64), 2, True, (2, 1, 1)),
        # Along the depth each reads other lines; along the columns all would read all rows.
        ((64, 16, 128), 2, True, (1, 1, 2)),
        ((64, 16, 128), 2, False, (1, 2, 1)),
        # 16 of depth cannot be halved, nor 8 columns.
        ((64, 8, 16), 2, True, None),
        ((64, 512, 64), 1, False, None),
    ],
)
def test_groups_share_a_matmul(
    sizes: tuple[int, int, int],
    count: int,
    may_split: bool,
    expected: tuple[int, int, int] | None,
):
    assert shared_by(sizes, (COLUMNS, LINES), count, may_split) == expected


def test_groups_start_at_runs_of_their_own():
    # 48 columns are no whole number of lines of 64, and do not divide one.
    assert shared_by((64, 96, 64), (COLUMNS, COLUMNS), 2, False) is None
    assert shared_by((64, 96, 64), (LINES, LINES), 2, False) == (1, 2, 1)
    # Half of a line of 64 along the depth, but no third of one.
    assert shared_by((64, 8, 64), (LINES, LINES), 2, True) == (1, 1, 2)
    assert shared_by((64, 8, 96), (LINES, LINES), 2, True) is None


@pytest.mark.parametrize(
    ("sizes", "count", "expected"),
    [
        # Rows that fill no 64 are columns of the instruction, in units of 8.
        ((16, 64, 64), 1, (1, 1, 1)),
        ((12, 128, 64), 2, (2, 1, 1)),
        # Two warpgroups cannot share three times 64 rows, or columns within a line, but 96 rows.
        ((192, 192, 64), 2, (1, 2, 1)),
        # One instruction for 128 columns reads less than two for 64.
        ((128, 64, 64), 1, (1, 1, 1)),
        # As many sums as a thread can have.
        ((176, 256, 64), 2, (2, 1, 1)),
    ],
)
def test_the_transpose_is_computed(
    sizes: tuple[int, int, int], count: int, expected: tuple[int, int, int]
) -> None:
    """A row-major left operand has its lines along the depth, a row-major right one across."""
    split, swapped = split_groups(sizes, (LINES, COLUMNS), count, may_split=False)
    assert split.fits
    assert swapped
    assert (int(split.down), int(split.across), int(split.deep)) == expected


@pytest.mark.parametrize(
    ("sizes", "count"), [((128, 256, 64), 2), ((64, 128, 64), 1), ((128, 128, 64), 2)]
)
def test_equal_reading_keeps_the_matmul(sizes: tuple[int, int, int], count: int) -> None:
    split, swapped = split_groups(sizes, (LINES, COLUMNS), count, may_split=False)
    assert split.fits
    assert not swapped


def test_too_many_sums_fit_neither_way() -> None:
    split, _ = split_groups((184, 256, 64), (LINES, COLUMNS), 2, may_split=False)
    assert not split.fits
