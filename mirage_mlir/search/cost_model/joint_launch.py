"""The modelled time of kernels that share a launch."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod

import numpy as np

from mirage_mlir.decisions.schedule import MIN_PIPELINE_STAGES, RESERVED_BYTES
from mirage_mlir.layouts.layout import WARP_THREADS
from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.cost_model.terms import (
    COMPUTING,
    DRAM,
    EXPOSED,
    L2,
    MAIN,
    PER_MULTIPROCESSOR,
)
from mirage_mlir.targets.target import Target

ANOTHER_KERNEL = 0.02e-6
"""Seconds that each further kernel of a launch counts for, too few to be measured: of plans that
take as long otherwise that with fewer kernels is taken."""

BEGINNING_ANEW = 2.0
"""Times the first and last iterations and the launch of a block: what a block costs that begins
when another ends. Projections of 50 MB in one launch took 17 to 19 us on an H200 with room for all
their blocks, or for two thirds of them; 22 to 28 us with one on a multiprocessor at a time."""


@dataclass(frozen=True)
class KernelTime:
    """
    The time of a kernel in a launch of several; in seconds.

    Args:
        alone: the time of the kernel if it runs alone.
        shared: that part of it in which it has what others want, too: device memory, L2, or the
            multiprocessors on which it has blocks.
        moved: what its bytes take at the rates of device memory and of L2.
        work: for how long one block keeps a multiprocessor busy, at least.
        blocks: of its grid.
        places: multiprocessors that can hold its blocks.
        side_by_side: the most blocks of it that a multiprocessor has room for at a time.
    """

    alone: float
    shared: float
    moved: float
    work: float
    blocks: int
    places: int
    side_by_side: int

    @property
    def waits(self) -> float:
        """The part of the time in which nothing is at its limit: its launch, the last iteration."""
        busy = ceil(self.blocks / self.places) * self.work
        return max(0.0, self.alone - max(self.moved, busy))


def time_of(graph: BlockGraph, target: Target) -> KernelTime:
    """The time of a found graph, as others of its launch see it."""
    time, blocks = graph.model.time, prod(graph.blocks)
    _, cluster, _ = common_of(graph, target)
    places = target.sm_count_in_clusters if cluster > 2 else target.sm_count
    main = time.phases[MAIN] + time.phases[EXPOSED]
    # The part of all multiprocessors that have something to do.
    filled = blocks / (ceil(blocks / target.sm_count) * target.sm_count)
    moved = time.units[DRAM] + time.units[L2]
    busy = max(time.units.get(unit, 0.0) for unit in (PER_MULTIPROCESSOR, *COMPUTING))
    return KernelTime(
        alone=graph.seconds,
        shared=min(main, max(moved, filled * main)),
        moved=moved,
        work=busy / ceil(blocks / places),
        blocks=blocks,
        places=places,
        side_by_side=_most_side_by_side(graph, target),
    )


def _most_side_by_side(graph: BlockGraph, target: Target) -> int:
    """The blocks that a multiprocessor has room for, with the fewest pipeline stages."""
    needs = graph.model.resources
    least = graph.model.shared_bytes
    if needs.producer_warps:
        least -= max(0, needs.stages - MIN_PIPELINE_STAGES) * needs.iteration_bytes
    room = target.shared_memory_per_sm // (least + RESERVED_BYTES)
    return max(1, min(room, target.threads_per_sm // graph.model.threads))


def common_of(graph: BlockGraph, target: Target) -> tuple[int, int, bool]:
    """What all blocks of a launch have in common: threads, blocks of a cluster, producers."""
    needs = graph.model.resources
    cluster = needs.splits if needs.splits <= target.cluster_max else 1
    return (
        graph.model.threads + WARP_THREADS * needs.producer_warps,
        cluster,
        needs.producer_warps > 0,
    )


def seconds_together(times: Sequence[KernelTime]) -> float:
    """
    The modelled time of one launch of several kernels, at most that of one after the other.

    Kernels use shared resources one after the other. Launches, first and last iterations, and waits
    of one kernel pass while blocks of others work. Blocks that have to wait for room begin anew,
    beside the others of their multiprocessor; the largest block says for how many there is room.
    """
    waits = max(time.waits for time in times)
    apart = max(time.alone - time.shared for time in times)
    side_by_side = min(time.side_by_side for time in times)
    places = min(time.places for time in times)
    rounds = ceil(sum(time.blocks for time in times) / (side_by_side * places))
    again = BEGINNING_ANEW * (rounds - 1) * apart / side_by_side if len(times) > 1 else 0.0
    moved = sum(time.moved for time in times)
    together = max(moved, _busiest(times)) + waits + again
    slowest = max(time.alone for time in times)
    further = ANOTHER_KERNEL * (len(times) - 1)
    return min(max(together, slowest) + further, sum(time.alone for time in times))


def _busiest(times: Sequence[KernelTime]) -> float:
    """The seconds of work of the busiest multiprocessor; these get blocks round-robin."""
    places = min(time.places for time in times)
    work, start = np.zeros(places), 0
    for time in times:
        rounds, rest = divmod(time.blocks, places)
        work += rounds * time.work
        work[(start + np.arange(rest)) % places] += time.work
        start += time.blocks
    return float(work.max())
