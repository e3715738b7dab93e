"""
Checks whether a candidate computes what a reference computes, and as accurately.

There are two independent arguments for equality, which share no code: normal forms, and random
tests at the true shapes, in which every input element is a variable of its own. One of them
suffices. Functions that differ in a test are different if f64 shows it, too, or if they consist of
arithmetic alone; otherwise a law that tests do not know may make them equal. Equal functions must
pass the floating-point gate; else they are inaccurate.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from xdsl.dialects.func import FuncOp

from mirage_mlir.effort import VERIFY_BUDGET
from mirage_mlir.equivalence.comparison import CandidateComparison
from mirage_mlir.equivalence.comparison_report import EquivalenceReport, Verdict
from mirage_mlir.equivalence.float_gate import Loss
from mirage_mlir.equivalence.known import Known
from mirage_mlir.equivalence.random_tests import LANES


def check_equivalence(
    reference: FuncOp,
    candidate: FuncOp,
    tests: int = LANES,
    seed: int = 0,
    budget: float = VERIFY_BUDGET,
) -> EquivalenceReport:
    """
    Compare two functions of one signature.

    Args:
        reference: what is to be computed.
        candidate: what claims to compute it.
        tests: modulo how many random primes they are compared, at least; more are drawn where the
            bound needs them.
        seed: of all random numbers; the same seed gives the same report but for `seconds`.
        budget: seconds that random tests may take, estimated from shapes.
    """
    return Verifier(reference, tests, seed, budget).compare(candidate)


@dataclass
class Verifier:
    """
    Compares any number of candidates with one reference, which must not change meanwhile.

    What depends on the reference alone is computed once. A report does not depend on earlier
    candidates.
    """

    reference: FuncOp
    tests: int = LANES
    seed: int = 0
    budget: float = VERIFY_BUDGET
    quick: bool = False
    """Whether accuracy is measured only where that takes little time: what is compared is a part of
    something that will be compared again."""
    partial: frozenset[int] = frozenset()
    """The arguments some of whose elements may be undefined, as values of a larger program are."""

    def __post_init__(self) -> None:
        self._known = Known(self.reference, self.seed, self.quick, self.partial)

    def compare(self, candidate: FuncOp, budget: float | None = None) -> EquivalenceReport:
        """
        Compare one candidate with the reference: equality, and accuracy.

        `budget` is the time for random tests of this candidate, if it differs from that of all.
        """
        start = time.perf_counter()
        if self.reference.function_type != candidate.function_type:
            types = f"{self.reference.function_type} and {candidate.function_type}"
            return EquivalenceReport(
                Verdict.UNDECIDED, self.seed, reason=f"the types differ: {types}"
            )
        allowed = self.budget if budget is None else min(budget, self.budget)
        report = self._comparison(candidate, allowed).report()
        return replace(report, seconds=time.perf_counter() - start)

    def losses(self, candidate: FuncOp) -> list[Loss] | None:
        """The rounding errors of a candidate; None where the program is too large."""
        return self._comparison(candidate, self.budget).accuracy.losses()

    def float_difference(self, candidate: FuncOp) -> str | None:
        """In what f64 tells a candidate from the reference, or why it cannot; None: in nothing."""
        return self._comparison(candidate, self.budget).difference_in_f64()

    def _comparison(self, candidate: FuncOp, budget: float) -> CandidateComparison:
        return CandidateComparison(self._known, candidate, self.tests, budget)
