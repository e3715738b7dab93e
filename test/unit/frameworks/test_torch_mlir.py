"""Programs that torch-mlir printed, superoptimized, compute what PyTorch computes."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch_mlir_programs import IN_STABLEHLO, PROGRAMS, inputs_of

import mirage_mlir as mi
from mirage_mlir.driver.source import compiler_context, functions, parse_program
from mirage_mlir.interpreters.function import run_function
from mirage_mlir.passes.convert_linalg_to_kernel import ConvertLinalgToKernelPass
from mirage_mlir.passes.convert_stablehlo_to_kernel import ConvertStablehloToKernelPass

FOLDER = Path(__file__).parents[2] / "import"

ACCURATE = {torch.float32: 1e-5, torch.float16: 4e-3}
"""Norm of the error, of that of the result."""

FUSED = ("rmsnorm_linear_f16", "gated_mlp", "attention")
"""Those that are superoptimized here, into one kernel each."""


def assert_close(found: np.ndarray, name: str) -> None:
    function, kind, _ = PROGRAMS[name]
    wanted = function(*inputs_of(name)).double().numpy()
    assert found.shape == wanted.shape
    assert np.linalg.norm(found - wanted) <= ACCURATE[kind] * np.linalg.norm(wanted)


@pytest.mark.parametrize("name", PROGRAMS)
def test_converted(name: str) -> None:
    path = FOLDER / f"torch_{name}.mlir"
    module = parse_program(path.read_text(), path.name)
    ConvertLinalgToKernelPass().apply(compiler_context(), module)
    (function,) = functions(module)
    (found,) = run_function(function, [each.numpy() for each in inputs_of(name)])
    assert_close(found.astype(np.float64), name)


@pytest.mark.parametrize("name", IN_STABLEHLO)
def test_converted_from_stablehlo(name: str) -> None:
    path = FOLDER / f"torch_{name}_stablehlo.mlir"
    module = parse_program(path.read_text(), path.name)
    ConvertStablehloToKernelPass().apply(compiler_context(), module)
    (function,) = functions(module)
    (found,) = run_function(function, [each.numpy() for each in inputs_of(name)])
    assert_close(found.astype(np.float64), name)


@pytest.mark.parametrize("name", FUSED)
def test_superoptimized(name: str) -> None:
    path = FOLDER / f"torch_{name}.mlir"
    kernel = mi.superoptimize_file(path, target="sm_80", compile_for=["sm_80"], cache=False)
    (code,) = kernel.artifact.targets
    assert len(code.launches) == 1
    assert_close(kernel(*inputs_of(name)).double().numpy(), name)
