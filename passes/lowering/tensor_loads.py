"""Loads of the loop that tensor copies fetch, and the tiles that these write."""

from xdsl.dialects.builtin import StringAttr

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.layout import SharedAttr, layout_of, set_layout
from mirage_mlir.graph.layout import SharedLayout, as_matrix, swizzled_tile
from mirage_mlir.graph.tensor_map import TensorMap, tensor_map
from mirage_mlir.passes.lowering.context import (
    COPY,
    TENSOR_COPY,
    is_staged,
    shared_layout,
)
from mirage_mlir.passes.lowering.tiles import ZERO_PADDING, exchanges_sides, item_bytes
from mirage_mlir.passes.lowering.views import view_of


def map_of(op: threadblock.LoadOp) -> TensorMap | None:
    """The boxes that make the tile of a load in shared memory, None where none do."""
    if ZERO_PADDING in op.attributes:
        return None
    view, shape = view_of(op.source), threadblock.shape_of(op.result)
    run_dim = len(shape) - (1 if shared_layout(op.result).column == 1 else 2)
    item = item_bytes(op.result)
    return tensor_map(view.shape, view.strides, view.offset, shape, item, run_dim)


def boxed_layout(op: threadblock.LoadOp, boxes: TensorMap) -> SharedLayout:
    """The tile of `op` as boxes lie in shared memory: without padding."""
    rows, columns = as_matrix(threadblock.shape_of(op.result))
    columns_first = shared_layout(op.result).column != 1
    if boxes.swizzle:
        item = item_bytes(op.result)
        return swizzled_tile(rows, columns, item, boxes.swizzle, columns_first=columns_first)
    row, column = (1, rows) if columns_first else (columns, 1)
    return SharedLayout(row, column, rows * columns)


def use_tensor_copies(graph: kernel.GraphDefinedOp) -> None:
    """Let tensor copies fetch the tiles of the loop, if they can fetch all of them."""
    loads = [
        op
        for op in graph.body.block.ops
        if isinstance(op, threadblock.LoadOp)
        and is_staged(op, graph)
        and isinstance(layout_of(op.result), SharedAttr)
    ]
    found = [(op, map_of(op)) for op in loads]
    if not found or any(boxes is None for _, boxes in found):
        return
    for op, boxes in found:
        assert boxes is not None
        set_layout(op, SharedAttr.of(boxed_layout(op, boxes)))
        op.attributes[COPY] = StringAttr(TENSOR_COPY)
    for op in graph.body.block.ops:
        if isinstance(op, threadblock.TransposeOp):
            follow(op)


def follow(op: threadblock.TransposeOp) -> None:
    """Give a view the layout of the memory that it is one of."""
    source, shape = shared_layout(op.input), threadblock.shape_of(op.input)
    exchanged = exchanges_sides(shape, tuple(op.permutation.get_values()))
    set_layout(op, SharedAttr.of(source.transposed() if exchanged else source))
