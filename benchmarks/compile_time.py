"""
How long compiling takes, phase by phase, on one core of this machine.

    python benchmarks/compile_time.py [--repeats 5] [FILE.mlir ...]

Every program is compiled for one chip in this process, which is pinned to one core, several times;
the first time is shown apart, since it imports MLIR's bindings and fills caches. The numbers are
medians, and the least, which is what counts on a machine that does other things meanwhile, in
seconds; they go to `results/<processor>/<date>-compile_time.json`:

    search   reading, search, costing             lower    passes from uGraphs to NVVM
    verify   random tests and rounding            PTX      MLIR and LLVM
    ptxas    the assembler, a process of its own
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

from machine import processor

PHASES = ("search", "verify", "lower", "PTX", "ptxas")

WORKLOADS = Path(__file__).parent.parent / "test" / "workloads"

DEFAULT = ("rmsnorm_linear", "lora", "linear_bias_gelu", "ntrans", "softmax", "attention", "gqa")

CHIP = "sm_90a"


def pin() -> None:
    """Stay on one core, with one thread of BLAS."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"


def version_seconds(repeats: int) -> float:
    """The median time of `mirage-opt --version`, a process of its own."""
    times: list[float] = []
    for _ in range(repeats):
        start = perf_counter()
        subprocess.run(
            [sys.executable, "-m", "mirage_mlir.opt_main", "--version"],
            check=True,
            capture_output=True,
        )
        times.append(perf_counter() - start)
    return statistics.median(times)


def phase_seconds(path: Path) -> dict[str, float]:
    """Seconds of each phase of one compile."""
    # Imported after `pin`: BLAS reads its number of threads when it is loaded.
    from mirage_mlir.driver.options import Options
    from mirage_mlir.driver.source import functions, parse_program
    from mirage_mlir.driver.superoptimize import superoptimize_function

    start = perf_counter()
    module = parse_program(path.read_text(), path.name)
    name = functions(module)[0].sym_name.data
    result = superoptimize_function(module, name, Options(chips=(CHIP,)))
    seconds = {phase: result.seconds.get(phase, 0.0) for phase in PHASES}
    return {**seconds, "all": perf_counter() - start}


def slug() -> str:
    """The processor's name as a folder name."""
    words = processor().lower()
    kept = "".join(letter if letter.isalnum() else " " for letter in words)
    return "-".join(kept.split())


def row(name: str, seconds: dict[str, float]) -> str:
    """One line of the table."""
    cells = "".join(f"{seconds[phase]:9.3f}" for phase in (*PHASES, "all"))
    return f"{name:28}{cells}"


def main() -> int:
    """Compile, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", nargs="*", type=Path, help="MLIR files of one function")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "results")
    arguments = parser.parse_args()
    pin()
    paths = arguments.programs or [WORKLOADS / f"{name}.mlir" for name in DEFAULT]
    version = version_seconds(arguments.repeats)
    print(f"{slug()}, one core, seconds\nmirage-opt --version {version:.3f}")
    print(f"{'program':28}" + "".join(f"{phase:>9}" for phase in (*PHASES, "all")))
    programs: dict[str, object] = {}
    for path in paths:
        first = phase_seconds(path)
        runs = [phase_seconds(path) for _ in range(arguments.repeats)]
        median = {phase: statistics.median(run[phase] for run in runs) for phase in first}
        least = {phase: min(run[phase] for run in runs) for phase in first}
        print(row(f"{path.stem}, first", first), row(path.stem, median), sep="\n", flush=True)
        print(row(f"{path.stem}, least", least), flush=True)
        programs[path.stem] = {"first": first, "median": median, "least": least}
    write(arguments.results, {"version_seconds": version, "programs": programs})
    return 0


def write(folder: Path, numbers: dict[str, object]) -> None:
    """Write the numbers, with what they depend on."""
    now = datetime.now(UTC)
    target = folder / slug()
    target.mkdir(parents=True, exist_ok=True)
    environment = {
        "date": now.isoformat(timespec="seconds"),
        "processor": slug(),
        "python": platform.python_version(),
        "chip": CHIP,
    }
    path = target / f"{now.date().isoformat()}-compile_time.json"
    path.write_text(json.dumps({"environment": environment, **numbers}, indent=1) + "\n")
    print(f"written to {path}")


if __name__ == "__main__":
    sys.exit(main())
