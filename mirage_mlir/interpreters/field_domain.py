"""
Numbers of Z_p x Z_q, on which equal programs agree and different ones almost never do.

A value is a pair of residues, drawn independently for inputs. `exp(x)` is w^(x mod q) mod p for a
root of unity w of order q, which makes it a homomorphism; its residue modulo q is lost. Each run
has its own w and its own keys for functions without algebra.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import pi, sqrt

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.field.bound import Degree
from mirage_mlir.field.keyed import keyed_words
from mirage_mlir.field.modular import (
    P,
    Q,
    Residues,
    add,
    inverse,
    matmul,
    multiply,
    power,
    powers,
    root,
    squares,
    subtract,
    total,
)
from mirage_mlir.field.rational import residue, simplest_rational
from mirage_mlir.interpreters.domain import (
    AnyArray,
    Counts,
    ElementType,
    FunctionName,
    NotInterpretable,
    joined,
)

LOWEST = np.uint64(P)
"""
What stands for the maximum over nothing, in both halves: no reduced residue.

It takes part in maxima, where it is below all others, may have a number subtracted, and has the
exponential zero. Whatever else is computed from it has no interpretation.
"""

Binary = Callable[[Residues, Residues, int], Residues]


@dataclass(frozen=True)
class Pairs:
    """An array of pairs, or of what is left of them after exp."""

    p: Residues
    q: Residues | None
    degree: Degree
    lowest: bool = False
    """Whether some elements may be the maximum over nothing, which is no residue: `LOWEST`."""

    @property
    def residues(self) -> tuple[Residues, ...]:
        """The residues that there are."""
        return (self.p,) if self.q is None else (self.p, self.q)


class FieldDomain:
    """
    Independent random interpretations of a program over Z_p x Z_q.

    max takes the argument of larger rank in a random total order on residues modulo p: it is
    associative, commutative and idempotent exactly; a law that only the order of numbers has fails.
    Whether a run counts is known afterwards: see `sound` and `rooted`.
    """

    def __init__(self, runs: int, seed: Sequence[int], *, expand_sigmoid: bool = False):
        self._random = np.random.default_rng(seed)
        self.runs = runs
        self.expand_sigmoid = expand_sigmoid
        """Whether sigmoid(x) is 1 / (1 + exp(-x)), which code after lowering says, or keyed."""
        self._keys = self._random.integers(0, 1 << 63, runs).astype(np.uint64)
        # The square of any number but 0, 1 and -1 has order Q, since (P - 1) / 2 is the prime Q.
        numbers = self._random.integers(2, P - 1, runs).astype(np.uint64)
        self._roots = multiply(numbers, numbers, P)
        self.sound = np.ones(runs, np.bool_)
        """The runs in which nothing was divided by zero."""
        self.rooted = np.ones(runs, np.bool_)
        """The runs in which all arguments of square roots are squares in both fields."""
        self.root_arguments: set[int] = set()
        """The arguments of square roots in the first run, modulo p."""
        self.exponentials = False
        """Whether exp occurred."""
        self.keyed: dict[str, None] = {}
        """Names of the functions without algebra that occurred, in order."""

    def random(self, shape: Sequence[int]) -> Pairs:
        """Uniform inputs for each run."""
        full = (self.runs, *shape)
        p = self._random.integers(0, P, full).astype(np.uint64)
        return Pairs(p, self._random.integers(0, Q, full).astype(np.uint64), Degree(1))

    def select(self, runs: NDArray[np.intp]) -> FieldDomain:
        """The same interpretation, of some of the runs only, with nothing seen yet."""
        selected = FieldDomain(0, [0], expand_sigmoid=self.expand_sigmoid)
        selected.runs = len(runs)
        selected._keys, selected._roots = self._keys[runs], self._roots[runs]
        selected.sound, selected.rooted = np.ones(len(runs), np.bool_), np.ones(len(runs), np.bool_)
        return selected

    def shape(self, x: Pairs) -> tuple[int, ...]:
        return x.p.shape

    def rearrange(self, x: Pairs, change: Callable[[AnyArray], AnyArray]) -> Pairs:
        q = None if x.q is None else change(x.q)
        return Pairs(change(x.p), q, x.degree, x.lowest)

    def concatenate(self, parts: Sequence[Pairs], axis: int) -> Pairs:
        degree = parts[0].degree
        for part in parts[1:]:
            degree = degree.larger(part.degree)
        seconds = [part.q for part in parts if part.q is not None]
        q = joined(seconds, axis) if len(seconds) == len(parts) else None
        lowest = any(part.lowest for part in parts)
        return Pairs(joined([part.p for part in parts], axis), q, degree, lowest)

    def constant(self, value: Fraction, rank: int) -> Pairs:
        shape = (1,) * (rank + 1)
        try:
            p, q = (np.full(shape, residue(value, modulus), np.uint64) for modulus in (P, Q))
        except ZeroDivisionError as error:
            raise NotInterpretable(str(error)) from error
        return Pairs(p, q, Degree())

    def lowest(self, rank: int) -> Pairs:
        full = np.full((1,) * (rank + 1), LOWEST, np.uint64)
        return Pairs(full, full, Degree(), lowest=True)

    def add(self, x: Pairs, y: Pairs) -> Pairs:
        return self._pairwise(add, x, y, x.degree + y.degree)

    def subtract(self, x: Pairs, y: Pairs) -> Pairs:
        empty = _empty(x)
        if empty is None:
            return self._pairwise(subtract, x, y, x.degree + y.degree)
        # The remainder of LOWEST is zero, and what comes of it is overwritten.
        result = self._pairwise(subtract, _numbers(x), y, x.degree + y.degree)
        p = np.where(empty, LOWEST, result.p)
        q = None if result.q is None else np.where(empty, LOWEST, result.q)
        return Pairs(p, q, result.degree, lowest=True)

    def multiply(self, x: Pairs, y: Pairs) -> Pairs:
        return self._pairwise(multiply, x, y, x.degree * y.degree)

    def divide(self, x: Pairs, y: Pairs) -> Pairs:
        return self.multiply(x, self._inverse(y))

    def maximum(self, x: Pairs, y: Pairs) -> Pairs:
        return self._chosen(self._rank(x) >= self._rank(y), x, y)

    def minimum(self, x: Pairs, y: Pairs) -> Pairs:
        return self._chosen(self._rank(x) < self._rank(y), x, y)

    def function(self, name: FunctionName, x: Pairs) -> Pairs:
        empty = _empty(x)
        if empty is not None and name == "exp":
            result = self._exp(_numbers(x))
            p = np.where(empty, np.uint64(0), result.p)
            q = None if result.q is None else np.where(empty, np.uint64(0), result.q)
            return Pairs(p, q, result.degree)
        x = _checked(x)
        match name:
            case "exp":
                return self._exp(x)
            case "sqrt":
                return self._sqrt(x)
            case "rsqrt":
                return self._inverse(self._sqrt(x))
            case "sigmoid" if self.expand_sigmoid:
                return self._sigmoid(x)
            case "gelu":
                return self._gelu(x, self._keyed("erf", self._scaled_by(x, sqrt(0.5))))
            case "gelu_tanh":
                cube = self._scaled_by(self.power(x, Fraction(3)), 0.044715)
                inner = self._scaled_by(self.add(x, cube), sqrt(2 / pi))
                return self._gelu(x, self._keyed("tanh", inner))
            case _:
                return self._keyed(name, x)

    def power(self, x: Pairs, exponent: Fraction) -> Pairs:
        x = _checked(x)
        if exponent < 0:
            return self._inverse(self.power(x, -exponent))
        if exponent.denominator == 2:
            return self.power(self._sqrt(x), 2 * exponent)
        if exponent.denominator != 1:
            return self._keyed(f"power {exponent}", x)
        n = exponent.numerator
        q = None if x.q is None else power(x.q, n, Q)
        return Pairs(power(x.p, n, P), q, x.degree.power(n))

    def total(self, x: Pairs, axis: int, counts: Counts | None) -> Pairs:
        x = _checked(x)
        if counts is not None:
            shape = [1] * x.p.ndim
            shape[axis] = len(counts)
            x = self._times(x, counts.reshape(shape))
        q = None if x.q is None else total(x.q, axis, Q)
        return Pairs(total(x.p, axis, P), q, x.degree.total(x.p.shape[axis]))

    def largest(self, x: Pairs, axis: int) -> Pairs:
        best = np.argmax(self._rank(x), axis=axis, keepdims=True)
        q = None if x.q is None else np.take_along_axis(x.q, best, axis)
        return Pairs(np.take_along_axis(x.p, best, axis), q, x.degree, x.lowest)

    def matmul(self, x: Pairs, y: Pairs, counts: Counts | None) -> Pairs:
        if counts is not None:
            x = self._times(x, counts)
        degree = (x.degree * y.degree).total(x.p.shape[-1])
        return self._pairwise(matmul, x, y, degree)

    def scaled(self, x: Pairs, count: int) -> Pairs:
        return self._times(x, np.array([count], np.int64))

    def rounded(self, x: Pairs, element_type: ElementType) -> Pairs:
        return x

    def _pairwise(self, operation: Binary, x: Pairs, y: Pairs, degree: Degree) -> Pairs:
        x, y = _checked(x), _checked(y)
        q = None if x.q is None or y.q is None else operation(x.q, y.q, Q)
        return Pairs(operation(x.p, y.p, P), q, degree)

    def _times(self, x: Pairs, counts: Counts) -> Pairs:
        x = _checked(x)
        q = None if x.q is None else multiply(x.q, (counts % Q).astype(np.uint64), Q)
        return Pairs(multiply(x.p, (counts % P).astype(np.uint64), P), q, x.degree)

    def _inverse(self, x: Pairs) -> Pairs:
        x = _checked(x)
        for part in x.residues:
            zero = (part == 0).any(axis=tuple(range(1, part.ndim)))
            self.sound &= ~zero
        q = None if x.q is None else inverse(x.q, Q)
        return Pairs(inverse(x.p, P), q, x.degree.inverse())

    def _exp(self, x: Pairs) -> Pairs:
        self.exponentials = True
        if x.q is None:
            # A second exp on the path: random, so exp(a + b) = exp(a) * exp(b) is not known.
            return self._keyed("exp", x)
        roots = self._per_run(self._roots, x.p.ndim)
        return Pairs(powers(roots, x.q, P), None, x.degree.exponential())

    def _sqrt(self, x: Pairs) -> Pairs:
        for part, modulus in zip(x.residues, (P, Q), strict=False):
            self.rooted &= squares(part, modulus).all(axis=tuple(range(1, part.ndim)))
        if self.runs:
            self.root_arguments.update(int(value) for value in x.p[0].flat)
        q = None if x.q is None else root(x.q, Q)
        return Pairs(root(x.p, P), q, x.degree.root())

    def _sigmoid(self, x: Pairs) -> Pairs:
        one = self.constant(Fraction(1), x.p.ndim - 1)
        return self._inverse(self.add(one, self._exp(self._scaled_by(x, -1.0))))

    def _gelu(self, x: Pairs, gate: Pairs) -> Pairs:
        """`x / 2 * (1 + gate)`."""
        one = self.constant(Fraction(1), x.p.ndim - 1)
        return self.multiply(self._scaled_by(x, 0.5), self.add(one, gate))

    def _scaled_by(self, x: Pairs, factor: float) -> Pairs:
        return self.multiply(x, self.constant(simplest_rational(factor), x.p.ndim - 1))

    def _keyed(self, name: str, x: Pairs) -> Pairs:
        self.keyed[name] = None
        keys = self._per_run(self._keys, x.p.ndim)
        p, q = (keyed_words(f"{name} mod {m}", keys, x.residues) % np.uint64(m) for m in (P, Q))
        return Pairs(p, q, Degree(1))

    def _rank(self, x: Pairs) -> Residues:
        """
        The place of each element in the total order.

        Of the residue modulo p alone: a value has one place whether or not the other one is lost.
        """
        self.keyed["max"] = None
        words = keyed_words("order", self._per_run(self._keys, x.p.ndim), (x.p,))
        if not x.lowest:
            return words
        # Rank 0 is left to it; that merges ranks in pairs, which ties break as before.
        return np.where(x.p == LOWEST, np.uint64(0), words | np.uint64(1))

    def _chosen(self, left: NDArray[np.bool_], x: Pairs, y: Pairs) -> Pairs:
        q = None if x.q is None or y.q is None else np.where(left, x.q, y.q)
        p = np.where(left, x.p, y.p)
        return Pairs(p, q, x.degree.larger(y.degree), x.lowest or y.lowest)

    def _per_run(self, values: Residues, rank: int) -> Residues:
        """One value per run, to broadcast against arrays with `rank` axes."""
        return values.reshape(-1, *(1,) * (rank - 1))


def _empty(x: Pairs) -> NDArray[np.bool_] | None:
    """Where x is the maximum over nothing; None when it is so nowhere."""
    if not x.lowest:
        return None
    found = x.p == LOWEST
    return found if found.any() else None


def _numbers(x: Pairs) -> Pairs:
    """`x` with zeros for maxima over nothing."""
    q = None if x.q is None else np.where(x.p == LOWEST, np.uint64(0), x.q)
    return Pairs(np.where(x.p == LOWEST, np.uint64(0), x.p), q, x.degree)


def _checked(x: Pairs) -> Pairs:
    """
    `x`, which has numbers only.

    Raises:
        NotInterpretable: it has not.
    """
    if _empty(x) is not None:
        raise NotInterpretable("computes with a maximum over no element")
    return x
