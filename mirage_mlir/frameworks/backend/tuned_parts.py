"""
Kernels for parts of a model that times on this machine's GPU choose.

Parts are searched for, and their candidates compiled and verified, by processes. Candidates are
timed in this one, in whose GPU memory the model lies: no other process has to be started for a
GPU, and none copies weights there. They are compared with each other; what is taken is proved.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from math import ceil, isfinite, prod
from time import perf_counter
from typing import Any

from mirage_mlir.driver.bench import AS_GOOD, TOLERANCE, Reading
from mirage_mlir.driver.compile import CompiledFunction
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.timer import Job, compile_candidate
from mirage_mlir.driver.tune_tasks import (
    Failed,
    OfferText,
    Settled,
    Task,
    TimedText,
    search,
    settle,
)
from mirage_mlir.frameworks.backend.timing import replayed, set_count
from mirage_mlir.runtime.artifact import Artifact, TensorSpec
from mirage_mlir.runtime.kernel import CompiledKernel
from mirage_mlir.worker import WorkerError, Workers, workers

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""

CALLS = 16
"""In a CUDA graph, at least: with fewer the launch of the graph itself shows."""

Trial = tuple[OfferText, CompiledFunction | str]
"""A candidate and its machine code, or why it has none."""


@dataclass(frozen=True)
class _Settling:
    """What is to be proved and compiled of a part."""

    task: Task
    device: str
    seconds: float
    candidates: tuple[TimedText, ...]


def _settled(work: _Settling) -> Settled | Failed:
    return settle(work.task, work.device, work.seconds, work.candidates)


def fastest_kernels(tasks: Sequence[Task]) -> list[Artifact | None]:
    """The fastest of each part's candidates; None where none could be timed, or is proved."""
    cores = os.cpu_count() or 1
    with workers(cores) as pool:
        settling = dict(_tuned(pool, tasks, max(1, cores // max(1, len(tasks)))))
        # The model may need what torch keeps of the memory for inputs.
        torch.cuda.empty_cache()
        return [_artifact_of(settling.get(number)) for number in range(len(tasks))]


def _tuned(
    pool: Workers, tasks: Sequence[Task], jobs: int
) -> Iterator[tuple[int, Future[Settled | Failed]]]:
    """For each part that could be timed, by number, what becomes of the fastest candidate."""
    shared = [replace(task, options=replace(task.options, jobs=jobs)) for task in tasks]
    searches = {pool.submit(search, task): number for number, task in enumerate(shared)}
    compiled: dict[int, list[tuple[OfferText, Future[CompiledFunction]]]] = {}
    for future in as_completed(searches):
        number = searches[future]
        found = [] if future.exception() else future.result()
        if not isinstance(found, Failed):
            compiled[number] = [
                (offer, pool.submit(compile_candidate, _job(offer, tasks[number])))
                for offer in found
            ]
    for number, trials in compiled.items():
        start = perf_counter()
        timed = _timed([(offer, _code(future)) for offer, future in trials])
        if any(isfinite(one.microseconds) for one in timed):
            device = torch.cuda.get_device_name()
            work = _Settling(tasks[number], device, perf_counter() - start, tuple(timed))
            yield number, pool.submit(_settled, work)


def _job(offer: OfferText, task: Task) -> Job:
    options: Options = task.options
    return Job(offer.function, task.name, options.target, options.pack)


def _code(future: Future[CompiledFunction]) -> CompiledFunction | str:
    try:
        return future.result()
    except WorkerError as error:
        return str(error)


def _artifact_of(future: Future[Settled | Failed] | None) -> Artifact | None:
    try:
        found = None if future is None else future.result()
    except WorkerError:
        return None
    return Artifact.from_bytes(found.artifact) if isinstance(found, Settled) else None


# Timing


def _timed(trials: Sequence[Trial]) -> list[TimedText]:
    """The candidates of a part with their times; those that differ from the first have none."""
    found = [
        TimedText(o, None, float("inf"), c if isinstance(c, str) else "", False) for o, c in trials
    ]
    codes = {n: c for n, (_, c) in enumerate(trials) if isinstance(c, CompiledFunction)}
    if not codes:
        return found
    try:
        with import_module("torch.utils._python_dispatch")._disable_current_modes():
            readings = _readings([*codes.values()])
    except RuntimeError as error:
        # Too little memory, say.
        return [replace(one, problem=one.problem or str(error)) for one in found]
    for number, reading in zip(codes, readings, strict=True):
        if reading.right:
            found[number] = replace(
                found[number], reading=reading, microseconds=reading.microseconds
            )
        else:
            problem = f"is not what the first candidate computes: {reading.error:.1e} of it"
            found[number] = replace(found[number], reading=reading, problem=problem)
    return found


def _readings(codes: Sequence[CompiledFunction]) -> list[Reading]:
    """Times of candidates, and how far their results are from those of the first."""
    inputs = codes[0].inputs
    size = sum(prod(spec.shape) * spec.element_type.itemsize for spec in inputs)
    sets = [[_random(spec) for spec in inputs] for _ in range(max(2, set_count(size)))]
    kernels = [_kernel(code) for code in codes]
    # One may store rows where the results have them, and another one of its own.
    results = [[_poisoned(spec) for spec in code.outputs] for code in codes]
    for kernel, result in zip(kernels, results, strict=True):
        kernel(*sets[0], out=result)
    errors = [_difference(result, results[0]) for result in results]
    allowed = AS_GOOD * max(TOLERANCE[spec.element_type] for spec in codes[0].outputs)

    calls = [partial(_call, *each) for each in zip(kernels, results, strict=True)]
    times = replayed(calls, sets * ceil(CALLS / len(sets)))
    return [
        Reading(error, allowed, 1e6 * seconds) for error, seconds in zip(errors, times, strict=True)
    ]


def _call(kernel: CompiledKernel, results: Sequence[Any], inputs: Sequence[Any]) -> None:
    kernel(*inputs, out=results)


def _kernel(code: CompiledFunction) -> CompiledKernel:
    """A candidate as it runs behind kernels of another library."""
    targets = (code.code.behind_others(),)
    return CompiledKernel(Artifact(code.name, code.inputs, code.outputs, targets, program=""))


def _random(spec: TensorSpec) -> Any:
    """Random numbers of which products are near 1, whatever dimension they sum over."""
    std = max(spec.shape[-2:]) ** -0.5 if len(spec.shape) > 1 else 1.0
    return made_for(spec, "cuda").normal_(std=std)


def _poisoned(spec: TensorSpec) -> Any:
    return made_for(spec, "cuda").fill_(float("nan"))


def made_for(spec: TensorSpec, device: str) -> Any:
    """A tensor that lies in memory as a kernel reads or writes it: transposed, say."""
    dtype: Any = getattr(torch, spec.element_type.array_name)
    return torch.empty_strided(spec.shape, spec.strides, dtype=dtype, device=device)


def _difference(results: Sequence[Any], reference: Sequence[Any]) -> float:
    """The largest relative difference in the 2-norm, of elements that the reference has."""
    found = [0.0]
    for one, other in zip(results, reference, strict=True):
        known = other.isfinite()
        apart, scale = (one - other)[known].float().norm(), other[known].float().norm()
        found.append(float(apart) / (float(scale) or 1.0))
    # The maximum of a NaN would depend on the order.
    return max(found) if all(map(isfinite, found)) else float("inf")
