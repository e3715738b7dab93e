"""
Which kernels of a function run at the same time, and in which order kernels are launched for that.

A kernel whose inputs are there when another one starts may run beside it (programmatic dependent
launch): its blocks take the multiprocessors that the other leaves idle.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from mirage_mlir.targets.target import Target

MAX_BLOCKS_PER_SM = 8
"""Blocks for each multiprocessor of kernels that run at the same time. Of more, most start when
others end in any case, and each would get little shared memory."""


@dataclass(frozen=True)
class OverlapCandidate:
    """
    What is asked of a kernel.

    Args:
        reads: the numbers of the kernels whose results it reads, all before it.
        blocks: of its grid.
    """

    reads: Collection[int]
    blocks: int


def concurrent_kernels(
    kernels: Sequence[OverlapCandidate], target: Target
) -> tuple[tuple[int, ...], ...]:
    """
    The numbers of kernels in the order of their launches, those together that run together.

    Each is launched as soon as what it reads is there. Without programmatic dependent launch each
    runs alone, in the order in which they are.
    """
    if not target.has_pdl:
        return tuple((number,) for number in range(len(kernels)))
    depths: list[int] = []
    for kernel in kernels:
        depths.append(1 + max((depths[number] for number in kernel.reads), default=-1))
    most = MAX_BLOCKS_PER_SM * target.sm_count
    groups: list[tuple[int, ...]] = []
    for depth in sorted({*depths}):
        group: tuple[int, ...] = ()
        blocks = 0
        for number in (number for number, each in enumerate(depths) if each == depth):
            if group and blocks + kernels[number].blocks > most:
                groups.append(group)
                group, blocks = (), 0
            group += (number,)
            blocks += kernels[number].blocks
        groups.append(group)
    return tuple(groups)
