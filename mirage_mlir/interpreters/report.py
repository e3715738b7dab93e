"""What a comparison of two functions came to, for people and for machines."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum

from mirage_mlir.interpreters.field_tests import Difference
from mirage_mlir.interpreters.forms import Proof
from mirage_mlir.interpreters.rounding import Loss

NOT_COMPARED = Proof(False, "not compared")


class Verdict(Enum):
    """What a comparison came to."""

    EQUAL = "equal"
    DIFFERENT = "not equal"
    UNDECIDED = "not decided"
    INACCURATE = "inaccurate"
    """Equal as functions of real numbers, but the candidate loses too much accuracy."""


@dataclass(frozen=True)
class FloatWitness:
    """What both functions give at one element in f64."""

    inputs: str
    """The inputs, in words and small numbers."""
    output: int
    element: tuple[int, ...]
    reference: float
    candidate: float

    def __str__(self) -> str:
        return f"{self.candidate:.9g} instead of {self.reference:.9g} in f64 on {self.inputs}"


@dataclass(frozen=True)
class Witness:
    """One element in which two functions differ."""

    difference: Difference
    floats: FloatWitness | None
    """What both give in f64; None where that is no number, or the same."""
    culprit: str = ""
    """The first operator of the candidate whose value no part of the reference has."""

    def __str__(self) -> str:
        found = self.difference
        element = ", ".join(map(str, found.element))
        text = (
            f"output {found.output} at [{element}] is {_pair(found.candidate)} "
            f"instead of {_pair(found.reference)} in Z_p x Z_q"
        )
        if self.floats is not None:
            here = (self.floats.output, self.floats.element)
            if here != (found.output, found.element):
                place = ", ".join(map(str, self.floats.element))
                text += f"; output {self.floats.output} at [{place}] is {self.floats}"
            else:
                text += f", {self.floats}"
        return f"{text}; {self.culprit}" if self.culprit else text

    def fields(self) -> dict[str, object]:
        """What JSON has of it."""
        found, floats = self.difference, self.floats
        return {
            "output": found.output,
            "element": list(found.element),
            "residues": {
                "reference": list(found.reference),
                "candidate": list(found.candidate),
            },
            "f64": None
            if floats is None
            else {
                "inputs": floats.inputs,
                "output": floats.output,
                "element": list(floats.element),
                "reference": floats.reference,
                "candidate": floats.candidate,
            },
            "operator": self.culprit or None,
        }


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
    proof: Proof = NOT_COMPARED
    """Whether the normal forms are equal: the argument beside the tests."""
    ragged: bool = False
    """Whether tiles are ragged, so that the tests ran those, too."""
    seconds: float = 0.0

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments for equality that hold: `tests`, `normal form`."""
        found = {"tests": self.tests > 0, "normal form": self.proof.proved}
        return tuple(name for name, holds in found.items() if holds)

    @property
    def worst(self) -> Loss | None:
        """The loss that is largest against its tolerance."""
        return max(self.losses, key=lambda loss: loss.error / loss.tolerance, default=None)

    def __str__(self) -> str:
        match self.verdict:
            case Verdict.EQUAL:
                return self._argument()
            case Verdict.DIFFERENT:
                return f"{self.witness} (seed {self.seeds[0]})"
            case Verdict.UNDECIDED:
                return self.reason
            case Verdict.INACCURATE:
                return f"{_loss_text(self.worst)}; {self._argument()}"

    def _argument(self) -> str:
        parts: list[str] = []
        if self.tests:
            size = "full size, ragged tiles included" if self.ragged else "full size"
            parts.append(
                f"equal in {self.tests} random tests over Z_p x Z_q at {size}, "
                f"wrong with probability at most {self.bound:.1e} by {self.theorem} "
                f"(seed {self.seeds[0]})"
            )
        if self.proof.proved:
            parts.append("the normal forms are equal")
        else:
            parts.append(f"no argument by normal forms: {self.proof.reason}")
        if self.verdict is Verdict.EQUAL and self.worst is not None:
            parts.append(_loss_text(self.worst))
        return "; ".join([*parts, *self.remarks])

    def fields(self) -> dict[str, object]:
        """
        The report as JSON has it.

        `verdict` is `equal`, `not equal`, `not decided` or `inaccurate`; `arguments` those that
        hold, of `tests` and `normal form`; `tests` how many random tests passed, `bound` and
        `theorem` how likely different functions pass them; `seeds` what reproduces the run;
        `full_size` that it ran at the functions' real sizes, `ragged` that this included ragged
        tiles; `normal_form` why there is no argument by normal forms (null: there is); `losses`
        the errors ||y - r|| / ||r|| on inputs of each kind, with what is tolerated; `witness` an
        element that differs; `reason` why nothing is decided.
        """
        return {
            "verdict": self.verdict.value,
            "arguments": list(self.arguments),
            "tests": self.tests,
            "bound": self.bound,
            "theorem": self.theorem,
            "seeds": list(self.seeds),
            "full_size": True,
            "ragged": self.ragged,
            "normal_form": None if self.proof.proved else self.proof.reason,
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


_comparisons: ContextVar[tuple[list[Comparison], ...]] = ContextVar("comparisons", default=())


@contextmanager
def collect_comparisons() -> Generator[list[Comparison]]:
    """The comparisons that passes make in this `with` block, in order, as they are made."""
    found: list[Comparison] = []
    token = _comparisons.set((*_comparisons.get(), found))
    try:
        yield found
    finally:
        _comparisons.reset(token)


def note_comparison(reference: str, candidate: str, report: EquivalenceReport) -> None:
    """Let whoever collects comparisons know of one."""
    for found in _comparisons.get():
        found.append(Comparison(reference, candidate, report))


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
