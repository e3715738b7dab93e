"""
Bounds the probability that different functions pass random tests.

Let an element of a result be wrong, and let D be the difference: a quotient of polynomials in
inputs, in results of random functions, and in exponentials. A test does not see it if the numerator
of D is zero modulo all primes that were drawn. Modulo one prime that happens

* if the prime divides all coefficients of the numerator: of numbers below 2^B fewer than B / 25 of
  the 73,658 primes are divisors (`primes`);
* or else with probability at most degree / p (Schwartz 1980, Zippel 1979), elements being drawn
  with probability at most 1.02 / 2^25 each, exponentials of independent exponents counting twice;
  to which come t (t + 1) / q where terms have up to t exponentials of results of random functions,
  as shown in docs/verification.md.

Residues modulo different primes are independent, so that these probabilities are multiplied. To
them come those that two different arguments of random functions are taken for one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from mirage_mlir.field.height import UNIT, Height
from mirage_mlir.field.primes import BITS, PRIMES

ENOUGH = 1e-9
"""The bound with which functions count as tested."""

RESIDUE = 1.02 / 2.0**25
"""
The probability, at most, that an input has a given residue modulo p, which is more than 2^25.

It is made of 32 random bits, of which a residue has at most 2^32 / p + 1 values.
"""

EXPONENT = 1.02 / 2.0**24
"""The same modulo q."""

WORD = 2.0**-63
"""The probability, at most, that two random words are equal."""

SUM = 2.0**-60
"""The same for sums of random words modulo 2^61 - 1, which is what maxima are known by."""

HOPELESS = 1 << 40
"""Degrees and bits beyond which there is no bound."""


@dataclass(frozen=True)
class Bound:
    """
    An upper bound on the probability that a wrong function passes all tests, with its reasons.
    """

    probability: float
    theorem: str


@dataclass(frozen=True)
class Evidence:
    """What both functions did in a test, as far as the bound depends on it."""

    lanes: int
    """Primes."""
    difference: Height
    """Of the difference of two results."""
    arguments: int
    """To how many arguments random functions, maxima among them, were applied."""
    argument: Height
    """The height of all of them."""
    exponentials: int = 0
    """How many different arguments exponentials have; 0 without any."""
    exponent: Height = UNIT
    """The height of these arguments."""
    spread: int = 1
    """The largest whole number that an exponent is multiplied by, after common factors."""
    keyed: tuple[str, ...] = ()
    """Names of random functions."""
    functions: int = 0
    """How many results of random functions there are."""
    maxima: int = 0
    """How many maxima there are."""

    def pairs(self, count: int) -> float:
        """An upper bound on the pairs of arguments on the way to one element of both functions."""
        return min(count, max(2, self.difference.calls)) ** 2 / 2


def bound_of(evidence: Evidence) -> Bound:
    """The bound for one test modulo several primes."""
    probability = _chance(evidence.difference, evidence) ** evidence.lanes
    if evidence.arguments:
        argument = evidence.argument
        collides = _chance(argument.add(argument, alike=False), evidence) ** evidence.lanes
        probability += evidence.pairs(evidence.arguments) * collides
        probability += evidence.pairs(evidence.functions) * WORD
        probability += evidence.pairs(evidence.maxima) * SUM
    if evidence.exponentials:
        exponent = evidence.exponent
        # Residues modulo q have twice the probability of those modulo p.
        mistaken = 2 * _chance(exponent.add(exponent, alike=False), evidence)
        probability += evidence.exponentials * (mistaken**evidence.lanes + WORD)
    return Bound(min(1.0, probability), _theorem(evidence))


def lanes_needed(evidence: Evidence) -> int:
    """The number of primes with which the bound suffices; None if no number below 8 does."""
    for lanes in range(evidence.lanes, 8):
        if bound_of(replace(evidence, lanes=lanes)).probability <= ENOUGH:
            return lanes
    return evidence.lanes


def _chance(height: Height, evidence: Evidence) -> float:
    """An upper bound on the probability that a nonzero value is zero modulo one prime."""
    terms = height.exponentials * evidence.spread
    if not max(height.degree, terms, height.bits) < HOPELESS:
        return 1.0
    divides = int(height.bits / BITS) / PRIMES
    zero = height.degree * RESIDUE + terms * (terms + 1) * EXPONENT
    return min(1.0, divides + zero)


def _theorem(evidence: Evidence) -> str:
    degree = evidence.difference.degree
    text = f"Schwartz-Zippel, degree {degree}, modulo {evidence.lanes} primes"
    if evidence.exponentials:
        text += ", with independent exponents"
    if evidence.keyed:
        text += f"; {', '.join(evidence.keyed)} as random functions"
    return text
