"""Loads by `cp.async` of all threads, and the tile that each iteration reads."""

from collections.abc import Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import nvvm, nvvm_hopper, thread, threadblock
from mirage_mlir.dialects.layout import GlobalAttr, layout_of, shared_buffer
from mirage_mlir.dialects.pipeline import IssueCopiesOp
from mirage_mlir.layouts.layout import ceil_div
from mirage_mlir.passes.analysis.buffers import (
    buffer_bytes,
    is_staged,
    loads_of_tiles,
)
from mirage_mlir.passes.analysis.tile_attributes import Reduction, reduced_sides
from mirage_mlir.passes.codegen.access import fetch
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.copies import copy_to_shared
from mirage_mlir.passes.codegen.emitter import Index
from mirage_mlir.passes.codegen.realigned_copies import RealignedCopy
from mirage_mlir.passes.codegen.reduction import layout_read_by
from mirage_mlir.passes.codegen.window_copies import copy_window
from mirage_mlir.passes.schedule.streams import stream_of

MAX_READ_AHEAD = 48
"""Limit of elements that a thread loads into registers ahead of use."""


def iterations_of(ctx: KernelContext, iteration: Index) -> list[Index]:
    """
    The index of each loop in the iteration with the given number; the last loop is fastest.

    A staggered loop begins further along in each block, and wraps around. One with bounds begins
    with the first of its block.
    """
    iteration = ctx.emit.add(ctx.first, iteration)
    sizes, step = ctx.graph.loop_sizes, ctx.graph.schedule.stagger
    if step:
        (size,) = sizes
        block = next((b for b, n in zip(ctx.blocks, ctx.graph.grid_sizes, strict=True) if n > 1), 0)
        first = ctx.emit.rem(ctx.emit.mul(block, step), size)
        return [ctx.emit.rem(ctx.emit.add(first, iteration), size)]
    if len(sizes) < 2:
        return [iteration] * len(sizes)
    return [ctx.emit.div(iteration, sizes[1]), ctx.emit.rem(iteration, sizes[1])]


def copy(
    ctx: KernelContext, loads: Sequence[threadblock.LoadOp], iteration: Index, slot: Index
) -> None:
    """Start the loads of one iteration into one slot."""
    iterations = iterations_of(ctx, iteration)
    for op in loads:
        ctx.emit.location = op.location
        if op.is_window_copy:
            copy_window(ctx, op, iterations, slot)
        elif op.is_realigned_copy:
            RealignedCopy.of(ctx, op, iterations, slot).run()
        else:
            copy_to_shared(ctx, op, iterations, slot)


def copy_ahead(ctx: KernelContext, op: IssueCopiesOp, iteration: Index) -> None:
    """Start the copies of a later iteration, if there is one, as one group."""
    emit, loads = ctx.emit, loads_of_tiles(op)
    ahead = 0 if op.ahead is None else op.ahead.value.data
    if ahead == 0:
        copy(ctx, loads, iteration, 0)
    else:
        later = emit.add(iteration, ahead)
        with emit.when(emit.less(later, ctx.count)):
            copy(ctx, loads, later, ctx.stage.moved(emit, ahead).slot)
    emit.insert(nvvm.CpAsyncCommitGroupOp())


def clear_padding(ctx: KernelContext) -> None:
    """Zero the buffers with padding that MMAs read."""
    for op in ctx.graph.body.block.ops:
        if shared_buffer(op).zero_padding:
            clear(ctx, op)


def clear(ctx: KernelContext, op: Operation) -> None:
    """Zero all buffers of one tile, a word for each thread and iteration."""
    emit = ctx.emit
    count = ctx.stages if is_staged(op) else 1
    words = count * buffer_bytes(op) // 4

    def iteration(number: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
        word = emit.add(emit.mul(number, ctx.threads), ctx.thread)
        with emit.when(emit.less(word, words)):
            pointer = ctx.shared_pointer(op.results[0], 0)
            emit.store(emit.pointer(pointer, word, i32), [emit.i32(0)])
        return []

    emit.loop(ceil_div(words, ctx.threads), [], iteration)


def prepare_copies(ctx: KernelContext, ops: Sequence[Operation]) -> None:
    """
    Compute the indices of the first iterations once, in front of the branches of all copies.

    A kernel that starts early computes them where it needs them: in front of a prefetch they would
    only hold registers.
    """
    for op in ops:
        if isinstance(op, IssueCopiesOp):
            iterations_of(ctx, iteration_of(op))


def iteration_of(op: IssueCopiesOp) -> int:
    """The iteration whose tiles `op` copies: 0 for loop-invariant tiles."""
    return 0 if op.iteration is None else op.iteration.value.data


def issue_copies(ctx: KernelContext, op: IssueCopiesOp) -> None:
    """Start copies of the prologue: of one iteration, into its buffers, or of invariant tiles."""
    iteration = iteration_of(op)
    with ctx.emit.when(iteration == 0 or ctx.emit.less(iteration, ctx.count)):
        copy(ctx, loads_of_tiles(op), iteration, iteration)
    if op.uncommitted is None:
        ctx.emit.insert(nvvm.CpAsyncCommitGroupOp())


def await_previous_grid(ctx: KernelContext) -> None:
    """Wait until the previous grid has ended."""
    ctx.emit.insert(nvvm_hopper.GridDependencyOp("wait"))


def launch_dependents(ctx: KernelContext) -> None:
    """Let the kernel behind this one start once all blocks have got here."""
    ctx.emit.insert(nvvm_hopper.GridDependencyOp("launch_dependents"))


def read_ahead(ctx: KernelContext, ops: Sequence[Operation]) -> None:
    """
    Read what stays in device memory at once, before anyone waits for the first of it.

    Only into few registers, and only for what each thread needs in one place; `ops` come before
    the loop.
    """
    left = MAX_READ_AHEAD
    for op in ops:
        if stream_of(op) is not None:
            continue
        if isinstance(op, thread.GraphOp):
            shape = threadblock.shape_of(op.results[0])
        elif isinstance(op, threadblock.AccumulateOp):
            shape = threadblock.shape_of(op.value)
        elif isinstance(op, Reduction) and reduced_sides(op) is not None:
            shape = threadblock.shape_of(op.input)
        else:
            continue
        for value in op.operands:
            if not isinstance(layout_of(value), GlobalAttr):
                continue
            of_graph = isinstance(op, thread.GraphOp)
            layout = layout_read_by(ctx, op.results[0] if of_graph else value)
            if (left := left - len(layout.offsets)) < 0:
                return
            ctx.emit.location = op.location
            ctx.fetched[value, layout, shape] = fetch(ctx, value, layout, shape)
