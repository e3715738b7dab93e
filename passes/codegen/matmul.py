"""Matmul of tiles in shared memory or registers on the tensor cores."""

from dataclasses import dataclass
from math import prod

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import VectorType, bf16, f16, f32, i32
from xdsl.ir import SSAValue

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import nvvm, threadblock
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.dialects.layout import RegistersAttr, layout_of
from mirage_mlir.layouts.layout import (
    MMA_COLUMNS,
    MMA_DEPTH,
    MMA_ROWS,
    as_matrix,
    ceil_div,
    round_up,
)
from mirage_mlir.passes.analysis.buffers import shared_layout
from mirage_mlir.passes.analysis.tile_attributes import uses_wgmma
from mirage_mlir.passes.codegen.addresses import shared_offset
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.emitter import Index
from mirage_mlir.passes.codegen.fragments import packed_fragments
from mirage_mlir.passes.codegen.tf32 import multiply_fragments, split_loads
from mirage_mlir.passes.codegen.wgmma import finish, start

UNROLLED_STEPS = 8
"""Steps along the depth that are unrolled; more become a loop, to bound the code size."""


TF32_DEPTH = 8
"""The depth of `mma.sync.m16n8k8`; a step of depth 16 has two of them."""


@dataclass(frozen=True)
class WarpTile:
    """
    What one warp computes of a matmul.

    Args:
        row, column, depth: where the warp starts.
        row_tiles, column_tiles, steps: fragments along each of them.
        covered: rows and columns that all warps together read, past the tile's edge too.
    """

    row: Index
    column: Index
    depth: Index
    row_tiles: int
    column_tiles: int
    steps: int
    covered: tuple[int, int]


def warp_tile(ctx: KernelContext, op: threadblock.MatmulOp) -> WarpTile:
    """The warp's part: column warps count first, then warps along the depth, then row warps."""
    emit = ctx.emit
    rows, depth = as_matrix(threadblock.shape_of(op.lhs))
    columns = threadblock.shape_of(op.rhs)[-1]
    down, across, deep = op.warp_counts
    row_tiles = ceil_div(ceil_div(rows, MMA_ROWS), down)
    column_tiles = ceil_div(ceil_div(columns, MMA_COLUMNS), across)
    steps = ceil_div(ceil_div(depth, MMA_DEPTH), deep)
    above = emit.div(ctx.warp, across)
    return WarpTile(
        emit.mul(emit.div(above, deep), row_tiles * MMA_ROWS) if down > 1 else 0,
        emit.mul(emit.rem(ctx.warp, across), column_tiles * MMA_COLUMNS) if across > 1 else 0,
        emit.mul(emit.rem(above, deep) if down > 1 else above, steps * MMA_DEPTH)
        if deep > 1
        else 0,
        row_tiles,
        column_tiles,
        steps,
        (
            down * row_tiles * MMA_ROWS,
            # Right fragments come in pairs.
            ((across - 1) * column_tiles + round_up(column_tiles, 2)) * MMA_COLUMNS,
        ),
    )


def multiply(
    ctx: KernelContext, op: threadblock.MatmulOp, added: list[SSAValue] | None
) -> list[SSAValue]:
    """The slots of `op`'s result, added to `added` where given."""
    if uses_wgmma(op):
        return finish(ctx.emit, start(ctx, op, added))
    ctx.emit.location = op.location
    attribute = layout_of(op.result)
    assert isinstance(attribute, RegistersAttr)
    slots = added or [ctx.emit.f32(0.0)] * len(attribute.layout.offsets)
    tile = warp_tile(ctx, op)
    computed = 4 * tile.row_tiles * tile.column_tiles
    if len(slots) != computed:
        fail(op, f"has a layout of {len(slots)} slots a thread, and computes {computed}")
    # Registers cannot be indexed by the counter of a loop in the kernel.
    in_registers = op in ctx.resident_lhs or isinstance(layout_of(op.lhs), RegistersAttr)
    if tile.steps <= UNROLLED_STEPS or in_registers:
        for step in range(tile.steps):
            slots = multiply_step(ctx, op, tile, step * MMA_DEPTH, slots)
        return slots

    def iteration(step: SSAValue, carried: list[SSAValue]) -> list[SSAValue]:
        return multiply_step(ctx, op, tile, ctx.emit.mul(step, MMA_DEPTH), carried)

    return ctx.emit.loop(tile.steps, slots, iteration)


def multiply_step(
    ctx: KernelContext,
    op: threadblock.MatmulOp,
    tile: WarpTile,
    at: Index,
    slots: list[SSAValue],
) -> list[SSAValue]:
    """One step (depth 16) of the warp's matmul; slots are in the order of `mma_result`."""
    emit = ctx.emit
    element = threadblock.tile_type(op.lhs).element_type
    if element == f32:
        return multiply_thrice(ctx, op, tile, at, slots)
    kind = "f16" if element == f16 else "bf16"
    assert element in (f16, bf16)
    depth = emit.add(tile.depth, at)
    lefts = left_fragments(ctx, op, tile, at)
    result = list(slots)
    for j in range(0, tile.column_tiles, 2):
        across = emit.add(tile.column, j * MMA_COLUMNS)
        rights = right_fragments(ctx, op, across, depth, tile.covered[1])
        for k, right in enumerate(rights[: tile.column_tiles - j]):
            for i, left in enumerate(lefts):
                first = (i * tile.column_tiles + j + k) * 4
                multiplied = nvvm.MmaSyncOp(
                    left,
                    right,
                    result[first : first + 4],
                    (MMA_ROWS, MMA_COLUMNS, MMA_DEPTH),
                    kind,
                )
                fragment = emit.result(multiplied)
                for slot in range(4):
                    result[first + slot] = emit.field(fragment, slot, f32)
    return result


def multiply_thrice(
    ctx: KernelContext,
    op: threadblock.MatmulOp,
    tile: WarpTile,
    at: Index,
    slots: list[SSAValue],
) -> list[SSAValue]:
    """
    `multiply_step` for f32, in two steps of depth 8: three MMAs each, or one in tf32.

    Tensor cores round sums towards zero, which over thousands of steps would be a bias. So an MMA
    sums only within its step, and f32 additions, which round to nearest, add the steps.
    """
    emit = ctx.emit
    lane_row, lane_column = emit.shift_right(ctx.lane, 2), emit.bits(ctx.lane, 3)
    rows = [
        [
            clamped(ctx, emit.add(tile.row, i * MMA_ROWS + down), lane_row, op.lhs, tile, 0)
            for down in (0, 8)
        ]
        for i in range(tile.row_tiles)
    ]
    result = [emit.f32(0.0)] * len(slots)
    for half in (0, TF32_DEPTH):
        depth = emit.add(emit.add(tile.depth, emit.add(at, half)), lane_column)
        depths = [depth, emit.add(depth, 4)]
        lefts = [
            split_loads(
                ctx,
                op.lhs,
                [(row, each) for each in depths for row in pair],
                rounded=op.in_tf32,
            )
            for pair in rows
        ]
        for j in range(tile.column_tiles):
            start = emit.add(tile.column, j * MMA_COLUMNS)
            column = clamped(ctx, start, lane_row, op.rhs, tile, 1)
            right = split_loads(
                ctx, op.rhs, [(each, column) for each in depths], rounded=op.in_tf32
            )
            for i, left in enumerate(lefts):
                first = (i * tile.column_tiles + j) * 4
                added = result[first : first + 4]
                result[first : first + 4] = multiply_fragments(ctx, left, right, added)
    pairs = zip(slots, result, strict=True)
    return [emit.result(arith.AddfOp(total, step)) for total, step in pairs]


def clamped(
    ctx: KernelContext, start: Index, lane: Index, value: SSAValue, tile: WarpTile, side: int
) -> Index:
    """`start + lane`, or the last row (side 0) or column of `value` where that is past it."""
    count = as_matrix(threadblock.shape_of(value))[side]
    place = ctx.emit.add(start, lane)
    return ctx.emit.least(place, count - 1) if tile.covered[side] > count else place


def left_fragments(
    ctx: KernelContext, op: threadblock.MatmulOp, tile: WarpTile, at: Index
) -> list[list[SSAValue]]:
    """The fragments of the left side in one step, one for each 16 rows."""
    if op in ctx.resident_lhs:
        assert isinstance(at, int)
        return ctx.resident_lhs[op][at // MMA_DEPTH]
    if isinstance(layout_of(op.lhs), RegistersAttr):
        assert isinstance(at, int)
        return packed_fragments(ctx, op, tile.row_tiles, at // MMA_DEPTH)
    depth = ctx.emit.add(tile.depth, at)
    return [
        left_fragment(ctx, op, ctx.emit.add(tile.row, i * MMA_ROWS), depth, tile.covered[0])
        for i in range(tile.row_tiles)
    ]


def hold(ctx: KernelContext, op: threadblock.MatmulOp) -> None:
    """Load all left fragments of a loop-invariant operand into registers."""
    ctx.emit.location = op.location
    tile = warp_tile(ctx, op)
    steps = range(tile.steps)
    ctx.resident_lhs[op] = [left_fragments(ctx, op, tile, step * MMA_DEPTH) for step in steps]


def _matrices(
    ctx: KernelContext, value: SSAValue, row: Index, column: Index, transposed: bool
) -> list[SSAValue]:
    """Load four 8x8 matrices; each lane gives the address of a run of 8 elements."""
    emit, layout = ctx.emit, shared_layout(value)
    element = threadblock.tile_type(value).element_type
    offset = shared_offset(ctx, layout, byte_width(element), row, column)
    pointer = emit.pointer(ctx.shared_pointer(value), offset, element)
    loaded = emit.result(nvvm.LdMatrixOp(pointer, 4, "col" if transposed else "row"))
    registers = [emit.field(loaded, i, i32) for i in range(4)]
    if element == f16:
        pair = VectorType(f16, [2])
        registers = [emit.result(llvm.BitcastOp(register, pair)) for register in registers]
    return registers


def _lane_halves(ctx: KernelContext) -> tuple[Index, Index, Index]:
    """Of the lane: its number in a matrix (0 to 7), and bits 3 and 4, the matrix it serves."""
    emit, lane = ctx.emit, ctx.lane
    third = emit.bits(emit.shift_right(lane, 3), 1)
    return emit.bits(lane, 7), third, emit.shift_right(lane, 4)


def left_fragment(
    ctx: KernelContext, op: threadblock.MatmulOp, row: Index, depth: Index, covered: int
) -> list[SSAValue]:
    """The 16 x 16 fragment of the left operand at (row, depth); warps reach `covered` rows."""
    emit, layout = ctx.emit, shared_layout(op.lhs)
    rows = prod(threadblock.shape_of(op.lhs)[:-1])
    inner, third, fourth = _lane_halves(ctx)
    if layout.column == 1:
        # Lanes 0 to 15 give rows; rows past the tile repeat its last one and are never stored.
        at = emit.add(row, emit.bits(ctx.lane, 15))
        if covered > rows:
            at = emit.least(at, rows - 1)
        return _matrices(ctx, op.lhs, at, emit.add(depth, emit.mul(fourth, 8)), False)
    at = emit.add(row, emit.mul(third, 8))
    if covered > rows:
        at = emit.least(at, round_up(rows, 8) - 8)
    down = emit.add(depth, emit.add(inner, emit.mul(fourth, 8)))
    return _matrices(ctx, op.lhs, at, down, True)


def right_fragments(
    ctx: KernelContext, op: threadblock.MatmulOp, column: Index, depth: Index, covered: int
) -> list[list[SSAValue]]:
    """
    Two 16 x 8 fragments of the right operand, at (depth, column) and 8 columns on.

    Warps reach `covered` columns.
    """
    emit, layout = ctx.emit, shared_layout(op.rhs)
    columns = threadblock.shape_of(op.rhs)[-1]
    inner, third, fourth = _lane_halves(ctx)
    if layout.column == 1:
        down = emit.add(depth, emit.bits(ctx.lane, 15))
        across = emit.add(column, emit.mul(fourth, 8))
        if covered > columns:
            across = emit.least(across, round_up(columns, 8) - 8)
        loaded = _matrices(ctx, op.rhs, down, across, True)
    else:
        across = emit.add(column, emit.add(inner, emit.mul(fourth, 8)))
        if covered > columns:
            across = emit.least(across, columns - 1)
        down = emit.add(depth, emit.mul(third, 8))
        loaded = _matrices(ctx, op.rhs, down, across, False)
    return [loaded[:2], loaded[2:]]
