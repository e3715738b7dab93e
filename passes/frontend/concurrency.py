"""How long a plan takes where kernels that do not depend on each other run at the same time."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from mirage_mlir.decisions.overlap import concurrent_kernels
from mirage_mlir.dialects import kernel
from mirage_mlir.passes.analysis.kernel_groups import overlap_candidates
from mirage_mlir.passes.frontend.plan import FunctionWriter, Plan, PlannedKernel
from mirage_mlir.passes.frontend.tile_positions import ArrangementError
from mirage_mlir.search.cost_model.overlap import KernelTime, seconds_together, time_of
from mirage_mlir.targets.target import Target


def with_overlap(plan: Plan, target: Target) -> Plan:
    """
    The plan with the time that it takes where `overlap-kernels` lets kernels overlap.

    One that cannot be written stays as it is: who writes it says why.
    """
    if not target.has_pdl or plan.count < 2:
        return plan
    writer = FunctionWriter(plan)
    try:
        function = writer.write()
    except ArrangementError:
        return plan
    graphs = [op for op in function.body.block.ops if isinstance(op, kernel.GraphDefinedOp)]
    times = [time for part in writer.launched for time in _times(part, target)]
    if len(times) != len(graphs):
        # Some graphs were there before, and have no modelled time.
        return plan
    groups = concurrent_kernels(overlap_candidates(graphs), target)
    saved = sum(_saved([times[number] for number in group]) for group in groups)
    return replace(plan, saved=saved)


def _saved(times: list[KernelTime]) -> float:
    return sum(time.alone for time in times) - seconds_together(times)


def _times(part: PlannedKernel, target: Target) -> Iterator[KernelTime]:
    """The time of each kernel of a part of a plan, in order."""
    graphs = [] if part.plan is None else [each.graph for each in part.plan.kernels]
    yield from (time_of(graph, target) for graph in graphs)
    copies = part.count - len(graphs)
    waits = target.launch_latency + target.dram_latency
    for _ in range(copies):
        alone = (part.seconds - sum(graph.seconds for graph in graphs)) / copies
        yield KernelTime(alone, max(0.0, alone - waits))


def with_rivals(plan: Plan, target: Target, accepts: Callable[[PlannedKernel], bool]) -> Plan:
    """
    The plan, or a faster one in which some parts are computed by other numbers of kernels.

    Alone a product of few columns is split over more blocks, whose sums a second kernel adds up.
    Beside others, which have work for the other multiprocessors, one kernel is faster.

    Args:
        plan: whose parts have rivals.
        target: the GPU.
        accepts: tells of a rival whether it may be taken: it is proved.
    """
    best = with_overlap(plan, target)
    for place, part in enumerate(plan.kernels):
        counts = {part.count}
        for rival in part.rivals:
            if rival.count in counts:
                continue
            counts.add(rival.count)
            kernels = (*best.kernels[:place], rival, *best.kernels[place + 1 :])
            other = with_overlap(replace(best, kernels=kernels, saved=0.0), target)
            if other.seconds < best.seconds and accepts(rival):
                best = other
    return best
