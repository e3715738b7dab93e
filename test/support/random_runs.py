"""Random programs through the whole of `superoptimize`, compared with the oracle in float64."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray
from numpy_reference import Array
from oracle import run_dense
from random_functions import FunctionMaker
from xdsl.dialects.builtin import ModuleOp, bf16, f16, f32
from xdsl.dialects.func import FuncOp

from mirage_mlir.diagnostics import collect_remarks
from mirage_mlir.dialects.common import FloatType
from mirage_mlir.driver.source import compiler_context, functions
from mirage_mlir.interpreters.domain import ElementType
from mirage_mlir.interpreters.float_domain import ROUNDOFF, round_to
from mirage_mlir.interpreters.function import run_function
from mirage_mlir.interpreters.operators import shape_of
from mirage_mlir.passes.superoptimize_pipeline import SuperoptimizePipeline
from mirage_mlir.verification import verify

SECONDS = 10.0
"""Of one search."""

EXACT = 1e-9
"""Relative error in float64; ill-conditioned programs may have `CONDITION` times numpy's own."""

CONDITION = 16
"""How much worse than as written a result may be where the program itself is ill-conditioned."""

LARGEST: dict[ElementType, float] = {"f16": 65504.0, "bf16": 3.38e38, "f32": 3.40e38}
"""The largest finite number of a type."""

TYPES: tuple[tuple[ElementType, FloatType], ...] = (("f16", f16), ("bf16", bf16), ("f32", f32))


@dataclass(frozen=True)
class Outcome:
    """What became of a program that was compiled right."""

    text: str
    element_type: str


class Failure(Exception):
    """A program whose result is wrong, or that has none."""

    def __init__(self, reason: str, program: str) -> None:
        super().__init__(reason)
        self.program = program


def make(seed: int) -> tuple[FuncOp, ElementType]:
    """The program of a seed and the name of its element type."""
    random = Random(seed)
    name, element_type = random.choice(TYPES)
    maker = FunctionMaker(random.randrange(1 << 30), element_type=element_type)
    return maker.make(operators=random.randint(1, 8)), name


def examine(seed: int) -> Outcome:
    """
    Compile the program of a seed and run it.

    Raises:
        Failure: the result is wrong, or an error says that there is none.
    """
    function, name = make(seed)
    text = str(function)
    module = ModuleOp([function.clone()])
    verify(module)
    try:
        with collect_remarks() as remarks:
            SuperoptimizePipeline(time_limit=SECONDS).apply(compiler_context(), module)
        verify(module)
    except Exception as error:
        raise Failure(f"{type(error).__name__}: {error}", text) from error
    result = functions(module)[0]
    inputs = draw(function, name, seed)
    wanted = run_dense(function, inputs)
    exact = run_dense(result, inputs)
    itself = run_function(function, inputs, rounding=False)
    for number, (value, own, right) in enumerate(zip(exact, itself, wanted, strict=True)):
        allowed = EXACT + CONDITION * distance(own, right)
        if not distance(value, right) <= allowed:
            raise Failure(f"output {number} is {distance(value, right):.2e} off in float64", text)
    rounded = run_function(result, inputs)
    as_written = run_function(function, inputs)
    for number, (value, own, right) in enumerate(zip(rounded, as_written, wanted, strict=True)):
        allowed = 4 * ROUNDOFF[name] + CONDITION * distance(own, right, LARGEST[name])
        error = distance(value, right, LARGEST[name])
        if not error <= allowed:
            raise Failure(f"output {number} is {error:.2e} off, {allowed:.2e} allowed", text)
    alone = any("each operator" in str(remark) for remark in remarks)
    return Outcome("as written" if alone else "found", name)


def draw(function: FuncOp, name: ElementType, seed: int) -> list[Array]:
    """Normal inputs that the element type has."""
    random = np.random.default_rng(seed)
    return [
        round_to(random.standard_normal(shape_of(argument)).astype(np.float32), name).astype(
            np.float64
        )
        for argument in function.body.block.args
    ]


def distance(value: NDArray[np.floating], wanted: Array, largest: float = np.inf) -> float:
    """`||y - r|| / ||r||` over the elements that are numbers in range; inf where y is none."""
    valid = np.isfinite(wanted) & (np.abs(wanted) <= largest)
    with np.errstate(all="ignore"):
        difference = np.linalg.norm((value.astype(np.float64) - wanted)[valid])
        size = np.linalg.norm(wanted[valid])
    if np.isnan(difference):
        return float("inf")
    return float(difference / size) if size else float(difference)
