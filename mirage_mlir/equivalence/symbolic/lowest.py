"""
Forms with -inf, which is below every number.

A form is -inf or has none in it. `-inf + x` and a positive multiple of -inf are -inf, `exp` of it
is 0, and the maximum of it and a number is the number. What else is computed from it is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

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
        self.lowest: Form = ((Monomial((), (factor,)), Fraction(1)),)

    def is_lowest(self, a: Form) -> bool:
        """Whether a form is -inf."""
        return a == self.lowest

    def add(self, a: Form, b: Form, sign: int = 1) -> Form:
        if b == self.lowest and sign < 0:
            raise Undecided("-inf is subtracted")
        return self.lowest if self.lowest in (a, b) else super().add(a, b, sign)

    def scale(self, a: Form, factor: Fraction | int) -> Form:
        if a == self.lowest:
            return self._multiple(factor)
        return super().scale(a, factor)

    def mul(self, a: Form, b: Form) -> Form:
        if self.lowest in (a, b):
            value = self.value_of(b if a == self.lowest else a)
            return self._multiple(0 if value is None else value)
        return super().mul(a, b)

    def _multiple(self, factor: Fraction | int) -> Form:
        if factor <= 0:
            raise Undecided("-inf is multiplied by what may not be positive")
        return self.lowest

    def inverse(self, a: Form) -> Form:
        if a == self.lowest:
            raise Undecided("something is divided by -inf")
        return super().inverse(a)

    def function(self, name: str, a: Form) -> Form:
        if name.startswith("rounded") and self._is_exact(a):
            return a
        if a != self.lowest:
            return super().function(name, a)
        if name != "exp":
            raise Undecided(f"{name} is taken of -inf")
        return ZERO

    def _is_exact(self, a: Form) -> bool:
        """Whether all element types have a number: -inf, or a small whole one."""
        value = self.value_of(a)
        small = value is not None and value.denominator == 1 and abs(value) <= SMALL
        return a == self.lowest or small

    def raised(self, a: Form, exponent: Fraction) -> Form:
        if a == self.lowest:
            raise Undecided("a power is taken of -inf")
        return super().raised(a, exponent)

    def total(self, a: Form, over: Iterable[Variable], guards: Iterable[Guard] = ()) -> Form:
        if a == self.lowest:
            raise Undecided("-inf is added up")
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
