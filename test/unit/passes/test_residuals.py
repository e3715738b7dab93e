"""Residuals and biases beside matmuls with swapped operands: read in place, behind the loop."""

from pathlib import Path

import numpy as np
import pytest
from lowered_kernels import lower

from mirage_mlir.driver.source import parse_program
from mirage_mlir.interpreters.gpu_simulator import run_kernels
from mirage_mlir.layouts.layout import ceil_div

GRAPH = Path(__file__).parent / "Inputs" / "residual.mlir.in"


@pytest.mark.parametrize(
    ("rows", "columns", "wide"), [(144, 256, True), (100, 200, True), (75, 130, False)]
)
def test_against_numpy(rows: int, columns: int, wide: bool) -> None:
    text = GRAPH.read_text()
    down, across = ceil_div(rows, 72), ceil_div(columns, 128)
    sizes = {"ROWS": rows, "COLUMNS": columns, "DOWN": down, "ACROSS": across}
    for name, size in sizes.items():
        text = text.replace(name, str(size))
    kernels = lower(parse_program(text, "residual"))
    assert ("matrix" in str(kernels)) == wide
    random = np.random.default_rng(0)
    shapes = (rows, 128), (128, columns), (columns,), (rows, columns)
    x, w, b, r = (random.standard_normal(shape).astype(np.float16) for shape in shapes)
    (found,) = run_kernels(kernels, [x, w, b, r])
    true = x.astype(float) @ w.astype(float) + b + r
    assert np.allclose(found.astype(float), true, rtol=2e-3, atol=2e-2)
