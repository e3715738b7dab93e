"""
Numbers modulo several primes at once: equal functions agree on them, different ones hardly ever.

A value has a residue modulo each prime p and, before an exponential, one modulo each q = (p - 1) /
2. `exp(x)` is w^(x mod q) mod p for a w of order q; this is a homomorphism, behind which residues
modulo q are lost. Functions without such algebra are random functions of the residues modulo all p.
NaN stands for a value that is undefined in a draw: a quotient by zero, and all that is computed
from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.field import lanes
from mirage_mlir.field.height import Height, of_constant
from mirage_mlir.field.lanes import Lane, canonical
from mirage_mlir.interpreters.domain import AnyArray, joined

LaneOperation = Callable[[Lane, Lane, int], Lane]
"""An operation on residues modulo one prime."""

Words = NDArray[np.uint64]

LOWEST = -np.inf
"""The maximum over nothing, in all lanes; only what is said below may be computed from it."""


LEAF_MODULUS = np.uint64((1 << 61) - 1)
"""A prime: a value that occurs less often than that keeps its word in a sum, however often."""

MOST_LEAVES = 1 << 60
"""Values that a maximum is taken of, each counted as often as it occurs."""

LOW = np.uint64(0xFFFFFFFF)


MAXIMUM = "max"
"""The name of the random function of leaves that a maximum is."""


@dataclass(frozen=True)
class Leaves:
    """The set of values of which a maximum is taken, as the sum of a random word for each."""

    words: Words
    """Sums modulo `LEAF_MODULUS`."""
    opposite: bool = False
    """Whether the value is the negative of the maximum: a minimum is that of negatives."""
    count: int = 1
    """How many values there are, at most."""

    def joined(self, other: Leaves) -> Leaves:
        """The union of two sets of values."""
        words = (self.words + other.words) % LEAF_MODULUS
        return Leaves(words, self.opposite, self.count + other.count)

    def negated(self) -> Leaves:
        """The set for the negated maximum of the same values."""
        return replace(self, opposite=not self.opposite)

    def reduced(self, axis: int) -> Leaves:
        """The values along an axis, which stays with size 1."""
        low = np.add.reduce(self.words & LOW, axis=axis, keepdims=True)
        high = np.add.reduce(self.words >> np.uint64(32), axis=axis, keepdims=True)
        # 2^32 high, below 2^92 here, by 2^61 = 1.
        wrapped = ((high << np.uint64(32)) & LEAF_MODULUS) + (high >> np.uint64(29))
        words = (wrapped + low % LEAF_MODULUS) % LEAF_MODULUS
        return Leaves(words, self.opposite, self.count * self.words.shape[axis])


@dataclass(frozen=True)
class Residues:
    """An array of numbers modulo several primes; all parts have one shape."""

    p: tuple[Lane, ...]
    q: tuple[Lane, ...] | None
    """What does not come from random functions; None behind an exponential."""
    height: Height
    shift: tuple[Lane, ...] | None = None
    """
    What is to be added to `q`: sums of results of random functions, multiplied by constants.

    Maxima that are subtracted before an exponential end here, so that what is left of its
    arguments can be compared.
    """
    factors: frozenset[Fraction] = frozenset()
    """Magnitudes of the constants that the terms of the shift are multiplied by."""
    terms: int = 0
    """How many terms the shift has."""
    divisors: Words | None = None
    """A sum of words that says what numerators are divided by; None: by nothing but constants."""
    leaves: Leaves | None = None
    """What it is the maximum of, if it is one."""
    lowest: bool = False
    """Whether some elements may be `LOWEST`."""
    mask: bool = False
    """Whether the elements stand for numbers that are 0 or 1, as comparisons of data are."""
    exact: NDArray[np.float64] | None = None
    """The whole numbers that the elements are, where these depend on no input."""
    kept: Residues | None = None
    """Numbers that are 0 where data selects -inf instead of the element, else 1 (`masked`)."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return self.p[0].shape

    @property
    def exponents(self) -> tuple[Lane, ...] | None:
        """The residues modulo q, shift included."""
        if self.q is None or self.shift is None:
            return self.q
        return tuple(q + s for q, s in zip(self.q, self.shift, strict=True))

    @property
    def undefined(self) -> NDArray[np.bool_]:
        """Where the value is undefined."""
        return np.logical_or.reduce([np.isnan(lane) for lane in self.p])

    def rearranged(self, change: Callable[[AnyArray], AnyArray]) -> Residues:
        """The elements moved."""

        def moved(lanes: tuple[Lane, ...] | None) -> tuple[Lane, ...] | None:
            return None if lanes is None else tuple(change(lane) for lane in lanes)

        return replace(
            self,
            p=tuple(change(lane) for lane in self.p),
            q=moved(self.q),
            shift=moved(self.shift),
            divisors=None if self.divisors is None else change(self.divisors),
            leaves=self.leaves and replace(self.leaves, words=change(self.leaves.words)),
            exact=None if self.exact is None else change(self.exact),
            kept=self.kept and self.kept.rearranged(change),
        )


def joined_lanes(
    parts: Sequence[tuple[Lane, ...] | None], shapes: Sequence[tuple[int, ...]], axis: int
) -> tuple[Lane, ...] | None:
    """The lanes one after the other, zeros where there are none; None if no value has any."""
    count = max((len(part) for part in parts if part is not None), default=0)
    if not count:
        return None
    filled = [
        (np.zeros(shape),) * count if part is None else part
        for part, shape in zip(parts, shapes, strict=True)
    ]
    return tuple(joined(lane, axis) for lane in zip(*filled, strict=True))


def each_lane(
    operation: LaneOperation,
    x: tuple[Lane, ...],
    y: tuple[Lane, ...],
    moduli: Sequence[int],
) -> tuple[Lane, ...]:
    """Applies an operation modulo each prime."""
    return tuple(operation(*each) for each in zip(x, y, moduli, strict=True))


def totals(parts: Sequence[Lane], moduli: Sequence[int], axis: int) -> tuple[Lane, ...]:
    """Sums along an axis modulo each prime."""
    return tuple(lanes.total(lane, axis, m) for lane, m in zip(parts, moduli, strict=True))


def powers(parts: Sequence[Lane], moduli: Sequence[int], exponent: int) -> tuple[Lane, ...]:
    """Whole powers modulo each prime."""
    pairs = zip(parts, moduli, strict=True)
    return tuple(lanes.power(lanes.reduced(lane, m), exponent, m) for lane, m in pairs)


def inverses(parts: Sequence[Lane], moduli: Sequence[int]) -> tuple[Lane, ...]:
    """Inverses modulo each prime; NaN where there is none."""
    pairs = zip(parts, moduli, strict=True)
    return tuple(lanes.inverse(lanes.reduced(lane, m), m) for lane, m in pairs)


def first_difference(
    left: Residues, right: Residues, moduli: Sequence[int]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The first place where two arrays differ and both are defined."""
    defined = ~(left.undefined | right.undefined)
    unequal = [
        canonical(a, modulus) != canonical(b, modulus)
        for a, b, modulus in zip(left.p, right.p, moduli, strict=True)
    ]
    if left.kept is not None or right.kept is not None:
        unequal.append(first_difference(kept_of(left), kept_of(right), moduli)[0])
    return defined & np.logical_or.reduce(unequal), defined


def kept_of(x: Residues) -> Residues:
    """0 where data selects -inf instead of an element, else 1."""
    if x.kept is not None:
        return x.kept
    ones = tuple(np.ones(x.shape) for _ in x.p)
    return Residues(
        ones, ones[:1] * len(x.q) if x.q is not None else None, of_constant(Fraction(1))
    )
