"""Kernels for the parts of a model: those that differ are searched for at the same time."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mirage_mlir.api.graph import SearchOptions, options_of
from mirage_mlir.frameworks.backend.operators import PartProgram
from mirage_mlir.frameworks.backend.part_search import PartAnswer, PartTask, searched
from mirage_mlir.runtime.artifact import Artifact
from mirage_mlir.runtime.kernel import CompiledKernel
from mirage_mlir.worker import WorkerError, workers

QUICK_SECONDS = 5.0
"""Of search for a part with `effort="quick"`: half of the parts of a transformer end before."""


@dataclass(frozen=True)
class FoundKernel:
    """The kernel of a part, or why there is none; and the seconds that it took."""

    kernel: CompiledKernel | None
    why: str = ""
    seconds: float = 0.0


def find_all(
    programs: Sequence[PartProgram], target: str, effort: str, options: SearchOptions
) -> list[FoundKernel]:
    """
    The kernels of each program.

    Args:
        programs: what to search for.
        target: the GPU.
        effort: `full`, `quick` or `none`, as the backend takes it.
        options: of each search. With `profile` one comes after the other: they time on one GPU.
    """
    known = [program.graph.kept(target, **options) for program in programs]
    if effort == "none":
        why = "no kernels are known, and none were searched"
        return [FoundKernel(kernel, "" if kernel else why) for kernel in known]
    limited: SearchOptions = options if effort == "full" else {"time_limit": QUICK_SECONDS}
    asked = options_of(target, {**options, **limited})
    unknown = [
        PartTask(str(program.graph.to_module()), program.graph.name, asked)
        for program, kernel in zip(programs, known, strict=True)
        if kernel is None
    ]
    answers = iter(_answers(unknown))
    return [FoundKernel(kernel) if kernel else _found(next(answers)) for kernel in known]


def _answers(tasks: Sequence[PartTask]) -> list[PartAnswer]:
    """What is found for each, by as many processes as there are cores to share."""
    count = min(len(tasks), os.cpu_count() or 1)
    if count < 2 or tasks[0].options.profile:
        return [searched(task) for task in tasks]
    jobs = max(1, (os.cpu_count() or 1) // count)
    shared = [replace(task, options=replace(task.options, jobs=jobs)) for task in tasks]
    with workers(count) as pool:
        answers = list(pool.map(searched, shared))
    # What a lost process did not do is done here.
    return [
        searched(task) if isinstance(answer, WorkerError) else answer
        for task, answer in zip(tasks, answers, strict=True)
    ]


def _found(answer: PartAnswer) -> FoundKernel:
    if answer.artifact is None:
        return FoundKernel(None, answer.why, answer.seconds)
    return FoundKernel(CompiledKernel(Artifact.from_bytes(answer.artifact)), "", answer.seconds)
