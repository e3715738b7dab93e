"""What the verifier says of a pair of functions, for tests and campaigns: the one place."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.func import FuncOp

from mirage_mlir.interpreters import Verdict, check_equivalence

TESTS = 3
"""Random tests of one verification."""


class Answer(NamedTuple):
    """Whether a candidate may take the place of a reference, and the report."""

    accepted: bool
    report: str


def verify(reference: FuncOp, candidate: FuncOp, seed: int) -> Answer:
    """What the verifier answers with a seed of its random numbers."""
    report = check_equivalence(reference, candidate, tests=TESTS, seed=seed)
    return Answer(report.verdict is Verdict.EQUAL, str(report))
