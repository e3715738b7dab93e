"""Tuning many programs at once: `tune`."""

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Unpack, cast

from mirage_mlir.api.graph import KernelGraph, SearchOptions, options_of
from mirage_mlir.api.programs import read_programs
from mirage_mlir.driver.cache import Cache, open_cache
from mirage_mlir.driver.optimize import as_asked
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.source import functions
from mirage_mlir.driver.tune import Tuned, Tuner, task_of
from mirage_mlir.driver.tune_tasks import Task
from mirage_mlir.driver.workers import Workforce, parse_workers, workforce
from mirage_mlir.progress import Progress
from mirage_mlir.runtime.artifact import Artifact
from mirage_mlir.runtime.kernel import CompiledKernel

Program = KernelGraph | str | os.PathLike[str]
"""A graph, or the path of an MLIR file with one or more programs."""


@dataclass(frozen=True)
class TunedProgram:
    """What became of one program."""

    number: int
    """Which function it is of all that were to be tuned, from 0."""
    name: str
    kernel: CompiledKernel | None
    """None where there is a problem."""
    timing: tuple[str, ...]
    """What was timed, line by line."""
    problem: str
    """Why there is no kernel; else empty."""
    complete: bool
    """False where Ctrl-C ended the work: of what was timed until then the fastest was taken."""


def tune(
    programs: Iterable[Program],
    target: str | None = None,
    workers: int | str | Workforce | None = None,
    **options: Unpack[SearchOptions],
) -> Iterator[TunedProgram]:
    """
    Search, time and compile many programs at once; each result comes as soon as it is there.

    Work is done while the results are asked for: `for each in tune(...)`, or `list(tune(...))`.
    What is found is kept in the cache, single times, too: a call that was ended is continued by the
    next. Ctrl-C ends the search; programs of which nothing was timed have a problem then.

    Args:
        programs: graphs, and paths of MLIR files whose functions are meant.
        target: the GPU to search for, and to time on; the one that is there unless given.
        workers: how many processes, and GPUs of this machine, at most; unless given all. Or `ray`,
            or `ray://HOST:PORT`, for a Ray cluster.
        options: as for `KernelGraph.superoptimize`; `profile` is on.

    Raises:
        CudaError: no worker has a GPU that can run code for `target`.
        OSError: a file cannot be read.
        RayError: Ray is not installed, or no cluster answers.
        TypeError, ValueError: an argument is of another type, or out of its range.
        DiagnosticException: a file holds no valid program.
    """
    if options.get("profile") is False:
        raise ValueError("tune times candidates; profile=False has no meaning")
    given: object = programs
    if isinstance(given, KernelGraph | str | os.PathLike):
        raise TypeError(f"tune takes a list of programs, not one {type(given).__qualname__}")
    chosen = options_of(target, {**options, "profile": True})
    tasks = [task for program in programs for task in _tasks(program, chosen)]
    asked = workers if isinstance(workers, Workforce) else parse_workers(workers)
    return _tuned(tasks, chosen, asked)


def _tuned(tasks: Sequence[Task], options: Options, asked: Any) -> Iterator[TunedProgram]:
    with _opened(asked) as force:
        cache = open_cache() if options.cache else Cache(None)
        tuner = Tuner(force.executor(options.target), cache, Progress(quiet=options.quiet))
        yield from map(_result, tuner.tune(tasks))


@contextmanager
def _opened(asked: Any) -> Generator[Workforce]:
    if isinstance(asked, Workforce):
        yield asked
        return
    with workforce(asked) as force:
        yield force


def _tasks(program: object, options: Options) -> list[Task]:
    if isinstance(program, KernelGraph):
        return [task_of(as_asked(program.to_module(), options), program.name, options)]
    if not isinstance(program, str | os.PathLike):
        kind = type(program).__qualname__
        raise TypeError(f"tune takes graphs and paths of MLIR files, not {kind}")
    path = cast(str | os.PathLike[str], program)
    module = as_asked(read_programs(path), options)
    return [task_of(module, each.sym_name.data, options) for each in functions(module)]


def _result(tuned: Tuned) -> TunedProgram:
    settled = tuned.settled
    kernel = None if settled is None else CompiledKernel(Artifact.from_bytes(settled.artifact))
    lines = () if settled is None else settled.taken.timing
    return TunedProgram(tuned.number, tuned.name, kernel, lines, tuned.problem, tuned.complete)
