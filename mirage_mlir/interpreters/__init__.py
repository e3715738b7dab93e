"""Reference semantics of the dialects over floats and finite fields, and comparisons by them."""

from mirage_mlir.interpreters.domain import NotInterpretable
from mirage_mlir.interpreters.equivalence import EquivalenceReport, Verdict, check_equivalence
from mirage_mlir.interpreters.function import run_function

__all__ = [
    "EquivalenceReport",
    "NotInterpretable",
    "Verdict",
    "check_equivalence",
    "run_function",
]
