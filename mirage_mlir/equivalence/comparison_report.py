"""The report on a comparison of two functions, as text and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from mirage_mlir.equivalence.bounds import ENOUGH
from mirage_mlir.equivalence.float_gate import Loss
from mirage_mlir.equivalence.symbolic import Proof
from mirage_mlir.equivalence.witness import Witness

VERIFIED, NOT_VERIFIED = "verified", "NOT VERIFIED"
"""What is said of a result: one that is proved or tested, and accurate, or one that is not."""

NOT_COMPARED = Proof(False, "not compared")


class Verdict(Enum):
    """The outcome of a comparison."""

    EQUAL = "equal"
    """Proved or tested, and accurate."""
    DIFFERENT = "not equal"
    UNDECIDED = "not proved"
    INACCURATE = "inaccurate"
    """Equal as functions of real numbers, but the candidate loses too much accuracy."""


@dataclass(frozen=True)
class Tests:
    """The outcome of random tests."""

    passed: bool = False
    """Whether all elements that were computed are equal."""
    bound: float = 1.0
    """The probability, at most, that different functions pass."""
    theorem: str = ""
    """Which theorem gives the bound."""
    scope: str = ""
    """What was computed: all elements, or slabs that stand for all."""
    reason: str = ""
    """Why there are none, or why they do not count."""

    @property
    def counts(self) -> bool:
        """
        Whether tests count as an argument: a wrong function passes them with a probability below
        1e-9.
        """
        return self.passed and self.bound <= ENOUGH

    def __str__(self) -> str:
        if self.counts:
            return (
                f"tested: equal modulo random primes at {self.scope}, wrong with probability at "
                f"most {self.bound:.1e} by {self.theorem}"
            )
        if self.passed:
            return (
                f"not tested: equal at {self.scope}, but wrong with a probability of up to "
                f"{self.bound:.1e}: {self.theorem}"
            )
        return f"not tested: {self.reason}"


@dataclass(frozen=True)
class EquivalenceReport:
    """The outcome of a comparison and the arguments for it."""

    verdict: Verdict
    seed: int
    """What reproduces the run."""
    proof: Proof = NOT_COMPARED
    """Whether the normal forms are equal."""
    tests: Tests = Tests(reason="not compared")
    """Whether random tests say so, which share nothing with normal forms."""
    losses: tuple[Loss, ...] = ()
    """The rounding error of each output on each kind of input."""
    witness: Witness | None = None
    reason: str = ""
    """Why it is not decided, or inaccurate on other grounds than errors that were measured."""
    remarks: tuple[str, ...] = ()
    seconds: float = 0.0

    def accepted(self, *, unverified: bool) -> bool:
        """
        Whether a candidate may be returned.

        With `unverified` also where equality is not proved, or accuracy is lost; never where the
        functions differ.
        """
        return self.verdict is Verdict.EQUAL or (
            unverified and self.verdict is not Verdict.DIFFERENT
        )

    @property
    def headline(self) -> str:
        """The verdict in one line."""
        if self.verdict is Verdict.EQUAL:
            return f"{VERIFIED}: {self}"
        return f"{NOT_VERIFIED}: {self.verdict.value}: {self}"

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments for equality that hold: `proved`, `tested`."""
        found = {"proved": self.proof.proved, "tested": self.tests.counts}
        return tuple(name for name, holds in found.items() if holds)

    @property
    def worst(self) -> Loss | None:
        """The error that is largest relative to its tolerance."""
        return max(self.losses, key=lambda loss: loss.error / loss.tolerance, default=None)

    def __str__(self) -> str:
        match self.verdict:
            case Verdict.EQUAL:
                return self._argument()
            case Verdict.DIFFERENT:
                return f"{self.witness} (seed {self.seed})"
            case Verdict.UNDECIDED:
                return self.reason
            case Verdict.INACCURATE:
                return f"{self.reason or _loss_text(self.worst)}; {self._argument()}"

    def _argument(self) -> str:
        proved = "proved: the normal forms are equal"
        parts = [proved if self.proof.proved else f"not proved: {self.proof.reason}"]
        parts.append(str(self.tests) + (f" (seed {self.seed})" if self.tests.passed else ""))
        if self.verdict is Verdict.EQUAL and self.worst is not None:
            parts.append(_loss_text(self.worst))
        return "; ".join([*parts, *self.remarks])

    def fields(self) -> dict[str, object]:
        """
        The report as JSON has it.

        `status` is `verified` or `NOT VERIFIED`; `verdict` is `equal`, `not equal`, `not proved` or
        `inaccurate`; `arguments` those that hold, of `proved` (by normal forms, for all inputs) and
        `tested` (with `bound` by `theorem`, at the functions' true shapes; `scope` says what was
        computed); `seed` what reproduces the run; `normal_form` and `not_tested` why an argument is
        missing (null: it holds); `losses` the errors ||y - r|| / ||r|| on inputs of each kind, with
        what is tolerated; `witness` an element that differs; `reason` why nothing is proved.
        """
        return {
            "status": VERIFIED if self.verdict is Verdict.EQUAL else NOT_VERIFIED,
            "verdict": self.verdict.value,
            "arguments": list(self.arguments),
            "bound": self.tests.bound,
            "theorem": self.tests.theorem,
            "scope": self.tests.scope,
            "seed": self.seed,
            "normal_form": None if self.proof.proved else self.proof.reason,
            "not_tested": None if self.tests.counts else self.tests.reason or self.tests.theorem,
            "losses": [
                {
                    "output": loss.output,
                    "inputs": loss.inputs,
                    "error": loss.error,
                    "tolerance": loss.tolerance,
                }
                for loss in self.losses
            ],
            "remarks": list(self.remarks),
            "reason": self.reason or None,
            "witness": None if self.witness is None else self.witness.fields(),
        }


@dataclass(frozen=True)
class Comparison:
    """A comparison that a pass made, and the names of what it compared."""

    reference: str
    candidate: str
    report: EquivalenceReport

    def fields(self) -> dict[str, object]:
        """What JSON has of it: `reference`, `candidate` and the fields of the report."""
        names = {"reference": self.reference, "candidate": self.candidate}
        return names | self.report.fields()


def verdict_of(losses: Sequence[Loss] | None, changed: str | None) -> Verdict:
    """The verdict on equal functions, by what was measured and what rounding changes in steps."""
    accurate = changed is None and all(loss.acceptable for loss in losses or ())
    return Verdict.EQUAL if accurate else Verdict.INACCURATE


Noted = Callable[[Comparison], None]
"""Takes each comparison as it is made: also a pass that fails has made some."""


def not_noted(comparison: Comparison) -> None:
    """Ignores the reports of comparisons."""


def _loss_text(loss: Loss | None) -> str:
    if loss is None:
        return "no rounding error measured"
    relation = "within" if loss.acceptable else "over"
    return (
        f"rounding error {loss.error:.1e} of output {loss.output} on {loss.inputs}, "
        f"{relation} {loss.tolerance:.1e}"
    )
