"""
How likely a wrong program is to pass the random tests.

For programs of + - * / only, the difference of two outputs is a rational function of the inputs.
If it is not zero, its numerator is a polynomial of some degree D, and a random point of Z_m is a
root of it with probability at most D/m (Schwartz 1980, Zippel 1979). The halves of a pair are
drawn independently, so both are fooled with probability D/p * D/q, and t tests with its t-th
power. What the theorem cannot say is that the numerator is not zero modulo the primes themselves.

With exp the difference is a quotient of exponential sums, and only the bound of Wu et al.,
"Mirage" (OSDI 2025, Theorem 2) holds: 8 d k^4 / q + q^(-1/k^2) for k terms of degree d. It is close
to 1 for all but the smallest programs and is reported as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from mirage_mlir.field.modular import P, Q

CEILING = 10**12
"""Degrees and numbers of terms stop here: far above p the bound is 1 whatever they are."""


@dataclass(frozen=True)
class Degree:
    """
    Upper bounds for a value as a quotient of exponential sums.

    `numerator` and `denominator` are degrees of polynomials in the inputs, `terms` and
    `denominator_terms` count different exponentials; both are 1 without exp.
    """

    numerator: int = 0
    denominator: int = 0
    terms: int = 1
    denominator_terms: int = 1

    def __add__(self, other: Degree) -> Degree:
        """Of a sum or difference, over the common denominator."""
        terms = (
            self.terms * other.denominator_terms + other.terms * self.denominator_terms
            if self._exponential or other._exponential
            else 1
        )
        return _capped(
            max(self.numerator + other.denominator, other.numerator + self.denominator),
            self.denominator + other.denominator,
            terms,
            self.denominator_terms * other.denominator_terms,
        )

    def __mul__(self, other: Degree) -> Degree:
        """Of a product."""
        return _capped(
            self.numerator + other.numerator,
            self.denominator + other.denominator,
            self.terms * other.terms,
            self.denominator_terms * other.denominator_terms,
        )

    def inverse(self) -> Degree:
        """Of the reciprocal."""
        return Degree(self.denominator, self.numerator, self.denominator_terms, self.terms)

    def total(self, count: int) -> Degree:
        """Of a sum of `count` values that all have this bound, over the product of denominators."""
        if count <= 1:
            return self
        terms = (
            count * self.terms * min(self.denominator_terms ** (count - 1), CEILING)
            if self._exponential
            else 1
        )
        return _capped(
            self.numerator + (count - 1) * self.denominator,
            count * self.denominator,
            terms,
            min(self.denominator_terms**count, CEILING),
        )

    def power(self, exponent: int) -> Degree:
        """Of a power; numbers of terms stop growing at `CEILING`, which is below 2^40."""
        factors = min(exponent, 40)
        return _capped(
            exponent * self.numerator,
            exponent * self.denominator,
            self.terms**factors,
            self.denominator_terms**factors,
        )

    def larger(self, other: Degree) -> Degree:
        """Of a value that is one or the other."""
        return Degree(
            max(self.numerator, other.numerator),
            max(self.denominator, other.denominator),
            max(self.terms, other.terms),
            max(self.denominator_terms, other.denominator_terms),
        )

    def root(self) -> Degree:
        """Of a square root, its degree rounded up."""
        return Degree(
            (self.numerator + 1) // 2,
            (self.denominator + 1) // 2,
            self.terms,
            self.denominator_terms,
        )

    def exponential(self) -> Degree:
        """Of exp of a value: one term, whose exponent has the value's degree."""
        return Degree(self.numerator, self.denominator, 2, 1)

    @property
    def _exponential(self) -> bool:
        return self.terms > 1 or self.denominator_terms > 1


def _capped(numerator: int, denominator: int, terms: int, denominator_terms: int) -> Degree:
    return Degree(
        min(numerator, CEILING),
        min(denominator, CEILING),
        min(terms, CEILING),
        min(denominator_terms, CEILING),
    )


@dataclass(frozen=True)
class Bound:
    """The probability, at most, that a wrong program passes all tests, and why."""

    probability: float
    theorem: str

    def __str__(self) -> str:
        return f"at most {self.probability:.1e} ({self.theorem})"


def schwartz_zippel(degree: int, tests: int, roots: int = 0) -> Bound:
    """
    For programs without exp.

    Args:
        degree: of the numerator of the difference.
        tests: independent tests, each modulo p and modulo q.
        roots: square roots whose arguments were drawn until they were residues. Each doubles the
            degree (the norm of the difference has no roots left) and the conditional probability.
    """
    factor = float(degree) * 4.0**roots
    probability = (min(1.0, factor / P) * min(1.0, factor / Q)) ** tests
    theorem = f"Schwartz-Zippel, degree {degree}"
    if roots:
        theorem += f", {roots} square roots"
    return Bound(probability, theorem)


def exponential_sums(degree: int, terms: int, tests: int) -> Bound:
    """For programs with at most one exp on a path, with so many exponentials in the difference."""
    each = 8.0 * degree * float(terms) ** 4 / Q + Q ** (-1.0 / float(terms) ** 2)
    theorem = f"Wu et al. 2025, Theorem 2, which is weak: {terms} exponential terms"
    return Bound(min(1.0, each) ** tests, theorem)
