"""
What the parts of the search are for: RMSNorm and a linear layer with each of them left out.

    python benchmarks/search/ablation.py [--results DIR] [--seconds 20]

* All configurations, as the search is; without the closure (every value is kept); without
  fingerprints (arguments of functions are told apart by their form alone).
* One configuration, columns on the grid and a loop over the depth, with 5 to 11 operators: how many
  graphs there are without pruning (`test/support/brute_force.py`, on a finite field), and how many
  values and graphs the hypergraph has, which does not depend on that number.

Each part stops after some seconds, and says so. Results go to `DIR/<date>-ablation.json`.
"""

import argparse
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "test" / "support"))

from audited_programs import SUBJECTS
from brute_force import BruteForce
from cut_graphs import UNCUT, cuts
from machine import described
from programs import PAPER_SECONDS, PAPER_UNPRUNED
from search_programs import rmsnorm_linear

from mirage_mlir.expr.closure import Closure
from mirage_mlir.expr.ring import Ring
from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.saturation import saturate
from mirage_mlir.search.saturation.config import one_kernel_configurations
from mirage_mlir.search.saturation.saturate import Saturation
from mirage_mlir.search.saturation.values import Algebra

MOST_OPERATORS = range(5, 12)
"""As in Table 5 of Wu et al. (OSDI 2025)."""


def expiring(seconds: float) -> Callable[[], bool]:
    """Asks whether so many seconds have passed since."""
    end = perf_counter() + seconds
    return lambda: perf_counter() > end


def saturated(seconds: float) -> dict[str, Any]:
    """All configurations, until the time is over."""
    start, expired = perf_counter(), expiring(seconds)
    algebra = Algebra.of(resolve(rmsnorm_linear()))
    values, finished, count = 0, 0, 0
    for configuration in one_kernel_configurations(algebra.program):
        count += 1
        if expired():
            continue
        saturation = Saturation(algebra, configuration, expired)
        values += len(saturation.run().values)
        finished += not saturation.cut
    return {
        "seconds": perf_counter() - start,
        "configurations": count,
        "finished": finished,
        "values": values,
        "tried": algebra.tried,
    }


def without(part: type, seconds: float, **replacements: object) -> dict[str, Any]:
    """The same with attributes of a class replaced."""
    originals = {name: getattr(part, name) for name in replacements}
    most, saturate.MAX_VALUES = saturate.MAX_VALUES, 1 << 30
    for name, replacement in replacements.items():
        setattr(part, name, replacement)
    try:
        return saturated(seconds)
    finally:
        for name, original in originals.items():
            setattr(part, name, original)
        saturate.MAX_VALUES = most


def keep_all(closure: Closure, poly: int | None) -> bool:
    """Stands for `Closure.has`: every value may be of use."""
    return poly is not None


def may_be(closure: Closure, a: int, b: int, sign: int) -> bool:
    """Stands for `Closure.may_add`: every sum may be of use."""
    return True


def same(ring: Ring, poly: int) -> int:
    """Stands for `Ring.representative`: a value is equal to itself only."""
    return poly


def unpruned(seconds: float) -> list[dict[str, Any]]:
    """All graphs of one configuration by their largest number of operators."""
    subject = SUBJECTS["rmsnorm_linear"]
    brute = BruteForce(subject.build(), subject.operators, subject.scale)
    # X's columns and W's rows in the loop, W's columns on the grid.
    (cut,) = [c for c in cuts(brute.shapes) if c.grid == (UNCUT, 1) and c.loop == (1, 0)]
    rows: list[dict[str, Any]] = []
    for most in MOST_OPERATORS:
        start = perf_counter()
        enumeration = brute.enumerate(cut, most, expiring(seconds))
        rows.append(
            {
                "operators": most,
                "graphs": enumeration.graphs,
                "right": len(enumeration.found),
                "complete": enumeration.complete,
                "seconds": perf_counter() - start,
                "paper_seconds": PAPER_SECONDS[most],
            }
        )
        print(rows[-1], flush=True)
        if not enumeration.complete:
            break
    return rows


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description="leave out parts of the search")
    default = Path(__file__).parents[1] / "results" / "search"
    parser.add_argument("--results", type=Path, default=default, metavar="DIR")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each part")
    options = parser.parse_args()
    parts = {
        "the search": saturated(options.seconds),
        "no fingerprints": without(Ring, options.seconds, representative=same),
        "no closure": without(Closure, options.seconds, has=keep_all, may_add=may_be),
    }
    for name, part in parts.items():
        print(name, part, flush=True)
    result = {
        "machine": described(),
        "seconds_of_each_part": options.seconds,
        "all_configurations": parts,
        "one_configuration_unpruned": unpruned(options.seconds),
        "paper_unpruned": PAPER_UNPRUNED,
    }
    options.results.mkdir(parents=True, exist_ok=True)
    date = datetime.now(UTC).date().isoformat()
    text = json.dumps(result, indent=1) + "\n"
    (options.results / f"{date}-ablation.json").write_text(text)


if __name__ == "__main__":
    main()
