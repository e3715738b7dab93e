"""Every operator alone on a GPU, at odd shapes: the values are those of numpy in float64."""

import random
from typing import Any

import pytest
from gpu_runs import chip_here, run_guarded
from numpy_reference import TOLERANCE, error
from operators import OPERATORS, TYPES, Operator


@pytest.mark.parametrize("element_type", TYPES)
@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_values(torch: Any, operator: Operator, element_type: str) -> None:
    kernel = operator.graph(element_type).superoptimize(compile_for=[chip_here()])
    seed = random.randrange(1 << 32)
    inputs = operator.inputs(element_type, seed)
    (output,) = run_guarded(torch, kernel, inputs)
    wanted = operator.wanted(inputs)
    assert output.shape == wanted.shape
    (spec,) = kernel.artifact.outputs
    assert error(output, wanted) <= TOLERANCE[spec.element_type.value], f"seed {seed}"
