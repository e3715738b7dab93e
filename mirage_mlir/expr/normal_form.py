"""
Values of tensors in normal form: the entry to the algebra.

    nf = NormalForm()
    with nf.lowering():
        x, w = nf.input("x", ["i", "k"]), nf.input("w", ["k", "j"])
        target = nf.bind(nf.mul(x, w), "k", FULL)

`ring.py` has sums, products, quotients and sums over axes, `functions.py` exp, sqrt and the others;
here maxima are added. Of a maximum only the laws of a lattice are used (associative, commutative,
idempotent, in any order over any axes), not those of numbers
(`max(x + c, y + c) = max(x, y) + c`): they are what verification over finite fields can check.
"""

from collections.abc import Callable

from mirage_mlir.expr.functions import Functions
from mirage_mlir.expr.heads import FULL, Masks, Maximum, Poly, within
from mirage_mlir.expr.printer import show

PROOF_EXPANSION = 256
"""Terms up to which a proof multiplies products out; the variance of LayerNorm needs 4."""


class NormalForm(Functions):
    """
    Values of tensors; two values are equal if their ids are.

    Every operation takes and returns ids and returns None where the value is not defined (a
    function of a partial sum, say) or, in the search's variant, where something cancels: a
    candidate that the search drops. None as an operand gives None. `Ring` describes the arguments
    and `lowering`, inside which a program to be optimised must be read.
    """

    def show(self, poly: Poly) -> str:
        """The value as text, for people."""
        return show(self, poly)

    def maximum(self, a: Poly | None, b: Poly | None) -> Poly | None:
        """The elementwise maximum; operands bound in part must be maxima over the same bits."""
        if a is None or b is None:
            return None
        if a > b:
            a, b = b, a
        key = ("maximum", a, b)
        if key not in self._memo:
            self._memo[key] = self._computed_maximum(a, b)
        return self._memo[key]

    def _computed_maximum(self, a: Poly, b: Poly) -> Poly | None:
        masks_a, masks_b = self.masks(a), self.masks(b)
        axes = set(self.axes(a)) & set(self.axes(b))
        if any(masks_a.get(axis) != masks_b.get(axis) for axis in axes):
            return None
        left, right = self._as_maximum(a), self._as_maximum(b)
        if left is None or right is None:
            return None
        terms = _without_absorbed({*left.terms, *right.terms})
        if not self.may_cancel and terms in (left.terms, right.terms):
            return None  # The maximum of x and x, or of x and max_k x.
        return self._of_terms(terms)

    def _as_maximum(self, poly: Poly) -> Maximum | None:
        """The value as a maximum of itself alone, if it is none; None for partial sums."""
        if (head := self.maximum_of(poly)) is not None:
            return head
        if self.is_partial(poly):
            return None
        argument = self.representative(poly)
        return Maximum(((argument, ()),), self.axes(argument))

    def _of_terms(self, terms: tuple[tuple[Poly, Masks], ...]) -> Poly:
        if len(terms) == 1 and not terms[0][1]:
            return terms[0][0]
        axes = {
            axis for poly, masks in terms for axis in self.axes(poly) if (axis, FULL) not in masks
        }
        maximum = Maximum(terms, tuple(sorted(axes)))
        poly = self.atom(maximum)
        if maximum.partial:
            self.partial_maxima.add(poly)
        return poly

    def bind_max(self, a: Poly | None, axis: str, bits: int) -> Poly | None:
        """
        The maximum over some bits of an axis.

        The maxima over the tile, the loop and the grid, in any order, are the whole maximum.
        While lowering, a value that lacks the axis is its own maximum.
        """
        if a is None:
            return None
        key = ("bind_max", a, axis, bits)
        if key not in self._memo:
            self._memo[key] = self._computed_bind_max(a, axis, bits)
        return self._memo[key]

    def _computed_bind_max(self, a: Poly, axis: str, bits: int) -> Poly | None:
        head = self._as_maximum(a)
        if head is None:
            return None
        if axis not in head.axes:
            return a if self.may_cancel else None
        if head.partial.get(axis, 0) & bits:
            return None
        terms = {
            (poly, _with(masks, axis, bits) if axis in self.axes(poly) else masks)
            for poly, masks in head.terms
        }
        return self._of_terms(_without_absorbed(terms))


def _without_absorbed(terms: set[tuple[Poly, Masks]]) -> tuple[tuple[Poly, Masks], ...]:
    """Sorted terms, without each of which another is a maximum over more."""
    return tuple(
        (poly, masks)
        for poly, masks in sorted(terms)
        if not any(
            other == poly and bound != masks and within(masks, bound) for other, bound in terms
        )
    )


def _with(masks: Masks, axis: str, bits: int) -> Masks:
    """Masks with more bits of an axis bound."""
    bound = dict(masks)
    bound[axis] = bound.get(axis, 0) | bits
    return tuple(sorted(bound.items()))


def equal(
    lhs: Callable[[NormalForm], Poly | None], rhs: Callable[[NormalForm], Poly | None]
) -> bool:
    """
    Whether two values are provably equal: the same normal form, exactly, with cancellation.

    Both are built by callables that get the normal form to build in, first with products multiplied
    out, then with products kept. False means that there is no proof, not that they differ.
    """
    for expansion_limit in (PROOF_EXPANSION, 1):
        nf = NormalForm(expansion_limit, size_algebra=True, cancelling=True)
        left = lhs(nf)
        if left is not None and left == rhs(nf):
            return True
    return False
