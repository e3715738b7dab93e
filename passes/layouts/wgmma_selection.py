"""Selects the matmuls that `wgmma` computes, and swizzles their operands in shared memory."""

from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from mirage_mlir.decisions.registers import GROUP_WARPS
from mirage_mlir.decisions.sharing import Lines, split_groups
from mirage_mlir.decisions.wgmma import (
    COLUMN_STEP,
    ITEM_BYTES,
    WGMMA_DEPTH,
    WGMMA_ROWS,
    Groups,
)
from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.layout import SharedAttr, layout_of, set_layout
from mirage_mlir.layouts.layout import (
    MMA_DEPTH,
    SWIZZLED_LINES,
    SharedLayout,
    as_matrix,
    round_up,
    swizzled_tile,
)
from mirage_mlir.passes.analysis.buffers import buffer_of, has_rows_along, is_tensor_copy
from mirage_mlir.passes.analysis.tile_attributes import (
    ZERO_PADDING,
    Reduction,
    has_half_operands,
    matmul_sizes,
    uses_wgmma,
)
from mirage_mlir.targets.tensor_map import widest_swizzle


@dataclass(frozen=True)
class WgmmaSplit:
    """
    How warpgroups share a matmul.

    Args:
        groups: along rows, columns and depth of the tile.
        swapped: whether the tile's columns are the rows of the instruction.
    """

    groups: Groups
    swapped: bool


def choose_wgmma(op: threadblock.MatmulOp, warps: int, summed: bool) -> WgmmaSplit | None:
    """
    How warpgroups compute a matmul of tiles in shared memory, None where they do not.

    They take rows in units of 64. Where the rows do not fill these and the columns do, `wgmma`
    computes the transposed matmul: then rows come in units of 8.
    """
    rows, columns, depth = matmul_sizes(op)
    if warps % GROUP_WARPS or depth % WGMMA_DEPTH or not has_half_operands(op):
        return None
    sides = [lines_of(op, index) for index in (0, 1)]
    swapped = rows % WGMMA_ROWS != 0
    if swapped:
        sides.reverse()
        rows, columns = columns, round_up(rows, COLUMN_STEP)
    first, second = sides
    if first is None or second is None or rows % WGMMA_ROWS or columns % COLUMN_STEP:
        return None
    split = split_groups((rows, columns, depth), (first, second), warps // GROUP_WARPS, summed)
    if not split.fits:
        return None
    down, across, deep = int(split.down), int(split.across), int(split.deep)
    return WgmmaSplit((across, down, deep) if swapped else (down, across, deep), swapped)


def lines_of(op: threadblock.MatmulOp, index: int) -> Lines | None:
    """How `wgmma` would read operand `index` (0: left) of a matmul, None where it cannot."""
    buffer = buffer_of(op.operands[index])
    if isinstance(buffer, Reduction):
        return None  # These are kept in f32.
    rows, columns = as_matrix(threadblock.shape_of(buffer.results[0]))
    columns_first = has_rows_along(buffer)
    swizzle = widest_swizzle(rows if columns_first else columns, ITEM_BYTES)
    return Lines(swizzle // ITEM_BYTES, columns_first != (index == 0)) if swizzle else None


def wgmma_tile(op: Operation) -> SharedLayout | None:
    """
    The swizzled layout of the tile that `op` makes in shared memory, None where there is none.

    Neighbours stay along the side along which they lie already.
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
    step = MMA_DEPTH if ZERO_PADDING in op.attributes else SWIZZLED_LINES
    rows, columns = (
        (rows, round_up(columns, step)) if columns_first else (round_up(rows, step), columns)
    )
    return swizzled_tile(rows, columns, ITEM_BYTES, swizzle, columns_first=columns_first)


def read_by_wgmma(value: SSAValue) -> bool:
    """Whether warpgroups multiply a tile, or what is a view of it."""
    users = [use.operation for use in value.uses]
    return any(
        uses_wgmma(user)
        or (isinstance(user, threadblock.TransposeOp) and read_by_wgmma(user.result))
        for user in users
    )


def read_by_threads(value: SSAValue) -> bool:
    """Whether threads read a tile, or what is a view of it: all but warpgroup matmuls do."""
    users = [use.operation for use in value.uses]
    return any(
        read_by_threads(user.result)
        if isinstance(user, threadblock.TransposeOp)
        else not uses_wgmma(user)
        for user in users
    )


def written_for_wgmma(graph: kernel.GraphDefinedOp) -> bool:
    """
    Whether threads write what warpgroups multiply.

    These read shared memory by another path than threads write it, so the writers fence.
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
    """Lay out what warpgroups multiply as they read it; how loads are copied stays as it is."""
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
