"""
What a search finds for norms with gains, on inputs that are hard for f16.

Products of activations and gains overflow, or lose bits, where the norms that programs compute do
not: one large channel with a gain above 1, all near zero, far from zero, and heavy tails.
"""

import re
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from numpy_reference import error
from sampling import sampled
from xdsl.dialects import gpu
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from mirage_mlir.dialects import kernel
from mirage_mlir.driver.source import compiler_context, functions, parse_program
from mirage_mlir.interpreters.function import run_function
from mirage_mlir.interpreters.gpu_simulator import run_kernels
from mirage_mlir.passes.pipelines import lowering_passes
from mirage_mlir.passes.superoptimize import candidates

Array = NDArray[np.float16]

WORKLOADS = Path(__file__).parents[2] / "workloads"

X, G, W, Y = (f"tensor<{size}xf16>" for size in ("16x4096", "4096", "4096x512", "16x512"))

GAIN_OVERFLOW = f"""
func.func @gain_overflow(%x: {X}, %g: {G}, %w: {W}) -> {Y} {{
  %y = kernel.rms_norm %x, %g {{eps = 1.0e-05 : f32}} : ({X}, {G}) -> {X}
  %o = kernel.matmul %y, %w : ({X}, {W}) -> {Y}
  func.return %o : {Y}
}}
"""

PROGRAMS = ("rmsnorm_lora", "qkv_projection", "layernorm_linear", "gain_overflow")

KINDS = ("one channel", "near zero", "far from zero", "heavy tails")

MOST_CANDIDATES = 8

TIMES, SLACK = 2.0, 1e-4
"""How much larger than that of the program run op by op an error may be, and what comes on top."""


def function_of(name: str, divided: int) -> FuncOp:
    """A program with all sizes of 512 and more divided by a number."""
    if name == "gain_overflow":
        text = GAIN_OVERFLOW
    else:
        text = (WORKLOADS / f"{name}.mlir").read_text()

    def smaller(found: re.Match[str]) -> str:
        return found[1] + str(int(found[2]) // divided)

    text = re.sub(r"([<x ])(\d{3,})(?=[x,>])", smaller, text)
    return functions(parse_program(text, name))[0]


@cache
def found(name: str, divided: int) -> list[FuncOp]:
    """The first candidates for a program, whatever verification says of them."""
    offers = candidates(function_of(name, divided))
    return [offer.function for offer in islice(offers, MOST_CANDIDATES)]


def hard_inputs(function: FuncOp, kind: str) -> list[Array]:
    """Inputs of one kind: activations, then gains (vectors) and weights (matrices)."""
    random = np.random.default_rng(0)
    first, *others = [kernel.shape_of(argument) for argument in function.body.block.args]
    x = random.standard_normal(first)
    channel = int(random.integers(first[1]))
    match kind:
        case "one channel":
            x[:, channel] = 2e4
        case "near zero":
            x *= 1e-5
        case "far from zero":
            x = 200 + x
        case _:
            x = np.clip(random.standard_t(1.5, first) * 30, -6e4, 6e4)
    inputs = [x]
    for shape in others:
        if len(shape) == 1:
            gain = 10 ** random.uniform(-2, 0.9, shape)
            gain[channel] = 4.0
            inputs.append(gain)
        else:
            inputs.append(random.standard_normal(shape) / shape[0] ** 0.5)
    return [each.astype(np.float16) for each in inputs]


def allowed(function: FuncOp, inputs: list[Array]) -> tuple[list[NDArray[np.float64]], list[float]]:
    """What a program computes exactly, and how far its kernels may be from that."""
    exact = [each.astype(np.float64) for each in run_function(function, inputs, rounding=False)]
    rounded = run_function(function, inputs, rounding=True)
    return exact, [TIMES * error(a, b) + SLACK for a, b in zip(rounded, exact, strict=True)]


@pytest.mark.parametrize(
    ("name", "kind"), sampled([(name, kind) for name in PROGRAMS for kind in KINDS], 10)
)
def test_all_candidates(name: str, kind: str) -> None:
    """Each is finite, and as accurate as the program op by op."""
    program = function_of(name, 8)
    inputs = hard_inputs(program, kind)
    exact, most = allowed(program, inputs)
    assert all(limit < 1e-2 for limit in most)
    for candidate in found(name, 8):
        results = run_function(candidate, inputs, rounding=True)
        for result, wanted, limit in zip(results, exact, most, strict=True):
            assert error(result, wanted) <= limit


@pytest.mark.parametrize("name", sampled(list(PROGRAMS), 2))
@pytest.mark.usefixtures("first_look")
def test_lowered_kernels(name: str) -> None:
    """So are the kernels that the first one becomes."""
    program = function_of(name, 32)
    module = ModuleOp([found(name, 32)[0].clone()])
    for each in lowering_passes("H200"):
        each.apply(compiler_context(), module)
    kernels = next(op for op in module.body.block.ops if isinstance(op, gpu.ModuleOp))
    for kind in KINDS:
        inputs = hard_inputs(program, kind)
        exact, most = allowed(program, inputs)
        for result, wanted, limit in zip(run_kernels(kernels, inputs), exact, most, strict=True):
            assert error(result, wanted) <= limit
