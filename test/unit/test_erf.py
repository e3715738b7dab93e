"""The error function's code: right to three units in the last place of f32, near 0 too."""

import math

import numpy as np
from lowered_kernels import lower_graph
from xdsl.dialects import gpu

import mirage_mlir as mi
from mirage_mlir.interpreters.gpu_simulator import run_kernels

EXPONENTIAL = 2.0**-22
"""The relative error of `ex2.approx` (PTX ISA), which the interpreter computes exactly."""

COUNT = 1 << 14


def test_units_in_the_last_place() -> None:
    x = np.concatenate(
        [
            np.linspace(-6, 6, COUNT // 2 - 4),
            np.geomspace(1e-30, 1, COUNT // 4),
            -np.geomspace(1e-30, 1, COUNT // 4),
            [np.inf, -np.inf, 0.0, -0.0],
        ]
    ).astype(np.float32)
    (found,) = run_kernels(lowered(), [x])
    true = np.array([math.erf(value) for value in x.tolist()])
    spacing = np.spacing(np.abs(true).astype(np.float32)).astype(np.float64)
    units = np.abs(found.astype(np.float64) - true) / spacing
    # Beyond the switch 1 - exp(...) has an exponential that is off by at most this much more.
    far = (np.abs(x) > 475 / 512) & np.isfinite(x)
    units[far] += EXPONENTIAL * (1 - np.abs(true[far])) / spacing[far]
    assert units.max() <= 3
    assert units[~far].max() <= 1
    assert np.array_equal(np.signbit(found), np.signbit(x))


def lowered() -> gpu.ModuleOp:
    """The kernel of the error function."""
    graph = mi.new_kernel_graph("one")
    graph.mark_output(graph.erf(graph.new_input(dims=(COUNT,), dtype="f32")))
    return lower_graph(graph)
