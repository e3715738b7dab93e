"""Programs and uGraphs from the files in the repository: the values are those of float64."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mirage_mlir as mi
from mirage_mlir.driver.source import function_named, parse_program
from mirage_mlir.interpreters.function import run_function
from mirage_mlir.runtime.artifact import Artifact, TensorSpec

ROOT = Path(__file__).parents[1]

NOT_LOWERED = ("attention_across", "attention_split_kv", "rmsnorm_linear_split_k")
"""uGraphs with sums across blocks or rescaling, which the lowering does not take yet."""

UGRAPHS = [
    path for path in sorted((ROOT / "ugraphs").glob("*.mlir")) if path.stem not in NOT_LOWERED
]

WORKLOADS = sorted((ROOT / "workloads").glob("*.mlir"))

TOLERANCE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 1e-3}


def random_tensor(torch: Any, spec: TensorSpec) -> Any:
    """Normal numbers; weights are scaled so that products stay near 1."""
    values = torch.randn(spec.shape, device="cuda")
    if spec.constant and len(spec.shape) > 1:
        values /= spec.shape[-2] ** 0.5
    return values.to(getattr(torch, spec.element_type.array_name))


def reference(artifact: Artifact, name: str, text: str, tensors: Sequence[Any]) -> list[Any]:
    """The program's outputs in float64, interpreted."""
    arrays = [tensor.double().cpu().numpy() for tensor in tensors]
    function = function_named(parse_program(text, artifact.name), name)
    return list(run_function(function, arrays, rounding=False))


def outputs_of(kernel: mi.CompiledKernel, result: Any) -> list[Any]:
    """What a call returned, as a list."""
    return list(result) if len(kernel.artifact.outputs) > 1 else [result]


def compare(torch: Any, kernel: mi.CompiledKernel, name: str, text: str) -> None:
    """Run `kernel` on fresh inputs into poisoned outputs, and compare with @`name` of `text`."""
    artifact = kernel.artifact
    tensors = [random_tensor(torch, spec) for spec in artifact.inputs]
    poisoned = [
        torch.full(spec.shape, float("nan"), device="cuda").to(
            getattr(torch, spec.element_type.array_name)
        )
        for spec in artifact.outputs
    ]
    outputs = poisoned if all(spec.dense for spec in artifact.outputs) else None
    results = outputs_of(kernel, kernel(*tensors, out=outputs))
    wanted = reference(artifact, name, text, tensors)
    for spec, result, expected in zip(artifact.outputs, results, wanted, strict=True):
        error = np.linalg.norm(result.double().cpu().numpy() - expected)
        assert error <= TOLERANCE[spec.element_type.array_name] * np.linalg.norm(expected)
    again = outputs_of(kernel, kernel(*tensors))
    assert all(torch.equal(*pair) for pair in zip(again, results, strict=True))


@pytest.mark.parametrize("path", UGRAPHS, ids=lambda path: path.stem)
def test_ugraph_by_hand(torch: Any, path: Path) -> None:
    compare(torch, mi.compile_file(path, "ugraph"), "reference", path.read_text())


@pytest.mark.parametrize("path", WORKLOADS, ids=lambda path: path.stem)
def test_superoptimized_workload(torch: Any, path: Path) -> None:
    kernel = mi.superoptimize_file(path)
    compare(torch, kernel, kernel.artifact.name, path.read_text())
