"""
What a step on a GPU consists of: its kernels, of what a profiler recorded.

Kernels may start before the one before them has ended (programmatic dependent launch), so that
their durations add up to more than the step takes. What a kernel adds to the step is the time from
the end of what ran before it to its own end: the sum of these is the step.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class StepKernel:
    """One kernel; times are in microseconds, `start` of the trace's clock."""

    name: str
    start: float
    duration: float
    added: float
    """From the end of all that started before it to its own end; 0 where it ends before that."""


def kernels_of(events: Iterable[Any]) -> list[StepKernel]:
    """
    What ran on the GPU, in the order of its starts.

    Args:
        events: of torch's profiler, which recorded a step: `profile.events()`.
    """
    found = [
        (event.time_range.start, event.time_range.end, event.name)
        for event in events
        if event.device_type.name == "CUDA" and not event.is_user_annotation
    ]
    kernels: list[StepKernel] = []
    before = min(found)[0] if found else 0.0
    for start, end, name in sorted(found):
        kernels.append(StepKernel(name, start, end - start, max(0.0, end - before)))
        before = max(before, end)
    return kernels


def by_name(kernels: Iterable[StepKernel]) -> list[dict[str, object]]:
    """How many kernels have a name and what they add, the most first."""
    counts: dict[str, int] = {}
    added: dict[str, float] = {}
    for kernel in kernels:
        counts[kernel.name] = counts.get(kernel.name, 0) + 1
        added[kernel.name] = added.get(kernel.name, 0.0) + kernel.added
    names = sorted(added, key=lambda name: -added[name])
    return [{"us": round(added[name], 1), "count": counts[name], "kernel": name} for name in names]


def period(names: Sequence[str]) -> range:
    """
    The place of one period, such as a layer, in the middle of where they repeat.

    That is the longest stretch in which each name comes again after a fixed number of others, at
    least once for all; the fewest of these where several numbers fit. Empty where nothing repeats.
    """
    best, longest = range(0), 0
    for length in range(1, len(names) // 2 + 1):
        stop = 0
        while (start := _next_repetition(names, length, stop)) is not None:
            stop = start
            while stop + length < len(names) and names[stop] == names[stop + length]:
                stop += 1
            stretch = stop + length - start
            if stretch >= 2 * length and stretch > longest:
                longest = stretch
                first = start + length * (stretch // length // 2)
                best = range(first, first + length)
    return best


def _next_repetition(names: Sequence[str], length: int, start: int) -> int | None:
    """From `start` on the first place whose name comes again `length` places later."""
    places = range(start, len(names) - length)
    return next((at for at in places if names[at] == names[at + length]), None)


def one_period(kernels: Sequence[StepKernel]) -> list[dict[str, object]]:
    """The kernels of one period in order; they start at the end of what came before it."""
    places = period([kernel.name for kernel in kernels])
    if not places:
        return []
    zero = max(kernel.start + kernel.duration for kernel in kernels[: places.start])
    return [
        {
            "start_us": round(kernel.start - zero, 2),
            "duration_us": round(kernel.duration, 2),
            "us": round(kernel.added, 2),
            "kernel": kernel.name,
        }
        for kernel in (kernels[place] for place in places)
    ]
