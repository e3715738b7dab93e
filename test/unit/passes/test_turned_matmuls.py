"""Matmuls by the transpose of a result: written the other way round, and equal."""

import numpy as np
import pytest

import mirage_mlir as mi
from mirage_mlir.dialects import kernel
from mirage_mlir.driver.source import functions
from mirage_mlir.interpreters.function import run_function
from mirage_mlir.passes.frontend.turned_matmuls import turn_matmuls


@pytest.mark.parametrize(
    ("left", "right", "turned"),
    [
        ("given", "transposed result", True),
        ("result", "transposed result", False),  # Either may stay in registers.
        ("given", "transposed argument", False),  # It can be read transposed.
        ("given", "transposed repetition", False),
        ("given", "result", False),
    ],
)
def test_which_are_turned(left: str, right: str, turned: bool) -> None:
    graph = mi.new_kernel_graph("f")
    v, x, w, m = (
        graph.new_input(dims=dims, dtype=mi.float32)
        for dims in ((2, 4, 8), (2, 6, 8), (1, 6, 8), (8, 8))
    )
    rights = {
        "transposed result": graph.transpose(graph.exp(graph.matmul(x, m)), 0, 2, 1),
        "transposed argument": graph.transpose(x, 0, 2, 1),
        "transposed repetition": graph.transpose(graph.repeat_interleave(w, 0, 2), 0, 2, 1),
        "result": graph.exp(graph.matmul(m, graph.transpose(x, 0, 2, 1))),
    }
    lefts = {"given": graph.exp(v), "result": graph.matmul(v, m)}
    graph.mark_output(graph.matmul(lefts[left], rights[right]))
    (function,) = functions(graph.to_module())
    random = np.random.default_rng(0)
    inputs = [random.normal(size=kernel.shape_of(arg)) for arg in function.body.block.args]
    (before,) = run_function(function, inputs, rounding=False)
    turn_matmuls(function)
    function.verify()
    *_, matmul = (op for op in function.body.block.ops if isinstance(op, kernel.MatmulOp))
    assert kernel.shape_of(matmul.result) == ((2, 6, 4) if turned else (2, 4, 6))
    (after,) = run_function(function, inputs, rounding=False)
    assert np.allclose(before, after, rtol=1e-14)
    again = str(function)
    turn_matmuls(function)
    assert str(function) == again
