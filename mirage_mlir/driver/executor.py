"""
Where candidates are searched for, compiled and timed: processes and GPUs, here or in a cluster.

Everything that times candidates goes through an `Executor`, whatever its workers are: searches and
compiles are calls in processes, timings are calls where a bench has a GPU of its own.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from mirage_mlir.driver.bench import Reading, Subject, Trial
from mirage_mlir.driver.bench_process import BenchProcess
from mirage_mlir.driver.machine import Machine
from mirage_mlir.lanes import Lane, Lanes
from mirage_mlir.worker import Worker, WorkerError, WorkerLost

FIRST_REPLAYS = 10
"""Replays of each candidate's graph, which holds 20 calls or more."""

ROUNDS, REPLAYS = 5, 10
"""The fastest are timed again, interleaved: a drifting clock meets all alike in 50 replays."""


class Benches:
    """The benches of one GPU, one after the other in one process: each is for one program."""

    def __init__(self, machine: Machine, threads: int | None = None) -> None:
        self._machine = machine
        self._worker = Worker(threads=threads)
        self._subject: Subject | None = None
        self._bench: BenchProcess | None = None

    def of(self, subject: Subject) -> BenchProcess:
        """The one for a program."""
        if self._bench is None or self._subject != subject:
            self._subject = subject
            self._bench = self._machine.bench(subject, self._worker)
        return self._bench

    def close(self) -> None:
        """End the process."""
        self._worker.close()


def read(benches: Benches, subject: Subject, trial: Trial) -> Reading:
    """Check and time a candidate."""
    try:
        return benches.of(subject).read(trial, FIRST_REPLAYS)
    except WorkerLost:
        # Somebody may have ended the process; a kernel that does it does it again.
        return benches.of(subject).read(trial, FIRST_REPLAYS)


def compare(benches: Benches, subject: Subject, trials: Sequence[Trial]) -> list[float]:
    """The times of candidates, interleaved, in microseconds."""
    try:
        return benches.of(subject).compare(trials, ROUNDS, REPLAYS)
    except WorkerLost:
        return benches.of(subject).compare(trials, ROUNDS, REPLAYS)


class GpuLane:
    """A GPU of this machine."""

    def __init__(self, machine: Machine, threads: int | None = None) -> None:
        self._benches = Benches(machine, threads)

    def call(self, function: Callable[..., Any], *arguments: object) -> Any:
        """Call a function with the benches of this GPU, and the arguments."""
        try:
            return function(self._benches, *arguments)
        except WorkerLost as error:
            raise WorkerError(str(error)) from error

    def restart(self) -> None:
        """Benches start their process themselves."""

    def close(self) -> None:
        """End the process."""
        self._benches.close()


@dataclass(frozen=True)
class Executor:
    """Workers that compute, and workers with one GPU each."""

    name: str
    """Of the GPUs, which are all alike."""
    computers: Lanes
    timers: Lanes

    def compute(
        self, function: Callable[..., Any], *arguments: object, later: bool = False
    ) -> Future[Any]:
        """A call in a process; one that is to be made `later` waits until no other does."""
        return self.computers.submit(function, *arguments, priority=int(later))

    def read(self, subject: Subject, trial: Trial) -> Future[Reading]:
        """What is to be found about a candidate."""
        return self.timers.submit(read, subject, trial, priority=1, near=subject.program)

    def compare(self, subject: Subject, trials: Sequence[Trial]) -> Future[list[float]]:
        """The times of candidates that one GPU times, interleaved."""
        return self.timers.submit(compare, subject, tuple(trials), near=subject.program)

    def cancel_waiting(self) -> None:
        """Forget what no worker has begun."""
        self.computers.cancel_waiting()
        self.timers.cancel_waiting()

    def close(self) -> None:
        """End all workers."""
        self.computers.close()
        self.timers.close()


def local_executor(machine: Machine, workers: int = 0) -> Executor:
    """
    The processes and GPUs of this machine.

    Args:
        machine: the GPUs.
        workers: the most processes that search and compile, and the most GPUs; 0 is a process for
            each core, and all GPUs.
    """
    cores = len(os.sched_getaffinity(0))
    count = workers or machine.jobs or cores
    gpus = machine.each()[: workers or machine.gpus]
    # References in float64 are made for all GPUs at once.
    threads = max(1, cores // len(gpus)) if len(gpus) > 1 else None
    timers: list[Lane] = [GpuLane(each, threads) for each in gpus]
    return Executor(machine.name, Lanes([machine.lane() for _ in range(count)]), Lanes(timers))
