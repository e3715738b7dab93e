"""The operations of a scheduled graph, one by one."""

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import Operation

from mirage_mlir.dialects import nvvm, nvvm_hopper, thread, threadblock
from mirage_mlir.dialects.layout import BarrierOp, ConvertLayoutOp
from mirage_mlir.dialects.parts import LeavePartOp
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.passes.lowering.access import as_f32, fetch, write_global, write_shared
from mirage_mlir.passes.lowering.context import KernelContext, shared_layout
from mirage_mlir.passes.lowering.elementwise import run_thread_graph
from mirage_mlir.passes.lowering.emitter import Condition
from mirage_mlir.passes.lowering.matmul import multiply
from mirage_mlir.passes.lowering.parts import leave_part, total_of_parts
from mirage_mlir.passes.lowering.quads import gathered
from mirage_mlir.passes.lowering.reduction import (
    NEUTRAL,
    layout_read_by,
    part_of_sum,
    reduce,
)
from mirage_mlir.passes.lowering.tiles import (
    FENCED,
    PART,
    PRODUCERS,
    adds_into,
    block_threads,
    summed_axes,
)
from mirage_mlir.passes.lowering.units import multiplied_by_groups, written_for_groups

CONSUMERS_BARRIER = 1
"""The number of the barrier at which the threads that compute meet; at 0 all of a block do."""


def run_all(ctx: KernelContext, ops: Sequence[Operation]) -> None:
    """Emit `ops` one after the other."""
    for op in ops:
        run_operation(ctx, op)


def run_operation(ctx: KernelContext, op: Operation) -> None:
    """Emit one operation of a graph."""
    ctx.emit.location = op.location
    match op:
        case BarrierOp():
            run_barrier(ctx, op)
        case threadblock.MatmulOp() if not adds_into(op.result):
            ctx.registers[op.result] = multiply(ctx, op, None)
        case threadblock.AccumulateOp():
            total = total_of_parts if PART in op.attributes else part_of_sum
            ctx.registers[op.result] = total(ctx, op)
        case LeavePartOp():
            leave_part(ctx, op)
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
            # Loads are started ahead; a transpose is another view of the same memory; a product
            # that is added to an accumulator is computed there.
            assert isinstance(
                op, threadblock.LoadOp | threadblock.TransposeOp | threadblock.MatmulOp
            )


def run_barrier(ctx: KernelContext, op: BarrierOp) -> None:
    """Wait for asynchronous loads where asked, then for all threads."""
    if op.pending is not None:
        ctx.emit.insert(nvvm.CpAsyncWaitGroupOp(op.pending.value.data))
    in_turn = op.stage.data == Stage.LOOP.value and op.pending is None
    fenced = not in_turn and written_for_groups(ctx.graph) and may_precede_groups(op)
    if fenced or FENCED in op.attributes:
        ctx.emit.insert(nvvm_hopper.FenceProxyOp())
    if op.cluster is not None:
        meet_cluster(ctx)
    else:
        meet_block(ctx)


def may_precede_groups(op: BarrierOp) -> bool:
    """Whether a product of warp groups follows, in this turn of the loop or another."""
    following = op.next_op
    while following is not None and not multiplied_by_groups(following):
        following = following.next_op
    return following is not None or op.stage.data == Stage.LOOP.value


def meet_block(ctx: KernelContext) -> None:
    """Wait for all threads of the block that compute: producers go their own way."""
    if PRODUCERS not in ctx.graph.attributes:
        ctx.emit.insert(nvvm.BarrierOp())
        return
    count = ctx.emit.i32(block_threads(ctx.graph))
    ctx.emit.insert(nvvm.BarrierOp(ctx.emit.i32(CONSUMERS_BARRIER), count))


def meet_cluster(ctx: KernelContext) -> None:
    """Wait for all threads of the cluster."""
    ctx.emit.insert(nvvm_hopper.ClusterArriveOp())
    ctx.emit.insert(nvvm_hopper.ClusterWaitOp())


def run_convert(ctx: KernelContext, op: ConvertLayoutOp) -> None:
    """Move a tile to shared memory; what does not exist becomes zero, or changes no sum."""
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
    write_shared(ctx, slots, layout, shape, op.result)


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
    """Write a tile to its tensor, rounded to the tensor's element type."""
    layout = layout_read_by(ctx, op.tile)
    shape = threadblock.shape_of(op.tile)
    slots = fetch(ctx, op.tile, layout, shape)
    element = threadblock.tile_type(op.tile).element_type
    if slots[0].type != element:
        slots = [ctx.emit.result(arith.TruncFOp(as_f32(ctx, value), element)) for value in slots]
    slots, layout = gathered(ctx, op, slots, layout)
    with ctx.emit.when(stores_for_all(ctx, op)):
        write_global(ctx, op, slots, layout)


def stores_for_all(ctx: KernelContext, op: threadblock.StoreOp) -> Condition:
    """Whether the block is the first of those that hold the same tile: the others need not."""
    replicated = [
        block
        for axis, block in enumerate(ctx.blocks)
        if op.grid_map.get_values()[axis] < 0 and axis not in summed_axes(ctx.graph)
    ]
    return ctx.emit.all([ctx.emit.equal(block, 0) for block in replicated])
