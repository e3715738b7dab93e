"""Kernels of random programs, by the search and by hand, that were lowered wrong or not at all."""

import pytest
from lowered_kernels import check

from mirage_mlir.driver.source import parse_program

SCALARS_AS_A_ROW = """
func.func @ugraph(%x: tensor<8x3xf32>, %y: tensor<4x8x3xf32>) -> tensor<8x4xf32> {
  %0 = kernel.graph_defined ins(%x, %y) grid [1] loop [3] {
  ^bb0(%1: tensor<8x3xf32>, %2: tensor<4x8x3xf32>):
    %3 = threadblock.load %1 grid_map [_] loop_map [1]
      : (tensor<8x3xf32>) -> !threadblock.tile<8x1xf32>
    %4 = threadblock.load %2 grid_map [_] loop_map [2]
      : (tensor<4x8x3xf32>) -> !threadblock.tile<4x8x1xf32>
    %5 = threadblock.reduce_sum %4 {dims = array<i64: 1>}
      : (!threadblock.tile<4x8x1xf32>) -> !threadblock.tile<4x1x1xf32>
    %6 = threadblock.transpose %5 {permutation = array<i64: 1, 2, 0>}
      : (!threadblock.tile<4x1x1xf32>) -> !threadblock.tile<1x1x4xf32>
    %7 = threadblock.matmul %3, %6
      : (!threadblock.tile<8x1xf32>, !threadblock.tile<1x1x4xf32>) -> !threadblock.tile<1x8x4xf32>
    %8 = threadblock.accumulate %7 : (!threadblock.tile<1x8x4xf32>) -> !threadblock.tile<1x8x4xf32>
    %9 = threadblock.transpose %8 {permutation = array<i64: 1, 0, 2>}
      : (!threadblock.tile<1x8x4xf32>) -> !threadblock.tile<8x1x4xf32>
    threadblock.store %9 grid_map [_] : !threadblock.tile<8x1x4xf32>
  } : (tensor<8x3xf32>, tensor<4x8x3xf32>) -> tensor<8x1x4xf32>
  %10 = kernel.reshape %0 : (tensor<8x1x4xf32>) -> tensor<8x4xf32>
  func.return %10 : tensor<8x4xf32>
}
"""
"""Of a depth of one there is nothing but the scalars: zeros below them have no room."""

THREE_MATMULS = """
func.func @ugraph(%x: tensor<8x32xf16>, %y: tensor<32x77xf16>, %z: tensor<77x128xf16>,
    %w: tensor<128x24xf16>) -> tensor<8x24xf16> {
  %0 = kernel.graph_defined ins(%x, %y, %z, %w) grid [1] {
  ^bb0(%1: tensor<8x32xf16>, %2: tensor<32x77xf16>, %3: tensor<77x128xf16>, %4: tensor<128x24xf16>):
    %5 = threadblock.load %1 grid_map [_] : (tensor<8x32xf16>) -> !threadblock.tile<8x32xf16>
    %6 = threadblock.load %2 grid_map [_] : (tensor<32x77xf16>) -> !threadblock.tile<32x77xf16>
    %7 = threadblock.load %3 grid_map [_] : (tensor<77x128xf16>) -> !threadblock.tile<77x128xf16>
    %8 = threadblock.load %4 grid_map [_] : (tensor<128x24xf16>) -> !threadblock.tile<128x24xf16>
    %9 = threadblock.matmul %5, %6
      : (!threadblock.tile<8x32xf16>, !threadblock.tile<32x77xf16>) -> !threadblock.tile<8x77xf32>
    %10 = threadblock.cast %9 : (!threadblock.tile<8x77xf32>) -> !threadblock.tile<8x77xf16>
    %11 = threadblock.matmul %10, %7
      : (!threadblock.tile<8x77xf16>, !threadblock.tile<77x128xf16>) -> !threadblock.tile<8x128xf32>
    %12 = threadblock.cast %11 : (!threadblock.tile<8x128xf32>) -> !threadblock.tile<8x128xf16>
    %13 = threadblock.matmul %12, %8
      : (!threadblock.tile<8x128xf16>, !threadblock.tile<128x24xf16>) -> !threadblock.tile<8x24xf32>
    %14 = threadblock.cast %13 : (!threadblock.tile<8x24xf32>) -> !threadblock.tile<8x24xf16>
    threadblock.store %14 grid_map [_] : !threadblock.tile<8x24xf16>
  } : (tensor<8x32xf16>, tensor<32x77xf16>, tensor<77x128xf16>, tensor<128x24xf16>)
    -> tensor<8x24xf16>
  func.return %0 : tensor<8x24xf16>
}
"""
"""The first matmul is in no chain, since 77 columns are not shared by four warps, but lies as the
second, which begins a chain, would leave its own left side."""

JOINED_PRODUCT = """
func.func @ugraph(%x: tensor<8x16xf16>, %y: tensor<16x5xf16>) -> tensor<16x5xf16> {
  %0 = kernel.graph_defined ins(%x, %y) grid [1] {
  ^bb0(%1: tensor<8x16xf16>, %2: tensor<16x5xf16>):
    %3 = threadblock.load %1 grid_map [_] : (tensor<8x16xf16>) -> !threadblock.tile<8x16xf16>
    %4 = threadblock.load %2 grid_map [_] : (tensor<16x5xf16>) -> !threadblock.tile<16x5xf16>
    %5 = threadblock.matmul %3, %4
      : (!threadblock.tile<8x16xf16>, !threadblock.tile<16x5xf16>) -> !threadblock.tile<8x5xf32>
    %6 = threadblock.cast %5 : (!threadblock.tile<8x5xf32>) -> !threadblock.tile<8x5xf16>
    %7 = threadblock.square %5 : (!threadblock.tile<8x5xf32>) -> !threadblock.tile<8x5xf32>
    %8 = threadblock.cast %7 : (!threadblock.tile<8x5xf32>) -> !threadblock.tile<8x5xf16>
    %9 = threadblock.concat %6, %8 {dim = 0 : i64}
      : (!threadblock.tile<8x5xf16>, !threadblock.tile<8x5xf16>) -> !threadblock.tile<16x5xf16>
    threadblock.store %9 grid_map [_] : !threadblock.tile<16x5xf16>
  } : (tensor<8x16xf16>, tensor<16x5xf16>) -> tensor<16x5xf16>
  func.return %0 : tensor<16x5xf16>
}
"""
"""A thread has two columns of a matmul at a time, of which five are none of the next line's."""

SUM_WITHOUT_A_LOOP = """
func.func @ugraph(%x: tensor<8x128xf16>, %w: tensor<128x64xf16>) -> tensor<8x64xf32> {
  %0 = kernel.graph_defined ins(%x, %w) grid [2, 2] {
  ^bb0(%1: tensor<8x128xf16>, %2: tensor<128x64xf16>):
    %3 = threadblock.load %1 grid_map [_, 1] : (tensor<8x128xf16>) -> !threadblock.tile<8x64xf16>
    %4 = threadblock.load %2 grid_map [1, 0]
      : (tensor<128x64xf16>) -> !threadblock.tile<64x32xf16>
    %5 = threadblock.matmul %3, %4
      : (!threadblock.tile<8x64xf16>, !threadblock.tile<64x32xf16>) -> !threadblock.tile<8x32xf32>
    %6 = threadblock.accumulate %5 across [1]
      : (!threadblock.tile<8x32xf32>) -> !threadblock.tile<8x32xf32>
    threadblock.store %6 grid_map [1, _] : !threadblock.tile<8x32xf32>
  } : (tensor<8x128xf16>, tensor<128x64xf16>) -> tensor<8x64xf32>
  func.return %0 : tensor<8x64xf32>
}
"""

SUM_BEHIND_THE_LOOP = """
func.func @ugraph(%x: tensor<8x128xf16>, %v: tensor<128x64xf16>, %w: tensor<64x32xf16>)
    -> tensor<8x32xf32> {
  %0 = kernel.graph_defined ins(%x, %v, %w) grid [2] loop [2] {
  ^bb0(%1: tensor<8x128xf16>, %2: tensor<128x64xf16>, %3: tensor<64x32xf16>):
    %4 = threadblock.load %1 grid_map [_] loop_map [1]
      : (tensor<8x128xf16>) -> !threadblock.tile<8x64xf16>
    %5 = threadblock.load %2 grid_map [1] loop_map [0]
      : (tensor<128x64xf16>) -> !threadblock.tile<64x32xf16>
    %6 = threadblock.load %3 grid_map [0] loop_map [_]
      : (tensor<64x32xf16>) -> !threadblock.tile<32x32xf16>
    %7 = threadblock.matmul %4, %5
      : (!threadblock.tile<8x64xf16>, !threadblock.tile<64x32xf16>) -> !threadblock.tile<8x32xf32>
    %8 = threadblock.accumulate %7 : (!threadblock.tile<8x32xf32>) -> !threadblock.tile<8x32xf32>
    %9 = threadblock.cast %8 : (!threadblock.tile<8x32xf32>) -> !threadblock.tile<8x32xf16>
    %10 = threadblock.matmul %9, %6
      : (!threadblock.tile<8x32xf16>, !threadblock.tile<32x32xf16>) -> !threadblock.tile<8x32xf32>
    %11 = threadblock.accumulate %10 across [0]
      : (!threadblock.tile<8x32xf32>) -> !threadblock.tile<8x32xf32>
    threadblock.store %11 grid_map [_] : !threadblock.tile<8x32xf32>
  } : (tensor<8x128xf16>, tensor<128x64xf16>, tensor<64x32xf16>) -> tensor<8x32xf32>
  func.return %0 : tensor<8x32xf32>
}
"""

LOADED_BEHIND_A_SUM = """
func.func @ugraph(%x: tensor<16x256xf16>, %v: tensor<256x64xf16>, %w: tensor<256x64xf16>)
    -> tensor<16x64xf32> {
  %0 = kernel.graph_defined ins(%x, %v, %w) grid [1, 2] loop [2] {
  ^bb0(%1: tensor<16x256xf16>, %2: tensor<256x64xf16>, %3: tensor<256x64xf16>):
    %4 = threadblock.load %1 grid_map [_, 1] loop_map [1]
      : (tensor<16x256xf16>) -> !threadblock.tile<16x64xf16>
    %5 = threadblock.load %2 grid_map [1, 0] loop_map [0]
      : (tensor<256x64xf16>) -> !threadblock.tile<64x64xf16>
    %6 = threadblock.matmul %4, %5
      : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>)
      -> !threadblock.tile<16x64xf32>
    %7 = threadblock.accumulate %6 across [1]
      : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %8 = threadblock.load %3 grid_map [1, 0] loop_map [0]
      : (tensor<256x64xf16>) -> !threadblock.tile<64x64xf16>
    %9 = threadblock.matmul %4, %8
      : (!threadblock.tile<16x64xf16>, !threadblock.tile<64x64xf16>)
      -> !threadblock.tile<16x64xf32>
    %10 = threadblock.accumulate %9 across [1]
      : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    %11 = threadblock.mul %7, %10
      : (!threadblock.tile<16x64xf32>, !threadblock.tile<16x64xf32>)
      -> !threadblock.tile<16x64xf32>
    threadblock.store %11 grid_map [1, _] : !threadblock.tile<16x64xf32>
  } : (tensor<16x256xf16>, tensor<256x64xf16>, tensor<256x64xf16>) -> tensor<16x64xf32>
  func.return %0 : tensor<16x64xf32>
}
"""

MAXIMA_BETWEEN = """
func.func @ugraph(%a0: tensor<2x8x1xf32>) -> tensor<2x1x1xf32> {
  %o = kernel.graph_defined ins(%a0) grid [2] cluster [2] loop [2] {
  ^bb0(%a0b: tensor<2x8x1xf32>):
    %t1 = threadblock.load %a0b grid_map [1] loop_map [1]
      : (tensor<2x8x1xf32>) -> !threadblock.tile<2x2x1xf32>
    %t2 = threadblock.reduce_max %t1 {dims = array<i64: 1>}
      : (!threadblock.tile<2x2x1xf32>) -> !threadblock.tile<2x1x1xf32>
    %t3 = threadblock.sub %t1, %t2
      : (!threadblock.tile<2x2x1xf32>, !threadblock.tile<2x1x1xf32>)
      -> !threadblock.tile<2x2x1xf32>
    %t4 = threadblock.exp %t3 : (!threadblock.tile<2x2x1xf32>) -> !threadblock.tile<2x2x1xf32>
    %t5 = threadblock.reduce_sum %t4 {dims = array<i64: 1>}
      : (!threadblock.tile<2x2x1xf32>) -> !threadblock.tile<2x1x1xf32>
    %t6 = threadblock.accumulate %t5 across [0] rescale %t2
      : (!threadblock.tile<2x1x1xf32>, !threadblock.tile<2x1x1xf32>)
      -> !threadblock.tile<2x1x1xf32>
    %t7 = threadblock.accumulate %t2 across [0] {kind = "max"}
      : (!threadblock.tile<2x1x1xf32>) -> !threadblock.tile<2x1x1xf32>
    %t8 = threadblock.log %t6 : (!threadblock.tile<2x1x1xf32>) -> !threadblock.tile<2x1x1xf32>
    %t9 = threadblock.add %t8, %t7
      : (!threadblock.tile<2x1x1xf32>, !threadblock.tile<2x1x1xf32>)
      -> !threadblock.tile<2x1x1xf32>
    threadblock.store %t9 grid_map [_] : !threadblock.tile<2x1x1xf32>
  } : (tensor<2x8x1xf32>) -> tensor<2x1x1xf32>
  func.return %o : tensor<2x1x1xf32>
}
"""
"""Maxima along a dimension between others: no row, and no column, of a tile has one of its own."""

PROGRAMS = {
    "scalars-as-a-row": SCALARS_AS_A_ROW,
    "three-products": THREE_MATMULS,
    "joined-product": JOINED_PRODUCT,
    "sum-without-a-loop": SUM_WITHOUT_A_LOOP,
    "sum-behind-the-loop": SUM_BEHIND_THE_LOOP,
    "loaded-behind-a-sum": LOADED_BEHIND_A_SUM,
    "maxima-between": MAXIMA_BETWEEN,
}


@pytest.mark.parametrize("target", ["H200", "A100"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels(name: str, target: str) -> None:
    check(parse_program(PROGRAMS[name], name), target=target)
