// Reductions that the loop only accumulates run behind it.
//
// RUN: mirage-opt %s --sink-reductions | filecheck %s

// Threads accumulate their own elements, and exchange partial sums once.
func.func @sum(%in: tensor<16x64xf32>) -> tensor<16x1xf32> {
  %o = kernel.graph_defined ins(%in) grid [1] loop [4] {
  ^bb0(%xa: tensor<16x64xf32>):
    %x = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<16x64xf32>) -> !threadblock.tile<16x16xf32>
    %s = threadblock.reduce_sum %x {dims = array<i64: 1>} : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x1xf32>
    %a = threadblock.accumulate %s : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    threadblock.store %a grid_map [_] : !threadblock.tile<16x1xf32>
  } : (tensor<16x64xf32>) -> tensor<16x1xf32>
  func.return %o : tensor<16x1xf32>
}
// CHECK-LABEL: func.func @sum
// CHECK-NOT:     threadblock.reduce_sum
// CHECK:         %[[A:.*]] = threadblock.accumulate %x : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
// CHECK-NEXT:    %[[S:.*]] = threadblock.reduce_sum %[[A]] {dims = array<i64: 1>} : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x1xf32>
// CHECK-NEXT:    threadblock.store %[[S]]

// A maximum of maxima likewise, across blocks too.
func.func @maximum(%in: tensor<16x64xf32>) -> tensor<16x1xf32> {
  %o = kernel.graph_defined ins(%in) grid [2] loop [2] {
  ^bb0(%xa: tensor<16x64xf32>):
    %x = threadblock.load %xa grid_map [1] loop_map [1] : (tensor<16x64xf32>) -> !threadblock.tile<16x16xf32>
    %s = threadblock.reduce_max %x {dims = array<i64: 1>} : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x1xf32>
    %a = threadblock.accumulate %s across [0] {kind = "max"} : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    threadblock.store %a grid_map [_] : !threadblock.tile<16x1xf32>
  } : (tensor<16x64xf32>) -> tensor<16x1xf32>
  func.return %o : tensor<16x1xf32>
}
// CHECK-LABEL: func.func @maximum
// CHECK:         %[[A:.*]] = threadblock.accumulate %x across [0] {kind = "max"}
// CHECK-NEXT:    threadblock.reduce_max %[[A]]

// A sum of maxima is not the maximum of a sum.
func.func @mixed_kinds(%x: tensor<16x64xf16>) -> tensor<16x1xf32> {
  %o = kernel.graph_defined ins(%x) grid [1] loop [4] {
  ^bb0(%a: tensor<16x64xf16>):
    %t = threadblock.load %a grid_map [_] loop_map [1] : (tensor<16x64xf16>) -> !threadblock.tile<16x16xf16>
    %s = threadblock.reduce_max %t {dims = array<i64: 1>} : (!threadblock.tile<16x16xf16>) -> !threadblock.tile<16x1xf32>
    %b = threadblock.accumulate %s : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    threadblock.store %b grid_map [_] : !threadblock.tile<16x1xf32>
  } : (tensor<16x64xf16>) -> tensor<16x1xf32>
  func.return %o : tensor<16x1xf32>
}
// CHECK-LABEL: func.func @mixed_kinds
// CHECK:         %[[M:.*]] = threadblock.reduce_max
// CHECK-NEXT:    threadblock.accumulate %[[M]]

// Sums are relative to the maximum of each iteration, which stays in the loop; their own reduction sinks.
func.func @relative(%in: tensor<16x64xf32>) -> (tensor<16x1xf32>, tensor<16x1xf32>) {
  %o:2 = kernel.graph_defined ins(%in) grid [1] loop [4] {
  ^bb0(%xa: tensor<16x64xf32>):
    %x = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<16x64xf32>) -> !threadblock.tile<16x16xf32>
    %m = threadblock.reduce_max %x {dims = array<i64: 1>} : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x1xf32>
    %d = threadblock.sub %x, %m : (!threadblock.tile<16x16xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x16xf32>
    %e = threadblock.exp %d : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
    %s = threadblock.reduce_sum %e {dims = array<i64: 1>} : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x1xf32>
    %a = threadblock.accumulate %s rescale %m : (!threadblock.tile<16x1xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %b = threadblock.accumulate %m {kind = "max"} : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    threadblock.store %a grid_map [_] : !threadblock.tile<16x1xf32>
    threadblock.store %b grid_map [_] : !threadblock.tile<16x1xf32>
  } : (tensor<16x64xf32>) -> (tensor<16x1xf32>, tensor<16x1xf32>)
  func.return %o#0, %o#1 : tensor<16x1xf32>, tensor<16x1xf32>
}
// CHECK-LABEL: func.func @relative
// CHECK:         %m = threadblock.reduce_max
// CHECK:         %e = threadblock.exp
// CHECK-NEXT:    %[[A:.*]] = threadblock.accumulate %e rescale %m
// CHECK-NEXT:    threadblock.reduce_sum %[[A]]
// CHECK-NEXT:    threadblock.accumulate %m {kind = "max"}

// Of maxima along a dimension between others no row and no column has one: the sum is of reduced tiles.
func.func @between(%in: tensor<2x8x4xf32>) -> tensor<2x1x4xf32> {
  %o = kernel.graph_defined ins(%in) grid [1] loop [4] {
  ^bb0(%xa: tensor<2x8x4xf32>):
    %x = threadblock.load %xa grid_map [_] loop_map [1] : (tensor<2x8x4xf32>) -> !threadblock.tile<2x2x4xf32>
    %m = threadblock.reduce_max %x {dims = array<i64: 1>} : (!threadblock.tile<2x2x4xf32>) -> !threadblock.tile<2x1x4xf32>
    %d = threadblock.sub %x, %m : (!threadblock.tile<2x2x4xf32>, !threadblock.tile<2x1x4xf32>) -> !threadblock.tile<2x2x4xf32>
    %e = threadblock.exp %d : (!threadblock.tile<2x2x4xf32>) -> !threadblock.tile<2x2x4xf32>
    %s = threadblock.reduce_sum %e {dims = array<i64: 1>} : (!threadblock.tile<2x2x4xf32>) -> !threadblock.tile<2x1x4xf32>
    %a = threadblock.accumulate %s rescale %m : (!threadblock.tile<2x1x4xf32>, !threadblock.tile<2x1x4xf32>) -> !threadblock.tile<2x1x4xf32>
    threadblock.store %a grid_map [_] : !threadblock.tile<2x1x4xf32>
  } : (tensor<2x8x4xf32>) -> tensor<2x1x4xf32>
  func.return %o : tensor<2x1x4xf32>
}
// CHECK-LABEL: func.func @between
// CHECK:         %e = threadblock.exp
// CHECK-NEXT:    %s = threadblock.reduce_sum %e
// CHECK-NEXT:    threadblock.accumulate %s rescale %m
