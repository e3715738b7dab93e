"""
Full and empty barriers (mbarriers) of a loop whose tiles a producer copies.

Each stage has three. `full` completes when all bytes of an iteration have arrived, `empty` when
each consumer warp has read them. Iteration t uses stage t % stages; it is phase t / stages of these
barriers, and waits name the parity of the phase (PTX ISA, section "mbarrier"). A persistent block
counts the iterations of all its tiles of the grid. `early` has a single phase. It is used where
some tiles of the first iterations are copied before the previous grid has ended
(`KernelContext.paced`): it completes when these have arrived; `full` counts only the others.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import i8
from xdsl.ir import SSAValue

from mirage_mlir.decisions.schedule import MBARRIER_BYTES
from mirage_mlir.dialects import nvvm, nvvm_hopper, threadblock
from mirage_mlir.dialects.pipeline import AwaitTileOp, ReleaseTilesOp
from mirage_mlir.passes.analysis.buffers import copied_invariant_loads
from mirage_mlir.passes.analysis.tile_attributes import shares_tiles
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.emitter import Index
from mirage_mlir.passes.codegen.multicast_copies import in_block, is_writer
from mirage_mlir.passes.codegen.stage_positions import StagePosition

PATIENCE = 10_000_000
"""The limit of one try of a wait, in nanoseconds; the wait tries again."""


def _barrier(ctx: KernelContext, group: int, slot: Index) -> SSAValue:
    """The address of the barrier of stage `slot` in a group: full, empty or early."""
    at = ctx.emit.mul(slot, MBARRIER_BYTES)
    start = ctx.graph.memory.mbarrier_offset + group * ctx.stages * MBARRIER_BYTES
    return ctx.emit.pointer(ctx.shared, at, i8, start)


def full_barrier(ctx: KernelContext, slot: Index) -> SSAValue:
    """The address of the full barrier of stage `slot`."""
    return _barrier(ctx, 0, slot)


def empty_barrier(ctx: KernelContext, slot: Index) -> SSAValue:
    """The address of the empty barrier of stage `slot`."""
    return _barrier(ctx, 1, slot)


def early_barrier(ctx: KernelContext, slot: Index) -> SSAValue:
    """The address of the early barrier of stage `slot`."""
    return _barrier(ctx, 2, slot)


def invariant_barrier(ctx: KernelContext, op: threadblock.LoadOp) -> SSAValue:
    """The address of the barrier that completes when a loop-invariant tile has arrived."""
    number = 3 * ctx.stages + copied_invariant_loads(ctx.graph).index(op)
    start = ctx.graph.memory.mbarrier_offset + number * MBARRIER_BYTES
    return ctx.emit.pointer(ctx.shared, start, i8)


def initialise(ctx: KernelContext, barriers: Sequence[SSAValue], arrivals: int) -> None:
    """Initialise barriers for `arrivals` arrivals per phase; one thread executes this."""
    for barrier in barriers:
        ctx.emit.insert(nvvm_hopper.MBarrierInitOp(barrier, ctx.emit.i32(arrivals)))


def wait(ctx: KernelContext, barrier: SSAValue, parity: Index) -> None:
    """Wait until the phase of `barrier` with this parity is complete."""
    emit = ctx.emit
    ticks = emit.i32(PATIENCE)
    emit.insert(nvvm_hopper.MBarrierWaitParityOp(barrier, emit.i32(parity), ticks))


def await_tiles(ctx: KernelContext, stage: StagePosition) -> None:
    """Wait until all tiles of an iteration are in their buffers."""
    if ctx.paced:
        # From the second phase on `full` counts all tiles.
        with ctx.emit.when(ctx.emit.equal(stage.phase, 0)):
            wait(ctx, early_barrier(ctx, stage.slot), 0)
    wait(ctx, full_barrier(ctx, stage.slot), stage.parity(ctx.emit))


def await_tile(ctx: KernelContext, op: AwaitTileOp) -> None:
    """Wait until a loop-invariant tile has arrived."""
    load = op.tile.owner
    assert isinstance(load, threadblock.LoadOp)
    wait(ctx, invariant_barrier(ctx, load), ctx.emit.bits(ctx.tile, 1))


def release_tiles(ctx: KernelContext, op: ReleaseTilesOp, iteration: Index) -> None:
    """Release the tiles of `iteration`, or of an earlier one, which this warp has read."""
    emit = ctx.emit
    if op.behind is None:
        return release(ctx, op)
    behind, present = op.behind.value.data, ctx.stage
    with emit.when(emit.less(behind - 1, iteration)):
        ctx.stage = present.moved(emit, -behind)
        release(ctx, op)
    ctx.stage = present


def release_last_tiles(ctx: KernelContext, op: ReleaseTilesOp) -> None:
    """
    Release the tiles of the last iteration, so that producers may exit, or copy the next ones.
    """
    last = ctx.emit.sub(ctx.emit.add(ctx.before, ctx.count), 1)
    ctx.stage = StagePosition.of(ctx.emit, last, ctx.stages)
    if ctx.graph.schedule.persistent_blocks:
        release(ctx, op)
    else:
        arrive_at_empty_barriers(ctx)


def release(ctx: KernelContext, op: ReleaseTilesOp) -> None:
    """
    Release the current buffers to all blocks that write to them.

    An arrival orders earlier reads of threads before later writes of threads, but not before writes
    of the asynchronous proxy. Without the fence, here or in a barrier since the reads, copies
    overtook `ldmatrix` on an H200 where three blocks shared a multiprocessor.
    """
    emit = ctx.emit
    if op.async_proxy_fence is not None:
        emit.insert(nvvm_hopper.FenceProxyOp())
    emit.insert(nvvm.BarWarpSyncOp(emit.i32(-1)))
    arrive_at_empty_barriers(ctx)


def arrive_at_empty_barriers(ctx: KernelContext) -> None:
    """Consumer arrive: this warp arrives at the empty barriers of the current buffers."""
    emit = ctx.emit
    if shares_tiles(ctx.graph):
        # Each of the first lanes arrives at the barrier of one block.
        with emit.when(is_writer(ctx, ctx.lane)):
            barrier = in_block(ctx, empty_barrier(ctx, ctx.stage.slot), ctx.lane)
            emit.insert(nvvm_hopper.MBarrierArriveOp(barrier))
        return
    with emit.when(emit.equal(ctx.lane, 0)):
        emit.insert(nvvm_hopper.MBarrierArriveOp(empty_barrier(ctx, ctx.stage.slot)))
