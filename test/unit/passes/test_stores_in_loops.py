"""Tiles that each iteration stores: on the simulator of lowered kernels and in the interpreter."""

import lowering_tiles as tiles
import numpy as np
import pytest
from exact_runs import exact_run
from lowered_kernels import function_of, lower
from sampling import sampled

from mirage_mlir.interpreters.gpu_simulator import run_kernels

CASES = [
    # Whole tiles; a ragged one; blocks with few rows and with none.
    (64, 256, 4, 8),
    (101, 67, 5, 3),
    (33, 40, 8, 4),
    (7, 16, 3, 2),
]


@pytest.mark.parametrize("target", ["H200", "A100"])
@pytest.mark.parametrize(("rows", "columns", "blocks", "step"), sampled(list(CASES), 2))
def test_rows_and_sums(rows: int, columns: int, blocks: int, step: int, target: str) -> None:
    module = tiles.rows_and_sums(rows, columns, blocks, step, "f32")
    x = np.random.default_rng(rows).standard_normal((rows, columns)).astype(np.float32)
    wide = x.astype(np.float64)
    wanted = wide * wide.sum(1, keepdims=True), wide.sum(0, keepdims=True)
    for found in (
        run_kernels(lower(module, target=target), [x]),
        exact_run(function_of(module), [wide]),
    ):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-4)
