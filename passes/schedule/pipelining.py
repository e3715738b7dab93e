"""The schedule of one kernel: buffers, producer warps, the order of a block's work, its waits."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import prod

import numpy as np
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

from mirage_mlir.decisions.registers import PRODUCER_WARPS, registers_side_by_side
from mirage_mlir.decisions.schedule import (
    FOLLOWER_BYTES,
    Array,
    copy_stages,
    iterations_ahead,
    iterations_at_start,
    may_double_buffer,
    mbarrier_bytes,
    pipeline_stages,
    side_by_side,
)
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.layout import AwaitTileOp, AwaitTilesOp, BarrierOp, ReleaseTilesOp
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.passes.analysis.buffers import is_staged, is_tensor_copy
from mirage_mlir.passes.analysis.tile_attributes import DOUBLE_BUFFERED, cluster_sizes
from mirage_mlir.passes.schedule.block_resources import (
    follows_kernel,
    is_followed,
    iteration_bytes,
    other_bytes,
    producers_of,
    sums_of,
    unshared_bytes,
)
from mirage_mlir.passes.schedule.order import (
    before_pipeline,
    invariant_part,
    loop_part,
    post_part,
    with_awaits,
)
from mirage_mlir.passes.schedule.pipelined_order import alternating, pipelined_loop
from mirage_mlir.passes.schedule.rotation import rotate
from mirage_mlir.passes.schedule.sections import by_stage
from mirage_mlir.targets.target import Target

SYNCHRONIZATIONS = (BarrierOp, AwaitTileOp, AwaitTilesOp, ReleaseTilesOp)
"""Operations of the schedule; they have the location of what comes behind them."""

Parts = dict[Stage, list[Operation]]


@dataclass(frozen=True)
class Pipelining:
    """
    Schedules a graph that has layouts.

    Args:
        graph: the kernel.
        target: only where it has tensor copies are there producers.
        given_stages: buffers of each tile that the loop loads; chosen by their size if not given.
    """

    graph: kernel.GraphDefinedOp
    target: Target
    given_stages: int | None

    def run(self) -> None:
        """Order the graph's operations, insert waits, and write its schedule."""
        if self.has_producer:
            self.double_buffer()
            self.reorder(self.order_with_producer())
            self.set_producer()
        else:
            self.reorder(self.order_without_producer())
        self.graph.schedule = replace(self.graph.schedule, stages=self.stages())
        rotate(self.graph)

    @cached_property
    def has_producer(self) -> bool:
        """Whether tensor copies, which one thread starts, fetch all tiles of the loop."""
        staged = [op for op in self.graph.body.block.ops if is_staged(op)]
        return self.target.has_tma and bool(staged) and all(map(is_tensor_copy, staged))

    def order_with_producer(self) -> Parts:
        """What consumer warps do before, in and after the loop whose tiles producers copy."""
        parts = by_stage(self.graph)
        loop = pipelined_loop(parts[Stage.LOOP])
        invariant, post = with_awaits(
            before_pipeline(parts[Stage.INVARIANT]), loop, post_part(parts[Stage.POST], bool(loop))
        )
        return {Stage.INVARIANT: invariant, Stage.LOOP: loop, Stage.POST: post}

    def order_without_producer(self) -> Parts:
        """What all warps do before, in and after the loop, whose tiles they copy themselves."""
        parts, stages = by_stage(self.graph), self.stages()
        loop = loop_part(parts[Stage.LOOP], stages)
        matmuls = [op for op in loop if isinstance(op, threadblock.MatmulOp)]
        resident: list[Operation] = [op for op in matmuls if op.lhs_in_registers is not None]
        pending = stages - 1 if loop else 0
        invariant = invariant_part(parts[Stage.INVARIANT], pending, resident, looped=bool(loop))
        post = post_part(parts[Stage.POST], bool(loop))
        return {Stage.INVARIANT: invariant, Stage.LOOP: loop, Stage.POST: post}

    def reorder(self, parts: Parts) -> None:
        """Replace the graph's operations by those of `parts`."""
        block = self.graph.body.block
        for op in list(block.ops):
            op.detach()
        ordered = [op for stage in Stage for op in parts[stage]]
        for op, follower in pairwise([*ordered, self.graph]):
            if isinstance(op, SYNCHRONIZATIONS):
                op.location = follower.location
        block.add_ops(ordered)

    def set_producer(self) -> None:
        """Write how many warps copy tiles, how far ahead they do, and the others' registers."""
        graph, iterations = self.graph, prod(self.graph.loop_sizes)
        size, share = unshared_bytes(graph), int(self.share())
        threads, producers = graph.schedule.threads, producers_of(graph)
        limit = registers_side_by_side(threads, producers, sums_of(graph), share)
        graph.schedule = replace(
            graph.schedule,
            producer_warps=producers,
            iterations_ahead=iterations_ahead(size, iterations, share),
            iterations_at_start=iterations_at_start(size, share, soon=follows_kernel(graph)),
            max_registers=int(limit),
        )

    def double_buffer(self) -> None:
        """Keep two buffers of what the loop writes where iterations synchronize less often so."""
        before = self.stages()
        found = alternating(by_stage(self.graph)[Stage.LOOP])
        for op in found:
            op.attributes[DOUBLE_BUFFERED] = UnitAttr()
        stages, other = self.stages(), other_bytes(self.graph)
        needed = stages * iteration_bytes(self.graph) + other + mbarrier_bytes(stages)
        if not may_double_buffer(before, stages, needed, self.target):
            for op in found:
                del op.attributes[DOUBLE_BUFFERED]

    def stages(self) -> int:
        """Buffers of each tile that the loop loads, with the buffers that there are so far."""
        graph = self.graph
        iterations, size = prod(graph.loop_sizes), iteration_bytes(graph)
        if self.given_stages:
            return min(iterations, self.given_stages)
        if not self.has_producer:
            return int(copy_stages(size, iterations))
        other = other_bytes(graph) + (FOLLOWER_BYTES if is_followed(graph) else 0)
        return int(pipeline_stages(size, other, iterations, self.share(), self.target))

    def share(self) -> Array:
        """Blocks of a graph with producers that each multiprocessor gets."""
        graph = self.graph
        share = side_by_side(prod(graph.grid_sizes), prod(cluster_sizes(graph)), self.target)
        # Where producers give registers away one block takes all of them.
        return np.ones_like(share) if producers_of(graph) > PRODUCER_WARPS else share
