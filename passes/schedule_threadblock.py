"""The `schedule-threadblock` pass."""

from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mirage_mlir.decisions.schedule import (
    FOLLOWER_BYTES,
    MAX_REGISTERS,
    PRODUCER_WARPS,
    Array,
    copy_stages,
    iterations_ahead,
    iterations_at_start,
    may_double_buffer,
    mbarrier_bytes,
    most_registers,
    pipeline_stages,
    producer_warps,
    side_by_side,
)
from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.layout import (
    AwaitTileOp,
    AwaitTilesOp,
    BarrierOp,
    RegistersAttr,
    ReleaseTilesOp,
    layout_of,
)
from mirage_mlir.dialects.split_k import StorePartialSumOp
from mirage_mlir.dialects.target import settle_target
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.layouts.layout import WARP_THREADS, ceil_div, round_up
from mirage_mlir.passes.analysis.buffers import (
    buffer_bytes,
    buffer_count,
    is_staged,
    is_tensor_copy,
)
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.passes.analysis.tile_attributes import (
    DOUBLE_BUFFERED,
    cluster_sizes,
    cut_axes,
    has_layouts,
    uses_wgmma,
)
from mirage_mlir.passes.codegen.cta_rasterization import bytes_along
from mirage_mlir.passes.schedule.multicast import form_clusters
from mirage_mlir.passes.schedule.order import (
    before_pipeline,
    in_shared,
    invariant_part,
    loop_part,
    post_part,
    with_awaits,
)
from mirage_mlir.passes.schedule.pipelined_order import alternating, pipelined_loop
from mirage_mlir.targets.target import Target, require_known

BESIDE_SUMS = 56
"""Registers of a thread for what is not a matmul's sum: with 96 sums and more to choose from,
ptxas uses 151 in all."""

FEWEST_BESIDE = 32
"""The same where ptxas has to find room: a chain of 64 sums assembles for 96 without spills."""

LARGEST_ALIGNMENT = 1024
"""Bytes that a tile starts at a multiple of: eight lines of the widest swizzle."""

BLOCKS_IN_STEP = 8
"""Neighbouring blocks that run through the loop side by side: together they read long runs of
each row. On an H200 groups of 4 to 16 were equally fast, 5 % faster than all in step."""


def iteration_bytes(graph: kernel.GraphDefinedOp) -> int:
    """Bytes of shared memory that one iteration of the loop loads."""
    return sum(buffer_bytes(op) for op in graph.body.block.ops if is_staged(op))


def unshared_bytes(graph: kernel.GraphDefinedOp) -> int:
    """
    Bytes that one iteration loads; of those that several blocks load, one block's share.

    Device memory is asked for what is shared once.
    """
    total = 0
    for op in graph.body.block.ops:
        if is_staged(op):
            cut = cut_axes(op)
            sharing = [n for axis, n in enumerate(graph.grid_sizes) if axis not in cut]
            total += buffer_bytes(op) // prod(sharing)
    return total


def follows_kernel(graph: kernel.GraphDefinedOp) -> bool:
    """Whether the loop loads what another kernel of the function writes."""
    loads = [op for op in graph.body.block.ops if is_staged(op)]
    roots = [view_of(op.source).root for op in loads]
    return any(isinstance(root.owner, kernel.GraphDefinedOp) for root in roots)


def other_bytes(graph: kernel.GraphDefinedOp) -> int:
    """Bytes of shared memory that other tiles take while the loop runs, in whole swizzles."""
    stages = threadblock.stages(graph)
    return sum(
        buffer_count(op) * round_up(buffer_bytes(op), LARGEST_ALIGNMENT)
        for op in graph.body.block.ops
        if not isinstance(op, threadblock.TransposeOp)
        and any(in_shared(result) and stages[result] != Stage.POST for result in op.results)
        and not is_staged(op)
    )


def stage_of(op: Operation, stages: dict[SSAValue, Stage], *, looped: bool) -> Stage:
    """The stage in which `op` runs: that of its result; stores come last."""
    if isinstance(op, BarrierOp | AwaitTileOp):
        return Stage(op.stage.data)
    if isinstance(op, AwaitTilesOp | ReleaseTilesOp):
        return Stage.LOOP
    if isinstance(op, threadblock.AccumulateOp):
        return Stage.LOOP if stages[op.value] == Stage.LOOP else Stage.POST
    if isinstance(op, StorePartialSumOp):
        return Stage.POST
    if isinstance(op, threadblock.StoreOp):
        # Stores keep their order, for it says which result each makes.
        return Stage.POST if looped else Stage.INVARIANT
    return max((stages[value] for value in op.results), key=list(Stage).index)


def has_later_part(graph: kernel.GraphDefinedOp) -> bool:
    """Whether something runs after a loop, or after sums across blocks."""
    ops = graph.body.block.ops
    return bool(graph.loop_sizes) or any(isinstance(op, threadblock.AccumulateOp) for op in ops)


def rotate(graph: kernel.GraphDefinedOp) -> None:
    """
    Let groups of blocks start the loop apart where all of them read the same tiles.

    Sums and maxima do not care about the order of their iterations; the caches do: blocks that ask
    for one line at one time queue for it. Where some blocks share what one axis cuts and others
    what the other one does, they better ask together: on an H200 a matmul of 256 rows took 18.6 us
    apart and 17.7 so.
    """
    if all(bytes_along(graph)):
        return
    groups = ceil_div(graph.grid_sizes[0], BLOCKS_IN_STEP)
    ops = graph.body.block.ops
    common = [op for op in ops if is_staged(op) and op.grid_map.get_values()[0] < 0]
    if len(graph.loop_sizes) == 1 and groups > 1 and common:
        step = max(1, graph.loop_sizes[0] // groups)
        graph.schedule = replace(graph.schedule, rotation=(BLOCKS_IN_STEP, step))


def is_pipelined(graph: kernel.GraphDefinedOp) -> bool:
    """Whether tensor copies, which one thread starts, fetch all tiles of the loop."""
    staged = [op for op in graph.body.block.ops if is_staged(op)]
    return bool(staged) and all(is_tensor_copy(op) for op in staged)


def is_followed(graph: kernel.GraphDefinedOp) -> bool:
    """Whether another kernel runs behind this one: behind the last the first of the next call."""
    block = graph.parent_block()
    assert block is not None
    return any(isinstance(op, kernel.GraphDefinedOp) and op is not graph for op in block.ops)


def producers_of(graph: kernel.GraphDefinedOp) -> int:
    """Warps that copy the tiles of the loop."""
    matmuls = [op for op in graph.body.block.ops if isinstance(op, threadblock.MatmulOp)]
    needed = min(MAX_REGISTERS, BESIDE_SUMS + sum(map(registers_for, matmuls)))
    return producer_warps(graph.schedule.threads, needed)


def registers_side_by_side(graph: kernel.GraphDefinedOp, share: int) -> int:
    """The most of each thread with which so many blocks fit; 0 where that may not be enough."""
    matmuls = [op for op in graph.body.block.ops if isinstance(op, threadblock.MatmulOp)]
    present = graph.schedule.threads + producers_of(graph) * WARP_THREADS
    limit = most_registers(share * present)
    fits = FEWEST_BESIDE + sum(map(registers_for, matmuls)) <= limit
    return limit if share > 1 and matmuls and fits else 0


def registers_for(op: threadblock.MatmulOp) -> int:
    """Registers of a thread for the sums of a matmul; single warps hold operands as well."""
    attribute = layout_of(op.result)
    if not uses_wgmma(op) or not isinstance(attribute, RegistersAttr):
        return MAX_REGISTERS - BESIDE_SUMS
    return len(attribute.layout.offsets)


def schedule(graph: kernel.GraphDefinedOp, stages: int, *, pipelined: bool) -> None:
    """Put the operations of `graph` in the order in which the block, or its warps, run them."""
    block = graph.body.block
    stage_map = threadblock.stages(graph)
    parts: dict[Stage, list[Operation]] = {stage: [] for stage in Stage}
    for op in block.ops:
        parts[stage_of(op, stage_map, looped=has_later_part(graph))].append(op)
    if pipelined:
        loop = pipelined_loop(parts[Stage.LOOP])
        invariant = before_pipeline(parts[Stage.INVARIANT])
        graph.schedule = replace(graph.schedule, producer_warps=producers_of(graph))
    else:
        loop = loop_part(parts[Stage.LOOP], stages)
        matmuls = [op for op in loop if isinstance(op, threadblock.MatmulOp)]
        resident: list[Operation] = [op for op in matmuls if op.lhs_in_registers is not None]
        pending = stages - 1 if loop else 0
        invariant = invariant_part(parts[Stage.INVARIANT], pending, resident, looped=bool(loop))
    post = post_part(parts[Stage.POST], bool(loop))
    if pipelined:
        invariant, post = with_awaits(invariant, loop, post)
    for op in list(block.ops):
        op.detach()
    ordered = [*invariant, *loop, *post]
    for barrier, follower in pairwise([*ordered, graph]):
        if isinstance(barrier, BarrierOp | AwaitTileOp | AwaitTilesOp | ReleaseTilesOp):
            barrier.location = follower.location
    block.add_ops(ordered)
    graph.schedule = replace(graph.schedule, stages=stages)
    rotate(graph)


@dataclass(frozen=True)
class ScheduleThreadblockPass(ModulePass):
    """
    Order a block's work into before, in and after the loop, and insert its barriers.

    Input:
        %p = threadblock.matmul %x, %w {layout = registers, ...}

    Output (in a loop with 8 buffers):
        threadblock.barrier {stage = "loop", pending = 6 : i64}
        %p = threadblock.matmul %x, %w {layout = registers, ...}

    Output where tensor copies fetch all tiles of the loop (the graph gets `producer_warps = 1`):
        threadblock.await_tiles
        %p = threadblock.matmul %x, %w {layout = registers, ...}
        threadblock.release_tiles

    A barrier stands where a thread reads, or overwrites, what another wrote or still reads. Loads
    are `cp.async` by all threads, and the barrier at the top of the loop also waits for the
    iteration's tiles; or producers, warps that do nothing else, start tensor copies, and the others
    wait for these, each for itself. There is one such warp, or four where those that compute need
    the registers that a group can give away. Buffers of `cp.async` are as many as keep enough bytes
    on their way; those of tensor copies take the memory that there is. What threads compute for the
    iteration of such a loop has two buffers (`double_buffered`) where they synchronize less often
    then, and they compute what they can while warpgroups multiply.

    Blocks that differ only along an axis of the grid that a tile does not depend on load the same
    tile. Those of a cluster then copy a part each to all of them (`multicast`), where the graph has
    clusters, `cluster [2, 1]`, or gets them here because copies take longer than matmuls.

    Fails on a graph without layouts, and on a module for another target.
    """

    name = "schedule-threadblock"

    stages: int | None = None
    """Buffers of each tile that the loop loads; chosen by their size where not given."""

    target: str | None = None
    """The GPU, or its instruction set; if not given the module's `kernel.target`, or else H200."""

    def __post_init__(self) -> None:
        require_known(self.target)
        if self.stages is not None and self.stages < 2:
            raise ValueError(f"stages is at least 2, not {self.stages}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Visit every `kernel.graph_defined` of the module."""
        scheduler = Scheduler(settle_target(op, self.target, self.name), self.stages)
        for graph in [g for g in op.walk() if isinstance(g, kernel.GraphDefinedOp)]:
            if not has_layouts(graph):
                fail(graph, "has no layouts; run assign-layouts first")
            scheduler.run(graph)


@dataclass(frozen=True)
class Scheduler:
    """
    Schedules graphs for a target.

    Args:
        target: only where it has tensor copies are there producers.
        stages: buffers of each tile that loops load; chosen by their size where not given.
    """

    target: Target
    stages: int | None

    def run(self, graph: kernel.GraphDefinedOp) -> None:
        """Order the operations of a graph that has layouts."""
        pipelined = self.target.has_tma and is_pipelined(graph)
        if pipelined:
            form_clusters(graph, self.target)
            self.alternate(graph)
        schedule(graph, self.stages_of(graph, pipelined), pipelined=pipelined)
        if pipelined:
            iterations, share = prod(graph.loop_sizes), int(self.share_of(graph))
            ahead = iterations_ahead(unshared_bytes(graph), iterations, share)
            early = iterations_at_start(unshared_bytes(graph), share, soon=follows_kernel(graph))
            graph.schedule = replace(
                graph.schedule,
                iterations_ahead=ahead,
                iterations_at_start=early,
                max_registers=registers_side_by_side(graph, share),
            )

    def alternate(self, graph: kernel.GraphDefinedOp) -> None:
        """Keep two buffers of what the loop writes where iterations synchronize less often so."""
        stage_map = threadblock.stages(graph)
        ops = [
            op for op in graph.body.block.ops if stage_of(op, stage_map, looped=True) == Stage.LOOP
        ]
        before = self.stages_of(graph, True)
        found = alternating(ops)
        for op in found:
            op.attributes[DOUBLE_BUFFERED] = UnitAttr()
        stages = self.stages_of(graph, True)
        needed = stages * iteration_bytes(graph) + other_bytes(graph) + mbarrier_bytes(stages)
        if not may_double_buffer(before, stages, needed, self.target):
            for op in found:
                del op.attributes[DOUBLE_BUFFERED]

    def stages_of(self, graph: kernel.GraphDefinedOp, pipelined: bool) -> int:
        """Buffers of each tile that the loop of `graph` loads."""
        iterations, size = prod(graph.loop_sizes), iteration_bytes(graph)
        if self.stages:
            return min(iterations, self.stages)
        if not pipelined:
            return int(copy_stages(size, iterations))
        share, other = self.share_of(graph), other_bytes(graph)
        if is_followed(graph):
            other += FOLLOWER_BYTES
        return int(pipeline_stages(size, other, iterations, share, self.target))

    def share_of(self, graph: kernel.GraphDefinedOp) -> Array:
        """Blocks of a pipelined `graph` that each multiprocessor gets."""
        share = side_by_side(prod(graph.grid_sizes), prod(cluster_sizes(graph)), self.target)
        # Where producers give registers away one block takes all of them.
        return np.ones_like(share) if producers_of(graph) > PRODUCER_WARPS else share
