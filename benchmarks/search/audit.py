"""
All small graphs of eight programs against the search: which does it not have?

    python benchmarks/search/audit.py [--results DIR] [--only NAME,NAME] [--minutes 20]

Brute force, without any pruning, applies operators to tiles of a finite field wherever their shapes
allow it, for every way to cut each input for grid and loop; `test/support/brute_force.py` says how.
Every graph that computes its program must be one of the search's hypergraph, or have a tile that is
no sub-expression of the program by the axioms of the paper (`test/support/brute_audit.py`); others
are missed, and make the exit code 1.

The time of the processor is shared out among the programs: first all cuts that are configurations
of the search, then the others in random order, then the first again with graphs of an operator
more. What was not finished is said. Results go to `DIR/<date>-audit.json`.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "test" / "support"))

from brute_audit import SUBJECTS, Audit, Subject
from brute_force import PARTS, SIZE, Cut
from machine import described

MISSES_SHOWN = 20
"""Of one program; a result with more is not read to the end."""

OTHERS_SHARE = 0.5
"""Of what is left after the first part, the share of the cuts that are no configurations."""


def run_cuts(subject: Subject, cuts: Sequence[Cut], most: int, until: float) -> dict[str, Any]:
    """Audit cuts with graphs of up to `most` operators until the process has used so much time."""
    audit = Audit(subject, further=True)
    start = process_time()

    def expired() -> bool:
        return process_time() > until

    for cut in cuts:
        if expired():
            break
        audit.run(cut, most, expired)
    outcome = audit.outcome
    return {
        "operators_of_a_graph": most,
        "cuts": len(cuts),
        "cuts_finished": outcome.complete,
        "graphs": outcome.graphs,
        "right": outcome.right,
        "explained": outcome.explained,
        "outside_the_axioms": outcome.outside,
        "missed": len(outcome.missed),
        "misses": [str(missed) for missed in outcome.missed[:MISSES_SHOWN]],
        "configurations": sorted(outcome.configurations),
        "seconds": round(process_time() - start, 1),
    }


def audited(name: str, seconds: float) -> dict[str, Any]:
    """One program, in three parts."""
    start, subject = process_time(), SUBJECTS[name]
    audit = Audit(subject)
    cuts = audit.cuts()
    own = [cut for cut in cuts if audit.configuration(cut) is not None]
    others = [cut for cut in cuts if audit.configuration(cut) is None]
    Random(0).shuffle(others)
    end = start + seconds
    first = run_cuts(subject, own, subject.most, end)
    half = process_time() + OTHERS_SHARE * (end - process_time())
    second = run_cuts(subject, others, subject.most, half)
    third = run_cuts(subject, own, subject.most + 1, end)
    return {
        "operators": [*subject.operators, *subject.further],
        "configurations": first,
        "other_cuts": second,
        "larger_graphs": third,
    }


def parts(program: dict[str, Any]) -> list[dict[str, Any]]:
    """The three parts of a program's result."""
    return [program[name] for name in ("configurations", "other_cuts", "larger_graphs")]


def write(folder: Path, result: dict[str, Any]) -> None:
    """Write the results, named after the day."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{datetime.now(UTC).date()}-audit.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(path)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, help="folder for the results")
    parser.add_argument("--only", default=",".join(SUBJECTS), help="programs, with commas between")
    parser.add_argument("--minutes", type=float, default=20.0, help="of the processor, for all")
    options = parser.parse_args()
    names = options.only.split(",")
    programs: dict[str, Any] = {}
    for name in names:
        programs[name] = audited(name, 60 * options.minutes / len(names))
        for part in parts(programs[name]):
            print(
                f"{name}: graphs of up to {part['operators_of_a_graph']} operators, "
                f"{part['cuts_finished']} of {part['cuts']} cuts, {part['graphs']} graphs, "
                f"{part['right']} right, {part['explained']} explained, "
                f"{part['outside_the_axioms']} outside the axioms, {part['missed']} missed, "
                f"{part['seconds']} s",
                flush=True,
            )
    everything = [part for program in programs.values() for part in parts(program)]
    keys = ("graphs", "right", "explained", "outside_the_axioms", "missed", "seconds")
    totals = {key: round(sum(part[key] for part in everything), 1) for key in keys}
    print(totals)
    result = {
        "environment": {**described(), "egglog": version("egglog")},
        "dimensions": SIZE,
        "blocks_and_turns": PARTS,
        "totals": totals,
        "programs": programs,
    }
    if options.results is not None:
        write(options.results, result)
    return 1 if totals["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
