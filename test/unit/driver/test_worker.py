"""Functions called in other processes, which may not survive them."""

import os
import subprocess
import time
from collections.abc import Generator

import pytest

from mirage_mlir.worker import Worker, WorkerError, workers


@pytest.fixture
def worker() -> Generator[Worker]:
    """A process."""
    worker = Worker()
    yield worker
    worker.close()


def test_results_come_back(worker: Worker) -> None:
    assert worker.call(30, os.getpid) != os.getpid()
    assert worker.call(30, divmod, 17, 5) == (3, 2)
    assert worker.call(30, pow, 2, exp=5) == 32


def test_it_remembers(worker: Worker) -> None:
    assert worker.call(30, os.getpid) == worker.call(30, os.getpid)


def test_what_a_function_raises(worker: Worker) -> None:
    with pytest.raises(WorkerError, match="ZeroDivisionError"):
        worker.call(30, divmod, 1, 0)
    assert worker.running


def test_a_process_that_ends(worker: Worker) -> None:
    with pytest.raises(WorkerError, match="it ended the process"):
        worker.call(30, os._exit, 3)
    assert not worker.running
    assert worker.call(30, abs, -1) == 1


def test_a_process_that_hangs(worker: Worker) -> None:
    worker.call(30, abs, -1)
    start = time.perf_counter()
    with pytest.raises(WorkerError, match="not done after 0 seconds"):
        worker.call(0.2, time.sleep, 60)
    assert time.perf_counter() - start < 10
    assert worker.call(30, abs, -2) == 2


def test_several_in_order() -> None:
    with workers(2) as pool:
        found = list(pool.map(chr, [97, 98, -1, 99]))
    assert found[:2] + found[3:] == ["a", "b", "c"]
    assert isinstance(found[2], WorkerError)


def test_what_is_printed_goes_elsewhere(worker: Worker, capfd: pytest.CaptureFixture[str]) -> None:
    assert worker.call(30, subprocess.call, ["echo", "noise"]) == 0
    out, err = capfd.readouterr()
    assert out == ""
    assert "noise" in err
