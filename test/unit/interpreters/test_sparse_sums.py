"""Sums of which few terms are computed: iterations then have other rows of their tiles."""

import numpy as np

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


def test_rows_of_several_iterations_and_blocks() -> None:
    """Rows 53 to 84 are parts of three tiles: the last two of one block, the first of the next."""
    rows = np.arange(53, 85)
    values = np.random.default_rng(0).standard_normal((1, len(rows), 4))
    x: Tensor[Floats] = Tensor(values, (dim_of(128, rows), Dim(4)))
    for function in functions(parse_program(PROGRAM, "sums.mlir")):
        domain = FloatDomain(rounding=False)
        (result,) = KernelInterpreter(domain, sparse=True).run(function, [x])
        assert np.allclose(result.array, values.sum(1, keepdims=True), rtol=1e-12)
