"""Plans in which kernels that do not depend on each other share launches, and their time."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from math import prod

from mirage_mlir.decisions.horizontal_fusion import FusionCandidate, joint_launches
from mirage_mlir.search.cost_model.joint_launch import (
    KernelTime,
    common_of,
    seconds_together,
    time_of,
)
from mirage_mlir.search.multi_kernel.kernel_plan import KernelPlan, PlanKernel
from mirage_mlir.targets.target import Target

OTHERS, NEARLY = 6, 1.1
"""Plans that are kept, and how much longer than the fastest they may take in the model: of 30 such
plans of projections with rotary embeddings the model was off by up to a third on an H200. Of Q, K
and V of 8 rows in bf16 one that it has 7 % behind the first took 15.6 us, and the first 19.4."""

TILINGS, MOST_WAYS = 4, 256
"""Grids of each kernel that are combined with those of others, the fastest alone first; and ways to
combine them, each of which takes 0.1 ms."""

UNEVEN, SHORT = 1.05, 0.5
"""How much longer blocks may work that end together: 16 blocks of K work 1 % longer than 64 of Q,
whose tiles are as large. And for which part of that time they work at least: twice as many blocks
work for half of it."""


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
    equal = [replace(each, block=0, blocks=1) for each in candidates_of(plan, target)]
    return [launch for launch in joint_launches(equal, target) if len(launch) > 1]


def joint_seconds(plan: KernelPlan, target: Target) -> float:
    """The modelled time of a plan, with the launches that `fuse-horizontally` makes of it."""
    return sum(
        seconds_together([time_of(plan.kernels[number].graph, target) for number in launch])
        for launch in joint_launches(candidates_of(plan, target), target)
    )


def fitting_each_other(
    plan: KernelPlan, choices: Sequence[Sequence[PlanKernel]], target: Target
) -> list[KernelPlan]:
    """
    Plans whose kernels have blocks alike, so that they share launches; the fastest first.

    Alone a product of few columns is split over many blocks, whose sums take time. In one launch
    with others, which have work for all multiprocessors, kernels that fit each other are faster.

    Args:
        plan: of the fastest kernels.
        choices: of each kernel, the fastest first.
        target: the GPU.
    """
    best = [(joint_seconds(plan, target), plan)]
    for launch in side_by_side(plan, target):
        _, start = best[0]
        for some in alike([choices[number] for number in launch], target):
            kernels = list(start.kernels)
            for number, one in zip(launch, some, strict=True):
                kernels[number] = one or kernels[number]
            other = replace(start, kernels=tuple(kernels))
            if all(other.kernels != known.kernels for _, known in best):
                best.append((joint_seconds(other, target), other))
        best.sort(key=lambda pair: pair[0])
    near = NEARLY * best[0][0]
    return [one for seconds, one in best[:OTHERS] if seconds <= near and one is not plan]


def alike(
    choices: Sequence[Sequence[PlanKernel]], target: Target
) -> Iterator[tuple[PlanKernel | None, ...]]:
    """
    Kernels with blocks alike, one of each choice; None where a choice has none.

    Args:
        choices: of each kernel, the fastest first.
        target: the GPU.
    """
    by_block: list[dict[Hashable, dict[object, PlanKernel]]] = [{} for _ in choices]
    for some, found in zip(choices, by_block, strict=True):
        for one in some:
            equal = found.setdefault(common_of(one.graph, target), {})
            # Of equal grids the fastest alone.
            equal.setdefault(one.graph.blocks, one)
    for block in dict.fromkeys(block for found in by_block for block in found):
        lists = [[*found.get(block, {}).values()] for found in by_block]
        fastest = [kernels[:TILINGS] or [None] for kernels in lists]
        yield from islice(product(*fastest), MOST_WAYS)
        yield from _as_even(lists, target)


def _as_even(
    lists: Sequence[Sequence[PlanKernel]], target: Target
) -> Iterator[tuple[PlanKernel | None, ...]]:
    """
    Of each list a kernel whose blocks work about as long as those of the others.

    Blocks that end together leave no multiprocessor idle. For each time that blocks of a kernel
    work, those kernels are taken whose blocks work longest, which are few, then those that move the
    fewest bytes.
    """
    times = [[(time_of(one.graph, target), one) for one in kernels] for kernels in lists]
    for most in sorted({time.work for some in times for time, _ in some}, reverse=True):
        fitting = [[pair for pair in some if pair[0].work <= UNEVEN * most] for some in times]
        if any(every and not some for some, every in zip(fitting, times, strict=True)):
            continue
        equal = [[p for p in some if p[0].work >= SHORT * most] or some for some in fitting]
        for first in (_longest, _least):
            yield tuple(min(some, key=first)[1] if some else None for some in equal)


def _longest(pair: tuple[KernelTime, PlanKernel]) -> float:
    """The sort key of a kernel by how long its blocks work, the longest first."""
    return -pair[0].work


def _least(pair: tuple[KernelTime, PlanKernel]) -> tuple[float, int]:
    """The sort key of a kernel by what it moves, then by its blocks."""
    return pair[0].moved, pair[0].blocks
