"""How many neighbouring elements of a tile one access to memory may take."""

from math import gcd

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.layouts.layout import (
    RegisterLayout,
    SharedLayout,
    as_matrix,
    largest_power_of_two_divisor,
)
from mirage_mlir.passes.analysis.tensor_views import TensorView

WIDEST_ACCESS = 16
"""Bytes that one thread moves with one instruction."""


def is_repeated(own: tuple[int, ...], shape: tuple[int, ...], *, down: bool) -> bool:
    """Whether neighbours in `shape` are the same element of a tile of shape `own`."""
    if down:
        return (own[-2] if len(own) > 1 else 1) == 1 and shape[-2] > 1
    return own[-1] == 1 and shape[-1] > 1


def shared_width(
    layout: SharedLayout, shape: tuple[int, ...], width: int, item: int, *, down: bool = False
) -> int:
    """Neighbouring columns, or rows where `down`, that one access to shared memory may take."""
    lines, run = as_matrix(shape)
    if down:
        layout, lines, run = layout.transposed(), run, lines
    if layout.column != 1 or run == 1:
        return 1
    aligned = gcd(width, layout.size) if layout.copies > 1 else width
    if lines > 1:
        aligned = gcd(aligned, layout.row)
    return min(aligned, WIDEST_ACCESS // item)


def aligned_run(view: TensorView, shape: tuple[int, ...], width: int, *, down: bool = False) -> int:
    """How many of `width` columns of a tile of `view`, or rows, one access may take."""
    if down:
        # Rows and columns exchanged.
        last = len(shape) - 1
        order = (*range(last - 1), last, last - 1)
        shape = tuple(shape[dim] for dim in order)
        sizes, strides = ([side[dim] for dim in order] for side in (view.shape, view.strides))
        view = TensorView(view.root, tuple(sizes), tuple(strides), view.offset)
    if view.strides[-1] != 1 or shape[-1] == 1:
        return 1
    common = gcd(width, shape[-1], view.shape[-1], view.offset or width)
    for size, stride in zip(view.shape[:-1], view.strides[:-1], strict=True):
        if size > 1 and stride:
            common = gcd(common, stride)
    item = byte_width(kernel.tensor_type(view.root).element_type)
    return largest_power_of_two_divisor(common, WIDEST_ACCESS // item)


def covers(shared: SharedLayout, layout: RegisterLayout) -> bool:
    """Whether a buffer has memory for all places that a register layout addresses."""
    rows, columns = layout.spans()
    if shared.swizzle:
        return rows <= shared.room[0] and columns <= shared.room[1]
    last = (rows - 1) * shared.row + (columns - 1) * shared.column
    run = columns <= shared.row if shared.column == 1 else rows <= shared.column
    return run and last < shared.size
