"""Equivalence of two functions: proofs by normal forms, random tests, the floating-point gate."""

from mirage_mlir.equivalence.check import Verifier, check_equivalence
from mirage_mlir.equivalence.comparison_report import EquivalenceReport, Verdict

__all__ = ["EquivalenceReport", "Verdict", "Verifier", "check_equivalence"]
