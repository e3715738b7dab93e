"""
Decides the order in which the blocks of a grid start (CTA rasterization), and how many blocks a
grid may have.
"""

from math import ceil

MAX_BLOCKS, MAX_BLOCKS_BEHIND = 2**31 - 1, 65535
"""Blocks along the first axis of a grid, and along each of the others (CUDA's limits)."""

WORTH = 0.95
"""Of the bytes of the plain order: below it widths are used, at some arithmetic in each block."""


def choose_raster_width(
    grid: tuple[int, int], along: tuple[int, int], together: int, step: int
) -> int:
    """
    The width of the bands in which blocks start: so many along the first axis, then the second
    advances.

    Concurrent blocks read tiles of both operands of a matmul. The fewer different tiles they read,
    the more of them L2 serves. Of `together` blocks p are side by side along the first axis and
    `together / p` along the second.

    Args:
        grid: blocks along the two axes; the width divides the first.
        along: bytes of an iteration's tiles that are cut by the first axis alone, and by the
            second.
        together: blocks that run at a time.
        step: what the width is a multiple of, and divides the blocks along the first axis.
    """

    def read(width: int) -> int:
        """The bytes of the different tiles that concurrent blocks read."""
        widths, more = divmod(min(together, grid[0] * grid[1]), width * grid[1])
        columns = widths * width + min(width, more)
        rows = grid[1] if widths else ceil(more / width)
        return columns * along[0] + rows * along[1]

    if not all(along) or grid[1] == 1:
        return grid[0]
    widths = [size for size in range(step, grid[0] + 1, step) if grid[0] % size == 0]
    best = min(widths, key=lambda size: (read(size), -size))
    return best if read(best) < WORTH * read(grid[0]) else grid[0]
