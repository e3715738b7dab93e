"""
Sums, products and quotients of values in normal form.

A value is a polynomial: a sum of monomials (`monomial.py`) with rational coefficients.
Commutativity, associativity, distributivity and the rules that move factors out of sums, A_eq of Wu
et al. (OSDI 2025, section 4), hold because both sides become the same polynomial. Departures:
values are exact in indices (the paper's expressions have no labels), and a product of two sums that
would have more than `expansion_limit` terms stays a product of `Parenthesis` atoms.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import reduce

from mirage_mlir.expr.coefficients import exact, measure
from mirage_mlir.expr.fingerprint import Fingerprints
from mirage_mlir.expr.heads import FULL, Coefficient, Input, Parenthesis, Poly, Size
from mirage_mlir.expr.monomial import UNIT, Factor, Monomial
from mirage_mlir.expr.reduction import Reducer

MOST_TERMS = 4096
"""A product of more terms is never expanded, whatever `expansion_limit` says."""

MOST_POWERS = 16
"""Highest power of a sum that is multiplied out (or written as a power of a parenthesis)."""


class Ring(Reducer):
    """
    Arithmetic on values; every operation returns None where its result is not defined.

    Two variants. With `cancelling`, x - x is 0 and x / x is 1 and everything is put into one form:
    for proofs that two programs are equal. Without it such a cancellation returns None, because
    A_eq has none: every operation then makes a value larger, so no value can be derived from itself
    and the search space has no cycles. Inside `with ring.lowering():` values of a given program may
    cancel and sums over absent axes count elements; the forms stay those of the search.

    Args:
        expansion_limit: most terms that a product of two sums may have to be multiplied out.
        size_algebra: whether the sum over an axis that a value lacks multiplies it by the size.
        cancelling: the variant, see above.
        fingerprints: whether arguments of atoms are identified by their value in a finite field
            (`fingerprint.py`); by default in the search's variant only, so that proofs are exact.
    """

    def __init__(
        self,
        expansion_limit: int = 1,
        size_algebra: bool = False,
        cancelling: bool = False,
        fingerprints: bool | None = None,
    ) -> None:
        super().__init__(cancelling)
        self.expansion_limit = min(expansion_limit, MOST_TERMS)
        self.constants: dict[Coefficient, None] = {}
        """Absolute values of the constants that occurred, other than 1, in order."""
        self._size_algebra: bool = size_algebra
        self._memos: dict[tuple[bool, bool], dict[tuple[object, ...], Poly | None]] = {}
        self._memo = self._memos.setdefault((cancelling, size_algebra), {})
        by_value = not cancelling if fingerprints is None else fingerprints
        self._fingerprints = Fingerprints(self) if by_value else None

    @contextmanager
    def lowering(self) -> Generator[None]:
        """Let values cancel while a given program (not a candidate of the search) is read."""
        before = self.may_cancel, self._size_algebra, self._memo
        self.may_cancel = self._size_algebra = True
        self._memo = self._memos.setdefault((True, True), {})
        try:
            yield
        finally:
            self.may_cancel, self._size_algebra, self._memo = before

    # Sources.

    def input(self, name: str, classes: Sequence[str]) -> Poly:
        """An input tensor with the given axes, each once, in any order."""
        if len(set(classes)) != len(classes):
            raise ValueError(f"input {name} has an axis twice: {', '.join(classes)}")
        return self.atom(Input(name, tuple(sorted(classes))))

    def constant(self, value: float | Fraction) -> Poly:
        """A number without axes; a float counts as the exact number that it stores."""
        return self.intern({UNIT: self._recorded(value)})

    def size(self, axis: str) -> Poly:
        """The number of elements of an axis, as a formal constant."""
        return self.atom(Size(axis))

    def _recorded(self, value: float | Fraction) -> Coefficient:
        number = exact(value)
        if number not in (0, 1, -1):
            self.constants.setdefault(abs(number))
        return number

    # Sums.

    def add(self, a: Poly | None, b: Poly | None) -> Poly | None:
        """The sum."""
        return self._sum(a, b, 1)

    def sub(self, a: Poly | None, b: Poly | None) -> Poly | None:
        """The difference."""
        return self._sum(a, b, -1)

    def _sum(self, a: Poly | None, b: Poly | None, sign: int) -> Poly | None:
        if a is None or b is None:
            return None
        if sign == 1 and a > b:
            a, b = b, a
        key = ("sum", a, b, sign)
        if key not in self._memo:
            self._memo[key] = self._computed_sum(a, b, sign)
        return self._memo[key]

    def _computed_sum(self, a: Poly, b: Poly, sign: int) -> Poly | None:
        if not self.partial_maxima.isdisjoint((a, b)):
            return None
        if not self.may_cancel and self.zero in (a, b):
            return None
        masks_a, masks_b = self.masks(a), self.masks(b)
        if masks_a or masks_b:
            shared = self.free(a).keys() & self.free(b).keys()
            if any(masks_a.get(axis) != masks_b.get(axis) for axis in shared):
                return None
        total = dict(self.monomials(a))
        added = all(self.collect_as_is(total, m, sign * c) for m, c in self.monomials(b))
        return self.intern(total) if added else None

    # Products.

    def mul(self, a: Poly | None, b: Poly | None) -> Poly | None:
        """The elementwise product, each operand broadcast along the axes that it lacks."""
        if a is None or b is None:
            return None
        if a > b:
            a, b = b, a
        key = ("mul", a, b)
        if key not in self._memo:
            self._memo[key] = self._product(a, b)
        return self._memo[key]

    def _product(self, a: Poly, b: Poly) -> Poly | None:
        if not self.partial_maxima.isdisjoint((a, b)):
            return None
        if not self.may_cancel and (self._is_trivial(a, b) or self._is_trivial(b, a)):
            return None
        if self._stays_factored(a, b):
            return self._factored_product(a, b)
        total: dict[Monomial, Coefficient] = {}
        for monomial_a, coefficient_a in self.monomials(a):
            for monomial_b, coefficient_b in self.monomials(b):
                coefficient = self._times(coefficient_a, coefficient_b)
                monomial = self._joined(monomial_a, monomial_b)
                if coefficient is None or monomial is None:
                    return None
                if not self.collect(total, monomial, coefficient):
                    return None
        return self.intern(total)

    def _is_trivial(self, factor: Poly, poly: Poly) -> bool:
        """Whether a product leads to the value itself or, with a second minus sign, back to one."""
        if (value := self.constant_value(factor)) is None:
            return False
        return value in (0, 1) or (value < 0 and any(c < 0 for _, c in self.monomials(poly)))

    def _times(self, a: Coefficient, b: Coefficient) -> Coefficient | None:
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        result = exact(a * Fraction(b))
        if not self.may_cancel and measure(result) < max(measure(a), measure(b)):
            return None
        return result

    def _joined(self, a: Monomial, b: Monomial, sizes_cancel: bool = False) -> Monomial | None:
        """The product of two monomials, sums of theirs kept apart."""
        # sum_k1 x * y[k] is not sum_k1 (x * y[k]): no target of a search contains it.
        if any(axis in self.current(b) for axis, _ in a.masks):
            return None
        if any(axis in self.current(a) for axis, _ in b.masks):
            return None
        others = self.heads.apart(a, b)
        if not self.may_cancel and self._cancels(a.factors, others, sizes_cancel):
            return None
        return self.heads.canonical((*a.factors, *others), dict(a.masks + b.masks))

    def _cancels(self, a: Sequence[Factor], b: Sequence[Factor], sizes_cancel: bool) -> bool:
        powers = {(head, slots): exponent for head, slots, exponent in a}
        for head, slots, exponent in b:
            other = powers.get((head, slots))
            if other is not None and (exponent > 0) != (other > 0):
                if not (sizes_cancel and isinstance(self.heads[head], Size)):
                    return True
        return False

    # Parentheses.

    def _stays_factored(self, a: Poly, b: Poly) -> bool:
        count_a, count_b = len(self.monomials(a)), len(self.monomials(b))
        if count_a > 1 and count_b > 1:
            return count_a * count_b > self.expansion_limit
        if count_a > 1:
            return self.is_factored(b)
        return count_b > 1 and self.is_factored(a)

    def _factored_product(self, a: Poly, b: Poly) -> Poly | None:
        if self.is_partial(a) or self.is_partial(b):
            return None
        left, right = self.as_factors(a), self.as_factors(b)
        if left is None or right is None:
            return None
        monomial, coefficient = self._joined(left[0], right[0]), self._times(left[1], right[1])
        if monomial is None or coefficient is None:
            return None
        total: dict[Monomial, Coefficient] = {}
        collected = self.collect(total, monomial, coefficient)
        return self.intern(total) if collected else None

    def as_factors(self, poly: Poly) -> tuple[Monomial, Coefficient] | None:
        """
        A value as one monomial: its only one, or its content times a parenthesis.

        None where it is zero, or where the content cancels.
        """
        terms = self.monomials(poly)
        if not terms:
            return None
        if len(terms) == 1:
            return terms[0]
        coefficient, content, rest = self.primitive(poly)
        parenthesis = self.heads.factor(Parenthesis(rest, self.axes(rest)))
        if not self.may_cancel and self._cancels(content, (parenthesis,), sizes_cancel=False):
            return None
        return self.heads.canonical((*content, parenthesis), {}), coefficient

    def primitive(self, poly: Poly) -> tuple[Coefficient, tuple[Factor, ...], Poly]:
        """
        A sum of several terms as coefficient, common factors and the rest.

        In the search's variant the coefficient is 1: taking it out would need
        constants that the program does not have to build the rest.
        """
        terms = self.monomials(poly)
        outside = [
            {(f.head, f.slots): f.exponent for f in m.factors if not any(f.slots)} for m, _ in terms
        ]
        common = outside[0]
        for powers in outside[1:]:
            common = {
                k: min(e, powers[k], key=abs)
                for k, e in common.items()
                if k in powers and (e > 0) == (powers[k] > 0)
            }
        content = tuple(Factor(head, slots, e) for (head, slots), e in common.items())
        lead = max(terms, key=lambda t: (len(t[0].factors), t))[1] if self.cancelling else 1
        inverse = [Factor(f.head, f.slots, -f.exponent) for f in content]
        rest = {
            self.heads.canonical((*m.factors, *inverse), {}): exact(Fraction(c) / lead)
            for m, c in terms
        }
        return lead, content, self.representative(self.intern(rest))

    def representative(self, poly: Poly) -> Poly:
        """The first value seen that is equal to this one; this one itself in exact variants."""
        return poly if self._fingerprints is None else self._fingerprints.representative(poly)

    # Quotients.

    def inverse(self, a: Poly | None) -> Poly | None:
        """1 / a; None for zero and for values that are bound in part."""
        if a is None:
            return None
        key = ("inverse", a)
        if key not in self._memo:
            self._memo[key] = self._computed_inverse(a)
        return self._memo[key]

    def _computed_inverse(self, a: Poly) -> Poly | None:
        terms = self.monomials(a)
        if not terms or self.is_partial(a):
            return None
        if len(terms) != 1:
            coefficient, outside, rest = self.primitive(a)
            sums = [rest]
        else:
            ((monomial, coefficient),) = terms
            outside, groups = self.heads.components(monomial.factors)
            sums = [self.intern({self.heads.canonical(group, {}): 1}) for group in groups]
        if not self.may_cancel and any(f.exponent < 0 for f in outside):
            return None  # 1 / (1 / x) would lead back to x.
        factors = [Factor(f.head, f.slots, -f.exponent) for f in outside]
        for poly in sums:
            argument = self.representative(poly)
            factors.append(self.heads.factor(Parenthesis(argument, self.axes(argument)), -1))
        total: dict[Monomial, Coefficient] = {}
        scale = exact(Fraction(1) / coefficient)
        collected = self.collect(total, self.heads.canonical(factors, {}), scale)
        return self.intern(total) if collected else None

    def div(self, a: Poly | None, b: Poly | None) -> Poly | None:
        """The quotient."""
        return self.mul(a, self.inverse(b))

    def scale(self, a: Poly | None, factor: float | Fraction) -> Poly | None:
        """The product with a number."""
        return None if a is None else self.mul(a, self.constant(factor))

    def power(self, a: Poly | None, exponent: int) -> Poly | None:
        """A whole power, as a product; None beyond `MOST_POWERS` for sums."""
        if a is None or exponent == 0:
            return None if a is None else self.one
        if exponent < 0:
            return self.inverse(self.power(a, -exponent))
        if exponent > MOST_POWERS:
            return None
        return reduce(self.mul, [a] * (exponent - 1), a)

    # Sums over axes.

    def bind(self, a: Poly | None, axis: str, bits: int) -> Poly | None:
        """The sum over some bits of an axis, which must be free in every term."""
        return self.bind_one_of(a, (axis,), bits)

    def bind_one_of(self, a: Poly | None, axes: tuple[str, ...], bits: int) -> Poly | None:
        """
        The sum over the same bits of several axes, of which each term must have exactly one.

        With the axes of a loop and its bits this is what an accumulator does.
        """
        if a is None:
            return None
        key = ("bind", a, axes, bits)
        if key not in self._memo:
            self._memo[key] = self._bound(a, axes, bits)
        return self._memo[key]

    def _bound(self, a: Poly, axes: tuple[str, ...], bits: int) -> Poly | None:
        if a in self.partial_maxima:
            return None
        total: dict[Monomial, Coefficient] = {}
        for monomial, coefficient in self.monomials(a):
            held = [axis for axis in axes if axis in self.current(monomial)]
            if len(held) == 1:
                summed = self._bound_monomial(monomial, held[0], bits)
            elif not held and len(axes) == 1 and self._size_algebra and bits == FULL:
                size = Monomial((self.heads.factor(Size(axes[0])),), ())
                summed = self._joined(monomial, size, sizes_cancel=True)
            else:
                return None
            if summed is None or not self.collect(total, summed, coefficient):
                return None
        return self.intern(total)

    def _bound_monomial(self, monomial: Monomial, axis: str, bits: int) -> Monomial | None:
        masks = dict(monomial.masks)
        old = masks.pop(axis, 0)
        if old & bits:
            return None
        if old | bits != FULL:
            masks[axis] = old | bits
            return Monomial(monomial.factors, tuple(sorted(masks.items())))
        taken = self.heads.bound(monomial.factors).get(axis, {0})
        names = {(axis, 0): max(taken) + 1}
        return self.heads.canonical((self.heads.renamed(f, names) for f in monomial.factors), masks)
