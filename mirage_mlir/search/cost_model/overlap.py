"""The modelled time of kernels that run at the same time."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod

from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.cost_model.terms import DRAM, EXPOSED, L2, MAIN
from mirage_mlir.targets.target import Target


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
    How long kernels take that run at the same time.

    What they share they have one after the other; launches, the first and last iterations and what
    a kernel waits for pass while others work.
    """
    together = sum(time.shared for time in times) + max(time.alone - time.shared for time in times)
    return max(together, *(time.alone for time in times)) if times else 0.0
