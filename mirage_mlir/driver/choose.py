"""
From graphs that a search offers to one that is proved, compiled and fit to run.

The first offer that is verified and compiles without spilled registers, and without warpgroup
matmuls that wait for each other, is taken, but for each
operator alone where that takes far longer than one that spills; why those before it were not is
remembered. What comes behind it is not compared: only what is returned has to be
verified. Only where that is asked for, one that is not verified is taken where none is, and never
one that differs from the program.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from xdsl.dialects import func
from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.diagnostics import fail, shortened
from mirage_mlir.driver.compile import CompiledFunction, Seconds, compile_function
from mirage_mlir.driver.source import alone, text_of
from mirage_mlir.effort import VERIFY_BUDGET
from mirage_mlir.equivalence import EquivalenceReport, Verdict
from mirage_mlir.equivalence.parts import Pairs, PartVerifier
from mirage_mlir.progress import Progress
from mirage_mlir.runtime.artifact import TensorSpec
from mirage_mlir.search.report import SearchReport
from mirage_mlir.targets.target import target_named

SPILLING = 2.0
"""Times its modelled time that a kernel takes at most that ptxas slows, by spilled registers or by
matmuls that wait for each other: a guess that is on the safe side. Each operator alone is better
than what then takes as long. Attention's gradient alone takes 7 times as long."""


@dataclass(frozen=True)
class TimedCandidate:
    """A candidate beside its clock."""

    structure: str
    kernels: int
    modelled_seconds: float
    seconds: float | None
    """As measured; none where it did not run, or is wrong."""
    problem: str
    """Why it cannot be taken; empty for one that could."""


@dataclass(frozen=True)
class Offer:
    """A function of uGraphs that may be taken."""

    function: func.FuncOp
    alone: bool
    """It has each operator alone."""
    search: SearchReport
    """What was searched, and what the model says of this offer."""
    timing: tuple[str, ...] = ()
    """Lines on how it was chosen, where candidates were timed."""
    timed: tuple[TimedCandidate, ...] = ()
    """All candidates that were timed with it."""
    pairs: Pairs = ()
    """Numbers of values of the program and of the function that should be equal, part by part."""
    known: EquivalenceReport | None = None
    """What comparing it with the program came to, where somebody did."""

    def proof(self, verifier: PartVerifier) -> EquivalenceReport:
        """Whether it computes what the program of `verifier` does."""
        return self.known or verifier.compare(self.function, self.pairs)


@dataclass(frozen=True)
class Choice:
    """What was taken for one chip."""

    offer: Offer
    compiled: CompiledFunction
    proof: EquivalenceReport
    rejected: tuple[str, ...]
    """Why each offer before it was not taken."""


@dataclass
class Chooser:
    """Offers for one program, searched for as they are needed, and each verified once."""

    reference: func.FuncOp
    source: Iterator[Offer]
    """The offers, best first."""
    most: int
    """How many are tried, besides each operator alone."""
    seconds: Seconds
    progress: Progress
    proofs: dict[str, EquivalenceReport] = field(default_factory=dict[str, EquivalenceReport])
    """What was found about graphs, by their text: choosers for other chips may share it."""
    pack: bool = False
    """Whether kernels read packed copies of constant inputs."""
    unverified: bool = False
    """Whether an offer may be taken that is not verified, where none is."""
    verify_budget: float = VERIFY_BUDGET
    """Seconds that random tests of one offer may take."""
    outputs: tuple[TensorSpec, ...] | None = None
    """How results must lie, where code for another chip is beside it in one artifact."""
    _offers: list[Offer] = field(default_factory=list[Offer])

    @cached_property
    def _verifier(self) -> PartVerifier:
        return PartVerifier(self.reference, budget=self.verify_budget)

    def choose(self, target: str) -> Choice:
        """
        The offer to run on `target`, a GPU or any with an instruction set.

        Raises:
            DiagnosticException: there is none; the message says what was wrong with each.
        """
        chip = target_named(target).chip
        rejected: list[str] = []
        spilling: Choice | None = None
        doubtful: Choice | None = None
        tried: set[str] = set()
        number = 0
        while self._has(number):
            # Each operator alone is often a graph that the search found, too.
            again = self._text(number) in tried
            tried.add(self._text(number))
            choice = None if again else self._try(number, target, rejected)
            number += 1
            if choice is None:
                continue
            if choice.proof.verdict is not Verdict.EQUAL:
                rejected.append(f"verification: {choice.proof.verdict.value}: {choice.proof}")
                if choice.proof.accepted(unverified=True):
                    doubtful = doubtful or choice
            elif reason := _slowed(choice):
                rejected.append(f"for {chip} {reason}")
                spilling = min(spilling or choice, choice, key=_spilled)
            elif spilling is not None and _far_slower(choice, spilling):
                break
            else:
                return choice
        if spilling is not None:
            return spilling
        if doubtful is None or not self.unverified:
            first = f": {shortened(rejected[0])}" if rejected else ""
            said = f"cannot be compiled for {chip}{first}"
            fail(self.reference, said, note="; ".join(rejected))
        return doubtful

    def _has(self, number: int) -> bool:
        """Whether there is an offer `number`."""
        while len(self._offers) <= number:
            self.progress.now("searching")
            with self.seconds.phase("search"):
                offer = next(self.source, None)
            if offer is None:
                return False
            if offer.alone or len(self._offers) < self.most:
                self._offers.append(offer)
        return True

    def _try(self, number: int, target: str, rejected: list[str]) -> Choice | None:
        """Offer `number`, compiled and compared; None where it cannot be, with the reason noted."""
        offer = self._offers[number]
        self.progress.now(f"compiling for {target}")
        try:
            name = offer.function.sym_name.data
            compiled = compile_function(alone(offer.function), name, target, pack=self.pack)
        except DiagnosticException as error:
            rejected.append(str(error))
            return None
        for phase, seconds in compiled.seconds.items():
            self.seconds.add(phase, seconds)
        if self.outputs not in (None, compiled.outputs):
            rejected.append("results lie otherwise than those of the code for other chips")
            return None
        return Choice(offer, compiled, self._proof(number), tuple(rejected))

    def _text(self, number: int) -> str:
        return text_of(alone(self._offers[number].function))

    def _proof(self, number: int) -> EquivalenceReport:
        text = self._text(number)
        if text not in self.proofs:
            self.progress.now("verifying")
            with self.seconds.phase("verify"):
                self.proofs[text] = self._offers[number].proof(self._verifier)
        return self.proofs[text]


def _far_slower(choice: Choice, spilling: Choice) -> bool:
    """Whether each operator alone takes longer in the model than what spills may in fact."""
    search = spilling.offer.search
    at_most = search.modelled + (SPILLING - 1) * _slowed_seconds(spilling)
    return choice.offer.alone and 0 < at_most < choice.offer.search.modelled


def _slowed_seconds(choice: Choice) -> float:
    """The modelled time of the kernels that ptxas slowed; of all where each has no model."""
    search, compiled = choice.offer.search, choice.compiled
    models = () if search.explanation is None else search.explanation.kernels
    if len(models) != len(compiled.launched_by):
        return search.modelled
    names = [compiled.code.launches[at.launch].kernel for at in compiled.launched_by]
    return sum(
        model.seconds
        for model, name in zip(models, names, strict=True)
        if model is not None and name in compiled.assembled.slowed
    )


def _slowed(choice: Choice) -> str:
    """What ptxas did to its kernels that the model knows nothing of; empty where all is well."""
    if spilled := _spilled(choice):
        return f"it spills {spilled} bytes of registers"
    if choice.compiled.assembled.serializes_wgmma:
        return "matmuls of its warpgroups wait for each other"
    return ""


def _spilled(choice: Choice) -> int:
    return choice.compiled.assembled.spill_bytes
