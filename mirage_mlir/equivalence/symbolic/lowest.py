"""
Forms with -inf, which is below every number.

`-inf + x` and a positive multiple of -inf are -inf, `exp` of it is 0, and the maximum of it and a
number is the number. What else is computed from it is refused.

Where data selects it, by a form c that is 0 or 1, a form is `x + c (-inf)`: with numbers added up
and times positive ones it is of that kind, and `exp` of it is `(1 - c) exp(x)`. A maximum of such
values is one, too: -inf where all of them are. It is subtracted only where the reference has no
value then, because it divides by a sum of exponentials of just these values, or subtracts the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from mirage_mlir.equivalence.symbolic.algebra import Values
from mirage_mlir.equivalence.symbolic.atoms import Ranging
from mirage_mlir.equivalence.symbolic.demands import Strength
from mirage_mlir.equivalence.symbolic.guards import Guard, Guards
from mirage_mlir.equivalence.symbolic.indices import Variable
from mirage_mlir.equivalence.symbolic.inhabited import is_inhabited
from mirage_mlir.equivalence.symbolic.maxima import Maxima
from mirage_mlir.equivalence.symbolic.terms import (
    ZERO,
    Atom,
    Entry,
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
        self._kept: dict[Form, Form] = {}
        """Of exponentials of masked values, and of sums of them: 0 where all are masked, else 1."""
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
            return self.add(a, self._as_number(b, "-inf is subtracted"), sign)
        if self.lowest in (a, b):
            return self.lowest
        if not (self._is_masked(a) and self._is_masked(b)):
            found = super().add(a, b, sign)
            if a in self._kept and b in self._kept:
                self._kept[found] = self.maximum(self._kept[a], self._kept[b])
            return found
        (number, without), (other, others) = self._parts(a), self._parts(b)
        assert number is not None
        assert other is not None
        either = self.add(self.add(without, others), self.mul(without, others), -1)
        return self._masked(super().add(number, other), either)

    def scale(self, a: Form, factor: Fraction | int) -> Form:
        if not self.is_lowest(a):
            found = super().scale(a, factor)
            if factor and a in self._kept:
                self._kept[found] = self._kept[a]
            return found
        if factor <= 0:
            number = self._as_number(a, "-inf is multiplied by what may not be positive")
            return super().scale(number, factor)
        number, without = self._parts(a)
        return a if number is None else self._masked(super().scale(number, factor), without)

    def mul(self, a: Form, b: Form) -> Form:
        if self.is_lowest(a) or self.is_lowest(b):
            a, b = (b, a) if self.is_lowest(b) else (a, b)
            if (value := self.value_of(b)) is not None:
                return self.scale(a, value)
            number = self._as_number(a, "-inf is multiplied by what may not be positive")
            return super().mul(number, b)
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
        self._imply_kept(a)
        return super().inverse(a)

    def _imply_kept(self, a: Form) -> None:
        """Note that there is no value where a sum of exponentials is masked as a whole."""
        if a in self._kept:
            self.require("zero", self._kept[a], Strength.IMPLIED)

    def _require_number(self, a: Form, otherwise: str) -> None:
        if self.is_lowest(a):
            raise Undecided(otherwise)

    def function(self, name: str, a: Form) -> Form:
        if name.startswith("rounded") and self._is_exact(a):
            return a
        if not self.is_lowest(a):
            if name == "log":
                self._imply_kept(a)
            return super().function(name, a)
        number, without = self._parts(a)
        if name.startswith("rounded") and number is not None:
            return self._masked(super().function(name, number), without)
        if name != "exp":
            raise Undecided(f"{name} is taken of -inf")
        if number is None:
            return ZERO
        kept = self._but(without)
        found = self.mul(kept, super().function(name, number))
        self._kept[found] = kept
        return found

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
        names, there = {*over}, tuple(guards)
        found = super().total(a, names, there)
        if a in self._kept and found:
            self._kept[found] = super().largest([(self._kept[a], there)], names)
        return found

    # Maxima of what may be masked

    def maximum(self, a: Form, b: Form) -> Form:
        if self.lowest in (a, b):
            return b if a == self.lowest else a
        return self._with_masks(super().maximum(a, b), [(a, ()), (b, ())], set())

    def minimum(self, a: Form, b: Form) -> Form:
        return self.lowest if self.lowest in (a, b) else super().minimum(a, b)

    def largest(self, values: Iterable[tuple[Form, Iterable[Guard]]], over: set[Variable]) -> Form:
        every = [(form, tuple(guards)) for form, guards in values]
        numbers = [(form, guards) for form, guards in every if form != self.lowest]
        if not numbers:
            return self.lowest
        some = len(numbers) < len(every)
        if some and not is_inhabited([guards for _, guards in numbers], over):
            raise Undecided("the maximum of values all of which may be -inf is taken")
        return self._with_masks(super().largest(numbers, over), numbers, over)

    def _with_masks(
        self, found: Form, values: Sequence[tuple[Form, Guards]], over: set[Variable]
    ) -> Form:
        """A maximum of values, -inf where all of them are masked."""
        if self._is_masked(found) or not any(self._is_masked(form) for form, _ in values):
            return found
        sure = [guards for form, guards in values if not self._is_masked(form)]
        if sure and is_inhabited(sure, over):
            return found
        kept = [(self._but(self._parts(form)[1]), guards) for form, guards in values]
        return self._masked(found, self._but(super().largest(kept, over)))

    def _but(self, without: Form) -> Form:
        """1 where a form is 0, and 0 where it is 1."""
        return self.add(self.constant(1), without, -1)

    def _as_entries(self, a: Form) -> list[Ranging]:
        number = self._number_of_maximum(a) if self._is_masked(a) else None
        return super()._as_entries(a if number is None else number)

    def _number_of_maximum(self, a: Form) -> Form | None:
        """The maximum that a form is, -inf just where all its values are; None if it is none."""
        number, without = self._parts(a)
        if number is None:
            return None
        entries = super()._as_entries(number)
        if any(form == number for (_, form), _ in entries):
            return None
        kept = self._of_entries(
            [
                Ranging(Entry(guards, self._but(self._parts(form)[1])), over)
                for (guards, form), over in entries
            ]
        )
        return number if self._but(without) == kept else None

    def _as_number(self, a: Form, otherwise: str) -> Form:
        """
        A value with a maximum as a number, where the reference has none if all of that is masked.

        Raises:
            Undecided: nothing of it is a maximum, or the reference has a value.
        """
        number, without = self._parts(a)
        kept = self._but(without)
        kinds = [self.atoms[f.atom].kind for monomial, _ in kept for f in monomial.factors]
        if number is None or kinds != ["maximum"]:
            raise Undecided(otherwise)
        self.require("zero", kept)
        return number
