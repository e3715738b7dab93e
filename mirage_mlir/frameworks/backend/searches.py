"""Kernels for the parts of a model: those that differ are searched for at the same time."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from mirage_mlir.api.graph import KernelGraph, SearchOptions, options_of
from mirage_mlir.driver.cache import open_cache
from mirage_mlir.driver.kept import key_of
from mirage_mlir.driver.optimize import as_asked
from mirage_mlir.driver.tune import task_of
from mirage_mlir.frameworks.backend.operators import PartProgram
from mirage_mlir.frameworks.backend.part_search import PartAnswer, PartTask, searched
from mirage_mlir.frameworks.backend.tuned_parts import fastest_kernels
from mirage_mlir.runtime.artifact import Artifact
from mirage_mlir.runtime.kernel import CompiledKernel
from mirage_mlir.worker import WorkerError, workers

QUICK_SECONDS = 5.0
"""Of search for a part with `effort="quick"`: half of the parts of a transformer end before."""


_CUT_SHORT: dict[PartTask, "FoundKernel"] = {}
"""What searches found that a limit may have ended: not kept on disk, as another time they may find
more. In one process a model that is compiled again gets the same."""


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
        options: of each search. With `profile` the best candidates are timed on the GPU.
    """
    known = [program.graph.kept(target, **options) for program in programs]
    if effort == "none":
        why = "no kernels are known, and none were searched"
        return [FoundKernel(kernel, "" if kernel else why) for kernel in known]
    limited: SearchOptions = options if effort == "full" else {"time_limit": QUICK_SECONDS}
    limited = {**options, **limited}
    unknown = [each.graph for each, kernel in zip(programs, known, strict=True) if kernel is None]
    if options.get("profile"):
        answers = iter(_timed(unknown, target, limited))
    else:
        answers = iter(_modelled(unknown, target, limited))
    return [FoundKernel(kernel) if kernel else next(answers) for kernel in known]


def _timed(graphs: Sequence[KernelGraph], target: str, options: SearchOptions) -> list[FoundKernel]:
    """The fastest on this GPU; where none could be timed, for want of memory, the model's."""
    start = perf_counter()
    asked = options_of(target, options)
    modules = [as_asked(graph.to_module(), asked) for graph in graphs]
    tasks = [task_of(m, g.name, asked) for m, g in zip(modules, graphs, strict=True)]
    found = fastest_kernels(tasks) if tasks else []
    for graph, artifact in zip(graphs, found, strict=True):
        if artifact is not None and "time_limit" not in options and not artifact.unverified:
            key = key_of(graph.to_module(), graph.name, asked)
            open_cache().keep(key, artifact.to_bytes())
    left = [graph for graph, artifact in zip(graphs, found, strict=True) if artifact is None]
    others = iter(_modelled(left, target, {**options, "profile": False}))
    seconds = perf_counter() - start
    return [
        next(others) if artifact is None else FoundKernel(CompiledKernel(artifact), "", seconds)
        for artifact in found
    ]


def _modelled(
    graphs: Sequence[KernelGraph], target: str, options: SearchOptions
) -> list[FoundKernel]:
    """The fastest in the model."""
    asked = options_of(target, options)
    tasks = [PartTask(str(g.to_module()), g.name, asked) for g in graphs]
    new = [task for task in dict.fromkeys(tasks) if task not in _CUT_SHORT]
    found = dict(zip(new, map(_found, _answers(new)), strict=True))
    if asked.time_limit is not None:
        _CUT_SHORT.update({task: replace(each, seconds=0.0) for task, each in found.items()})
    return [found[task] if task in found else _CUT_SHORT[task] for task in tasks]


def _answers(tasks: Sequence[PartTask]) -> list[PartAnswer]:
    """What is found for each, by as many processes as there are cores to share."""
    count = min(len(tasks), os.cpu_count() or 1)
    if count < 2:
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
