"""
What a monomial can become: roots squared, sums in parentheses that stand alone.

`sqrt(P)^2` is P. A sum stays in parentheses only next to another one, a product left unexpanded.
Where it is alone among the factors that sums over axes tie together, or alone outside all of these,
it is multiplied out, so that `sum(i, add(x, y)) = add(sum(i, x), sum(i, y))` holds here, too.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction

from mirage_mlir.expr.coefficients import exact, measure
from mirage_mlir.expr.heads import Coefficient, Function, Parenthesis, Poly
from mirage_mlir.expr.monomial import UNIT, Factor, Monomial
from mirage_mlir.expr.store import Store


class Reducer(Store, ABC):
    """
    A store that brings monomials into their reduced form.

    Args:
        cancelling: the variant of `Ring`.
    """

    def __init__(self, cancelling: bool) -> None:
        super().__init__()
        self.cancelling = cancelling
        self.may_cancel = cancelling

    @abstractmethod
    def mul(self, a: Poly | None, b: Poly | None) -> Poly | None:
        """The product."""

    @abstractmethod
    def power(self, a: Poly | None, exponent: int) -> Poly | None:
        """A whole power."""

    def reduced(self, monomial: Monomial) -> Poly | None:
        """The value that a product of factors is; None where it is not defined."""
        total: dict[Monomial, Coefficient] = {}
        return self.intern(total) if self.collect(total, monomial, 1) else None

    def collect(
        self, total: dict[Monomial, Coefficient], monomial: Monomial, coefficient: Coefficient
    ) -> bool:
        """Add a term to a sum in reduced form; False when the result is not defined."""
        if all(f.head not in self.heads.reducible for f in monomial.factors):
            return self.collect_as_is(total, monomial, coefficient)
        found = self._reducible(monomial)
        if found is None:
            return self.collect_as_is(total, monomial, coefficient)
        away, value = found
        inverse = (f._replace(exponent=-f.exponent) for f in away)
        rest = self.heads.canonical((*monomial.factors, *inverse), dict(monomial.masks))
        with_rest = value if rest == UNIT else self.mul(self.intern({rest: 1}), value)
        return with_rest is not None and all(
            self.collect_as_is(total, m, exact(c * Fraction(coefficient)))
            for m, c in self.monomials(with_rest)
        )

    def collect_as_is(
        self, total: dict[Monomial, Coefficient], monomial: Monomial, coefficient: Coefficient
    ) -> bool:
        """Add a term to a sum; False when terms cancel and must not."""
        if (old := total.get(monomial)) is None:
            total[monomial] = coefficient
            return True
        new = old + coefficient
        if not isinstance(new, int):
            new = exact(new)
        if not self.may_cancel:
            # 0.5x + 0.5x = x is a cancellation too: x, 0.5x, x would be a cycle.
            if (old > 0) != (coefficient > 0):
                return False
            if measure(new) <= max(measure(old), measure(coefficient)):
                return False
        total[monomial] = new
        return True

    def is_factored(self, poly: Poly) -> bool:
        """Whether the value is a product with unexpanded sums (outside all sums over axes)."""
        terms = self.monomials(poly)
        if len(terms) != 1:
            return False
        outside = [f for f in terms[0][0].factors if not any(f.slots)]
        return self._degree(outside) > 0

    def _degree(self, factors: Sequence[Factor]) -> int:
        """How many of some factors are sums left unexpanded."""
        return sum(
            int(f.exponent)
            for f in factors
            if f.exponent > 0 and isinstance(self.heads[f.head], Parenthesis)
        )

    def _reducible(self, monomial: Monomial) -> tuple[tuple[Factor, ...], Poly | None] | None:
        """Factors to take away and the value to multiply by in their place (None: undefined)."""
        outside, groups = self.heads.components(monomial.factors)
        alone = self._degree(outside) == 1
        for f in outside:
            head = self.heads[f.head]
            if isinstance(head, Function) and head.name == "sqrt" and abs(f.exponent) > 1:
                return self._squared(f, head.argument)
            if isinstance(head, Parenthesis):
                if f.exponent > 0 and (alone or len(self.monomials(head.polynomial)) == 1):
                    return (f,), self.power(head.polynomial, int(f.exponent))
                sums = self._cancelled_sum(groups, f, head.polynomial)
                if sums is not None:
                    return sums, self.one
        for group in groups if not monomial.masks else ():
            if self._degree(group) == 1:
                return group, self._multiplied_out(group)
        return None

    def _squared(self, root: Factor, base: Poly) -> tuple[tuple[Factor, ...], Poly | None]:
        """The squares in a power of sqrt(base), as a power of base."""
        if not self.may_cancel:
            return (root,), None  # P, sqrt(P), P would be a cycle.
        squares = int(abs(root.exponent)) // 2 * (1 if root.exponent > 0 else -1)
        return (root._replace(exponent=2 * squares),), self.power(base, squares)

    def _multiplied_out(self, group: Sequence[Factor]) -> Poly | None:
        """A sum over axes of a product with one parenthesis, as a sum of such sums."""
        (inner,) = (f for f in group if self._degree((f,)))
        head = self.heads[inner.head]
        assert isinstance(head, Parenthesis)
        rest = [f for f in group if f is not inner]
        total: dict[Monomial, Coefficient] = {}
        highest = {axis: max(ids) for axis, ids in self.heads.bound(group).items()}
        for term, coefficient in self.monomials(head.polynomial):
            names = {
                (axis, variable): variable + highest.get(axis, 0)
                for axis, variables in self.heads.bound(term.factors).items()
                for variable in variables
            }
            names |= {(axis, 0): slot for axis, slot in self.heads.variables(inner)}
            inside = (self.heads.renamed(f, names) for f in term.factors)
            if not self.collect(total, self.heads.canonical((*rest, *inside), {}), coefficient):
                return None
        return self.intern(total)

    def _cancelled_sum(
        self, groups: Sequence[tuple[Factor, ...]], divisor: Factor, divided_by: Poly
    ) -> tuple[Factor, ...] | None:
        """The factors of `sum(x) * 1/sum(x)`, when the divisor is one sum and it is there."""
        terms = self.monomials(divided_by)
        if not self.cancelling or divisor.exponent > 0 or len(terms) != 1:
            return None
        for component in groups:
            if self.heads.canonical(component, {}) == terms[0][0]:
                return (*component, divisor._replace(exponent=-1))
        return None
