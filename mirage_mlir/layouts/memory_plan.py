"""
Offsets for buffers that live for a while: dynamic storage allocation by lifetimes.

Placing buffers one by one, each as low as it fits, finds an optimal plan for some order of the
buffers: lower every buffer of an optimal plan as far as it goes, then read the buffers by offset.
So the search goes through orders in which offsets never fall, and leaves out those that can not end
below the best plan so far. Most plans need none: first fit takes no more than is in use at the
fullest time.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd, lcm

from mirage_mlir.layouts.layout import round_up

EXACT_LIMIT = 8
"""Buffers up to which plans are the smallest there are, whatever their sizes and alignments."""

MOST_STEPS = 20_000
"""
Buffers that a search for more of them places before it takes the best so far.

The kernels of our workloads have up to 13 tiles in shared memory; first fit is optimal for all but
a few of them, where a search takes less than a millisecond. 300 random sets of 20 buffers with one
alignment took 144 steps at most; of 300 sets of 12, whose alignments of 1, 4 and 8 divide their
sizes, one took more than 20,000, which are a second.
"""


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

    def overlaps_in_time(self, other: "Buffer") -> bool:
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
            if buffer.overlaps_in_time(buffers[other])
        ]
        offsets[index] = _lowest_gap(buffer.size, taken, lcm(alignment, buffer.alignment))
    ends = [offset + buffers[index].size for index, offset in offsets.items()]
    return MemoryPlan(tuple(offsets[i] for i in range(len(buffers))), max(ends, default=0))


def lower_bound(buffers: Sequence[Buffer], alignment: int = 1) -> int:
    """Bytes in use at the fullest time, with what alignment wastes: no plan takes fewer."""
    step = gcd(*(lcm(alignment, buffer.alignment) for buffer in buffers))
    times = {buffer.first for buffer in buffers}
    return max(
        (
            _stacked([b.size for b in buffers if b.first <= time <= b.last], step)
            for time in sorted(times)
        ),
        default=0,
    )


def _stacked(sizes: Sequence[int], step: int) -> int:
    """The least that `sizes` take on top of each other, where all start at multiples of `step`."""
    whole = [round_up(size, step) for size in sizes]
    return sum(whole) - max(a - b for a, b in zip(whole, sizes, strict=True))


class _Search:
    """
    Branch and bound over the orders in which offsets never fall.

    Args:
        best: the smallest plan so far.
        steps: how many more buffers may be placed.
    """

    def __init__(
        self, buffers: Sequence[Buffer], alignment: int, best: MemoryPlan, steps: int | None
    ) -> None:
        self.buffers = buffers
        self.alignments = [lcm(alignment, buffer.alignment) for buffer in buffers]
        self.best = best
        self.steps = steps
        self.step = gcd(*self.alignments)
        self.bound = lower_bound(buffers, alignment)
        self.offsets: dict[int, int] = {}

    @cached_property
    def live(self) -> list[list[int]]:
        """The buffers in use at each time at which one starts to be."""
        times = sorted({buffer.first for buffer in self.buffers})
        return [
            [i for i, buffer in enumerate(self.buffers) if buffer.first <= time <= buffer.last]
            for time in times
        ]

    @cached_property
    def neighbours(self) -> list[list[int]]:
        """For each buffer those that are in use together with it."""
        numbers = range(len(self.buffers))
        return [
            [j for j in numbers if j != i and self.buffers[i].overlaps_in_time(self.buffers[j])]
            for i in numbers
        ]

    def run(self) -> MemoryPlan:
        """The smallest plan, or the best after so many steps."""
        self._extend(0, -1)
        return self.best

    def _extend(self, floor: int, last: int) -> None:
        """Place one more buffer at `floor` or above, in all ways that may be better."""
        left = [i for i in range(len(self.buffers)) if i not in self.offsets]
        if not left:
            ends = [offset + self.buffers[i].size for i, offset in self.offsets.items()]
            if max(ends) < self.best.size:
                self.best = MemoryPlan(
                    tuple(self.offsets[i] for i in range(len(self.buffers))), max(ends)
                )
            return
        places = sorted((self._place(i), i) for i in left)
        if any(offset + self.buffers[i].size <= floor for offset, i in places):
            return  # Nothing that comes can keep it from there: another order is this plan's.
        for offset, index in places:
            if self.best.size == self.bound or self.steps == 0:
                return
            if (offset, index) < (floor, last) or self._has_twin(index, left):
                continue
            if not self._may_be_better(offset, places):
                return
            if self.steps is not None:
                self.steps -= 1
            self.offsets[index] = offset
            self._extend(offset, index)
            del self.offsets[index]

    def _place(self, index: int) -> int:
        """The lowest offset at which a buffer fits between those that have a place."""
        taken = [
            (self.offsets[other], self.offsets[other] + self.buffers[other].size)
            for other in self.neighbours[index]
            if other in self.offsets
        ]
        return _lowest_gap(self.buffers[index].size, taken, self.alignments[index])

    def _has_twin(self, index: int, left: Sequence[int]) -> bool:
        """Whether an equal buffer with a lower number has no place yet: it goes first."""
        return any(other < index and self.buffers[other] == self.buffers[index] for other in left)

    def _may_be_better(self, floor: int, left: Sequence[tuple[int, int]]) -> bool:
        """
        Whether what is left, all of it at `floor` or above, may end below the best plan.

        `left` has the lowest place of each.
        """
        if any(max(floor, at) + self.buffers[i].size >= self.best.size for at, i in left):
            return False
        for together in self.live:
            open_ = [self.buffers[i].size for i in together if i not in self.offsets]
            if not open_:
                continue
            above = [
                self.offsets[i] + self.buffers[i].size - floor
                for i in together
                if i in self.offsets and self.offsets[i] + self.buffers[i].size > floor
            ]
            if floor + _stacked([*open_, *above], self.step) >= self.best.size:
                return False
        return True


def plan_memory(buffers: Sequence[Buffer], alignment: int = 16) -> MemoryPlan:
    """
    Offsets so that buffers in use at one time never overlap.

    The plan is the smallest there is for up to `EXACT_LIMIT` buffers; beyond, it is that too unless
    the search takes more than `MOST_STEPS`: then the best that first fit and the search found.
    """
    numbers = range(len(buffers))
    plans = [
        first_fit(buffers, sorted(numbers, key=lambda i: (-buffers[i].size, i)), alignment),
        first_fit(buffers, sorted(numbers, key=lambda i: (buffers[i].first, i)), alignment),
    ]
    best = min(plans, key=lambda plan: plan.size)
    if best.size == lower_bound(buffers, alignment):
        return best
    steps = None if len(buffers) <= EXACT_LIMIT else MOST_STEPS
    return _Search(buffers, alignment, best, steps).run()
