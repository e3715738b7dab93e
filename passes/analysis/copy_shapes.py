"""The pieces in which threads copy a tile from device memory to shared memory."""

from dataclasses import dataclass, replace
from math import gcd, prod

from mirage_mlir.decisions.copies import is_realigned, is_windowed, walks_rows
from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.dialects.layout import SharedAttr, layout_of
from mirage_mlir.layouts.layout import ceil_div, largest_power_of_two_divisor
from mirage_mlir.passes.analysis.access_widths import WIDEST_ACCESS
from mirage_mlir.passes.analysis.buffers import has_rows_along, run_dim, staged_loads
from mirage_mlir.passes.analysis.tensor_views import TensorView, view_of

LARGEST_REALIGNED = 1 << 30
"""Elements of the largest tensor whose tiles are realigned: offsets in it are 32-bit numbers, also
those of the tiles behind its end."""


@dataclass(frozen=True)
class CopyShape:
    """
    A tile cut into pieces of contiguous elements.

    Args:
        lines, run: the number of lines of the tile, and the length of a contiguous line.
        piece: elements that one thread copies at once.
        columns: whether a line is a row of the tile; else it is a column.
        order: the tile's dims, nearest neighbours in memory first, where threads copy its elements
            one by one in that order: those of a line are apart.
    """

    lines: int
    run: int
    piece: int
    columns: bool
    order: tuple[int, ...] = ()

    @property
    def pieces(self) -> int:
        """Pieces in one line."""
        return self.run // self.piece


def copy_shape(op: threadblock.LoadOp) -> CopyShape:
    """The pieces in which the tile of `op` is copied."""
    if not op.is_realigned_copy:
        return aligned_shape(op)
    shape = realigned_shape(op)
    if shape is None:
        fail(op, f'has copy = "realigned", and no lines of pieces of {WIDEST_ACCESS} bytes')
    return shape


def is_contiguous(op: threadblock.LoadOp) -> bool:
    """Whether the elements of a tile are neighbours in its tensor."""
    view, tile = view_of(op.source), threadblock.shape_of(op.result)
    run, expected, whole = 1, 1, True
    for stride, size, part in sorted(zip(view.strides, view.shape, tile, strict=True)):
        if size == 1:
            continue
        if stride != expected:
            break
        run, expected = run * (part if whole else 1), expected * size
        whole = whole and part >= size
    return run == prod(tile)


def walks(graph: kernel.GraphDefinedOp) -> bool:
    """Whether the loop of `graph` reads and writes whole rows."""
    ops = graph.body.block.ops
    stores = [op for op in ops if isinstance(op, threadblock.StoreOp)]
    return bool(
        walks_rows(
            all(map(is_contiguous, staged_loads(graph))),
            stores=any(max(op.loop_map.get_values(), default=-1) >= 0 for op in stores),
            multiplies=any(isinstance(op, threadblock.MatmulOp) for op in ops),
        )
    )


def walks_row_by_row(graph: kernel.GraphDefinedOp) -> bool:
    """
    Whether the loop of `graph` reads and writes whole rows, one row in each iteration.

    Such a loop issues its copies late, behind its last barrier: with less on its way at once, reads
    and writes share device memory better. On an H200 the gradient of RMSNorm of 32,768 rows took
    769.0 us for 778.2 (8192 columns in f32), 197.4 for 201.2 (4096 in f16), 196.7 for 198.5 (2048
    in f32). Two rows in each iteration took longer: 100.2 for 98.5 (1024 in f32).
    """
    tiles = [threadblock.shape_of(op.result) for op in staged_loads(graph)]
    return walks(graph) and all(prod(tile[:-1]) == 1 for tile in tiles)


def may_be_realigned(op: threadblock.LoadOp) -> bool:
    """Whether threads can, and should, shift aligned pieces of the tile of `op` into place."""
    shape, item = aligned_shape(op), element_bytes(op)
    wanted = bool(is_realigned(shape.run * item, shape.piece * item))
    return wanted and realigned_shape(op) is not None


def may_be_windowed(op: threadblock.LoadOp) -> bool:
    """Whether threads can, and should, copy the tile of `op` as a window of its tensor."""
    shape, item = aligned_shape(op), element_bytes(op)
    line = shape.run * item
    wanted = bool(is_windowed(shape.lines * line, line, shape.piece * item))
    return wanted and is_line(op)


def is_line(op: threadblock.LoadOp) -> bool:
    """
    Whether the tile of `op` is one whole line of its tensor, which a window can hold.

    Not where MMAs or transposes read it, in pieces that are aligned in the tile. Of a part of a
    line one may reach past the tensor's edge, behind which zeros are read.
    """
    view, shape, inner = view_of(op.source), aligned_shape(op), run_dim(op)
    users = (use.operation for use in op.result.uses)
    if any(isinstance(user, threadblock.MatmulOp | threadblock.TransposeOp) for user in users):
        return False
    whole = view.strides[inner] == 1 and shape.run == view.shape[inner]
    return whole and shape.lines == 1 and prod(kernel.shape_of(view.root)) <= LARGEST_REALIGNED


def window_pieces(op: threadblock.LoadOp) -> int:
    """The most pieces of 16 bytes in which a line lies, wherever it starts."""
    item = element_bytes(op)
    return ceil_div(aligned_shape(op).run * item + WIDEST_ACCESS - item, WIDEST_ACCESS)


def realigned_shape(op: threadblock.LoadOp) -> CopyShape | None:
    """Pieces of 16 bytes that are aligned in shared memory, and need not be in the tensor."""
    view, shape = view_of(op.source), aligned_shape(op)
    piece = WIDEST_ACCESS // element_bytes(op)
    if view.strides[run_dim(op)] != 1 or shape.run % piece:
        return None
    if not piece <= prod(kernel.shape_of(view.root)) <= LARGEST_REALIGNED:
        return None
    if shape.lines > 1 and isinstance(attribute := layout_of(op.result), SharedAttr):
        layout = attribute.layout
        if (layout.row if shape.columns else layout.column) % piece:
            return None
    return replace(shape, piece=piece)


def element_bytes(op: threadblock.LoadOp) -> int:
    """Bytes of an element of a loaded tile."""
    return byte_width(threadblock.tile_type(op.result).element_type)


def aligned_shape(op: threadblock.LoadOp) -> CopyShape:
    """The widest pieces that the tensor's strides, the tile's cuts and layout allow."""
    view, shape = view_of(op.source), threadblock.shape_of(op.result)
    columns, inner = not has_rows_along(op), run_dim(op)
    run, lines = shape[inner], prod(shape) // shape[inner]
    item = byte_width(kernel.tensor_type(view.root).element_type)
    if view.strides[inner] != 1 and run > 1:
        return CopyShape(lines, run, 1, columns, _order_in_memory(view, shape))
    common = gcd(run, view.shape[inner], view.offset, WIDEST_ACCESS // item)
    if isinstance(attribute := layout_of(op.result), SharedAttr):
        common = gcd(common, attribute.layout.row if columns else attribute.layout.column)
    for dim, (size, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
        if dim != inner and size > 1:
            common = gcd(common, stride)
    widest = WIDEST_ACCESS // item
    return CopyShape(lines, run, largest_power_of_two_divisor(common, widest), columns)


def _order_in_memory(view: TensorView, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The dims of a tile of `shape`, nearest neighbours first; none where no element has any."""
    dims = [dim for dim, size in enumerate(shape) if size > 1 and view.strides[dim]]
    order = sorted(dims, key=lambda dim: view.strides[dim])
    return tuple(order) if len(order) == len([s for s in shape if s > 1]) else ()
