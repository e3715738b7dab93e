"""The GPU that candidates are timed on, and the GPUs of this machine."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from mirage_mlir.driver.bench import Subject
from mirage_mlir.driver.bench_process import PATIENCE, BenchProcess, Make
from mirage_mlir.lanes import Lane, ProcessLane
from mirage_mlir.runtime.cuda_driver import CudaDriver, CudaError
from mirage_mlir.runtime.launch import can_run
from mirage_mlir.runtime.stopwatch import CudaStopwatch
from mirage_mlir.targets.target import target_named
from mirage_mlir.worker import Worker


@dataclass(frozen=True)
class Machine:
    """A GPU that candidates are timed on."""

    name: str
    make: Make = CudaStopwatch
    """Makes its stopwatch."""
    jobs: int = 0
    """Processes that compile; 0 is one for each core."""
    patience: float = PATIENCE
    """Seconds after which a kernel hangs."""
    gpus: int = 1
    """GPUs of this name: the first, and those behind it."""

    def bench(self, subject: Subject, worker: Worker | None = None) -> BenchProcess:
        """Where kernels for a program are measured, in the process of `worker` where given."""
        return BenchProcess(subject, self.make, self.patience, worker)

    def lane(self) -> Lane:
        """What searches and compiles; several share the cores."""
        return ProcessLane()

    def each(self) -> Sequence["Machine"]:
        """One for each GPU."""
        if self.gpus == 1:
            return [self]
        return [
            replace(self, make=partial(CudaStopwatch, number), gpus=1)
            for number in range(self.gpus)
        ]


def this_machine(target: str) -> Machine:
    """
    This machine's GPUs, to time what was searched for `target`: all that are like the first one.

    Raises:
        CudaError: there is none, or it cannot run code for `target`.
    """
    try:
        driver = CudaDriver()
        name, capability = driver.name(0), driver.capability(0)
        names = [driver.name(number) for number in range(driver.count())]
    except CudaError as error:
        raise CudaError(f"profiling needs a GPU: {error}") from error
    if not can_run(chip := target_named(target).chip, capability):
        raise CudaError(f"profiling for {target} needs a GPU of {chip}; this machine has a {name}")
    alike = next((at for at, other in enumerate(names) if other != name), len(names))
    return Machine(name, gpus=alike)
