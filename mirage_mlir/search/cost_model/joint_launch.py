"""The modelled time of kernels that share a launch."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod

from mirage_mlir.layouts.layout import WARP_THREADS
from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.cost_model.terms import DRAM, EXPOSED, L2, MAIN
from mirage_mlir.targets.target import Target

ANOTHER_KERNEL = 0.02e-6
"""Seconds that each further kernel of a launch counts for, too few to be measured: of plans that
take as long otherwise that with fewer kernels is taken."""


@dataclass(frozen=True)
class KernelTime:
    """
    The time of a kernel in a launch of several; in seconds.

    Args:
        alone: the time of the kernel if it runs alone.
        shared: that part of it in which it has what others want, too: device memory, L2, or the
            multiprocessors on which it has blocks.
    """

    alone: float
    shared: float


def time_of(graph: BlockGraph, target: Target) -> KernelTime:
    """The time of a found graph, as others of its launch see it."""
    time, blocks = graph.model.time, prod(graph.blocks)
    main = time.phases[MAIN] + time.phases[EXPOSED]
    # The part of all multiprocessors that have something to do.
    filled = blocks / (ceil(blocks / target.sm_count) * target.sm_count)
    shared = max(time.units[DRAM], time.units[L2], filled * main)
    return KernelTime(graph.seconds, min(main, shared))


def common_of(graph: BlockGraph, target: Target) -> tuple[int, int, bool]:
    """What all blocks of a launch have in common: threads, blocks of a cluster, producers."""
    needs = graph.model.resources
    in_cluster = 1 < needs.splits <= target.cluster_max
    cluster = needs.splits if in_cluster else needs.multicast
    return (
        graph.model.threads + WARP_THREADS * needs.producer_warps,
        cluster,
        needs.producer_warps > 0,
    )


def seconds_together(times: Sequence[KernelTime]) -> float:
    """
    The modelled time of one launch of several kernels, at most that of one after the other.

    Kernels use shared resources one after the other. Launches, first and last iterations, and waits
    of one kernel pass while blocks of others work.
    """
    together = sum(time.shared for time in times) + max(time.alone - time.shared for time in times)
    slowest = max(time.alone for time in times)
    further = ANOTHER_KERNEL * (len(times) - 1)
    return min(max(together, slowest) + further, sum(time.alone for time in times))
