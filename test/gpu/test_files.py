"""Programs from the files in the repository: the values are those of float64."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy_reference import TOLERANCE, error

import mirage_mlir as mi
from mirage_mlir.driver.source import function_named, parse_program
from mirage_mlir.interpreters.function import run_function
from mirage_mlir.runtime.artifact import TensorSpec
from mirage_mlir.runtime.element_types import numpy_dtype

WORKLOADS = sorted((Path(__file__).parents[1] / "workloads").glob("*.mlir"))


def dtype_of(torch: Any, spec: TensorSpec) -> Any:
    """torch's name of an element type."""
    return getattr(torch, spec.element_type.array_name)


def random_arrays(kernel: mi.CompiledKernel) -> list[Any]:
    """Normal numbers; weights are scaled so that products stay near 1."""
    generator = np.random.default_rng(2)
    arrays: list[Any] = []
    for spec in kernel.artifact.inputs:
        array = generator.standard_normal(spec.shape, np.float32)
        if spec.constant and len(spec.shape) > 1:
            array /= np.float32(spec.shape[-2] ** 0.5)
        arrays.append(array)
    return arrays


def on_device(torch: Any, kernel: mi.CompiledKernel, arrays: Sequence[Any]) -> list[Any]:
    """Arrays as CUDA tensors of the kernel's types."""
    return [
        torch.from_numpy(array).to("cuda", dtype_of(torch, spec))
        for array, spec in zip(arrays, kernel.artifact.inputs, strict=True)
    ]


def poisoned(torch: Any, kernel: mi.CompiledKernel) -> list[Any]:
    """Outputs full of NaN, so that an element left out shows."""
    return [
        torch.empty_strided(
            spec.shape, spec.strides, dtype=dtype_of(torch, spec), device="cuda"
        ).fill_(float("nan"))
        for spec in kernel.artifact.outputs
    ]


def outputs_of(kernel: mi.CompiledKernel, result: Any) -> list[Any]:
    """What a call returned, as a list."""
    return list(result) if len(kernel.artifact.outputs) > 1 else [result]


def run_and_compare(
    torch: Any,
    kernel: mi.CompiledKernel,
    tensors: Sequence[Any],
    wanted: Sequence[Any],
    limits: Sequence[float],
) -> None:
    """Run twice: near `wanted`, and both times the same bits, which a race would change."""
    results = outputs_of(kernel, kernel(*tensors, out=poisoned(torch, kernel)))
    for result, expected, limit in zip(results, wanted, limits, strict=True):
        assert error(result.double().cpu().numpy(), expected) <= limit
    again = outputs_of(kernel, kernel(*tensors))
    assert all(torch.equal(*pair) for pair in zip(again, results, strict=True))


@pytest.mark.parametrize("path", WORKLOADS, ids=lambda path: path.stem)
def test_superoptimized_workload(torch: Any, path: Path) -> None:
    """
    Against the program as it was written, interpreted in float64.

    How near depends on the program (a softmax magnifies the rounding of its scores), so the limit
    is what the interpreter loses with a kernel's rounding, with room for another order of sums.
    """
    kernel = mi.superoptimize_file(path)
    specs = kernel.artifact.inputs
    tensors = on_device(torch, kernel, random_arrays(kernel))
    rounded = [tensor.double().cpu().numpy() for tensor in tensors]
    function = function_named(parse_program(path.read_text(), path.name), kernel.artifact.name)
    wanted = run_function(function, rounded, rounding=False)
    arrays = [
        array.astype(numpy_dtype(spec.element_type))
        for array, spec in zip(rounded, specs, strict=True)
    ]
    interpreted = outputs_of(kernel, kernel(*arrays))
    limits = [
        max(TOLERANCE[spec.element_type.value], 2 * error(result, expected))
        for spec, result, expected in zip(kernel.artifact.outputs, interpreted, wanted, strict=True)
    ]
    run_and_compare(torch, kernel, tensors, wanted, limits)
