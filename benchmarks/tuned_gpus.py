"""
Tuning real programs on one and on several GPUs of this machine, each time with an empty cache.

Searches and compiles are made once, before, by a process for each core: they need no GPU, and are
reported apart. What is measured is all that remains: the processes of the GPUs start, make inputs
and references, check and time each candidate, and compare the fastest.
"""

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import mirage_mlir as mi
from mirage_mlir.driver.bench import Reading, Subject, Trial
from mirage_mlir.driver.bench_process import BenchProcess
from mirage_mlir.driver.cache import Cache
from mirage_mlir.driver.compile import CompiledFunction
from mirage_mlir.driver.executor import local_executor
from mirage_mlir.driver.machine import Machine
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.timer import Job, compile_candidate
from mirage_mlir.driver.timings import Timed, Timings
from mirage_mlir.driver.tune import Tuner, task_of
from mirage_mlir.driver.tune_tasks import (
    Failed,
    OfferText,
    Settled,
    Task,
    TimedText,
    search,
    settle,
)
from mirage_mlir.lanes import Lane, Lanes, ProcessLane
from mirage_mlir.worker import Worker, WorkerError

WIDTH = 4096
"""Columns of all programs: those of a layer of LLaMA-3-8B."""

ROWS = (1, 8, 16, 64, 128)


def _linear(graph: mi.KernelGraph, x: Any, w: Any) -> Any:
    return graph.matmul(x, w)


def _norm_linear(graph: mi.KernelGraph, x: Any, w: Any) -> Any:
    return graph.matmul(graph.rms_norm(x), w)


def _linear_silu(graph: mi.KernelGraph, x: Any, w: Any) -> Any:
    return graph.silu(graph.matmul(x, w))


def _silu_linear(graph: mi.KernelGraph, x: Any, w: Any) -> Any:
    return graph.matmul(graph.silu(x), w)


def _linear_residual(graph: mi.KernelGraph, x: Any, w: Any) -> Any:
    return graph.add(graph.matmul(x, w), x)


KINDS: Sequence[Callable[[mi.KernelGraph, Any, Any], Any]] = (
    _linear,
    _norm_linear,
    _linear_silu,
    _silu_linear,
    _linear_residual,
)


def programs(count: int, top_k: int) -> list[Task]:
    """The first `count` programs."""
    options = Options(chips=("sm_90a",), profile=True, top_k=top_k)
    tasks: list[Task] = []
    for rows in ROWS:
        for kind in KINDS:
            name = f"{kind.__name__.strip('_')}_{rows}"
            graph = mi.new_kernel_graph(name)
            x = graph.new_input(dims=(rows, WIDTH), name="x")
            w = graph.new_input(dims=(WIDTH, WIDTH), constant=True, name="w")
            graph.mark_output(kind(graph, x, w))
            tasks.append(task_of(graph.to_module(), name, options))
    return tasks[:count]


def settled(
    task: Task, device: str, seconds: float, candidates: Sequence[TimedText]
) -> Settled | Failed:
    """Instead of `settle`: what would be taken, without a proof, or machine code of more chips."""
    timed = [
        Timed(
            one.offer.search, None, None, one.reading, one.microseconds, one.problem, one.compared
        )
        for one in candidates
    ]
    for one, each in zip(timed, candidates, strict=True):
        one.compared = each.compared
    best = Timings(device, tuple(timed), seconds).best
    if best is None:
        return Failed(f"@{task.name} has no candidate that is right")
    number = next(n for n, one in enumerate(timed) if one is best)
    return Settled(b"", {task.name: number}, candidates[number].offer)


@dataclass(frozen=True)
class Found:
    """What searches and compiles gave, and a lane that answers with it at once."""

    offers: dict[str, list[OfferText]]
    """Of each program, by its name."""
    compiled: dict[Job, CompiledFunction]
    seconds: float
    """For all of that."""

    def call(self, function: Callable[..., Any], *arguments: object) -> Any:
        """Instead of `function`."""
        if function is search:
            return self.offers[cast(Task, arguments[0]).name]
        if function is compile_candidate:
            job = cast(Job, arguments[0])
            if job not in self.compiled:
                raise WorkerError("was not compiled")
            return self.compiled[job]
        assert function is settle
        return settled(*cast(tuple[Any, Any, Any, Any], arguments))

    def restart(self) -> None:
        """There is nothing."""

    def close(self) -> None:
        """There is nothing."""


def prepared(tasks: Sequence[Task]) -> Found:
    """Search and compile all candidates, on all cores; one that cannot be compiled is left out."""
    start = time.perf_counter()
    cores = len(os.sched_getaffinity(0))
    with closing(Lanes([ProcessLane() for _ in range(cores)])) as lanes:
        searches = [lanes.submit(search, task, priority=1) for task in tasks]
        compiles: dict[Job, Future[CompiledFunction]] = {}
        offers: dict[str, list[OfferText]] = {}
        for task, future in zip(tasks, searches, strict=True):
            found: list[OfferText] | Failed = future.result()
            if isinstance(found, Failed):
                raise RuntimeError(f"@{task.name}: {found.problem}")
            offers[task.name] = found
            for each in found:
                job = Job(each.function, task.name, task.options.target, task.options.pack)
                compiles[job] = lanes.submit(compile_candidate, job)
        compiled = {job: call.result() for job, call in compiles.items() if not call.exception()}
    return Found(offers, compiled, time.perf_counter() - start)


class CountedBench(BenchProcess):
    """A real one that notes how long its calls take."""

    spent: list[float]

    def read(self, trial: Trial, replays: int) -> Reading:
        """As `BenchProcess.read`."""
        start = time.perf_counter()
        try:
            return super().read(trial, replays)
        finally:
            self.spent.append(time.perf_counter() - start)

    def compare(self, trials: Sequence[Trial], rounds: int, replays: int) -> list[float]:
        """As `BenchProcess.compare`."""
        start = time.perf_counter()
        try:
            return super().compare(trials, rounds, replays)
        finally:
            self.spent.append(time.perf_counter() - start)


@dataclass(frozen=True)
class PreparedMachine(Machine):
    """Real GPUs, and searches and compiles that are made already."""

    found: Found | None = None
    spent: list[float] = field(default_factory=list[float])
    """Seconds of each call on a GPU."""

    def bench(self, subject: Subject, worker: Worker | None = None) -> BenchProcess:
        """One that counts."""
        made = CountedBench(subject, self.make, self.patience, worker)
        made.spent = self.spent
        return made

    def lane(self) -> Lane:
        """What answers at once."""
        assert self.found is not None
        return self.found


def run_one(here: Machine, gpus: int, tasks: Sequence[Task], found: Found) -> dict[str, Any]:
    """Tune all programs with so many GPUs, which takes `seconds`."""
    machine = PreparedMachine(here.name, here.make, 2, here.patience, gpus, found)
    with tempfile.TemporaryDirectory() as folder, closing(local_executor(machine)) as executor:
        start = time.perf_counter()
        results = list(Tuner(executor, Cache(Path(folder))).tune(tasks))
        seconds = time.perf_counter() - start
    taken = {each.name: each.settled.offers[each.name] for each in results if each.settled}
    all_timings = [each.timings for each in results if each.timings]
    timed = [one for timings in all_timings for one in timings.candidates]
    return {
        "gpus": gpus,
        "seconds": seconds,
        "programs": len(taken),
        "candidates": len(timed),
        "right": sum(one.reading is not None and one.reading.right for one in timed),
        "calls": len(machine.spent),
        # Of the time of all GPUs: what is missing from 1 is waiting.
        "busy": sum(machine.spent) / (gpus * seconds),
        "taken": taken,
        "problems": sorted({one.problem for one in timed if one.problem}),
    }


def measure(here: Machine, counts: Sequence[int], tasks: Sequence[Task]) -> dict[str, Any]:
    """One run for each number of GPUs, behind a short one that warms the machine up."""
    if max(counts) > here.gpus:
        raise ValueError(f"there are {here.gpus} GPUs named {here.name}, not {max(counts)}")
    found = prepared(tasks)
    print(f"searched and compiled: {found.seconds:.1f} s")
    run_one(here, max(counts), tasks[:1], found)
    runs = [run_one(here, count, tasks, found) for count in counts]
    for run in runs:
        first = runs[0]
        run["speedup"] = first["seconds"] / run["seconds"] * first["gpus"]
        run["same_as_first"] = sum(
            first["taken"].get(name) == taken for name, taken in run["taken"].items()
        )
        print(
            f"{run['gpus']} GPUs: {run['seconds']:.1f} s, {run['speedup']:.2f} x one, "
            f"busy {run['busy']:.2f}, {run['right']} of {run['candidates']} candidates right, "
            f"{run['same_as_first']} of {run['programs']} programs take the same"
        )
        print(*run["problems"], sep="\n", end="\n" if run["problems"] else "")
    return {"gpu": here.name, "prepared_seconds": found.seconds, "runs": runs}
