"""How long a plan takes where kernels that do not depend on each other share a launch."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace

from mirage_mlir.decisions.horizontal_fusion import joint_launches
from mirage_mlir.dialects import kernel
from mirage_mlir.passes.analysis.launch_groups import fusion_candidates
from mirage_mlir.passes.frontend.plan import FunctionWriter, Plan, PlannedKernel
from mirage_mlir.passes.frontend.tile_positions import ArrangementError
from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.cost_model.joint_launch import (
    KernelTime,
    common_of,
    seconds_together,
    time_of,
)
from mirage_mlir.targets.target import Target


def with_joint_launches(plan: Plan, target: Target) -> Plan:
    """
    The plan with the time that it takes with the launches that `fuse-horizontally` makes.

    One that cannot be written stays as it is: who writes it says why.
    """
    if plan.count < 2:
        return plan
    writer = FunctionWriter(plan)
    try:
        function = writer.write()
    except ArrangementError:
        return plan
    graphs = [op for op in function.body.block.ops if isinstance(op, kernel.GraphDefinedOp)]
    found = [each for part in writer.launched for each in _kernels(part)]
    if len(found) != len(graphs):
        # Some graphs were there before, and have no modelled time.
        return plan
    blocks = [None if graph is None else common_of(graph, target) for graph in found]
    saved = 0.0
    for launch in joint_launches(fusion_candidates(graphs, blocks), target):
        known = [graph for graph in (found[number] for number in launch) if graph is not None]
        times = [time_of(graph, target) for graph in known]
        if len(times) > 1:
            saved += _saved(times)
    return replace(plan, saved=saved)


def _kernels(part: PlannedKernel) -> Iterator[BlockGraph | None]:
    """The kernels of a part of a plan in order; None for those that only copy."""
    graphs = [] if part.plan is None else [each.graph for each in part.plan.kernels]
    yield from graphs
    yield from (None for _ in range(part.count - len(graphs)))


def _saved(times: list[KernelTime]) -> float:
    return sum(time.alone for time in times) - seconds_together(times)


def with_rivals(plan: Plan, target: Target, accepts: Callable[[PlannedKernel], bool]) -> Plan:
    """
    The plan, or a faster one in which some parts are computed by other kernels.

    Alone a product of few columns is split over many blocks, whose sums take time. In one launch
    with others, which have work for all multiprocessors, kernels that fit each other are faster.

    Args:
        plan: whose parts have rivals.
        target: the GPU.
        accepts: tells of a rival whether it may be taken: it is proved.
    """
    best = with_joint_launches(plan, target)
    refused: list[PlannedKernel] = []
    for wanted in dict.fromkeys(_blocks(each, target) for p in plan.kernels for each in _offers(p)):
        kernels = tuple(
            next((r for r in _offers(part) if _blocks(r, target) == wanted), part)
            for part in best.kernels
        )
        changed = [new for new, old in zip(kernels, best.kernels, strict=True) if new is not old]
        other = with_joint_launches(replace(best, kernels=kernels, saved=0.0), target)
        if not changed or other.seconds >= best.seconds or any(r in refused for r in changed):
            continue
        refused += [rival for rival in changed if not accepts(rival)]
        if not any(rival in refused for rival in changed):
            best = other
    return best


def _offers(part: PlannedKernel) -> tuple[PlannedKernel, ...]:
    return part, *part.rivals


def _blocks(part: PlannedKernel, target: Target) -> tuple[Hashable, ...]:
    """What blocks of each kernel of a part have in common."""
    return tuple(graph and common_of(graph, target) for graph in _kernels(part))
