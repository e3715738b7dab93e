// Cyclic distribution: blocks take turns with the tiles of what a loop cuts, too.
// RUN: %roundtrip
// RUN: %generic-roundtrip
// RUN: mirage-opt %s -t irdl-generic | mirage-opt | filecheck %s
// RUN: mirage-opt %s --print-op-generic | filecheck %s --check-prefix GENERIC

// CHECK-LABEL: func.func @rows
// CHECK-NEXT:    kernel.graph_defined ins(%x) grid [4] loop [4] cyclic {
// GENERIC:       "kernel.graph_defined"(%x) <{grid = array<i64: 4>, loop = array<i64: 4>, cyclic}>
func.func @rows(%x: tensor<61x8xf16>) -> (tensor<61x8xf16>, tensor<4x8xf32>) {
  %r, %p = kernel.graph_defined ins(%x) grid [4] loop [4] cyclic {
  ^bb0(%xa: tensor<61x8xf16>):
    %t = threadblock.load %xa grid_map [0] loop_map [0] : (tensor<61x8xf16>) -> !threadblock.tile<4x8xf16>
    %c = threadblock.reduce_sum %t {dims = array<i64: 0>} : (!threadblock.tile<4x8xf16>) -> !threadblock.tile<1x8xf32>
    %s = threadblock.accumulate %c : (!threadblock.tile<1x8xf32>) -> !threadblock.tile<1x8xf32>
    threadblock.store %t grid_map [0] loop_map [0] : !threadblock.tile<4x8xf16>
    threadblock.store %s grid_map [0] : !threadblock.tile<1x8xf32>
  } : (tensor<61x8xf16>) -> (tensor<61x8xf16>, tensor<4x8xf32>)
  func.return %r, %p : tensor<61x8xf16>, tensor<4x8xf32>
}

// Blocks share a sum: which of them has which tiles is all the same to the total.
// CHECK-LABEL: func.func @across
// CHECK-NEXT:    kernel.graph_defined ins(%x) grid [2] cluster [2] loop [2, 3] cyclic schedule <{{.*}}> {
func.func @across(%x: tensor<8x24xf16>) -> tensor<8x1xf32> {
  %r = kernel.graph_defined ins(%x) grid [2] cluster [2] loop [2, 3] cyclic schedule <threads = 128> {
  ^bb0(%xa: tensor<8x24xf16>):
    %t = threadblock.load %xa grid_map [1] loop_map [1, 1] : (tensor<8x24xf16>) -> !threadblock.tile<8x2xf16>
    %c = threadblock.reduce_sum %t {dims = array<i64: 1>} : (!threadblock.tile<8x2xf16>) -> !threadblock.tile<8x1xf32>
    %s = threadblock.accumulate %c across [0] : (!threadblock.tile<8x1xf32>) -> !threadblock.tile<8x1xf32>
    threadblock.store %s grid_map [_] : !threadblock.tile<8x1xf32>
  } : (tensor<8x24xf16>) -> tensor<8x1xf32>
  func.return %r : tensor<8x1xf32>
}

// Blocks have whole tiles in their first iteration: an accumulator has all elements in each of them.
// CHECK-LABEL: func.func @ragged
// CHECK:         kernel.graph_defined ins(%x) grid [3] loop [2] cyclic {
func.func @ragged(%x: tensor<7x8xf32>) -> tensor<6x8xf32> {
  %r = kernel.graph_defined ins(%x) grid [3] loop [2] cyclic {
  ^bb0(%xa: tensor<7x8xf32>):
    %t = threadblock.load %xa grid_map [0] loop_map [0] : (tensor<7x8xf32>) -> !threadblock.tile<2x8xf32>
    %s = threadblock.accumulate %t : (!threadblock.tile<2x8xf32>) -> !threadblock.tile<2x8xf32>
    threadblock.store %s grid_map [0] : !threadblock.tile<2x8xf32>
  } : (tensor<7x8xf32>) -> tensor<6x8xf32>
  func.return %r : tensor<6x8xf32>
}
