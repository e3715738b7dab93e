"""Every operator alone on a GPU, at odd shapes: the values are those of numpy in float64."""

import random
from typing import Any

import gpu_prepared
import pytest
from gpu_runs import run_guarded
from numpy_reference import TOLERANCE, error
from operators import OPERATORS, TYPES

import mirage_mlir as mi

BY_NAME = {operator.name: operator for operator in OPERATORS}


@pytest.mark.prepared(gpu_prepared.operator, "name", "element_type")
@pytest.mark.parametrize("element_type", TYPES)
@pytest.mark.parametrize("name", BY_NAME)
def test_values(torch: Any, name: str, element_type: str, prepared: bytes) -> None:
    operator, kernel = BY_NAME[name], mi.CompiledKernel(mi.Artifact.from_bytes(prepared))
    seed = random.randrange(1 << 32)
    inputs = operator.inputs(element_type, seed)
    (output,) = run_guarded(torch, kernel, inputs)
    wanted = operator.wanted(inputs)
    assert output.shape == wanted.shape
    (spec,) = kernel.artifact.outputs
    assert error(output, wanted) <= TOLERANCE[spec.element_type.value], f"seed {seed}"
