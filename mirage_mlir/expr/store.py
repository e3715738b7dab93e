"""Interned polynomials and what can be read off them."""

from collections.abc import Mapping
from typing import TypeAlias

from mirage_mlir.expr.heads import (
    FULL,
    Coefficient,
    Exponent,
    Function,
    Head,
    Input,
    Maximum,
    Parenthesis,
    Poly,
    Size,
)
from mirage_mlir.expr.monomial import UNIT, HeadTable, Monomial

Polynomial: TypeAlias = tuple[tuple[Monomial, Coefficient], ...]
"""Sorted terms, none with coefficient 0."""

NON_NEGATIVE_FUNCTIONS = frozenset({"exp", "sqrt", "sigmoid"})


class Store:
    """Polynomials by id: two values are equal when their ids are."""

    def __init__(self) -> None:
        self.heads = HeadTable()
        self._terms: list[Polynomial] = []
        self._ids: dict[Polynomial, Poly] = {}
        self._current: dict[Monomial, tuple[str, ...]] = {}
        self._masks: dict[Poly, Mapping[str, int]] = {}
        self._free: dict[Poly, Mapping[str, int]] = {}
        self._non_negative: dict[int, bool] = {}
        self.partial_maxima: set[Poly] = set()
        """Maxima of which some axis is bound in part: only maxima may go on with them."""
        self.zero = self.intern({})
        self.one = self.intern({UNIT: 1})

    def intern(self, terms: Mapping[Monomial, Coefficient]) -> Poly:
        """The id of a sum of monomials."""
        polynomial = tuple(sorted((m, c) for m, c in terms.items() if c))
        if (known := self._ids.get(polynomial)) is None:
            known = self._ids[polynomial] = Poly(len(self._terms))
            self._terms.append(polynomial)
        return known

    @property
    def count(self) -> int:
        """How many values there are; a value's id is smaller than that of all that came later."""
        return len(self._terms)

    def monomials(self, poly: Poly) -> Polynomial:
        """The terms of a value: pairs of monomial and coefficient, sorted."""
        return self._terms[poly]

    def atom(self, head: Head, exponent: Exponent = 1) -> Poly:
        """A head by itself, to a power."""
        return self.intern({Monomial((self.heads.factor(head, exponent),), ()): 1})

    def current(self, monomial: Monomial) -> tuple[str, ...]:
        """The axes whose current variable the monomial reads, bound in part or not; sorted."""
        if (known := self._current.get(monomial)) is None:
            known = self._current[monomial] = self.heads.current(monomial.factors)
        return known

    def masks(self, poly: Poly) -> Mapping[str, int]:
        """Axes that are bound in part (by a sum or a maximum), and which bits are bound."""
        if (known := self._masks.get(poly)) is None:
            found = {axis: bits for m, _ in self._terms[poly] for axis, bits in m.masks}
            if poly in self.partial_maxima and (maximum := self.maximum_of(poly)) is not None:
                found.update(maximum.partial)
            known = self._masks[poly] = dict(sorted(found.items()))
        return known

    def free(self, poly: Poly) -> Mapping[str, int]:
        """The axes of a value, sorted, each with the bits that are not bound yet."""
        if (known := self._free.get(poly)) is None:
            axes = {axis for m, _ in self._terms[poly] for axis in self.current(m)}
            masks = self.masks(poly)
            found = {axis: FULL & ~masks.get(axis, 0) for axis in sorted(axes)}
            known = self._free[poly] = found
        return known

    def axes(self, poly: Poly) -> tuple[str, ...]:
        """The axes of a value, sorted."""
        return tuple(self.free(poly))

    def maximum_of(self, poly: Poly) -> Maximum | None:
        """The maximum that the value is, if it is one and nothing more."""
        if len(self._terms[poly]) != 1:
            return None
        (monomial, coefficient), *_ = self._terms[poly]
        if coefficient != 1 or len(monomial.factors) != 1 or monomial.masks:
            return None
        ((head, slots, exponent),) = monomial.factors
        maximum = self.heads[head]
        alone = exponent == 1 and not any(slots)
        return maximum if alone and isinstance(maximum, Maximum) else None

    def is_partial(self, poly: Poly) -> bool:
        """Whether some axis is bound in part, so that only sums (or maxima) may go on with it."""
        return bool(self.masks(poly))

    def constant_value(self, poly: Poly) -> Coefficient | None:
        """The number that the value is, None when it depends on anything."""
        match self._terms[poly]:
            case ():
                return 0
            case ((monomial, coefficient),) if monomial == UNIT:
                return coefficient
            case _:
                return None

    def is_non_negative(self, poly: Poly) -> bool:
        """Whether the value is provably never below zero."""
        return all(
            c > 0 and all(self.is_non_negative_power(f.head, f.exponent) for f in m.factors)
            for m, c in self._terms[poly]
        )

    def is_non_negative_power(self, head: int, exponent: Exponent) -> bool:
        """Whether a power of the head is provably never below zero."""
        return exponent % 2 == 0 or self.is_non_negative_head(head)

    def is_non_negative_head(self, head: int) -> bool:
        """Whether the head is provably never below zero."""
        if (known := self._non_negative.get(head)) is None:
            known = self._non_negative[head] = self._head_is_non_negative(self.heads[head])
        return known

    def _head_is_non_negative(self, head: Head) -> bool:
        match head:
            case Input():
                return False
            case Size():
                return True
            case Function(name=name):
                return name in NON_NEGATIVE_FUNCTIONS
            case Parenthesis(polynomial=polynomial):
                return self.is_non_negative(polynomial)
            case Maximum(terms=terms):
                return any(self.is_non_negative(poly) for poly, _ in terms)
