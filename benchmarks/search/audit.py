"""
All small graphs of nine programs against the search: which does it not have?

    python benchmarks/search/audit.py [--results DIR] [--only NAME,NAME] [--minutes 20]

Brute force, without any pruning, applies operators to tiles of a finite field wherever their shapes
allow it, for every way to cut each input for grid and loop; `test/support/brute_force.py` says how.
Every graph that computes its program must be one of the search's hypergraph, or have a tile that is
no sub-expression of the program by the axioms of the paper (`test/support/brute_audit.py`); others
are missed, and make the exit code 1.

First come all cuts that are configurations of the search; the time of the processor that is left
is shared out among the programs, for the other cuts in random order and for the first ones again
with graphs of an operator more. What was not finished is said. Results go to
`DIR/<date>-audit.json`.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "test" / "support"))

from audited_programs import SUBJECTS, Subject
from brute_audit import Audit
from cut_graphs import InputCuts
from machine import described
from residue_tiles import PARTS, SIZE

MISSES_SHOWN = 20
"""Of one program; a result with more is not read to the end."""

OTHERS_SHARE = 0.5
"""Of the time that is left after the first part, the share of the second."""

SUMMED = ("graphs", "right", "explained", "outside_the_axioms", "missed", "seconds")


def run_cuts(
    subject: Subject, cuts: Sequence[InputCuts], most: int, until: float
) -> dict[str, Any]:
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


class Program:
    """One program and what was found so far."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.subject = SUBJECTS[name]
        audit = Audit(self.subject)
        cuts = audit.cuts()
        self.own = [cut for cut in cuts if audit.configuration(cut) is not None]
        self.others = [cut for cut in cuts if audit.configuration(cut) is None]
        Random(0).shuffle(self.others)
        self.parts: dict[str, dict[str, Any]] = {}

    def run(self, part: str, cuts: Sequence[InputCuts], most: int, until: float) -> None:
        """Audit cuts and say what came of it."""
        found = self.parts[part] = run_cuts(self.subject, cuts, most, until)
        print(
            f"{self.name}: graphs of up to {most} operators, {found['cuts_finished']} of "
            f"{found['cuts']} cuts, {found['graphs']} graphs, {found['right']} right, "
            f"{found['explained']} explained, {found['outside_the_axioms']} outside the axioms, "
            f"{found['missed']} missed, {found['seconds']} s",
            flush=True,
        )

    def result(self) -> dict[str, Any]:
        """What is written."""
        operators = [*self.subject.operators, *self.subject.further]
        return {"operators": operators, **self.parts}


def audited(programs: Sequence[Program], seconds: float) -> Iterator[None]:
    """Audit the configurations of all programs, then what time is left for; stops at each part."""
    end = process_time() + seconds
    for program in programs:
        program.run("configurations", program.own, program.subject.most, end)
        yield
    for place, program in enumerate(programs):
        now = process_time()
        share = max(0.0, end - now) / (len(programs) - place)
        most = program.subject.most
        program.run("other_cuts", program.others, most, now + OTHERS_SHARE * share)
        program.run("larger_graphs", program.own, most + 1, now + share)
        yield


def totals(programs: Sequence[Program]) -> dict[str, float]:
    """Over all parts that there are."""
    parts = [part for program in programs for part in program.parts.values()]
    return {key: round(sum(part[key] for part in parts), 1) for key in SUMMED}


def write(path: Path, programs: Sequence[Program]) -> None:
    """Write what was found so far."""
    path.parent.mkdir(parents=True, exist_ok=True)
    result = {
        "environment": {**described(), "egglog": version("egglog")},
        "dimensions": SIZE,
        "blocks_and_iterations": PARTS,
        "totals": totals(programs),
        "programs": {program.name: program.result() for program in programs},
    }
    path.write_text(json.dumps(result, indent=1) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, help="folder for the results")
    parser.add_argument("--only", default=",".join(SUBJECTS), help="programs, with commas between")
    parser.add_argument("--minutes", type=float, default=20.0, help="of the processor, for all")
    options = parser.parse_args()
    programs = [Program(name) for name in options.only.split(",")]
    day = datetime.now(UTC).date()
    for _ in audited(programs, 60 * options.minutes):
        if options.results is not None:
            write(options.results / f"{day}-audit.json", programs)
    found = totals(programs)
    print(found)
    return 1 if found["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
