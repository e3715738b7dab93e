"""Blocks that take turns with the tiles of what a loop cuts, too: cyclic graphs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from threadblock_checks import Parse, check, draw, graph

from mirage_mlir.interpreters.tile_cuts import TileCut

ROW_SUMS = """
%x = load %a0 grid_map [0] loop_map [0] : (T{rows}x3) -> {tile}x3
%e = exp %x : ({tile}x3) -> {tile}x3
%s = reduce_sum %e {{dims = array<i64: 0>}} : ({tile}x3) -> 1x3
%a = accumulate %s : (1x3) -> 1x3
store %a grid_map [0] : 1x3
"""

SIZES = [
    # Whole; ragged in the last tile; some blocks with an iteration less; fewer tiles than blocks.
    (24, 2, 3, 4),
    (23, 2, 3, 4),
    (15, 2, 3, 4),
    (5, 2, 4, 2),
    (3, 1, 5, 1),
]


def blocks_of(x: NDArray[np.float64], tile: int, blocks: int) -> list[NDArray[np.float64]]:
    """The rows of each block, its tiles one after the other."""
    owner = np.arange(len(x)) // tile % blocks
    return [x[owner == block] for block in range(blocks)]


@pytest.mark.parametrize(("rows", "tile", "blocks", "iterations"), SIZES)
def test_sums_of_blocks(parse: Parse, rows: int, tile: int, blocks: int, iterations: int) -> None:
    body = ROW_SUMS.format(rows=rows, tile=tile)
    head = f"grid [{blocks}] loop [{iterations}] cyclic"
    function = graph(parse, f"{rows}x3", head, body, f"{blocks}x3")
    (x,) = inputs = draw(function)
    check(function, inputs, np.stack([np.exp(r).sum(0) for r in blocks_of(x, tile, blocks)]))


@pytest.mark.parametrize(("rows", "tile", "blocks", "iterations"), SIZES)
def test_stores_in_loops(parse: Parse, rows: int, tile: int, blocks: int, iterations: int) -> None:
    """Tiles go back to where they come from."""
    body = """
%x = load %a0 grid_map [0] loop_map [0] : (T{rows}x3) -> {tile}x3
%e = exp %x : ({tile}x3) -> {tile}x3
store %e grid_map [0] loop_map [0] : {tile}x3
"""
    head = f"grid [{blocks}] loop [{iterations}] cyclic"
    body = body.format(rows=rows, tile=tile)
    function = graph(parse, f"{rows}x3", head, body, f"{rows}x3")
    (x,) = inputs = draw(function)
    check(function, inputs, np.exp(x))


def test_each_tile_with_that_of_its_block(parse: Parse) -> None:
    """What the grid alone cuts is read by block: row r is times row r mod 3."""
    function = graph(
        parse,
        "11x3 3x3",
        "grid [3] loop [4] cyclic",
        """
%x = load %a0 grid_map [0] loop_map [0] : (T11x3) -> 1x3
%y = load %a1 grid_map [0] loop_map [_] : (T3x3) -> 1x3
%m = mul %x, %y : (1x3, 1x3) -> 1x3
store %m grid_map [0] loop_map [0] : 1x3
""",
        "11x3",
    )
    x, y = inputs = draw(function)
    check(function, inputs, x * y[np.arange(11) % 3])


def test_two_loops_and_a_grid_axis(parse: Parse) -> None:
    """Block b, iteration (i, j) has tile (i * 3 + j) * 2 + b of dim 1."""
    function = graph(
        parse,
        "2x22",
        "grid [2] loop [2, 3] cyclic",
        """
%x = load %a0 grid_map [1] loop_map [1, 1] : (T2x22) -> 2x2
%q = square %x : (2x2) -> 2x2
%s = reduce_sum %q {dims = array<i64: 1>} : (2x2) -> 2x1
%a = accumulate %s : (2x1) -> 2x1
store %a grid_map [1] : 2x1
""",
        "2x2",
    )
    (x,) = inputs = draw(function)
    sums = [(part**2).sum(0) for part in blocks_of(x.T, 2, 2)]
    check(function, inputs, np.stack(sums, 1))


def test_one_of_two_loops(parse: Parse) -> None:
    """The outer loop cuts rows as the grid does, the inner one columns, which no block shares."""
    function = graph(
        parse,
        "7x5",
        "grid [2] loop [4, 3] cyclic",
        """
%x = load %a0 grid_map [0] loop_map [0, 1] : (T7x5) -> 1x2
%s = reduce_sum %x {dims = array<i64: 1>} : (1x2) -> 1x1
%a = accumulate %s : (1x1) -> 1x1
store %a grid_map [0] : 1x1
""",
        "2x1",
    )
    (x,) = inputs = draw(function)
    check(function, inputs, np.array([[x[::2].sum()], [x[1::2].sum()]]))


def test_across(parse: Parse) -> None:
    """Split-K: whose tiles are whose does not matter to the total."""
    function = graph(
        parse,
        "2x11 11x6",
        "grid [3, 2] loop [2] cyclic",
        """
%x = load %a0 grid_map [1, _] loop_map [1] : (T2x11) -> 2x2
%w = load %a1 grid_map [0, 1] loop_map [0] : (T11x6) -> 2x3
%p = matmul %x, %w : (2x2, 2x3) -> 2x3
%a = accumulate %p across [0] : (2x3) -> 2x3
store %a grid_map [_, 1] : 2x3
""",
        "2x6",
    )
    x, w = inputs = draw(function)
    check(function, inputs, x @ w)


def test_maxima(parse: Parse) -> None:
    """Tiles behind the end have no part in a maximum of negative numbers."""
    function = graph(
        parse,
        "2x7",
        "grid [3] loop [4] cyclic",
        """
%x = load %a0 grid_map [1] loop_map [1] : (T2x7) -> 2x2
%l = reduce_max %x {dims = array<i64: 1>} : (2x2) -> 2x1
%a = accumulate %l {kind = "max"} : (2x1) -> 2x1
store %a grid_map [1] : 2x1
""",
        "2x3",
    )
    inputs = [-np.abs(x) for x in draw(function)]
    x = inputs[0].T
    check(function, inputs, np.stack([part.max(0) for part in blocks_of(x, 2, 3)], 1))


@given(
    tile=st.integers(1, 3),
    blocks=st.integers(1, 5),
    steps=st.integers(1, 4),
    share=st.floats(0, 1),
    cyclic=st.booleans(),
)
def test_owners(tile: int, blocks: int, steps: int, share: float, cyclic: bool) -> None:
    """Each index has one owner; what blocks hold is what their tiles have of the dimension."""
    cut = TileCut(tile, 0, blocks, (0,), (steps,), cyclic)
    whole = blocks * steps * tile
    size = 1 + int(share * (whole - 1))
    indices = np.arange(size)
    beyond: set[int] = set()
    found: list[NDArray[np.intp]] = []
    for block in range(blocks):
        numbers = [cut.number(block, step) for step in range(steps)]
        mine = [number * tile + place for number in numbers for place in range(tile)]
        beyond |= {block} if max(mine) >= size else set()
        own = [at for at, index in enumerate(mine) if index < size]
        assert cut.held(block, size) == len(own)
        assert cut.owned(indices, block).tolist() == own
        found.append(cut.place(np.array(block), np.array(own, np.intp)))
        assert found[-1].tolist() == [index for index in mine if index < size]
        assert all(cut.owners(found[-1]) == block)
    assert sorted(np.concatenate(found).tolist()) == indices.tolist()
    assert set(cut.owners_beyond(size).tolist()) == beyond
