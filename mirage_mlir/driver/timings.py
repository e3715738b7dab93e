"""What the clock said of candidates for one program, and which of them is taken."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, isfinite

from mirage_mlir.driver.bench import Reading, Trial
from mirage_mlir.driver.choose import Offer, TimedCandidate
from mirage_mlir.driver.compile import CompiledFunction
from mirage_mlir.search.report import SearchReport

NOISE = 0.01
"""Of a time: two that differ by less are the same. Medians of repeated runs differ by as much."""


@dataclass
class Timed:
    """A candidate, and what became of it."""

    search: SearchReport
    """What the model says of it."""
    offer: Offer | None = None
    """It itself, for those who have to take one."""
    compiled: CompiledFunction | None = None
    reading: Reading | None = None
    microseconds: float = inf
    problem: str = ""
    """Why it cannot be taken."""
    compared: bool = False
    """Whether it was timed again, interleaved with others, which is what counts where any was."""

    @property
    def candidate(self) -> TimedCandidate:
        """For explanations."""
        search = self.search
        seconds = self.microseconds * 1e-6 if isfinite(self.microseconds) else None
        return TimedCandidate(
            search.structure, search.kernels, search.modelled, seconds, self.problem
        )

    def trial(self) -> Trial:
        """What is measured."""
        assert self.compiled is not None
        return Trial(self.compiled.code, self.compiled.outputs)

    def take(self, reading: Reading) -> None:
        """What was measured."""
        self.reading = reading
        if reading.right:
            self.microseconds = reading.microseconds
        else:
            error, allowed = reading.error, reading.tolerance
            self.problem = f"is wrong on the GPU: error {error:.1e}, at most {allowed:.1e} is right"

    def fields(self) -> dict[str, object]:
        """For statistics: times in microseconds, those not taken as null."""
        taken = self.microseconds if isfinite(self.microseconds) else None
        return {
            "structure": self.search.structure,
            "kernels": self.search.kernels,
            "modelled": self.search.modelled * 1e6,
            "microseconds": taken,
            "compared": self.compared,
            "error": None if self.reading is None else self.reading.error,
            "problem": self.problem,
        }


def fastest(times: Sequence[float]) -> int | None:
    """
    Which of candidates to take, whose times are in the order of the model; None where none is.

    Among those that noise might have put before one another it is the first in the model, so that
    another run, on other workers, takes the same.
    """
    least = min(times, default=inf)
    if not isfinite(least):
        return None
    return next(at for at, time in enumerate(times) if time <= least * (1 + NOISE))


def ranking(times: Sequence[float]) -> list[int]:
    """All candidates that have a time, each the `fastest` of those behind it."""
    left, order = list(times), list[int]()
    while (best := fastest(left)) is not None:
        order.append(best)
        left[best] = inf
    return order


@dataclass(frozen=True)
class Timings:
    """All candidates of a program, timed."""

    device: str
    candidates: tuple[Timed, ...]
    """In the order of the model."""
    seconds: float
    """For compiling, checking and timing them."""

    @property
    def best(self) -> Timed | None:
        """The fastest that is right."""
        compared = [one for one in self.candidates if one.compared]
        for some in (compared, self.candidates):
            if (number := fastest([one.microseconds for one in some])) is not None:
                return some[number]
        return None

    def lines(self) -> Iterator[str]:
        """For people."""
        right = sum(isfinite(one.microseconds) for one in self.candidates)
        yield (
            f"timed on {self.device}: {len(self.candidates)} candidates, {right} right, "
            f"in {self.seconds:.1f} s"
        )
        best = self.best
        for rank, one in enumerate(self.candidates):
            what = f"{one.microseconds:.2f} us" if isfinite(one.microseconds) else one.problem
            mark = "taken" if one is best else "not taken"
            modelled = one.search.modelled * 1e6
            yield f"  {rank}: {what}, modelled {modelled:.2f} us, {mark}"
