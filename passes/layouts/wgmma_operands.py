"""Operands of warpgroup matmuls in shared memory: their readers, and their swizzled layouts."""

from xdsl.ir import Operation, SSAValue

from mirage_mlir.decisions.wgmma import (
    ITEM_BYTES,
)
from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.layout import SharedAttr, layout_of, set_layout, shared_buffer
from mirage_mlir.layouts.layout import (
    MMA_DEPTH,
    SWIZZLED_LINES,
    SharedLayout,
    as_matrix,
    round_up,
    swizzled_tile,
)
from mirage_mlir.passes.analysis.buffers import is_tensor_copy
from mirage_mlir.passes.analysis.tile_attributes import (
    uses_wgmma,
)
from mirage_mlir.targets.tensor_map import widest_swizzle


def wgmma_tile(op: Operation) -> SharedLayout | None:
    """
    The swizzled layout of the tile of `op` in shared memory; None if its size allows none.

    The order of the dimensions is kept.
    """
    attribute = layout_of(op.results[0])
    if not isinstance(attribute, SharedAttr) or not attribute.layout.whole:
        return None
    rows, columns = as_matrix(threadblock.shape_of(op.results[0]))
    columns_first = attribute.layout.column != 1
    swizzle = widest_swizzle(rows if columns_first else columns, ITEM_BYTES)
    if not swizzle:
        return None
    # `wgmma` reads whole atoms, and `mma.sync` the whole of a padded fragment.
    step = MMA_DEPTH if shared_buffer(op).zero_padding else SWIZZLED_LINES
    rows, columns = (
        (rows, round_up(columns, step)) if columns_first else (round_up(rows, step), columns)
    )
    return swizzled_tile(rows, columns, ITEM_BYTES, swizzle, columns_first=columns_first)


def read_by_wgmma(value: SSAValue) -> bool:
    """Whether warpgroup matmuls read a tile, or a view of it."""
    users = [use.operation for use in value.uses]
    return any(
        uses_wgmma(user)
        or (isinstance(user, threadblock.TransposeOp) and read_by_wgmma(user.result))
        for user in users
    )


def read_by_threads(value: SSAValue) -> bool:
    """Whether other operations than warpgroup matmuls read a tile, or a view of it."""
    users = [use.operation for use in value.uses]
    return any(
        read_by_threads(user.result)
        if isinstance(user, threadblock.TransposeOp)
        else not uses_wgmma(user)
        for user in users
    )


def written_for_wgmma(graph: kernel.GraphDefinedOp) -> bool:
    """
    Whether threads write operands of warpgroup matmuls.

    `wgmma` reads shared memory through the asynchronous proxy, so the writers need a fence.
    """
    produced = graph.schedule.producer_warps > 0
    return any(
        isinstance(layout_of(op.results[0]), SharedAttr)
        and read_by_wgmma(op.results[0])
        and not (produced and is_tensor_copy(op))
        for op in graph.body.block.ops
        if op.results and not isinstance(op, threadblock.TransposeOp)
    )


def swizzle_operands(graph: kernel.GraphDefinedOp) -> None:
    """Swizzle the operands of warpgroup matmuls; loads keep the way in which they are copied."""
    for op in graph.body.block.ops:
        if isinstance(op, threadblock.TransposeOp) or not op.results:
            continue
        if isinstance(layout_of(op.results[0]), SharedAttr) and read_by_wgmma(op.results[0]):
            swizzle(op)


def swizzle(op: Operation) -> None:
    """Give the tile of `op` the layout in which `wgmma` reads it."""
    layout = wgmma_tile(op)
    if layout is None:
        fail(op, "has a tile that wgmma multiplies, and no layout in which that can read it")
    set_layout(op, SharedAttr.of(layout))
