"""Which products warp groups compute, and how their operands lie in shared memory for that."""

from dataclasses import dataclass

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, UnitAttr, i64
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.layout import RegistersAttr, SharedAttr, layout_of, set_layout
from mirage_mlir.graph.layout import (
    MMA_DEPTH,
    SWIZZLED_LINES,
    SharedLayout,
    as_matrix,
    round_up,
    swizzled_tile,
)
from mirage_mlir.graph.schedule import GROUP_WARPS
from mirage_mlir.graph.sharing import Lines, split_groups
from mirage_mlir.graph.tensor_map import widest_swizzle
from mirage_mlir.graph.wgmma import (
    COLUMN_STEP,
    ITEM_BYTES,
    UNIT_DEPTH,
    UNIT_ROWS,
    Groups,
    wgmma_result,
)
from mirage_mlir.passes.lowering.context import buffer_of, is_tensor_copy
from mirage_mlir.passes.lowering.tiles import (
    PRODUCERS,
    SWAPPED,
    UNIT,
    WARPS,
    WGMMA,
    ZERO_PADDING,
    has_half_operands,
    matmul_sizes,
)


@dataclass(frozen=True)
class Unit:
    """
    How warp groups share a product.

    Args:
        groups: along rows, columns and depth of the tile.
        swapped: whether the tile's columns are the unit's rows.
    """

    groups: Groups
    swapped: bool


def multiplied_by_groups(op: Operation) -> bool:
    """Whether `op` is a product of warp groups."""
    return UNIT in op.attributes


def choose_unit(op: threadblock.MatmulOp, warps: int, summed: bool) -> Unit | None:
    """
    How warp groups compute a product of tiles in shared memory, None where they do not.

    They take rows in units of 64. Where the rows do not fill these and the columns do, the unit
    computes the transposed product: then rows come in units of 8.
    """
    rows, columns, depth = matmul_sizes(op)
    if warps % GROUP_WARPS or depth % UNIT_DEPTH or not has_half_operands(op):
        return None
    sides = [lines_of(op, index) for index in (0, 1)]
    swapped = rows % UNIT_ROWS != 0
    if swapped:
        sides.reverse()
        rows, columns = columns, round_up(rows, COLUMN_STEP)
    first, second = sides
    if first is None or second is None or rows % UNIT_ROWS or columns % COLUMN_STEP:
        return None
    split = split_groups((rows, columns, depth), (first, second), warps // GROUP_WARPS, summed)
    if not split.fits:
        return None
    down, across, deep = int(split.down), int(split.across), int(split.deep)
    return Unit((across, down, deep) if swapped else (down, across, deep), swapped)


def lines_of(op: threadblock.MatmulOp, index: int) -> Lines | None:
    """How a unit would read operand `index` (0: left) of a product, None where it cannot."""
    layout = tile_for_units(op.operands[index])
    if layout is None:
        return None
    return Lines(layout.swizzle // ITEM_BYTES, (layout.column == 1) == (index == 0))


def tile_for_units(value: SSAValue) -> SharedLayout | None:
    """
    The swizzled layout of a tile in shared memory, None where there is none.

    Neighbours stay along the side along which they lie already.
    """
    op = buffer_of(value)
    attribute = layout_of(op.results[0])
    if not isinstance(attribute, SharedAttr) or not attribute.layout.whole:
        return None
    if isinstance(op, threadblock.ReduceSumOp | threadblock.ReduceMaxOp):
        return None  # These are kept in f32.
    rows, columns = as_matrix(threadblock.shape_of(op.results[0]))
    columns_first = attribute.layout.column != 1
    run = rows if columns_first else columns
    swizzle = widest_swizzle(run, ITEM_BYTES)
    if not swizzle:
        return None
    # The unit reads whole atoms, and other units the whole of a padded fragment.
    step = MMA_DEPTH if ZERO_PADDING in op.attributes else SWIZZLED_LINES
    rows, columns = (
        (rows, round_up(columns, step)) if columns_first else (round_up(rows, step), columns)
    )
    return swizzled_tile(rows, columns, ITEM_BYTES, swizzle, columns_first=columns_first)


def assign_unit(op: threadblock.MatmulOp, unit: Unit) -> None:
    """Let warp groups compute `op`."""
    rows, columns, _ = matmul_sizes(op)
    op.attributes[UNIT] = StringAttr(WGMMA)
    op.attributes[WARPS] = DenseArrayBase.from_list(i64, list(unit.groups))
    if unit.swapped:
        op.attributes[SWAPPED] = UnitAttr()
    layout = wgmma_result(rows, columns, unit.groups, swapped=unit.swapped)
    set_layout(op, RegistersAttr.of(layout))


def read_by_groups(value: SSAValue) -> bool:
    """Whether warp groups multiply a tile, or what is a view of it."""
    users = [use.operation for use in value.uses]
    return any(
        multiplied_by_groups(user)
        or (isinstance(user, threadblock.TransposeOp) and read_by_groups(user.result))
        for user in users
    )


def read_by_threads(value: SSAValue) -> bool:
    """Whether threads read a tile, or what is a view of it: all but products of warp groups do."""
    users = [use.operation for use in value.uses]
    return any(
        read_by_threads(user.result)
        if isinstance(user, threadblock.TransposeOp)
        else not multiplied_by_groups(user)
        for user in users
    )


def written_for_groups(graph: kernel.GraphDefinedOp) -> bool:
    """
    Whether threads write what warp groups multiply.

    These read shared memory by another path than threads write it, so the writers fence.
    """
    produced = PRODUCERS in graph.attributes
    return any(
        isinstance(layout_of(op.results[0]), SharedAttr)
        and read_by_groups(op.results[0])
        and not (produced and is_tensor_copy(op))
        for op in graph.body.block.ops
        if op.results and not isinstance(op, threadblock.TransposeOp)
    )


def swizzle_operands(graph: kernel.GraphDefinedOp) -> None:
    """Lay out what warp groups multiply as they read it; how loads are copied stays as it is."""
    for op in graph.body.block.ops:
        if isinstance(op, threadblock.TransposeOp) or not op.results:
            continue
        if isinstance(layout_of(op.results[0]), SharedAttr) and read_by_groups(op.results[0]):
            swizzle(op)


def swizzle(op: Operation) -> None:
    """Give the tile of `op` the layout in which units read it."""
    layout = tile_for_units(op.results[0])
    assert layout is not None, "choose_unit asks for it"
    set_layout(op, SharedAttr.of(layout))
