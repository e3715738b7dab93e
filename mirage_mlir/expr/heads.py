"""
What a factor of a monomial can be: the heads of atoms, and the bits of an axis.

An axis (a class of tensor dimensions that must have equal indices) is summed piece by piece: in
a tile, over the loop, over the grid. Its index is therefore seen as six *bits* (a mixed-radix
number whose digits are named, not sized), and a sum binds some of them. Sizes appear nowhere, so
that one proof holds for every tiling, and `sum(i, sum(j, x)) = sum(i * j, x)` of the paper holds by
construction: whatever the order, all bits bound is the whole sum.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NewType, TypeAlias

TILE = 0b000101
"""The part of an axis that one tile holds; two bits, for a tile of a tile."""
LOOP = 0b000010
"""The part that the loop of a thread block walks."""
GRID = 0b111000
"""The part that the blocks of a grid share out."""
LOOP_OF_PARTIAL = 0b010000
"""Within `GRID`: what the loop of a second kernel walks when it reduces the partial results."""
FULL = 0b111111
"""The whole axis."""

Poly = NewType("Poly", int)
"""A value: the id of an interned polynomial. Equal ids are equal values."""

Coefficient: TypeAlias = int | Fraction
"""An exact rational number; integers are always `int` (see `coefficients.exact`)."""

Exponent: TypeAlias = int | Fraction
"""Whole for every head but exp, whose rational powers are `exp(c * x) = exp(x)^c`."""

Masks: TypeAlias = tuple[tuple[str, int], ...]
"""Axis and bound bits, sorted by axis; axes without bound bits are left out."""


def within(masks: Masks, bound: Masks) -> bool:
    """Whether the bits that some masks bind are all bound by others."""
    others = dict(bound)
    return all(bits & ~others.get(axis, 0) == 0 for axis, bits in masks)


@dataclass(frozen=True, slots=True)
class Input:
    """An input tensor."""

    name: str
    axes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Size:
    """The number of elements of an axis, as a formal constant."""

    axis: str
    axes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Function:
    """An elementwise function of a value: exp, sqrt, sigmoid, or any name with its parameters."""

    name: str
    argument: Poly
    axes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Parenthesis:
    """
    A polynomial as one factor: `1 / (x + y)`, or a product of sums left unexpanded.

    A polynomial of one term occurs with negative exponents only: `1 / sum(x)`.
    """

    polynomial: Poly
    axes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Maximum:
    """
    The greatest of some values, each first reduced by a maximum over the bits named with it.

    A value whose axis is bound in part still has that axis.
    """

    terms: tuple[tuple[Poly, Masks], ...]
    axes: tuple[str, ...]

    @property
    def partial(self) -> Mapping[str, int]:
        """Axes that are bound in part, with their bound bits; another term may lack them whole."""
        return {
            axis: bits
            for _, masks in self.terms
            for axis, bits in masks
            if axis in self.axes and bits != FULL
        }


Head: TypeAlias = Input | Size | Function | Parenthesis | Maximum
