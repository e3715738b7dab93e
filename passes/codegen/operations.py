"""Emits the operations of a scheduled graph outside of its main loop."""

from collections.abc import Sequence

from xdsl.ir import Operation

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import nvvm, nvvm_hopper, thread, threadblock
from mirage_mlir.dialects.fetched_tiles import FetchTilesOp
from mirage_mlir.dialects.layout import ConvertLayoutOp
from mirage_mlir.dialects.overlap import AwaitPreviousGridOp, LaunchDependentsOp, PrefetchTilesOp
from mirage_mlir.dialects.pipeline import (
    SCHEDULE_OPS,
    AwaitTileOp,
    BarrierOp,
    ClearPaddingOp,
    IssueCopiesOp,
)
from mirage_mlir.dialects.split_k import ArriveClusterOp, AwaitClusterOp, StorePartialSumOp
from mirage_mlir.passes.analysis.buffers import shared_layout
from mirage_mlir.passes.analysis.tile_attributes import adds_into
from mirage_mlir.passes.codegen.access import fetch, write_shared
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.elementwise import run_thread_graph
from mirage_mlir.passes.codegen.fetched_tiles import fetch_tiles
from mirage_mlir.passes.codegen.loads import (
    await_previous_grid,
    clear_padding,
    issue_copies,
    launch_dependents,
)
from mirage_mlir.passes.codegen.matmul import multiply
from mirage_mlir.passes.codegen.prefetch import prefetch
from mirage_mlir.passes.codegen.reduction import (
    block_partial_sum,
    layout_read_by,
    reduce,
)
from mirage_mlir.passes.codegen.single_elements import NEUTRAL
from mirage_mlir.passes.codegen.split_k import store_partial_sum, total_of_partial_sums
from mirage_mlir.passes.codegen.stores import store_slots
from mirage_mlir.passes.codegen.streams import StreamPieces
from mirage_mlir.passes.codegen.tile_barriers import await_tile
from mirage_mlir.passes.schedule.streams import stream_of

CONSUMERS_BARRIER = 1
"""The barrier (`bar.sync`) of consumer threads; barrier 0 is for all threads of the block."""


def run_all(ctx: KernelContext, ops: Sequence[Operation]) -> None:
    """Emit `ops` one after the other; a stream is emitted at its first operation."""
    for op in ops:
        if isinstance(op, FetchTilesOp):
            fetch_tiles(ctx, op, 0)
        elif (stream := stream_of(op)) is None:
            run_operation(ctx, op)
        elif op is stream.graphs[0]:
            StreamPieces(ctx, stream).run()


def run_operation(ctx: KernelContext, op: Operation) -> None:
    """Emit one operation of a graph."""
    ctx.emit.location = op.location
    match op:
        case _ if isinstance(op, SCHEDULE_OPS):
            run_schedule_operation(ctx, op)
        case threadblock.MatmulOp() if not adds_into(op.result):
            ctx.registers[op.result] = multiply(ctx, op, None)
        case threadblock.AccumulateOp():
            total = total_of_partial_sums if op.partial_sum is not None else block_partial_sum
            ctx.registers[op.result] = total(ctx, op)
        case StorePartialSumOp():
            store_partial_sum(ctx, op)
        case thread.GraphOp():
            run_thread_graph(ctx, op)
        case threadblock.ReduceSumOp() | threadblock.ReduceMaxOp():
            reduce(ctx, op)
        case ConvertLayoutOp():
            run_convert(ctx, op)
        case threadblock.ConcatOp():
            run_concat(ctx, op)
        case threadblock.StoreOp():
            run_store(ctx, op)
        case _:
            pass_on(ctx, op)


def pass_on(ctx: KernelContext, op: Operation) -> None:
    """
    Emit nothing: a transpose is another view of the same memory, or of the same registers.

    Copies are started ahead; a matmul that is added to an accumulator is computed there, and
    indices where they are read.
    """
    views = threadblock.TransposeOp | threadblock.MatmulOp
    assert isinstance(op, threadblock.LoadOp | threadblock.IotaOp | views)
    if isinstance(op, threadblock.TransposeOp) and op.input in ctx.registers:
        ctx.registers[op.result] = ctx.registers[op.input]


def run_schedule_operation(ctx: KernelContext, op: Operation) -> None:
    """Emit a barrier, a wait, or what stands at the beginning of the prologue."""
    match op:
        case BarrierOp():
            run_barrier(ctx, op)
        case AwaitTileOp():
            await_tile(ctx, op)
        case IssueCopiesOp():
            issue_copies(ctx, op)
        case ClearPaddingOp():
            clear_padding(ctx)
        case PrefetchTilesOp():
            prefetch(ctx, op)
        case AwaitPreviousGridOp():
            await_previous_grid(ctx)
        case LaunchDependentsOp():
            launch_dependents(ctx)
        case ArriveClusterOp():
            relaxed = op.started is not None
            arrive = nvvm_hopper.ClusterArriveRelaxedOp if relaxed else nvvm_hopper.ClusterArriveOp
            ctx.emit.insert(arrive())
        case AwaitClusterOp():
            ctx.emit.insert(nvvm_hopper.ClusterWaitOp())
        case _:
            fail(op, "stands where no thread does this")


def run_barrier(ctx: KernelContext, op: BarrierOp) -> None:
    """Wait for asynchronous loads where asked, then for all threads."""
    if op.pending is not None:
        ctx.emit.insert(nvvm.CpAsyncWaitGroupOp(op.pending.value.data))
    if op.async_proxy_fence is not None:
        ctx.emit.insert(nvvm_hopper.FenceProxyOp())
    if op.cluster is not None:
        cluster_barrier(ctx)
    else:
        block_barrier(ctx)


def block_barrier(ctx: KernelContext) -> None:
    """Synchronize the consumer threads of the block; producer warps take no part."""
    if not ctx.graph.schedule.producer_warps:
        ctx.emit.insert(nvvm.BarrierOp())
        return
    count = ctx.emit.i32(ctx.graph.schedule.threads)
    ctx.emit.insert(nvvm.BarrierOp(ctx.emit.i32(CONSUMERS_BARRIER), count))


def cluster_barrier(ctx: KernelContext) -> None:
    """Synchronize all threads of the cluster."""
    ctx.emit.insert(nvvm_hopper.ClusterArriveOp())
    ctx.emit.insert(nvvm_hopper.ClusterWaitOp())


def run_convert(ctx: KernelContext, op: ConvertLayoutOp) -> None:
    """Write a tile to shared memory; elements past the edge become zero, or neutral in a sum."""
    emit, target = ctx.emit, shared_layout(op.result)
    layout = layout_read_by(ctx, op.input)
    shape = threadblock.shape_of(op.input)
    slots = fetch(ctx, op.input, layout, shape)
    if layout.partial == 1:
        extents = ctx.extents(op.input)
        spread = target.blocks > 1
        slots = [
            emit.select(
                ctx.inside(layout, shape, extents, place),
                value,
                emit.f32(NEUTRAL[target.combine]) if spread else emit.zero(value.type),
            )
            for place, value in zip(layout.offsets, slots, strict=True)
        ]
    write_shared(ctx, slots, layout, shape, op.result, delivered=op.delivered is not None)


def run_concat(ctx: KernelContext, op: threadblock.ConcatOp) -> None:
    """Write the parts side by side."""
    at, dim = 0, op.dim.value.data
    for value in op.operands:
        shape = threadblock.shape_of(value)
        layout = layout_read_by(ctx, value)
        slots = fetch(ctx, value, layout, shape)
        write_shared(ctx, slots, layout, shape, op.results[0], (dim, at))
        at += shape[dim]


def run_store(ctx: KernelContext, op: threadblock.StoreOp) -> None:
    """Write a tile to its tensor."""
    layout = layout_read_by(ctx, op.tile)
    store_slots(ctx, op, fetch(ctx, op.tile, layout, threadblock.shape_of(op.tile)), layout)
