// Tiles of indices, and the bounds of loops; custom and generic form.
// RUN: %roundtrip
// RUN: %generic-roundtrip

// CHECK-LABEL: func.func @indices
func.func @indices(%x: tensor<64x128xf32>) -> tensor<64x1xf32> {
  // CHECK: kernel.graph_defined ins(%x) grid [4] loop [8] bounds <first = [1, -2, 1], end = [1, 1, 1]> unmasked <end = [1, 0, 1]> schedule <longest_first> {
  %o = kernel.graph_defined ins(%x) grid [4] loop [8] bounds <first = [1, -2, 1], end = [1, 1, 1]> unmasked <end = [1, 0, 1]> schedule <longest_first> {
  ^bb0(%0: tensor<64x128xf32>):
    // CHECK: threadblock.iota of [64, 1] strides [2, 0] grid_map [0] loop_map [_] {layout = #threadblock.indices, start = 3 : i64} : !threadblock.tile<16x1xf32>
    %i = threadblock.iota of [64, 1] strides [2, 0] grid_map [0] loop_map [_] {layout = #threadblock.indices, start = 3 : i64} : !threadblock.tile<16x1xf32>
    // CHECK: threadblock.iota of [128] strides [1] grid_map [_] loop_map [0] : !threadblock.tile<16xf32>
    %j = threadblock.iota of [128] strides [1] grid_map [_] loop_map [0] : !threadblock.tile<16xf32>
    %t = threadblock.load %0 grid_map [0] loop_map [1] : (tensor<64x128xf32>) -> !threadblock.tile<16x16xf32>
    %s = threadblock.add %i, %j : (!threadblock.tile<16x1xf32>, !threadblock.tile<16xf32>) -> !threadblock.tile<16x16xf32>
    %m = threadblock.mul %s, %t : (!threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
    %r = threadblock.reduce_sum %m {dims = array<i64: 1>} : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x1xf32>
    %a = threadblock.accumulate %r : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    threadblock.store %a grid_map [0] : !threadblock.tile<16x1xf32>
  } : (tensor<64x128xf32>) -> tensor<64x1xf32>
  func.return %o : tensor<64x1xf32>
}
