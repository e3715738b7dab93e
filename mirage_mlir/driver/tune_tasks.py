"""What workers do for programs that are tuned: calls whose arguments and results can be sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.driver.bench import Reading
from mirage_mlir.driver.choose import Offer, TimedCandidate
from mirage_mlir.driver.offers import offers, to_time
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.profile import verified_best
from mirage_mlir.driver.remembered import offers_read, offers_written
from mirage_mlir.driver.source import alone, function_named, functions, parse_program, text_of
from mirage_mlir.driver.superoptimize import Superoptimized, superoptimize_function
from mirage_mlir.driver.timings import Timed, Timings
from mirage_mlir.equivalence import EquivalenceReport
from mirage_mlir.equivalence.comparison_report import Comparison
from mirage_mlir.equivalence.parts import Pairs
from mirage_mlir.search.report import SearchReport
from mirage_mlir.targets.target import target_named


@dataclass(frozen=True)
class Task:
    """A program to tune."""

    program: str
    """MLIR text with one function."""
    name: str
    """Of the function."""
    options: Options


@dataclass(frozen=True)
class OfferText:
    """An offer as it is sent."""

    function: str
    alone: bool
    search: SearchReport
    timing: tuple[str, ...] = ()
    timed: tuple[TimedCandidate, ...] = ()
    pairs: Pairs = ()
    known: EquivalenceReport | None = None

    @staticmethod
    def of(offer: Offer) -> "OfferText":
        """`offer`, to be sent."""
        text = text_of(alone(offer.function))
        return OfferText(
            text,
            offer.alone,
            offer.search,
            offer.timing,
            offer.timed,
            tuple(offer.pairs),
            offer.known,
        )

    def offer(self) -> Offer:
        """What was sent."""
        (function,) = functions(parse_program(self.function, "candidate"))
        return Offer(
            function,
            self.alone,
            self.search,
            timing=self.timing,
            timed=self.timed,
            pairs=self.pairs,
            known=self.known,
        )


@dataclass(frozen=True)
class TimedText:
    """A candidate that was timed, as it is sent."""

    offer: OfferText
    reading: Reading | None
    microseconds: float
    problem: str
    compared: bool

    @staticmethod
    def of(offer: OfferText, timed: Timed) -> "TimedText":
        """`timed`, to be sent."""
        return TimedText(offer, timed.reading, timed.microseconds, timed.problem, timed.compared)

    def timed(self) -> Timed:
        """What was sent."""
        numbers = self.reading, self.microseconds, self.problem, self.compared
        return Timed(self.offer.search, self.offer.offer(), None, *numbers)


@dataclass(frozen=True)
class Settled:
    """What became of a program."""

    artifact: bytes
    offers: Mapping[str, object]
    """What was taken, by chip, as the cache has it."""
    taken: OfferText
    """For the chip of the target."""
    others: Mapping[str, OfferText] = field(default_factory=dict[str, OfferText])
    """For other chips."""
    comparisons: tuple[Comparison, ...] = ()


@dataclass(frozen=True)
class Failed:
    """A program that cannot be tuned."""

    problem: str


def _said(error: DiagnosticException) -> Failed:
    return Failed(" ".join([str(error), *getattr(error, "__notes__", ())]))


def search(task: Task) -> list[OfferText] | Failed:
    """The candidates to time, the best in the model first."""
    options = task.options
    try:
        reference = function_named(parse_program(task.program, task.name), task.name)
        found = offers(reference, options.target, options.effort())
        return [OfferText.of(offer) for offer in to_time(found, options.top_k)]
    except DiagnosticException as error:
        return _said(error)


def settle(
    task: Task, device: str, seconds: float, candidates: Sequence[TimedText]
) -> Settled | Failed:
    """Verify the fastest and compile it for all chips."""
    comparisons: list[Comparison] = []
    try:
        module = parse_program(task.program, task.name)
        timings = Timings(device, tuple(one.timed() for one in candidates), seconds)
        reference = function_named(module, task.name)
        best = verified_best(reference, timings, task.options, comparisons.append)
        chip = target_named(task.options.target).chip
        made = superoptimize_function(module, task.name, task.options, {chip: best})
    except DiagnosticException as error:
        return _said(error)
    return replace(_settled(made, chip), comparisons=tuple(comparisons))


def recall(task: Task, written: object) -> Settled | Failed | None:
    """Compile what was taken before; None where it cannot be read."""
    module = parse_program(task.program, task.name)
    chip = target_named(task.options.target).chip
    try:
        known = offers_read(written, function_named(module, task.name))
    except (DiagnosticException, ValueError):
        return None
    if chip not in known:
        return None
    try:
        return _settled(superoptimize_function(module, task.name, task.options, known), chip)
    except DiagnosticException as error:
        return _said(error)


def _settled(made: Superoptimized, chip: str) -> Settled:
    offer = made.offers[chip] if chip in made.offers else next(iter(made.offers.values()))
    others = {name: OfferText.of(each) for name, each in made.offers.items() if name != chip}
    written = offers_written(made.offers)
    return Settled(made.artifact.to_bytes(), written, OfferText.of(offer), others)
