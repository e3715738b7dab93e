"""
Split-K without clusters: partial sums in device memory, added up by the last block.

Each block stores its partial sum and increments a counter; the last block to do so continues alone
with the total. It adds partial sums in the order of the blocks, so results are deterministic.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import f32, i32
from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel, nvvm, threadblock
from mirage_mlir.dialects.split_k import StorePartialSumOp
from mirage_mlir.layouts.layout import RegisterLayout
from mirage_mlir.passes.analysis.row_maxima import state_layout
from mirage_mlir.passes.analysis.tile_attributes import (
    largest_sum,
    registers_of,
    summed_axes,
)
from mirage_mlir.passes.codegen.access import combine
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.emitter import Condition, Index
from mirage_mlir.passes.codegen.online_softmax import (
    LOWEST,
    OnlineMaximum,
    exp_of_difference,
    lowest,
    scaled,
)
from mirage_mlir.passes.codegen.reduction import NEUTRAL, block_partial_sum, row_maxima_in

WORD = 4
"""Bytes of an f32, and of a counter."""

PIECE = 4
"""Numbers of one access of a thread: 16 bytes."""

AT_ONCE = 32
"""Loads of partial sums that a thread of the last block has in flight."""


@dataclass(frozen=True)
class PartialSum:
    """
    The partial sum that each thread stores for one sum across blocks.

    Args:
        op: the sum.
        layout: the layout of its registers.
        state: the layout of its row maxima; None for sums that are not rescaled.
    """

    op: threadblock.AccumulateOp
    layout: RegisterLayout
    state: RegisterLayout | None

    @property
    def slots(self) -> int:
        """Numbers that one thread stores."""
        return len(self.layout.offsets) + (len(self.state.offsets) if self.state else 0)


def partial_sums_of(graph: kernel.GraphDefinedOp) -> list[PartialSum]:
    """The sums of `graph` that go through device memory, by number."""
    found: list[PartialSum] = []
    for op in graph.body.block.ops:
        if isinstance(op, threadblock.AccumulateOp) and op.partial_sum is not None:
            layout, state = registers_of(op.result), None
            if op.rescale is not None:
                state = state_layout(op.rescale, op.value, layout)
            found.append(PartialSum(op, layout, state))
    return sorted(found, key=lambda part: _number(part.op))


def _number(op: threadblock.AccumulateOp | StorePartialSumOp) -> int:
    attribute = op.number if isinstance(op, StorePartialSumOp) else op.partial_sum
    assert attribute is not None
    return attribute.value.data


def tiles_of(graph: kernel.GraphDefinedOp) -> int:
    """The number of groups of blocks that share a sum, each of which has a counter."""
    return prod(graph.grid_sizes) // largest_sum(graph)


def partial_sum_bytes(graph: kernel.GraphDefinedOp) -> int:
    """Bytes of the workspace for the partial sums of all blocks."""
    words = sum(part.slots for part in partial_sums_of(graph)) * graph.schedule.threads
    return words * WORD * prod(graph.grid_sizes)


def place_of(ctx: KernelContext) -> tuple[Index, Index]:
    """The index of the block's group, and the block's rank in it."""
    axes = summed_axes(ctx.graph)
    tile: Index = 0
    rank: Index = 0
    for axis, (block, size) in enumerate(zip(ctx.blocks, ctx.graph.grid_sizes, strict=True)):
        if axis in axes:
            rank = ctx.emit.add(ctx.emit.mul(rank, size), block)
        else:
            tile = ctx.emit.add(ctx.emit.mul(tile, size), block)
    return tile, rank


def partial_sum_pointer(ctx: KernelContext, number: int, rank: Index) -> SSAValue:
    """The address of the partial sum `number` of block `rank` of the group."""
    emit, parts = ctx.emit, partial_sums_of(ctx.graph)
    words = [part.slots * ctx.threads for part in parts]
    tile, _ = place_of(ctx)
    block = emit.add(emit.mul(tile, largest_sum(ctx.graph)), rank)
    offset = emit.add(emit.mul(block, sum(words)), sum(words[:number]))
    assert ctx.partial_sums is not None
    return emit.pointer(ctx.partial_sums, offset, f32)


def pieces(ctx: KernelContext, slots: int) -> list[tuple[Index, int]]:
    """Offset and width of each access of a thread; neighbouring threads access neighbours."""
    emit, found = ctx.emit, list[tuple[Index, int]]()
    done = 0
    while done < slots:
        width = PIECE if slots - done >= PIECE else 1
        found.append((emit.add(emit.mul(ctx.thread, width), done * ctx.threads), width))
        done += width
    return found


def store_partial_sum(ctx: KernelContext, op: StorePartialSumOp) -> None:
    """Store this thread's slots of a partial sum, and the row maxima of a rescaled one."""
    part = partial_sums_of(ctx.graph)[_number(op)]
    slots = block_partial_sum(ctx, part.op)
    if part.state is not None:
        assert part.op.rescale is not None
        maxima = row_maxima_in(ctx, part.op.rescale, part.op.value, part.state)
        slots = [*slots, *_bounded(ctx, maxima)]
    _, rank = place_of(ctx)
    pointer = partial_sum_pointer(ctx, _number(op), rank)
    for place, width in pieces(ctx, len(slots)):
        ctx.emit.store(ctx.emit.pointer(pointer, place, f32), slots[:width])
        slots = slots[width:]


def _bounded(ctx: KernelContext, maxima: list[SSAValue]) -> list[SSAValue]:
    """Maxima with LOWEST for -inf, so that their difference is a number."""
    return [combine(ctx, each, ctx.emit.f32(LOWEST), "max") for each in maxima]


def arrive(ctx: KernelContext, barrier: Callable[[KernelContext], None]) -> Condition:
    """Increment the group's counter; returns whether this block is the last of its group."""
    emit = ctx.emit
    assert ctx.counters is not None
    told = emit.pointer(ctx.shared, ctx.graph.memory.arrival_offset // WORD, i32)
    last = largest_sum(ctx.graph) - 1
    emit.insert(nvvm.MemoryBarrierOp())
    barrier(ctx)
    with emit.when(emit.equal(ctx.thread, 0)):
        counter = emit.pointer(ctx.counters, place_of(ctx)[0], i32)
        emit.store(told, [emit.result(nvvm.AtomicCountOp(counter, emit.i32(last)))])
    barrier(ctx)
    (before,) = emit.load(told, i32, 1)
    return emit.equal(before, last)


def total_of_partial_sums(ctx: KernelContext, op: threadblock.AccumulateOp) -> list[SSAValue]:
    """The sum of the partial sums of all blocks of the group."""
    number, blocks = _number(op), largest_sum(ctx.graph)
    part = partial_sums_of(ctx.graph)[number]
    emit, count = ctx.emit, len(part.layout.offsets)
    together = max(1, min(blocks, AT_ONCE // part.slots))
    first = [emit.f32(NEUTRAL[op.kind.data])] * count
    carried = [*first, *(lowest(emit, part.state) if part.state else [])]

    def add(start: Index, members: int, values: list[SSAValue]) -> list[SSAValue]:
        read = [
            _read_partial_sum(ctx, number, emit.add(start, k), part.slots) for k in range(members)
        ]
        return _added(ctx, part, values, read)

    def iteration(step: SSAValue, values: list[SSAValue]) -> list[SSAValue]:
        return add(emit.mul(step, together), together, values)

    iterations = blocks // together
    if iterations == 1:
        carried = add(0, together, carried)
    else:
        carried = emit.loop(iterations, carried, iteration)
    if blocks % together:
        carried = add(iterations * together, blocks % together, carried)
    return carried[:count]


def _read_partial_sum(ctx: KernelContext, number: int, rank: Index, slots: int) -> list[SSAValue]:
    pointer = partial_sum_pointer(ctx, number, rank)
    read: list[SSAValue] = []
    for place, width in pieces(ctx, slots):
        read += ctx.emit.load(ctx.emit.pointer(pointer, place, f32), f32, width)
    return read


def _added(
    ctx: KernelContext, part: PartialSum, carried: list[SSAValue], read: list[list[SSAValue]]
) -> list[SSAValue]:
    """The `carried` sums and row maxima, with the partial sums of more blocks added."""
    emit, count = ctx.emit, len(part.layout.offsets)
    sums, tops = carried[:count], carried[count:]
    if part.state is not None:
        before = tops
        for each in read:
            tops = [combine(ctx, a, b, "max") for a, b in zip(tops, each[count:], strict=True)]
        state = OnlineMaximum(part.state, tops)

        def weighed(values: list[SSAValue], maxima: list[SSAValue]) -> list[SSAValue]:
            pairs = zip(maxima, tops, strict=True)
            factors = [exp_of_difference(emit, own, top) for own, top in pairs]
            return scaled(emit, values, state.at(factors, part.layout))

        sums = weighed(sums, before)
        read = [weighed(each[:count], each[count:]) for each in read]
    for each in read:
        kind = part.op.kind.data
        sums = [combine(ctx, a, b, kind) for a, b in zip(sums, each[:count], strict=True)]
    return [*sums, *tops]
