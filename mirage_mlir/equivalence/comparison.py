"""One comparison of two functions: proofs, random tests, the floating-point gate, and a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from xdsl.dialects.func import FuncOp

from mirage_mlir.equivalence.accuracy import MOST_GATE, Accuracy
from mirage_mlir.equivalence.bounds import ENOUGH, lanes_needed
from mirage_mlir.equivalence.comparison_report import EquivalenceReport, Tests, Verdict, verdict_of
from mirage_mlir.equivalence.definedness import selected_operation, undefined_operation
from mirage_mlir.equivalence.exponents import independent_inputs
from mirage_mlir.equivalence.float_gate import FloatGate
from mirage_mlir.equivalence.known import Known
from mirage_mlir.equivalence.random_tests import (
    EXPONENTIAL_LANES,
    LANES,
    MOST_LANES,
    Outcome,
    exponential_arguments,
)
from mirage_mlir.equivalence.sample import Dims, restricted, whole
from mirage_mlir.equivalence.slabs import Slab, find_slabs
from mirage_mlir.equivalence.steps import changed_step
from mirage_mlir.equivalence.symbolic import Proof, first_divergence, prove
from mirage_mlir.equivalence.witness import Witness, float_witness
from mirage_mlir.equivalence.work import most_elements, seconds
from mirage_mlir.interpreters.dims import NotClosed
from mirage_mlir.interpreters.domain import NotInterpretable
from mirage_mlir.interpreters.spelled_out import expands_sigmoid

AT_ONCE = 0.25
"""Seconds for which all elements are computed, or as many labels of slabs as that allows."""

SECOND = 1 << 40
"""Added to the seed of a second test, whose primes, inputs and random functions are others."""

MOST_RESIDUES = 5 << 20
"""Residues of one value in random tests: 40 MB; an evaluation has up to ten of them at a time."""

LABELS = (4, 3, 2, 1)
"""How many labels of a class of a slab axis are tested."""


class _Compared(NamedTuple):
    """The outcome of random tests, and the elements that they computed."""

    outcome: Outcome
    dims: Dims
    """The indices of the arguments that were computed with."""
    scope: str
    """What that is called."""


class CandidateComparison:
    """Compares two functions, step by step."""

    def __init__(self, known: Known, candidate: FuncOp, tests: int, budget: float):
        self.known = known
        self.tests = tests
        self.budget = budget
        self.reference = known.reference
        self.candidate = candidate
        self.functions = known.reference, candidate
        self.seed = known.seed
        self.slabs = find_slabs(*self.functions)
        self.exponential = exponential_arguments(self.functions)
        self.expands_sigmoid = expands_sigmoid(*self.functions)
        self.accuracy = Accuracy(known, candidate, self.slabs, exponentials=bool(self.exponential))

    def report(self) -> EquivalenceReport:
        """The report; steps that are not needed are left out."""
        proof = prove(*self.functions, partial=self.known.partial)
        found = self._compared()
        try:
            if isinstance(found, str):
                return self._judged(proof, Tests(reason=found))
            if found.outcome.differences:
                return self._differs(found.outcome, found.dims, proof)
            return self._judged(proof, self._tests(found, proof))
        except NotInterpretable as error:
            return self._undecided(str(error))

    def _tests(self, found: _Compared, proof: Proof) -> Tests:
        """
        The passed tests; without a proof they do not count where they may miss an undefined value.
        """
        undefined = None if proof.proved else undefined_operation(self.candidate)
        if undefined is not None:
            return Tests(reason=f"tests do not see where {undefined}")
        selected = None if proof.proved else selected_operation(self.reference)
        if selected is not None:
            return Tests(reason=f"tests do not see where {selected} that data selects is undefined")
        if self.known.partial and not proof.proved:
            return Tests(reason="tests do not see what is read of elements that may be undefined")
        outcome = found.outcome
        bound = outcome.bound
        return Tests(outcome.passed, bound.probability, bound.theorem, found.scope, outcome.reason)

    # Equal functions

    def _judged(self, proof: Proof, tests: Tests, *remarks: str) -> EquivalenceReport:
        """The verdict: whether arguments suffice, and whether the candidate is accurate."""
        if not (proof.proved or tests.counts):
            floats = self.float_difference()
            if floats is not None:
                return floats
            reason = f"normal forms: {proof.reason}; {tests}"
            return replace(self._undecided(reason), proof=proof, tests=tests, remarks=remarks)
        losses = self.accuracy.losses()
        if losses is None:
            remarks = (*remarks, "rounding errors were not measured: the program is too large")
        step = changed_step(self.reference, self.candidate)
        return EquivalenceReport(
            verdict_of(losses, step),
            self.seed,
            proof,
            tests,
            tuple(losses or ()),
            reason=step or "",
            remarks=remarks,
        )

    def _undecided(self, reason: str) -> EquivalenceReport:
        return EquivalenceReport(Verdict.UNDECIDED, self.seed, reason=reason)

    # Random tests

    def _compared(self) -> _Compared | str:
        """The outcome of random tests, or the reason why there are none."""
        lanes = self._lanes * (2 if self.exponential else 1)
        everything = 2 * seconds(self.reference, lanes, [], 1)
        affordable = everything <= self.budget and self._fits(lanes, [], 1)
        if self.slabs and not (everything <= AT_ONCE and affordable):
            try:
                return self._compared_on_slabs(lanes)
            except NotClosed as error:
                if not affordable:
                    return str(error)
            except NotInterpretable as error:
                return str(error)
        if not affordable:
            return self._too_much(everything)
        dims = whole(self.reference)
        try:
            return _Compared(self._outcome(dims), dims, "all elements")
        except NotInterpretable as error:
            return str(error)

    def _compared_on_slabs(self, lanes: int) -> _Compared | str:
        """
        The outcome on some labels of each class.

        Raises:
            NotClosed: the candidate needs other indices than these labels have.
            NotInterpretable: the functions cannot be interpreted.
        """
        labels, estimate = self._labels(lanes)
        if estimate > self.budget or not self._fits(lanes, self.slabs, labels):
            return self._too_much(estimate)
        random = np.random.default_rng([self.seed, 5])
        dims = restricted(self.reference, self.slabs, labels, random)
        scope = f"slabs ({_scope(self.slabs, labels)}), which stand for all elements"
        return _Compared(self._outcome(dims), dims, scope)

    def _fits(self, lanes: int, slabs: Sequence[Slab], labels: int) -> bool:
        """Whether the residues of the largest value fit in memory."""
        return lanes * most_elements(self.reference, slabs, labels) <= MOST_RESIDUES

    def _too_much(self, estimate: float) -> str:
        if estimate > self.budget:
            return f"random tests would take about {estimate:.0f} s, {self.budget:g} s are allowed"
        return "random tests would take too much memory"

    @property
    def _lanes(self) -> int:
        """The number of primes of the first tests."""
        return max(self.tests, EXPONENTIAL_LANES if self.exponential else LANES)

    def _labels(self, lanes: int) -> tuple[int, float]:
        """The number of labels of each class that are computed, and the seconds that this takes."""
        found = [
            (labels, 2 * seconds(self.reference, lanes, self.slabs, labels))
            for labels in LABELS
            if labels == 1 or self._fits(lanes, self.slabs, labels)
        ]
        return next((each for each in found if each[1] <= AT_ONCE), found[-1])

    def _outcome(self, dims: Dims) -> Outcome:
        """The outcome of random tests, of as many primes as the bound needs, or of two of them."""
        lanes = self._lanes
        outcome = self._tested(dims, lanes)
        needed = lanes_needed(outcome.evidence)
        if outcome.passed and outcome.bound.probability < 1.0 and needed > lanes:
            outcome = self._tested(dims, min(needed, MOST_LANES))
        if outcome.passed and ENOUGH < outcome.bound.probability <= ENOUGH**0.5:
            return outcome.followed_by(self._tested(dims, outcome.evidence.lanes, SECOND))
        return outcome

    def _tested(self, dims: Dims, lanes: int, repetition: int = 0) -> Outcome:
        tests = self.known.random_tests(
            dims,
            exponential=self.exponential,
            expand_sigmoid=self.expands_sigmoid,
            lanes=lanes,
            seed=self.seed + repetition,
        )
        private = None
        if self.exponential:
            private = independent_inputs(
                self.reference, self.slabs, expand_sigmoid=self.expands_sigmoid
            )
        return tests.run(self.candidate, private)

    # Functions that differ in a test

    def _differs(self, outcome: Outcome, dims: Dims, proof: Proof) -> EquivalenceReport:
        """
        The report on functions that differ modulo primes, with the answers of f64 and normal forms.
        """
        evidence = outcome.evidence
        exact = not (evidence.keyed or evidence.exponentials)
        if proof.proved and not exact:
            remark = "random tests do not know a law that makes the functions equal"
            return self._judged(proof, Tests(reason=remark))
        floats = float_witness(self.functions, dims, outcome.differences, self.seed)
        if proof.proved:
            reason = f"normal forms are equal, and random tests differ: {outcome.differences[0]}"
            return self._undecided(f"the arguments contradict each other, which is a bug: {reason}")
        if exact or floats is not None:
            found = outcome.differences[0]
            if floats is not None:
                places = [d for d in outcome.differences if d.element == floats.element]
                found = next((d for d in places if d.output == floats.output), found)
            witness = Witness(found, floats, first_divergence(*self.functions))
            return EquivalenceReport(Verdict.DIFFERENT, self.seed, witness=witness)
        witness = Witness(outcome.differences[0], None)
        return EquivalenceReport(
            Verdict.UNDECIDED,
            self.seed,
            proof,
            witness=witness,
            reason=f"{witness}; f64 shows no difference: it may be too small to see, or a law that "
            "neither random tests nor the normal form know may make the functions equal",
        )

    def difference_in_f64(self) -> str | None:
        """In what the functions differ in f64; what was not compared counts as different."""
        gate = self.accuracy.gate(self.slabs, MOST_GATE)
        if gate is None:
            return "the functions are too large to be compared in f64"
        if not gate.is_defined:
            return "no element is a number in f64 on inputs of any kind"
        if not gate.differs(self.candidate):
            return None
        found = self._told_apart(gate)
        return "the results differ in f64" if found is None else str(found)

    def float_difference(self) -> EquivalenceReport | None:
        """A report on functions that f64 tells apart on simple inputs; None where it does not."""
        gate = self.accuracy.gate(self.slabs, MOST_GATE)
        if gate is None or not gate.differs(self.candidate):
            return None
        return self._told_apart(gate)

    def _told_apart(self, gate: FloatGate) -> EquivalenceReport | None:
        """A report on functions that differ in f64, where they do so on simple inputs."""
        floats = float_witness(self.functions, gate.dims, (), self.seed)
        witness = Witness(None, floats, first_divergence(*self.functions))
        if floats is None:
            return None
        return EquivalenceReport(Verdict.DIFFERENT, self.seed, witness=witness)


def _scope(slabs: Sequence[Slab], labels: int) -> str:
    """The part of each slab axis that is computed, in words."""
    parts: list[str] = []
    for slab in slabs:
        count = sum(len(each) for each in slab.classes)
        kept = sum(min(labels, len(each)) for each in slab.classes)
        parts.append(f"{kept} of {count}")
    return ", ".join(parts)
