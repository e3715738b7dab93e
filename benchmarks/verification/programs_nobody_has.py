"""
Campaign: random programs of all kernel operators through `superoptimize`, against the oracle.

    python benchmarks/verification/programs_nobody_has.py [--seeds A:B] [--jobs N] [--seconds S]

A seed is a program of 2 to 9 operators with up to three results, on tensors in f16, bf16 or f32
whose sizes go from 1 to 300. What comes back must compute the same in float64, element types
rounding nothing, as the oracle of `test/support/oracle` says; it shares no code with the project.
The report lists every difference, every refusal, and every candidate that verification turned down,
each with its reason, and the smallest part of the program for which the same happens.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from time import perf_counter

from all_programs import say, write
from index_maps import numbers_of
from machine import described
from odd_programs import OddProgram, smallest
from odd_runs import difference, superoptimized
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.driver.source import text_of

TRIES = 25
"""Smaller programs that are tried for one that fails."""


@dataclass
class Outcome:
    """What became of one program."""

    seed: int
    what: str = ""
    """found, alone, refused (an error), differs, or crashed."""
    reason: str = ""
    rejected: list[str] = field(default_factory=list[str])
    """Why candidates were turned down on the way."""
    element_type: str = ""
    seconds: float = 0.0
    program: str = ""
    smallest: str = ""


def examine(function: FuncOp, seed: int, seconds: float) -> Outcome:
    """Superoptimize one program and compare."""
    start = perf_counter()
    outcome = Outcome(seed, program=text_of(ModuleOp([function.clone()])))
    try:
        result, remarks = superoptimized(function, seconds)
    except DiagnosticException as error:
        outcome.what, outcome.reason = "refused", str(error)
        return outcome
    outcome.seconds = round(perf_counter() - start, 2)
    outcome.rejected = [text for text in remarks if "rejected" in text or "alone is" in text]
    off, allowed = difference(function, result, seed)
    if not off <= allowed:
        outcome.what, outcome.reason = "differs", f"{off:.1e} off, {allowed:.1e} allowed"
        return outcome
    alone = any("each operator" in text for text in remarks)
    outcome.what = "alone" if alone else "found"
    return outcome


def one(seed: int, seconds: float) -> Outcome:
    """What became of the program of a seed, and why: called in a process of its own."""
    function = OddProgram(seed).make()
    function.verify()
    outcome = examine(function, seed, seconds)
    outcome.element_type = str(function.body.block.args[0].type).rpartition("x")[2].rstrip(">")
    if (sign := _sign(outcome)) is not None:

        def fails(smaller: FuncOp) -> bool:
            return _sign(examine(smaller, seed, seconds)) == sign

        part = smallest(function, fails, TRIES)
        outcome.smallest = text_of(ModuleOp([part.clone()]))
    return outcome


def _sign(outcome: Outcome) -> str | None:
    """In what way a program failed, or its candidates were turned down; None for neither."""
    if outcome.what in ("refused", "differs"):
        return outcome.what
    if not outcome.rejected:
        return None
    return re.sub(r".* (rejected, |alone is )", "", outcome.rejected[0].partition(":")[0])


def outcomes(seeds: range, jobs: int, seconds: float) -> list[Outcome]:
    """All programs, in their order."""
    found: list[Outcome] = []
    with ProcessPoolExecutor(max_workers=jobs) as pool:
        futures = {seed: pool.submit(one, seed, seconds) for seed in seeds}
        for seed, future in futures.items():
            if (error := future.exception()) is not None:
                text = text_of(ModuleOp([OddProgram(seed).make()]))
                found.append(Outcome(seed, "crashed", repr(error), program=text))
            else:
                found.append(future.result())
            if found[-1].what not in ("found", "alone"):
                say(["seed", seed, found[-1].what, found[-1].reason])
    return found


def main() -> None:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=numbers_of, default=range(150), help="seeds, as A:B")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--seconds", type=float, default=5.0, help="limit of one search")
    parser.add_argument("--output", default="programs_nobody_has", help="name of the report")
    options = parser.parse_args()
    start = perf_counter()
    rows = outcomes(options.seeds, options.jobs, options.seconds)
    counts = Counter(row.what for row in rows)
    turned_down = [row for row in rows if row.rejected and row.what in ("found", "alone")]
    write(
        options.output,
        {
            **described(),
            "seeds": [options.seeds[0], options.seeds[-1] + 1],
            "outcomes": dict(sorted(counts.items())),
            "element_types": dict(sorted(Counter(row.element_type for row in rows).items())),
            "failures": [asdict(row) for row in rows if row.what not in ("found", "alone")],
            "with_rejected_candidates": [asdict(row) for row in turned_down],
            "seconds": round(perf_counter() - start, 1),
        },
    )
    say([dict(counts), len(turned_down), "with candidates that were turned down"])


if __name__ == "__main__":
    main()
