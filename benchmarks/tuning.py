"""
How tuning grows with the number of GPUs: many candidates of many programs.

The GPUs are simulated. Each timing sleeps, by default for a second, and gives a recorded time;
searches and compiles answer at once with what was prepared. What is measured is therefore how well
the GPUs are kept busy by what distributes the work, remembers each reading on disk, and compares
the fastest. Sleeps need no CPU, so that all numbers of workers are measured at once.

With --gpus the timings are real, those of up to 25 programs on so many GPUs of this machine, one
number after the other: see `tuned_gpus.py`.

    python benchmarks/tuning.py
    python benchmarks/tuning.py --gpus 1 2
"""

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from machine import described
from tuned_gpus import measure, programs, settled

from mirage_mlir.driver.bench import Reading, Subject, Trial
from mirage_mlir.driver.bench_process import BenchProcess
from mirage_mlir.driver.cache import Cache
from mirage_mlir.driver.compile import CompiledFunction
from mirage_mlir.driver.executor import local_executor
from mirage_mlir.driver.machine import Machine, this_machine
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.timer import Job, compile_candidate
from mirage_mlir.driver.tune import Tuner
from mirage_mlir.driver.tune_tasks import OfferText, Task, search, settle
from mirage_mlir.lanes import Lane
from mirage_mlir.worker import Worker

RESULTS = Path(__file__).parent / "results"

PROGRAM = """func.func @program_{number}(%x: {type}) -> {type} {{
  %y = kernel.relu %x : ({type}) -> {type}
  func.return %y : {type}
}}
"""

NOISE = 0.004
"""Of recorded times, either way: less than what is taken for the same."""

OPTIONS = Options(chips=("sm_90a",), profile=True, top_k=64)


def recorded(text: str) -> float:
    """Microseconds of a candidate, with the noise of one run."""
    level = int(sha256(text.encode()).hexdigest(), 16) % 8
    return 10.0 * 1.1**level * random.uniform(1 - NOISE, 1 + NOISE)


class SleepingBench(BenchProcess):
    """A GPU that takes its time."""

    seconds = 1.0

    def read(self, trial: Trial, replays: int) -> Reading:
        """After a sleep, a right kernel."""
        time.sleep(self.seconds)
        return Reading(0.0, 1e-3, recorded(trial.code.ugraph))

    def compare(self, trials: Sequence[Trial], rounds: int, replays: int) -> list[float]:
        """After a sleep, the times of all."""
        time.sleep(self.seconds)
        return [recorded(trial.code.ugraph) for trial in trials]


class Prepared:
    """A lane that answers searches and compiles at once."""

    def __init__(self, found: OfferText, compiled: CompiledFunction, candidates: int) -> None:
        self._found = found
        self._compiled = compiled
        self._candidates = candidates

    def call(self, function: Callable[..., Any], *arguments: object) -> Any:
        """Instead of `function`."""
        if function is search:
            return self._search(cast(Task, arguments[0]))
        if function is compile_candidate:
            job = cast(Job, arguments[0])
            return replace(self._compiled, code=replace(self._compiled.code, ugraph=job.candidate))
        assert function is settle
        return settled(*cast(tuple[Any, Any, Any, Any], arguments))

    def _search(self, task: Task) -> list[OfferText]:
        text = self._found.function.replace("@program_0", f"@{task.name}")
        numbers = range(self._candidates)
        # What tells them apart is an attribute that nobody reads.
        mark = "-> tensor<4x64xf32> attributes {{candidate = {} : i64}} {{"
        texts = [text.replace("-> tensor<4x64xf32> {", mark.format(n), 1) for n in numbers]
        return [replace(self._found, function=each) for each in texts]

    def restart(self) -> None:
        """There is nothing."""

    def close(self) -> None:
        """There is nothing."""


@dataclass(frozen=True)
class SleepingMachine(Machine):
    """Simulated GPUs, and searches and compiles that cost nothing."""

    prepared: Prepared | None = None

    def bench(self, subject: Subject, worker: Worker | None = None) -> BenchProcess:
        """One that sleeps."""
        return SleepingBench(subject, self.make, self.patience, worker)

    def each(self) -> Sequence[Machine]:
        """All alike."""
        return [self] * self.gpus

    def lane(self) -> Lane:
        """What answers at once."""
        assert self.prepared is not None
        return self.prepared


def tasks(count: int) -> list[Task]:
    """So many programs."""
    text = PROGRAM.replace("{type}", "tensor<4x64xf32>")
    return [
        Task(text.format(number=number), f"program_{number}", OPTIONS) for number in range(count)
    ]


def run_one(workers: int, programs: int, prepared: Prepared) -> dict[str, Any]:
    """Tune all programs with so many GPUs."""
    machine = SleepingMachine("simulated GPU", jobs=2, gpus=workers, prepared=prepared)
    with tempfile.TemporaryDirectory() as folder, closing(local_executor(machine)) as executor:
        start = time.perf_counter()
        results = list(Tuner(executor, Cache(Path(folder))).tune(tasks(programs)))
        seconds = time.perf_counter() - start
    taken = {each.name: each.settled.taken.function for each in results if each.settled}
    digest = sha256(json.dumps(taken, sort_keys=True).encode()).hexdigest()
    return {"workers": workers, "seconds": seconds, "programs": len(taken), "taken": digest}


def simulated(arguments: argparse.Namespace) -> int:
    """Measure, print, write; 1 where the answers differ or a number of workers is not used well."""
    SleepingBench.seconds = arguments.seconds
    found = search(tasks(1)[0])
    assert isinstance(found, list)
    compiled = compile_candidate(Job(found[0].function, "program_0", "H200"))
    prepared = Prepared(found[0], compiled, arguments.candidates)
    counts = cast(list[int], arguments.workers)
    run = partial(run_one, programs=arguments.programs, prepared=prepared)
    with ThreadPoolExecutor(len(counts)) as pool:
        rows = list(pool.map(run, counts))
    # A reading of each candidate, and for each program a comparison of the fastest.
    work = arguments.programs * (arguments.candidates + 1) * arguments.seconds
    for row in rows:
        row["efficiency"] = work / (row["workers"] * row["seconds"])
        print(
            f"{row['workers']} workers: {row['seconds']:.1f} s, {row['efficiency']:.3f} of linear"
        )
    fields = {
        "programs": arguments.programs,
        "candidates": arguments.programs * arguments.candidates,
        "seconds_per_timing": arguments.seconds,
        "machine": described(),
        "runs": rows,
    }
    write("tuning", "scaling", fields)
    same = len({row["taken"] for row in rows}) == 1
    print("the answers are the same" if same else "the answers differ")
    return 0 if same and all(row["efficiency"] >= 0.9 for row in rows) else 1


def on_gpus(arguments: argparse.Namespace) -> int:
    """The same on real GPUs of this machine; 1 where a number of them is not used well."""
    here = this_machine("H200")
    counts = cast(list[int], arguments.gpus)
    fields = measure(here, counts, programs(arguments.programs, arguments.candidates))
    write("-".join(here.name.lower().split()), "tuning-gpus", fields | {"machine": described()})
    return 0 if all(run["speedup"] >= 0.9 * run["gpus"] for run in fields["runs"]) else 1


def write(folder: str, name: str, fields: dict[str, Any]) -> None:
    """A file of results, with the date in its name."""
    path = RESULTS / folder / f"{datetime.now(UTC):%Y-%m-%d}-{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{json.dumps(fields, indent=1)}\n")


def main() -> int:
    """1 where tuning does not grow as it should."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, help="how many; 40, and 25 on real GPUs")
    parser.add_argument("--candidates", type=int, help="of each program; 25, and at most 8")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each timing")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--gpus", type=int, nargs="+", help="numbers of real GPUs to tune on")
    arguments = parser.parse_args()
    real = arguments.gpus is not None
    arguments.programs = arguments.programs or (25 if real else 40)
    arguments.candidates = arguments.candidates or (8 if real else 25)
    return on_gpus(arguments) if real else simulated(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
