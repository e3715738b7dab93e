"""
Times of a part on this machine's GPU: by our kernels, and as inductor compiles it.

Both are captured in CUDA graphs that run the part on several sets of inputs, one after the other,
and are replayed alternately: in a model, too, a part finds other tensors in the cache than its
weights.
"""

import copy
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import ceil
from typing import Any

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""

COLD_BYTES = 256 << 20
"""All sets of inputs have: several times the L2 cache of an A100 (40 MB) or H100 (50 MB)."""

MOST_SETS = 16
"""More would only be captured and warmed: small parts are bound by launches, in any cache."""

ROUNDS = 7
"""Odd, so that a median was measured; one outlier among them moves it by less than 1 %."""

Call = Callable[[Sequence[Any]], object]
"""Computes a part of its inputs."""

Clock = Callable[[Sequence[Call], Sequence[Sequence[Any]]], list[float]]
"""The seconds of each of some calls with one set of inputs, given several sets."""


@dataclass(frozen=True)
class PartTimes:
    """Seconds of a part by our kernels, and by inductor's."""

    ours: float
    without: float


def times_of(module: Any, operator: Any, clock: Clock | None = None) -> PartTimes:
    """
    Time a part.

    Args:
        module: what computes it by operators of ATen; its inputs have `val` in their `meta`.
        operator: what computes it by our kernels.
        clock: how to time; CUDA graphs unless given.

    Raises:
        RuntimeError: inductor does not compile the part, or memory does not suffice.
    """
    examples = [node.meta["val"] for node in module.graph.nodes if node.op == "placeholder"]
    inner: Any = import_module("torch._inductor.compile_fx").compile_fx_inner
    # The graph around the part is being compiled, too, and notes how its results lie.
    with import_module("torch._guards").tracing(None):
        without = inner(copy.deepcopy(module), examples)
    # Graphs are rewritten while tensors are fakes.
    with import_module("torch.utils._python_dispatch")._disable_current_modes():
        calls: list[Call] = [lambda given: operator(*given), lambda given: without(list(given))]
        size = sum(each.untyped_storage().nbytes() for each in examples)
        sets = [[_filled(each) for each in examples] for _ in range(set_count(size))]
        return PartTimes(*(clock or replayed)(calls, sets))


def set_count(size: int) -> int:
    """How many sets of inputs of `size` bytes to time with."""
    return min(MOST_SETS, ceil(COLD_BYTES / max(size, 1)))


def _filled(example: Any) -> Any:
    """A tensor like an example, that lies as it does, of random numbers or a random mask."""
    made = torch.empty_strided(
        example.shape, example.stride(), dtype=example.dtype, device=example.device
    )
    return made.normal_() if example.is_floating_point() else made.random_(2)


def replayed(calls: Sequence[Call], sets: Sequence[Sequence[Any]]) -> list[float]:
    """Medians of alternate replays of CUDA graphs, after one of each that warms."""
    graphs = [_captured(call, sets) for call in calls]
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(1 + ROUNDS):
        for graph, found in zip(graphs, times, strict=True):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            graph.replay()
            end.record()
            end.synchronize()
            found.append(start.elapsed_time(end) * 1e-3 / len(sets))
    return [statistics.median(found[1:]) for found in times]


def _captured(call: Call, sets: Sequence[Sequence[Any]]) -> Any:
    """A CUDA graph of a call with each of the sets."""
    # A first call may compile or load kernels, which no capture allows.
    call(sets[0])
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    # Other threads of the process may allocate meanwhile: neither they nor this capture fail.
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        for given in sets:
            call(given)
    return graph
