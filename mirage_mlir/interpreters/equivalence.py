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
from dataclasses import replace

from xdsl.dialects.func import FuncOp

from mirage_mlir.interpreters.dimensions import DimensionClasses
from mirage_mlir.interpreters.domain import NotInterpretable
from mirage_mlir.interpreters.field_tests import (
    CHEAP_ROOTS,
    MOST_KNOWN,
    MOST_ROOTS,
    Draws,
    FieldOutcome,
    FieldTests,
)
from mirage_mlir.interpreters.forms import Proof, first_divergence, prove
from mirage_mlir.interpreters.report import EquivalenceReport, Verdict, Witness
from mirage_mlir.interpreters.representatives import RICHEST, Axes, field_axes, rounding_axes
from mirage_mlir.interpreters.rounding import Loss, RoundingTests, longest_sum
from mirage_mlir.interpreters.witness import f64_differs, float_witness

TESTS = 3
"""Random tests by default."""

TESTS_OF_MAXIMA = 32
"""
Random tests of maxima when nothing else speaks for equality.

A maximum is in each random order one of its terms, so that one of k terms that is left out shows at
an element in one test of k only; no theorem but this one bounds it.
"""


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
    return Verifier(reference, tests, seed).compare(candidate)


class Verifier:
    """
    Comparisons of any number of candidates with one reference, which must not change meanwhile.

    What does not depend on a candidate is computed once: what the reference returns on inputs
    drawn for the axes of its arguments, how inputs are calibrated, and tolerances. A report is the
    same as if its candidate were the only one.
    """

    def __init__(self, reference: FuncOp, tests: int = TESTS, seed: int = 0):
        self.reference = reference
        self.tests = tests
        self.seed = seed
        self.draws = Draws(reference, seed)
        self._rounding: dict[tuple[object, ...], RoundingTests] = {}

    def compare(self, candidate: FuncOp) -> EquivalenceReport:
        """Whether a candidate computes what the reference does, and as accurately."""
        start = time.perf_counter()
        try:
            report = _Comparison(self, candidate).report()
        except NotInterpretable as error:
            report = EquivalenceReport(Verdict.UNDECIDED, (self.seed,), reason=str(error))
        return replace(report, seconds=time.perf_counter() - start)

    def losses(self, candidate: FuncOp) -> list[Loss]:
        """A candidate's rounding errors alone: no argument for equality, but a sign of it."""
        classes = DimensionClasses((self.reference, candidate))
        return self.rounding(candidate, classes).losses(candidate)

    def rounding(self, candidate: FuncOp, classes: DimensionClasses) -> RoundingTests:
        """Tests of rounding on axes that suit both functions."""
        return self.rounding_on(rounding_axes((self.reference, candidate), classes), classes)

    def rounding_on(self, axes: Axes, classes: DimensionClasses) -> RoundingTests:
        """Tests of rounding on given axes."""
        terms = longest_sum(self.reference, classes)
        key = (*axes, terms)
        if key not in self._rounding:
            if len(self._rounding) >= MOST_KNOWN:
                self._rounding.clear()
            self._rounding[key] = RoundingTests(self.reference, terms, axes, self.seed)
        return self._rounding[key]


class _Comparison:
    """One comparison of two functions."""

    def __init__(self, verifier: Verifier, candidate: FuncOp):
        self.verifier = verifier
        self.reference = verifier.reference
        self.candidate = candidate
        self.tests = verifier.tests
        self.seed = verifier.seed

    def report(self) -> EquivalenceReport:
        """All steps, as far as they are needed."""
        if self.reference.function_type != self.candidate.function_type:
            reason = f"the types differ: {self.reference.function_type}"
            return self._undecided(f"{reason} and {self.candidate.function_type}")
        classes = DimensionClasses((self.reference, self.candidate))
        outcome, axes = self._field_outcome(classes, hasty=True)
        if outcome.differences:
            runs = self.verifier.rounding_on(axes, classes)
            differs = self._differs(outcome, runs)
            if differs or not outcome.roots:
                return self._different(classes, outcome, runs, differs=differs)
            outcome, axes = self._field_outcome(classes, hasty=False)
            if outcome.differences:
                return self._different(classes, outcome, runs, differs=False)
        proof = prove(self.reference, self.candidate)
        if not proof.proved and "max" in outcome.keyed and self.tests < TESTS_OF_MAXIMA:
            self.tests = TESTS_OF_MAXIMA
            outcome, axes = self._field_outcome(classes, hasty=False)
            if outcome.differences:
                runs = self.verifier.rounding_on(axes, classes)
                differs = self._differs(outcome, runs)
                return self._different(classes, outcome, runs, differs=differs)
        if outcome.passed < self.tests:
            if proof.proved:
                return self._equal(classes, outcome, proof, (f"no tests: {outcome.reason}",))
            return self._undecided(outcome.reason)
        return self._equal(classes, outcome, proof, _remarks(outcome))

    def _equal(
        self,
        classes: DimensionClasses,
        outcome: FieldOutcome,
        proof: Proof,
        remarks: tuple[str, ...],
    ) -> EquivalenceReport:
        """The functions are equal; whether the candidate is accurate too."""
        losses = self.verifier.rounding(self.candidate, classes).losses(self.candidate)
        accurate = all(loss.acceptable for loss in losses)
        passed = 0 if outcome.differences else outcome.passed
        return EquivalenceReport(
            Verdict.EQUAL if accurate else Verdict.INACCURATE,
            (self.seed,),
            passed,
            outcome.bound.probability if passed else 1.0,
            outcome.bound.theorem if passed else "",
            tuple(losses),
            remarks=remarks,
            proof=proof,
            ragged=classes.ragged,
        )

    def _undecided(self, reason: str) -> EquivalenceReport:
        return EquivalenceReport(Verdict.UNDECIDED, (self.seed,), reason=reason)

    def _field_outcome(
        self, classes: DimensionClasses, *, hasty: bool
    ) -> tuple[FieldOutcome, Axes]:
        """
        Tests with as many different indices as square roots allow, and their axes.

        Where that is not the most, the candidate is first looked at with the most: there arguments
        of square roots need not be squares, and a difference may be none.
        """
        functions = (self.reference, self.candidate)
        richest = field_axes(functions, classes, RICHEST, self.seed)
        for level in range(RICHEST, -1, -1):
            axes = field_axes(functions, classes, level, self.seed) if level < RICHEST else richest
            most = CHEAP_ROOTS if level else MOST_ROOTS
            if self.verifier.draws.roots(axes, self.tests) > most:
                continue
            if hasty and level < RICHEST and (found := self._tested(richest, 0)).differences:
                return found, richest
            outcome = self._tested(axes, most, hasty=hasty)
            if outcome.rooted or (hasty and outcome.differences):
                return outcome, axes
        return self._tested(richest, 0, hasty=hasty), richest

    def _tested(self, axes: Axes, most_roots: int, *, hasty: bool = False) -> FieldOutcome:
        draws = self.verifier.draws
        return FieldTests(draws, self.candidate, axes, self.tests, most_roots).run(hasty=hasty)

    def _differs(self, outcome: FieldOutcome, runs: RoundingTests) -> bool:
        """Whether a difference over the fields is one of the functions, too."""
        if not (outcome.keyed or outcome.exponentials or outcome.roots):
            return True
        return f64_differs(runs, self.candidate)

    def _different(
        self,
        classes: DimensionClasses,
        outcome: FieldOutcome,
        runs: RoundingTests,
        *,
        differs: bool,
    ) -> EquivalenceReport:
        """Functions that differ over the fields: what f64 says about it."""
        if not differs and (proof := prove(self.reference, self.candidate)).proved:
            remark = "the fields do not know a law that makes the functions equal"
            return self._equal(classes, outcome, proof, (f"no tests: {remark}",))
        floats = float_witness(runs, self.candidate, outcome.differences, self.seed)
        found = outcome.differences[0]
        if floats is not None:
            same = (d for d in outcome.differences if d.output == floats.output)
            here = (d for d in outcome.differences if d.element == floats.element)
            found = next((d for d in here if d.output == floats.output), next(same, found))
        if differs:
            culprit = first_divergence(self.reference, self.candidate)
            witness = Witness(found, floats, culprit)
            return EquivalenceReport(Verdict.DIFFERENT, (self.seed,), witness=witness)
        witness = Witness(found, floats)
        return EquivalenceReport(
            Verdict.UNDECIDED,
            (self.seed,),
            witness=witness,
            reason=f"{witness}; f64 shows no difference: it may be too small to see, or a law that "
            "neither the fields nor the normal form know may make the functions equal",
            remarks=_remarks(outcome),
        )


def _remarks(outcome: FieldOutcome) -> tuple[str, ...]:
    remarks: list[str] = []
    if not outcome.rooted:
        remarks.append(
            f"{outcome.roots} arguments of square roots, more than {MOST_ROOTS}, were not drawn as "
            "squares: sqrt(x)^2 = x was not known"
        )
    return tuple(remarks)
