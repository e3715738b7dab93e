"""Timing many candidates for many programs: everything is searched and compiled at once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace

from xdsl.dialects import func

from mirage_mlir.driver.bench import Reference, Subject
from mirage_mlir.driver.bench_process import BenchProcess
from mirage_mlir.driver.choose import Offer
from mirage_mlir.driver.compile import CompiledFunction
from mirage_mlir.driver.machine import Machine
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.profile import Profiler
from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.driver.timer import Job, compile_candidate, jobs_for
from mirage_mlir.driver.timings import Timings
from mirage_mlir.search.report import SearchReport
from mirage_mlir.worker import Worker, Workers


@dataclass(frozen=True)
class Found:
    """A candidate for a program, as plain text."""

    function: str
    structure: str
    modelled: float
    """Seconds."""
    kernels: int = 1
    alone: bool = False

    def offer(self) -> Offer:
        """As a profiler takes it."""
        (function,) = functions(parse_program(self.function, "found"))
        report = SearchReport(
            function.sym_name.data,
            structure=self.structure,
            modelled=self.modelled,
            kernels=self.kernels,
        )
        return Offer(function, self.alone, report)


@dataclass(frozen=True)
class Program:
    """A program as text, and candidates for it."""

    text: str
    candidates: tuple[Found, ...]
    reference: Reference | None = None
    """Computes the outputs in float64, faster than the interpreter."""

    def prepared(self) -> tuple[func.FuncOp, list[Offer]]:
        """As a profiler takes it."""
        (function,) = functions(parse_program(self.text, "program"))
        return function, [candidate.offer() for candidate in self.candidates]


@dataclass(frozen=True)
class SharedMachine(Machine):
    """A GPU whose processes stay from one program to the next: each takes seconds to start."""

    worker: Worker | None = None
    pool: Workers | None = None
    reference: Reference | None = None

    def bench(self, subject: Subject, worker: Worker | None = None) -> BenchProcess:
        """In the process that stays."""
        subject = replace(subject, reference=self.reference)
        return BenchProcess(subject, self.make, self.patience, self.worker)


@contextmanager
def shared(machine: Machine, pool: Workers) -> Generator[SharedMachine]:
    """`machine` with processes that are ended with this `with` block."""
    worker = Worker()
    try:
        yield SharedMachine(
            machine.name,
            machine.make,
            machine.jobs,
            machine.patience,
            worker=worker,
            pool=pool,
        )
    finally:
        worker.close()


Compiled = Future[CompiledFunction]


def compile_all(
    programs: Sequence[Program],
    machine: SharedMachine,
    options: Options,
    compiler: Callable[[Job], CompiledFunction] = compile_candidate,
) -> Iterator[list[Compiled]]:
    """The machine code of all candidates, program by program."""
    assert machine.pool is not None
    prepared = [program.prepared() for program in programs]
    jobs = [
        job
        for reference, offers in prepared
        for job in jobs_for(reference, offers, options.target, options.pack)
    ]
    compiled = iter([machine.pool.submit(compiler, job) for job in jobs])
    for _, offers in prepared:
        yield [next(compiled) for _ in offers]


def time_one(
    program: Program, compiled: Sequence[Compiled], machine: SharedMachine, options: Options
) -> Timings:
    """The times of the candidates of a program."""
    reference, offers = program.prepared()
    profiler = Profiler(
        replace(machine, reference=program.reference), replace(options, cache=False)
    )
    return profiler.time(reference, offers, dict(enumerate(compiled)))


def time_all(
    programs: Sequence[Program], machine: SharedMachine, options: Options
) -> Iterator[Timings]:
    """
    The times of all candidates, program by program.

    Those of later programs are compiled while the first are timed.
    """
    compiled = compile_all(programs, machine, options)
    for program, some in zip(programs, compiled, strict=True):
        yield time_one(program, some, machine, options)
