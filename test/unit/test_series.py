"""The code of expm1, log1p, sin and cos: right to a few units in the last place, and at edges."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lowered_kernels import lower_graph
from xdsl.dialects import gpu

import mirage_mlir as mi
from mirage_mlir.interpreters.gpu_simulator import run_kernels

COUNT = 1 << 13

EDGES = [0.0, -0.0, np.inf, -np.inf]

SMALL = np.geomspace(1e-30, 1, COUNT // 4)

CASES: list[tuple[str, Any, float, list[float]]] = [
    # As exp, whose argument times log2(e) is rounded.
    ("expm1", np.linspace(-3, 3, COUNT // 2), 5, [0.0, -0.0, np.inf, -1.0]),
    (
        "log1p",
        np.concatenate([np.linspace(-0.99, 3, COUNT // 4), np.geomspace(3, 1e30, COUNT // 4)]),
        4,
        [0.0, -0.0, np.inf, np.nan],
    ),
    ("sin", np.linspace(-1e3, 1e3, COUNT // 2), 2, [0.0, -0.0, np.nan, np.nan]),
    (
        "cos",
        np.concatenate([np.linspace(-9, 9, COUNT // 4), np.geomspace(9, 1 << 20, COUNT // 4)]),
        2,
        [1.0, 1.0, np.nan, np.nan],
    ),
]
"""Functions, arguments beside small ones, the largest error in units of the last place, edges."""


@pytest.mark.parametrize(("name", "wide", "units", "edges"), CASES)
def test_units_in_the_last_place(name: str, wide: Any, units: float, edges: list[float]) -> None:
    """Of the value; for sin and cos of 1, since a zero that is not at 0 has no right digits."""
    small = -SMALL if name != "log1p" else -0.99 * SMALL
    x = np.concatenate([EDGES, SMALL, small, wide[len(EDGES) :]]).astype(np.float32)
    (found,) = run_kernels(lowered(name), [x])
    x, at_edges, found = x[len(EDGES) :], found[: len(EDGES)], found[len(EDGES) :]
    assert np.array_equal(at_edges, np.array(edges, np.float32), equal_nan=True)
    function: Callable[[Any], Any] = getattr(np, name)
    true = function(x.astype(np.float64))
    spacing = np.spacing(np.abs(true).astype(np.float32)).astype(np.float64)
    if name in ("sin", "cos"):
        spacing[2 * SMALL.size :] = np.spacing(np.float32(0.5))
    errors = np.abs(found - true) / spacing
    assert errors.max() <= units, (x[errors.argmax()], errors.max())


def lowered(name: str) -> gpu.ModuleOp:
    """The kernel of a function."""
    graph = mi.new_kernel_graph("one")
    graph.mark_output(getattr(graph, name)(graph.new_input(dims=(COUNT,), dtype="f32")))
    return lower_graph(graph)
