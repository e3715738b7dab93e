"""The uGraphs of `test/ugraphs` on a GPU: the values are those of numpy in float64."""

import random
from typing import Any

import gpu_prepared
import pytest
from gpu_runs import run_guarded
from numpy_reference import TOLERANCE, error
from ugraph_programs import NAMES, PROGRAMS

import mirage_mlir as mi


@pytest.mark.prepared(gpu_prepared.ugraph, "name")
@pytest.mark.parametrize("name", NAMES)
def test_values(torch: Any, name: str, prepared: bytes) -> None:
    kernel = mi.CompiledKernel(mi.Artifact.from_bytes(prepared))
    specs = kernel.artifact.inputs
    program = PROGRAMS[name]
    seed = random.randrange(1 << 32)
    inputs = program.inputs(
        [spec.shape for spec in specs], [spec.element_type.value for spec in specs], seed
    )
    outputs = run_guarded(torch, kernel, inputs)
    wanted = program.outputs(inputs)
    for number, spec in enumerate(kernel.artifact.outputs):
        found = error(outputs[number], wanted[number])
        assert found <= TOLERANCE[spec.element_type.value], f"output {number}, seed {seed}"
