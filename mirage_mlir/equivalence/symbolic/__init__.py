"""
Proofs by normal forms: the argument for equality that needs no random numbers.

Both functions are followed literally, candidates with their blocks and iterations as digits of
indices, and brought to normal form. A proof holds for all inputs, at the functions' real sizes.
This package shares no code with the algebra that guides the search.
"""

from mirage_mlir.equivalence.symbolic.first_divergence import first_divergence
from mirage_mlir.equivalence.symbolic.proof import Proof, prove

__all__ = ["Proof", "first_divergence", "prove"]
