"""
Decides which values a graph may narrow: store in fewer bits than f32, as operands of MMAs.

A graph computes in f32. Operands of MMAs, and tensors between kernels that only MMAs read, have the
element type of the program's matmuls; tensors between kernels that the program reads only as it has
rounded them have what it rounds them to. Another value may be narrowed only if

* the program narrows it itself, or
* its exponent is within that of what the program narrows: in magnitude it is proved to be never
  above one such value (or never above the largest number of the type), and never below another (or
  never below the least normal number). So it overflows, or loses bits to underflow, only where the
  program does.

The weights exp(s - max) of a softmax, which are at most 1 and not below the quotient that the
program narrows, may be narrowed; x * g in the place of x / rms(x) * g may not, for its exponent is
that of x and that of g together. Parts of a sum are never narrowed: they may exceed the sum.

bf16 and tf32 have the exponents of f32, so that the second condition holds for every value. What
these lose of the mantissa is judged where a result is compared with the program in floating point.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, reduce
from math import inf, isnan, prod
from typing import NamedTuple

import numpy as np

from mirage_mlir.expr.heads import Exponent, Function, Parenthesis, Poly, Size
from mirage_mlir.expr.monomial import Monomial
from mirage_mlir.expr.normal_form import NormalForm

F16 = "f16"
"""The one element type that has fewer exponents than f32."""

LARGEST, LEAST_NORMAL = float(np.finfo(np.float16).max), float(np.finfo(np.float16).tiny)

Powers = dict[int, Exponent]
"""The exponents of heads."""


def may_keep(narrowed: str, element_type: str) -> bool:
    """Whether a value that the program narrows to `narrowed` may be stored in an element type."""
    return element_type != F16 or narrowed == F16


class Interval(NamedTuple):
    """Lower and upper bounds of a magnitude."""

    least: float
    most: float

    def times(self, other: "Interval") -> "Interval":
        """Of a product; 0 times infinity may be anything."""
        least, most = self.least * other.least, self.most * other.most
        return Interval(0.0 if isnan(least) else least, inf if isnan(most) else most)

    def power(self, exponent: Exponent) -> "Interval":
        """Of a power."""
        ends = [_power(self.least, float(exponent)), _power(self.most, float(exponent))]
        return Interval(min(ends), max(ends))


ANY = Interval(0.0, inf)
ONE = Interval(1.0, 1.0)
FRACTION = Interval(0.0, 1.0)


def _power(value: float, exponent: float) -> float:
    if value == 0.0 and exponent < 0:
        return inf
    return value**exponent


def _product(factors: Iterator[Interval]) -> Interval:
    return reduce(Interval.times, factors, ONE)


@dataclass(frozen=True)
class ShiftedExps:
    """
    Exps relative to the largest of all of them.

    Args:
        exps: their forms, as if nothing were subtracted; each is between 0 and 1.
        total: the form of their sum, which is at least 1.
    """

    exps: tuple[Poly, ...]
    total: Poly


@dataclass
class Narrowing:
    """
    Decides which values may be narrowed.

    Args:
        forms: where their forms are.
        element_type: of operands of tensor cores.
        narrowed: the values that the program narrows to it.
        floors: values that are never below one that the program narrows.
        rounded: values that the program reads as it has rounded them, with the element types.
        shifted: the exps that a maximum keeps in range.
        sizes: elements along each axis.
        only_its_own: whether nothing else is narrowed, since the program is about what rounding
            takes away.
    """

    forms: NormalForm
    element_type: str
    narrowed: frozenset[Poly]
    floors: frozenset[Poly] = frozenset()
    rounded: Mapping[Poly, str] = field(default_factory=dict[Poly, str])
    shifted: Sequence[ShiftedExps] = ()
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    only_its_own: bool = False
    _known: dict[Poly, bool] = field(default_factory=dict[Poly, bool])

    def admits(self, form: Poly) -> bool:
        """Whether a value may be narrowed."""
        if self.only_its_own:
            return self.has(form)
        if self.element_type != F16:
            return True
        if form not in self._known:
            self._known[form] = self.has(form) or self._is_within(form)
        return self._known[form]

    def has(self, form: Poly | None) -> bool:
        """Whether the program itself narrows a value."""
        if form is None or form in self.narrowed:
            return form is not None
        if self.forms.is_partial(form):
            return False
        return self.forms.representative(form) in self._representatives

    def _is_within(self, form: Poly) -> bool:
        """Whether the exponent of a value is provably within those of what is narrowed."""
        if (number := self.forms.constant_value(form)) is not None:
            return _is_in_f16(Fraction(number))
        if self.forms.is_partial(form):
            return False
        own = self.magnitude(form)
        ratios = [self.ratio(form, other) for other in sorted(self.narrowed)]
        below = own.most <= LARGEST or any(ratio.most <= 1 for ratio in ratios)
        above = own.least >= LEAST_NORMAL or form in self.floors
        return below and (above or any(ratio.least >= 1 for ratio in ratios))

    # Magnitudes

    def magnitude(self, form: Poly) -> Interval:
        """Bounds of the magnitude of a value."""
        terms = [_scaled(self._term(m), c) for m, c in self.forms.monomials(form)]
        most = sum(term.most for term in terms)
        least = sum(term.least for term in terms)
        if len(terms) > 1 and not self.forms.is_non_negative(form):
            least = 0.0
        return Interval(max(least, 1.0) if self._is_total(form) else least, most)

    def ratio(self, form: Poly, other: Poly) -> Interval:
        """Bounds of the quotient of two values; unbounded where either is a partial sum."""
        with self.forms.lowering():
            above, below = self.forms.as_factors(form), self.forms.as_factors(other)
        if above is None or below is None or above[0].masks or below[0].masks:
            return ANY
        powers, sums = self._parts(above[0])
        divisors, others = self._parts(below[0])
        for head, exponent in divisors.items():
            powers[head] = powers.get(head, 0) - exponent
        for total in list(others):
            # One may be there twice, as in a square, and above it once.
            if total in sums:
                sums.remove(total)
                others.remove(total)
        found = [self._powers(powers), *map(self._sum, sums)]
        found += [self._sum(total).power(-1) for total in others]
        return _scaled(_product(iter(found)), Fraction(above[1]) / Fraction(below[1]))

    def _term(self, monomial: Monomial) -> Interval:
        powers, sums = self._parts(monomial)
        return _product(iter([self._powers(powers), *map(self._sum, sums)]))

    def _parts(self, monomial: Monomial) -> tuple[Powers, list[Monomial]]:
        """The factors that stand outside of sums, and the sums."""
        outside, groups = self.forms.heads.components(monomial.factors)
        powers = {factor.head: factor.exponent for factor in outside}
        return powers, [self.forms.heads.canonical(group, {}) for group in groups]

    def _powers(self, powers: Powers) -> Interval:
        """Bounds of a product of powers: of shifted exps first, then of what is left."""
        left = dict(powers)
        exps = [FRACTION for exp in self._exps for _ in _taken(left, exp)]
        return _product(iter([*exps, *(self._factor(h, e) for h, e in left.items() if e)]))

    def _sum(self, total: Monomial) -> Interval:
        """Bounds of a product that is summed over axes; terms of any sign may cancel."""
        variables = {v for f in total.factors for v in self.forms.heads.variables(f) if v[1]}
        count = prod(self.sizes[axis] for axis, _ in variables)
        each = _scaled(_product(self._factor(f.head, f.exponent) for f in total.factors), count)
        powers = ((factor.head, factor.exponent) for factor in total.factors)
        positive = all(self.forms.is_non_negative_power(*power) for power in powers)
        return each if positive else Interval(0.0, each.most)

    @cached_property
    def _exps(self) -> list[Powers]:
        monomials = [self.forms.monomials(exp)[0][0] for one in self.shifted for exp in one.exps]
        found = (self._parts(monomial)[0] for monomial in monomials)
        # Of a row of one element exp is 1, which has no factor.
        return [powers for powers in found if powers]

    def _factor(self, head: int, exponent: Exponent) -> Interval:
        match self.forms.heads[head]:
            case Size(axis=axis):
                base = Interval(self.sizes[axis], self.sizes[axis])
            case Function(name="sigmoid" | "tanh"):
                base = FRACTION
            case Function(name="sqrt", argument=argument):
                base = self.magnitude(argument).power(Fraction(1, 2))
            case Parenthesis(polynomial=polynomial):
                base = self.magnitude(polynomial)
            case _:
                base = ANY
        return base.power(exponent)

    # Values

    @cached_property
    def _representatives(self) -> frozenset[Poly]:
        return frozenset(map(self.forms.representative, self.narrowed))

    @cached_property
    def _totals(self) -> frozenset[Poly]:
        return frozenset(self.forms.representative(one.total) for one in self.shifted)

    def _is_total(self, form: Poly) -> bool:
        """Whether a value is the sum of exps that are relative to the largest of them."""
        if not self.shifted or self.forms.is_partial(form):
            return False
        return self.forms.representative(form) in self._totals


def _taken(powers: Powers, exp: Powers) -> Iterator[None]:
    """Take an exp out of a product, once for each time that it is a factor."""
    while all(powers.get(head, 0) / exponent >= 1 for head, exponent in exp.items()):
        for head, exponent in exp.items():
            powers[head] -= exponent
        yield


def _scaled(interval: Interval, factor: float | Fraction) -> Interval:
    magnitude = abs(float(factor))
    return Interval(magnitude, magnitude).times(interval)


def _is_in_f16(number: Fraction) -> bool:
    """Whether f16 represents a number."""
    magnitude = abs(float(number))
    return magnitude <= LARGEST and Fraction(float(np.float16(magnitude))) == abs(number)
