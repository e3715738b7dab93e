// What the lowering decides about sums: partial sums in a workspace, maxima of an online softmax.
// RUN: %roundtrip
// RUN: %generic-roundtrip

// CHECK-LABEL: func.func @sums
func.func @sums(%in: tensor<16x2048xf32>) -> tensor<16x32xf32> {
  %o = kernel.graph_defined ins(%in) grid [32] loop [2] schedule <sums_in_workspace> {
  ^bb0(%xa: tensor<16x2048xf32>):
    %x = threadblock.load %xa grid_map [1] loop_map [1] : (tensor<16x2048xf32>) -> !threadblock.tile<16x32xf32>
    // CHECK: %m = threadblock.reduce_max %x {dims = array<i64: 1>, online_maximum} :
    %m = threadblock.reduce_max %x {dims = array<i64: 1>, online_maximum} : (!threadblock.tile<16x32xf32>) -> !threadblock.tile<16x1xf32>
    // CHECK: %n = threadblock.accumulate %m across [0] {kind = "max", state} :
    %n = threadblock.accumulate %m across [0] {kind = "max", state} : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    // CHECK: threadblock.store_partial_sum 0 %x : !threadblock.tile<16x32xf32>
    threadblock.store_partial_sum 0 %x : !threadblock.tile<16x32xf32>
    // CHECK: %a = threadblock.accumulate %x across [0] {partial_sum = 0 : i64} :
    %a = threadblock.accumulate %x across [0] {partial_sum = 0 : i64} : (!threadblock.tile<16x32xf32>) -> !threadblock.tile<16x32xf32>
    // CHECK: %b = thread.graph ins(%a, %n, %n) attributes {merges} {
    %b = thread.graph ins(%a, %n, %n) attributes {merges} {
    ^bb0(%value: f32, %own: f32, %top: f32):
      %difference = arith.subf %own, %top : f32
      %factor = math.exp %difference : f32
      %product = arith.mulf %value, %factor : f32
      thread.store %product : f32
    } : (!threadblock.tile<16x32xf32>, !threadblock.tile<16x1xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x32xf32>
    threadblock.store %b grid_map [_] : !threadblock.tile<16x32xf32>
  } : (tensor<16x2048xf32>) -> tensor<16x32xf32>
  func.return %o : tensor<16x32xf32>
}
