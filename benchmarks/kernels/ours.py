"""Our kernels for many programs: searched and compiled at once, timed one program after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any

from kernels.case import Case
from kernels.programs import case_named
from measured import Found, Program

import mirage_mlir as mi
from mirage_mlir.driver.offers import offers, to_time
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.source import alone, functions, parse_program, text_of
from mirage_mlir.interpreters.domain import AnyArray


@dataclass(frozen=True)
class Searched:
    """The candidates for a program."""

    candidates: tuple[Found, ...]
    seconds: float
    """For searching, on one core."""


def search(program: str, target: str, count: int, time_limit: float | None) -> Searched:
    """The first `count` candidates for a program in MLIR."""
    start = perf_counter()
    (function,) = functions(parse_program(program, "program"))
    effort = Options(target=target, time_limit=time_limit).effort()
    found = tuple(
        Found(
            text_of(alone(offer.function)),
            offer.search.structure,
            offer.search.modelled,
            offer.search.kernels,
            offer.alone,
        )
        for offer in to_time(offers(function, target, effort), count)
    )
    return Searched(found, perf_counter() - start)


def first_choice(program: str, target: str) -> Found:
    """What a search puts first."""
    return search(program, target, 1, None).candidates[0]


def behind_others(kernel: mi.CompiledKernel) -> mi.CompiledKernel:
    """The same kernel where each call starts as behind kernels of another library."""
    targets = tuple(code.behind_others() for code in kernel.artifact.targets)
    return mi.CompiledKernel(replace(kernel.artifact, targets=targets))


def reference(key: str, inputs: Sequence[AnyArray]) -> list[AnyArray]:
    """The outputs of the case with `key` in float64, by PyTorch on the GPU."""
    import gpu
    from peers.table import function_of
    from peers.torch_programs import tuple_of

    torch = gpu.torch_module()
    tensors = [torch.from_numpy(array.copy()).cuda().double() for array in inputs]
    results: Any = function_of(case_named(key), wide=True)(*tensors)
    found: list[AnyArray] = [tensor.cpu().numpy() for tensor in tuple_of(results)]
    del tensors, results
    torch.cuda.empty_cache()
    return found


def program_of(case: Case, searched: Searched) -> Program:
    """What is timed."""
    return Program(case.text(), searched.candidates, partial(reference, case.key))
