"""
Values told apart by what they are at random points of a finite field.

Arguments of atoms (`f(P)`, `1 / P`, products left unexpanded) should be identified whenever they
are equal, not only when their polynomials are. Two values with the same fingerprint are taken for
equal; by Schwartz and Zippel this errs with a probability of about (degree / 2^31)^3 for a scalar,
less with every axis, and only for a candidate, which is verified afterwards by other means.

Three independent samples are computed at once along a leading array axis. An axis of a value is
three points with random weights; its formal size is the sum of the weights. A number of elements
such as 3 would merge what is equal for this size alone (2 / 3 = 1 - 1 / 3). Functions are keyed
random functions, a maximum one of the set of its elements (the greatest in some order would often
be the first of them). exp is a random square, which has all odd and even roots: the squares modulo
p = 2q + 1 have the odd prime order q, and powers of exp are taken modulo q.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from hashlib import blake2b
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from mirage_mlir.expr.heads import (
    Coefficient,
    Exponent,
    Function,
    Head,
    Input,
    Masks,
    Maximum,
    Parenthesis,
    Poly,
    Size,
)
from mirage_mlir.expr.monomial import Factor, Monomial

if TYPE_CHECKING:
    from mirage_mlir.expr.store import Store

Array: TypeAlias = npt.NDArray[np.uint64]

MODULUS = 2147481143
"""Below 2^31, so that products fit 64 bits; (p - 1) / 2 = 1073740571 is prime."""
SQUARES = (MODULUS - 1) // 2
SAMPLES = 3
POINTS = 3
MOST_VARIABLES = 9
"""Axes and bound variables of one monomial, 3^10 numbers; values with more are not identified."""

_P = np.uint64(MODULUS)


def _power(base: Array, exponent: int) -> Array:
    """`base ** exponent` modulo p."""
    result = np.ones_like(base)
    while exponent:
        if exponent & 1:
            result = result * base % _P
        base = base * base % _P
        exponent >>= 1
    return result


def _key(text: str) -> int:
    """64 bits of a text, the same in every process."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def _random_function(key: int, values: Array) -> Array:
    """A function drawn at random by its key: splitmix64 of the value."""
    z = values * np.uint64(0x9E3779B97F4A7C15) + np.uint64(key)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


class Fingerprints:
    """The fingerprints of the values of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._values: dict[int, Array] = {}
        self._weights: dict[str, Array] = {}
        self._first: dict[tuple[tuple[str, ...], bytes], Poly] = {}
        self._representatives: dict[Poly, Poly] = {}

    def representative(self, poly: Poly) -> Poly:
        """The first value seen with this one's axes and fingerprint."""
        if (known := self._representatives.get(poly)) is None:
            key = self._fingerprint(poly)
            known = poly if key is None else self._first.setdefault(key, poly)
            self._representatives[poly] = known
        return known

    def _fingerprint(self, poly: Poly) -> tuple[tuple[str, ...], bytes] | None:
        axes = self._store.axes(poly)
        try:
            values = self._polynomial(poly, axes)
        except (ZeroDivisionError, OverflowError):
            return None
        full = np.broadcast_to(values, (SAMPLES, *(POINTS for _ in axes)))
        return axes, full.tobytes()

    def _draw(self, name: str, shape: Sequence[int]) -> Array:
        generator = np.random.default_rng(_key(name))
        return generator.integers(1, MODULUS, (SAMPLES, *shape), dtype=np.uint64)

    def _axis_weights(self, axis: str) -> Array:
        if (known := self._weights.get(axis)) is None:
            known = self._weights[axis] = self._draw(f"axis {axis}", (POINTS,))
        return known

    def _head(self, head: int) -> Array:
        """The values of a head: a sample axis, then the head's axes."""
        if (known := self._values.get(head)) is None:
            known = self._values[head] = self._head_values(self._store.heads[head])
        return known

    def _head_values(self, head: Head) -> Array:
        match head:
            case Input(name, axes):
                return self._draw(f"input {name} {axes}", [POINTS] * len(axes))
            case Size(axis):
                return self._axis_weights(axis).sum(axis=1) % _P
            case Function(name, argument, axes):
                drawn = _random_function(_key(f"function {name}"), self._polynomial(argument, axes))
                drawn = drawn % (_P - np.uint64(1)) + np.uint64(1)
                return drawn * drawn % _P if name == "exp" else drawn
            case Parenthesis(polynomial, axes):
                return self._polynomial(polynomial, axes)
            case Maximum(terms, axes):
                elements = (self._elements(poly, masks, axes) for poly, masks in terms)
                return _random_function(_key("maximum"), reduce(lambda a, b: a + b, elements)) % _P

    def _elements(self, poly: Poly, masks: Masks, axes: tuple[str, ...]) -> Array:
        """The set of values that a maximum is taken of, as a sum of random functions of them."""
        own = self._store.axes(poly)
        values = np.broadcast_to(self._polynomial(poly, own), (SAMPLES, *(POINTS for _ in own)))
        bound = dict(masks)
        summed = tuple(place for place, axis in enumerate(own, start=1) if axis in bound)
        shape = [POINTS if axis in own and axis not in bound else 1 for axis in axes]
        drawn = _random_function(_key("element"), values).sum(axis=summed, dtype=np.uint64)
        return drawn.reshape(SAMPLES, *shape)

    def _polynomial(self, poly: Poly, axes: tuple[str, ...]) -> Array:
        """The values of a polynomial, with one array axis (maybe of size 1) for each of `axes`."""
        terms = (self._term(m, c, axes) for m, c in self._store.monomials(poly))
        zero = np.zeros((SAMPLES, *(1 for _ in axes)), np.uint64)
        return reduce(lambda total, term: (total + term) % _P, terms, zero)

    def _term(self, monomial: Monomial, coefficient: Coefficient, axes: tuple[str, ...]) -> Array:
        bound = self._store.heads.bound(monomial.factors)
        summed = [(axis, v) for axis in sorted(bound) for v in sorted(bound[axis])]
        variables = [*((axis, 0) for axis in axes), *summed]
        if len(variables) > MOST_VARIABLES:
            raise OverflowError(f"a term of {len(variables)} variables")
        places = {variable: place for place, variable in enumerate(variables, start=1)}
        value = np.full((SAMPLES, *(1 for _ in variables)), _residue(coefficient), np.uint64)
        for factor in monomial.factors:
            value = value * self._factor(factor, places) % _P
        for axis, _ in reversed(summed):
            weights = self._axis_weights(axis)
            weights = weights.reshape(SAMPLES, *(1 for _ in value.shape[2:]), POINTS)
            value = (value * weights % _P).sum(axis=-1) % _P
        return value

    def _factor(self, factor: Factor, places: Mapping[tuple[str, int], int]) -> Array:
        """A factor's values, its axes at the places of the variables that they read."""
        values = _root_or_power(self._head(factor.head), factor.exponent)
        at = [places[variable] for variable in self._store.heads.variables(factor)]
        order = sorted(range(len(at)), key=at.__getitem__)
        shape = [1] * (len(places) + 1)
        shape[0] = SAMPLES
        moved = np.transpose(values, (0, *(place + 1 for place in order)))
        for size, place in zip(moved.shape[1:], sorted(at), strict=True):
            shape[place] = size
        return moved.reshape(shape)


def _residue(value: Coefficient) -> int:
    return value.numerator * pow(value.denominator, -1, MODULUS) % MODULUS


def _root_or_power(values: Array, exponent: Exponent) -> Array:
    """A power modulo p; fractions need values that are squares."""
    if exponent < 0 and not values.all():
        raise ZeroDivisionError
    if isinstance(exponent, int):
        return _power(values, exponent % (MODULUS - 1))
    inverse = pow(exponent.denominator, -1, SQUARES)
    return _power(values, exponent.numerator * inverse % SQUARES)
