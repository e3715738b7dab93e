"""The pieces in which threads copy a tile from device memory to shared memory."""

from dataclasses import dataclass
from math import gcd, prod

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.dialects.layout import SharedAttr, layout_of
from mirage_mlir.layouts.layout import largest_power_of_two_divisor
from mirage_mlir.passes.analysis.access_widths import WIDEST_ACCESS
from mirage_mlir.passes.analysis.buffers import has_rows_along
from mirage_mlir.passes.analysis.tensor_views import view_of

NARROWEST_COPY = 4
"""Bytes below which `cp.async` has no form (PTX ISA, cp.async: 4, 8 or 16)."""


@dataclass(frozen=True)
class CopyShape:
    """
    A tile cut into pieces of contiguous elements.

    Args:
        lines, run: the number of lines of the tile, and the length of a contiguous line.
        piece: elements that one thread copies at once.
        columns: whether a line is a row of the tile; else it is a column.
    """

    lines: int
    run: int
    piece: int
    columns: bool

    @property
    def pieces(self) -> int:
        """Pieces in one line."""
        return self.run // self.piece


def copy_shape(op: threadblock.LoadOp) -> CopyShape:
    """The widest pieces that the tensor's strides, the tile's cuts and layout allow."""
    view, shape = view_of(op.source), threadblock.shape_of(op.result)
    columns = not has_rows_along(op)
    run_dim = len(shape) - (1 if columns else 2)
    run, lines = shape[run_dim], prod(shape) // shape[run_dim]
    item = byte_width(kernel.tensor_type(view.root).element_type)
    if view.strides[run_dim] != 1 and run > 1:
        return CopyShape(lines, run, 1, columns)
    common = gcd(run, view.shape[run_dim], view.offset, WIDEST_ACCESS // item)
    if isinstance(attribute := layout_of(op.result), SharedAttr):
        common = gcd(common, attribute.layout.row if columns else attribute.layout.column)
    for dim, (size, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
        if dim != run_dim and size > 1:
            common = gcd(common, stride)
    widest = WIDEST_ACCESS // item
    return CopyShape(lines, run, largest_power_of_two_divisor(common, widest), columns)
