"""The modelled time of kernels that run at the same time."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod

from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.cost_model.terms import DRAM, EXPOSED, L2, MAIN
from mirage_mlir.targets.target import Target

BESIDE_START = 0.4e-6
"""Seconds until a kernel starts beside the previous one, which has to let it start first."""


@dataclass(frozen=True)
class KernelTime:
    """
    What kernels that run at the same time share, and what each takes alone; in seconds.

    Args:
        alone: the time of the kernel if it runs alone.
        shared: that part of it in which it has what others want, too: device memory, L2, or the
            multiprocessors on which it has blocks.
    """

    alone: float
    shared: float


def time_of(graph: BlockGraph, target: Target) -> KernelTime:
    """What a graph that the search found adds to others that run at the same time."""
    time, blocks = graph.model.time, prod(graph.blocks)
    main = time.phases[MAIN] + time.phases[EXPOSED]
    # The part of all multiprocessors that have something to do.
    filled = blocks / (ceil(blocks / target.sm_count) * target.sm_count)
    shared = max(time.units[DRAM], time.units[L2], filled * main)
    return KernelTime(graph.seconds, min(main, shared))


def seconds_together(times: Sequence[KernelTime]) -> float:
    """
    How long kernels take that run at the same time, no longer than one after the other.

    What they share they have one after the other; launches, the first and last iterations and what
    a kernel waits for pass while others work. One after the other they start, too.
    """
    last = (len(times) - 1) * BESIDE_START
    waits = max(time.alone - time.shared for time in times)
    together = max(last + waits + sum(time.shared for time in times), last + times[-1].alone)
    slowest = max(time.alone for time in times)
    return min(max(together, slowest), sum(time.alone for time in times))
