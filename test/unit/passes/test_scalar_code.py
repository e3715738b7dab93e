"""The code of functions on all of f32: `tanh` near 0, and powers of negative numbers."""

import numpy as np
import pytest
from lowered_kernels import lower_graph

import mirage_mlir as mi
from mirage_mlir.api.graph import KernelGraph, Tensor
from mirage_mlir.interpreters.gpu_simulator import run_kernels

COUNT = 1 << 12


def near_and_far() -> np.ndarray:
    """Numbers of all sizes and both signs, and the special ones."""
    sizes = np.concatenate([np.geomspace(1e-30, 20, COUNT // 2 - 2), [np.inf, 0.0]])
    return np.concatenate([sizes, -sizes]).astype(np.float32)


def started() -> tuple[KernelGraph, Tensor]:
    graph = mi.new_kernel_graph("one")
    return graph, graph.new_input(dims=(COUNT,), dtype="f32")


def run(graph: KernelGraph, x: np.ndarray) -> np.ndarray:
    """What the lowered kernel of a graph gives."""
    (found,) = run_kernels(lower_graph(graph), [x])
    return found.astype(np.float64)


def test_tanh_is_right_to_units_in_the_last_place() -> None:
    graph, x = started()
    graph.mark_output(graph.tanh(x))
    inputs = near_and_far()
    true = np.tanh(inputs.astype(np.float64))
    found = run(graph, inputs)
    spacing = np.spacing(np.abs(true).astype(np.float32)).astype(np.float64)
    assert (np.abs(found - true) / spacing).max() <= 5
    assert np.array_equal(np.signbit(found), np.signbit(inputs))


def test_softcap_is_what_it_caps_near_zero() -> None:
    graph, x = started()
    graph.mark_output(graph.softcap(x, 30.0))
    inputs = near_and_far()
    true = 30 * np.tanh(inputs.astype(np.float64) / 30)
    assert np.allclose(run(graph, inputs), true, rtol=1e-6, atol=0)


@pytest.mark.parametrize("exponent", [-17, -4, -3, -2, -1, -0.5, 0, 0.5, 1, 5, 6, 9, 16, 17, 1.5])
def test_powers(exponent: float) -> None:
    graph, x = started()
    graph.mark_output(graph.pow(x, exponent))
    inputs = np.resize(np.array([-2, -1, -0.5, 0, 0.5, 1, 2, 3], np.float32), COUNT)
    with np.errstate(divide="ignore", invalid="ignore"):
        true = np.power(inputs.astype(np.float64), exponent)
    assert np.allclose(run(graph, inputs), true, rtol=1e-5, equal_nan=True)
