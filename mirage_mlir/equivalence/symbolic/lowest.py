"""
Forms with -inf, which is below every number.

`-inf + x` and a positive multiple of -inf are -inf, `exp` of it is 0, and the maximum of it and a
number is the number. What else is computed from it is refused.

Where data selects it, by a form c that is 0 or 1, a form is `x + c (-inf)`: with numbers added up
and times positive ones it is of that kind, and `exp` of it is `(1 - c) exp(x)`. A maximum of such
values is a number: where each of them is -inf a softmax has no value.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from mirage_mlir.equivalence.symbolic.algebra import Values
from mirage_mlir.equivalence.symbolic.guards import Guard
from mirage_mlir.equivalence.symbolic.indices import Variable
from mirage_mlir.equivalence.symbolic.inhabited import is_inhabited
from mirage_mlir.equivalence.symbolic.maxima import Maxima
from mirage_mlir.equivalence.symbolic.terms import (
    ZERO,
    Atom,
    Factor,
    Form,
    Monomial,
    ProofWork,
    Undecided,
    form_of,
)

SMALL = 256
"""Whole numbers up to it are exact in bf16, and in f16 and f32."""


class Forms(Maxima):
    """Forms of numbers, and -inf."""

    def __init__(
        self,
        work: ProofWork | None = None,
        *,
        expand_sigmoid: bool = False,
        roundings: bool = False,
    ) -> None:
        super().__init__(work, expand_sigmoid=expand_sigmoid, roundings=roundings)
        factor = Factor(self.atoms.intern(Atom("lowest")), (), 1)
        self._factor = factor
        self._masks = False
        """Whether data selected -inf in this proof."""
        self.lowest: Form = ((Monomial((), (factor,)), Fraction(1)),)

    def is_lowest(self, a: Form) -> bool:
        """Whether a form is -inf, or may be by what data says."""
        return a == self.lowest or self._is_masked(a)

    def selected(self, condition: Form, x: Form, y: Form) -> Form:
        """`x` where a condition of data is 1, and `y` where it is 0: `y + condition (x - y)`."""
        if not (self.is_lowest(x) or self.is_lowest(y)):
            return self._blended(condition, x, y)
        (number, without), (other, others) = self._parts(x), self._parts(y)
        if number is None or other is None:
            found = other if number is None else number
        else:
            found = self._blended(condition, number, other)
        if found is None:
            return self.lowest
        return self._masked(found, self._blended(condition, without, others))

    def _blended(self, condition: Form, x: Form, y: Form) -> Form:
        return self.add(y, self.mul(condition, self.add(x, y, -1)))

    def _is_masked(self, a: Form) -> bool:
        return self._masks and any(self._factor in monomial.factors for monomial, _ in a)

    def _parts(self, a: Form) -> tuple[Form | None, Form]:
        """The number that a form is, if there is any, and a form that is 1 where it is -inf."""
        if a == self.lowest:
            return None, self.constant(1)
        number = tuple(each for each in a if self._factor not in each[0].factors)
        without = [
            (m._replace(factors=tuple(f for f in m.factors if f != self._factor)), c)
            for m, c in a
            if self._factor in m.factors
        ]
        return number, form_of(dict(without))

    def _masked(self, number: Form, without: Form) -> Form:
        """A number, but -inf where a form is 1."""
        self._masks = True
        return super().add(number, super().mul(without, self.lowest))

    def add(self, a: Form, b: Form, sign: int = 1) -> Form:
        if sign < 0 and self.is_lowest(b):
            raise Undecided("-inf is subtracted")
        if self.lowest in (a, b):
            return self.lowest
        if not (self._is_masked(a) and self._is_masked(b)):
            return super().add(a, b, sign)
        (number, without), (other, others) = self._parts(a), self._parts(b)
        assert number is not None
        assert other is not None
        either = self.add(self.add(without, others), self.mul(without, others), -1)
        return self._masked(super().add(number, other), either)

    def scale(self, a: Form, factor: Fraction | int) -> Form:
        if not self.is_lowest(a):
            return super().scale(a, factor)
        if factor <= 0:
            raise Undecided("-inf is multiplied by what may not be positive")
        number, without = self._parts(a)
        return a if number is None else self._masked(super().scale(number, factor), without)

    def mul(self, a: Form, b: Form) -> Form:
        if self.is_lowest(a) or self.is_lowest(b):
            a, b = (b, a) if self.is_lowest(b) else (a, b)
            value = self.value_of(b)
            return self.scale(a, 0 if value is None else value)
        return super().mul(a, b)

    def insert(self, a: Form, values: Values) -> Form:
        if not self._is_masked(a):
            return super().insert(a, values)
        number, without = self._parts(a)
        if number is None:
            return a
        return self._masked(super().insert(number, values), super().insert(without, values))

    def _numbers_in(self, a: Form) -> Form:
        number, _ = self._parts(a) if self._is_masked(a) else (a, ())
        return a if number is None else number

    def inverse(self, a: Form) -> Form:
        self._require_number(a, "something is divided by -inf")
        return super().inverse(a)

    def _require_number(self, a: Form, otherwise: str) -> None:
        if self.is_lowest(a):
            raise Undecided(otherwise)

    def function(self, name: str, a: Form) -> Form:
        if name.startswith("rounded") and self._is_exact(a):
            return a
        if not self.is_lowest(a):
            return super().function(name, a)
        number, without = self._parts(a)
        if name.startswith("rounded") and number is not None:
            return self._masked(super().function(name, number), without)
        if name != "exp":
            raise Undecided(f"{name} is taken of -inf")
        if number is None:
            return ZERO
        return self.mul(self.add(self.constant(1), without, -1), super().function(name, number))

    def _is_exact(self, a: Form) -> bool:
        """Whether all element types have a number: -inf, or a small whole one."""
        value = self.value_of(a)
        small = value is not None and value.denominator == 1 and abs(value) <= SMALL
        return a == self.lowest or small

    def raised(self, a: Form, exponent: Fraction) -> Form:
        self._require_number(a, "a power is taken of -inf")
        return super().raised(a, exponent)

    def total(self, a: Form, over: Iterable[Variable], guards: Iterable[Guard] = ()) -> Form:
        self._require_number(a, "-inf is added up")
        return super().total(a, over, guards)

    def maximum(self, a: Form, b: Form) -> Form:
        if self.lowest in (a, b):
            return b if a == self.lowest else a
        return super().maximum(a, b)

    def minimum(self, a: Form, b: Form) -> Form:
        return self.lowest if self.lowest in (a, b) else super().minimum(a, b)

    def largest(self, values: Iterable[tuple[Form, Iterable[Guard]]], over: set[Variable]) -> Form:
        every = [(form, tuple(guards)) for form, guards in values]
        numbers = [(form, guards) for form, guards in every if form != self.lowest]
        if len(numbers) == len(every):
            return super().largest(numbers, over)
        if not numbers:
            return self.lowest
        if not is_inhabited([guards for _, guards in numbers], over):
            raise Undecided("the maximum of values all of which may be -inf is taken")
        return super().largest(numbers, over)
