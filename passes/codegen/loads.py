"""Loads by `cp.async` of all threads, and the tile that each iteration reads."""

from collections.abc import Collection, Sequence
from math import prod

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import nvvm, nvvm_hopper, thread, threadblock
from mirage_mlir.dialects.layout import GlobalAttr, layout_of
from mirage_mlir.layouts.layout import ceil_div
from mirage_mlir.passes.analysis.buffers import (
    buffer_bytes,
    copied_invariant_loads,
    is_invariant_load,
    is_staged,
)
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.passes.analysis.tile_attributes import ZERO_PADDING, Reduction, reduced_sides
from mirage_mlir.passes.codegen.access import fetch
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.copies import copy_to_shared
from mirage_mlir.passes.codegen.emitter import Index
from mirage_mlir.passes.codegen.reduction import layout_read_by
from mirage_mlir.passes.codegen.streams import find_streams

MAX_READ_AHEAD = 48
"""Limit of elements that a thread loads into registers ahead of use."""


def iterations_of(ctx: KernelContext, iteration: Index) -> list[Index]:
    """The index of each loop in the iteration with the given number; the last loop is fastest."""
    sizes = ctx.graph.loop_sizes
    if len(sizes) < 2:
        return [rotated(ctx, iteration)] * len(sizes)
    return [ctx.emit.div(iteration, sizes[1]), ctx.emit.rem(iteration, sizes[1])]


def rotated(ctx: KernelContext, iteration: Index) -> Index:
    """The loop's index in an iteration: blocks start apart where `software-pipeline` says so."""
    rotation = ctx.graph.schedule.rotation
    if not rotation:
        return iteration
    emit, iterations = ctx.emit, prod(ctx.graph.loop_sizes)
    blocks, step = rotation
    group = emit.div(emit.result(nvvm.BlockIdXOp()), blocks)
    start = emit.rem(emit.mul(group, step), iterations)
    return emit.rem(emit.add(iteration, start), iterations)


def staged_loads(ctx: KernelContext) -> list[threadblock.LoadOp]:
    """The loads of tiles of which the loop keeps several buffers."""
    ops = ctx.graph.body.block.ops
    return [op for op in ops if is_staged(op)]


def invariant_loads(ctx: KernelContext) -> list[threadblock.LoadOp]:
    """The loads of loop-invariant tiles into shared memory, without those of a producer."""
    copied = copied_invariant_loads(ctx.graph)
    return [op for op in ctx.graph.body.block.ops if is_invariant_load(op) and op not in copied]


def copy(
    ctx: KernelContext, loads: Sequence[threadblock.LoadOp], iteration: Index, slot: Index
) -> None:
    """Start the loads of one iteration into one slot."""
    iterations = iterations_of(ctx, iteration)
    for op in loads:
        copy_to_shared(ctx, op, iterations, slot)


def copy_iteration(ctx: KernelContext, iteration: Index, slot: Index) -> None:
    """Start the loads of one iteration into one slot, as one group."""
    copy(ctx, staged_loads(ctx), iteration, slot)
    ctx.emit.insert(nvvm.CpAsyncCommitGroupOp())


def clear_padding(ctx: KernelContext) -> bool:
    """Zero the buffers whose padding a matmul reads; whether there are any."""
    padded = [op for op in ctx.graph.body.block.ops if ZERO_PADDING in op.attributes]
    for op in padded:
        clear(ctx, op)
    return bool(padded)


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


def wait_for_previous_grid(
    ctx: KernelContext, available: Collection[SSAValue] | None, *, launches_dependents: bool
) -> None:
    """Wait until it has ended, then let the next one start: what it finds is there by now."""
    if available is not None:
        ctx.emit.insert(nvvm_hopper.GridDependencyOp("wait"))
    if launches_dependents:
        launch_dependents(ctx)


def launch_dependents(ctx: KernelContext) -> None:
    """Let the kernel behind this one start once all blocks have got here."""
    ctx.emit.insert(nvvm_hopper.GridDependencyOp("launch_dependents"))


def start_loads(
    ctx: KernelContext, available: Collection[SSAValue] | None, *, launches_dependents: bool
) -> None:
    """
    Start the loads of the loop-invariant tiles, then those of the loop's first iterations.

    What is there before the previous grid has ended, as `available` says, comes first.
    """
    invariant, staged = invariant_loads(ctx), staged_loads(ctx)
    looped = bool(ctx.graph.loop_sizes)
    iterations = range(ctx.stages - 1)
    early: list[threadblock.LoadOp] = []
    if available is not None:
        early = [op for op in (*invariant, *staged) if view_of(op.source).root in available]
    has_later = len(early) < len(invariant) + len(staged)
    if has_later:
        copy(ctx, [op for op in invariant if op in early], 0, 0)
        for iteration in iterations:
            copy(ctx, [op for op in staged if op in early], iteration, iteration)
        wait_for_previous_grid(ctx, available, launches_dependents=launches_dependents)
        invariant_later = [op for op in invariant if op not in early]
        staged = [op for op in staged if op not in early]
    else:
        invariant_later = invariant
    for apart in (False, True):
        copy(ctx, [op for op in invariant_later if (op.separate_wait is not None) == apart], 0, 0)
        if any((op.separate_wait is not None) == apart for op in invariant):
            ctx.emit.insert(nvvm.CpAsyncCommitGroupOp())
    for iteration in iterations if looped else ():
        copy(ctx, staged, iteration, iteration)
        ctx.emit.insert(nvvm.CpAsyncCommitGroupOp())
    if not has_later:
        wait_for_previous_grid(ctx, available, launches_dependents=launches_dependents)


def start_invariant_loads(ctx: KernelContext, available: Collection[SSAValue] | None) -> None:
    """Start the loads of the loop-invariant tiles alone, the ones that are `available` first."""
    invariant = invariant_loads(ctx)
    early = [
        op for op in invariant if available is not None and view_of(op.source).root in available
    ]
    copy(ctx, early, 0, 0)
    wait_for_previous_grid(ctx, available, launches_dependents=False)
    copy(ctx, [op for op in invariant if op not in early], 0, 0)
    if invariant:
        ctx.emit.insert(nvvm.CpAsyncCommitGroupOp())


def read_ahead(ctx: KernelContext, ops: Sequence[Operation]) -> None:
    """
    Read what stays in device memory at once, before anyone waits for the first of it.

    Only into few registers, and only for what each thread needs in one place; `ops` come before
    the loop.
    """
    left = MAX_READ_AHEAD
    streamed = {graph for stream in find_streams(ops) for graph in stream.graphs}
    for op in ops:
        if op in streamed:
            continue
        if isinstance(op, thread.GraphOp):
            shape = threadblock.shape_of(op.results[0])
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
