"""Searches several programs at the same time, in processes of their own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from mirage_mlir import interruption
from mirage_mlir.search.multi_kernel.kernels import KernelPlan, search_kernels
from mirage_mlir.search.program.program import Program
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.targets.target import Target
from mirage_mlir.worker import WorkerError, workers


@dataclass(frozen=True)
class Searched:
    """The plans of one program, and the report of its search."""

    plans: list[KernelPlan]
    report: SearchReport


@dataclass(frozen=True)
class _Job:
    program: Program
    target: Target
    limits: Limits
    """Their deadline is in seconds from now: processes need not have one clock."""


def search_one(program: Program, target: Target, limits: Limits) -> Searched:
    """The plans of one program."""
    report = SearchReport()
    return Searched(search_kernels(program, target, limits, report), report)


def _search_in_process(job: _Job) -> Searched:
    interruption.listen()
    deadline = perf_counter() + job.limits.deadline
    limits = replace(job.limits, deadline=deadline, cancelled=interruption.requested)
    return search_one(job.program, job.target, limits)


def search_all(programs: Sequence[Program], target: Target, limits: Limits) -> list[Searched]:
    """
    The plans for each of `programs`, up to `limits.jobs` of which are searched at the same time.

    What is found does not depend on the number of processes.
    """
    if limits.jobs == 1 or len(programs) < 2:
        return [search_one(program, target, limits) for program in programs]
    left = replace(limits, deadline=limits.deadline - perf_counter(), cancelled=Limits().cancelled)
    jobs = [_Job(program, target, left) for program in programs]
    with workers(min(limits.jobs, len(jobs))) as pool:
        answers = list(pool.map(_search_in_process, jobs))
    # What a lost process did not do is done here.
    return [
        search_one(program, target, limits) if isinstance(answer, WorkerError) else answer
        for program, answer in zip(programs, answers, strict=True)
    ]
