"""
A cheap filter for pairs of forms: most pairs are part of no output.

A value of a graph is part of a root (an output, or an argument of a function in one), so its terms
are parts of terms of one root.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

from mirage_mlir.expr.heads import Parenthesis, Poly
from mirage_mlir.expr.normal_form import NormalForm


@dataclass(frozen=True)
class _Whereabouts:
    """
    The roots of which a form may be part, and for each of its terms the terms of roots; as bit
    sets.
    """

    roots: int
    terms: tuple[int, ...]
    """For each term of the form."""


class Prospects:
    """Finds the roots of which forms may be part; answers are remembered."""

    def __init__(self, forms: NormalForm, roots: Sequence[Poly]) -> None:
        self.forms = forms
        self.roots = roots
        self._products: dict[tuple[int, int], bool] = {}
        self._one_factor: dict[Poly, int] = {}
        self._places: dict[Poly, _Whereabouts] = {}

    def share_a_root(self, a: Poly, b: Poly) -> bool:
        """Whether a sum of forms may be part of a root."""
        return bool(self._whereabouts(a).roots & self._whereabouts(b).roots)

    @cached_property
    def _root_terms(self) -> list[tuple[int, set[tuple[int, bool]]]]:
        """For each term of each root the root's number and its factors: head, above or below."""
        return [
            (number, {(factor.head, factor.exponent > 0) for factor in monomial.factors})
            for number, root in enumerate(self.roots)
            for monomial, _ in self.forms.monomials(root)
        ]

    def may_multiply(self, a: Poly, b: Poly) -> bool:
        """
        Whether a product of forms, or a sum of it over an axis, may be part of a root.

        The factors of each of its terms must be factors of one term of a root.
        """
        if (known := self._products.get((a, b))) is None:
            known = self._products[a, b] = self._may_multiply(a, b)
        return known

    def _may_multiply(self, a: Poly, b: Poly) -> bool:
        mine, other = self._whereabouts(a).terms, self._whereabouts(b).terms
        sums = len(mine) > 1, len(other) > 1
        if all(sums) and len(mine) * len(other) <= self.forms.expansion_limit:
            return True
        # A product of sums stays one.
        if all(sums) or (sums[0] and self.forms.is_factored(b)):
            mine = (self._as_one_factor(a),)
        if all(sums) or (sums[1] and self.forms.is_factored(a)):
            other = (self._as_one_factor(b),)
        return all(one & two for one in mine for two in other)

    def _as_one_factor(self, form: Poly) -> int:
        """The terms of roots, as a bit set, that have a sum as a factor."""
        if (known := self._one_factor.get(form)) is None:
            heads = self.forms.heads
            found = self.forms.as_factors(form)
            factors = () if found is None else found[0].factors
            one = {(f.head, True) for f in factors if isinstance(heads[f.head], Parenthesis)}
            known = self._holding(one) if one else 0
            self._one_factor[form] = known
        return known

    def _holding(self, factors: AbstractSet[tuple[int, bool]]) -> int:
        """The terms of roots, as a bit set, that have some factors."""
        held = (1 << i for i, (_, held) in enumerate(self._root_terms) if factors <= held)
        return sum(held)

    def _whereabouts(self, form: Poly) -> "_Whereabouts":
        if form not in self._places:
            self._places[form] = self._located(form)
        return self._places[form]

    def _located(self, form: Poly) -> "_Whereabouts":
        roots = -1
        terms: list[int] = []
        for monomial, _ in self.forms.monomials(form):
            factors = {(factor.head, factor.exponent > 0) for factor in monomial.factors}
            terms.append(holding := self._holding(factors))
            numbers = {root for i, (root, _) in enumerate(self._root_terms) if holding >> i & 1}
            roots &= sum(1 << root for root in numbers)
        return _Whereabouts(roots, tuple(terms))
