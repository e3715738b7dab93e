"""
Campaign: random programs through the whole of `superoptimize`, against numpy in float64.

    python benchmarks/verification/random_programs.py [--first SEED] [--count N] [--output NAME]

A seed is a program of 1 to 8 operators on tensors whose sizes have ones and primes among them, in
f16, bf16 or f32. What `superoptimize` makes of it runs twice: in float64, where it must agree with
numpy, and with the rounding of its element types, where it may be as far off as its gate allows.
"""

from __future__ import annotations

import argparse
from collections import Counter
from time import perf_counter

from all_programs import say, write
from random_runs import Failure, examine


def main() -> None:
    """Run the campaign, writing the report every few programs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=2000, help="how many programs")
    parser.add_argument("--output", default="random_programs", help="name of the report")
    options = parser.parse_args()
    outcomes: Counter[str] = Counter()
    types: Counter[str] = Counter()
    failures: list[dict[str, object]] = []
    start = perf_counter()
    for number, seed in enumerate(range(options.first, options.first + options.count), 1):
        try:
            outcome = examine(seed)
            outcomes[outcome.text] += 1
            types[outcome.element_type] += 1
        except Failure as failure:
            outcomes["failed"] += 1
            failures.append({"seed": seed, "reason": str(failure), "program": failure.program})
            say(["seed", seed, failure])
        if number % 20 == 0 or number == options.count:
            write(
                options.output,
                {
                    "programs": number,
                    "seeds": [options.first, seed],
                    "outcomes": dict(sorted(outcomes.items())),
                    "element_types": dict(sorted(types.items())),
                    "failures": failures,
                    "seconds": round(perf_counter() - start, 1),
                },
            )
    say([dict(outcomes)])


if __name__ == "__main__":
    main()
