"""Arithmetic on residues: the interpretation of programs in random tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.equivalence import conditions
from mirage_mlir.equivalence.concatenation import concatenated
from mirage_mlir.equivalence.divisor_words import (
    common_divisors,
    divisors_of,
    spread_words,
    summed_divisors,
)
from mirage_mlir.equivalence.maxima_over_nothing import (
    checked,
    larger_of_numbers,
    largest_of_numbers,
    numbers_of,
    with_lowest,
)
from mirage_mlir.equivalence.random_functions import RandomFunctions
from mirage_mlir.equivalence.residues import (
    LEAF_MODULUS,
    LOWEST,
    MAXIMUM,
    MOST_LEAVES,
    LaneOperation,
    Leaves,
    Residues,
    Words,
    each_lane,
    inverses,
    powers,
    totals,
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
)
from mirage_mlir.operators.elementwise import FunctionName


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
        return concatenated(parts, axis, self._leaves)

    # Sources

    def constant(self, value: Fraction, rank: int) -> Residues:
        shape = (1,) * (rank + 1)
        try:
            p = tuple(np.full(shape, lanes.constant(value, m)) for m in self.moduli)
            q = tuple(np.full(shape, lanes.constant(value, m)) for m in self.orders)
        except ZeroDivisionError as error:
            raise UnluckyPrime(str(error)) from error
        exact = None
        if value.denominator == 1 and abs(value) < conditions.LARGEST:
            exact = np.full(shape, float(value))
        return Residues(p, q if self.exponents else None, of_constant(value), exact=exact)

    def integers(self, values: NDArray[np.int64]) -> Residues:
        return self._exactly(values[None].astype(np.float64))

    def _exactly(self, exact: NDArray[np.float64]) -> Residues:
        """The product of known integers."""
        p, q = (tuple(reduced(exact, m) for m in each) for each in (self.moduli, self.orders))
        height = of_constant(Fraction(int(np.abs(exact).max(initial=1))))
        return Residues(p, q if self.exponents else None, height, exact=exact)

    def real(self, value: float) -> Fraction:
        return simplest_rational(value)

    def lowest(self, rank: int) -> Residues:
        full = tuple(np.full((1,) * (rank + 1), LOWEST) for _ in self.moduli)
        return Residues(full, full if self.exponents else None, Height(), lowest=True)

    # Arithmetic

    def add(self, x: Residues, y: Residues) -> Residues:
        return replace(self._sum(x, y, lanes.add), exact=conditions.known(x, y, np.add))

    def subtract(self, x: Residues, y: Residues) -> Residues:
        found = self._sum(x, checked(y), lanes.subtract)
        return replace(found, exact=conditions.known(x, y, np.subtract))

    def _sum(self, x: Residues, y: Residues, operation: LaneOperation) -> Residues:
        if x.lowest or y.lowest:
            nothing = np.isinf(x.p[0]) | np.isinf(y.p[0])
            return with_lowest(self._sum(numbers_of(x), numbers_of(y), operation), nothing)
        divisors, alike = common_divisors(x, y)
        p = each_lane(operation, x.p, y.p, self.moduli)
        height = x.height.add(y.height, alike=alike)
        if x.q is None or y.q is None:
            return Residues(p, None, height, divisors=spread_words(divisors, p))
        shift, terms = None, 0
        if x.shift is not None or y.shift is not None:
            zeros = tuple(np.zeros((1,) * len(x.shape)) for _ in self.moduli)
            shift = each_lane(operation, x.shift or zeros, y.shift or zeros, self.orders)
            shift = tuple(np.broadcast_to(lane, p[0].shape) for lane in shift)
            terms = x.terms + y.terms
        q = each_lane(operation, x.q, y.q, self.orders)
        factors = x.factors | y.factors
        return Residues(p, q, height, shift, factors, terms, spread_words(divisors, p))

    def multiply(self, x: Residues, y: Residues) -> Residues:
        x, y = checked(x), checked(y)
        p = each_lane(lanes.multiply, x.p, y.p, self.moduli)
        q = self._exponents(lanes.multiply, x, y)
        words = None
        if x.divisors is not None or y.divisors is not None:
            words = divisors_of(x) + divisors_of(y)
        exact = conditions.known(x, y, np.multiply)
        return Residues(p, q, x.height.mul(y.height), divisors=spread_words(words, p), exact=exact)

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
        shift = each_lane(lanes.multiply, x.shift, constant.q, self.orders)
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
        found = powers(x.p, self.moduli, n)
        q = x.exponents and powers(x.exponents, self.orders, n)
        words = None if x.divisors is None else x.divisors * np.uint64(n % (1 << 64))
        return Residues(found, q, x.height.power(n), divisors=words)

    def total(self, x: Residues, axis: int) -> Residues:
        x = checked(x)
        count = x.shape[axis]
        words, different = summed_divisors(x, axis)
        return Residues(
            totals(x.p, self.moduli, axis),
            x.q and totals(x.q, self.orders, axis),
            x.height.spread(different).total(count),
            x.shift and totals(x.shift, self.orders, axis),
            x.factors,
            x.terms * count,
            words,
        )

    def matmul(self, x: Residues, y: Residues) -> Residues:
        x, y = checked(x), checked(y)
        p = each_lane(lanes.matmul, x.p, y.p, self.moduli)
        q = self._exponents(lanes.matmul, x, y)
        left, many = summed_divisors(x, x.p[0].ndim - 1)
        right, others = summed_divisors(y, y.p[0].ndim - 2)
        words = left if right is None else right if left is None else left + right
        height = x.height.spread(many).mul(y.height.spread(others)).total(x.shape[-1])
        return Residues(p, q, height, divisors=spread_words(words, p))

    def rounded(self, x: Residues, element_type: ElementType) -> Residues:
        return x

    def _exponents(
        self, operation: LaneOperation, x: Residues, y: Residues
    ) -> tuple[Lane, ...] | None:
        """The residues modulo q of a product."""
        if x.exponents is None or y.exponents is None:
            return None
        pairs = zip(x.exponents, y.exponents, self.orders, strict=True)
        return tuple(operation(reduced(a, m), reduced(b, m), m) for a, b, m in pairs)

    def _inverse(self, x: Residues) -> Residues:
        x = checked(x)
        p = inverses(x.p, self.moduli)
        q = x.exponents and inverses(x.exponents, self.orders)
        # The numerator of x, which its value and its divisor determine.
        words = self.words("divisor", x)
        words = words if x.divisors is None else mix(words ^ x.divisors)
        return Residues(p, q, x.height.inverse(), divisors=words)

    # Maxima

    def minimum(self, x: Residues, y: Residues) -> Residues:
        opposite = Fraction(-1)
        return self.scale(self.maximum(self.scale(x, opposite), self.scale(y, opposite)), opposite)

    def maximum(self, x: Residues, y: Residues) -> Residues:
        if (larger := conditions.compared("ge", x, y)) is not None:
            return conditions.picked(larger, x, y)
        leaves = self._leaves(x).joined(self._leaves(y))
        undefined = x.undefined | y.undefined
        self._note(x, leaves.words.size)
        self._note(y, leaves.words.size)
        found = self._of_leaves(leaves, undefined, x.height.calls + y.height.calls + 2)
        return larger_of_numbers(x, y, found) if x.lowest or y.lowest else found

    def largest(self, x: Residues, axis: int) -> Residues:
        count = x.shape[axis]
        if count == 1:
            return x
        leaves = self._leaves(x)
        undefined = np.logical_or.reduce(x.undefined, axis=axis, keepdims=True)
        self._note(x, leaves.words.size)
        calls = (x.height.calls + 1) * count
        found = self._of_leaves(leaves.reduced(axis), undefined, calls)
        return largest_of_numbers(x, axis, found) if x.lowest else found

    def _leaves(self, x: Residues) -> Leaves:
        """The words of the values of which x is the maximum: x itself where it is no maximum."""
        if x.leaves is not None and not x.leaves.opposite:
            return x.leaves
        words = self.words("leaf", x) % LEAF_MODULUS
        words = np.where(np.isinf(x.p[0]), np.uint64(0), words) if x.lowest else words
        return Leaves(words)

    def _of_leaves(self, leaves: Leaves, undefined: AnyArray, calls: int) -> Residues:
        """
        The maximum of values, by their words.

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

    # Conditions

    def compare(self, predicate: str, x: Residues, y: Residues) -> Residues:
        if (holds := conditions.compared(predicate, x, y)) is not None:
            return self._exactly(holds.astype(np.float64))
        if x.mask and y.exact is not None and not y.exact.any() and predicate in ("eq", "ne"):
            return x if predicate == "ne" else self._contrary(x)
        negated, base, x, y = conditions.simplified(predicate, checked(x), checked(y))
        both = self.words("compared", x), self.words("compared", y)
        words = keyed_words(base, self._key, [conditions.together(base, *both)])
        self.keyed[base] = None
        self.functions += words.size
        self._note(x, words.size)
        self._note(y, words.size)
        height = unknown(x.height.calls + y.height.calls + 2)
        found = self._unknown(self.drawn(words, x.undefined | y.undefined), height)
        certain = self.constant(Fraction(int(base == "eq")), len(found.shape) - 1)
        found = conditions.picked(conditions.agree(x, y, self.moduli), certain, found)
        found = replace(found, mask=True)
        return self._contrary(found) if negated else found

    def _contrary(self, x: Residues) -> Residues:
        """The result of the opposite comparison."""
        one = self.constant(Fraction(1), len(x.shape) - 1)
        return replace(self.subtract(one, x), mask=True)

    def select(self, condition: Residues, x: Residues, y: Residues) -> Residues:
        if condition.exact is not None:
            return conditions.picked(condition.exact != 0, x, y)
        return self.add(y, self.multiply(condition, self.subtract(x, y)))

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
        return self._unknown(self.drawn(words, x.undefined), unknown(x.height.calls + 1))

    def _unknown(self, found: Residues, height: Height) -> Residues:
        """The results of a random function that are new unknowns."""
        if found.shift is None:
            return replace(found, height=height)
        # Not a maximum, which only shifts what is behind it.
        return replace(
            found, q=found.shift, shift=None, factors=frozenset(), terms=0, height=height
        )

    def _note(self, x: Residues, count: int) -> None:
        self.arguments += count
        self.argument = self.argument.larger(x.height)
