"""Many programs tuned at once: by any number of workers, after a kill, beside others, cut short."""

import signal
import subprocess
import threading
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest
from simulated_gpus import LOG, SECONDS, SimulatedMachine
from tuned_programs import (
    OPTIONS,
    PROGRAM,
    answers,
    machine,
    readings,
    tasks,
    tuned,
    tuning_process,
    wait_until,
)

import mirage_mlir as mi
from mirage_mlir.driver import tune as tuning
from mirage_mlir.driver.cache import Cache
from mirage_mlir.driver.executor import local_executor
from mirage_mlir.driver.tune import Tuner
from mirage_mlir.driver.tune_tasks import Task, search
from mirage_mlir.driver.workers import Workforce


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(LOG, str(tmp_path / "log"))
    return tmp_path / "log"


def test_any_number_of_gpus(tmp_path: Path, log: Path) -> None:
    """Noise decides nothing, and a second run reads nothing again."""
    one = tuned(Cache(tmp_path / "1"), 1)
    assert [each.problem for each in one] == ["", ""]
    assert [len(each.timings.candidates) for each in one if each.timings] == [3, 3]
    assert answers(tuned(Cache(tmp_path / "3"), 3)) == answers(one)
    log.unlink()
    again = tuned(Cache(tmp_path / "1"), 2)
    assert answers(again) == answers(one)
    assert not log.exists()


def entries(folder: Path, name: str) -> int:
    """How many there are with a field of this name."""
    return sum(f'"{name}":' in path.read_text() for path in folder.glob("*.json"))


def test_a_driver_that_is_killed(
    tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it had found and read is not found and read again; its locks are free."""
    monkeypatch.setenv(SECONDS, "0.4")
    folder = tmp_path / "cache"
    killed = tuning_process(folder)
    wait_until(lambda: entries(folder, "microseconds") >= 2)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert entries(folder, "microseconds") < 6
    kept = entries(folder, "found")
    assert kept > 0
    searched: list[str] = []

    def counted(task: Task) -> object:
        searched.append(task.name)
        return search(task)

    monkeypatch.setenv(SECONDS, "0")
    monkeypatch.setattr(tuning, "search", counted)
    results = tuned(Cache(folder))
    assert [each.problem for each in results] == ["", ""]
    assert len(searched) == 2 - kept
    counts = readings(log)
    assert len(counts) == 6
    # The one that was being remembered when the signal came may be read once more.
    assert sum(counts.values()) <= 7
    assert answers(results) == answers(tuned(Cache(tmp_path / "another")))


def test_workers_that_are_killed(
    tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others do what they were at: nothing is lost, and nothing read twice."""
    popen: Any = subprocess.Popen
    killed: list[int] = []

    def started(*words: Any, **options: Any) -> Any:
        process = popen(*words, **options)
        if len(killed) < 2:
            killed.append(process.pid)
            threading.Timer(0.5 + len(killed), process.kill).start()
        return process

    monkeypatch.setattr(subprocess, "Popen", started)
    with closing(local_executor(SimulatedMachine("a simulated GPU", gpus=2, jobs=2))) as executor:
        results = list(Tuner(executor, Cache(tmp_path)).tune(tasks(2)))
    assert len(killed) == 2
    assert [each.problem for each in results] == ["", ""]
    assert len(readings(log)) == 6
    assert set(readings(log).values()) == {1}


def test_two_at_once(tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two processes that share a cache each program is tuned by one."""
    monkeypatch.setenv(SECONDS, "0.1")
    both = [tuning_process(tmp_path / "cache") for _ in range(2)]
    assert [each.communicate()[0] for each in both] == ["2\n", "2\n"]
    assert set(readings(log).values()) == {1}


def test_an_interrupt(tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was timed counts; what is cut short is not kept as a result."""
    monkeypatch.setenv(SECONDS, "0.3")
    monkeypatch.setattr(tuning, "PERIOD", 0.02)
    monkeypatch.setattr(tuning, "requested", lambda: log.exists() and len(readings(log)) > 1)
    results = tuned(Cache(tmp_path / "cache"), count=3)
    taken = [each for each in results if each.settled is not None]
    left = [each for each in results if each.settled is None]
    assert taken
    assert left
    assert not any(each.complete for each in results)
    assert all("interrupt" in each.problem for each in left)
    kept = [path.read_text() for path in (tmp_path / "cache").glob("*.json")]
    assert not any("offers" in entry for entry in kept)


FOREIGN = """
func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""


def test_one_that_fails(tmp_path: Path) -> None:
    """It says why, and the others are tuned."""
    bad = Task(FOREIGN, "g", OPTIONS)
    with closing(local_executor(machine())) as executor:
        results = list(Tuner(executor, Cache(tmp_path)).tune([bad, *tasks(1)]))
    by_name = {each.name: each for each in results}
    assert "'arith.addf' op" in by_name["g"].problem
    assert by_name["f0"].settled is not None


def test_from_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRAGE_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "f.mlir").write_text(PROGRAM.format(name="f", columns=64))
    graph = mi.new_kernel_graph("g")
    graph.mark_output(graph.relu(graph.new_input(dims=(4, 8))))
    with closing(Workforce(lambda target: machine(2))) as workers:
        results = list(
            mi.tune([tmp_path / "f.mlir", graph], workers=workers, compile_for=["sm_90a"], top_k=2)
        )
    assert {each.name for each in results} == {"f", "g"}
    for each in results:
        assert each.kernel is not None
        assert each.timing[0].startswith("timed on a simulated GPU")
    with pytest.raises(TypeError, match="tune takes graphs and paths of MLIR files, not int"):
        mi.tune([cast(Any, 3)])
    with pytest.raises(ValueError, match="workers are a number from 1 to"):
        mi.tune([graph], workers="elsewhere")
