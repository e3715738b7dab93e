"""
Random tests over finite fields: whether two functions agree on random inputs.

All tests run at once, each with its own inputs, root of unity and keys. A test in which something
is divided by zero does not count, nor one in which the argument of a square root is no square, as
long as there are few of these: such tests are drawn again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.func import FuncOp

from mirage_mlir.dialects import thread
from mirage_mlir.field.bound import Bound, Degree, exponential_sums, schwartz_zippel
from mirage_mlir.interpreters.axes import Axis
from mirage_mlir.interpreters.field_domain import FieldDomain, Pairs
from mirage_mlir.interpreters.kernel import KernelInterpreter
from mirage_mlir.interpreters.tensors import Tensor

MOST_ROOTS = 6
"""Arguments of square roots that can all be drawn as squares: one run in 4^6 has them."""

CHEAP_ROOTS = 4
"""Arguments of square roots that cost next to nothing to draw as squares."""

MOST_RUNS = 1024
"""Runs drawn at once when most of them will not count: a few MB for the largest programs."""

ROUNDS = 64
"""Draws before a test is given up; with 4^6 / `MOST_RUNS` expected rounds a test, 3 need 12."""


@dataclass(frozen=True)
class Difference:
    """A place where two functions differ in some test."""

    output: int
    element: tuple[int, ...]
    reference: tuple[int, ...]
    """The residues there, modulo p and, where exp left it, modulo q."""
    candidate: tuple[int, ...]


@dataclass(frozen=True)
class FieldOutcome:
    """What random tests found."""

    passed: int
    """The tests that both functions passed."""
    differences: tuple[Difference, ...]
    """The places that differ in one test, the first ones of each output first."""
    bound: Bound
    roots: int
    """Different arguments of square roots in a test."""
    rooted: bool
    """Whether all of them were squares."""
    keyed: tuple[str, ...]
    """Functions that were random functions."""
    exponentials: bool
    reason: str = ""
    """Why too few tests counted."""


class FieldTests:
    """Tests of one candidate against one reference on given axes."""

    def __init__(
        self,
        reference: FuncOp,
        candidate: FuncOp,
        axes: Sequence[tuple[Axis, ...]],
        tests: int,
        seed: int,
        most_roots: int = MOST_ROOTS,
    ):
        self.functions = (reference, candidate)
        self.axes = axes
        self.tests = tests
        self.seed = seed
        self.most_roots = most_roots
        self.roots = 0
        self.demanding = True
        """Whether arguments of square roots have to be squares."""
        self.passed = 0
        self.degree = Degree()
        self.keyed: dict[str, None] = {}
        self.exponentials = False
        self.differences: tuple[Difference, ...] = ()
        self._hasty = False
        self._lowered = any(
            isinstance(op, thread.GraphOp) for f in self.functions for op in f.walk()
        )

    def run(self, *, hasty: bool = False) -> FieldOutcome:
        """
        Draw until enough tests count, or one fails.

        Args:
            hasty: stop at a difference in a test that does not count, too. Such a difference is
                nearly always a real one, but a caller has to find another sign of it.
        """
        self._hasty = hasty
        rounds = 0
        while self.passed < self.tests and not self.differences and rounds < ROUNDS:
            self._round(rounds)
            rounds += 1
            if rounds == ROUNDS and self.demanding and self.roots and not self.passed:
                # No draw makes them squares; their products still show in the tests that follow.
                self.demanding, rounds = False, ROUNDS - self.tests
        reason = ""
        if self.passed < self.tests and not self.differences:
            reason = f"{self.passed} of {ROUNDS} random tests had no zero denominator"
        return FieldOutcome(
            self.passed,
            self.differences,
            self._bound(),
            self.roots,
            self.demanding,
            tuple(self.keyed),
            self.exponentials,
            reason,
        )

    def _runs(self) -> int:
        if not (self.demanding and self.roots):
            return self.tests
        return min(MOST_RUNS, 2 * self.tests * 4**self.roots)

    def _round(self, number: int) -> None:
        """One draw of some runs, those that count being tests."""
        field = FieldDomain(self._runs(), [self.seed, number], expand_sigmoid=self._lowered)
        inputs = [Tensor(field.random([axis.classes for axis in axes]), axes) for axes in self.axes]
        expected = KernelInterpreter(field).run(self.functions[0], inputs)
        self._note(field)
        kept = np.flatnonzero(self._counting(field))[: MOST_RUNS // 16]
        if not len(kept):
            return
        chosen = field.select(kept)
        results = KernelInterpreter(chosen).run(
            self.functions[1], [_runs_of(x, kept) for x in inputs]
        )
        self._note(chosen)
        counting = np.flatnonzero(self._counting(chosen))[: self.tests - self.passed]
        if not len(counting) and self._hasty:
            counting = np.flatnonzero(chosen.sound)[:1]
        if len(counting):
            expected = [_runs_of(tensor, kept[counting]) for tensor in expected]
            self._compare(expected, [_runs_of(tensor, counting) for tensor in results])
            if not self.differences:
                self.passed += int(self._counting(chosen)[counting].sum())

    def _counting(self, field: FieldDomain) -> NDArray[np.bool_]:
        return field.sound & field.rooted if self.demanding else field.sound

    def _note(self, field: FieldDomain) -> None:
        self.roots = max(self.roots, len(field.root_arguments))
        self.demanding = self.demanding and self.roots <= self.most_roots
        self.keyed.update(field.keyed)
        self.exponentials = self.exponentials or field.exponentials

    def _compare(self, expected: Sequence[Tensor[Pairs]], results: Sequence[Tensor[Pairs]]) -> None:
        interpreter = KernelInterpreter(FieldDomain(0, [0]))
        for output, (left, right) in enumerate(zip(expected, results, strict=True)):
            self.degree = self.degree.larger(left.array.degree + right.array.degree)
            left, right = interpreter.domain.aligned(left, right, range(len(left.axes)))
            self.differences += _differences(output, left, right)

    def _bound(self) -> Bound:
        if self.exponentials:
            bound = exponential_sums(self.degree.numerator, self.degree.terms, self.passed)
        else:
            roots = self.roots if self.demanding else 0
            bound = schwartz_zippel(self.degree.numerator, self.passed, roots)
        if not self.keyed:
            return bound
        functions = [name for name in self.keyed if name != "max"]
        theorem = bound.theorem
        if functions:
            theorem += f"; {', '.join(functions)} as random functions"
        if "max" in self.keyed:
            theorem += "; max by a random order"
        return Bound(bound.probability, theorem)


def _runs_of(x: Tensor[Pairs], runs: NDArray[np.intp]) -> Tensor[Pairs]:
    """A tensor in some of its runs."""

    def taken(residues: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return residues if residues.shape[0] == 1 else residues[runs]

    pairs = x.array
    return Tensor(
        Pairs(taken(pairs.p), None if pairs.q is None else taken(pairs.q), pairs.degree), x.axes
    )


def _differences(output: int, left: Tensor[Pairs], right: Tensor[Pairs]) -> tuple[Difference, ...]:
    """Where two tensors of one set of axes differ, in the first run in which they do."""
    pairs = list(zip(left.array.residues, right.array.residues, strict=False))
    unequal = np.logical_or.reduce(np.broadcast_arrays(*(a != b for a, b in pairs)))
    runs = np.flatnonzero(unequal.any(axis=tuple(range(1, unequal.ndim))))
    if not len(runs):
        return ()
    run = int(runs[0])
    places = [tuple(int(i) for i in place) for place in np.argwhere(unequal[run])]
    return tuple(
        Difference(
            output,
            tuple(int(axis.first[i]) for axis, i in zip(left.axes, place, strict=True)),
            _residues(left, run, place),
            _residues(right, run, place),
        )
        for place in places
    )


def _residues(x: Tensor[Pairs], run: int, place: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(part[(run if part.shape[0] > 1 else 0, *place)]) for part in x.array.residues)
