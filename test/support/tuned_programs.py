"""Programs that are tuned fast, and what became of them."""

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from simulated_gpus import SimulatedMachine

from mirage_mlir.driver.cache import Cache
from mirage_mlir.driver.executor import local_executor
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.tune import Tuned, Tuner
from mirage_mlir.driver.tune_tasks import Task

TYPE = "tensor<16x{columns}xf32>"

PROGRAM = """
func.func @{name}(%x: TYPE, %z: TYPE) -> TYPE {{
  %y = kernel.add %x, %z : (TYPE, TYPE) -> TYPE
  %o = kernel.relu %y : (TYPE) -> TYPE
  func.return %o : TYPE
}}
""".replace("TYPE", TYPE)

IN_A_PROCESS = f"""
import sys
sys.path[:0] = [{str(Path(__file__).parent)!r}]
from mirage_mlir.driver.cache import open_cache
from tuned_programs import tuned
print(len([each for each in tuned(open_cache()) if not each.problem]))
"""

OPTIONS = Options(chips=("sm_90a",), profile=True, top_k=3)


def tasks(count: int) -> list[Task]:
    """So many programs."""
    return [
        Task(PROGRAM.format(name=f"f{number}", columns=32 << number), f"f{number}", OPTIONS)
        for number in range(count)
    ]


def machine(gpus: int = 1) -> SimulatedMachine:
    """GPUs in this process."""
    return SimulatedMachine("a simulated GPU", gpus=gpus, jobs=1, in_process=True)


def tuned(cache: Cache, gpus: int = 1, count: int = 2) -> list[Tuned]:
    """What becomes of programs here, in their order."""
    with closing(local_executor(machine(gpus))) as executor:
        results = list(Tuner(executor, cache).tune(tasks(count)))
    return sorted(results, key=lambda each: each.number)


def tuning_process(folder: Path, server: str = "") -> subprocess.Popen[str]:
    """A process that tunes two programs, and says how many it has tuned; perhaps with a server."""
    environment = {**os.environ, "MIRAGE_CACHE_DIR": str(folder), "MIRAGE_CACHE": server}
    words = [sys.executable, "-c", IN_A_PROCESS]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)


def answers(results: list[Tuned]) -> list[object]:
    """What was taken, but for the times."""
    return [each.settled and each.settled.taken.function for each in results]


def readings(log: Path) -> Counter[tuple[str, ...]]:
    """How often each candidate was read to the end."""
    lines = [line.split("\t") for line in log.read_text().splitlines()]
    return Counter(tuple(words[2:]) for words in lines if words[0] == "was read")


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait; fails after a minute."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
