"""Prefix sums: under a mask, in steps, and in rows to which the rows before are added."""

import numpy as np
import pytest
from xdsl.dialects.func import FuncOp

from mirage_mlir.dialects import kernel
from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.interpreters.function import run_function
from mirage_mlir.passes.patterns import decompose

PROGRAM = """
func.func @f(%x: tensor<{shape}xf32>) -> tensor<{shape}xf32> {{
  %y = kernel.cumsum %x {{dim = {dim} : i64}} : (tensor<{shape}xf32>) -> tensor<{shape}xf32>
  func.return %y : tensor<{shape}xf32>
}}
"""


def taken_apart(shape: tuple[int, ...], dim: int) -> FuncOp:
    text = PROGRAM.format(shape="x".join(map(str, shape)), dim=dim)
    function = functions(parse_program(text, "f.mlir"))[0]
    decompose.take_apart_unsearched(function)
    function.verify()
    return function


@pytest.mark.parametrize(
    ("shape", "dim", "rows"),
    [
        ((8,), 0, False),
        ((12,), 0, True),
        ((3, 30), 1, True),
        ((64, 5), 0, True),
        ((2, 49, 3), 1, True),
        # No number divides it: all of it at once.
        ((11,), 0, False),
    ],
)
def test_rows(
    shape: tuple[int, ...], dim: int, rows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decompose, "MOST_TOGETHER", 8)
    monkeypatch.setattr(decompose, "MOST_MASKED", 1)
    function = taken_apart(shape, dim)
    names = [op.name for op in function.body.block.ops]
    assert "kernel.cumsum" not in names
    assert ("kernel.reshape" in names) == rows
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32).astype(np.float64)
    (found,) = run_function(function, [x], rounding=False)
    np.testing.assert_allclose(found, np.cumsum(x, dim), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("shape", "dim", "sums"),
    [
        ((1,), 0, 0),
        ((2, 63), 1, 1),
        ((77, 3), 0, 1),
        ((2, 5, 3), 1, 1),
        # Rows, and the sums of whole rows, and of rows of rows.
        ((2, 64), 1, 3),
        ((256, 3), 0, 3),
        ((2, 300, 2), 1, 3),
        ((1, 4096), 1, 3),
        ((16384,), 0, 5),
    ],
)
def test_masks(shape: tuple[int, ...], dim: int, sums: int) -> None:
    """Elements are summed under masks: what is infinite is not seen before it."""
    function = taken_apart(shape, dim)
    names = [op.name for op in function.body.block.ops]
    assert names.count("kernel.reduce_sum") == sums
    assert "kernel.concat" not in names
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32).astype(np.float64)
    (found,) = run_function(function, [x], rounding=False)
    np.testing.assert_allclose(found, np.cumsum(x, dim), rtol=1e-12, atol=1e-12)
    x[tuple(size // 2 for size in shape)] = np.inf
    (found,) = run_function(function, [x], rounding=False)
    assert np.array_equal(np.isinf(found), np.isinf(np.cumsum(x, dim)))
    assert not np.isnan(found).any()


@pytest.mark.parametrize(("rows", "masked"), [(1 << 20, True), ((1 << 20) + 1, False)])
def test_masks_of_large_tensors(rows: int, masked: bool) -> None:
    """Each operator alone would store all that is under the mask."""
    names = [op.name for op in taken_apart((rows, 128), 1).body.block.ops]
    assert ("kernel.select" in names) == masked


def test_a_vocabulary() -> None:
    """No tensor that is put together is longer than a block can hold."""
    function = taken_apart((2, 50257), 1)
    longest = [
        max(kernel.shape_of(op.results[0]))
        for op in function.body.block.ops
        if op.name == "kernel.concat"
    ]
    assert max(longest) <= decompose.MOST_TOGETHER
