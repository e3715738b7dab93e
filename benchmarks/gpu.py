"""
Measuring on a GPU with torch: input sets, CUDA-graph times, errors, what the machine is.

torch is not a dependency of the project and is untyped here.
"""

import math
import os
import platform
import random
import statistics
import subprocess
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

Tensors = Sequence[Any]
Call = Callable[..., Any]

L2_BYTES = 60 << 20
"""An H200's, the largest of the GPUs that we compile for."""

SETS_OVER_L2 = 4
"""Input sets together are this many times L2, so that each call reads its inputs from memory."""

CALLS = 20
"""The fewest calls in a graph: with fewer the launch of the graph itself shows."""

HOST_CALLS = 100
"""Calls that are queued without waiting: far fewer than the driver holds."""

COMMIT_VARIABLE = "MIRAGE_COMMIT"

ROUNDS = 10
"""How often each implementation is timed: rounds of all in another order each, so that a drifting
clock meets all alike. A kernel that follows one of little power finds a higher clock: of two equal
matmuls of 4,096 rows one seemed to take 10 % less, always behind the same slow one."""


def torch_module() -> Any:
    """torch, with gradients off."""
    torch: Any = import_module("torch")
    torch.set_grad_enabled(False)
    return torch


def set_count(bytes_per_set: int) -> int:
    """How many input sets to rotate over."""
    return max(2, math.ceil(SETS_OVER_L2 * L2_BYTES / bytes_per_set))


def capture(torch: Any, call: Call, sets: Sequence[Tensors], stream: Any = None) -> tuple[Any, int]:
    """
    A CUDA graph of calls that rotate over `sets`, and their number.

    `stream` is the one to capture: autograd goes back in that of the forward pass.
    """
    calls = math.ceil(CALLS / len(sets)) * len(sets)

    def all_calls() -> None:
        for number in range(calls):
            call(*sets[number % len(sets)])

    side = torch.cuda.Stream() if stream is None else stream
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        all_calls()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        all_calls()
    return graph, calls


def replay_times(torch: Any, graph: Any, replays: int) -> list[float]:
    """Microseconds of each of `replays` replays, after one that warms up."""
    graph.replay()
    events = [
        (torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True))
        for _ in range(replays)
    ]
    for start, end in events:
        start.record()
        graph.replay()
        end.record()
    torch.cuda.synchronize()
    return [start.elapsed_time(end) * 1e3 for start, end in events]


def graph_times(
    torch: Any,
    calls: Mapping[str, Call],
    sets: Sequence[Tensors],
    replays: int,
    stream: Any = None,
) -> dict[str, float]:
    """
    Microseconds of one call of each implementation: the median over `replays` replays of a graph.
    """
    return replayed(
        torch, {name: capture(torch, call, sets, stream) for name, call in calls.items()}, replays
    )


def replayed(torch: Any, graphs: Mapping[str, tuple[Any, int]], replays: int) -> dict[str, float]:
    """The same for graphs that `capture` made."""
    times: dict[str, list[float]] = {name: [] for name in graphs}
    for number in range(ROUNDS):
        for name in random.Random(number).sample([*graphs], len(graphs)):
            graph, count = graphs[name]
            part = replay_times(torch, graph, math.ceil(replays / ROUNDS))
            times[name] += [time / count for time in part]
    return {name: statistics.median(values) for name, values in times.items()}


def host_times(torch: Any, calls: Mapping[str, Call], inputs: Tensors) -> dict[str, float]:
    """Microseconds that the host needs to queue one ordinary call, the fastest of five rounds."""
    times: dict[str, float] = {}
    for name, call in calls.items():
        rounds: list[float] = []
        for _ in range(ROUNDS):
            torch.cuda.synchronize()
            start = perf_counter()
            for _ in range(HOST_CALLS):
                call(*inputs)
            rounds.append((perf_counter() - start) / HOST_CALLS * 1e6)
        times[name] = min(rounds)
    torch.cuda.synchronize()
    return times


def relative_error(output: Any, reference: Any) -> float:
    """
    `||output - reference|| / ||reference||` in float64; NaN where the output has one.

    What the reference itself has no number for is left out.
    """
    reference = reference.double()
    known = reference.isfinite()
    wanted = reference[known]
    return float((output.double()[known] - wanted).norm() / (wanted.norm() or 1.0))


def copy_rate(torch: Any) -> float:
    """Bytes per second, read and written, of a large copy in device memory."""
    source = torch.empty(1 << 29, dtype=torch.float32, device="cuda")
    target = torch.empty_like(source)
    # A copy of equal types would be left to the copy engine, which is slower than a kernel.
    graph, calls = capture(torch, lambda: torch.neg(source, out=target), [()] * 2)
    microseconds = statistics.median(replay_times(torch, graph, 5)) / calls
    return 2 * source.nbytes / microseconds * 1e6


def machine_name(torch: Any) -> str:
    """The GPU's name as a folder name, such as `nvidia-h200`."""
    return "-".join(torch.cuda.get_device_name().lower().split())


def environment(torch: Any) -> dict[str, object]:
    """What the numbers depend on."""
    properties = torch.cuda.get_device_properties(0)
    packages = ["triton", "numpy", "xdsl", "numba-cuda-mlir", "cuda-bindings"]
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "device": properties.name,
        "multiprocessors": properties.multi_processor_count,
        "driver": driver_version(),
        "cuda": torch.version.cuda,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "commit": commit(),
        **{name: package_version(name) for name in packages},
    }


def result_path(results: Path, torch: Any, environment: Mapping[str, object], name: str) -> Path:
    """The file for results of this machine and day, in a folder that is made."""
    folder = results / machine_name(torch)
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{str(environment['date'])[:10]}-{name}.json"


def package_version(name: str) -> str:
    """The installed version of a package."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


def driver_version() -> str:
    """The display driver's version, as nvidia-smi says it."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "--id=0"]
    return output_of(command)


def commit() -> str:
    """The commit of this checkout; MIRAGE_COMMIT says it where there is no git."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    return os.environ.get(COMMIT_VARIABLE) or output_of(command)


def output_of(command: Sequence[str]) -> str:
    """What `command` prints, "unknown" where it fails or does not exist."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return result.stdout.strip()
