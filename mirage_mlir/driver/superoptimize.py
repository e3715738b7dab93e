"""A whole compile: search, verify, choose, lower for every chip, and make an artifact of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir import __version__
from mirage_mlir.diagnostics import remark
from mirage_mlir.driver.choose import Choice, Chooser, Offer
from mirage_mlir.driver.compile import CompiledFunction, Seconds
from mirage_mlir.driver.explain import ChosenFunction, explain_choice, explanation_text
from mirage_mlir.driver.offers import offers
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.report import compile_report, verification_fields
from mirage_mlir.driver.source import alone, function_named, text_of
from mirage_mlir.equivalence import EquivalenceReport
from mirage_mlir.interruption import deferred
from mirage_mlir.progress import Progress
from mirage_mlir.runtime.artifact import MODELLED, Artifact, TargetCode
from mirage_mlir.targets.target import target_named


@dataclass(frozen=True)
class Superoptimized:
    """The result of a whole compile."""

    artifact: Artifact
    compiled: tuple[CompiledFunction, ...]
    """One for each chip, in the order of the options."""
    function: func.FuncOp
    """The uGraph for the target that was searched for; for the first chip where that is none."""
    seconds: dict[str, float]
    """By phase, for all chips together."""
    offers: Mapping[str, Offer]
    """What was taken, by chip."""
    explanations: Mapping[str, ChosenFunction]
    """Why, by chip."""


def superoptimize_function(
    module: ModuleOp,
    name: str,
    options: Options,
    known: Mapping[str, Offer] | None = None,
    found: Mapping[str, Sequence[Offer]] | None = None,
) -> Superoptimized:
    """
    Compile the function `name` of `module`, which is left as it is.

    Args:
        module: the program.
        name: which of its functions.
        options: what to search and compile for.
        known: the best graph for a chip, where a search was made before; there is another search
            only if it cannot be used.
        found: all graphs for a chip that a search has just found, the best first.

    Raises:
        ValueError: there is no such function.
        DiagnosticException: the program cannot be compiled; the message says where and why.
    """
    reference = function_named(module, name)
    progress, seconds = Progress(quiet=options.quiet), Seconds()
    known, found = known or {}, found or {}
    for first in (*known.values(), *(some[0] for some in found.values())):
        seconds.add("search", sum(first.search.phases.values()))
    with progress.shown(), deferred():
        choices = _choose_all(_Compile(reference, options, known, found, seconds, progress))
    report = compile_report(name, choices, seconds.phases)
    explanations = {choice.compiled.code.target: explain_choice(choice) for choice in choices}
    own = [choice for choice in choices if choice.compiled.code.target == _chip(options)]
    return Superoptimized(
        artifact=_artifact(reference, choices, report, explanations),
        compiled=tuple(choice.compiled for choice in choices),
        function=(own or choices)[0].offer.function,
        seconds=seconds.phases,
        explanations=explanations,
        offers={choice.compiled.code.target: choice.offer for choice in choices},
    )


def _chip(options: Options) -> str:
    """The instruction set of the target that was asked for."""
    return target_named(options.target).chip


@dataclass
class _Compile:
    """One program on its way to machine code for several chips."""

    reference: func.FuncOp
    options: Options
    known: Mapping[str, Offer]
    found: Mapping[str, Sequence[Offer]]
    seconds: Seconds
    progress: Progress
    proofs: dict[str, EquivalenceReport] = field(default_factory=dict[str, EquivalenceReport])

    def choose(self, chip: str, others: Sequence[Choice]) -> Choice:
        """
        The choice for `chip` among what a search for it finds; results lie as those of `others` do.

        Each chip has a search of its own: what suits one may be too large for another, or need
        clusters that it lacks.
        """
        target = self.options.target_for(chip)
        if chip in self.found:
            found = iter(self.found[chip])
        else:
            found = offers(self.reference, target, self.options.effort())
        if chip in self.known:
            found = _with_first(self.known[chip], found)
        most = self.options.candidates
        return Chooser(
            self.reference,
            found,
            most,
            self.seconds,
            self.progress,
            self.proofs,
            self.options.pack,
            self.options.allow_unverified,
            self.options.verify_budget,
            others[0].compiled.outputs if others else None,
        ).choose(target)


def _with_first(first: Offer, others: Iterator[Offer]) -> Iterator[Offer]:
    """`first`, then the others without the one that it is."""
    yield first
    text = text_of(alone(first.function))
    yield from (offer for offer in others if text_of(alone(offer.function)) != text)


def _choose_all(task: _Compile) -> list[Choice]:
    """The choice for each chip; a chip that no graph suits is left out, with a remark."""
    choices: list[Choice] = []
    failed: DiagnosticException | None = None
    for chip in task.options.chips:
        try:
            choices.append(task.choose(chip, choices))
        except DiagnosticException as error:
            if chip == _chip(task.options):
                raise
            failed = error
            remark(task.reference, f"has no machine code for {chip}: {_reason(error)}")
    if failed is not None and not choices:
        raise failed
    return choices


def _reason(error: DiagnosticException) -> str:
    return " ".join([str(error), *getattr(error, "__notes__", ())])


def _code(choice: Choice) -> TargetCode:
    """The machine code of a choice, with the time that the model gives it, where it has one."""
    code, modelled = choice.compiled.code, choice.offer.search.modelled
    if modelled <= 0:
        return code
    return replace(code, resources={**code.resources, MODELLED: round(modelled * 1e12)})


def _artifact(
    reference: func.FuncOp,
    choices: list[Choice],
    report: str,
    explanations: Mapping[str, ChosenFunction],
) -> Artifact:
    first = choices[0].compiled
    return Artifact(
        name=first.name,
        inputs=first.inputs,
        outputs=first.outputs,
        targets=tuple(map(_code, choices)),
        program=text_of(alone(reference)),
        report=report,
        explanation=explanation_text(explanations),
        verification=verification_fields(choices),
        producer=f"mirage_mlir {__version__}",
    )
