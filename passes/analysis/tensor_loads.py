"""Loads of the loop that tensor copies fetch, and the tiles that these write."""

from xdsl.dialects.builtin import StringAttr

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.layout import SharedAttr, layout_of, set_layout, shared_buffer
from mirage_mlir.layouts.layout import SWIZZLES, SharedLayout, as_matrix, swizzled_tile
from mirage_mlir.passes.analysis.buffers import (
    is_invariant_load,
    is_staged,
    shared_layout,
    tiles_along,
)
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.passes.analysis.tile_attributes import item_bytes
from mirage_mlir.targets.tensor_map import TensorMap, tensor_map


def map_of(op: threadblock.LoadOp) -> TensorMap | None:
    """The boxes that make the tile of a load as it lies in shared memory, None where none do."""
    return boxes_of(op, shared_layout(op.result).swizzle)


def boxes_of(op: threadblock.LoadOp, swizzle: int) -> TensorMap | None:
    """The boxes that make the tile of a load with a swizzle, None where none do."""
    view, shape = view_of(op.source), threadblock.shape_of(op.result)
    # Of what is repeated along a dim copies do not know where it ends.
    repeated = [dim for dim, step in enumerate(view.strides) if not step and view.shape[dim] > 1]
    if shared_buffer(op).zero_padding or any(reaches_past(op, dim) for dim in repeated):
        return None
    run_dim = len(shape) - (1 if shared_layout(op.result).column == 1 else 2)
    item = item_bytes(op.result)
    return tensor_map(view.shape, view.strides, view.offset, shape, item, run_dim, swizzle)


def reaches_past(op: threadblock.LoadOp, dim: int) -> bool:
    """Whether some block or iteration loads what lies past the end of a dim."""
    size = threadblock.shape_of(op.result)[dim]
    return tiles_along(op, dim) * size > kernel.shape_of(op.source)[dim]


def boxed_layouts(op: threadblock.LoadOp) -> list[SharedLayout]:
    """The layouts in which boxes can make the tile of a load, those of fewest boxes first."""
    maps = [boxes_of(op, swizzle) for swizzle in (*SWIZZLES, 0)]
    return [boxed_layout(op, boxes) for boxes in maps if boxes is not None]


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
    """
    Let tensor copies fetch the tiles of the loop, if they can fetch all of them.

    Then there is a producer, which fetches loop-invariant tiles too, where it can.
    """
    loads = [
        op
        for op in graph.body.block.ops
        if is_staged(op) and isinstance(layout_of(op.result), SharedAttr)
    ]
    found = [boxed_layouts(op) for op in loads]
    if not loads or not all(found):
        return
    invariant = [op for op in graph.body.block.ops if is_invariant_load(op)]
    for op, layouts in [
        *zip(loads, found, strict=True),
        *((op, boxed_layouts(op)) for op in invariant),
    ]:
        if layouts:
            set_layout(op, SharedAttr.of(layouts[0]))
            op.copy = StringAttr(threadblock.TENSOR_COPY)
