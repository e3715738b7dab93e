"""The `schedule-threadblock` pass."""

from dataclasses import dataclass, field
from itertools import pairwise
from math import prod

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp, UnitAttr, i64
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.layout import (
    AwaitTilesOp,
    BarrierOp,
    ReleaseTilesOp,
    SharedAttr,
    layout_of,
)
from mirage_mlir.dialects.parts import LeavePartOp
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.graph.layout import round_up
from mirage_mlir.graph.schedule import (
    PRODUCER_WARPS,
    Array,
    choose_stages,
    pipeline_stages,
    producer_warps,
    side_by_side,
    turns_ahead,
)
from mirage_mlir.graph.target import target_named
from mirage_mlir.passes.lowering.context import (
    buffer_bytes,
    buffer_of,
    is_staged,
    is_tensor_copy,
)
from mirage_mlir.passes.lowering.tiles import (
    HELD,
    LATE,
    PRODUCERS,
    adds_into,
    block_threads,
    cluster_sizes,
)

STAGES = "stages"

ROTATION = "rotation"

AHEAD = "ahead"
"""On a graph with producers: turns whose tiles may be on their way, but at the start."""

LARGEST_ALIGNMENT = 1024
"""Bytes that a tile starts at a multiple of: eight lines of the widest swizzle."""

BLOCKS_IN_STEP = 8
"""Neighbouring blocks that run through the loop side by side: together they read long runs of
each row. On an H200 groups of 4 to 16 were equally fast, 5 % faster than all in step."""


def in_shared(value: SSAValue) -> bool:
    """Whether a tile lives in shared memory."""
    return isinstance(layout_of(value), SharedAttr)


def reads(op: Operation) -> list[Operation]:
    """The buffers in shared memory that `op` reads."""
    if isinstance(op, threadblock.TransposeOp) or is_added(op):
        return []
    operands = [*op.operands]
    if isinstance(op, threadblock.AccumulateOp) and isinstance(op.value.owner, Operation):
        # A product is computed where it is added.
        operands += op.value.owner.operands if is_added(op.value.owner) else ()
    return [buffer_of(v) for v in operands if layout_of(v) is not None and in_shared(v)]


def is_added(op: Operation) -> bool:
    """Whether `op` is a product that the matrix unit adds to an accumulator."""
    return isinstance(op, threadblock.MatmulOp) and adds_into(op.result)


def writes(op: Operation) -> list[Operation]:
    """The buffer that `op` itself writes; loads are waited for, not ordered here."""
    if isinstance(op, threadblock.LoadOp | threadblock.TransposeOp):
        return []
    return [op] if any(in_shared(result) for result in op.results) else []


def spreads(op: Operation) -> bool:
    """Whether other blocks of the cluster read what `op` writes to shared memory."""
    return any(
        isinstance(layout := layout_of(result), SharedAttr) and layout.layout.blocks > 1
        for result in op.results
    )


def turn_bytes(graph: kernel.GraphDefinedOp) -> int:
    """Bytes of shared memory that one turn of the loop loads."""
    return sum(buffer_bytes(op) for op in graph.body.block.ops if is_staged(op, graph))


def other_bytes(graph: kernel.GraphDefinedOp) -> int:
    """Bytes of shared memory that other tiles take while the loop runs, in whole swizzles."""
    stages = threadblock.stages(graph)
    return sum(
        round_up(buffer_bytes(op), LARGEST_ALIGNMENT)
        for op in graph.body.block.ops
        if not isinstance(op, threadblock.TransposeOp)
        and any(in_shared(result) and stages[result] != Stage.POST for result in op.results)
        and not is_staged(op, graph)
    )


@dataclass
class Hazards:
    """Buffers touched since all threads last met."""

    written: set[Operation] = field(default_factory=set[Operation])
    read: set[Operation] = field(default_factory=set[Operation])

    def conflict(self, op: Operation) -> bool:
        """Whether `op` must wait for what other threads do."""
        return any(buffer in self.written for buffer in reads(op)) or any(
            buffer in self.written or buffer in self.read for buffer in writes(op)
        )

    def add(self, op: Operation) -> None:
        """Remember what `op` touches."""
        self.written.update(writes(op))
        self.read.update(reads(op))

    def clear(self) -> None:
        """All threads have met."""
        self.written.clear()
        self.read.clear()


def with_barriers(ops: list[Operation], stage: Stage, hazards: Hazards) -> list[Operation]:
    """
    `ops` with a barrier in front of each that reads or overwrites what others touched.

    `hazards` are those in front of `ops`, then those behind them.
    """
    ordered: list[Operation] = []
    # Written for other blocks, which a barrier of this block does not stop.
    parts: set[Operation] = set()
    for op in ops:
        cluster = any(buffer in parts for buffer in reads(op))
        if cluster or hazards.conflict(op):
            ordered.append(BarrierOp(stage.value, cluster=cluster))
            hazards.clear()
            parts = set() if cluster else parts
        hazards.add(op)
        parts.update(buffer for buffer in writes(op) if spreads(buffer))
        ordered.append(op)
    return ordered


def invariant_part(
    ops: list[Operation], pending: int, held: list[Operation], *, looped: bool
) -> list[Operation]:
    """What happens before the loop, with a wait for the loads that it, or who holds them, reads."""
    ordered = in_invariant_order(ops, pending, looped=looped)
    if not held:
        return ordered
    waits = any(isinstance(op, BarrierOp) and op.pending is not None for op in ordered)
    return [*ordered, BarrierOp(Stage.INVARIANT.value, None if waits else pending)]


def in_invariant_order(
    ops: list[Operation], pending: int, *, looped: bool = True
) -> list[Operation]:
    """
    What happens before the loop, with a wait for the loads that it reads itself.

    Where there is no loop, a product starts when its own tiles have come: what only later
    operations read may come while it runs.
    """
    loads = [op for op in ops if isinstance(op, threadblock.LoadOp)]
    rest = [op for op in ops if op not in loads]
    late = [] if looped else read_after_product(loads, rest)
    for op in late:
        op.attributes[LATE] = UnitAttr()
    soon = [op for op in loads if op not in late]
    ordered: list[Operation] = [*soon, *late]
    done = 0
    for loaded, left in ((soon, pending + bool(late)), (late, pending)):
        places = range(done, len(rest))
        place = next((p for p in places if any(b in loaded for b in reads(rest[p]))), None)
        if place is not None:
            ordered += with_barriers(rest[done:place], Stage.INVARIANT, Hazards())
            ordered.append(BarrierOp(Stage.INVARIANT.value, left))
            done = place
    return [*ordered, *with_barriers(rest[done:], Stage.INVARIANT, Hazards())]


def read_after_product(
    loads: list[threadblock.LoadOp], rest: list[Operation]
) -> list[threadblock.LoadOp]:
    """The tiles in shared memory that the first product, and what comes before it, do not read."""
    products = [place for place, op in enumerate(rest) if isinstance(op, threadblock.MatmulOp)]
    if not products:
        return []
    before = {buffer for op in rest[: products[0] + 1] for buffer in reads(op)}
    return [op for op in loads if in_shared(op.result) and op not in before]


def loop_part(ops: list[Operation], stages: int) -> list[Operation]:
    """One turn: all threads meet when its tiles have come and the oldest buffers are free."""
    if not ops:
        return []
    meet = BarrierOp(Stage.LOOP.value, max(0, stages - 2))
    loads = [op for op in ops if isinstance(op, threadblock.LoadOp)]
    # Products of loaded tiles first: the matrix units work while threads do the rest.
    products = [op for op in ops if of_loaded_tiles(op)]
    rest = [op for op in ops if op not in loads and op not in products]
    return [meet, *loads, *with_barriers([*products, *rest], Stage.LOOP, Hazards())]


def pipelined_loop(ops: list[Operation], graph: kernel.GraphDefinedOp) -> list[Operation]:
    """
    One turn where producers copy its tiles: warps wait for those, not for each other.

    They meet only where one reads or overwrites what others of them touched, in this turn or in
    the one before.
    """
    loads = [op for op in ops if isinstance(op, threadblock.LoadOp)]
    products = [op for op in ops if of_loaded_tiles(op)]
    rest = [op for op in ops if op not in loads and op not in products]
    carried = Hazards()
    while True:
        behind = Hazards(set(carried.written), set(carried.read))
        body = with_barriers([*products, *rest], Stage.LOOP, behind)
        if behind.written <= carried.written and behind.read <= carried.read:
            break
        carried.written |= behind.written
        carried.read |= behind.read
    last = max(
        (place for place, op in enumerate(body) if any(is_staged(b, graph) for b in reads(op))),
        default=-1,
    )
    return [*loads, AwaitTilesOp(), *body[: last + 1], ReleaseTilesOp(), *body[last + 1 :]]


def before_pipeline(ops: list[Operation]) -> list[Operation]:
    """What happens before such a loop, at whose top nobody meets."""
    ordered = in_invariant_order(ops, 0)
    meetings = [op for op in ordered if isinstance(op, BarrierOp)]
    loads = any(isinstance(op, threadblock.LoadOp) and in_shared(op.result) for op in ops)
    if loads and all(op.pending is None for op in meetings):
        return [*ordered, BarrierOp(Stage.INVARIANT.value, 0)]
    behind = ordered[ordered.index(meetings[-1]) + 1 :] if meetings else ordered
    return [*ordered, BarrierOp(Stage.INVARIANT.value)] if any(map(writes, behind)) else ordered


def of_loaded_tiles(op: Operation) -> bool:
    """Whether `op` multiplies tiles as they were loaded, or adds up such a product."""
    if isinstance(op, threadblock.AccumulateOp):
        # What is computed in the turn, as the maximum that a sum is brought to, comes later.
        if op.rescale is not None and not isinstance(op.rescale.owner, threadblock.LoadOp):
            return False
        return isinstance(op.value.owner, threadblock.MatmulOp) and of_loaded_tiles(op.value.owner)
    if not isinstance(op, threadblock.MatmulOp | threadblock.TransposeOp):
        return False
    sources = [value.owner for value in op.operands]
    return all(
        isinstance(source, threadblock.LoadOp)
        or (isinstance(source, threadblock.TransposeOp) and of_loaded_tiles(source))
        for source in sources
    )


def leading_to_parts(ops: list[Operation]) -> list[Operation]:
    """Those of `ops` that make parts for other blocks, and what these are made of."""
    chosen = {op for op in ops if isinstance(op, threadblock.AccumulateOp) or spreads(op)}
    for op in reversed(ops):
        if op in chosen:
            chosen.update(
                value.owner for value in op.operands if isinstance(value.owner, Operation)
            )
    return [op for op in ops if op in chosen]


def post_part(ops: list[Operation], after_loop: bool) -> list[Operation]:
    """What follows the loop, or what comes before sums across blocks where there is none."""
    if any(isinstance(op, LeavePartOp) for op in ops):
        return through_scratch(ops)
    # Parts that go to other blocks come first: then all of them meet once.
    sums = leading_to_parts(ops)
    ops = [*sums, *(op for op in ops if op not in sums)]
    first: list[Operation] = []
    if after_loop and any(writes(op) for op in ops):
        first = [BarrierOp(Stage.POST.value)]
    elif not after_loop and any(isinstance(op, threadblock.AccumulateOp) for op in ops):
        first = [BarrierOp(Stage.POST.value, 0)]
    return [*first, *with_barriers(ops, Stage.POST, Hazards())]


def through_scratch(ops: list[Operation]) -> list[Operation]:
    """What each block does until it has left its parts, and what the last one does with them."""
    chosen: set[Operation] = {op for op in ops if isinstance(op, LeavePartOp)}
    for op in reversed(ops):
        if op in chosen:
            chosen.update(v.owner for v in op.operands if isinstance(v.owner, Operation))
    leading = [op for op in ops if op in chosen]
    return [
        BarrierOp(Stage.POST.value, 0),
        *with_barriers(leading, Stage.POST, Hazards()),
        BarrierOp(Stage.POST.value, cluster=True),
        *with_barriers([op for op in ops if op not in chosen], Stage.POST, Hazards()),
    ]


def stage_of(op: Operation, stages: dict[SSAValue, Stage], *, looped: bool) -> Stage:
    """The stage in which `op` runs: that of its result; stores come last."""
    if isinstance(op, BarrierOp):
        return Stage(op.stage.data)
    if isinstance(op, AwaitTilesOp | ReleaseTilesOp):
        return Stage.LOOP
    if isinstance(op, threadblock.AccumulateOp):
        return Stage.LOOP if stages[op.value] == Stage.LOOP else Stage.POST
    if isinstance(op, LeavePartOp):
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

    Sums and maxima do not care about the order of their turns; the caches do: blocks that ask for
    one line at one time queue for it.
    """
    groups = -(-graph.grid_sizes[0] // BLOCKS_IN_STEP)
    loads = [op for op in graph.body.block.ops if isinstance(op, threadblock.LoadOp)]
    common = [op for op in loads if is_staged(op, graph) and op.grid_map.get_values()[0] < 0]
    if len(graph.loop_sizes) == 1 and groups > 1 and common:
        step = max(1, graph.loop_sizes[0] // groups)
        graph.attributes[ROTATION] = DenseArrayBase.from_list(i64, [BLOCKS_IN_STEP, step])


def is_pipelined(graph: kernel.GraphDefinedOp) -> bool:
    """Whether tensor copies, which one thread starts, fetch all tiles of the loop."""
    staged = [op for op in graph.body.block.ops if is_staged(op, graph)]
    return bool(staged) and all(is_tensor_copy(op) for op in staged)


def producers_of(graph: kernel.GraphDefinedOp) -> int:
    """Warps that copy the tiles of the loop."""
    products = any(isinstance(op, threadblock.MatmulOp) for op in graph.body.block.ops)
    return producer_warps(block_threads(graph), products=products)


def schedule(graph: kernel.GraphDefinedOp, stages: int, *, pipelined: bool) -> None:
    """Put the operations of `graph` in the order in which the block, or its warps, run them."""
    block = graph.body.block
    stage_map = threadblock.stages(graph)
    parts: dict[Stage, list[Operation]] = {stage: [] for stage in Stage}
    for op in block.ops:
        parts[stage_of(op, stage_map, looped=has_later_part(graph))].append(op)
    if pipelined:
        loop = pipelined_loop(parts[Stage.LOOP], graph)
        invariant = before_pipeline(parts[Stage.INVARIANT])
        graph.attributes[PRODUCERS] = IntegerAttr(producers_of(graph), i64)
    else:
        loop = loop_part(parts[Stage.LOOP], stages)
        held = [op for op in loop if HELD in op.attributes]
        pending = stages - 1 if loop else 0
        invariant = invariant_part(parts[Stage.INVARIANT], pending, held, looped=bool(loop))
    post = post_part(parts[Stage.POST], bool(loop))
    for op in list(block.ops):
        op.detach()
    ordered = [*invariant, *loop, *post]
    for meeting, follower in pairwise([*ordered, graph]):
        if isinstance(meeting, BarrierOp | AwaitTilesOp | ReleaseTilesOp):
            meeting.location = follower.location
    block.add_ops(ordered)
    graph.attributes[STAGES] = IntegerAttr(stages, i64)
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

    Output where tensor copies fetch all tiles of the loop (the graph gets `producers = 1`):
        threadblock.await_tiles
        %p = threadblock.matmul %x, %w {layout = registers, ...}
        threadblock.release_tiles

    A barrier stands where a thread reads, or overwrites, what another wrote or still reads. Loads
    are `cp.async` by all threads, and the barrier at the top of the loop also waits for the turn's
    tiles; or one warp does nothing but start tensor copies, and the others wait for these, each
    for itself. The number of buffers follows from the bytes that should be on their way.
    """

    name = "schedule-threadblock"

    stages: int | None = None
    """Buffers of each tile that the loop loads; chosen by their size where not given."""

    target: str = "sm_80"
    """The GPU; only where it has tensor copies is there a warp that starts them."""

    def __post_init__(self) -> None:
        target_named(self.target)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Visit every `kernel.graph_defined` of the module."""
        copies = target_named(self.target).tensor_copies
        for graph in [g for g in op.walk() if isinstance(g, kernel.GraphDefinedOp)]:
            pipelined = copies and is_pipelined(graph)
            schedule(graph, self.stages_of(graph, pipelined), pipelined=pipelined)
            if pipelined:
                turns, share = prod(graph.loop_sizes), int(self.share_of(graph))
                ahead = turns_ahead(turn_bytes(graph), turns, share)
                graph.attributes[AHEAD] = IntegerAttr(ahead, i64)

    def stages_of(self, graph: kernel.GraphDefinedOp, pipelined: bool) -> int:
        """Buffers of each tile that the loop of `graph` loads."""
        turns, size = prod(graph.loop_sizes), turn_bytes(graph)
        if self.stages:
            return min(turns, max(2, self.stages))
        if not pipelined:
            return choose_stages(size, turns)
        target = target_named(self.target)
        share = self.share_of(graph)
        return int(pipeline_stages(size, other_bytes(graph), turns, share, target))

    def share_of(self, graph: kernel.GraphDefinedOp) -> Array:
        """Blocks of a pipelined `graph` that each multiprocessor gets."""
        target = target_named(self.target)
        share = side_by_side(prod(graph.grid_sizes), prod(cluster_sizes(graph)), target)
        # Where producers give registers away one block takes all of them.
        return np.ones_like(share) if producers_of(graph) > PRODUCER_WARPS else share
