"""Plans in which kernels that do not depend on each other share launches, and their time."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from math import prod

from mirage_mlir.decisions.horizontal_fusion import FusionCandidate, joint_launches
from mirage_mlir.search.cost_model.joint_launch import common_of, seconds_together, time_of
from mirage_mlir.search.multi_kernel.kernel_plan import KernelPlan, PlanKernel
from mirage_mlir.targets.target import Target


def candidates_of(plan: KernelPlan, target: Target) -> list[FusionCandidate]:
    """What decides which kernels of a plan share a launch."""
    return [
        FusionCandidate(
            frozenset(source.kernel for source in each.arguments if source.kernel is not None),
            prod(each.graph.blocks),
            common_of(each.graph, target),
        )
        for each in plan.kernels
    ]


def side_by_side(plan: KernelPlan, target: Target) -> list[tuple[int, ...]]:
    """The numbers of kernels that could share launches if all their blocks were alike."""
    alike = [replace(each, block=0, blocks=1) for each in candidates_of(plan, target)]
    return [launch for launch in joint_launches(alike, target) if len(launch) > 1]


def joint_seconds(plan: KernelPlan, target: Target) -> float:
    """The modelled time of a plan, with the launches that `fuse-horizontally` makes of it."""
    return sum(
        seconds_together([time_of(plan.kernels[number].graph, target) for number in launch])
        for launch in joint_launches(candidates_of(plan, target), target)
    )


def fitting_each_other(
    plan: KernelPlan, choices: Sequence[Sequence[PlanKernel]], target: Target
) -> KernelPlan | None:
    """
    A plan whose kernels have blocks alike, so that they share launches; None where none is faster.

    Alone a product of few columns is split over many blocks, whose sums take time. In one launch
    with others, which have work for all multiprocessors, kernels that fit each other are faster.

    Args:
        plan: of the fastest kernels.
        choices: of each kernel, the fastest first.
        target: the GPU.
    """
    best, least = None, joint_seconds(plan, target)
    for launch in side_by_side(plan, target):
        start = best or plan
        for some in _alike([choices[number] for number in launch], target):
            kernels = list(start.kernels)
            for number, one in zip(launch, some, strict=True):
                kernels[number] = one or kernels[number]
            other = replace(start, kernels=tuple(kernels))
            if (seconds := joint_seconds(other, target)) < least:
                best, least = other, seconds
    return best


def _alike(
    choices: Sequence[Sequence[PlanKernel]], target: Target
) -> Iterator[list[PlanKernel | None]]:
    """
    Kernels with blocks alike, one of each choice; None where a choice has none.

    Of each choice they are the fastest alone, or those that leave most to the others.
    """
    by_block: list[dict[Hashable, list[PlanKernel]]] = [{} for _ in choices]
    for some, found in zip(choices, by_block, strict=True):
        for one in some:
            found.setdefault(common_of(one.graph, target), []).append(one)
    for block in dict.fromkeys(block for found in by_block for block in found):
        yield [found[block][0] if block in found else None for found in by_block]
        yield [
            min(found[block], key=lambda one: time_of(one.graph, target).shared)
            if block in found
            else None
            for found in by_block
        ]
