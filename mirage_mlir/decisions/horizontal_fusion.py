"""
Decides which kernels of a function share a launch, and the order of the launches.

Kernels that do not depend on each other become one grid, in which each has blocks of its own
(horizontal fusion): small kernels together keep all multiprocessors busy, and wait only once.
"""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

from mirage_mlir.targets.target import Target

MAX_BLOCKS_PER_SM = 8
"""Blocks for each multiprocessor of one launch for several kernels. A grid with more fills all
multiprocessors by itself, and its blocks would only get less shared memory."""


@dataclass(frozen=True)
class FusionCandidate:
    """
    The facts of one kernel by which launches are chosen.

    Args:
        reads: the numbers of the kernels whose results it reads, all before it.
        blocks: of its grid.
        block: what all blocks of a launch have in common (threads, size of their clusters); None
            where that is not known, for a kernel that stays alone.
        block_bytes: what each block loads.
    """

    reads: Collection[int]
    blocks: int
    block: Hashable | None
    block_bytes: int = 0


def joint_launches(
    kernels: Sequence[FusionCandidate], target: Target
) -> tuple[tuple[int, ...], ...]:
    """
    The numbers of the kernels of each launch, in the order of the launches.

    In a launch those come first whose blocks load most. Blocks start in their order: long ones
    behind short ones would start late, two on a multiprocessor whose short ones end early. Where no
    launch is shared the order is that of the kernels.

    Source: longest processing time first, Graham, "Bounds on Multiprocessing Timing Anomalies",
    SIAM Journal on Applied Mathematics 17, 1969.
    """
    depths: list[int] = []
    for kernel in kernels:
        depths.append(1 + max((depths[number] for number in kernel.reads), default=-1))
    most = MAX_BLOCKS_PER_SM * target.sm_count
    launches: list[list[int]] = []
    open_: dict[Hashable, list[int]] = {}
    for number in sorted(range(len(kernels)), key=lambda number: depths[number]):
        kernel = kernels[number]
        key = depths[number], kernel.block
        together: list[int] = open_.get(key, []) if kernel.block is not None else []
        if not together or sum(kernels[each].blocks for each in together) + kernel.blocks > most:
            together = []
            launches.append(together)
            open_[key] = together
        together.append(number)
    if len(launches) == len(kernels):
        return tuple((number,) for number in range(len(kernels)))
    return tuple(
        tuple(sorted(launch, key=lambda number: -kernels[number].block_bytes))
        for launch in launches
    )
