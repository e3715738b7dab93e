"""
Choosing by the clock: candidates compiled in parallel, checked and timed on this machine's GPU.

The search ranks by a model; of what it ranks first, the fastest kernel that is right is taken, and
remembered on disk, so that a program is searched and timed once on a machine.
"""

from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from math import inf

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.diagnostics import fail
from mirage_mlir.driver.cache import Cache, Key, open_cache
from mirage_mlir.driver.choose import Offer
from mirage_mlir.driver.compile import CompiledFunction
from mirage_mlir.driver.executor import Executor, local_executor
from mirage_mlir.driver.kept import SAME_RESULT
from mirage_mlir.driver.machine import Machine
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.remembered import offers_read, offers_written
from mirage_mlir.driver.source import alone, function_named, text_of
from mirage_mlir.driver.superoptimize import Superoptimized, superoptimize_function
from mirage_mlir.driver.timer import Readings, Timer, finished, jobs_for
from mirage_mlir.driver.timings import Timed, Timings
from mirage_mlir.equivalence.comparison_report import Comparison, Noted, not_noted
from mirage_mlir.equivalence.parts import PartVerifier
from mirage_mlir.progress import Progress
from mirage_mlir.targets.target import target_named


def key_of(program: str, device: str, options: Options) -> Key:
    """What the result of timing candidates for a program, as text, on a GPU depends on."""
    asked = {name: value for name, value in asdict(options).items() if name not in SAME_RESULT}
    return Key(program, device, asked)


def verified_best(
    reference: func.FuncOp, timings: Timings, options: Options, noted: Noted = not_noted
) -> Offer:
    """
    The candidate to take: the fastest that is verified, with what is to be said of all.

    Only what is to be taken is compared: the fastest, and the next if it is refused.

    Raises:
        DiagnosticException: none is right.
    """
    verifier = PartVerifier(reference, budget=options.verify_budget)
    while (best := timings.best) is not None:
        assert best.offer is not None
        proof = best.offer.proof(verifier)
        noted(Comparison(reference.sym_name.data, best.search.structure, proof))
        if proof.accepted(unverified=options.allow_unverified):
            timed = tuple(one.candidate for one in timings.candidates)
            lines = tuple(timings.lines())
            return replace(best.offer, timing=lines, timed=timed, known=proof)
        best.problem = f"verification: {proof.verdict.value}: {proof}"
        best.microseconds = inf
    fail(
        reference,
        f"has no candidate that is right on {timings.device}",
        note="; ".join(one.problem for one in timings.candidates),
    )


@dataclass
class Profiler:
    """Times candidates on GPUs of one sort, and remembers the best."""

    machine: Machine | Executor
    """Where; the workers of a machine are ended behind each program."""
    options: Options
    progress: Progress = field(default_factory=Progress)
    results: list[Timings] = field(default_factory=list[Timings])
    """Of all programs timed by this profiler."""
    noted: Noted = not_noted
    """Takes every comparison."""

    @property
    def chip(self) -> str:
        """The instruction set that candidates are compiled for."""
        return target_named(self.options.target).chip

    def settle(self, module: ModuleOp, name: str, found: Sequence[Offer]) -> Superoptimized:
        """
        The whole result for a function with candidates for it, and remember it.

        Raises:
            DiagnosticException: no candidate is right.
        """
        reference = function_named(module, name)
        best = self.fastest(reference, found)
        result = superoptimize_function(module, name, self.options, {self.chip: best})
        self._remember(reference, result)
        return result

    def fastest(self, reference: func.FuncOp, found: Sequence[Offer]) -> Offer:
        """The candidate to take; raises `DiagnosticException` where none is right."""
        with self.progress.shown():
            timings = self.time(reference, found)
        self.results.append(timings)
        return verified_best(reference, timings, self.options, self.noted)

    def time(
        self,
        reference: func.FuncOp,
        found: Sequence[Offer],
        compiled: Mapping[int, Future[CompiledFunction]] | None = None,
    ) -> Timings:
        """Compile, check and time candidates for `reference`; some may be compiled by number."""
        jobs = jobs_for(reference, found, self.options.target, self.options.pack)
        text = text_of(alone(reference))
        timed = [Timed(offer.search, offer) for offer in found]
        done = 0

        def noted(timed: Timed) -> None:
            nonlocal done
            done += 1
            self.progress.now(f"timed {done} of {len(found)} candidates")

        with self._executor() as executor:
            timer = Timer(executor, Readings(self.cache, self.machine.name), noted)
            return finished(timer.timings(text, timed, jobs, compiled))

    @contextmanager
    def _executor(self) -> Generator[Executor]:
        if isinstance(self.machine, Executor):
            yield self.machine
            return
        with closing(local_executor(self.machine)) as executor:
            yield executor

    # The cache

    @property
    def cache(self) -> Cache:
        """Where results are remembered."""
        return open_cache() if self.options.cache else Cache(None)

    def key(self, reference: func.FuncOp) -> Key:
        """What the result for `reference` depends on."""
        return key_of(text_of(alone(reference)), self.machine.name, self.options)

    def remembered(self, reference: func.FuncOp) -> dict[str, Offer]:
        """What was taken before, by chip; empty where nothing is known."""
        entry = self.cache.get(self.key(reference))
        if entry is None:
            return {}
        try:
            return offers_read(entry.get("offers"), reference)
        except (DiagnosticException, ValueError):
            # Written by another version of the dialects, say.
            return {}

    def _remember(self, reference: func.FuncOp, result: Superoptimized) -> None:
        candidates = [one.fields() for one in self.results[-1].candidates]
        entry = {
            "offers": offers_written(result.offers),
            "candidates": candidates,
        }
        self.cache.put(self.key(reference), entry)
