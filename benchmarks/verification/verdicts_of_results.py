"""
What verification says of what is returned, and what that costs.

    python benchmarks/verification/verdicts_of_results.py [--only NAME,...] [--jobs N] [--table]

Each workload (`test/workloads`), and with `--table` each case of the table of times in f16 and
bf16, is superoptimized; then a new process, on one core, compares the result with the program. The
report has for each the arguments that hold (proved, tested), seconds of the comparison, the peak
memory of that process, and what remains above the limits: 5 s, 10 s for a decoder layer, 400 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any, cast

from all_programs import say, workloads, write
from kernels import programs as cases
from machine import described

SECONDS = {"llama3_decoder_layer": 10.0}
"""What a verdict may take on one core, where that is not `USUAL`: it has 14 kernels."""

USUAL = 5.0

MEGABYTES = 400
"""What the process of a verdict may take."""


def programs(*, table: bool) -> Iterator[tuple[str, str]]:
    """Name and text of each program."""
    yield from workloads()
    if table:
        for dtype in ("f16", "bf16"):
            for case in cases.table(dtype):
                yield case.name, case.text()


def result_of(name: str, text: str) -> dict[str, Any]:
    """What becomes of one program."""
    with tempfile.TemporaryDirectory() as folder:
        program, result = Path(folder, "program.mlir"), Path(folder, "result.mlir")
        program.write_text(text)
        start = perf_counter()
        search = _run("mirage_mlir.opt_main", program, "--superoptimize", "-o", result)
        row = {"program": name, "search_seconds": round(perf_counter() - start, 1)}
        if search.returncode:
            return row | {"error": search.stderr.strip()}
        here = ["--compare", program, result]
        command = [sys.executable, __file__, *map(str, here)]
        compared = subprocess.run(command, capture_output=True, text=True, env=_one_core())
        if compared.returncode:
            return row | {"error": compared.stderr.strip()[-2000:]}
        found = cast(dict[str, Any], json.loads(compared.stdout))
        return row | found


def _run(module: str, *words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", module, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env=_one_core())


def _one_core() -> dict[str, str]:
    """An environment in which numpy starts no threads."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    return os.environ | dict.fromkeys(names, "1")


def compare(program: Path, result: Path) -> dict[str, object]:
    """The verdict on the result of a program, and its cost."""
    from mirage_mlir.driver.source import functions, parse_program
    from mirage_mlir.equivalence import check_equivalence

    reference, candidate = (
        functions(parse_program(path.read_text(), path.name))[0] for path in (program, result)
    )
    before = _megabytes()
    start = perf_counter()
    report = check_equivalence(reference, candidate)
    return {
        "verdict": report.verdict.value,
        "arguments": list(report.arguments),
        "bound": report.tests.bound,
        "seconds": round(perf_counter() - start, 2),
        "megabytes": _megabytes(),
        "megabytes_before": before,
        "report": str(report),
    }


def _megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def too_much(row: Mapping[str, Any]) -> bool:
    """Whether a verdict is missing, or above a limit."""
    if "error" in row or row["verdict"] != "equal":
        return True
    allowed = SECONDS.get(row["program"], USUAL)
    return row["seconds"] > allowed or row["megabytes"] > MEGABYTES


def main() -> None:
    """Run all, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="words, one of which a name has")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time")
    parser.add_argument("--table", action="store_true", help="the cases of the table, too")
    parser.add_argument("--compare", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.compare:
        sys.stdout.write(json.dumps(compare(*options.compare)) + "\n")
        return
    words = options.only.split(",")
    chosen = [each for each in programs(table=options.table) if any(w in each[0] for w in words)]
    rows: list[dict[str, Any]] = []
    with ThreadPoolExecutor(options.jobs) as pool:
        names, texts = [name for name, _ in chosen], [text for _, text in chosen]
        for row in pool.map(result_of, names, texts):
            rows.append(row)
            say([row["program"], row.get("arguments", row.get("error")), row.get("seconds"), "s"])
    over = [row["program"] for row in rows if too_much(row)]
    write("verdicts_of_results", {**described(), "over_the_limits": over, "programs": rows})
    say([len(rows), "programs,", len(over), "over the limits:", *over])


if __name__ == "__main__":
    main()
