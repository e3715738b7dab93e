"""Arithmetic on residues: the interpretation of programs in random tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from mirage_mlir.equivalence.divisor_words import (
    common_divisors,
    divisors_of,
    spread_words,
    summed_divisors,
)
from mirage_mlir.equivalence.maxima_over_nothing import checked, chosen, numbers_of, with_lowest
from mirage_mlir.equivalence.random_functions import RandomFunctions
from mirage_mlir.equivalence.residues import (
    LEAF_MODULUS,
    LOWEST,
    MAXIMUM,
    MOST_LEAVES,
    Leaves,
    Residues,
    Words,
    joined_lanes,
)
from mirage_mlir.field import lanes
from mirage_mlir.field.height import Height, exponential, of_constant, unknown
from mirage_mlir.field.keyed import keyed_words, mix
from mirage_mlir.field.lanes import Lane, Powers, reduced
from mirage_mlir.field.rational import simplest_rational
from mirage_mlir.interpreters.domain import (
    AnyArray,
    ElementType,
    NotInterpretable,
    joined,
)
from mirage_mlir.operators.elementwise import FunctionName

Binary = Callable[[Lane, Lane, int], Lane]


class UnluckyPrime(Exception):
    """A constant has no residue: another prime has to be drawn."""


class ResidueDomain(RandomFunctions):
    """
    One random interpretation of programs.

    Args:
        moduli: the primes p.
        seed: of the root of unity of each lane, and of all random functions.
        exponents: whether residues modulo q are computed, which only exponentials need.
        expand_sigmoid: whether sigmoid(x) is 1 / (1 + exp(-x)), as lowered code says.
    """

    def __init__(
        self,
        moduli: Sequence[int],
        seed: Sequence[int],
        *,
        exponents: bool,
        expand_sigmoid: bool = False,
    ):
        random = np.random.default_rng(seed)
        super().__init__(moduli, random, exponents=exponents)
        self.expand_sigmoid = expand_sigmoid
        # The square of any number but 0, 1 and -1 has order q, since q is prime.
        bases = [int(random.integers(2, p - 1)) ** 2 % p for p in self.moduli]
        self._powers = (
            [Powers(*each) for each in zip(bases, self.moduli, self.orders, strict=True)]
            if exponents
            else []
        )
        self.keyed: dict[str, None] = {}
        """Names of the random functions that were applied, in order."""
        self.arguments = 0
        """To how many arguments they were applied."""
        self.functions = 0
        """How many results random functions but for maxima have."""
        self.maxima = 0
        """How many maxima (and minima) were taken."""
        self.argument = Height()
        """The height of all of these."""
        self.exponent_words: list[Words] = []
        """Words of arguments of exponentials, without shifts; the first one is that of zero."""
        if exponents:
            zero = [np.zeros(1) for _ in self.orders]
            self.exponent_words.append(self.words_of("exponent", zero, self.orders))
        self.exponent = Height()
        """The height of these."""
        self.shift_factors: frozenset[Fraction] = frozenset()
        """What shifts in arguments of exponentials are multiplied by."""

    # Moving elements

    def shape(self, x: Residues) -> tuple[int, ...]:
        return x.shape

    def rearrange(self, x: Residues, change: Callable[[AnyArray], AnyArray]) -> Residues:
        return x.rearranged(change)

    def concatenate(self, parts: Sequence[Residues], axis: int) -> Residues:
        shapes = [part.shape for part in parts]
        height = parts[0].height
        for part in parts[1:]:
            height = height.larger(part.height)
        leaves = None
        if {part.leaves.opposite for part in parts if part.leaves is not None} == {False}:
            each = [self._leaves(part) for part in parts]
            words = joined([leaf.words for leaf in each], axis)
            leaves = Leaves(words, count=max(leaf.count for leaf in each))
        divisors = None
        if any(part.divisors is not None for part in parts):
            divisors = joined([divisors_of(part) for part in parts], axis)
        p = joined_lanes([part.p for part in parts], shapes, axis)
        assert p is not None
        no_exponents = any(part.q is None for part in parts)
        return Residues(
            p,
            None if no_exponents else joined_lanes([part.q for part in parts], shapes, axis),
            height,
            None if no_exponents else joined_lanes([part.shift for part in parts], shapes, axis),
            frozenset[Fraction]().union(*(part.factors for part in parts)),
            max(part.terms for part in parts),
            divisors,
            leaves,
            any(part.lowest for part in parts),
        )

    # Sources

    def constant(self, value: Fraction, rank: int) -> Residues:
        shape = (1,) * (rank + 1)
        try:
            p = tuple(np.full(shape, lanes.constant(value, m)) for m in self.moduli)
            q = tuple(np.full(shape, lanes.constant(value, m)) for m in self.orders)
        except ZeroDivisionError as error:
            raise UnluckyPrime(str(error)) from error
        return Residues(p, q if self.exponents else None, of_constant(value))

    def real(self, value: float) -> Fraction:
        return simplest_rational(value)

    def lowest(self, rank: int) -> Residues:
        full = tuple(np.full((1,) * (rank + 1), LOWEST) for _ in self.moduli)
        return Residues(full, full if self.exponents else None, Height(), lowest=True)

    # Arithmetic

    def add(self, x: Residues, y: Residues) -> Residues:
        return self._sum(x, y, lanes.add)

    def subtract(self, x: Residues, y: Residues) -> Residues:
        return self._sum(x, checked(y), lanes.subtract)

    def _sum(self, x: Residues, y: Residues, operation: Binary) -> Residues:
        if x.lowest or y.lowest:
            nothing = np.isinf(x.p[0]) | np.isinf(y.p[0])
            return with_lowest(self._sum(numbers_of(x), numbers_of(y), operation), nothing)
        divisors, alike = common_divisors(x, y)
        p = self._each(operation, x.p, y.p, self.moduli)
        height = x.height.add(y.height, alike=alike)
        if x.q is None or y.q is None:
            return Residues(p, None, height, divisors=spread_words(divisors, p))
        shift, terms = None, 0
        if x.shift is not None or y.shift is not None:
            zeros = tuple(np.zeros((1,) * len(x.shape)) for _ in self.moduli)
            shift = self._each(operation, x.shift or zeros, y.shift or zeros, self.orders)
            shift = tuple(np.broadcast_to(lane, p[0].shape) for lane in shift)
            terms = x.terms + y.terms
        q = self._each(operation, x.q, y.q, self.orders)
        factors = x.factors | y.factors
        return Residues(p, q, height, shift, factors, terms, spread_words(divisors, p))

    def multiply(self, x: Residues, y: Residues) -> Residues:
        x, y = checked(x), checked(y)
        p = self._each(lanes.multiply, x.p, y.p, self.moduli)
        q = self._exponents(lanes.multiply, x, y)
        words = None
        if x.divisors is not None or y.divisors is not None:
            words = divisors_of(x) + divisors_of(y)
        return Residues(p, q, x.height.mul(y.height), divisors=spread_words(words, p))

    def divide(self, x: Residues, y: Residues) -> Residues:
        return self.multiply(x, self._inverse(y))

    def scale(self, x: Residues, factor: Fraction) -> Residues:
        if x.lowest:
            if factor <= 0:
                raise NotInterpretable("multiplies a maximum over no element")
            return with_lowest(self.scale(numbers_of(x), factor), np.isinf(x.p[0]))
        constant = self.constant(factor, len(x.shape) - 1)
        result = self.multiply(replace(x, shift=None), constant)
        if factor == -1 and x.leaves is not None:
            result = replace(result, leaves=x.leaves.negated())
        if x.shift is None or constant.q is None:
            return result
        shift = self._each(lanes.multiply, x.shift, constant.q, self.orders)
        factors = frozenset(each * abs(factor) for each in x.factors)
        return replace(result, shift=shift, factors=factors, terms=x.terms)

    def power(self, x: Residues, exponent: Fraction) -> Residues:
        x = checked(x)
        if exponent < 0:
            return self._inverse(self.power(x, -exponent))
        if exponent.denominator == 2:
            return self.power(self._random("sqrt", x), 2 * exponent)
        if exponent.denominator != 1:
            return self._random(f"power {exponent}", x)
        n = exponent.numerator
        found = tuple(lanes.power(lane, n, m) for lane, m in zip(x.p, self.moduli, strict=True))
        q = x.exponents and tuple(
            lanes.power(reduced(lane, m), n, m)
            for lane, m in zip(x.exponents, self.orders, strict=True)
        )
        words = None if x.divisors is None else x.divisors * np.uint64(n % (1 << 64))
        return Residues(found, q, x.height.power(n), divisors=words)

    def total(self, x: Residues, axis: int) -> Residues:
        x = checked(x)
        count = x.shape[axis]

        def sums(parts: tuple[Lane, ...], moduli: Sequence[int]) -> tuple[Lane, ...]:
            pairs = zip(parts, moduli, strict=True)
            return tuple(lanes.total(lane, axis, modulus) for lane, modulus in pairs)

        words, different = summed_divisors(x, axis)
        return Residues(
            sums(x.p, self.moduli),
            x.q and sums(x.q, self.orders),
            x.height.spread(different).total(count),
            x.shift and sums(x.shift, self.orders),
            x.factors,
            x.terms * count,
            words,
        )

    def matmul(self, x: Residues, y: Residues) -> Residues:
        x, y = checked(x), checked(y)
        p = self._each(lanes.matmul, x.p, y.p, self.moduli)
        q = self._exponents(lanes.matmul, x, y)
        left, many = summed_divisors(x, x.p[0].ndim - 1)
        right, others = summed_divisors(y, y.p[0].ndim - 2)
        words = left if right is None else right if left is None else left + right
        height = x.height.spread(many).mul(y.height.spread(others)).total(x.shape[-1])
        return Residues(p, q, height, divisors=spread_words(words, p))

    def rounded(self, x: Residues, element_type: ElementType) -> Residues:
        return x

    def _each(
        self,
        operation: Binary,
        x: tuple[Lane, ...],
        y: tuple[Lane, ...],
        moduli: Sequence[int],
    ) -> tuple[Lane, ...]:
        return tuple(operation(*each) for each in zip(x, y, moduli, strict=True))

    def _exponents(self, operation: Binary, x: Residues, y: Residues) -> tuple[Lane, ...] | None:
        """The residues modulo q of a product."""
        if x.exponents is None or y.exponents is None:
            return None
        pairs = zip(x.exponents, y.exponents, self.orders, strict=True)
        return tuple(operation(reduced(a, m), reduced(b, m), m) for a, b, m in pairs)

    def _inverse(self, x: Residues) -> Residues:
        x = checked(x)
        p = tuple(lanes.inverse(lane, m) for lane, m in zip(x.p, self.moduli, strict=True))
        q = x.exponents and tuple(
            lanes.inverse(reduced(lane, m), m)
            for lane, m in zip(x.exponents, self.orders, strict=True)
        )
        # The numerator of x, which its value and its divisor determine.
        words = self.words("divisor", x)
        words = words if x.divisors is None else mix(words ^ x.divisors)
        return Residues(p, q, x.height.inverse(), divisors=words)

    # Maxima

    def minimum(self, x: Residues, y: Residues) -> Residues:
        opposite = Fraction(-1)
        return self.scale(self.maximum(self.scale(x, opposite), self.scale(y, opposite)), opposite)

    def maximum(self, x: Residues, y: Residues) -> Residues:
        leaves = self._leaves(x).joined(self._leaves(y))
        undefined = x.undefined | y.undefined
        self._note(x, leaves.words.size)
        self._note(y, leaves.words.size)
        found = self._of_leaves(leaves, undefined, x.height.calls + y.height.calls + 2)
        if not (x.lowest or y.lowest):
            return found
        # The maximum of a number and of nothing is the number.
        empty = np.isinf(x.p[0]), np.isinf(y.p[0])
        found = chosen(empty[0] & ~empty[1], y, found)
        found = chosen(empty[1] & ~empty[0], x, found)
        return with_lowest(found, empty[0] & empty[1])

    def largest(self, x: Residues, axis: int) -> Residues:
        count = x.shape[axis]
        if count == 1:
            return x
        leaves = self._leaves(x)
        undefined = np.logical_or.reduce(x.undefined, axis=axis, keepdims=True)
        self._note(x, leaves.words.size)
        calls = (x.height.calls + 1) * count
        found = self._of_leaves(leaves.reduced(axis), undefined, calls)
        if not x.lowest:
            return found
        numbers = ~np.isinf(x.p[0])
        present = numbers.sum(axis=axis, keepdims=True)
        only = np.argmax(numbers, axis=axis, keepdims=True)
        single = x.rearranged(lambda array: np.take_along_axis(array, only, axis))
        return with_lowest(chosen(present == 1, single, found), present == 0)

    def _leaves(self, x: Residues) -> Leaves:
        """What x is the maximum of: of itself, where it is none."""
        if x.leaves is not None and not x.leaves.opposite:
            return x.leaves
        words = self.words("leaf", x) % LEAF_MODULUS
        words = np.where(np.isinf(x.p[0]), np.uint64(0), words) if x.lowest else words
        return Leaves(words)

    def _of_leaves(self, leaves: Leaves, undefined: AnyArray, calls: int) -> Residues:
        """
        The maximum of leaves.

        Raises:
            NotInterpretable: so many are no longer told apart.
        """
        if leaves.count > MOST_LEAVES:
            raise NotInterpretable(f"takes a maximum of {leaves.count} values")
        self.keyed[MAXIMUM] = None
        self.maxima += leaves.words.size
        words = keyed_words(MAXIMUM, self._key, [leaves.words])
        value = self.drawn(words, undefined)
        return replace(value, height=unknown(calls), leaves=leaves)

    # Functions

    def function(self, name: FunctionName, x: Residues) -> Residues:
        if x.lowest and name == "exp":
            nothing = np.isinf(x.p[0])
            found = self._exp(numbers_of(x))
            p = tuple(np.where(nothing, 0.0, lane) for lane in found.p)
            return replace(found, p=p)
        x = checked(x)
        match name:
            case "exp":
                return self._exp(x)
            case "rsqrt":
                return self._inverse(self._random("sqrt", x))
            case "sigmoid" if self.expand_sigmoid:
                return self._sigmoid(x)
            case _:
                return self._random(name, x)

    def _exp(self, x: Residues) -> Residues:
        if x.exponents is None or x.q is None:
            # A second exp on a path: random, so that exp(a + b) = exp(a) exp(b) is not known.
            return self._random("exp", x)
        words = self.words_of("exponent", x.q, self.orders)
        self.exponent_words.append(np.unique(words))
        self.exponent = self.exponent.larger(x.height)
        self.shift_factors |= x.factors
        pairs = zip(self._powers, x.exponents, self.orders, strict=True)
        p = tuple(powers.at(reduced(lane, order)) for powers, lane, order in pairs)
        return Residues(p, None, exponential(x.height.calls, x.terms))

    def _sigmoid(self, x: Residues) -> Residues:
        one = self.constant(Fraction(1), len(x.shape) - 1)
        return self._inverse(self.add(one, self._exp(self.scale(x, Fraction(-1)))))

    def _random(self, name: str, x: Residues) -> Residues:
        """A random function of the residues modulo all p."""
        self.keyed[name] = None
        words = self.words(name, x)
        self.functions += words.size
        self._note(x, words.size)
        found = self.drawn(words, x.undefined)
        height = unknown(x.height.calls + 1)
        if found.shift is None:
            return replace(found, height=height)
        # Not a maximum, which only shifts what is behind it.
        return replace(
            found, q=found.shift, shift=None, factors=frozenset(), terms=0, height=height
        )

    def _note(self, x: Residues, count: int) -> None:
        self.arguments += count
        self.argument = self.argument.larger(x.height)
