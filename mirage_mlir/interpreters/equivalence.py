"""
Whether a candidate computes what a reference computes, and as accurately.

Random tests over finite fields say whether two functions are equal, at their real sizes and with
their real constants (see `field_tests` and `axes`). Their inputs repeat along each dimension, and
the error bound is for such inputs; that a difference on others shows there too is no theorem, but
follows from what operators do, which treat all indices of a dimension alike.

Where functions differ, f64 decides: if it differs too they are different; if not, either fields do
not know a law that makes them equal, or the difference is too small to see. Equal functions run
once more with the rounding of their element types (see `rounding`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from xdsl.dialects.func import FuncOp

from mirage_mlir.interpreters.dimensions import DimensionClasses
from mirage_mlir.interpreters.domain import NotInterpretable
from mirage_mlir.interpreters.field_tests import (
    CHEAP_ROOTS,
    MOST_ROOTS,
    Difference,
    FieldOutcome,
    FieldTests,
)
from mirage_mlir.interpreters.float_domain import Floats
from mirage_mlir.interpreters.representatives import RICHEST, Axes, field_axes, rounding_axes
from mirage_mlir.interpreters.rounding import Loss, RoundingTests, relative_errors
from mirage_mlir.interpreters.tensors import Tensor

DISTINCT = 1e-9
"""Relative distance in f64 beyond which outputs are different: reordered sums stay below 1e-12."""

TESTS = 3
"""Random tests by default."""


class Verdict(Enum):
    """What a comparison came to."""

    EQUAL = "equal"
    DIFFERENT = "not equal"
    UNDECIDED = "not decided"
    INACCURATE = "inaccurate"
    """Equal as functions of real numbers, but the candidate loses too much accuracy."""


@dataclass(frozen=True)
class Witness:
    """One element in which two functions differ."""

    difference: Difference
    floats: tuple[float, float] | None
    """What both give there in f64 on normal inputs; None where that is no number."""

    def __str__(self) -> str:
        found = self.difference
        element = ", ".join(map(str, found.element))
        text = (
            f"output {found.output} at [{element}] is {_pair(found.candidate)} "
            f"instead of {_pair(found.reference)} in Z_p x Z_q"
        )
        if self.floats is None:
            return text
        reference, candidate = self.floats
        return f"{text}, {candidate:.9g} instead of {reference:.9g} in f64"


@dataclass(frozen=True)
class EquivalenceReport:
    """The outcome of a comparison and the argument for it."""

    verdict: Verdict
    seeds: tuple[int, ...]
    """What reproduces the run."""
    tests: int = 0
    """Random tests that both passed."""
    bound: float = 1.0
    """The probability, at most, that different functions pass them."""
    theorem: str = ""
    """Which theorem gives the bound."""
    losses: tuple[Loss, ...] = ()
    """The rounding error of each output on each kind of input."""
    witness: Witness | None = None
    reason: str = ""
    """Why it is not decided."""
    remarks: tuple[str, ...] = ()
    """What the tests could not look at."""
    seconds: float = 0.0

    @property
    def worst(self) -> Loss | None:
        """The loss that is largest against its tolerance."""
        return max(self.losses, key=lambda loss: loss.error / loss.tolerance, default=None)

    def __str__(self) -> str:
        match self.verdict:
            case Verdict.EQUAL:
                return self._argument()
            case Verdict.DIFFERENT:
                return str(self.witness)
            case Verdict.UNDECIDED:
                return self.reason
            case Verdict.INACCURATE:
                return f"{_loss_text(self.worst)}; {self._argument()}"

    def _argument(self) -> str:
        parts = [
            f"equal in {self.tests} random tests over Z_p x Z_q at full size, "
            f"wrong with probability at most {self.bound:.1e} by {self.theorem}"
        ]
        if self.verdict is Verdict.EQUAL and self.worst is not None:
            parts.append(_loss_text(self.worst))
        return "; ".join([*parts, *self.remarks])


def _pair(residues: Sequence[int]) -> str:
    return f"({residues[0]}, {residues[1] if len(residues) > 1 else '_'})"


def _loss_text(loss: Loss | None) -> str:
    if loss is None:
        return "no rounding error measured"
    relation = "within" if loss.acceptable else "over"
    return (
        f"rounding error {loss.error:.1e} of output {loss.output} on {loss.inputs}, "
        f"{relation} {loss.tolerance:.1e}"
    )


def check_equivalence(
    reference: FuncOp, candidate: FuncOp, tests: int = TESTS, seed: int = 0
) -> EquivalenceReport:
    """
    Compare two functions of one signature.

    Args:
        reference: what is to be computed.
        candidate: what claims to compute it.
        tests: how many random tests over the fields must pass.
        seed: of all random numbers; the same seed gives the same report but for `seconds`.
    """
    start = time.perf_counter()
    try:
        report = _Comparison(reference, candidate, tests, seed).report()
    except NotInterpretable as error:
        report = EquivalenceReport(Verdict.UNDECIDED, (seed,), reason=str(error))
    return replace(report, seconds=time.perf_counter() - start)


class _Comparison:
    """One comparison of two functions."""

    def __init__(self, reference: FuncOp, candidate: FuncOp, tests: int, seed: int):
        self.reference = reference
        self.candidate = candidate
        self.tests = tests
        self.seed = seed

    def report(self) -> EquivalenceReport:
        """All steps, as far as they are needed."""
        if self.reference.function_type != self.candidate.function_type:
            reason = f"the types differ: {self.reference.function_type}"
            return self._undecided(f"{reason} and {self.candidate.function_type}")
        classes = DimensionClasses((self.reference, self.candidate))
        outcome, axes = self._field_outcome(classes, hasty=True)
        if outcome.differences:
            report = self._different(classes, outcome, axes)
            if report.verdict is Verdict.DIFFERENT or not outcome.roots:
                return report
            outcome, axes = self._field_outcome(classes, hasty=False)
            if outcome.differences:
                return self._different(classes, outcome, axes)
        if outcome.passed < self.tests:
            return self._undecided(outcome.reason)
        losses = self._rounding(classes).losses(self.candidate)
        accurate = all(loss.acceptable for loss in losses)
        return EquivalenceReport(
            Verdict.EQUAL if accurate else Verdict.INACCURATE,
            (self.seed,),
            outcome.passed,
            outcome.bound.probability,
            outcome.bound.theorem,
            tuple(losses),
            remarks=_remarks(outcome),
        )

    def _undecided(self, reason: str) -> EquivalenceReport:
        return EquivalenceReport(Verdict.UNDECIDED, (self.seed,), reason=reason)

    def _field_outcome(
        self, classes: DimensionClasses, *, hasty: bool
    ) -> tuple[FieldOutcome, Axes]:
        """Tests with as many different indices as square roots allow, and their axes."""
        functions = (self.reference, self.candidate)
        level = RICHEST
        while True:
            axes = field_axes(functions, classes, level, self.seed)
            roots = CHEAP_ROOTS if level else MOST_ROOTS
            tests = FieldTests(*functions, axes, self.tests, self.seed, roots)
            outcome = tests.run(hasty=hasty)
            if level == 0 or outcome.rooted or (hasty and outcome.differences):
                return outcome, axes
            level -= 1

    def _rounding(self, classes: DimensionClasses) -> RoundingTests:
        functions = (self.reference, self.candidate)
        return RoundingTests(self.reference, classes, rounding_axes(functions, classes), self.seed)

    def _different(
        self, classes: DimensionClasses, outcome: FieldOutcome, axes: Axes
    ) -> EquivalenceReport:
        """Functions that differ over the fields: what f64 says about it."""
        runs = RoundingTests(self.reference, classes, axes, self.seed)
        expected, results = runs.exact(self.reference), runs.exact(self.candidate)
        witnesses = [
            Witness(found, _floats(expected[found.output], results[found.output], found))
            for found in outcome.differences
        ]
        witness = next((w for w in witnesses if w.floats and _distinct(*w.floats)), witnesses[0])
        algebraic = not (outcome.keyed or outcome.exponentials or outcome.roots)
        if algebraic or _any_distinct(expected, results):
            return EquivalenceReport(Verdict.DIFFERENT, (self.seed,), witness=witness)
        return EquivalenceReport(
            Verdict.UNDECIDED,
            (self.seed,),
            witness=witness,
            reason=f"{witness}; f64 shows no difference: it may be too small to see, or a law that "
            "the fields do not know may make the functions equal",
            remarks=_remarks(outcome),
        )


def _distinct(x: float, y: float) -> bool:
    return abs(x - y) > DISTINCT * max(abs(x), abs(y))


def _any_distinct(expected: Sequence[Tensor[Floats]], results: Sequence[Tensor[Floats]]) -> bool:
    """Whether some output differs in f64 on inputs of some kind."""
    return any(
        error > DISTINCT
        for exact, result in zip(expected, results, strict=True)
        for error in relative_errors(result, exact)
    )


def _floats(
    expected: Tensor[Floats], result: Tensor[Floats], found: Difference
) -> tuple[float, float] | None:
    """What both functions give at a place on normal inputs."""
    values: list[float] = []
    for tensor in (expected, result):
        place = tuple(
            int(axis.labels[i]) for axis, i in zip(tensor.axes, found.element, strict=True)
        )
        values.append(float(tensor.array[(0, *place)]))
    if not np.isfinite(values).all():
        return None
    return values[0], values[1]


def _remarks(outcome: FieldOutcome) -> tuple[str, ...]:
    remarks: list[str] = []
    if not outcome.rooted:
        remarks.append(
            f"{outcome.roots} arguments of square roots, more than {MOST_ROOTS}, were not drawn as "
            "squares: sqrt(x)^2 = x was not known"
        )
    return tuple(remarks)
