"""
A bench in a process of its own, which a kernel may crash or hang.

After a kernel has read or written where it must not, nothing else runs in its process; one that
waits for ever would keep ours waiting. Either costs that process, and the next kernel gets a new
one.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from mirage_mlir.driver.bench import Bench, Reading, Subject, Trial
from mirage_mlir.runtime.stopwatch import CudaStopwatch, Stopwatch
from mirage_mlir.worker import Worker, WorkerError

PATIENCE = 30.0
"""Seconds after which a kernel hangs: those of our workloads are checked and timed in a tenth."""

READY = 120.0
"""Seconds for a process to start, with imports and CUDA, and to compute the reference."""

Make = Callable[[], Stopwatch]
"""Makes the stopwatch in the other process; a function at the top level of a module."""


class BenchProcess:
    """A `Bench` that survives what it measures; its methods raise `WorkerError`."""

    def __init__(
        self,
        subject: Subject,
        make: Make = CudaStopwatch,
        patience: float = PATIENCE,
        worker: Worker | None = None,
    ) -> None:
        """With a `worker` its process is used, one bench after the other, and not ended here."""
        self._subject = subject
        self._make = make
        self._patience = patience
        self._worker = worker or Worker()
        self._shared = worker is not None
        self._ready_in = 0

    def device(self) -> str:
        """The name of the device."""
        with self._spoilt_by_errors():
            return self._worker.call(self._patience, _device)

    def read(self, trial: Trial, replays: int) -> Reading:
        """As `Bench.read`."""
        with self._spoilt_by_errors():
            return self._worker.call(self._patience, _read, trial, replays)

    def compare(self, trials: Sequence[Trial], rounds: int, replays: int) -> list[float]:
        """As `Bench.compare`."""
        with self._spoilt_by_errors():
            return self._worker.call(self._patience, _compare, tuple(trials), rounds, replays)

    @contextmanager
    def _spoilt_by_errors(self) -> Generator[None]:
        """Have a process; a kernel that goes wrong spoils it even where it still answers."""
        try:
            if not self._worker.running or self._ready_in != self._worker.started:
                self._worker.call(READY, _prepare, self._subject, self._make)
                self._ready_in = self._worker.started
            yield
        except WorkerError:
            self._worker.close()
            raise

    def close(self) -> None:
        """End the process, where it is the bench's own."""
        if not self._shared:
            self._worker.close()


# In the other process

_benches: list[Bench] = []
"""The one that is used."""


def _prepare(subject: Subject, make: Make) -> None:
    for bench in _benches:
        bench.close()
    stopwatch = _benches[0].stopwatch if _benches else make()
    _benches[:] = [Bench(subject, stopwatch)]
    _benches[0].prepare()


def _device() -> str:
    return _benches[0].device()


def _read(trial: Trial, replays: int) -> Reading:
    return _benches[0].read(trial, replays)


def _compare(trials: Sequence[Trial], rounds: int, replays: int) -> list[float]:
    return _benches[0].compare(trials, rounds, replays)
