"""
Offsets for buffers that live for a while: dynamic storage allocation by lifetimes.

Placing buffers one by one, each as low as it fits, finds an optimal plan for some order of the
buffers (lower every buffer of an optimal plan as far as it goes, then read the buffers by
offset). So trying all orders is exact, and cheap for the few buffers of a kernel.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import lcm

from mirage_mlir.graph.layout import round_up

EXACT_LIMIT = 7
"""Buffers up to which all orders are tried: 5040 plans of 7 buffers take some 40 ms."""


@dataclass(frozen=True)
class Buffer:
    """
    Memory that is in use from time `first` to time `last`, both included.

    `size` is in bytes, and its offset a multiple of `alignment`.
    """

    size: int
    first: int
    last: int
    alignment: int = 1

    def meets(self, other: "Buffer") -> bool:
        """Whether both are in use at some time."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class MemoryPlan:
    """The offset of each buffer, in bytes, and the bytes that all of them take together."""

    offsets: tuple[int, ...]
    size: int


def _lowest_gap(size: int, taken: Iterable[tuple[int, int]], alignment: int) -> int:
    """The lowest aligned offset at which `size` bytes lie clear of the `(start, end)` taken."""
    offset = 0
    for start, end in sorted(taken):
        if offset + size <= start:
            break
        offset = max(offset, round_up(end, alignment))
    return offset


def first_fit(buffers: Sequence[Buffer], order: Iterable[int], alignment: int) -> MemoryPlan:
    """Place the buffers in `order`, each at the lowest offset where no live neighbour lies."""
    offsets: dict[int, int] = {}
    for index in order:
        buffer = buffers[index]
        taken = [
            (offset, offset + buffers[other].size)
            for other, offset in offsets.items()
            if buffer.meets(buffers[other])
        ]
        offsets[index] = _lowest_gap(buffer.size, taken, lcm(alignment, buffer.alignment))
    ends = [offset + buffers[index].size for index, offset in offsets.items()]
    return MemoryPlan(tuple(offsets[i] for i in range(len(buffers))), max(ends, default=0))


def lower_bound(buffers: Sequence[Buffer]) -> int:
    """Bytes in use at the fullest time: no plan takes fewer."""
    times = {buffer.first for buffer in buffers}
    return max(
        (sum(b.size for b in buffers if b.first <= time <= b.last) for time in times), default=0
    )


def plan_memory(buffers: Sequence[Buffer], alignment: int = 16) -> MemoryPlan:
    """
    Offsets so that buffers in use at one time never overlap.

    Optimal for up to `EXACT_LIMIT` buffers; beyond, first fit with the largest first.
    """
    largest_first = sorted(range(len(buffers)), key=lambda i: (-buffers[i].size, i))
    best = first_fit(buffers, largest_first, alignment)
    if len(buffers) > EXACT_LIMIT:
        return best
    bound = lower_bound(buffers)
    for order in permutations(range(len(buffers))):
        if best.size == bound:
            break
        plan = first_fit(buffers, order, alignment)
        if plan.size < best.size:
            best = plan
    return best
