"""Reductions over some of the dimensions that form the rows of a tile."""

from collections.abc import Iterator
from typing import NamedTuple

from xdsl.ir import SSAValue

from mirage_mlir.dialects import thread, threadblock
from mirage_mlir.dialects.layout import ConvertLayoutOp
from mirage_mlir.layouts.digits import Digit, digit_over, thread_bits, without
from mirage_mlir.layouts.layout import LANE_BITS, RegisterLayout
from mirage_mlir.passes.analysis.tile_attributes import (
    Reduction,
    reduced_lane_bits,
    reduced_sides,
    split_warp_bits,
)


class Reduced(NamedTuple):
    """
    How the threads of a block reduce a tile.

    Args:
        kept: the layout of what each thread has then.
        lanes: bits of the lane along which threads of a warp exchange parts.
        split: bits of the thread index along which warps have parts.
        digit: what is reduced, where it is a part of the rows.
    """

    kept: RegisterLayout
    lanes: list[int]
    split: list[int]
    digit: Digit | None = None


def reduced_digit(op: Reduction) -> Digit | None:
    """The digit of the row number that a reduction runs over; None where it runs over others."""
    if reduced_sides(op) is not None:
        return None
    shape = threadblock.shape_of(op.input)
    return digit_over(shape, (dim for dim in op.dims.get_values() if shape[dim] > 1))


def reduced_from(op: Reduction, layout: RegisterLayout) -> Reduced | None:
    """How threads that have the input in `layout` reduce it; None where they cannot."""
    if (sides := reduced_sides(op)) is not None:
        lanes, split = reduced_lane_bits(layout, sides), split_warp_bits(layout, *sides)
        return Reduced(layout.reduced(*sides), lanes, split)
    digit = reduced_digit(op)
    kept = None if digit is None else without(layout, digit)
    if digit is None or kept is None:
        return None
    bits = thread_bits(layout, digit)
    lanes = [bit for bit in bits if bit < LANE_BITS]
    return Reduced(kept, lanes, [bit for bit in bits if bit >= LANE_BITS], digit)


def uses_in_place(
    value: SSAValue, layout: RegisterLayout
) -> Iterator[tuple[Reduction | threadblock.StoreOp, RegisterLayout]]:
    """
    The reductions and stores of a tile in `layout`, and of what threads make of it in their
    registers by elementwise work and by reductions; with each the layout of its input.
    """
    for use in value.uses:
        user = use.operation
        if isinstance(user, ConvertLayoutOp):
            # It was put there for threads that cannot reduce the tile in their registers.
            yield from uses_in_place(user.result, layout)
        elif isinstance(user, threadblock.AccumulateOp):
            # A thread adds up what it has of the tile in each iteration.
            yield from uses_in_place(user.result, layout)
        elif isinstance(user, thread.GraphOp):
            if threadblock.shape_of(user.results[0]) == threadblock.shape_of(value):
                yield from uses_in_place(user.results[0], layout)
        elif isinstance(user, threadblock.StoreOp):
            yield user, layout
        elif isinstance(user, Reduction):
            yield user, layout
            known = reduced_from(user, layout)
            if known is not None and not known.split:
                yield from uses_in_place(user.result, known.kept)
