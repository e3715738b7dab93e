"""Sums of which few terms are computed: iterations then have other rows of their tiles."""

import numpy as np
import pytest

from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.interpreters.dims import Dim, dim_of
from mirage_mlir.interpreters.float_domain import FloatDomain, Floats
from mirage_mlir.interpreters.kernel import KernelInterpreter
from mirage_mlir.interpreters.tensors import Tensor

PROGRAM = """\
func.func @program(%x: tensor<128x4xf32>) -> tensor<1x4xf32> {
  %y = kernel.reduce_sum %x {dims = array<i64: 0>} : (tensor<128x4xf32>) -> tensor<1x4xf32>
  func.return %y : tensor<1x4xf32>
}
func.func @graph(%x: tensor<128x4xf32>) -> tensor<1x4xf32> {
  %y = kernel.graph_defined ins(%x) grid [2] loop [4] {
  ^bb0(%a: tensor<128x4xf32>):
    %t = threadblock.load %a grid_map [0] loop_map [0]
      : (tensor<128x4xf32>) -> !threadblock.tile<16x4xf32>
    %s = threadblock.accumulate %t across [0]
      : (!threadblock.tile<16x4xf32>) -> !threadblock.tile<16x4xf32>
    %r = threadblock.reduce_sum %s {dims = array<i64: 0>}
      : (!threadblock.tile<16x4xf32>) -> !threadblock.tile<1x4xf32>
    threadblock.store %r grid_map [_] : !threadblock.tile<1x4xf32>
  } : (tensor<128x4xf32>) -> tensor<1x4xf32>
  func.return %y : tensor<1x4xf32>
}
"""


@pytest.mark.parametrize("rows", [(53, 85), (90, 122), (113, 122), (2, 3)])
@pytest.mark.parametrize("size", [128, 122])
def test_rows_of_several_iterations_and_blocks(rows: tuple[int, int], size: int) -> None:
    """Some are parts of three tiles, some of the last one, which is ragged, some of one alone."""
    kept = np.arange(*rows)
    values = np.random.default_rng(0).standard_normal((1, len(kept), 4))
    x: Tensor[Floats] = Tensor(values, (dim_of(size, kept), Dim(4)))
    program = PROGRAM.replace("tensor<128", f"tensor<{size}")
    for function in functions(parse_program(program, "sums.mlir")):
        domain = FloatDomain(rounding=False)
        (result,) = KernelInterpreter(domain, sparse=True).run(function, [x])
        assert np.allclose(result.array, values.sum(1, keepdims=True), rtol=1e-12)
