"""A decoder layer of Flax, as JAX printed it, converted and superoptimized, equals Flax."""

from typing import Any

import numpy as np
import pytest
from flax_layer import FILE, arguments, jax, layer
from sampling import EVERYTHING

import mirage_mlir as mi
from mirage_mlir.driver.source import compiler_context, functions, parse_program
from mirage_mlir.interpreters.function import run_function
from mirage_mlir.passes.convert_stablehlo_to_kernel import ConvertStablehloToKernelPass


def assert_close(found: Any, given: tuple[Any, ...], accurate: float) -> None:
    wanted = np.asarray(jax.jit(layer)(*given), np.float64)
    assert found.shape == wanted.shape
    assert np.linalg.norm(found - wanted) <= accurate * np.linalg.norm(wanted)


def test_converted() -> None:
    module = parse_program(FILE.read_text(), FILE.name)
    ConvertStablehloToKernelPass().apply(compiler_context(), module)
    (function,) = functions(module)
    given = arguments()
    (found,) = run_function(function, [*map(np.asarray, jax.tree.leaves(given))])
    assert_close(found.astype(np.float64), given, 1e-5)


@pytest.mark.skipif(not EVERYTHING, reason="searches for two minutes: make test-all")
def test_superoptimized() -> None:
    kernel = mi.superoptimize_file(FILE, target="sm_80", compile_for=["sm_80"], cache=False)
    assert kernel.ugraph.count("kernel.graph_defined") >= 1
    given = arguments()
    found = kernel(*map(np.asarray, jax.tree.leaves(given)))
    assert_close(np.asarray(found).astype(np.float64), given, 4e-3)
