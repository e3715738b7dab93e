"""Cuts of a tensor, against a list of which block and iteration holds which index."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.shapes.tile_extents import (
    REPLICATED,
    Axis,
    Extent,
    PartitionError,
    Step,
    axes_of,
    cut,
    cut_dim,
)


@st.composite
def cuts_of_a_dim(draw: st.DrawFn) -> tuple[int, int, tuple[int, ...], tuple[int, ...]]:
    """Size of a dimension, tile, blocks (one axis or none) and iterations (up to two loops)."""
    grid = draw(st.lists(st.integers(1, 4), max_size=1).map(tuple))
    loop = draw(st.lists(st.integers(1, 4), max_size=2).map(tuple))
    return draw(st.integers(1, 40)), draw(st.integers(1, 6)), grid, loop


def capacity(tile: int, grid: tuple[int, ...], loop: tuple[int, ...]) -> int:
    total = tile
    for count in (*grid, *loop):
        total *= count
    return total


@given(cuts_of_a_dim())
def test_tiles_follow_each_other(
    case: tuple[int, int, tuple[int, ...], tuple[int, ...]],
) -> None:
    """In the order of blocks, then loops from outside in, the tiles are consecutive runs."""
    size, tile, grid, loop = case
    blocks, loops = axes_of(grid, loop)
    if capacity(tile, grid, loop) < size:
        with pytest.raises(PartitionError, match=rf"\(size {size}\) is not covered"):
            cut_dim(size, tile, (*blocks, *loops))
        return
    extent = cut_dim(size, tile, (*blocks, *loops))
    positions = product(product(*map(range, grid)), product(*map(range, loop)))
    tiles = [range(*extent.range(block, iteration)) for block, iteration in positions]
    assert [index for held in tiles for index in held] == list(range(size))
    assert all(len(held) <= tile for held in tiles)
    assert extent.is_full == all(len(held) == tile for held in tiles)


@given(cuts_of_a_dim())
def test_first_holds_the_most(
    case: tuple[int, int, tuple[int, ...], tuple[int, ...]],
) -> None:
    """What is valid in the first iteration is all that is valid in any."""
    size, tile, grid, loop = case
    size = min(size, capacity(tile, grid, loop))
    blocks, loops = axes_of(grid, loop)
    extent = cut_dim(size, tile, (*blocks, *loops))
    first = extent.first(loops)
    for block in product(*map(range, grid)):
        iterations = product(*map(range, loop))
        most = max(stop - start for start, stop in (extent.range(block, i) for i in iterations))
        start, stop = first.range(block)
        assert stop - start == most


def test_grid_and_loop_cut_one_dim() -> None:
    """The loop cuts the part of the block: the design's [(b*F+i)*t, (b*F+i+1)*t)."""
    (extent,) = cut((70,), (10,), grid=(3,), grid_map=(0,), loop=(3,), loop_map=(0,))
    assert extent.range((1,), (2,)) == (50, 60)
    assert extent.range((2,), (0,)) == (60, 70)
    assert extent.range((2,), (1,)) == (70, 70)
    assert not extent.is_full
    assert str(extent) == "10 of 70 cut by grid axis 0 and loop 0"


def test_dims_and_axes_that_cut_nothing() -> None:
    """An axis of one block cuts nothing, and equal cuts are equal extents."""
    extents = cut((16, 4096), (16, 64), (1, 128), (0, REPLICATED), (64,), (1,))
    assert extents == (Extent(16, 16), Extent(4096, 64, (Step(Axis(True, 0, 64), 64),)))
    assert [extent.is_full for extent in extents] == [True, True]
    assert str(extents[0]) == "16 of 16"


def test_tile_beyond_the_tensor() -> None:
    (extent,) = cut((3,), (16,), (1,), (REPLICATED,))
    assert extent.range((0,)) == (0, 3)
    assert not extent.is_full


@pytest.mark.parametrize(
    ("grid_map", "loop_map", "message"),
    [
        ((0,), (1,), "grid_map has 1 entries for 2 grid axes"),
        ((0, 1), (), "loop_map has 0 entries for 1 loops"),
        ((0, 2), (1,), "grid_map cuts dim 2 by grid axis 1, but the tensor has rank 2"),
        ((0, -2), (1,), "grid_map cuts dim -2 by grid axis 1"),
        ((0, 1), (5,), "loop_map cuts dim 5 by loop 0"),
        ((1, 1), (0,), "grid_map cuts dim 1 by grid axes 0 and 1"),
    ],
)
def test_wrong_maps(grid_map: tuple[int, ...], loop_map: tuple[int, ...], message: str) -> None:
    with pytest.raises(PartitionError, match=message):
        cut((64, 64), (8, 8), (8, 8), grid_map, (8,), loop_map)


def test_two_loops_may_cut_one_dim() -> None:
    (extent,) = cut((24,), (4,), (1,), (REPLICATED,), (2, 3), (0, 0))
    assert [extent.range((0,), i) for i in product(range(2), range(3))] == [
        (start, start + 4) for start in range(0, 24, 4)
    ]


def test_not_covered() -> None:
    message = r"dim 1 \(size 4096\) is not covered: 63 iterations x tiles of 64 hold 4032 elements"
    with pytest.raises(PartitionError, match=message):
        cut((16, 4096), (16, 64), (8,), (REPLICATED,), (63,), (1,))


def test_rank() -> None:
    with pytest.raises(PartitionError, match="a tile of rank 1 cannot hold part of a rank-2"):
        cut((16, 16), (16,), (1,), (REPLICATED,))
