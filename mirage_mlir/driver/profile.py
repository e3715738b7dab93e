"""
Choosing by the clock: candidates compiled in parallel, checked and timed on this machine's GPU.

The search ranks by a model; of what it ranks first, the fastest kernel that is right is taken, and
remembered on disk, so that a program is searched and timed once on a machine.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from math import inf, isfinite
from time import perf_counter

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.diagnostics import fail
from mirage_mlir.driver.bench import Reading, Subject, Trial
from mirage_mlir.driver.bench_process import PATIENCE, BenchProcess, Make
from mirage_mlir.driver.cache import Cache, Key, cache_folder
from mirage_mlir.driver.choose import Offer, TimedCandidate
from mirage_mlir.driver.compile import CompiledFunction, compile_function
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.remembered import offers_read, offers_written
from mirage_mlir.driver.source import alone, function_named, parse_program, text_of
from mirage_mlir.driver.superoptimize import Superoptimized, superoptimize_function
from mirage_mlir.equivalence.comparison_report import Comparison, Noted, not_noted
from mirage_mlir.equivalence.parts import PartVerifier
from mirage_mlir.progress import Progress
from mirage_mlir.runtime.cuda_driver import CudaDriver, CudaError
from mirage_mlir.runtime.launch import can_run
from mirage_mlir.runtime.stopwatch import CudaStopwatch
from mirage_mlir.targets.target import target_named
from mirage_mlir.worker import WorkerError, Workers, workers

FIRST_REPLAYS = 10
"""Replays of each candidate's graph, which holds 20 calls or more."""

FINALISTS, ROUNDS, REPLAYS = 4, 5, 10
"""The fastest are timed again, in turn, so that a drifting clock meets all alike: 50 replays."""


@dataclass(frozen=True)
class Machine:
    """The GPU that candidates are timed on."""

    name: str
    make: Make = CudaStopwatch
    """Makes its stopwatch."""
    jobs: int = 0
    """Processes that compile; 0 is one for each core."""
    patience: float = PATIENCE
    """Seconds after which a kernel hangs."""

    def bench(self, subject: Subject) -> BenchProcess:
        """Where kernels for a program are measured."""
        return BenchProcess(subject, self.make, self.patience)

    def compilers(self, candidates: int) -> AbstractContextManager[Workers]:
        """Processes that compile so many candidates."""
        count = self.jobs or len(os.sched_getaffinity(0))
        return workers(max(1, min(count, candidates)))


def this_machine(target: str) -> Machine:
    """
    This machine's GPU, to time what was searched for `target`.

    Raises:
        CudaError: there is none, or it cannot run code for `target`.
    """
    try:
        driver = CudaDriver()
        name, capability = driver.name(0), driver.capability(0)
    except CudaError as error:
        raise CudaError(f"profiling needs a GPU: {error}") from error
    if not can_run(chip := target_named(target).chip, capability):
        raise CudaError(f"profiling for {target} needs a GPU of {chip}; this machine has a {name}")
    return Machine(name)


@dataclass
class Timed:
    """A candidate, and what became of it."""

    offer: Offer
    compiled: CompiledFunction | None = None
    reading: Reading | None = None
    microseconds: float = float("inf")
    problem: str = ""
    """Why it cannot be taken."""

    def trial(self) -> Trial:
        """What is measured."""
        assert self.compiled is not None
        return Trial(self.compiled.code, self.compiled.outputs)

    @property
    def candidate(self) -> TimedCandidate:
        """For explanations."""
        search = self.offer.search
        seconds = self.microseconds * 1e-6 if isfinite(self.microseconds) else None
        return TimedCandidate(
            search.structure, search.kernels, search.modelled, seconds, self.problem
        )

    def fields(self) -> dict[str, object]:
        """For statistics: times in microseconds, those not taken as null."""
        taken = self.microseconds if isfinite(self.microseconds) else None
        return {
            "structure": self.offer.search.structure,
            "kernels": self.offer.search.kernels,
            "modelled": self.offer.search.modelled * 1e6,
            "microseconds": taken,
            "error": None if self.reading is None else self.reading.error,
            "problem": self.problem,
        }


@dataclass(frozen=True)
class Timings:
    """All candidates of a program, timed."""

    device: str
    candidates: tuple[Timed, ...]
    seconds: float
    """For compiling, checking and timing them."""

    @property
    def best(self) -> Timed | None:
        """The fastest that is right."""
        right = [one for one in self.candidates if isfinite(one.microseconds)]
        return min(right, key=lambda one: one.microseconds, default=None)

    def lines(self) -> Iterator[str]:
        """For people."""
        right = sum(isfinite(one.microseconds) for one in self.candidates)
        yield (
            f"timed on {self.device}: {len(self.candidates)} candidates, {right} right, "
            f"in {self.seconds:.1f} s"
        )
        for rank, one in enumerate(self.candidates):
            what = f"{one.microseconds:.2f} us" if isfinite(one.microseconds) else one.problem
            mark = "taken" if one is self.best else "not taken"
            modelled = one.offer.search.modelled * 1e6
            yield f"  {rank}: {what}, modelled {modelled:.2f} us, {mark}"


# Compiling, in another process


@dataclass(frozen=True)
class Job:
    """One candidate to compile."""

    candidate: str
    name: str
    target: str
    pack: bool = False


def compile_candidate(job: Job) -> CompiledFunction:
    """The candidate as machine code."""
    candidate = parse_program(job.candidate, f"{job.name}.candidate")
    return compile_function(candidate, job.name, job.target, pack=job.pack)


# Timing


@dataclass
class Profiler:
    """Times candidates on one machine, and remembers the best."""

    machine: Machine
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
        verifier = PartVerifier(reference, budget=self.options.verify_budget)
        while (best := timings.best) is not None:
            # Only what is to be taken is compared: the fastest, and the next if it is refused.
            proof = best.offer.proof(verifier)
            structure = best.offer.search.structure
            self.noted(Comparison(reference.sym_name.data, structure, proof))
            if proof.accepted(unverified=self.options.allow_unverified):
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

    def jobs(self, reference: func.FuncOp, found: Sequence[Offer]) -> list[Job]:
        """What `compile_candidate` does with candidates for `reference`."""
        name = reference.sym_name.data
        texts = [text_of(alone(offer.function, name)) for offer in found]
        return [Job(text, name, self.options.target, self.options.pack) for text in texts]

    def time(self, reference: func.FuncOp, found: Sequence[Offer]) -> Timings:
        """Compile, check and time candidates for `reference`."""
        with self.machine.compilers(len(found)) as pool:
            compiled = pool.map(compile_candidate, self.jobs(reference, found))
            return self.time_compiled(reference, found, compiled)

    def time_compiled(
        self,
        reference: func.FuncOp,
        found: Sequence[Offer],
        compiled: Iterable[CompiledFunction | WorkerError],
    ) -> Timings:
        """Check and time candidates for `reference`, whose machine code comes one by one."""
        start = perf_counter()
        timed = [Timed(offer) for offer in found]
        name, program = reference.sym_name.data, text_of(alone(reference))
        bench: BenchProcess | None = None
        try:
            for number, (one, result) in enumerate(zip(timed, compiled, strict=True)):
                self.progress.now(f"timing candidate {number + 1} of {len(timed)}")
                if isinstance(result, WorkerError):
                    one.problem = str(result)
                    continue
                one.compiled = result
                bench = bench or self.machine.bench(Subject(program, name, result.inputs))
                self._read(bench, one)
            if bench is not None:
                self._compare(bench, timed)
        finally:
            if bench is not None:
                bench.close()
        return Timings(self.machine.name, tuple(timed), perf_counter() - start)

    def _read(self, bench: BenchProcess, one: Timed) -> None:
        try:
            one.reading = bench.read(one.trial(), FIRST_REPLAYS)
        except WorkerError as error:
            one.problem = f"went wrong on the GPU: {error}"
            return
        if one.reading.right:
            one.microseconds = one.reading.microseconds
        else:
            error, allowed = one.reading.error, one.reading.tolerance
            one.problem = f"is wrong on the GPU: error {error:.1e}, at most {allowed:.1e} is right"

    def _compare(self, bench: BenchProcess, timed: Sequence[Timed]) -> None:
        """Time the fastest again, in turn."""
        ranked = sorted(timed, key=lambda one: one.microseconds)
        best = [one for one in ranked[:FINALISTS] if isfinite(one.microseconds)]
        if len(best) < 2:
            return
        try:
            times = bench.compare([one.trial() for one in best], ROUNDS, REPLAYS)
        except WorkerError:
            # Each of them ran before: what was read then must do.
            return
        for one, microseconds in zip(best, times, strict=True):
            one.microseconds = microseconds

    # The cache

    @property
    def cache(self) -> Cache:
        """Where results are remembered."""
        return Cache(cache_folder() if self.options.cache else None)

    def key(self, reference: func.FuncOp) -> Key:
        """What the result for `reference` depends on."""
        options = {name: value for name, value in asdict(self.options).items() if name != "cache"}
        return Key(text_of(alone(reference)), self.machine.name, options)

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
