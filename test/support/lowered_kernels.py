"""Lowering functions of uGraphs, and running what comes out against the uGraph itself."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sampling import EVERYTHING
from xdsl.context import Context
from xdsl.dialects import func, gpu
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from mirage_mlir.api.graph import KernelGraph
from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.bases import MatmulBase
from mirage_mlir.driver.source import alone, functions
from mirage_mlir.interpreters import run_function
from mirage_mlir.interpreters.gpu_simulator import run_kernels
from mirage_mlir.passes.lower_to_nvvm import LowerToNvvmPass
from mirage_mlir.passes.overlap_launches import OverlapLaunchesPass
from mirage_mlir.passes.pipelines import lowering_passes
from mirage_mlir.passes.plan_memory import PlanMemoryPass
from mirage_mlir.passes.software_pipeline import SoftwarePipelinePass
from mirage_mlir.passes.superoptimize import candidates

Array = NDArray[Any]

ROUNDOFF = {"f16": 2.0**-11, "bf16": 2.0**-8, "tf32": 2.0**-11, "f32": 2.0**-22}
"""Half the distance from 1 to the next number; four times that in f32, where exp, log and the
reciprocal are approximations."""


def schedule(
    module: ModuleOp, stages: int | None = None, threads: int | None = None, target: str = "H200"
) -> ModuleOp:
    """`module` up to overlap-launches, in place; `stages` and `threads` replace what is chosen."""
    context = Context()
    if threads is not None:
        for graph in graphs_of(module):
            graph.schedule = replace(graph.schedule, threads=threads)
    for step in (
        *lowering_passes(target, last="fuse-horizontally"),
        SoftwarePipelinePass(target, stages),
        PlanMemoryPass(target),
        OverlapLaunchesPass(target),
    ):
        step.apply(context, module)
        # Of which pass the fault is, lit tests say; it is a fifth of the time of each test here.
        if EVERYTHING:
            module.verify()
    module.verify()
    return module


def emit(module: ModuleOp, target: str | None = None) -> gpu.ModuleOp:
    """The kernels of a scheduled module's only function, for the target that it has or gets."""
    LowerToNvvmPass(target).apply(Context(), module)
    module.verify()
    (kernels,) = [op for op in module.body.block.ops if isinstance(op, gpu.ModuleOp)]
    return kernels


def lower(
    module: ModuleOp, stages: int | None = None, threads: int | None = None, target: str = "H200"
) -> gpu.ModuleOp:
    """The kernels of a copy of a module with one function."""
    return emit(schedule(module.clone(), stages, threads, target), target)


def lower_graph(graph: KernelGraph) -> gpu.ModuleOp:
    """The kernels of a program's first candidate."""
    (function,) = functions(graph.to_module())
    return lower(alone(next(iter(candidates(function))).function))


def graphs_of(module: Operation) -> list[kernel.GraphDefinedOp]:
    """All kernels."""
    return [op for op in module.walk() if isinstance(op, kernel.GraphDefinedOp)]


def function_of(module: ModuleOp) -> func.FuncOp:
    """The only function."""
    (function,) = [op for op in module.body.block.ops if isinstance(op, func.FuncOp)]
    return function


def draw(function: func.FuncOp, seed: int = 0) -> list[Array]:
    """Inputs: normal numbers."""
    random = np.random.default_rng(seed)
    return [
        random.standard_normal(kernel.shape_of(argument)).astype(np.float32)
        for argument in function.body.block.args
    ]


def assert_close(result: Array, expected: Array, allowed: float) -> None:
    """
    Both as vectors, within the distance that is `allowed`.

    One wrong element of n moves the distance by 1/sqrt(n): far more than roundings, for our sizes.
    """
    assert result.shape == expected.shape
    assert np.isfinite(expected).all()
    assert distance(result, expected) <= allowed, worst(result, expected)


def distance(result: Array, expected: Array) -> float:
    """Between two arrays as vectors."""
    return float(np.linalg.norm(result.astype(np.float64) - expected))


def worst(result: Array, expected: Array) -> str:
    """Where two arrays differ most, for a message."""
    difference = np.nan_to_num(np.abs(result.astype(np.float64) - expected), nan=np.inf)
    place = np.unravel_index(int(np.argmax(difference)), expected.shape)
    index = [int(i) for i in place]
    wrong = int((difference > 0.05 * np.abs(expected).max()).sum())
    return f"{wrong} elements; at {index}: {result[place]}, not {expected[place]}"


def roundoff_of(module: ModuleOp) -> float:
    """The coarsest element type in the function, or type that a matmul rounds to."""
    names = [str(kernel.tensor_type(v).element_type) for v in values_of(function_of(module))]
    names += ["tf32" for op in module.walk() if isinstance(op, MatmulBase) and op.in_tf32]
    return max(ROUNDOFF[name] for name in names)


def values_of(function: func.FuncOp) -> Sequence[Any]:
    """All tensors that a function names."""
    results = [result for op in function.body.block.ops for result in op.results]
    return [*function.body.block.args, *results]


def check(
    module: ModuleOp,
    *,
    stages: int | None = None,
    threads: int | None = None,
    target: str = "H200",
    order: int | None = None,
) -> gpu.ModuleOp:
    """
    The kernels compute what the uGraph does in f64, without a fault.

    They may be off by four roundings, and twice what the uGraph itself is off when it rounds.

    Returns the kernels, for whoever wants to know how.
    """
    kernels = lower(module, stages, threads, target)
    function = function_of(module)
    inputs = draw(function)
    results = run_kernels(kernels, inputs, order=order)
    expected = run_function(function, inputs, rounding=False)
    rounded = run_function(function, inputs)
    for result, exact, close in zip(results, expected, rounded, strict=True):
        allowed = 4 * roundoff_of(module) * float(np.linalg.norm(exact))
        assert_close(result, exact, allowed + 2 * distance(close, exact))
    return kernels
