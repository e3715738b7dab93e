"""What a peer is, and how it finds its best configuration."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gpu

Inputs = Sequence[Any]
Call = Callable[..., Any]

EAGER = "eager"
"""The name of PyTorch, operator by operator."""

TUNING_REPLAYS = 5
"""Of a graph, for each configuration: the differences that matter are larger than the noise."""

TUNING_SETS = 24
"""Input sets for tuning, at most."""


@dataclass(frozen=True)
class Setting:
    """What a peer is made for: input sets, and whether it is only to be compiled."""

    torch: Any
    sets: Sequence[Inputs]
    compile_only: bool = False


@dataclass(frozen=True)
class Peer:
    """Another implementation of a program."""

    name: str
    build: Callable[[Setting], Call]
    """Makes the function that is timed; it may try configurations."""
    prepare: Callable[..., Inputs] | None = None
    """Brings inputs into another layout, outside of what is timed."""
    slow_to_build: bool = False
    """Whether building it before, in another process, fills a cache that makes it fast."""


def prepared(peer: Peer, sets: Sequence[Inputs]) -> list[Inputs]:
    """The input sets as `peer` takes them."""
    return [peer.prepare(*inputs) if peer.prepare else inputs for inputs in sets]


def fastest(setting: Setting, configurations: Sequence[Any], make: Callable[[Any], Call]) -> Call:
    """
    The call of the fastest configuration.

    Raises:
        RuntimeError: none of them runs.
    """
    torch, sets = setting.torch, setting.sets[:TUNING_SETS]
    best, least, errors = None, math.inf, list[str]()
    for configuration in configurations:
        call = make(configuration)
        try:
            call(*sets[0])
            torch.cuda.synchronize()
            microseconds = 0.0 if setting.compile_only else quick_time(torch, call, sets)
        # Too much shared memory, say: Triton and CUDA have errors of their own.
        except Exception as error:
            errors.append(str(error)[:100])
            continue
        if microseconds < least:
            best, least = call, microseconds
    if best is None:
        raise RuntimeError(f"no configuration ran: {errors[:2]}")
    return best


def quick_time(torch: Any, call: Call, sets: Sequence[Inputs]) -> float:
    """Microseconds of one call."""
    graph, calls = gpu.capture(torch, call, sets)
    return statistics.median(gpu.replay_times(torch, graph, TUNING_REPLAYS)) / calls
