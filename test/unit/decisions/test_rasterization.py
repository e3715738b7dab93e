"""The order of a grid's blocks."""

from itertools import islice, product

from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.decisions.rasterization import choose_raster_width

TOGETHER = 12


def tiles_of_first(grid: tuple[int, int], along: tuple[int, int], width: int) -> int:
    """Bytes of the different tiles that the first blocks to run read."""
    order = (
        (start + column, row)
        for start, row, column in product(range(0, grid[0], width), range(grid[1]), range(width))
    )
    first = list(islice(order, TOGETHER))
    columns, rows = ({block[axis] for block in first} for axis in (0, 1))
    return len(columns) * along[0] + len(rows) * along[1]


@given(
    st.tuples(st.integers(1, 30), st.integers(1, 30)),
    st.tuples(st.integers(0, 4), st.integers(0, 4)),
)
def test_blocks_that_run_together_read_no_more(
    grid: tuple[int, int], along: tuple[int, int]
) -> None:
    """A width divides the first axis, and is taken where it makes the blocks read less."""
    width = choose_raster_width(grid, along, TOGETHER, 1)
    assert grid[0] % width == 0
    plain = tiles_of_first(grid, along, grid[0])
    assert tiles_of_first(grid, along, width) <= plain
    if width < grid[0]:
        assert tiles_of_first(grid, along, width) < plain


def test_panels_of_a_large_matmul() -> None:
    """Of 56 x 16 blocks, whose tiles along the first axis are twice as large, 132 are 9 x 16."""
    assert choose_raster_width((56, 16), (2, 1), 132, 1) == 1
    assert choose_raster_width((16, 32), (2, 1), 132, 1) == 8
    assert choose_raster_width((32, 8), (0, 1), 132, 1) == 32, (
        "nothing is read along the first axis alone"
    )


def test_clusters_stay_together() -> None:
    """A width is a multiple of what a cluster takes of the first axis."""
    assert choose_raster_width((56, 16), (2, 1), 132, 4) % 4 == 0
