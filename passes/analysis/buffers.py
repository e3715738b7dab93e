"""Tiles of loads and stores, and the buffers in shared memory that hold tiles."""

from __future__ import annotations

from math import prod
from typing import TypeGuard

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute, Operation, SSAValue

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.dialects.layout import ConvertLayoutOp, SharedAttr, layout_of, shared_buffer
from mirage_mlir.layouts.layout import SharedLayout, round_up
from mirage_mlir.passes.analysis.access_widths import row_dim
from mirage_mlir.passes.analysis.tensor_views import row_major_columns
from mirage_mlir.passes.analysis.tile_attributes import batch_place, maker
from mirage_mlir.targets.tensor_map import SHARED_ALIGNMENT

LARGEST_ALIGNMENT = 1024
"""The alignment of tiles with the widest swizzle, in bytes: eight lines of it."""


TileAccess = threadblock.LoadOp | threadblock.IotaOp | threadblock.StoreOp
"""What cuts a tensor into tiles."""


def tile_of(op: TileAccess) -> SSAValue:
    """The result of a load or of indices, or the operand of a store."""
    return op.tile if isinstance(op, threadblock.StoreOp) else op.result


def cuts(op: TileAccess, dim: int) -> tuple[int | None, list[int]]:
    """The grid axis and the loops, outermost first, that cut a dim of a tensor."""
    grid = list(op.grid_map.get_values())
    loop = list(op.loop_map.get_values())
    return (
        grid.index(dim) if dim in grid else None,
        [number for number, cut in enumerate(loop) if cut == dim],
    )


def buffer_of(value: SSAValue) -> Operation:
    """The operation that owns the buffer of a tile in shared memory; a transpose owns none."""
    op = value.owner
    assert isinstance(op, Operation)
    return buffer_of(op.input) if isinstance(op, threadblock.TransposeOp) else op


def window_of(value: SSAValue) -> threadblock.LoadOp | None:
    """The load of a tile that starts somewhere in the first 16 bytes of its buffer; else None."""
    op = buffer_of(value)
    return op if isinstance(op, threadblock.LoadOp) and op.is_window_copy else None


def has_rows_along(op: Operation) -> bool:
    """
    Whether the tile of `op` is column-major in shared memory, as the tensor that is loaded.

    A tile of several matrices is row-major, since its columns are no runs of elements.
    """
    if not isinstance(op, threadblock.LoadOp):
        return False
    rows = threadblock.shape_of(op.result)[:-1]
    single = prod(rows) == max(rows, default=1)
    return single and not row_major_columns(op.source)


def run_dim(op: threadblock.LoadOp) -> int:
    """The dim of a tile along which neighbours are neighbours in shared memory."""
    shape = threadblock.shape_of(op.result)
    return len(shape) + (row_dim(shape) if has_rows_along(op) else -1)


def maxima_of(value: SSAValue) -> SSAValue | None:
    """The row maxima of each block's partial sum of a tile; None if it is not rescaled."""
    return value.owner.maxima if isinstance(value.owner, ConvertLayoutOp) else None


def tiles_along(op: threadblock.LoadOp, dim: int) -> int:
    """The number of tiles along a dimension of the tensor that `op` loads."""
    graph = op.parent_op()
    assert isinstance(graph, kernel.GraphDefinedOp)
    axis, loops = cuts(op, dim)
    blocks = graph.grid_sizes[axis] if axis is not None else 1
    return blocks * prod(graph.loop_sizes[loop] for loop in loops)


def is_staged(op: Operation) -> TypeGuard[threadblock.LoadOp]:
    """Whether `op` loads a tile of the loop, which has a buffer for each stage."""
    return isinstance(op, threadblock.LoadOp) and any(dim >= 0 for dim in op.loop_map.get_values())


def staged_loads(graph: kernel.GraphDefinedOp) -> list[threadblock.LoadOp]:
    """The loads of the loop's tiles."""
    return [op for op in graph.body.block.ops if is_staged(op)]


def is_invariant_load(op: Operation) -> TypeGuard[threadblock.LoadOp]:
    """Whether `op` loads a loop-invariant tile into shared memory."""
    if not isinstance(op, threadblock.LoadOp) or is_staged(op):
        return False
    return isinstance(layout_of(op.result), SharedAttr)


def copied_invariant_loads(graph: kernel.GraphDefinedOp) -> list[threadblock.LoadOp]:
    """The loads of loop-invariant tiles that a producer copies; each has a barrier of its own."""
    if not graph.schedule.producer_warps:
        return []
    return [op for op in graph.body.block.ops if is_invariant_load(op) and is_tensor_copy(op)]


def buffer_element(op: Operation) -> Attribute:
    """The element type of a buffer; results of reductions are in f32 until they are read."""
    if isinstance(op, threadblock.ReduceSumOp | threadblock.ReduceMaxOp):
        return f32
    return threadblock.tile_type(op.results[0]).element_type


def shared_layout(value: SSAValue) -> SharedLayout:
    """The layout of a tile that is in shared memory; an error where edited text says otherwise."""
    attribute = layout_of(value)
    if not isinstance(attribute, SharedAttr):
        fail(maker(value), "has a tile that is used in shared memory, and no such layout")
    return attribute.layout


def buffer_bytes(op: Operation) -> int:
    """Bytes of one buffer of a tile in shared memory, with all copies, rounded up to alignment."""
    layout = shared_layout(op.results[0])
    item = byte_width(buffer_element(op))
    parts = layout.blocks if is_delivered(op) else 1
    return round_up(layout.size * layout.copies * parts * item, buffer_alignment(op))


def is_delivered(op: Operation) -> TypeGuard[ConvertLayoutOp]:
    """Whether `op` writes to the shared memory of all blocks of the cluster."""
    return isinstance(op, ConvertLayoutOp) and op.delivered is not None


def buffer_count(op: Operation) -> int:
    """Buffers of a tile that is not a loop's load; 0 for one in the buffer of another tile."""
    if first_line(op):
        return 0
    return 2 if shared_buffer(op).double_buffered else 1


def first_line(op: Operation) -> int:
    """The first line of a tile in its buffer, which a batch shares."""
    place = batch_place(op)
    return 0 if place is None else place[1]


def buffer_alignment(op: Operation) -> int:
    """The alignment of a buffer in bytes."""
    boxes = SHARED_ALIGNMENT if is_tensor_copy(op) else 1
    return max(shared_layout(op.results[0]).alignment, boxes)


def is_tensor_copy(op: Operation) -> bool:
    """Whether tensor copies fetch what `op` loads."""
    return isinstance(op, threadblock.LoadOp) and op.is_tensor_copy


def bytes_along(graph: kernel.GraphDefinedOp) -> tuple[int, int]:
    """
    Bytes of an iteration's tiles that depend on the first grid axis only, and on the second only.
    """
    along = [0, 0]
    for op in staged_loads(graph):
        axes = zip(op.grid_map.get_values(), graph.grid_sizes, strict=True)
        first, second, *_ = [*(dim >= 0 and blocks > 1 for dim, blocks in axes), False, False]
        if first != second:
            along[second] += buffer_bytes(op)
    return along[0], along[1]


def loads_of_tiles(op: Operation) -> list[threadblock.LoadOp]:
    """The loads of the tiles that `op` copies; fails where edited text has what no load makes."""
    loads = [value.owner for value in op.operands if isinstance(value.owner, threadblock.LoadOp)]
    if len(loads) < len(op.operands):
        fail(op, "copies tiles that no load makes")
    return loads
