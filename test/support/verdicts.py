"""What the verifier says of a pair of functions, for tests and campaigns: the one place."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.func import FuncOp

from mirage_mlir.equivalence import Verdict, check_equivalence

TESTS = 3
"""Random tests of one verification."""


class Answer(NamedTuple):
    """What a verification came to."""

    accepted: bool
    """Whether the candidate may take the place of the reference."""
    verdict: str
    arguments: str
    """Those that hold for equality: "tests", "normal form", both or none."""
    report: str


def verify(reference: FuncOp, candidate: FuncOp, seed: int = 0) -> Answer:
    """What the verifier answers with a seed of its random numbers."""
    report = check_equivalence(reference, candidate, tests=TESTS, seed=seed)
    arguments = " and ".join(report.arguments) or "none"
    return Answer(report.verdict is Verdict.EQUAL, report.verdict.value, arguments, str(report))
