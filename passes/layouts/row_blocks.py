"""
Layouts in which threads have blocks of rows of a tile that others are stretched over.

The distances from 192 points to 168 others need two tiles, each of which lacks the rows of the
other. A thread with 3 by 21 of these pairs reads 24 points; with 63 pairs one behind the other it
reads 126, and divides for each by 168 to know which.
"""

from collections.abc import Iterator
from itertools import product

from mirage_mlir.dialects import thread, threadblock
from mirage_mlir.layouts.banks import Spread
from mirage_mlir.layouts.digits import Digit, blocks_of_rows, stretched_digit
from mirage_mlir.layouts.layout import RegisterLayout, as_matrix
from mirage_mlir.passes.analysis.tile_attributes import broadcast_sides, registers_of

BELOW = (1, 4, 8, 16, 32, 64, 128)
"""Candidates for how many threads lie along the rows inside."""

MOST_SLOTS = 256
"""Elements of a tile in a thread, which is code for each."""

MORE_SLOTS = 1.5
"""How many times as many elements a thread of a loop may have as in the layout that it has else.
Where half of the threads had none, twice as many for the others spilled: weights of pairs of 320
rows took 66 us on an H200 for 17."""


def spread_over(layout: RegisterLayout, own: tuple[int, ...], shape: tuple[int, ...]) -> Spread:
    """How threads read a tile of shape `own` that is broadcast to the `layout` of a `shape`."""
    sides = broadcast_sides(own, shape)
    lacks = stretched_digit(own, shape) if sides is None else None
    return Spread(layout, as_matrix(shape), sides or (False, False), lacks=lacks)


def most_slots(op: thread.GraphOp, *, looped: bool) -> float:
    """The most elements that a thread may have of the result of `op`, in a loop or not."""
    return MORE_SLOTS * len(registers_of(op.results[0]).offsets) if looped else MOST_SLOTS


def block_options(op: thread.GraphOp, threads: int) -> Iterator[RegisterLayout]:
    """
    Layouts for the result of `op`, in a loop, that keep the digits which its operands lack, where
    its own does not.
    """
    result, most = op.results[0], most_slots(op, looped=True)
    present, shape = registers_of(result), threadblock.shape_of(result)
    reads = [spread_over(present, threadblock.shape_of(value), shape) for value in op.operands]
    if all(read.lacks is None or read.own is not None for read in reads):
        return
    inner = {size for read in reads if read.lacks is not None for size in ends_of(read.lacks)}
    for size, below in product(sorted(inner), BELOW):
        if 1 < size < as_matrix(shape)[0]:
            # With shorter runs of columns a thread has, and reads, more rows.
            layout = blocks_of_rows(shape, threads, size, present.vector, below=below)
            if len(layout.offsets) <= most:
                yield layout


def ends_of(digit: Digit) -> tuple[int, int]:
    """The rows inside of a digit, and those up to its end."""
    return digit.step, digit.step * digit.size
