"""How long a plan takes where kernels that do not depend on each other share a launch."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace

from xdsl.ir import Operation, SSAValue

from mirage_mlir.decisions.horizontal_fusion import joint_launches
from mirage_mlir.dialects import kernel
from mirage_mlir.passes.analysis.launch_groups import fusion_candidates
from mirage_mlir.passes.frontend.plan import FunctionWriter, Plan, PlannedKernel, stays
from mirage_mlir.passes.frontend.tile_positions import ArrangementError
from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.cost_model.joint_launch import (
    KernelTime,
    common_of,
    seconds_together,
    time_of,
)
from mirage_mlir.search.multi_kernel.joint_launches import alike
from mirage_mlir.search.multi_kernel.kernel_plan import PlanKernel
from mirage_mlir.targets.target import Target

Offers = Callable[[PlannedKernel, float], Sequence[PlannedKernel]]
"""For a part of a plan single kernels whose blocks are unlike, which take no more than so many
seconds each; the fastest first."""


MOST_PARTS = 64
"""Of a plan whose parts may be computed by rivals. All kernels are written anew for each kind of
rival: a search that took 49 seconds, with plans of 362 kernels, takes 25 without. A layer of a
transformer has ten."""


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
    if len(plan.kernels) > MOST_PARTS:
        return best
    refused: list[PlannedKernel] = []
    for wanted in dict.fromkeys(_blocks(each, target) for p in plan.kernels for each in _offers(p)):
        kernels = tuple(
            next((r for r in _offers(part) if _blocks(r, target) == wanted), part)
            for part in best.kernels
        )
        changed = [new for new, old in zip(kernels, best.kernels, strict=True) if new is not old]
        if not changed or any(rival in refused for rival in changed):
            continue
        other = with_joint_launches(replace(best, kernels=kernels, saved=0.0), target)
        if other.seconds >= best.seconds:
            continue
        refused += [rival for rival in changed if not accepts(rival)]
        if not any(rival in refused for rival in changed):
            best = other
    return best


def with_launches_of_parts(
    plan: Plan, target: Target, offers: Offers, accepts: Callable[[PlannedKernel], bool]
) -> Plan:
    """
    The plan, or a faster one in which parts that do not depend on each other share launches.

    Args:
        plan: as it is best if each part has launches of its own.
        target: the GPU.
        offers: finds kernels of a part with blocks of other kinds.
        accepts: tells of such a kernel whether it may be taken: it is proved.
    """
    best = plan
    for parts in _side_by_side(plan):
        most = sum(part.seconds for part in parts)
        choices = [[*offers(part, most)] for part in parts]
        while (some := _fastest(parts, choices, target)) is not None:
            refused = [one for one in some.values() if not accepts(one)]
            if not refused:
                kernels = tuple(some.get(part.results, part) for part in best.kernels)
                other = with_joint_launches(replace(best, kernels=kernels, saved=0.0), target)
                best = min(best, other, key=lambda each: each.seconds)
                break
            choices = [[one for one in each if one not in refused] for each in choices]
    return best


def _side_by_side(plan: Plan) -> list[list[PlannedKernel]]:
    """The parts of a plan that as many others are before; of those several."""
    makers = {result: part for part in plan.kernels for result in part.results}
    depths: dict[tuple[SSAValue, ...], int] = {}
    # Each part is behind those that it reads, once all of the function are written.
    writer = FunctionWriter(plan)
    try:
        writer.write()
    except ArrangementError:
        return []
    for part in writer.launched:
        # A constant that is computed where it is read has no launch, nor a depth.
        read = {makers[root].results for root in _read(part) if root in makers}
        depths[part.results] = 1 + max((depths.get(results, -1) for results in read), default=-1)
    levels: dict[int, list[PlannedKernel]] = {}
    for part in writer.launched:
        levels.setdefault(depths[part.results], []).append(part)
    return [parts for parts in levels.values() if len(parts) > 1]


def _read(part: PlannedKernel) -> Iterator[SSAValue]:
    """What a part reads, and what that is a view of."""
    pending = [*part.arguments]
    while pending:
        value = pending.pop()
        yield value
        if isinstance(value.owner, Operation) and stays(value.owner):
            pending += value.owner.operands


def _fastest(
    parts: Sequence[PlannedKernel], choices: Sequence[Sequence[PlannedKernel]], target: Target
) -> dict[tuple[SSAValue, ...], PlannedKernel] | None:
    """
    By the results of parts, kernels that together take less in one launch than the parts do.

    None where there are none.
    """
    by_kernel = {id(_kernel(one)): one for each in choices for one in each}
    found: dict[tuple[SSAValue, ...], PlannedKernel] | None = None
    best = sum(part.seconds for part in parts)
    for some in alike([[_kernel(one) for one in each] for each in choices], target):
        taken = [kernel for kernel in some if kernel is not None]
        left = sum(p.seconds for p, kernel in zip(parts, some, strict=True) if kernel is None)
        seconds = left + seconds_together([time_of(each.graph, target) for each in taken])
        if len(taken) > 1 and seconds < best:
            best = seconds
            pairs = zip(parts, some, strict=True)
            found = {p.results: by_kernel[id(one)] for p, one in pairs if one is not None}
    return found


def _kernel(part: PlannedKernel) -> PlanKernel:
    """The one kernel of a part."""
    assert part.plan is not None
    (kernel,) = part.plan.kernels
    return kernel


def _offers(part: PlannedKernel) -> tuple[PlannedKernel, ...]:
    return part, *part.rivals


def _blocks(part: PlannedKernel, target: Target) -> tuple[Hashable, ...]:
    """What blocks of each kernel of a part have in common."""
    return tuple(graph and common_of(graph, target) for graph in _kernels(part))
