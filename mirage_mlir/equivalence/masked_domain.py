"""
Residues of numbers in whose place data selects -inf, as the masks of attention do.

Where a condition of data is a residue c, an element is a number, and a residue that is 0 where -inf
is selected and 1 elsewhere: `exp` is that of the number times this, which is a polynomial in c like
all that selects. Sums with numbers, positive multiples, maxima and selections are defined besides.
A maximum has random words of both, and is a number: where all of which it is taken is masked, a
softmax has no value. All else is refused (`maxima_over_nothing.checked`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.equivalence.conditions import picked
from mirage_mlir.equivalence.maxima_over_nothing import checked, numbers_of, with_lowest
from mirage_mlir.equivalence.residue_domain import ResidueDomain
from mirage_mlir.equivalence.residues import LEAF_MODULUS, Leaves, Residues, kept_of
from mirage_mlir.field.keyed import mix
from mirage_mlir.interpreters.domain import NotInterpretable
from mirage_mlir.operators.elementwise import FunctionName


class MaskedDomain(ResidueDomain):
    """A random interpretation of programs that may select -inf by data."""

    def add(self, x: Residues, y: Residues) -> Residues:
        return self._of_numbers(super().add, x, y)

    def subtract(self, x: Residues, y: Residues) -> Residues:
        return self._of_numbers(super().subtract, x, checked(y))

    def _of_numbers(
        self, operation: Callable[[Residues, Residues], Residues], x: Residues, y: Residues
    ) -> Residues:
        """A sum or a difference, which is -inf where one operand is."""
        if x.kept is None and y.kept is None:
            return operation(x, y)
        found = operation(_number(x), _number(y))
        return replace(found, kept=_spread(self.multiply(kept_of(x), kept_of(y)), found.shape))

    def scale(self, x: Residues, factor: Fraction) -> Residues:
        if x.kept is not None and factor <= 0:
            raise NotInterpretable("multiplies -inf that data selects")
        return replace(super().scale(_number(x), factor), kept=x.kept)

    def function(self, name: FunctionName, x: Residues) -> Residues:
        if x.kept is None or name != "exp":
            return super().function(name, x)
        return self.multiply(super().function(name, _number(x)), x.kept)

    def select(self, condition: Residues, x: Residues, y: Residues) -> Residues:
        may_mask = x.lowest or y.lowest or x.kept is not None or y.kept is not None
        if condition.exact is not None or not may_mask:
            return super().select(condition, x, y)
        without = np.isinf(x.p[0]), np.isinf(y.p[0])
        numbers = numbers_of(_number(x)), numbers_of(_number(y))
        number = super().select(condition, *numbers)
        # Of an element that is -inf for one value of the condition, the other one is the number.
        number = picked(without[0], numbers[1], picked(without[1], numbers[0], number))
        kept = (self._kept(each, at) for each, at in zip((x, y), without, strict=True))
        number = replace(number, kept=_spread(super().select(condition, *kept), number.shape))
        neither = without[0] & without[1]
        return with_lowest(number, neither) if neither.any() else number

    def _kept(self, x: Residues, without: NDArray[np.bool_]) -> Residues:
        """0 where data selects -inf, or where an element is -inf whatever data says."""
        return picked(without, self.constant(Fraction(0), len(x.shape) - 1), kept_of(x))

    def _leaves(self, x: Residues) -> Leaves:
        found = super()._leaves(x)
        if x.kept is None or x.leaves is not None:
            return found
        words = mix(found.words + self.words("kept", x.kept)) % LEAF_MODULUS
        return replace(found, words=np.where(np.isinf(x.p[0]), np.uint64(0), words))

    def _note(self, x: Residues, count: int) -> None:
        super()._note(x, count)
        if x.kept is not None:
            super()._note(x.kept, count)


def _number(x: Residues) -> Residues:
    """The element where it is not masked."""
    return x if x.kept is None else replace(x, kept=None)


def _spread(kept: Residues, shape: tuple[int, ...]) -> Residues:
    return kept.rearranged(lambda lane: np.broadcast_to(lane, shape))
