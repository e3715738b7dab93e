"""
How long searches take and how much memory: every workload, and chains of 2 to 24 operators.

    python benchmarks/search/run.py [--results DIR] [--only NAME,NAME] [--repeats 1]

Each program is read, searched and its best ten candidates verified in a process of its own, on one
core, before MLIR's bindings or z3 are loaded. What is aimed at is compared with the processor time
of that core, which other work on the machine changes less than the time on the clock. The results,
with the times of each phase and all counts, go to `DIR/<date>-search.json`; the times of chains
also to `DIR/<date>-scaling.svg`, the structures found, beside what an expert would do, to
`DIR/<date>-structures.md`.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))

from machine import described
from plot import Line, svg
from programs import CHAIN, PAPER, PAPER_SECONDS, PAPER_UNPRUNED, WORKLOADS, chain
from table import markdown

VERIFIED = 10
"""Candidates that are verified, as many as a user might time."""

LENGTHS = (2, 4, 6, 8, 10, 12, 16, 20, 24)

BARS = {"paper": 3.0, "further": 10.0, "layer": 60.0, "megabytes": 200.0}
"""What is aimed at: seconds of a program, and memory."""

LAYER = "llama3_decoder_layer"
"""A whole layer, which is searched in pieces."""


def one(path: str) -> None:
    """Search the program in a file and print what that took, as JSON."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    start = perf_counter()
    from mirage_mlir.driver.source import functions, parse_program
    from mirage_mlir.equivalence.parts import PartVerifier
    from mirage_mlir.passes.superoptimize import candidates

    ready = perf_counter()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    (function, *_) = functions(parse_program(Path(path).read_text(), Path(path).name))
    verifier = PartVerifier(function)
    verified = (
        candidate
        for candidate in candidates(function)
        if verifier.compare(candidate.function, list(candidate.attribute().pairs)).accepted(
            unverified=False
        )
    )
    found = list(islice(verified, VERIFIED))
    # The report goes on changing: it always describes the last candidate.
    best = {name: found[0].report.as_dict()[name] for name in ("kernels", "structure")}
    done = perf_counter()
    usage = resource.getrusage(resource.RUSAGE_SELF)
    peak = usage.ru_maxrss / 1024
    result: dict[str, Any] = {
        "seconds": done - ready,
        "user_seconds": usage.ru_utime - before,
        "import_seconds": ready - start,
        "megabytes": peak,
        "verified": len(found),
        "structures": [candidate.plan.structure for candidate in found],
        "modelled": [candidate.plan.seconds for candidate in found],
        "search": {**found[-1].report.as_dict(), **best},
    }
    print(json.dumps(result))


def measured(path: Path, repeats: int) -> dict[str, Any]:
    """What `one` prints for a program: the run with the median time of several."""
    runs: list[dict[str, Any]] = []
    for _ in range(repeats):
        command = [sys.executable, __file__, "--one", str(path)]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
        if done.returncode:
            return {"error": done.stderr.strip().splitlines()[-1:]}
        runs.append(json.loads(done.stdout))
    return sorted(runs, key=lambda run: run["user_seconds"])[len(runs) // 2]


def report(name: str, run: dict[str, Any]) -> None:
    """One line for people."""
    if "error" in run:
        print(f"{name:28} {run['error']}", flush=True)
        return
    search = run["search"]
    phases = " ".join(f"{phase} {took:.2f}" for phase, took in search["phases"].items())
    print(
        f"{name:28} {run['seconds']:6.2f} s ({run['user_seconds']:5.2f} s user) "
        f"{run['megabytes']:5.0f} MB  "
        f"{search['operators']:3} operators {search['configurations']:4} configurations "
        f"{search['values']:5} values {search['graphs']:4} graphs "
        f"{search['instantiations']:7} instantiations  {search['kernels']} kernels "
        f"{run['modelled'][0] * 1e6:6.1f} us | {phases}",
        flush=True,
    )


def workloads(only: list[str], repeats: int) -> dict[str, Any]:
    """Every workload by name, those of the paper first."""
    names = sorted(path.stem for path in WORKLOADS.glob("*.mlir"))
    ordered = [*(name for name in PAPER if name in names), *(n for n in names if n not in PAPER)]
    runs: dict[str, Any] = {}
    for name in ordered:
        if only and name not in only:
            continue
        runs[name] = measured(WORKLOADS / f"{name}.mlir", repeats)
        report(name, runs[name])
    return runs


def scaling(folder: Path, repeats: int) -> list[dict[str, Any]]:
    """Chains of more and more operators."""
    points: list[dict[str, Any]] = []
    for length in LENGTHS:
        path = folder / f"chain-{length}.mlir"
        path.write_text(chain(length))
        run = measured(path, repeats)
        path.unlink()
        report(path.stem, run)
        points.append({"operators": length, **run})
    return points


def over_bars(runs: dict[str, Any]) -> list[str]:
    """The programs that take more than is aimed at."""
    over: list[str] = []
    for name, run in runs.items():
        kind = "layer" if name == LAYER else "paper" if name in PAPER else "further"
        bar = BARS[kind]
        if "error" in run or run["user_seconds"] > bar or run["megabytes"] > BARS["megabytes"]:
            over.append(name)
    return over


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description="time searches of workloads and of chains")
    parser.add_argument("--one", metavar="FILE", help=argparse.SUPPRESS)
    default = Path(__file__).parents[1] / "results" / "search"
    parser.add_argument("--results", type=Path, default=default, metavar="DIR")
    parser.add_argument("--only", default="", metavar="NAMES", help="workloads, parted by commas")
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    if options.one:
        one(options.one)
        return
    options.results.mkdir(parents=True, exist_ok=True)
    only = [name for name in options.only.split(",") if name]
    runs = workloads(only, options.repeats)
    points = [] if only else scaling(options.results, options.repeats)
    date = datetime.now(UTC).date().isoformat()
    result = {
        "machine": described(),
        "bars": BARS,
        "over": over_bars(runs),
        "paper": {"rmsnorm_seconds": PAPER_SECONDS, "rmsnorm_unpruned": PAPER_UNPRUNED},
        "programs": runs,
        "chains": {"pattern": CHAIN, "points": points},
    }
    if only:
        return
    (options.results / f"{date}-search.json").write_text(json.dumps(result, indent=1) + "\n")
    table = markdown(runs, described())
    (options.results / f"{date}-structures.md").write_text(table)
    line = Line("search and verification", [(p["operators"], p["user_seconds"]) for p in points])
    title = "Seconds of one core for a chain of operators"
    (options.results / f"{date}-scaling.svg").write_text(svg(title, "operators", "seconds", [line]))


if __name__ == "__main__":
    main()
