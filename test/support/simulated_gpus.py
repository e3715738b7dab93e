"""
GPUs whose timings are given: a reading sleeps, and says what it was told.

The time of a candidate is made of its text, with a little noise of its own in each run.
"""

import hashlib
import os
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mirage_mlir.driver.bench import Reading, Subject, Trial
from mirage_mlir.driver.bench_process import BenchProcess
from mirage_mlir.driver.machine import Machine
from mirage_mlir.lanes import Lane
from mirage_mlir.runtime.cuda_driver import CudaError
from mirage_mlir.worker import Worker, WorkerError

LOG, SECONDS, KINDS = "SIMULATED_LOG", "SIMULATED_SECONDS", 4
HOLD = "SIMULATED_HOLD"
"""Names a file: while it exists, no reading ends but those that began before the first ended."""


class InProcess:
    """A lane that calls functions in this process, which starts no other."""

    def call(self, function: object, *arguments: object) -> object:
        """What it returns."""
        assert callable(function)
        try:
            return function(*arguments)
        except Exception as error:
            raise WorkerError(str(error)) from error

    def restart(self) -> None:
        """There is nothing."""

    def close(self) -> None:
        """There is nothing."""


def microseconds(trial: Trial) -> float:
    """Two of four candidates have the same time, but for noise of less than 1 %."""
    kind = int(hashlib.sha256(trial.code.ugraph.encode()).hexdigest(), 16) % KINDS
    return (10.0 + 2.0 * (kind // 2)) * random.Random(os.urandom(8)).uniform(0.996, 1.004)


class SimulatedBench(BenchProcess):
    """Sleeps as long as a timing takes, and notes what was asked for."""

    def read(self, trial: Trial, replays: int) -> Reading:
        """A right kernel."""
        held = self._is_held()
        self._note("read", trial)
        time.sleep(float(os.environ.get(SECONDS, "0")))
        while held and Path(os.environ[HOLD]).exists():
            time.sleep(0.05)
        reading = Reading(0.0, 1e-3, microseconds(trial))
        self._note("was read", trial)
        return reading

    def compare(self, trials: Sequence[Trial], rounds: int, replays: int) -> list[float]:
        """All of them."""
        return [microseconds(trial) for trial in trials]

    def _is_held(self) -> bool:
        log = Path(os.environ.get(LOG, os.devnull))
        return HOLD in os.environ and log.is_file() and "was read" in log.read_text()

    def _note(self, what: str, trial: Trial) -> None:
        if path := os.environ.get(LOG):
            digest = hashlib.sha256(trial.code.ugraph.encode()).hexdigest()[:12]
            with Path(path).open("a") as file:
                file.write(f"{what}\t{os.getpid()}\t{self._subject.name}\t{digest}\n")


@dataclass(frozen=True)
class SimulatedMachine(Machine):
    """GPUs that need no process of their own."""

    in_process: bool = False

    def bench(self, subject: Subject, worker: Worker | None = None) -> BenchProcess:
        """A simulated one."""
        return SimulatedBench(subject, self.make, self.patience, worker)

    def each(self) -> Sequence[Machine]:
        """All alike."""
        return [self] * self.gpus

    def lane(self) -> Lane:
        """A process, or none."""
        return InProcess() if self.in_process else super().lane()


@cache
def machine(target: str) -> Machine:
    """What a worker in a cluster has."""
    return SimulatedMachine("a simulated GPU")


def without_gpu(target: str) -> Machine:
    """What a worker without a GPU says."""
    raise CudaError(f"profiling for {target} needs a GPU")
