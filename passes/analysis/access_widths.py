"""How many neighbouring elements of a tile one access to memory may take."""

from math import gcd

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.layouts.layout import (
    NEIGHBOURS,
    RegisterLayout,
    SharedLayout,
    as_matrix,
    largest_power_of_two_divisor,
)
from mirage_mlir.passes.analysis.tensor_views import TensorView

WIDEST_ACCESS = 16
"""Bytes that one thread moves with one instruction."""


def row_dim(shape: tuple[int, ...]) -> int:
    """The dim along which neighbouring rows of a tile follow one another, counted from the last."""
    return next((dim for dim in range(-2, -len(shape) - 1, -1) if shape[dim] > 1), -2)


def is_repeated(own: tuple[int, ...], shape: tuple[int, ...], *, down: bool) -> bool:
    """Whether neighbours in `shape` are the same element of a tile of shape `own`."""
    dim = row_dim(shape) if down else -1
    return (own[dim] if -dim <= len(own) else 1) == 1 and shape[dim] > 1


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


def aligned_run(view: TensorView, shape: tuple[int, ...], width: int, dim: int = -1) -> int:
    """
    How many of `width` neighbours along a dim of a tile of `view` one access may take.

    Args:
        view: the tensor.
        shape: of the tile, in elements.
        width: how many a thread has.
        dim: counted from the last.
    """
    if -dim > len(shape) or view.strides[dim] != 1 or shape[dim] == 1:
        return 1
    common = gcd(width, shape[dim], view.shape[dim], view.offset or width)
    for place, (size, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
        if place != len(shape) + dim and size > 1 and stride:
            common = gcd(common, stride)
    item = byte_width(kernel.tensor_type(view.root).element_type)
    return largest_power_of_two_divisor(common, WIDEST_ACCESS // item)


def in_order_of_access(
    layout: RegisterLayout, view: TensorView, own: tuple[int, ...], shape: tuple[int, ...]
) -> RegisterLayout:
    """
    The slots of a layout in the order in which threads access a tile of `view`.

    A thread that has a block of neighbours on both sides accesses runs along the columns of a
    row-major tensor, and along the rows of a column-major one.

    Args:
        layout: of the threads that access it.
        view: the tensor.
        own: the shape of the tile.
        shape: to which it is broadcast.
    """
    across, down = (layout.ordered(step) for step in NEIGHBOURS)
    dim = row_dim(shape)
    runs = [
        aligned_run(view, own, layout.down, dim)
        if layout.down > 1
        else aligned_run(view, own, layout.vector),
        aligned_run(view, own, across.vector),
        aligned_run(view, own, down.down, dim),
    ]
    return (layout, across, down)[runs.index(max(runs))]


def covers(shared: SharedLayout, layout: RegisterLayout) -> bool:
    """Whether a buffer has memory for all places that a register layout addresses."""
    rows, columns = layout.spans()
    if shared.swizzle:
        return rows <= shared.room[0] and columns <= shared.room[1]
    last = (rows - 1) * shared.row + (columns - 1) * shared.column
    run = columns <= shared.row if shared.column == 1 else rows <= shared.column
    return run and last < shared.size
