"""Masks of indices, lowered: integers are compared, and the values are those of numpy."""

import numpy as np
import pytest
from lowered_kernels import Array, lower
from oracle.elements import COMPARISONS
from xdsl.dialects import arith

from mirage_mlir.driver.source import parse_program
from mirage_mlir.interpreters.gpu_simulator import run_kernels

ROWS, COLUMNS = 18, 40
X, TILE = f"tensor<{ROWS}x{COLUMNS}xf32>", "!threadblock.tile<6x8xf32>"

PROGRAM = f"""
func.func @masked(%x: {X}) -> {X} {{
  %i = kernel.iota {{dim = 0 : i64}} : {X}
  %j = kernel.iota {{dim = 1 : i64}} : {X}
  %o = kernel.graph_defined ins(%x, %i, %j) grid [3] loop [5] {{
  ^bb0(%a: {X}, %b: {X}, %c: {X}):
    %0 = threadblock.load %a grid_map [0] loop_map [1] : ({X}) -> {TILE}
    %1 = threadblock.load %b grid_map [0] loop_map [1] : ({X}) -> {TILE}
    %2 = threadblock.load %c grid_map [0] loop_map [1] : ({X}) -> {TILE}
    %3 = threadblock.constant {{value = NUMBER : f32}} : {TILE}
    %4 = threadblock.add %1, %3 : ({TILE}, {TILE}) -> {TILE}
    %5 = threadblock.sub %4, %2 : ({TILE}, {TILE}) -> {TILE}
    %6 = threadblock.compare LHS, RHS {{predicate = "PREDICATE"}} : ({TILE}, {TILE}) -> {TILE}
    %7 = threadblock.mul %0, %6 : ({TILE}, {TILE}) -> {TILE}
    threadblock.store %7 grid_map [0] loop_map [1] : {TILE}
  }} : ({X}, {X}, {X}) -> {X}
  func.return %o : {X}
}}
"""

NUMBERS = (-5.0, 2.5, 1e9)
"""Added to indices, or compared with them: not all are whole, or near any index."""


@pytest.mark.parametrize("predicate", COMPARISONS)
def test_indices(predicate: str) -> None:
    rows, columns = np.indices((ROWS, COLUMNS))
    assert_masked("%1", "%2", predicate, 0.0, COMPARISONS[predicate](rows, columns))


@pytest.mark.parametrize("predicate", COMPARISONS)
@pytest.mark.parametrize("number", NUMBERS)
def test_indices_and_numbers(number: float, predicate: str) -> None:
    rows, columns = np.indices((ROWS, COLUMNS))
    converts = number != -5.0
    wanted = COMPARISONS[predicate](columns, number)
    assert_masked("%2", "%3", predicate, number, wanted, converts=converts)
    wanted = COMPARISONS[predicate](rows + number, columns)
    assert_masked("%4", "%2", predicate, number, wanted, converts=converts)
    if number < 2**24:
        # f32 does not hold the sum of an index and more.
        wanted = COMPARISONS[predicate](rows + number - columns, number)
        assert_masked("%5", "%3", predicate, number, wanted, converts=converts)


def assert_masked(
    lhs: str, rhs: str, predicate: str, number: float, wanted: Array, *, converts: bool = False
) -> None:
    """The lowered program has the elements of x where `wanted` holds, and 0 elsewhere."""
    text = PROGRAM.replace("NUMBER", f"{number:.1f}").replace("PREDICATE", predicate)
    kernels = lower(parse_program(text.replace("LHS", lhs).replace("RHS", rhs), "masks"))
    x = np.random.default_rng(3).standard_normal((ROWS, COLUMNS)).astype(np.float32)
    (found,) = run_kernels(kernels, [x])
    np.testing.assert_array_equal(found, x * wanted)
    assert any(isinstance(op, arith.CmpfOp) for op in kernels.walk()) == converts
