"""Single edits of hand-written graphs: each that float64 tells apart is rejected."""

from __future__ import annotations

from pathlib import Path

import pytest
from graph_mutants import mutants
from oracle import Judge
from sampling import EVERYTHING, sampled

from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.equivalence import Verdict, check_equivalence

LONG = ("attention_backward",)
"""Takes longer than all others together."""

UGRAPHS = [
    path
    for path in sorted((Path(__file__).parents[2] / "ugraphs").glob("*.mlir"))
    if EVERYTHING or path.stem not in LONG
]

EVERY = 43 if EVERYTHING else 89
"""The step through the mutants of a graph; `benchmarks/verification` runs all of them."""


@pytest.mark.parametrize("path", sampled(UGRAPHS, 2), ids=lambda path: path.stem)
def test_mutants_are_rejected(path: Path) -> None:
    reference, candidate, *_ = functions(parse_program(path.read_text(), path.name))
    assert check_equivalence(reference, candidate).verdict is Verdict.EQUAL
    rejected = 0
    found = list(mutants(candidate, EVERY))
    judge: Judge | None = None
    for mutant in found:
        report = check_equivalence(reference, mutant.function)
        if report.verdict is not Verdict.EQUAL:
            rejected += 1
        elif not mutant.harmless:
            # Some edits change nothing: a factor before the sum, say.
            judge = judge or Judge(reference, seed=7)
            assert not judge.differs(mutant.function), mutant.description
    assert rejected > 0 or len(found) < 2
