"""
Whether a candidate computes what a reference computes, and as accurately.

There are two arguments for equality, which share no code: normal forms, and random tests at the
true shapes in which every input element is a variable of its own. One suffices. Functions that
differ in a test are different where f64 shows it, too, or where nothing but arithmetic is in them;
otherwise a law that tests do not know may make them equal. Equal functions pass the floating-point
gate, or are called inaccurate.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp

from mirage_mlir.equivalence.bounds import lanes_needed
from mirage_mlir.equivalence.exponents import independent_inputs
from mirage_mlir.equivalence.float_gate import FloatGate, Loss
from mirage_mlir.equivalence.float_inputs import Kind, kinds_of
from mirage_mlir.equivalence.random_tests import (
    EXPONENTIAL_LANES,
    LANES,
    MOST_LANES,
    Outcome,
    RandomTests,
    exponential_arguments,
    is_lowered,
)
from mirage_mlir.equivalence.report import EquivalenceReport, Tests, Verdict
from mirage_mlir.equivalence.sample import Dims, adjacent, restricted, whole, window
from mirage_mlir.equivalence.slabs import Slab, find_slabs
from mirage_mlir.equivalence.witness import Witness, float_witness
from mirage_mlir.equivalence.work import most_blocks, most_elements, seconds
from mirage_mlir.interpreters.dims import NotClosed
from mirage_mlir.interpreters.domain import NotInterpretable
from mirage_mlir.interpreters.forms import Proof, first_divergence, prove

BUDGET = 5.0
"""Seconds of random tests, by shapes, above which normal forms have to do."""

AT_ONCE = 0.25
"""Seconds for which all elements are computed, or as many labels of slabs as that allows."""

GATE = 0.5
"""Seconds for the floating-point gate: a kind of input takes as long as one lane of residues."""

MOST_GATE = 5.0
"""The same where nothing smaller can be run."""

MOST_TOGETHER = 1 << 20
"""Elements of a value that the gate looks at, if fewer labels have fewer: some 100 MB for all."""

MOST_WHOLE = 1 << 23
"""Elements of a value that the gate looks at, at most: 64 MB in f64, of which it has about six."""

MOST_RESIDUES = 5 << 20
"""Residues of one value in random tests: 40 MB; an evaluation has up to ten of them at a time."""

WINDOW = 1 << 15
"""Elements of a result that the gate looks at where a program has no slabs."""

MOST_BLOCKS = 1 << 21
"""Blocks of a graph on such elements: listing them takes a second."""

FEWEST_KINDS = 3
"""Kinds of inputs that are looked at in any case: normal, one large channel, tiny."""

READ = 3e-8
"""Seconds for an input of the gate: it is drawn and rounded to its element type once."""

LABELS = (4, 3, 2, 1)
"""How many labels of a class of a slab axis are tested."""

GATE_LABELS = (64, 16, 8, 4, 2, 1)
"""How many labels the gate looks at: errors are averages over elements."""

MOST_KNOWN = 8
"""What is remembered of a reference: candidates of one program have the same slabs as a rule."""


def check_equivalence(
    reference: FuncOp,
    candidate: FuncOp,
    tests: int = LANES,
    seed: int = 0,
    budget: float = BUDGET,
) -> EquivalenceReport:
    """
    Compare two functions of one signature.

    Args:
        reference: what is to be computed.
        candidate: what claims to compute it.
        tests: modulo how many random primes they are compared, at least; more are drawn where the
            bound needs them.
        seed: of all random numbers; the same seed gives the same report but for `seconds`.
        budget: seconds that random tests may take, estimated from shapes.
    """
    return Verifier(reference, tests, seed, budget).compare(candidate)


@dataclass
class Verifier:
    """
    Comparisons of any number of candidates with one reference, which must not change meanwhile.

    What does not depend on a candidate is computed once. A report is the same as if its candidate
    were the only one.
    """

    reference: FuncOp
    tests: int = LANES
    seed: int = 0
    budget: float = BUDGET
    _drawn: dict[object, RandomTests] = field(default_factory=dict[object, RandomTests])
    _gates: dict[object, FloatGate] = field(default_factory=dict[object, FloatGate])

    def compare(self, candidate: FuncOp, budget: float | None = None) -> EquivalenceReport:
        """
        Whether a candidate computes what the reference does, and as accurately.

        `budget` is for random tests of this candidate, if it is not that of all.
        """
        start = time.perf_counter()
        if self.reference.function_type != candidate.function_type:
            types = f"{self.reference.function_type} and {candidate.function_type}"
            return EquivalenceReport(
                Verdict.UNDECIDED, self.seed, reason=f"the types differ: {types}"
            )
        allowed = self.budget if budget is None else min(budget, self.budget)
        report = _Comparison(self, candidate, allowed).report()
        return replace(report, seconds=time.perf_counter() - start)

    def losses(self, candidate: FuncOp) -> list[Loss] | None:
        """A candidate's rounding errors alone; None where the program is too large."""
        return _Comparison(self, candidate, self.budget).losses()

    def float_difference(self, candidate: FuncOp) -> str | None:
        """Where f64 tells a candidate from the reference; None where it does not."""
        report = _Comparison(self, candidate, self.budget).float_difference()
        return None if report is None else str(report)

    def gate(self, dims: Dims, kinds: tuple[Kind, ...]) -> FloatGate:
        """The floating-point gate on some indices of the arguments."""
        key = (*dims, kinds)
        if key not in self._gates:
            _forget(self._gates)
            self._gates[key] = FloatGate(self.reference, dims, kinds, self.seed)
        return self._gates[key]

    def random_tests(
        self, dims: Dims, *, exponential: frozenset[int], expand_sigmoid: bool, lanes: int
    ) -> RandomTests:
        """Random tests on some indices of the arguments."""
        key = (*dims, exponential, expand_sigmoid, lanes)
        if key not in self._drawn:
            _forget(self._drawn)
            self._drawn[key] = RandomTests(
                self.reference,
                dims,
                self.seed,
                exponential=exponential,
                expand_sigmoid=expand_sigmoid,
                lanes=lanes,
            )
        return self._drawn[key]


def _forget(known: dict[object, Any]) -> None:
    while len(known) >= MOST_KNOWN:
        del known[next(iter(known))]


class _Comparison:
    """One comparison of two functions."""

    def __init__(self, verifier: Verifier, candidate: FuncOp, budget: float):
        self.verifier = verifier
        self.budget = budget
        self.reference = verifier.reference
        self.candidate = candidate
        self.functions = verifier.reference, candidate
        self.seed = verifier.seed
        self.slabs = find_slabs(*self.functions)
        self.exponential = exponential_arguments(self.functions)
        self.lowered = is_lowered(*self.functions)

    def report(self) -> EquivalenceReport:
        """All steps, as far as they are needed."""
        proof = prove(*self.functions)
        dims, scope = self._sample()
        try:
            outcome = None if dims is None else self._outcome(dims)
        except NotInterpretable as error:
            outcome, scope = None, str(error)
        try:
            if dims is None or outcome is None:
                return self._judged(proof, Tests(reason=scope))
            if outcome.differences:
                return self._differs(outcome, dims, proof)
            return self._judged(proof, _tests(outcome, scope))
        except NotInterpretable as error:
            return self._undecided(str(error))

    # Equal functions

    def _judged(self, proof: Proof, tests: Tests, *remarks: str) -> EquivalenceReport:
        """Whether arguments suffice, and whether the candidate is accurate."""
        if not (proof.proved or tests.counts):
            floats = self.float_difference()
            if floats is not None:
                return floats
            reason = f"normal forms: {proof.reason}; {tests}"
            return replace(self._undecided(reason), proof=proof, tests=tests, remarks=remarks)
        losses = self.losses()
        if losses is None:
            remarks = (*remarks, "rounding errors were not measured: the program is too large")
        accurate = all(loss.acceptable for loss in losses or ())
        return EquivalenceReport(
            Verdict.EQUAL if accurate else Verdict.INACCURATE,
            self.seed,
            proof,
            tests,
            tuple(losses or ()),
            remarks=remarks,
        )

    def _undecided(self, reason: str) -> EquivalenceReport:
        return EquivalenceReport(Verdict.UNDECIDED, self.seed, reason=reason)

    def losses(self) -> list[Loss] | None:
        """The errors of the candidate; None where the program is too large to measure them."""
        gate = self._gate(self.slabs, GATE)
        if gate is not None:
            return gate.losses(self.candidate)
        # Sums over fewer terms, the others being weighted by zero.
        gate = self._gate(find_slabs(self.reference, self.reference, sums=True), GATE)
        try:
            if gate is not None:
                return gate.losses(self.candidate)
        except NotClosed:
            # The candidate needs other indices than the program does.
            pass
        gate = self._gate(self.slabs, MOST_GATE)
        return self._window_losses() if gate is None else gate.losses(self.candidate)

    def _window_losses(self) -> list[Loss] | None:
        """The errors on adjacent elements; None where they need others, or all are too many."""
        random = np.random.default_rng([self.seed, 7])
        dims = window(self.reference, WINDOW, random)
        if dims is None or most_blocks(self.candidate) > MOST_BLOCKS:
            return None
        kinds = kinds_of(self.reference, exponentials=bool(self.exponential))
        try:
            return self.verifier.gate(dims, tuple(kinds)).losses(self.candidate)
        except NotClosed:
            return None

    def _gate(self, slabs: Sequence[Slab], most: float) -> FloatGate | None:
        """The gate on as many adjacent labels as take little time, or less than the most."""
        random = np.random.default_rng([self.seed, 6])
        kinds = kinds_of(self.reference, exponentials=bool(self.exponential))
        found = [
            (labels, seconds(self.reference, 1, slabs, labels, READ))
            for labels in GATE_LABELS
            if labels == 1 or most_elements(self.reference, slabs, labels) <= MOST_TOGETHER
        ]
        fitting = (each for each in found if each[1] * len(kinds) <= GATE)
        labels, one = next(fitting, found[-1])
        if most_elements(self.reference, slabs, labels) > MOST_WHOLE:
            return None
        # Of a large program only the kinds that say most.
        if one * len(kinds) > GATE:
            kinds = kinds[: max(FEWEST_KINDS, int(GATE / one))]
        if one * len(kinds) > most:
            return None
        dims = adjacent(self.reference, slabs, labels, random)
        return self.verifier.gate(dims, tuple(kinds))

    # Random tests

    def _sample(self) -> tuple[Dims | None, str]:
        """What is computed and what that is called; or None and why nothing is."""
        lanes = self._lanes * (2 if self.exponential else 1)
        estimate = 2 * seconds(self.reference, lanes, [], 1)
        residues = lanes * most_elements(self.reference, [], 1)
        if (estimate <= AT_ONCE and residues <= MOST_RESIDUES) or not self.slabs:
            dims, scope = whole(self.reference), "all elements"
        else:
            labels, estimate = self._labels(lanes)
            residues = lanes * most_elements(self.reference, self.slabs, labels)
            random = np.random.default_rng([self.seed, 5])
            dims = restricted(self.reference, self.slabs, labels, random)
            scope = f"slabs ({_scope(self.slabs, labels)}), which stand for all elements"
        if estimate > self.budget:
            allowed = f"{self.budget:g} s are allowed"
            return None, f"random tests would take about {estimate:.0f} s, {allowed}"
        if residues > MOST_RESIDUES:
            return None, f"random tests would keep {residues:.0f} residues of one value"
        return dims, scope

    @property
    def _lanes(self) -> int:
        """Modulo how many primes functions are compared first of all."""
        return max(self.verifier.tests, EXPONENTIAL_LANES if self.exponential else LANES)

    def _labels(self, lanes: int) -> tuple[int, float]:
        """How many labels of each class are computed, and the seconds that takes."""
        found = [
            (labels, 2 * seconds(self.reference, lanes, self.slabs, labels))
            for labels in LABELS
            if labels == 1
            or lanes * most_elements(self.reference, self.slabs, labels) <= MOST_RESIDUES
        ]
        return next((each for each in found if each[1] <= AT_ONCE), found[-1])

    def _outcome(self, dims: Dims) -> Outcome:
        """Random tests, modulo as many primes as the bound needs."""
        lanes = self._lanes
        outcome = self._tested(dims, lanes)
        needed = lanes_needed(outcome.evidence)
        if outcome.passed and outcome.bound.probability < 1.0 and needed > lanes:
            outcome = self._tested(dims, min(needed, MOST_LANES))
        return outcome

    def _tested(self, dims: Dims, lanes: int) -> Outcome:
        tests = self.verifier.random_tests(
            dims,
            exponential=self.exponential,
            expand_sigmoid=self.lowered,
            lanes=lanes,
        )
        private = None
        if self.exponential:
            private = independent_inputs(self.reference, self.slabs, expand_sigmoid=self.lowered)
        return tests.run(self.candidate, private)

    # Functions that differ in a test

    def _differs(self, outcome: Outcome, dims: Dims, proof: Proof) -> EquivalenceReport:
        """Functions that differ modulo primes: what f64 and normal forms say about it."""
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

    def float_difference(self) -> EquivalenceReport | None:
        """A report on functions that f64 tells apart; None where it does not."""
        gate = self._gate(self.slabs, MOST_GATE)
        if gate is None or not gate.differs(self.candidate):
            return None
        floats = float_witness(self.functions, gate.dims, (), self.seed)
        witness = Witness(None, floats, first_divergence(*self.functions))
        if floats is None:
            return None
        return EquivalenceReport(Verdict.DIFFERENT, self.seed, witness=witness)


def _tests(outcome: Outcome, scope: str) -> Tests:
    bound = outcome.bound
    return Tests(outcome.passed, bound.probability, bound.theorem, scope, outcome.reason)


def _scope(slabs: Sequence[Slab], labels: int) -> str:
    """How much of each slab axis is computed."""
    parts: list[str] = []
    for slab in slabs:
        count = sum(len(each) for each in slab.classes)
        kept = sum(min(labels, len(each)) for each in slab.classes)
        parts.append(f"{kept} of {count}")
    return ", ".join(parts)
