"""
Comparisons and selections in normal form.

A comparison of numbers that indices give is one of these indices: its result is 1 under a guard and
0 under others, and a selection by it has the pieces of what is selected under these guards. A
comparison of data is a function of the difference of which nothing is known, and a selection by it
is `y + c (x - y)`: what is equal as a polynomial in c is equal for c = 0 and for c = 1.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import reduce
from math import inf

from mirage_mlir.equivalence.symbolic import demands as demands_
from mirage_mlir.equivalence.symbolic import guards as guards_
from mirage_mlir.equivalence.symbolic.demands import Case, Demands
from mirage_mlir.equivalence.symbolic.guards import Guard, Guards, guard
from mirage_mlir.equivalence.symbolic.indices import Index
from mirage_mlir.equivalence.symbolic.lowest import Forms
from mirage_mlir.equivalence.symbolic.signs import ABOVE_ZERO, IS_ZERO
from mirage_mlir.equivalence.symbolic.symbolic import (
    NOTHING,
    Piece,
    Symbolic,
    conjunction,
    joined,
    together,
)
from mirage_mlir.equivalence.symbolic.tensors import Tensors
from mirage_mlir.equivalence.symbolic.terms import Form, Monomial, Undecided, bound_of

Cases = tuple[tuple[Guard | bool, bool], ...]
"""Conditions of which exactly one holds, and what a comparison is there."""

Place = tuple[int, tuple[Index, ...]]
"""An atom, and where it is read."""

RANGES: dict[str, tuple[tuple[float, float, bool], ...]] = {
    "eq": ((0, 1, True), (-inf, 0, False), (1, inf, False)),
    "ne": ((0, 1, False), (-inf, 0, True), (1, inf, True)),
    "lt": ((-inf, 0, True), (0, inf, False)),
    "le": ((-inf, 1, True), (1, inf, False)),
    "gt": ((1, inf, True), (-inf, 1, False)),
    "ge": ((0, inf, True), (-inf, 0, False)),
}
"""Whether a comparison holds for a difference that is a whole number from one up to another."""


class Conditions:
    """Comparisons and selections of tensors."""

    def __init__(self, tensors: Tensors) -> None:
        self.tensors = tensors
        self.forms = tensors.forms

    def compare(self, predicate: str, x: Symbolic, y: Symbolic) -> Symbolic:
        """1 where a comparison holds, 0 elsewhere."""
        difference = self.tensors.subtract(x, y)
        found: list[Piece] = []
        for piece in difference.pieces:
            cases = self._cases(predicate, piece.form)
            if cases is None:
                found.append(Piece(piece.guards, decided(self.forms, predicate, piece.form)))
                continue
            for condition, holds in cases:
                guards = guards_.both(piece.guards, [condition])
                if guards is not None:
                    found.append(Piece(guards, self.forms.constant(int(holds))))
        pieces = together(found)
        return replace(difference, pieces=pieces)

    def _cases(self, predicate: str, difference: Form) -> Cases | None:
        """Where a difference is as a predicate says; None where it is not that of indices."""
        if (multiple := self.forms.index_of(difference)) is None:
            return None
        index, _ = multiple
        return tuple((guard(index, low, high), holds) for low, high, holds in RANGES[predicate])

    def extreme(self, predicate: str, x: Symbolic, y: Symbolic) -> Symbolic | None:
        """`x` where it is above or below `y`, as a predicate says; None but of indices."""
        pieces = [*x.pieces, *y.pieces]
        if any(self.forms.index_of(piece.form) is None for piece in pieces):
            return None
        return self.select(self.compare(predicate, x, y), x, y)

    def chosen(self, condition: Symbolic, x: Symbolic, y: Symbolic) -> Symbolic:
        """`x` where a condition is not 0, else `y`."""
        zero = self.tensors.constant(Fraction(0), (1,) * len(condition.dims))
        return self.select(self.compare("ne", condition, zero), x, y)

    def select(self, condition: Symbolic, x: Symbolic, y: Symbolic) -> Symbolic:
        """`x` where a condition is 1, else `y` (where it is 0)."""
        x, y, condition = self._aligned(x, y, condition)
        every = [zip(*each, strict=True) for each in [(x.dims, y.dims)]]
        dims = tuple(joined(a, b) for pairs in every for a, b in pairs)
        dims = tuple(joined(a, b) for a, b in zip(dims, condition.dims, strict=True))
        exists = conjunction(x.exists, y.exists, condition.exists)
        there = conjunction(exists, *(dim.valid for dim in dims))
        found: list[Piece] = []
        demands = demands_.weak(condition.demands)
        for c in condition.pieces:
            value = self.forms.value_of(c.form)
            parts = y.pieces if value == 0 else x.pieces
            for part in parts:
                for other in y.pieces if value is None else NOTHING.pieces:
                    guards = guards_.both(c.guards, part.guards, other.guards)
                    if guards is None or guards_.both(guards, there) is None:
                        continue
                    form = part.form
                    if value is None:
                        form, own = self._blended(guards, c.form, part.form, other.form)
                        demands = demands_.together(demands, own)
                    found.append(Piece(guards, form))
            demands = demands_.together(demands, self._demands(c, value, x, y))
        return Symbolic(together(found), dims, exists, demands)

    def _demands(self, c: Piece, value: Fraction | None, x: Symbolic, y: Symbolic) -> Demands:
        """What is needed where a piece of a condition has a value; None: data says which."""
        if value is not None:
            return demands_.where((y if value == 0 else x).demands, c.guards)
        cases = [
            Case(*self.forms.abstract(form)) for form in (c.form, complement(self.forms, c.form))
        ]
        sides = zip((x, y), cases, strict=True)
        every = [demands_.in_case(side.demands, case) for side, case in sides]
        return demands_.where(demands_.together(*every), c.guards)

    def _blended(self, guards: Guards, condition: Form, x: Form, y: Form) -> tuple[Form, Demands]:
        against = complement(self.forms, condition)
        if self._divides_by(x, condition) or self._divides_by(y, against):
            raise Undecided("a quotient is selected whose divisor is zero where it is not selected")
        with self.forms.demanding() as demands:
            self.forms.where = guards
            form = self.forms.selected(condition, x, y)
        return form, tuple(demands)

    def _divides_by(self, x: Form, condition: Form) -> bool:
        """
        Whether x may have a divisor that is zero where a condition is 0: then `y + c (x - y)` is
        not y there, though c may cancel.
        """
        own = self._indicators(condition)
        for monomial, _ in x:
            for f in monomial.factors:
                if f.exponent >= 0:
                    continue
                if (f.atom, f.indices) in own:
                    return True
                if self.forms.atoms[f.atom].kind == "sum":
                    divisor = self.forms.instance(self.forms.atoms[f.atom].form, f.indices)
                    if self._is_zero_without(divisor, condition, own):
                        return True
        return False

    def _is_zero_without(self, a: Form, condition: Form, own: set[Place]) -> bool:
        """Whether a form is zero where a condition is 0; True where that is not known."""
        if own.isdisjoint(self._indicators(a)):
            return False
        if len(condition) > 2 or len(own) != 1:
            return True
        without: dict[Monomial, Fraction] = {}
        for monomial, coefficient in a:
            rest = tuple(f for f in monomial.factors if (f.atom, f.indices) not in own)
            if len(condition) == 1 and len(rest) < len(monomial.factors):
                continue  # A comparison that is 0 itself; else its opposite is, and it is 1.
            one = monomial._replace(factors=rest)
            without[one] = without.get(one, Fraction(0)) + coefficient
        return not any(without.values())

    def _indicators(self, a: Form) -> set[Place]:
        """The comparisons of data that a form is made of, but for those in functions."""
        names = (ABOVE_ZERO, IS_ZERO)
        factors = [f for monomial, _ in a for f in monomial.factors]
        return {(f.atom, f.indices) for f in factors if self.forms.atoms[f.atom].name in names}

    def _aligned(self, *tensors: Symbolic) -> list[Symbolic]:
        """Tensors of one rank, with one index for each dimension."""
        rank = max(len(each.dims) for each in tensors)
        ranked = [self.tensors.with_rank(each, rank) for each in tensors]
        pairs = [(dim, dim) for dim in range(rank)]
        found: list[Symbolic] = []
        for each in ranked:
            if not found:
                found.append(each)
                continue
            dims = tuple(
                reduce(joined, (other.dims[dim] for other in found)) for dim in range(rank)
            )
            found.append(self.tensors.aligned(Symbolic((), dims), each, pairs))
        return found


def complement(forms: Forms, condition: Form) -> Form:
    """1 where a condition is 0, and 0 where it is 1."""
    return forms.add(forms.constant(1), condition, -1)


def decided(forms: Forms, predicate: str, difference: Form) -> Form:
    """
    1 where a comparison holds, 0 elsewhere, as a function of the difference of what is compared.

    Raises:
        Undecided: the difference is infinite.
    """
    if forms.is_lowest(difference):
        raise Undecided("-inf is compared")
    opposite = forms.scale(difference, -1)
    match predicate:
        case "gt":
            return _indicator(forms, ABOVE_ZERO, difference)
        case "lt":
            return _indicator(forms, ABOVE_ZERO, opposite)
        case "eq" if _is_mask(forms, difference):
            return complement(forms, difference)
        case "eq":
            # The same whatever is subtracted from the other.
            both = [forms.abstract(each)[0] for each in (difference, opposite)]
            return _indicator(forms, IS_ZERO, opposite if both[0] < both[1] else difference)
        case _:
            contrary = {"le": "gt", "ge": "lt", "ne": "eq"}[predicate]
            return complement(forms, decided(forms, contrary, difference))


def _is_mask(forms: Forms, a: Form) -> bool:
    """Whether a form is the result of a comparison of data: 0 or 1."""
    sides = (a, complement(forms, a))
    for monomial, coefficient in (each[0] for each in sides if len(each) == 1):
        names = [forms.atoms[f.atom].name for f in monomial.factors if f.exponent == 1]
        if coefficient == 1 and names in ([ABOVE_ZERO], [IS_ZERO]) and len(monomial.factors) == 1:
            # A sum of conditions counts them.
            return not (monomial.guards or bound_of(monomial))
    return False


def _indicator(forms: Forms, name: str, a: Form) -> Form:
    value = forms.value_of(a)
    if value is not None:
        return forms.constant(int(value > 0 if name == ABOVE_ZERO else value == 0))
    return forms.function(name, a)
