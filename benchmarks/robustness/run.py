"""
Campaign: malformed and hostile inputs, each in a process of its own.

    python benchmarks/robustness/run.py [--count N] [--seed S] [--jobs J] [--only KIND[:NUMBER]]

An input is a program, a command line, an artifact, an entry of the cache or a Python call. Its
process is forked from one that has everything imported, may take 2 GB and 30 s, and must end with
exit code 0, 1 or 2: no signal, no traceback, no warning of Python, no internal error. Those that do
not are written to the report with what they were; `--only` runs them again and shows what they say.
"""

import argparse
import gc
import json
import os
import resource
import shutil
import signal
import sys
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import mkdtemp

# Before numpy: a process that is forked must have no threads.
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
sys.path.insert(0, str(Path(__file__).parents[1]))

from hostile_calls import call_case
from hostile_case import Case, Maker
from hostile_commands import command_case
from hostile_files import artifact_case, entry_case
from hostile_programs import attribute_case, chain_case, shape_case, surroundings_case
from hostile_stages import consistent_case, order_case, stage_case
from hostile_texts import byte_case, line_case, repeated_case, token_case
from machine import described

from mirage_mlir.opt_main import main as mirage_opt

KINDS: dict[str, tuple[Maker, int]] = {
    "token": (token_case, 250),
    "line": (line_case, 80),
    "byte": (byte_case, 150),
    "repeated": (repeated_case, 70),
    "consistent": (consistent_case, 300),
    "stage": (stage_case, 250),
    "order": (order_case, 100),
    "attribute": (attribute_case, 150),
    "shape": (shape_case, 150),
    "surroundings": (surroundings_case, 100),
    "chain": (chain_case, 15),
    "command": (command_case, 135),
    "artifact": (artifact_case, 150),
    "entry": (entry_case, 50),
    "call": (call_case, 50),
}
"""How inputs are made, and how many of each kind are in 2000."""

COUNT = sum(count for _, count in KINDS.values())

MEMORY, SECONDS = 2**31, 30
"""What a process may take."""

EXPECTED = (0, 1, 2)
"""Exit codes: done, bad input, bad command line."""

FAULTS = ("Traceback (most recent call last)", "internal error", "LLVM ERROR", "Warning:")
"""What no process says."""

RESULTS = Path(__file__).parents[1] / "results" / "robustness" / "summary.json"


@dataclass(frozen=True)
class Input:
    """A case by its name."""

    kind: str
    number: int
    case: Case


@dataclass(frozen=True)
class Outcome:
    """How a process ended."""

    input: Input
    status: str
    """Its exit code, or what ended it."""
    seconds: float
    megabytes: int
    said: str

    @property
    def fault(self) -> str | None:
        """What is wrong with that, if anything is."""
        if self.status not in map(str, EXPECTED):
            return f"ended with {self.status}"
        return next((f"said '{each}'" for each in FAULTS if each in self.said), None)


def inputs(count: int, seed: int, only: str = "") -> Iterator[Input]:
    """About `count` inputs, of each kind as many as its share; or those of one kind alone."""
    for kind, (make, share) in KINDS.items():
        if only not in ("", kind):
            continue
        for number in range(max(1, round(share * count / COUNT))):
            yield Input(kind, number, make(Random(zlib.crc32(f"{seed}/{kind}/{number}".encode()))))


class Pool:
    """Processes that run side by side, each in a group of its own."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.running: dict[int, tuple[Input, Path, float]] = {}

    def run(self, all_inputs: Iterator[Input]) -> Iterator[Outcome]:
        """The outcomes, in the order in which the processes end."""
        for each in all_inputs:
            while len(self.running) >= self.size:
                yield self.wait()
            self.start(each)
        while self.running:
            yield self.wait()

    def start(self, one: Input) -> None:
        """Fork a process for an input."""
        folder = Path(mkdtemp(prefix="mirage-robustness-"))
        for name, data in one.case.files.items():
            (folder / name).write_bytes(data)
        sys.stdout.flush()
        if (process := os.fork()) == 0:
            _live(one.case, folder)
        self.running[process] = one, folder, time.monotonic()

    def wait(self) -> Outcome:
        """The outcome of the next process that ends; those that take too long are killed."""
        while True:
            process, status, used = os.wait4(-1, os.WNOHANG)
            if process:
                return self.ended(process, status, used)
            for each, (_, _, start) in self.running.items():
                if time.monotonic() - start > SECONDS:
                    os.killpg(each, signal.SIGKILL)
            time.sleep(0.002)

    def ended(self, process: int, status: int, used: resource.struct_rusage) -> Outcome:
        """What became of a process, and its folder gone."""
        one, folder, start = self.running.pop(process)
        seconds = time.monotonic() - start
        said = (folder / "said").read_bytes().decode(errors="replace")
        shutil.rmtree(folder, ignore_errors=True)
        code = os.waitstatus_to_exitcode(status)
        ended = "the time limit" if seconds > SECONDS else signal.Signals(max(-code, 1)).name
        text = str(code) if code >= 0 else ended
        return Outcome(one, text, round(seconds, 2), used.ru_maxrss // 1024, said)


def _live(case: Case, folder: Path) -> None:
    """All that a forked process does."""
    code = 70
    try:
        os.setpgid(0, 0)
        os.chdir(folder)
        output = os.open("said", os.O_WRONLY | os.O_CREAT)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        os.dup2(output, 2)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        code = case.call(folder) if case.call is not None else mirage_opt(case.words)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 70
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def warm_up() -> None:
    """Import what inputs need, so that each process has it from the start."""
    folder = Path(mkdtemp(prefix="mirage-robustness-"))
    program = folder / "f.mlir"
    program.write_text(
        "func.func @f(%x: tensor<8x64xf16>, %w: tensor<64x8xf16>) -> tensor<8x8xf16> {\n"
        "  %y = kernel.softmax %x {dim = 1 : i64} : (tensor<8x64xf16>) -> tensor<8x64xf16>\n"
        "  %z = kernel.matmul %y, %w : (tensor<8x64xf16>, tensor<64x8xf16>) -> tensor<8x8xf16>\n"
        "  func.return %z : tensor<8x8xf16>\n}\n"
    )
    words = [str(program), "--superoptimize", "--report", f"--artifacts={folder}", "-o"]
    assert mirage_opt([*words, str(folder / "out")]) == 0
    shutil.rmtree(folder)
    gc.collect()
    gc.freeze()


def summary(outcomes: list[Outcome], seed: int, seconds: float) -> dict[str, object]:
    """What is written to disk."""
    kinds: dict[str, object] = {}
    for kind in KINDS:
        found = [each for each in outcomes if each.input.kind == kind]
        if found:
            kinds[kind] = {
                "inputs": len(found),
                "exit codes": dict(sorted(Counter(each.status for each in found).items())),
                "most seconds": max(each.seconds for each in found),
                "most megabytes": max(each.megabytes for each in found),
            }
    faults = [each for each in outcomes if each.fault is not None]
    return {
        **described(),
        "seed": seed,
        "inputs": len(outcomes),
        "limits": {"bytes": MEMORY, "seconds": SECONDS},
        "faults": [_shown(each) for each in sorted(faults, key=_name)],
        "kinds": kinds,
        "seconds": round(seconds, 1),
    }


def _name(outcome: Outcome) -> tuple[str, int]:
    return outcome.input.kind, outcome.input.number


def _shown(outcome: Outcome) -> dict[str, object]:
    return {
        "input": f"{outcome.input.kind}:{outcome.input.number}",
        "fault": outcome.fault,
        "words": list(outcome.input.case.words),
        "seconds": outcome.seconds,
        "said": outcome.said[-2000:],
    }


def show(one: Input) -> int:
    """Run one input here, and say what it is."""
    for name, data in one.case.files.items():
        Path(name).write_bytes(data)
        print(f"wrote {name}")
    print("mirage-opt", *one.case.words)
    return one.case.call(Path()) if one.case.call else mirage_opt([*one.case.words, "--debug"])


def main() -> int:
    """Run the campaign: 1 where there are faults."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", default="", help="inputs of one kind, or one input: token:17")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    kind, _, number = options.only.partition(":")
    chosen = list(inputs(options.count, options.seed, kind))
    if number:
        return show(next(each for each in chosen if each.number == int(number)))
    start = time.monotonic()
    warm_up()
    outcomes: list[Outcome] = []
    for outcome in Pool(options.jobs).run(iter(chosen)):
        outcomes.append(outcome)
        if outcome.fault is not None:
            print(f"{outcome.input.kind}:{outcome.input.number} {outcome.fault}")
            print("  " + outcome.said.strip()[-300:].replace("\n", "\n  "), flush=True)
    result = summary(outcomes, options.seed, time.monotonic() - start)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    faults = sum(each.fault is not None for each in outcomes)
    print(f"{len(outcomes)} inputs, {faults} faults, in {result['seconds']} s")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
