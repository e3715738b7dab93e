"""
Campaign: pairs of programs that are equal; none must be found to be anything else.

    python benchmarks/verification/rewrites.py [--seeds N] [--output NAME]

The pairs are those of every axiom that `algebraic-rewrite` knows, on random instances, in both
directions where the instance allows it; programs and the graphs that the search finds for them;
hand-written graphs; and identities by name, among them those that other verifiers reject. What is
equal may still be held back by the floating-point gate, and is listed then: sqrt(exp(x) exp(y))
leaves the range of f32 where sqrt(exp(x)) sqrt(exp(y)) does not.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from time import process_time

from all_programs import found_graphs, function_of, say, shrunk, ugraphs, workloads, write
from axiom_instances import INSTANCES, instance
from identities import IDENTITIES, WRONG, pair
from verdicts import verify
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from mirage_mlir.driver.source import compiler_context, functions
from mirage_mlir.passes.algebraic_rewrite import AlgebraicRewritePass

GRAPHS = 4
"""Graphs that the search finds for one program."""

SEARCH_SECONDS = 20.0
"""Of one search."""


def pairs(seeds: int) -> Iterator[tuple[str, str, FuncOp, FuncOp]]:
    """Source, name and two functions that are equal."""
    for name in IDENTITIES:
        yield "identity", name, *pair(name)
    for rule in INSTANCES:
        for seed in range(seeds):
            before = instance(rule, seed)
            module = ModuleOp([before.clone()])
            AlgebraicRewritePass((rule,)).apply(compiler_context(), module)
            yield "axiom", f"{rule} {seed}", before, functions(module)[0]
    for name, reference, graph in ugraphs():
        yield "hand-written graph", name, reference, graph
    for name, text in workloads():
        if (small := function_of(shrunk(text), name)) is not None:
            for number, graph in enumerate(found_graphs(small, GRAPHS, SEARCH_SECONDS)):
                yield "found graph", f"{name} {number}", small, graph


def main() -> None:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=15, help="instances of each axiom")
    parser.add_argument("--output", default="rewrites", help="name of the report")
    options = parser.parse_args()
    sources: Counter[str] = Counter()
    arguments: Counter[str] = Counter()
    rejected: list[dict[str, str]] = []
    inaccurate: list[dict[str, str]] = []
    seconds: list[float] = []
    slowest = 0.0
    tests_only: Counter[str] = Counter()
    wrong = {name: verify(*pair(name)).verdict for name in WRONG}
    for source, name, reference, candidate in pairs(options.seeds):
        start = process_time()
        answer = verify(reference, candidate)
        seconds.append(process_time() - start)
        if source != "axiom":
            slowest = max(slowest, seconds[-1])
        sources[source] += 1
        arguments[answer.arguments] += 1
        if not answer.accepted:
            say([answer.verdict, source, name, answer.report])
            found = inaccurate if answer.verdict == "inaccurate" else rejected
            found.append({"source": source, "name": name, "report": answer.report})
        elif answer.arguments == "tests":
            tests_only[f"{source} {name}: {answer.report}"] += 1
        write(
            options.output,
            {
                "pairs": sum(sources.values()),
                "sources": dict(sources),
                "arguments": dict(arguments),
                "rejected": rejected,
                "equal_but_held_back_by_the_floating_point_gate": inaccurate,
                "cpu_seconds": {
                    "median": round(sorted(seconds)[len(seconds) // 2], 4),
                    "largest": round(max(seconds), 3),
                    "largest_of_graphs": round(slowest, 3),
                },
                "identities": list(IDENTITIES),
                "wrong_identities": wrong,
                "tests_only": dict(tests_only),
            },
        )
    say([dict(sources), dict(arguments), len(rejected), "rejected", len(inaccurate), "inaccurate"])


if __name__ == "__main__":
    main()
