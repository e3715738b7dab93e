"""
Whether every kernel that `--superoptimize` chooses assembles, and what it needs.

    python benchmarks/assemble.py [--jobs 2] [--write] [FILE.mlir ...]

Every program of `test/workloads`, or those that are named, is searched and compiled for all chips
that there is machine code for. A line of the table is a kernel:

    registers   of a thread           shared   of a block, KB
    spilled     bytes of a thread     blocks   on a multiprocessor at a time

It ends with 1 where a program cannot be compiled, or a kernel spills more than `MOST_SPILLED`.
`--write` puts the numbers into `results/assemble/<date>.json`.
"""

# Annotations stay text: worker processes start faster.
from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from machine import described

from mirage_mlir.driver.compile import CompiledFunction
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.driver.superoptimize import superoptimize_function
from mirage_mlir.targets.target import DEFAULT_CHIPS

WORKLOADS = Path(__file__).parent.parent / "test" / "workloads"

MOST_SPILLED = 0
"""Bytes that a thread may spill. Of what the search offers the first that spills nothing is taken;
only where all do is there a kernel that does."""


@dataclass(frozen=True)
class Kernel:
    """One kernel of a program for one chip."""

    program: str
    chip: str
    kernel: str
    grid: tuple[int, ...]
    threads: int
    registers: int
    spilled: int
    shared: int
    blocks: int

    def line(self) -> str:
        """A line of the table."""
        return (
            f"{self.kernel:42}{self.chip:8}{'x'.join(map(str, self.grid)):>12}{self.threads:8}"
            f"{self.registers:10}{self.spilled:8}{self.shared / 1024:8.1f}{self.blocks:7}"
        )


HEADER = (
    f"{'kernel':42}{'chip':8}{'grid':>12}{'threads':>8}{'registers':>10}{'spilled':>8}"
    f"{'shared':>8}{'blocks':>7}"
)


@dataclass(frozen=True)
class Outcome:
    """What became of a program."""

    program: str
    kernels: tuple[Kernel, ...] = ()
    warnings: tuple[str, ...] = ()
    """Of the assembler."""
    problem: str = ""
    """Why there are no kernels."""

    @property
    def good(self) -> bool:
        """Whether it may stay so."""
        return not self.problem and all(each.spilled <= MOST_SPILLED for each in self.kernels)


def kernels_of(program: str, compiled: CompiledFunction) -> list[Kernel]:
    """The kernels for one chip."""
    return [
        Kernel(
            program,
            compiled.code.target,
            launch.kernel,
            launch.grid,
            launch.threads,
            needs.registers,
            needs.spill_bytes,
            needs.shared_bytes,
            needs.resident,
        )
        for launch, needs in zip(compiled.code.launches, compiled.resources, strict=True)
    ]


def assembled(path: Path, chips: Sequence[str] = DEFAULT_CHIPS) -> Outcome:
    """The kernels of the one program in a file, for all chips."""
    try:
        module = parse_program(path.read_text(), path.name)
        (function,) = functions(module)
        result = superoptimize_function(module, function.sym_name.data, Options(chips=tuple(chips)))
    # Whatever went wrong with a program, the others are of interest.
    except Exception as error:
        return Outcome(path.stem, problem=f"{type(error).__name__}: {error}")
    kernels = [kernel for each in result.compiled for kernel in kernels_of(path.stem, each)]
    warnings = [line for each in result.compiled for line in each.assembled.warnings]
    return Outcome(path.stem, tuple(kernels), tuple(warnings))


def show(outcome: Outcome) -> None:
    """Print what became of a program."""
    for kernel in outcome.kernels:
        print(kernel.line())
    for warning in outcome.warnings:
        print(f"  {warning}")
    if outcome.problem:
        print(f"{outcome.program:42}{outcome.problem}")
    sys.stdout.flush()


def write(outcomes: Sequence[Outcome], folder: Path) -> None:
    """Write what became of all programs."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{datetime.now(UTC).date().isoformat()}.json"
    content = {
        "environment": described(),
        "most_spilled": MOST_SPILLED,
        "programs": [asdict(outcome) for outcome in outcomes],
    }
    path.write_text(json.dumps(content, indent=1) + "\n")
    print(f"written to {path}")


def main() -> int:
    """Compile, print, say whether all is well."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", nargs="*", type=Path, help="MLIR files of one function")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "results/assemble")
    arguments = parser.parse_args()
    # One core each: BLAS threads of several workers would only disturb one another.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    paths = arguments.programs or sorted(WORKLOADS.glob("*.mlir"))
    outcomes: list[Outcome] = []
    print(HEADER)
    with multiprocessing.get_context("spawn").Pool(min(arguments.jobs, len(paths))) as pool:
        for outcome in pool.imap(assembled, paths):
            show(outcome)
            outcomes.append(outcome)
    bad = [outcome.program for outcome in outcomes if not outcome.good]
    print(f"{len(outcomes)} programs, {len(bad)} of them wrong" + "".join(f", {x}" for x in bad))
    if arguments.write:
        write(outcomes, arguments.results)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
