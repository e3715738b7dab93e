"""
How large the polynomials are that a program computes: what bounds of random tests are made of.

A value is a quotient of polynomials with whole coefficients in its unknowns: inputs, results of
random functions, exponentials. `Height` bounds degree and coefficients of both; arithmetic on
heights follows arithmetic on values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, lcm, log2

MOST_UNIT_BITS = 1 << 12
"""Bits of a unit up to which bits of coefficients are bounded."""


@dataclass(frozen=True)
class Height:
    """Upper bounds for a value `numerator / (unit * divisor)`, its coefficients whole numbers."""

    degree: int = 0
    """Of the numerator, in inputs, results of random functions, and twice in exponentials."""
    divisor_degree: int = 0
    exponentials: int = 0
    """How many exponentials of results of random functions a term of the numerator has, with
    positive or negative powers, counted as often as they occur."""
    divisor_exponentials: int = 0
    bits: float = 0.0
    """log2 of the sum of the magnitudes of the numerator's coefficients."""
    divisor_bits: float = 0.0
    unit: int = 1
    """What constants are divided by."""
    calls: int = 0
    """How often random functions are applied on the way to one element."""

    def add(self, other: Height, *, alike: bool) -> Height:
        """Of a sum or difference; `alike` says that both have one divisor."""
        unit = lcm(self.unit, other.unit)
        mine, theirs = (Height(), Height()) if alike else (self._divisor, other._divisor)
        left, right = self._scaled(unit).mul(theirs), other._scaled(unit).mul(mine)
        whole = self._divisor.mul(theirs)
        return Height(
            max(left.degree, right.degree),
            whole.degree,
            max(left.exponentials, right.exponentials),
            whole.exponentials,
            max(left.bits, right.bits) + 1,
            whole.bits,
            unit,
            self.calls + other.calls,
        )._bounded()

    def _bounded(self) -> Height:
        """Without bounds on bits where the unit is too large to be kept."""
        if self.unit.bit_length() <= MOST_UNIT_BITS:
            return self
        return replace(self, bits=inf, unit=1)

    @property
    def _divisor(self) -> Height:
        """Of the divisor, but for the unit."""
        return Height(self.divisor_degree, 0, self.divisor_exponentials, 0, self.divisor_bits)

    def _scaled(self, unit: int) -> Height:
        """Of the numerator times `unit / self.unit`."""
        return replace(self, bits=self.bits + log2(unit // self.unit))

    def mul(self, other: Height) -> Height:
        """Of a product."""
        return Height(
            self.degree + other.degree,
            self.divisor_degree + other.divisor_degree,
            self.exponentials + other.exponentials,
            self.divisor_exponentials + other.divisor_exponentials,
            self.bits + other.bits,
            self.divisor_bits + other.divisor_bits,
            self.unit * other.unit,
            self.calls + other.calls,
        )._bounded()

    def inverse(self) -> Height:
        """Of the reciprocal."""
        return Height(
            self.divisor_degree,
            self.degree,
            self.divisor_exponentials,
            self.exponentials,
            self.divisor_bits + log2(self.unit),
            self.bits,
            calls=self.calls,
        )

    def power(self, exponent: int) -> Height:
        """Of a power that is not negative."""
        small = exponent * log2(self.unit) <= MOST_UNIT_BITS
        return Height(
            self.degree * exponent,
            self.divisor_degree * exponent,
            self.exponentials * exponent,
            self.divisor_exponentials * exponent,
            self.bits * exponent if small else inf,
            self.divisor_bits * exponent,
            self.unit**exponent if small else 1,
            self.calls,
        )

    def spread(self, divisors: int) -> Height:
        """Of the value over the product of so many different divisors, of which it has one."""
        if divisors <= 1:
            return self
        others = self._divisor.power(divisors - 1)
        return replace(
            self.mul(others),
            divisor_degree=self.divisor_degree + others.degree,
            divisor_exponentials=self.divisor_exponentials + others.exponentials,
            divisor_bits=self.divisor_bits + others.bits,
        )

    def total(self, count: int) -> Height:
        """Of a sum of `count` such values over one divisor."""
        if count <= 1:
            return self
        return replace(self, bits=self.bits + log2(count), calls=self.calls * count)

    def larger(self, other: Height) -> Height:
        """Of a value that is one or the other."""
        unit = lcm(self.unit, other.unit)
        return Height(
            max(self.degree, other.degree),
            max(self.divisor_degree, other.divisor_degree),
            max(self.exponentials, other.exponentials),
            max(self.divisor_exponentials, other.divisor_exponentials),
            max(self.bits + log2(unit // self.unit), other.bits + log2(unit // other.unit)),
            max(self.divisor_bits, other.divisor_bits),
            unit,
            max(self.calls, other.calls),
        )._bounded()


UNIT = Height()
"""Of one."""

UNKNOWN = Height(degree=1)
"""Of an input."""


def unknown(calls: int) -> Height:
    """Of the result of a random function, behind which there are so many."""
    return Height(degree=1, calls=calls)


def exponential(calls: int, terms: int) -> Height:
    """
    Of an exponential of an exponent plus so many results of random functions.

    Modulo q a root is twice as likely as modulo p.
    """
    return Height(degree=2, exponentials=terms, calls=calls)


def of_constant(value: Fraction) -> Height:
    """Of a number."""
    bits = log2(abs(value.numerator)) if value else 0.0
    return Height(bits=bits, unit=value.denominator)
