"""Loads by tensor copies (TMA): their boxes, and the layouts that these write."""

from collections.abc import Iterator

from mirage_mlir.decisions.multicast import partial_copy
from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.layout import SharedAttr, set_layout
from mirage_mlir.layouts.layout import (
    MMA_DEPTH,
    SWIZZLES,
    SharedLayout,
    as_matrix,
    swizzled_tile,
)
from mirage_mlir.passes.analysis.buffers import (
    has_rows_along,
    is_tensor_copy,
    run_dim,
    shared_layout,
    tiles_along,
)
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.passes.analysis.tile_attributes import item_bytes, matmul_sizes
from mirage_mlir.targets.tensor_map import TensorMap, tensor_map


def map_of(op: threadblock.LoadOp) -> TensorMap | None:
    """The boxes that cover the tile of a load in its layout in shared memory; None without any."""
    swizzle = shared_layout(op.result).swizzle
    return next((boxes for boxes in boxes_of(op) if boxes.swizzle == swizzle), None)


def boxes_of(op: threadblock.LoadOp) -> list[TensorMap]:
    """The boxes that cover the tile of a load, for each possible swizzle, widest first."""
    view, shape = view_of(op.source), threadblock.shape_of(op.result)
    # A dimension of stride 0 has no end in memory, so TMA could not fill in zeros behind it.
    repeated = [dim for dim, step in enumerate(view.strides) if not step and view.shape[dim] > 1]
    if has_padded_depth(op) or any(reaches_past(op, dim) for dim in repeated):
        return []
    item, inner = item_bytes(op.result), run_dim(op)
    found = (
        tensor_map(view.shape, view.strides, view.offset, shape, item, inner, swizzle)
        for swizzle in (*SWIZZLES, 0)
    )
    return [boxes for boxes in found if boxes is not None]


def has_padded_depth(op: threadblock.LoadOp | threadblock.TransposeOp) -> bool:
    """Whether an MMA reads past the depth of a tile, where there must be zeros."""
    users = [use.operation for use in op.result.uses]
    return any(
        has_padded_depth(user)
        if isinstance(user, threadblock.TransposeOp)
        else isinstance(user, threadblock.MatmulOp) and matmul_sizes(user)[2] % MMA_DEPTH != 0
        for user in users
    )


def reaches_past(op: threadblock.LoadOp, dim: int) -> bool:
    """Whether some block or iteration loads elements past the end of a dimension."""
    size = threadblock.shape_of(op.result)[dim]
    return tiles_along(op, dim) * size > kernel.shape_of(op.source)[dim]


def partial_copies(op: threadblock.LoadOp, parts: int) -> list[TensorMap]:
    """The possible boxes of a load's tile that divide into `parts` equal parts."""
    shape = threadblock.shape_of(op.result)
    return [boxes for boxes in boxes_of(op) if partial_copy(boxes, shape, parts) is not None]


def boxed_layouts(op: threadblock.LoadOp) -> list[SharedLayout]:
    """The layouts that boxes can give the tile of a load, fewest boxes first."""
    parts = op.sharing_blocks
    maps = boxes_of(op) if parts == 1 else partial_copies(op, parts)
    return [boxed_layout(op, boxes) for boxes in maps]


def boxed_layout(op: threadblock.LoadOp, boxes: TensorMap) -> SharedLayout:
    """The layout that `boxes` give the tile of `op`, which has no padding."""
    rows, columns = as_matrix(threadblock.shape_of(op.result))
    columns_first = has_rows_along(op)
    if boxes.swizzle:
        item = item_bytes(op.result)
        return swizzled_tile(rows, columns, item, boxes.swizzle, columns_first=columns_first)
    row, column = (1, rows) if columns_first else (columns, 1)
    return SharedLayout(row, column, rows * columns)


def tensor_loads(graph: kernel.GraphDefinedOp) -> Iterator[threadblock.LoadOp]:
    """The loads of `graph` by tensor copies."""
    for op in graph.body.block.ops:
        if isinstance(op, threadblock.LoadOp) and is_tensor_copy(op):
            yield op


def lay_out_boxes(graph: kernel.GraphDefinedOp) -> None:
    """Give the tiles of tensor copies layouts that boxes can have."""
    for op in tensor_loads(graph):
        layouts = boxed_layouts(op)
        if not layouts:
            fail(op, "is a tensor copy, and no boxes of the tensor make its tile")
        set_layout(op, SharedAttr.of(layouts[0]))
