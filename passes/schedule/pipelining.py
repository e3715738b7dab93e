"""The schedule of one kernel: buffers, producer warps, the order of a block's work, its waits."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue

from mirage_mlir.decisions.copies import loop_stages
from mirage_mlir.decisions.schedule import (
    iterations_in_flight,
    may_double_buffer,
    mbarrier_bytes,
    pipeline_stages,
)
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.fetched_tiles import FetchTilesOp
from mirage_mlir.dialects.layout import shared_buffer
from mirage_mlir.dialects.pipeline import (
    EPILOGUE,
    MAIN_LOOP,
    PRODUCER,
    PROLOGUE,
    AwaitReleaseOp,
    AwaitTileOp,
    BarrierOp,
    ClearPaddingOp,
    FillBuffersOp,
    IssueCopiesOp,
    RefillBuffersOp,
)
from mirage_mlir.dialects.split_k import ArriveClusterOp
from mirage_mlir.passes.analysis.buffers import is_delivered, staged_loads
from mirage_mlir.passes.analysis.copy_shapes import walks, walks_row_by_row
from mirage_mlir.passes.analysis.launch_groups import blocks_side_by_side
from mirage_mlir.passes.analysis.tile_attributes import (
    shares_tiles,
    uses_wgmma,
)
from mirage_mlir.passes.layouts.wgmma_operands import written_for_wgmma
from mirage_mlir.passes.schedule.block_resources import (
    fetched_loads,
    has_producer,
    is_followed,
    iteration_bytes,
    other_bytes,
    producer_share,
    producers_of,
    register_limit,
    unshared_bytes,
)
from mirage_mlir.passes.schedule.cluster_ending import with_ending
from mirage_mlir.passes.schedule.deferral import find_deferral
from mirage_mlir.passes.schedule.mma_pipeline import pipelined_mmas
from mirage_mlir.passes.schedule.order import (
    before_pipeline,
    invariant_part,
    loop_part,
    post_part,
    with_awaits,
)
from mirage_mlir.passes.schedule.persistence import persistent_blocks_of
from mirage_mlir.passes.schedule.pipelined_order import (
    alternating,
    pipelined_loop,
    set_double_buffered,
)
from mirage_mlir.passes.schedule.sections import Sections, by_stage, section_name, write_sections
from mirage_mlir.passes.schedule.staggering import begins_apart
from mirage_mlir.targets.target import Target


@dataclass(frozen=True)
class Pipelining:
    """
    Schedules a graph that has layouts.

    Args:
        graph: the kernel.
        target: only where it has tensor copies are there producers.
        given_stages: buffers of each tile that the loop loads; chosen by their size if not given.
        may_persist: whether blocks may compute one tile of the grid after another.
    """

    graph: kernel.GraphDefinedOp
    target: Target
    given_stages: int | None
    may_persist: bool = True

    def run(self) -> None:
        """Order the graph's operations, insert waits, and write its schedule."""
        if has_producer(self.graph, self.target):
            self.double_buffer()
            self.persist()
            sections = self.with_producer()
            self.set_producer()
        else:
            sections = self.without_producer()
        self.reorder(sections)
        self.fence(sections)
        self.clear_padding()
        self.graph.schedule = replace(self.graph.schedule, stages=self.stages())

    def with_producer(self) -> Sections:
        """What producers do, and the others in each section, where those copy the loop's tiles."""
        parts = by_stage(self.graph)
        tiles = [op.result for op in loads_of(parts[MAIN_LOOP])]
        before, loop = before_pipeline(parts[PROLOGUE]), pipelined_loop(parts[MAIN_LOOP])
        before, after = with_awaits(before, loop, post_part(parts[EPILOGUE], after_loop=True))
        last = self.releases_last
        limit = register_limit(self.graph, self.target)
        if deferral := find_deferral(self.graph, loop, self.stages(), limit):
            loop, ending = deferral.place(loop, releases_last=last)
        else:
            loop, ending = pipelined_mmas(loop, has_producer=True, releases_last=last)
        return {
            PRODUCER: self.produced(tiles, before, after),
            PROLOGUE: copies_first([*self.started(), *before]),
            MAIN_LOOP: loop,
            EPILOGUE: [*ending, *with_ending(self.graph, after)],
        }

    def produced(
        self, tiles: Sequence[SSAValue], before: list[Operation], after: list[Operation]
    ) -> list[Operation]:
        """
        What a producer does: copies of loop-invariant tiles, and of the loop's `tiles`.

        Those that are waited for `before` the loop come first, those `after` it behind the first
        iterations.
        """
        graph, iterations = self.graph, prod(self.graph.loop_sizes)
        stages = self.stages()
        waited = [{op.tile for op in ops if isinstance(op, AwaitTileOp)} for ops in (before, after)]
        found = [[op.result for op in loads_of(before) if op.result in each] for each in waited]
        soon, late = ([IssueCopiesOp(each)] if each else [] for each in found)
        copies: list[Operation] = [*soon, FillBuffersOp(tiles, stages), *late]
        if iterations > stages:
            share, apart = int(producer_share(graph, self.target)), begins_apart(graph)
            every, own = iteration_bytes(graph), unshared_bytes(graph)
            ahead = iterations_in_flight(every, own, iterations, share, apart=apart)
            copies.append(RefillBuffersOp(tiles, ahead))
        if shares_tiles(graph):
            copies.append(AwaitReleaseOp(tiles))
        return copies

    def without_producer(self) -> Sections:
        """What all warps do in each section, where they copy the loop's tiles themselves."""
        parts, stages = by_stage(self.graph), self.stages()
        tiles = [op.result for op in loads_of(parts[MAIN_LOOP])]
        fetched = fetched_loads(self.graph)
        late = walks_row_by_row(self.graph)
        loop = loop_part(parts[MAIN_LOOP], stages, fetched, late=late)
        matmuls = [op for op in loop if isinstance(op, threadblock.MatmulOp)]
        resident: list[Operation] = [op for op in matmuls if op.lhs_in_registers is not None]
        looped = bool(loop)
        pending = stages - 1 if looped else 0
        before = invariant_part(parts[PROLOGUE], pending, resident, looped=looped)
        loop, ending = pipelined_mmas(loop, has_producer=False, releases_last=False)
        first = range(stages - 1) if self.graph.loop_sizes else ()
        copies = [IssueCopiesOp(tiles, iteration=iteration) for iteration in first]
        fetches = [FetchTilesOp([op.result for op in fetched], stages - 1)] if fetched else []
        return {
            PROLOGUE: [*copies_first([*self.started(), *before], copies), *fetches],
            MAIN_LOOP: loop,
            EPILOGUE: [*ending, *with_ending(self.graph, post_part(parts[EPILOGUE], looped))],
        }

    def started(self) -> list[Operation]:
        """What tells the other blocks of a cluster that this one may be written to."""
        delivers = any(map(is_delivered, self.graph.body.block.ops))
        return [ArriveClusterOp(started=True)] if delivers else []

    def reorder(self, sections: Sections) -> None:
        """Replace the graph's operations by its loads and those of `sections`."""
        loads = loads_of(sections[PROLOGUE])
        sections[PROLOGUE] = [op for op in sections[PROLOGUE] if op not in loads]
        write_sections(self.graph, [*loads, *staged_loads(self.graph)], sections)

    def fence(self, sections: Sections) -> None:
        """Fence where warpgroups multiply what threads write: they read it another way."""
        if not written_for_wgmma(self.graph):
            return
        for name, ops in sections.items():
            for op in ops:
                if not isinstance(op, BarrierOp) or (name == MAIN_LOOP and op.pending is None):
                    continue
                if name == MAIN_LOOP or precedes_wgmma(op):
                    op.async_proxy_fence = UnitAttr()

    def clear_padding(self) -> None:
        """Clear, in front of everything else, the buffers whose padding MMAs read."""
        block = self.graph.body.block
        if any(shared_buffer(op).zero_padding for op in block.ops):
            (prologue,) = [op for op in block.ops if section_name(op) == PROLOGUE]
            added: list[Operation] = [ClearPaddingOp(), BarrierOp()]
            for op in added:
                op.location = prologue.location
            block.insert_ops_after(added, prologue)

    def set_producer(self) -> None:
        """Write how many warps copy tiles, and the registers of the others."""
        graph, producers = self.graph, producers_of(self.graph)
        limit = register_limit(graph, self.target)
        graph.schedule = replace(graph.schedule, producer_warps=producers, max_registers=limit)

    def double_buffer(self) -> None:
        """Keep two buffers of what the loop writes where iterations synchronize less often so."""
        before = self.stages()
        found = alternating(by_stage(self.graph)[MAIN_LOOP])
        set_double_buffered(found, True)
        stages, other = self.stages(), other_bytes(self.graph)
        needed = stages * iteration_bytes(self.graph) + other + mbarrier_bytes(stages)
        if not may_double_buffer(before, stages, needed, self.target):
            set_double_buffered(found, False)

    def persist(self) -> None:
        """Write the blocks of a persistent kernel."""
        if not self.may_persist:
            return
        blocks = persistent_blocks_of(self.graph, self.stages(), self.target)
        self.graph.schedule = replace(self.graph.schedule, persistent_blocks=blocks)

    @property
    def releases_last(self) -> bool:
        """Whether the tiles of the last iteration are released: producers wait for that."""
        return shares_tiles(self.graph) or self.graph.schedule.persistent_blocks > 0

    def stages(self) -> int:
        """Buffers of each tile that the loop loads, with the buffers that there are so far."""
        graph = self.graph
        iterations, size = prod(graph.loop_sizes), iteration_bytes(graph)
        if self.given_stages:
            return min(iterations, self.given_stages)
        if not has_producer(self.graph, self.target):
            fetched = fetched_loads(graph) == staged_loads(graph) != []
            share = blocks_side_by_side(graph, self.target) if walks(graph) else 1
            return int(loop_stages(size, iterations, fetched, share))
        share, followed = producer_share(graph, self.target), is_followed(graph)
        other = other_bytes(graph)
        return int(pipeline_stages(size, other, iterations, share, self.target, followed=followed))


def loads_of(ops: Sequence[Operation]) -> list[threadblock.LoadOp]:
    """Those of `ops` that are loads."""
    return [op for op in ops if isinstance(op, threadblock.LoadOp)]


def copies_first(ops: Sequence[Operation], copies: Sequence[IssueCopiesOp] = ()) -> list[Operation]:
    """The prologue's `ops`: copies that it issues, those of the loop (`copies`), the rest."""
    issued = [op for op in ops if isinstance(op, IssueCopiesOp)]
    return [*issued, *copies, *(op for op in ops if op not in issued)]


def precedes_wgmma(op: Operation) -> bool:
    """Whether a warpgroup matmul follows `op` in its block."""
    following = op.next_op
    while following is not None and not uses_wgmma(following):
        following = following.next_op
    return following is not None
