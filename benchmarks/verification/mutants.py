"""
Campaign: single edits of all programs; each that float64 tells apart must be rejected.

    python benchmarks/verification/mutants.py [--most N] [--only NAME] [--output NAME]

Mutants are made of the hand-written graphs, of the workloads, and of the graphs that the search
finds for these, with large sizes divided by 32. The verifier and the oracle of
`test/support/oracle`, which shares no code with it, judge each with inputs of their own. Mutants of
index maps alone, at real sizes, are in `index_maps.py`.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple

from all_programs import found_graphs, function_of, say, shrunk, ugraphs, workloads, write
from graph_mutants import Mutant, mutants
from oracle import Judge
from verdicts import verify
from xdsl.dialects.func import FuncOp

ORACLE_SEED = 101
"""Of the oracle's inputs; the verifier draws from seed 0."""

GRAPHS = 3
"""Graphs that the search finds for one program."""

SEARCH_SECONDS = 20.0
"""Of one search."""


class Program(NamedTuple):
    """What mutants are made of."""

    source: str
    name: str
    reference: FuncOp
    edited: FuncOp


@dataclass
class Tally:
    """What became of the mutants."""

    verdicts: Counter[str] = field(default_factory=Counter[str])
    sources: Counter[str] = field(default_factory=Counter[str])
    edits: Counter[str] = field(default_factory=Counter[str])
    missed: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    equivalent: Counter[str] = field(default_factory=Counter[str])
    cautious: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    seconds: list[float] = field(default_factory=list[float])

    def judge(self, program: Program, mutant: Mutant, oracle: Judge) -> None:
        """Verify one mutant and let float64 say whether that was right."""
        source, name, reference, _ = program
        start = perf_counter()
        answer = verify(reference, mutant.function)
        self.seconds.append(perf_counter() - start)
        told = oracle.differs(mutant.function)
        self.sources[source] += 1
        self.edits[_kind(mutant)] += 1
        self.verdicts[f"{answer.verdict}, float64 {'differs' if told else 'agrees'}"] += 1
        entry = {
            "program": f"{source} {name}",
            "edit": f"{mutant.operation}: {mutant.description}",
            "report": answer.report,
        }
        if answer.accepted and told:
            self.missed.append(entry)
        elif answer.accepted:
            self.equivalent[f"{entry['program']}: {entry['edit']} ({answer.arguments})"] += 1
        elif not told:
            self.cautious.append(entry)

    def fields(self) -> dict[str, object]:
        """The report."""
        ordered = sorted(self.seconds)
        return {
            "mutants": sum(self.verdicts.values()),
            "verdicts": dict(sorted(self.verdicts.items())),
            "missed": self.missed,
            "sources": dict(sorted(self.sources.items())),
            "edits": dict(self.edits.most_common()),
            "seconds": {
                "median": round(ordered[len(ordered) // 2], 4) if ordered else None,
                "largest": round(ordered[-1], 3) if ordered else None,
            },
            "oracle_seed": ORACLE_SEED,
            "rejected_though_float64_agrees": self.cautious,
            "accepted_as_equivalent": dict(sorted(self.equivalent.items())),
        }


def _kind(mutant: Mutant) -> str:
    """The edit without what it names."""
    words = mutant.description.split()
    return " ".join(word for word in words if word.isalpha())


def programs(only: str) -> Iterator[Program]:
    """All whose name holds `only`."""
    for name, text in workloads():
        small = function_of(shrunk(text), name)
        if only in name and small is not None:
            yield Program("workload", name, small, small)
            for number, graph in enumerate(found_graphs(small, GRAPHS, SEARCH_SECONDS)):
                yield Program("found graph", f"{name} {number}", small, graph)
    for name, reference, graph in ugraphs():
        if only in name:
            yield Program("hand-written graph", name, reference, graph)


def main() -> None:
    """Run the campaign, writing the report after every program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=150, help="mutants of one program")
    parser.add_argument("--only", default="", help="programs whose name holds this")
    parser.add_argument("--output", default="mutants", help="name of the report")
    options = parser.parse_args()
    tally = Tally()
    for program in programs(options.only):
        oracle = Judge(program.reference, ORACLE_SEED)
        found = list(mutants(program.edited))
        step = max(1, -(-len(found) // options.most))
        for mutant in found[::step]:
            tally.judge(program, mutant, oracle)
        say([*program[:2], len(found[::step]), dict(tally.verdicts), len(tally.missed), "missed"])
        write(options.output, tally.fields())


if __name__ == "__main__":
    main()
