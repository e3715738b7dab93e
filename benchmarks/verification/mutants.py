"""
Campaign: single edits of all programs; each that float64 tells apart must be rejected.

    python benchmarks/verification/mutants.py [--most N] [--only NAME] [--output NAME]

Mutants are made of the workloads as written, of the hand-written graphs, and of the graphs that the
search finds for the workloads, small enough for float64 to compute every element literally. The
verifier and float64 judge each with inputs of their own.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter

from all_programs import found_graphs, function_of, say, shrunk, ugraphs, workloads, write
from float64_judge import differs
from graph_mutants import Mutant, mutants
from xdsl.dialects.func import FuncOp

from mirage_mlir.equivalence import Verdict, check_equivalence

JUDGE_SEEDS = (101, 202)
"""Of float64's inputs; the verifier draws from seed 0."""

GRAPHS = 3
"""Graphs that the search finds for one program."""

SEARCH_SECONDS = 20.0
"""Of one search."""


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

    def judge(self, source: str, name: str, reference: FuncOp, mutant: Mutant) -> None:
        """Verify one mutant and let float64 say whether that was right."""
        start = perf_counter()
        report = check_equivalence(reference, mutant.function)
        self.seconds.append(perf_counter() - start)
        told = any(differs(reference, mutant.function, seed) for seed in JUDGE_SEEDS)
        accepted = report.verdict is Verdict.EQUAL
        self.sources[source] += 1
        self.edits[_kind(mutant)] += 1
        self.verdicts[f"{report.verdict.value}, float64 {'differs' if told else 'agrees'}"] += 1
        entry = {
            "program": f"{source} {name}",
            "edit": f"{mutant.operation}: {mutant.description}",
            "report": str(report),
        }
        if accepted and told:
            self.missed.append(entry)
        elif accepted:
            arguments = " and ".join(report.arguments)
            self.equivalent[f"{entry['program']}: {entry['edit']} ({arguments})"] += 1
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
            "judge_seeds": list(JUDGE_SEEDS),
            "rejected_though_float64_agrees": self.cautious,
            "accepted_as_equivalent": dict(sorted(self.equivalent.items())),
        }


def _kind(mutant: Mutant) -> str:
    """The edit without what it names."""
    words = mutant.description.split()
    return " ".join(word for word in words if word.isalpha())


def programs(only: str) -> Iterator[tuple[str, str, FuncOp, FuncOp]]:
    """Source, name, reference and what is edited."""
    for name, text in workloads():
        if only not in name:
            continue
        if (whole := function_of(text, name)) is not None:
            yield "workload", name, whole, whole
        if (small := function_of(shrunk(text), name)) is not None:
            for number, graph in enumerate(found_graphs(small, GRAPHS, SEARCH_SECONDS)):
                yield "found graph", f"{name} {number}", small, graph
    for name, reference, graph in ugraphs():
        if only in name:
            yield "hand-written graph", name, reference, graph


def main() -> None:
    """Run the campaign, writing the report after every program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=150, help="mutants of one program")
    parser.add_argument("--only", default="", help="programs whose name holds this")
    parser.add_argument("--output", default="mutants", help="name of the report")
    options = parser.parse_args()
    tally = Tally()
    for source, name, reference, edited in programs(options.only):
        found = list(mutants(edited))
        step = max(1, -(-len(found) // options.most))
        for mutant in found[::step]:
            tally.judge(source, name, reference, mutant)
        say([source, name, len(found[::step]), dict(tally.verdicts), len(tally.missed), "missed"])
        write(options.output, tally.fields())


if __name__ == "__main__":
    main()
