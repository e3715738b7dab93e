"""Single edits of hand-written graphs: each that float64 tells apart is rejected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from graph_mutants import mutants
from oracle import Judge
from xdsl.dialects.func import FuncOp

from mirage_mlir.equivalence import Verdict, check_equivalence

Parse = Callable[[str], list[FuncOp]]

UGRAPHS = sorted((Path(__file__).parents[2] / "ugraphs").glob("*.mlir"))

EVERY = 3
"""Every so many-th mutant, more than 300 in all; `benchmarks/verification` runs all of them."""


@pytest.mark.parametrize("path", UGRAPHS, ids=lambda path: path.stem)
def test_mutants_are_rejected(parse: Parse, path: Path) -> None:
    reference, candidate, *_ = parse(path.read_text())
    assert check_equivalence(reference, candidate).verdict is Verdict.EQUAL
    rejected = 0
    found = list(mutants(candidate, EVERY))
    judge: Judge | None = None
    for mutant in found:
        report = check_equivalence(reference, mutant.function, tests=1)
        if report.verdict is not Verdict.EQUAL:
            rejected += 1
        elif not mutant.harmless:
            # Some edits change nothing: a factor before the sum, say.
            judge = judge or Judge(reference, seed=7)
            assert not judge.differs(mutant.function), mutant.description
    assert rejected > 0 or len(found) < 5
