"""Whether two functions compute the same, and how accurately: proofs, random tests, verdicts."""

from mirage_mlir.equivalence.check import Verifier, check_equivalence
from mirage_mlir.equivalence.comparison_report import EquivalenceReport, Verdict

__all__ = ["EquivalenceReport", "Verdict", "Verifier", "check_equivalence"]
