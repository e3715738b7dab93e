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
from mirage_mlir.interpreters.field_domain import FieldDomain, Pairs
from mirage_mlir.interpreters.kernel import KernelInterpreter
from mirage_mlir.interpreters.representatives import Axes
from mirage_mlir.interpreters.tensors import Tensor

MOST_ROOTS = 6
"""Arguments of square roots that can all be drawn as squares: one run in 4^6 has them."""

CHEAP_ROOTS = 4
"""Arguments of square roots that cost next to nothing to draw as squares."""

MOST_RUNS = 1024
"""Runs drawn at once when most of them will not count: a few MB for the largest programs."""

MOST_KEPT = 64
"""Runs that count of which a candidate runs."""

MOST_KNOWN = 16
"""Draws that are remembered: candidates of one program are cut alike in two or three ways."""

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


@dataclass(frozen=True)
class Draw:
    """Runs of a reference on random inputs."""

    field: FieldDomain
    """The interpretation, of runs that count, in which nothing was seen yet."""
    inputs: list[Tensor[Pairs]]
    expected: list[Tensor[Pairs]]
    """What the reference returns."""
    seen: FieldDomain
    """What was seen in all runs, those that do not count too."""


class Draws:
    """
    Random inputs for one reference, and what it returns for them, remembered for all candidates.

    Candidates that are compared on the same axes get the same inputs. For each of them the bound
    holds as before: it is about one candidate that was there before the inputs were drawn, and no
    candidate is made from what tests of another one came to. That all of n candidates are right is
    wrong with at most n times the probability, whether their tests are independent or not.
    """

    def __init__(self, reference: FuncOp, seed: int):
        self.reference = reference
        self.seed = seed
        self._known: dict[tuple[object, ...], Draw] = {}

    def draw(self, axes: Axes, runs: int, number: int, *, demanding: bool, lowered: bool) -> Draw:
        """
        Inputs of some runs.

        Args:
            axes: of the inputs.
            runs: how many are drawn.
            number: other numbers give other inputs.
            demanding: whether runs count only where arguments of square roots are squares.
            lowered: whether sigmoid is computed from exp.
        """
        key = (*axes, runs, number, demanding, lowered)
        if key not in self._known:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[key] = self._drawn(axes, runs, number, demanding, lowered)
        return self._known[key]

    def _drawn(self, axes: Axes, runs: int, number: int, demanding: bool, lowered: bool) -> Draw:
        field = FieldDomain(runs, [self.seed, number], expand_sigmoid=lowered)
        inputs = [Tensor(field.random([axis.classes for axis in each]), each) for each in axes]
        expected = KernelInterpreter(field).run(self.reference, inputs)
        counting = field.sound & field.rooted if demanding else field.sound
        kept = np.flatnonzero(counting)[:MOST_KEPT]
        return Draw(
            field.select(kept),
            [_runs_of(x, kept) for x in inputs],
            [_runs_of(x, kept) for x in expected],
            field,
        )

    def roots(self, axes: Axes, tests: int) -> int:
        """Different arguments of square roots of the reference in one test."""
        draw = self.draw(axes, tests, 0, demanding=True, lowered=False)
        return len(draw.seen.root_arguments)


class FieldTests:
    """Tests of one candidate against one reference on given axes."""

    def __init__(
        self,
        draws: Draws,
        candidate: FuncOp,
        axes: Axes,
        tests: int,
        most_roots: int = MOST_ROOTS,
    ):
        self.draws = draws
        self.candidate = candidate
        self.axes = axes
        self.tests = tests
        self.most_roots = most_roots
        self.roots = 0
        self.demanding = most_roots > 0
        """Whether arguments of square roots have to be squares."""
        self.passed = 0
        self.degree = Degree()
        self.keyed: dict[str, None] = {}
        self.exponentials = False
        self.differences: tuple[Difference, ...] = ()
        self._hasty = False
        self._lowered = any(
            isinstance(op, thread.GraphOp) for f in (draws.reference, candidate) for op in f.walk()
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
        draw = self.draws.draw(
            self.axes, self._runs(), number, demanding=self.demanding, lowered=self._lowered
        )
        self._note(draw.seen)
        if not draw.field.runs:
            return
        # The first use of a draw must not show in the next one.
        field = draw.field.select(np.arange(draw.field.runs))
        results = KernelInterpreter(field).run(self.candidate, draw.inputs)
        self._note(field)
        counting = np.flatnonzero(self._counting(field))[: self.tests - self.passed]
        if not len(counting) and self._hasty:
            counting = np.flatnonzero(field.sound)[:1]
        if len(counting):
            expected = [_runs_of(tensor, counting) for tensor in draw.expected]
            self._compare(expected, [_runs_of(tensor, counting) for tensor in results])
            if not self.differences:
                self.passed += int(self._counting(field)[counting].sum())

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
