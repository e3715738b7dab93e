"""Emits asynchronous warpgroup matmuls (`wgmma`), and waits where their sums are needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import llvm
from xdsl.dialects.builtin import bf16, f16, f32, i32, i64
from xdsl.ir import SSAValue

from mirage_mlir.decisions.registers import GROUP_WARPS
from mirage_mlir.decisions.sharing import start_at_lines
from mirage_mlir.decisions.wgmma import (
    ADDRESS_MASK,
    ADDRESS_UNIT,
    COLUMN_STEP,
    ITEM_BYTES,
    MAX_COLUMNS,
    WGMMA_DEPTH,
    WGMMA_ROWS,
    OperandTile,
    operand_tile,
)
from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import threadblock
from mirage_mlir.dialects.layout import RegistersAttr, layout_of
from mirage_mlir.dialects.nvvm_wgmma import (
    ElementName,
    RegistersForm,
    WgmmaCommitOp,
    WgmmaFenceOp,
    WgmmaMmaAsyncOp,
    WgmmaWaitOp,
    accumulators,
    pinned,
)
from mirage_mlir.layouts.layout import ceil_div
from mirage_mlir.passes.analysis.buffers import (
    buffer_bytes,
    buffer_of,
    is_staged,
    shared_layout,
)
from mirage_mlir.passes.analysis.tile_attributes import matmul_sizes
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.emitter import Emitter, Index
from mirage_mlir.passes.codegen.fragments import packed_fragments

STEPS_TOGETHER = 2
"""Steps between two fences of a matmul that is interleaved with code for its left operand."""

SLOTS_PER_STEP = 4
"""Accumulators that a thread has of 64 rows and 8 columns."""

HALF_BITS = 32
"""Of a matrix descriptor."""

LOWER_HALF = (1 << HALF_BITS) - 1
"""The bits of a matrix descriptor that the address and the distance along rows are in."""

WORDS_PER_STEP = 4
"""Registers that a thread has of a left operand of 64 rows and depth 16."""


@dataclass(frozen=True)
class Operand:
    """
    A warpgroup's part of one operand of a matmul in shared memory.

    Args:
        low: the lower half of the matrix descriptor of the start of the part, where its address is.
        tile: how the instruction reads it.
    """

    low: Index
    tile: OperandTile

    def at(self, emit: Emitter, outer: int, depth: int) -> SSAValue:
        """
        The descriptor of the matrix `outer` rows or columns and `depth` elements further on.

        Its upper half is known: additions carry nothing into it. It is put together last: where
        LLVM added 64 bits from iteration to iteration, code by ptxas 13.0 read other memory (that
        of 13.5 did not): attention and LoRA were wrong on an H200.
        """
        distance = self.tile.start(outer, depth) * ITEM_BYTES // ADDRESS_UNIT
        low, high = emit.add(self.low, distance), self.tile.constant >> HALF_BITS
        signed = high - (1 << HALF_BITS) if high >> HALF_BITS - 1 else high
        halves = emit.together([emit.i32(low), emit.i32(signed)])
        return emit.result(llvm.BitcastOp(halves, i64))


@dataclass(frozen=True)
class GroupTile:
    """
    The part of a matmul that one warpgroup computes.

    Args:
        outer: its first row and its first column, in elements of the instruction.
        depth: its start along the depth.
        row_tiles: its rows, in units of 64.
        columns: its columns.
        steps: its depth, in units of 16.
    """

    outer: tuple[Index, Index]
    depth: Index
    row_tiles: int
    columns: int
    steps: int

    @property
    def sizes(self) -> tuple[int, int]:
        """Its rows and its columns, in elements of the instruction."""
        return self.row_tiles * WGMMA_ROWS, self.columns


@dataclass(frozen=True)
class StartedMatmul:
    """
    A matmul that has been started.

    Args:
        sums: a struct of accumulators for each instruction, in the order of the slots.
        widths: the columns of each instruction.
    """

    sums: list[SSAValue]
    widths: list[int]


def warpgroup(ctx: KernelContext) -> Index:
    """The number of this thread's warpgroup."""
    return ctx.emit.div(ctx.warp, GROUP_WARPS)


def group_tile(ctx: KernelContext, op: threadblock.MatmulOp) -> GroupTile:
    """The warpgroup's part; warpgroups are numbered along columns, then depth, then rows."""
    emit = ctx.emit
    rows, columns, depth = matmul_sizes(op)
    down, across, deep = op.warp_counts
    swapped = op.swapped is not None
    heights = (COLUMN_STEP, WGMMA_ROWS) if swapped else (WGMMA_ROWS, COLUMN_STEP)
    tall = ceil_div(ceil_div(rows, heights[0]), down) * heights[0]
    wide = ceil_div(ceil_div(columns, heights[1]), across) * heights[1]
    steps = depth // WGMMA_DEPTH // deep
    group = warpgroup(ctx)
    above = emit.div(group, across)
    row = emit.mul(emit.div(above, deep), tall) if down > 1 else 0
    column = emit.mul(emit.rem(group, across), wide) if across > 1 else 0
    inner = emit.mul(emit.rem(above, deep) if down > 1 else above, steps * WGMMA_DEPTH)
    depth_start: Index = inner if deep > 1 else 0
    if swapped:
        return GroupTile((column, row), depth_start, wide // WGMMA_ROWS, tall, steps)
    return GroupTile((row, column), depth_start, tall // WGMMA_ROWS, wide, steps)


def operand(
    ctx: KernelContext, op: threadblock.MatmulOp, index: int, part: GroupTile, side: int
) -> Operand:
    """The warpgroup's part of operand `index` (0: left), which is `side` of the instruction."""
    value, outer, depth = op.operands[index], part.outer[side], part.depth
    tile = operand_tile(shared_layout(value), depth_along_columns=index == 0)
    assert tile is not None, "assign-layouts swizzles what warpgroups multiply"
    length = part.steps * WGMMA_DEPTH if tile.along_depth else part.sizes[side]
    apart = not isinstance(depth if tile.along_depth else outer, int)
    if apart and not start_at_lines(length, tile.pitch):
        lines = f"lines of {tile.pitch} elements"
        fail(op, f"has warpgroups with {length} elements each of operand {index}, in {lines}")
    if not is_staged(buffer_of(value)):
        return operand_from(ctx.emit, ctx.shared_pointer(value), tile, outer, depth)
    # The address in the first buffer is the same in all iterations.
    first = operand_from(ctx.emit, ctx.shared_pointer(value, 0), tile, outer, depth)
    units = buffer_bytes(buffer_of(value)) // ADDRESS_UNIT
    return replace(first, low=ctx.emit.add(first.low, ctx.emit.mul(ctx.stage.slot, units)))


def operand_from(
    emit: Emitter, pointer: SSAValue, tile: OperandTile, outer: Index, depth: Index
) -> Operand:
    """A tile that starts at `pointer`, from (outer, depth) on."""
    line, along = (outer, depth) if tile.along_depth else (depth, outer)
    start = emit.mul(emit.div(along, tile.pitch), tile.panel)
    start = emit.add(start, emit.add(emit.mul(line, tile.pitch), emit.rem(along, tile.pitch)))
    address: Index = emit.result(llvm.PtrToIntOp(pointer, i32))
    address = emit.add(address, emit.mul(start, ITEM_BYTES))
    units = emit.bits(emit.shift_right(address, ADDRESS_UNIT.bit_length() - 1), ADDRESS_MASK)
    return Operand(emit.add(units, tile.constant & LOWER_HALF), tile)


@dataclass
class Sides:
    """
    The operands of a matmul, as one warpgroup takes them.

    Args:
        left: of the instruction's rows; None where it is in registers.
        fragments: of a left operand in registers, by step and 64 rows.
        right: of the instruction's columns.
    """

    left: Operand | None
    fragments: dict[int, list[list[SSAValue]]]
    right: Operand


def sides_of(ctx: KernelContext, op: threadblock.MatmulOp, part: GroupTile) -> Sides:
    """The operands of the warpgroup's part of `op`; fragments in registers are added later."""
    first, second = (1, 0) if op.swapped is not None else (0, 1)
    right = operand(ctx, op, second, part, 1)
    if isinstance(layout_of(op.operands[first]), RegistersAttr):
        return Sides(None, {}, right)
    return Sides(operand(ctx, op, first, part, 0), {}, right)


def registers_of_step(
    ctx: KernelContext, op: threadblock.MatmulOp, part: GroupTile, step: int
) -> list[list[SSAValue]]:
    """The left operand's registers in one step, as i32, for each 64 rows."""
    return [
        [
            each if each.type == i32 else ctx.emit.result(llvm.BitcastOp(each, i32))
            for each in fragment
        ]
        for fragment in packed_fragments(ctx, op, part.row_tiles, step)
    ]


def left_words(ctx: KernelContext, op: threadblock.MatmulOp) -> list[SSAValue]:
    """The registers of all steps of the left operand of `op`, as i32."""
    part = group_tile(ctx, op)
    steps = [registers_of_step(ctx, op, part, step) for step in range(part.steps)]
    return [word for fragments in steps for fragment in fragments for word in fragment]


def start(
    ctx: KernelContext,
    op: threadblock.MatmulOp,
    added: list[SSAValue] | None,
    compute: Callable[[int, int], None] | None = None,
    columns: int | None = None,
    words: Sequence[SSAValue] = (),
) -> StartedMatmul:
    """
    Start the matmul `op`; it is added to the slots `added` where given.

    Given the number of row tiles and a step, `compute` computes the left fragments of the step,
    while MMAs of earlier steps run. If `op` is the first matmul of a batch, `columns` is that of
    the instruction. `words` are the registers of the left operand, if an earlier iteration has
    computed it (`left_words`).
    """
    emit = ctx.emit
    emit.location = op.location
    part = group_tile(ctx, op)
    if columns is not None:
        part = replace(part, columns=columns)
    sides = sides_of(ctx, op, part)
    firsts = range(0, part.columns, MAX_COLUMNS)
    places = [(row, first) for row in range(part.row_tiles) for first in firsts]
    widths = [min(MAX_COLUMNS, part.columns - first) for _, first in places]
    sums = initial_sums(emit, widths, added)
    together = part.steps if compute is None else STEPS_TOGETHER
    for step in range(part.steps):
        if step % together == 0:
            for each in range(step, min(part.steps, step + together)):
                if compute is not None:
                    compute(part.row_tiles, each)
                if words:
                    sides.fragments[each] = fragments_of(words, part, each)
                elif sides.left is None:
                    sides.fragments[each] = registers_of_step(ctx, op, part, each)
            emit.insert(WgmmaFenceOp())
        adds = added is not None or step > 0
        for number, place in enumerate(places):
            form = RegistersForm(widths[number], element_name(op), False, adds)
            sums[number] = multiply(emit, sides, (*place, step), sums[number], form)
    emit.insert(WgmmaCommitOp())
    return StartedMatmul(sums, widths)


def multiply(
    emit: Emitter,
    sides: Sides,
    place: tuple[int, int, int],
    sums: SSAValue,
    form: RegistersForm,
) -> SSAValue:
    """Emit one instruction (64 rows, depth 16) at `place`; returns its accumulators."""
    row, column, step = place
    right = sides.right.at(emit, column, step * WGMMA_DEPTH)
    across = not sides.right.tile.along_depth
    if sides.left is None:
        form = replace(form, transposed=across)
        fields = fields_of(emit, sums, form.columns)
        return emit.result(form.make(fields, sides.fragments[step][row], right))
    left = sides.left.at(emit, row * WGMMA_ROWS, step * WGMMA_DEPTH)
    layouts = ("row" if sides.left.tile.along_depth else "col", "row" if across else "col")
    return emit.result(
        WgmmaMmaAsyncOp(sums, left, right, form.columns, form.element, layouts, adds=form.adds)
    )


def fragments_of(words: Sequence[SSAValue], part: GroupTile, step: int) -> list[list[SSAValue]]:
    """The left operand's registers in one step, of those of all steps, for each 64 rows."""
    first = step * part.row_tiles * WORDS_PER_STEP
    starts = range(first, first + part.row_tiles * WORDS_PER_STEP, WORDS_PER_STEP)
    return [[*words[start : start + WORDS_PER_STEP]] for start in starts]


def element_name(op: threadblock.MatmulOp) -> ElementName:
    """The element type of the operands."""
    element = threadblock.tile_type(op.lhs).element_type
    assert element in (f16, bf16), "assign-layouts gives `wgmma` 16-bit operands"
    return "f16" if element == f16 else "bf16"


def initial_sums(
    emit: Emitter, widths: Sequence[int], added: list[SSAValue] | None
) -> list[SSAValue]:
    """The initial accumulators of the instructions: copies of `added`, or zero."""
    if added is None:
        return [
            emit.result(llvm.ZeroOp.create(result_types=[accumulators(width)])) for width in widths
        ]
    sums: list[SSAValue] = []
    for width in widths:
        count = slots_in(width)
        sums.append(emit.result(pinned(added[:count])))
        added = added[count:]
    assert not added
    return sums


def slots_in(columns: int) -> int:
    """Accumulators that a thread has of 64 rows and `columns` columns."""
    return columns // COLUMN_STEP * SLOTS_PER_STEP


def fields_of(emit: Emitter, sums: SSAValue, columns: int) -> list[SSAValue]:
    """The accumulators in one struct."""
    return [emit.field(sums, number, f32) for number in range(slots_in(columns))]


def sums_of(emit: Emitter, matmul: StartedMatmul) -> list[SSAValue]:
    """The slots of a matmul in flight; only matmuls that add to them may use them."""
    slots: list[SSAValue] = []
    for sums, width in zip(matmul.sums, matmul.widths, strict=True):
        slots += fields_of(emit, sums, width)
    return slots


def finish(emit: Emitter, matmul: StartedMatmul) -> list[SSAValue]:
    """Wait for all matmuls; returns the slots of `matmul`."""
    return finished_sums(emit, sums_of(emit, matmul))


def finished_sums(emit: Emitter, slots: Sequence[SSAValue], pending: int = 0) -> list[SSAValue]:
    """
    Wait for all matmuls but those `pending` that were started last; returns `slots` of another one,
    which may be used from now on.
    """
    emit.insert(WgmmaWaitOp(pending))
    done = emit.result(pinned(slots))
    return [emit.field(done, number, f32) for number in range(len(slots))]
